"""What the native dialect offers: few tools, short definitions, forgiving arguments, and a brief at the start."""

from __future__ import annotations

import json

import pytest

from stdio_client import Server

from .speaking import error, ids, text

# An estimate of ours counts JSON far too high. Vocabularies of chat models (o200k_base, cl100k_base) make a token of
# 4.3 characters of these definitions: 1,359 and 1,310 tokens of 5,891 characters.
_CHARACTERS = 6_300


@pytest.mark.promise("native.tools")
def test_seven_tools_are_offered(shared: Server) -> None:
    assert list(shared.tools()) == ["remember", "recall", "read", "revise", "forget", "undo", "brief"]
    for tool in shared.tools().values():
        assert tool["inputSchema"]["type"] == "object"
        assert not {"anyOf", "oneOf", "$ref", "$defs"} & tool["inputSchema"].keys()
        assert len(tool["description"]) > 40


@pytest.mark.promise("native.tools.tokens")
def test_the_definitions_are_short(shared: Server) -> None:
    slim = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in shared.tools().values()]
    assert len(json.dumps(slim, separators=(",", ":"))) <= _CHARACTERS


@pytest.mark.promise("native.answers.once")
def test_an_answer_is_one_block_of_text(shared: Server) -> None:
    result = shared.call("remember", text="once", project="once").result
    assert [block["type"] for block in result["content"]] == ["text"]
    assert "structuredContent" not in result


@pytest.mark.promise("native.arguments.synonyms")
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("remember", {"content": "said"}, "new "),
        ("remember", {"memory": "said"}, "new "),
        ("remember", {"request": {"text": "said"}}, "new "),
        ("remember", {"memories": ["one", "two"]}, "Stored 2 memories"),
        ("remember", {"memories": '[{"text": "one"}]'}, "Stored 1 memory"),
        ("remember", {"memories": {"content": "one", "tags": "a"}}, "#a"),
        ("remember", {"entities": [{"name": "E", "entityType": "t", "observations": "o"}]}, "new entity E [t"),
        ("remember", {"relations": {"source": "a", "target": "b", "relationType": "r"}}, "new relation a -r-> b"),
        ("remember", {"messages": [{"role": "user", "content": "hi"}]}, "1 turn of the session"),
        ("recall", {"question": "said", "max_tokens": "500", "top_k": "3"}, ""),
        ("recall", {"q": "said", "type": "fact"}, ""),
        ("read", {"path": "/"}, ""),
        ("brief", {"maxTokens": 300}, ""),
    ],
)
def test_words_of_other_servers_are_understood(
    shared: Server, tool: str, arguments: dict[str, object], expected: str, request: pytest.FixtureRequest
) -> None:
    reply = shared.call(tool, {**arguments, "project": request.node.name} if "request" not in arguments else arguments)
    assert not reply.failed, reply.text
    assert expected in reply.text


@pytest.mark.promise("native.arguments.synonyms")
def test_what_was_read_otherwise_is_noted(shared: Server) -> None:
    reply = shared.call("remember", {"content": "noted", "project": "noted"})
    assert any("`content` as `text`" in note["text"] for note in reply.notes)


@pytest.mark.promise("native.arguments.unknown", "native.errors")
def test_an_unknown_parameter_is_refused_with_the_nearest(shared: Server) -> None:
    assert "did you mean `query`?" in error(shared, "recall", qeury="x")
    assert "Nothing was done" in error(shared, "recall", qeury="x")
    assert "is required" in error(shared, "read")
    assert "no time" in error(shared, "recall", query="x", since="blue")
    assert "nothing to remember" in error(shared, "remember")


@pytest.mark.promise("native.project")
def test_projects_do_not_see_each_other(shared: Server) -> None:
    (id,) = ids(text(shared, "remember", text="zanzibar", project="left"))
    assert "zanzibar" not in text(shared, "recall", query="zanzibar", project="right")
    assert "zanzibar" in text(shared, "recall", query="zanzibar", project="left")
    assert "not found" in error(shared, "read", ids=[id], project="right")


@pytest.mark.promise("native.brief.sections", "native.brief.offered")
def test_the_brief_is_offered_in_every_way_a_client_may_read_it(words: Server) -> None:
    for kind, said in (
        ("instruction", "Never deploy on Fridays."),
        ("preference", "Prefers short answers."),
        ("decision", "We use SQLite."),
        ("question", "Who pays for the domain?"),
        ("plan", "Move the servers in May."),
        ("memory", "The office is on the second floor."),
    ):
        text(words, "remember", text=said, kind=kind, scope="team/ops")
    text(words, "remember", entities=[{"name": "Kim", "kind": "person", "observations": ["Runs the database"]}])
    brief = text(words, "brief")
    order = ["Never deploy", "Prefers short", "We use SQLite", "Who pays", "Move the servers", "Kim", "second floor"]
    places = [brief.index(one) for one in order]
    assert places == sorted(places)
    assert "team/ops (6)" in brief
    assert words.request("resources/read", {"uri": "memory://brief"})["contents"][0]["text"] == brief
    assert words.request("prompts/get", {"name": "brief"})["messages"][0]["content"]["text"] == brief
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "again", "version": "1"}}
    assert "Never deploy on Fridays." in words.request("initialize", hello)["instructions"]


@pytest.mark.promise("native.brief.sections")
def test_what_is_superseded_is_not_in_the_brief(words: Server) -> None:
    (old,) = ids(text(words, "remember", text="We use MySQL.", kind="decision"))
    text(words, "remember", text="We use SQLite.", kind="decision", supersedes=old)
    brief = text(words, "brief")
    assert "We use SQLite." in brief
    assert "We use MySQL." not in brief
