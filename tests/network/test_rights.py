"""What a key may not do, it cannot do by any operation of any dialect by any way in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import polymnia
from form import each
from polymnia.keys import KeyFile
from polymnia.settings import DIALECTS

from .conftest import MANY
from .served import DOORS, Door, Served
from .writing import SEED, Asked, operations

# In what words each dialect says that it may not be: a JSON-RPC error, or a result that failed.
GRAPHS = ("simple", "strict", "bilingual", "official")


class Guarded:
    """A server with a key for each kind of right, and what is stored there."""

    def __init__(self, served: Served, keys: dict[str, str]) -> None:
        self.served = served
        self.keys = keys
        with served.door("bare", "simple", keys["all"]) as door:
            door.call("create_entities", {"entities": SEED})
        with served.door("bare", "associative", keys["all"]) as door:
            self.ids = [_stored(door, text) for text in ("Ann likes green tea.", "Bea mends old clocks.")]
            archive = door.call("memory_export", {})["result"]["structuredContent"]
        with served.door("bare", "content", keys["all"]) as door:
            given = {"operation": "export_project_data", "project_id": "default", "format": "json"}
            project = door.call("memory_system", given)["result"]["structuredContent"]
        self.filled = {
            "{id}": self.ids[0], "{other}": self.ids[1], "{archive}": _text(archive, "data", "export_data", "content"),
            "{project}": _text(project, "data", "content"),
        }  # fmt: skip

    def arguments(self, asked: Asked) -> dict[str, Any]:
        """What an operation is given here."""
        text = json.dumps(asked.arguments)
        for mark, value in self.filled.items():
            text = text.replace(json.dumps(mark), json.dumps(value))
        return dict(json.loads(text))

    def state(self) -> tuple[object, ...]:
        """Everything that could have been changed: the journal, the graph, and the files beside it."""
        with polymnia.connect(self.served.store) as memory:
            stamps = [(name, memory.acting("test", project=name).stamp()) for name in memory.store.projects()]
        exports = self.served.folder / "exports"
        return (*stamps, *sorted(str(path) for path in exports.rglob("*") if path.is_file()))


def _stored(door: Door, content: str) -> str:
    return str(door.call("memory_store", {"content": content})["result"]["structuredContent"]["memory_id"])


def _text(answer: dict[str, Any], *names: str) -> str:
    found = next((answer[name] for name in names if answer.get(name)), None)
    assert found is not None, answer.keys()
    return found if isinstance(found, str) else json.dumps(found)


@pytest.fixture(scope="module")
def guarded(serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder: Path = tmp_path_factory.mktemp("guarded")
    file = KeyFile(str(folder / "config" / "polymnia" / "keys.json"))
    keys = {
        "all": file.add("all")[1],
        "reads": file.add("reads", write=False)[1],
        "elsewhere": file.add("elsewhere", projects=("elsewhere",))[1],
        "reads here": file.add("reads here", projects=("default",), write=False)[1],
    }
    yield Guarded(serving(*MANY, folder=folder), keys)


def refusal(dialect: str, answer: dict[str, Any]) -> str | None:
    """What a refusal says, in the dialect's own form; None where the answer is none."""
    if "error" in answer:
        error = answer["error"]
        assert error["code"] == 403, answer
        assert error["data"]["suggestions"], answer
        return str(error["message"])
    result = answer["result"]
    if not result.get("isError"):
        return None
    text = str(result["content"][0]["text"])
    if text.startswith("{"):
        read = json.loads(text)
        return json.dumps(read.get("message", read["error"]))
    return text


@pytest.mark.promise("network.keys.read_only")
@each("key", ["reads", "reads here"])
@each("dialect", DIALECTS)
def test_a_key_that_may_read_changes_nothing(guarded: Guarded, dialect: str, kind: str, key: str) -> None:
    before = guarded.state()
    with guarded.served.door(kind, dialect, guarded.keys[key]) as door:
        for asked in operations(dialect):
            if asked.writes and asked.name != "validate_data_integrity":  # which finds nothing to mend here
                said = refusal(dialect, door.call(asked.tool, guarded.arguments(asked)))
                assert said is not None, asked
                assert "may read but not write" in said, (asked, said)
    assert guarded.state() == before


@pytest.mark.promise("network.keys.read_only")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_key_that_may_read_reads_everything(guarded: Guarded, dialect: str) -> None:
    before = guarded.state()
    with guarded.served.door("ws", dialect, guarded.keys["reads"]) as door:
        for asked in operations(dialect):
            if not asked.writes:
                answer = door.call(asked.tool, guarded.arguments(asked))
                assert refusal(dialect, answer) is None, (asked, answer)
    assert guarded.state() == before


@pytest.mark.promise("network.keys.projects")
@pytest.mark.parametrize("dialect", ["all", "content"])
def test_a_key_of_another_project_opens_none_of_this_one(guarded: Guarded, dialect: str, kind: str) -> None:
    before = guarded.state()
    with guarded.served.door(kind, dialect, guarded.keys["elsewhere"]) as door:
        for asked in operations(dialect):
            if asked.named:
                answer = door.call(asked.tool, guarded.arguments(asked))
                said = refusal(dialect, answer)
                assert said is not None, (asked, answer)
                assert "does not open the project" in said, (asked, said)
                assert "tea" not in json.dumps(answer)
    assert guarded.state() == before


@pytest.mark.promise("network.keys.projects")
@each("dialect", [*GRAPHS, "associative"])
def test_where_calls_name_no_project_a_key_works_in_its_own(guarded: Guarded, dialect: str, kind: str) -> None:
    with guarded.served.door(kind, dialect, guarded.keys["elsewhere"]) as door:
        for asked in operations(dialect):
            if not asked.writes:
                said = json.dumps(door.call(asked.tool, guarded.arguments(asked)))
                assert "Ann likes" not in said, asked
                assert "mends old" not in said, asked
        listed = door.send(
            {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "memory://knowledge-graph"}}
        )
        assert "likes tea" not in json.dumps(listed)


@pytest.mark.promise("network.keys.projects")
def test_files_of_other_projects_are_out_of_reach(guarded: Guarded) -> None:
    with guarded.served.door("bare", "associative", guarded.keys["all"]) as door:
        assert not door.call("memory_export", {"file_path": "secret.json"})["result"].get("isError")
    with guarded.served.door("bare", "associative", guarded.keys["elsewhere"]) as door:
        answer = door.call("memory_import", {"file_path": "secret.json"})
        assert answer["result"]["isError"]
        door.call("memory_export", {"file_path": "secret.json"})
        assert "green tea" not in json.dumps(door.call("memory_list_all", {}))
    assert "green tea" in (guarded.served.folder / "exports" / "secret.json").read_text(encoding="utf-8")


@pytest.mark.promise("network.keys.projects")
def test_a_key_of_a_project_checks_and_mends_that_project(guarded: Guarded) -> None:
    asked = {"operation": "validate_data_integrity", "project_id": "elsewhere"}
    with guarded.served.door("bare", "content", guarded.keys["elsewhere"]) as door:
        for fix in (False, True):
            checked = door.call("memory_system", {**asked, "options": {"fix_issues": fix, "detailed_report": True}})
            assert checked["result"]["success"], checked
            assert "some projects only" in json.dumps(checked), "what was not looked at is told"
        other = door.call("memory_system", {**asked, "project_id": "default"})
        assert other["error"]["code"] == 403
        everything = door.call("memory_system", {"operation": "validate_data_integrity", "scope": "system"})
        assert everything["error"]["code"] == 403


@pytest.mark.promise("network.keys.projects")
def test_health_and_integrity_tell_nothing_of_other_projects(guarded: Guarded) -> None:
    with guarded.served.door("bare", "content", guarded.keys["elsewhere"]) as door:
        whole = door.call("memory_system", {"operation": "validate_data_integrity"})
        assert "error" in whole or "default" not in json.dumps(whole)
        health = door.call("memory_system", {"operation": "check_system_health", "detailed": True})
        assert str(guarded.served.folder) not in json.dumps(health)


@pytest.mark.promise("network.keys.read_only", "network.keys.projects")
@pytest.mark.parametrize("key", ["reads", "elsewhere", "reads here"])
def test_a_server_is_as_well_for_a_key_with_limits_as_for_any(guarded: Guarded, key: str) -> None:
    with guarded.served.door("bare", "content", guarded.keys[key]) as door:
        for detailed in (False, True):
            asked = {"operation": "check_system_health", "detailed": detailed}
            assert door.call("memory_system", asked)["result"]["health"]["status"] == "healthy"


@pytest.mark.promise("network.keys.projects")
@pytest.mark.promise("network.keys.read_only")
def test_a_key_with_few_rights_is_not_told_that_the_server_is_unwell(guarded: Guarded) -> None:
    for name in ("elsewhere", "reads"):
        with guarded.served.door("bare", "content", guarded.keys[name]) as door:
            asked = {"operation": "check_system_health", "detailed": True}
            health = door.call("memory_system", asked)["result"]["health"]
        assert health["components"]["database"]["status"] == "healthy", health
        if name == "elsewhere":
            assert health["components"]["cache"]["metrics"]["projects"] <= 1


@pytest.mark.promise("network.keys.read_only")
def test_a_key_that_may_read_exports_what_fits_into_an_answer_and_no_file(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    writes, reads = file.add("writes")[1], file.add("reads", write=False)[1]
    served = serving(*MANY, "--max-message-bytes", "40000", folder=tmp_path)
    given = {"operation": "store_content", "project_id": "p", "content": "Tea is green. " * 1500}
    export = {"operation": "export_project_data", "project_id": "p", "format": "json"}
    with served.door("bare", "content", writes) as door:
        assert "result" in door.call("memory_store", given)
        assert door.call("memory_system", export)["result"]["file_path"]
    files = sorted((tmp_path / "exports").iterdir())
    assert len(files) == 1
    with served.door("bare", "content", reads) as door:
        error = door.call("memory_system", export)["error"]
        assert error["code"] == 403
        assert "this key may read but not write; no file was written" in error["message"]
        assert "options.compress" in error["data"]["suggestions"][0]
        small = door.call("memory_system", {**export, "options": {"compress": True}})["result"]
        assert small["encoding"] == "base64"
    assert sorted((tmp_path / "exports").iterdir()) == files


def test_every_way_in_is_tried() -> None:
    assert set(DOORS) == {"bare", "stateless", "session", "sse", "ws"}


def _failure(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["result"]["isError"]
    return dict(json.loads(answer["result"]["content"][0]["text"]))


@pytest.mark.promise("associative.errors.storage")
def test_what_a_key_does_not_allow_is_no_mistake_in_the_arguments(guarded: Guarded) -> None:
    with guarded.served.door("bare", "associative", guarded.keys["reads"]) as door:
        value = _failure(door.call("memory_store", {"content": "Cleo collects stamps."}))
    assert (value["error"], value["data"]) == ("STORAGE_ERROR", {"retry_suggested": False})
    assert "--access write" in value["message"]


def test_the_folder_of_a_key_for_some_projects_is_called_by_what_it_is(guarded: Guarded) -> None:
    with guarded.served.door("bare", "associative", guarded.keys["elsewhere"]) as door:
        value = _failure(door.call("memory_import", {"file_path": "none.json"}))
    assert value["message"].endswith("Files are read from the export folder of this project; check the name.")
