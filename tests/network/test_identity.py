"""Who did what: keys, tokens, clients, dialects and tools in the history, and projects that a call must name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import polymnia
from form import each
from polymnia.keys import KeyFile

from .conftest import MANY
from .served import Refused, Served, initialize, request

ONE = {"name": "n", "entityType": "t", "observations": ["o"]}


@pytest.fixture(scope="module")
def served(serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("identity")
    KeyFile(str(folder / "config" / "polymnia" / "keys.json")).add("first")
    yield serving(*MANY, folder=folder)


def changes(served: Served, project: str) -> list[polymnia.Change]:
    with polymnia.connect(served.store, project=project) as memory:
        return memory.changes(5)


@pytest.mark.promise("history.author")
def test_every_change_says_by_which_key_client_dialect_and_tool_it_was_made(served: Served) -> None:
    key, text = served.keys.add("eve", projects=("hers",))
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "cursor", "version": "2.1"}}
    begun = served.post({**initialize(), "params": params}, "/mcp/strict", key=text)
    session = begun.headers["mcp-session-id"]
    call = request("tools/call", {"name": "create_entities", "arguments": {"entities": [ONE]}})
    assert served.post(call, "/mcp/strict", key=text, Mcp_Session_Id=session).status == 200
    given = {"operation": "store_content", "project_id": "hers", "content": "The kettle is red.", "user_id": "bob"}
    with served.door("bare", "content", text) as door:
        stored = door.call("memory_store", given)["result"]["content_id"]
        asked = {"operation": "get_content_history", "project_id": "hers", "content_id": stored}
        version = door.call("memory_retrieve", asked)["result"]["versions"][0]
    second, first = changes(served, "hers")
    account = f"key eve ({key.id})"
    assert (first.who, first.account, first.client, first.dialect, first.tool, first.action) == (
        "eve via cursor 2.1 (strict)", account, "cursor 2.1", "strict", "create_entities", "create_entities",
    )  # fmt: skip
    assert (second.who, second.account, second.client, second.dialect, second.tool, second.action) == (
        "bob via unknown client (content)", account, "unknown client", "content", "memory_store", "store_content",
    )  # fmt: skip
    told = {"account": account, "client": "unknown client", "dialect": "content", "tool": "memory_store"}
    assert told.items() <= version.items(), version
    assert version["changed_by"] == second.who


@pytest.mark.promise("network.keys.several", "network.keys.projects")
@each("dialect", ["all", "simple", "strict", "bilingual", "official", "associative"])
def test_a_key_for_two_projects_must_name_one_of_them(served: Served, kind: str, dialect: str) -> None:
    _, text = served.keys.add("both", projects=("alpha", "beta"))
    tool, given = "read_graph", dict[str, Any]()
    if dialect == "associative":
        tool, given = "memory_store", {"content": "Tea."}
    with served.door(kind, dialect, text) as door:
        said = json.dumps(door.call(tool, given))
        assert "alpha" in said, said
        assert "beta" in said
        assert "project" in said
        read = {"uri": "memory://knowledge-graph"}
        if dialect != "associative":
            assert "alpha" in door.send(request("resources/read", read))["error"]["message"]
    with polymnia.connect(served.store) as memory:
        assert not {"alpha", "beta"} & set(memory.store.projects())


@pytest.mark.promise("network.keys.several")
def test_the_address_names_the_project_where_the_tool_cannot(served: Served) -> None:
    _, text = served.keys.add("two", projects=("gamma", "delta/한글"))
    call = request("tools/call", {"name": "create_entities", "arguments": {"entities": [ONE]}})
    named = "project=delta%2F%ED%95%9C%EA%B8%80"
    assert "result" in served.post(call, f"/mcp/strict?{named}", key=text).value
    read = request("tools/call", {"name": "read_graph", "arguments": {}})
    with served.events(f"/sse/strict?{named}", key=text) as events:
        where = events.next()
        assert where is not None
        assert served.post({**read, "id": "s"}, where["data"], key=text).status == 202
        assert "observations" in json.dumps(events.message())
    with served.socket(f"/ws/strict?{named}", key=text) as made:
        made.send(json.dumps(read))
        assert "observations" in str(made.recv(10))
    for wrong, status in (("project=other", 403), ("project=", 400), ("project=a&project=b", 400)):
        refused = served.post(read, f"/mcp/strict?{wrong}", key=text)
        assert (refused.status, refused.value["error"]["code"]) == (status, status)
        assert "project" in refused.value["error"]["message"]
    with pytest.raises(Refused) as caught, served.events("/sse/strict?project=other", key=text):
        pass
    assert caught.value.error["code"] == 403


@pytest.mark.promise("network.proxies")
def test_only_a_named_proxy_is_believed_who_its_client_is(serving: Callable[..., Served], tmp_path: Path) -> None:
    for name in ("behind", "alone"):
        (tmp_path / name).mkdir()
    flags = ("--rate-limit-session", "1", "--allowed-hosts", "memory.example", "--log-level", "info")
    said = {
        "X_Forwarded_For": "6.6.6.6, 203.0.113.9",
        "X_Forwarded_Proto": "https",
        "X_Forwarded_Host": "memory.example",
    }
    read = request("tools/call", {"name": "read_graph", "arguments": {}})
    behind = serving("--trusted-proxies", "127.0.0.0/8,10.0.0.1", *flags, folder=tmp_path / "behind")
    page = {**said, "Origin": "https://memory.example"}
    assert behind.post(read, **page).status == 200
    assert behind.post(read, **{**page, "X_Forwarded_For": "6.6.6.6, 203.0.113.10"}).status == 200, "another caller"
    assert behind.post(read, **{**page, "X_Forwarded_For": "1.1.1.1, 203.0.113.9, 10.0.0.1"}).status == 429
    assert behind.post(read, **{**page, "X_Forwarded_Host": "evil.example"}).status == 421
    assert any("203.0.113.9" in line for line in behind.lines)
    with behind.events("/sse", X_Forwarded_For="203.0.113.11", X_Forwarded_Prefix="/memory") as events:
        first = events.next()
        assert first is not None
        assert first["data"].startswith("/memory/sse/messages?")
    alone = serving(*flags, folder=tmp_path / "alone")
    assert alone.post(read, **page).status == 403, "a page of another site"
    assert alone.post(read, **said).status == 200
    assert alone.post(read, **{**said, "X_Forwarded_For": "203.0.113.10"}).status == 429, "the same address"


@pytest.mark.long
@pytest.mark.promise("network.proxies")
def test_a_proxy_that_is_no_address_is_refused_at_the_start(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving("--trusted-proxies", "proxy.local", folder=tmp_path, wait=False)
    assert served.code() != 0
    assert "trusted_proxies has 'proxy.local', which is neither" in served.log
