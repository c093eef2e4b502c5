"""The associative dialect in trouble: each category of error is provoked for real, and nothing is lost or half done."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from stdio_client import Place, Server

from .constraint import as_anybody, constrained, no_file_over
from .embedding_server import EmbeddingServer
from .integrity import is_sound

_BIG = "long " * 250_000
_ROOM = 1 << 20
_MANY = json.dumps({"memories": [{"content": f"memory number {n} {'x' * 300}"} for n in range(2000)]})


def _refused(server: Server, tool: str, category: str, **arguments: Any) -> dict[str, Any]:
    value: dict[str, Any] = server.refused(tool, arguments).value
    assert (value["success"], value["error"]) == (False, category), value
    assert value["message"]
    return value


def _stored(server: Server, content: str, **more: Any) -> str:
    reply = server.call("memory_store", content=content, **more)
    assert not reply.failed, reply.text
    return str(reply.value["memory_id"])


def _archive(server: Server) -> str:
    return str(server.call("memory_export").value["export_data"])


def _contents(server: Server) -> list[str]:
    memories = server.call("memory_list_all", per_page=100).value["memories"]
    return [one["content"] for one in reversed(memories)]


def _ended(server: Server) -> None:
    server.close_input()
    assert server.exit_code() == 0, server.complaints()


@pytest.fixture
def cramped(place: Place) -> tuple[Server, str]:
    """A server without much room on its disk, and the id of the memory that is there."""
    first = place.serve("associative")
    id = _stored(first, "before", scope="a", tags=["t"])
    assert not first.call("memory_export", file_path="kept.json").failed
    _ended(first)
    with constrained(place.folder, no_file_over(_ROOM)):
        return place.serve("associative"), id


@pytest.mark.long
@pytest.mark.promise("associative.errors.storage")
def test_without_room_every_write_is_a_storage_error_and_everything_stays(
    place: Place, cramped: tuple[Server, str]
) -> None:
    server, id = cramped
    before = _archive(server)
    big = json.dumps({"memories": [{"content": "small"}, {"content": _BIG}]})
    for tool, arguments in (
        ("memory_store", {"content": _BIG}),
        ("memory_update", {"memory_id": id, "content": _BIG, "tags": ["new"]}),
        ("memory_import", {"import_data": big}),
    ):
        value = _refused(server, tool, "STORAGE_ERROR", **arguments)
        assert value["data"]["retry_suggested"] is True
        assert "space" in value["message"] or "disk" in value["message"]
        assert _archive(server) == before
    assert _stored(server, "after") != id
    assert _contents(server) == ["before", "after"]
    _ended(server)
    assert is_sound(place.store)


@pytest.mark.promise("associative.errors.export")
def test_an_export_without_room_is_an_export_error_and_the_file_before_stays(place: Place) -> None:
    roomy = place.serve("associative")
    for number in range(2):
        _stored(roomy, f"{number} {_BIG}", scope=f"s{number}")
    roomy.call("memory_export", scope="nothing", file_path="kept.json")
    _ended(roomy)
    with constrained(place.folder, no_file_over(_ROOM)):
        server = place.serve("associative")
    folder = place.folder / "exports"
    before = (folder / "kept.json").read_bytes()
    for name in ("kept.json", "new.json", "deep/new.json"):
        for form in ("json", "yaml"):
            value = _refused(server, "memory_export", "EXPORT_ERROR", file_path=name, export_format=form)
            assert "disk" in value["message"] or "space" in value["message"]
    assert (folder / "kept.json").read_bytes() == before
    assert [path.name for path in folder.rglob("*")] == ["kept.json"]
    assert len(_contents(server)) == 2
    assert not server.call("memory_export", scope="nothing", file_path="kept.json").failed


@pytest.mark.promise("associative.errors.export")
def test_a_folder_that_cannot_be_written_is_an_export_error(place: Place) -> None:
    folder = place.folder / "exports"
    folder.mkdir()
    (folder / "there.json").write_text('{"memories": [{"content": "from the file"}]}')
    folder.chmod(0o555)
    with constrained(place.folder, as_anybody()):
        server = place.serve("associative")
    _stored(server, "inside")
    for name in ("new.json", "there.json"):
        value = _refused(server, "memory_export", "EXPORT_ERROR", file_path=name)
        assert name in value["message"]
    assert [path.name for path in folder.iterdir()] == ["there.json"]
    assert server.call("memory_import", file_path="there.json").value["imported_count"] == 1
    assert _contents(server) == ["inside", "from the file"]


@pytest.mark.promise("associative.errors.export", "associative.errors.import")
def test_a_file_in_the_place_of_the_folder_is_told(place: Place) -> None:
    (place.folder / "exports").write_text("in the way")
    server = place.serve("associative")
    _stored(server, "inside")
    _refused(server, "memory_export", "EXPORT_ERROR", file_path="new.json")
    _refused(server, "memory_import", "IMPORT_ERROR", file_path="new.json")
    assert (place.folder / "exports").read_text() == "in the way"


@pytest.mark.promise("associative.errors.import")
def test_a_file_that_may_not_be_read_is_an_import_error(place: Place) -> None:
    file = place.folder / "exports" / "secret.json"
    file.parent.mkdir()
    file.write_text('{"memories": [{"content": "secret"}]}')
    file.chmod(0)
    with constrained(place.folder, as_anybody()):
        server = place.serve("associative")
    value = _refused(server, "memory_import", "IMPORT_ERROR", file_path="secret.json")
    assert "secret.json" in value["message"]
    assert _contents(server) == []


@pytest.mark.promise("associative.errors.storage")
def test_a_store_that_may_not_be_written_can_be_read_and_refuses_every_write(place: Place) -> None:
    first = place.serve("associative")
    id = _stored(first, "there", scope="session/s")
    _ended(first)
    place.store.chmod(0o444)
    with constrained(place.folder, as_anybody()):
        server = place.serve("associative")
    writes: list[tuple[str, dict[str, Any]]] = [
        ("memory_store", {"content": "new"}),
        ("memory_update", {"memory_id": id, "content": "new"}),
        ("memory_delete", {"memory_id": id}),
        ("memory_move", {"memory_ids": [id], "target_scope": "b"}),
        ("memory_move", {"source_scope": "session/s", "target_scope": "b"}),
        ("memory_import", {"import_data": '{"memories": [{"content": "new"}]}'}),
        ("session_manage", {"action": "create"}),
        ("session_manage", {"action": "cleanup", "max_age_days": 0}),
    ]
    for tool, arguments in writes:
        value = _refused(server, tool, "STORAGE_ERROR", **arguments)
        assert value["data"]["retry_suggested"] is False
        assert str(place.store) in value["message"]
    assert _contents(server) == ["there"]
    assert [one["memory_id"] for one in server.call("memory_search", query="there").value["memories"]] == [id]
    assert not server.call("scope_list").failed
    assert not server.call("memory_export", file_path="backup.json").failed
    assert server.call("session_manage", action="list").value["total_sessions"] == 1


@pytest.mark.promise("associative.errors.storage")
def test_a_store_that_others_keep_busy_is_a_storage_error_worth_another_try(place: Place) -> None:
    server = place.serve("associative", "--busy-timeout", "0.2")
    _stored(server, "before")
    with place.held():
        value = _refused(server, "memory_store", "STORAGE_ERROR", content="during")
        assert value["data"]["retry_suggested"] is True
        assert _contents(server) == ["before"]
    _stored(server, "after")
    assert _contents(server) == ["before", "after"]


@pytest.mark.promise("associative.errors.storage")
def test_a_damaged_store_is_a_storage_error_in_every_tool(place: Place) -> None:
    place.store.write_bytes(b"\xde\xad\xbe\xef" * 4096)
    server = place.serve("associative")
    before = place.store.read_bytes()
    for tool, arguments in (
        ("memory_store", {"content": "x"}),
        ("memory_search", {"query": "x"}),
        ("memory_get", {"memory_id": "x"}),
        ("memory_list_all", {}),
        ("scope_list", {}),
        ("scope_suggest", {"content": "x"}),
        ("memory_export", {}),
        ("session_manage", {"action": "list"}),
    ):
        _refused(server, tool, "STORAGE_ERROR", **arguments)
    assert place.store.read_bytes() == before
    assert server.request("ping") == {}


# The model


@pytest.fixture
def model() -> Iterator[EmbeddingServer]:
    """Something that embeds, in this process."""
    server = EmbeddingServer()
    yield server
    server.close()


def _broken(place: Place) -> Server:
    """A server whose model cannot be had."""
    return place.serve("associative", "--embedder", "openai:toy", "--embedder-url", "http://127.0.0.1:9")


@pytest.mark.promise("associative.errors.search")
def test_a_broken_model_is_a_search_error_and_what_is_stored_meanwhile_is_kept(
    place: Place, model: EmbeddingServer
) -> None:
    server = _broken(place)
    _stored(server, "something to compare with")
    reply = server.call("memory_store", content="my automobile is red", scope="cars")
    assert not reply.failed, reply.text
    assert {note["code"] for note in reply.notes} <= {"pending", "no_meaning"} and reply.notes
    id = reply.value["memory_id"]
    again = server.call("memory_store", content="my automobile is red", scope="cars")
    assert again.value["is_duplicate"] is True
    for tool, arguments in (
        ("memory_search", {"query": "red automobile"}),
        ("memory_discover_associations", {"memory_id": id}),
        ("scope_suggest", {"content": "my automobile"}),
    ):
        value = _refused(server, tool, "SEARCH_ERROR", **arguments)
        assert "embedder" in value["message"] or "model" in value["message"]
    for tool, arguments in (
        ("memory_get", {"memory_id": id}),
        ("memory_list_all", {}),
        ("scope_list", {}),
        ("memory_update", {"memory_id": id, "tags": ["new"]}),
        ("memory_update", {"memory_id": id, "content": "my automobile is blue"}),
        ("memory_move", {"memory_ids": [id], "target_scope": "garage"}),
        ("memory_export", {}),
        ("memory_import", {"import_data": '{"memories": [{"content": "a boat"}]}'}),
    ):
        answer = server.call(tool, arguments)
        assert not answer.failed, answer.text
    _ended(server)

    healthy = place.serve("associative", *model.arguments)
    hits = healthy.call("memory_search", query="blue car", scope="garage").value["memories"]
    assert [one["memory_id"] for one in hits] == [id]
    assert not healthy.call("scope_suggest", content="a car").failed


@pytest.mark.promise("associative.errors.search")
def test_a_memory_can_be_deleted_while_the_model_is_broken(place: Place) -> None:
    server = _broken(place)
    id = _stored(server, "to be deleted")
    assert not server.call("memory_delete", memory_id=id).failed
    assert _contents(server) == []


@pytest.mark.promise("associative.errors.search")
def test_a_missing_memory_is_not_found_whatever_the_model_does(place: Place) -> None:
    server = _broken(place)
    _refused(server, "memory_discover_associations", "MEMORY_NOT_FOUND", memory_id="nobody")
    _refused(server, "memory_search", "VALIDATION_ERROR", query="")


# Processes that die, and several at once


@pytest.mark.promise("associative.import.atomic")
def test_an_import_that_is_killed_is_whole_or_not_there_at_all(place: Place) -> None:
    chance = random.Random(7)
    server = place.serve("associative")
    _stored(server, "before")
    _ended(server)
    for _ in range(6):
        server = place.serve("associative")
        server.call("scope_list")
        server.begin_call("memory_import", {"import_data": _MANY})
        end = time.perf_counter() + chance.uniform(0, 0.35)
        while time.perf_counter() < end:
            pass
        server.kill()
        after = place.serve("associative")
        total = after.call("memory_list_all", per_page=1).value["pagination"]["total_items"]
        assert total in (1, 2001)
        _ended(after)
    assert is_sound(place.store)
    server = place.serve("associative")
    server.call("memory_import", import_data=_MANY)
    assert server.call("memory_list_all", per_page=1).value["pagination"]["total_items"] == 2001


@pytest.mark.promise("associative.archives.atomic")
def test_an_export_that_is_killed_leaves_the_file_before_or_the_new_one(place: Place) -> None:
    server = place.serve("associative")
    server.call("memory_export", file_path="kept.json")
    server.call("memory_import", import_data=_MANY)
    file = place.folder / "exports" / "kept.json"
    old, new = file.read_bytes(), _archive(server).encode()
    _ended(server)
    chance = random.Random(8)
    for _ in range(6):
        server = place.serve("associative")
        server.call("scope_list")
        server.begin_call("memory_export", {"file_path": "kept.json"})
        end = time.perf_counter() + chance.uniform(0, 0.05)
        while time.perf_counter() < end:
            pass
        server.kill()
        assert file.read_bytes() in (old, new)


@pytest.mark.promise("associative.import.atomic")
def test_an_import_that_is_cancelled_leaves_nothing(place: Place) -> None:
    server = place.serve("associative")
    _stored(server, "before")
    with place.held():
        call = server.begin_call("memory_import", {"import_data": _MANY})
        server.request("ping")
        server.notify("notifications/cancelled", {"requestId": call})
        server.request("ping")
    assert _contents(server) == ["before"]
    assert server.answers_to(call) <= 1
    assert server.call("memory_import", import_data=_MANY).value["imported_count"] == 2000


@pytest.mark.promise("associative.import.together")
def test_processes_that_import_the_same_at_once_keep_it_once(place: Place) -> None:
    servers = [place.serve("associative") for _ in range(3)]
    data = json.dumps({"memories": [{"memory_id": f"m{n}", "content": f"memory {n}"} for n in range(300)]})
    calls = [(server, server.begin_call("memory_import", {"import_data": data})) for server in servers]
    answers = [server.reply(call).value for server, call in calls]
    assert sorted(one["imported_count"] for one in answers) == [0, 0, 300]
    assert sum(one["skipped_count"] for one in answers) == 600
    for server in servers:
        assert server.call("memory_list_all", per_page=1).value["pagination"]["total_items"] == 300


@pytest.mark.promise("associative.scopes.tree", "associative.associations.gone")
def test_counts_and_links_are_right_after_processes_have_stored_moved_and_deleted_at_once(place: Place) -> None:
    chance = random.Random(9)
    servers = [place.serve("associative") for _ in range(3)]
    ids = [_stored(servers[0], f"the golden lantern of the keeper, part {n}", scope=f"s{n % 4}/x") for n in range(40)]
    calls = []
    for number, server in enumerate(servers):
        for step in range(30):
            id = chance.choice(ids)
            tool, arguments = chance.choice(
                [
                    ("memory_store", {"content": f"the golden lantern, {number} {step}", "scope": f"s{step % 5}"}),
                    ("memory_move", {"memory_ids": [id], "target_scope": f"s{step % 3}/y"}),
                    ("memory_delete", {"memory_id": id}),
                    ("memory_update", {"memory_id": id, "content": f"seen {step}", "preserve_associations": False}),
                    ("memory_move", {"source_scope": f"s{step % 4}/x", "target_scope": f"session/{number}"}),
                ]
            )
            calls.append((server, server.begin_call(tool, arguments)))
    for server, call in calls:
        reply = server.reply(call)
        assert not reply.failed or reply.value["error"] == "MEMORY_NOT_FOUND", reply.text
    memories = servers[0].call("memory_list_all", per_page=100).value["memories"]
    counted = Counter(one["scope"] for one in memories)
    told = servers[1].call("scope_list").value["scopes"]
    assert {one["scope"]: one["memory_count"] for one in told if one["memory_count"]} == dict(counted)
    links = json.loads(_archive(servers[2]))["associations"]
    there = {one["memory_id"] for one in memories}
    assert links
    assert all(one.get("source") in there and one.get("target") in there for one in links)
    for server in servers:
        _ended(server)
    assert is_sound(place.store)
