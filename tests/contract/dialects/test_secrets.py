"""Credentials: one guard for everything that is written, whichever tool, command or file it comes by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from polymnia.dialects.content import TOOLS
from polymnia.engine.ports import Transaction
from polymnia.engine.privacy.screening import Screened
from stdio_client import Place, Server

KEY = "AKIAIOSFODNN7EXAMPLQ"
CONTENT = {name: tool.operations() for name, tool in TOOLS.items()}

# One sound call of every tool and operation that may write; ONE, TWO and THREE stand for the ids of memories.
MEMORY = {"memory_id": "X", "content": "imported", "scope": "s", "tags": ["t"], "metadata": {"k": "v"}}
CALLS: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [{"name": "n", "entityType": "t", "observations": ["o"]}]},
    "create_relations": {"relations": [{"from": "Ann", "to": "Ben", "relationType": "knows"}]},
    "add_observations": {"observations": [{"entityName": "Ann", "contents": ["o"]}]},
    "delete_entities": {"entityNames": ["nobody"]},
    "delete_observations": {"deletions": [{"entityName": "Ann", "observations": ["o"]}]},
    "delete_relations": {"relations": [{"from": "Ann", "to": "Ben", "relationType": "hates"}]},
    "memory_store": {"content": "c", "scope": "s", "category": "a", "tags": ["t"], "metadata": {"k": {"l": ["v"]}}},
    "memory_update": {
        "memory_id": "ONE", "content": "c", "scope": "s", "category": "a", "tags": ["t"], "metadata": {"k": "v"},
    },
    "memory_delete": {"memory_id": "gone"},
    "memory_move": {"memory_ids": ["ONE"], "target_scope": "s"},
    "memory_import": {"import_data": json.dumps({"memories": [MEMORY]})},
    "memory_export": {"scope": "s"},
    "session_manage": {"action": "create", "session_id": "s"},
    "store_content": {
        "project_id": "p", "content": "c", "content_type": "text/plain", "summary": "s", "tags": ["t"],
        "metadata": {"k": "v"}, "session_id": "s", "user_id": "u", "request_id": "r",
        "options": {"extract_metadata": True},
    },
    "update_content": {
        "project_id": "p", "content_id": "TWO",
        "updates": {"content": "c", "summary": "s", "tags": ["t"], "metadata": {"k": "v"}},
    },
    "delete_content": {"project_id": "p", "content_id": "gone"},
    "store_decision": {
        "project_id": "p", "title": "t", "context": "c", "decision": "d", "rationale": "r", "alternatives": ["a"],
        "impact": "i", "stakeholders": ["s"], "tags": ["t"], "metadata": {"k": "v"},
    },
    "create_relationship": {
        "project_id": "p", "source_id": "TWO", "target_id": "THREE", "type": "cites", "context": "c",
        "metadata": {"k": "v"},
    },
    "import_project_data": {"project_id": "p", "source": "s", "format": "json"},
    "validate_data_integrity": {"project_id": "p"},
}  # fmt: skip
TOOL = {verb: tool for tool, verbs in CONTENT.items() for verb in verbs}


def _with_the_key(value: Any) -> Iterator[Any]:
    """A call once for every text in it, keys of free objects included, each time with the credential in its place."""
    if isinstance(value, str):
        if value.startswith("{"):
            yield from (json.dumps(one) for one in _with_the_key(json.loads(value)))
        yield KEY
        yield f"it opens with {KEY} only"
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: one} for one in _with_the_key(inner))
            if name in ("k", "l"):
                yield {KEY: inner}
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], one, *value[at + 1 :]] for one in _with_the_key(inner))


def _prepared(place: Place, manner: str) -> tuple[Server, dict[str, str]]:
    server = place.serve("all", "--graph", "simple", "--secrets", manner)
    server.call(
        "create_entities", entities=[{"name": n, "entityType": "p", "observations": ["x"]} for n in ("Ann", "Ben")]
    )
    one = server.call("memory_store", content="harmless").value["memory_id"]
    two, three = (
        server.call("memory_store", operation="store_content", project_id="p", content=text).structured["content_id"]
        for text in ("harmless too", "so is this")
    )
    return server, {"ONE": one, "TWO": two, "THREE": three}


def _filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, ids) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, ids) for inner in value]
    return ids.get(value, value) if isinstance(value, str) else value


def _ask(server: Server, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    more = {"operation": name} if name in TOOL else {}
    return server.answer(server.begin_call(TOOL.get(name, name), {**more, **arguments}))


def _store(place: Place) -> bytes:
    return b"".join(place.contents().values())


@pytest.mark.promise("everywhere.secrets.complete")
def test_the_table_has_every_tool_and_operation_that_may_write(place: Place) -> None:
    server = place.serve("all")
    tools = {one["name"] for one in server.request("tools/list")["tools"]
             if not one.get("annotations", {}).get("readOnlyHint")}  # fmt: skip
    verbs = {name for some in CONTENT.values() for name, verb in some.items() if not verb.reads}
    assert (tools - {"memory_system", "memory_retrieve", "memory_analyze"}) | verbs == set(CALLS)


@pytest.mark.promise("everywhere.secrets.refuse")
@pytest.mark.promise("everywhere.secrets.redact")
@pytest.mark.parametrize("manner", ["refuse", "redact"])
def test_no_door_lets_a_credential_into_the_store(place: Place, manner: str) -> None:
    server, ids = _prepared(place, manner)
    refused = 0
    for name, call in CALLS.items():
        assert "result" in _ask(server, name, _filled(call, ids)) or name in (
            "memory_delete", "delete_content", "import_project_data"), name  # fmt: skip
        for arguments in _with_the_key(call):
            answer = _ask(server, name, _filled(arguments, ids))
            refused += "credential" in json.dumps(answer)
    server.close_input()
    assert server.exit_code() == 0
    assert KEY.encode() not in _store(place)
    assert refused > (60 if manner == "refuse" else 40)
    if manner == "redact":
        assert KEY[:4].encode() in _store(place)


@pytest.mark.promise("everywhere.secrets.flag")
def test_a_credential_that_is_stored_is_told_of_in_every_dialect(place: Place) -> None:
    server, ids = _prepared(place, "flag")
    for name in ("create_entities", "add_observations", "memory_store", "memory_update", "memory_import",
                 "store_content", "update_content", "store_decision"):  # fmt: skip
        told = [
            answer["result"]
            for arguments in _with_the_key(CALLS[name])
            if "result" in (answer := _ask(server, name, _filled(arguments, ids)))
        ]
        assert any("possible_credentials" in json.dumps(one.get("_meta", {})) for one in told), name
    answer = server.call("memory_store", content=f"and {KEY}", scope="told").value
    assert any("credential" in note for note in answer["notes"])
    assert KEY.encode() in _store(place)
    assert "possible_credentials" not in json.dumps(_ask(server, "memory_store", {"content": "no key at all"}))


@pytest.mark.promise("everywhere.secrets.refuse")
def test_commands_and_imports_pass_the_same_guard(place: Place) -> None:
    environment = {"POLYMNIA_SECRETS": "refuse"}
    added = place.run("add", f"it opens with {KEY}", environment=environment)
    assert added.returncode == 1
    assert "credential" in added.stderr
    (place.folder / "graph.json").write_text(
        json.dumps({"entities": [{"name": "Ann", "entityType": "p", "observations": [KEY]}], "relations": []})
    )
    assert place.run("import", "graph.json", environment=environment).returncode == 1
    assert KEY.encode() not in _store(place)
    done = place.run("add", f"it opens with {KEY}", environment={"POLYMNIA_SECRETS": "redact"})
    assert done.returncode == 0
    assert "credential" in done.stderr
    assert KEY.encode() not in _store(place)


@pytest.mark.promise("everywhere.secrets.complete")
def test_every_primitive_of_a_transaction_is_screened_or_brings_no_text() -> None:
    textless = {
        "changed", "present_observations", "remove_observations", "remove_records", "remove_relations",
        "remove_sessions", "undo", "purge", "purge_versions", "forget_notes", "note", "put_vectors", "drop_vectors",
        "count_reads", "index_words", "drop_words", "drop_indexes", "index_substrings", "restore_record", "number",
    }  # fmt: skip
    primitives = {name for name in vars(Transaction) if not name.startswith("_")}
    assert primitives == textless | {name for name in vars(Screened) if not name.startswith("_")}
