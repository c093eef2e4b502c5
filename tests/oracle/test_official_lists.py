"""What a client is offered by our official dialect: the tools and the resource of the release from npm."""

from __future__ import annotations

from typing import Any

from .servers import Official, plain

Schema = dict[str, Any]

_PAGED = {"read_graph", "search_nodes", "open_nodes"}


def _tools(server: Official) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = server.wire.request("tools/list")["result"]["tools"]
    assert tools
    return tools


def _shape(schema: Schema, whole: Schema | None = None) -> Any:
    """What a schema asks for, without how it is written: references followed, words left out."""
    whole = whole or schema
    if "$ref" in schema:
        target: Any = whole
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return _shape(target, whole)
    if schema.get("type") == "array":
        return [_shape(schema["items"], whole)]
    if schema.get("type") == "object":
        required = schema.get("required", [])
        return {
            key + ("" if key in required else "?"): _shape(value, whole)
            for key, value in schema.get("properties", {}).items()
        }
    return schema["type"]


def test_the_tools_have_the_names_and_the_order_of_the_release(ours: Official, theirs: Official) -> None:
    assert [tool["name"] for tool in _tools(ours)] == [tool["name"] for tool in _tools(theirs)]


def test_the_tools_have_the_titles_and_annotations_of_the_release(ours: Official, theirs: Official) -> None:
    for mine, other in zip(_tools(ours), _tools(theirs), strict=True):
        assert mine["title"] == other["title"]
        hints = dict(mine["annotations"])
        # Clients of the first versions of the protocol look for the title here.
        assert hints.pop("title", mine["title"]) == mine["title"]
        assert hints == other["annotations"], mine["name"]


def test_the_tools_are_described(ours: Official) -> None:
    assert all(tool["description"].strip() for tool in _tools(ours))


def test_the_tools_take_the_arguments_of_the_release_and_pages_on_top(ours: Official, theirs: Official) -> None:
    for mine, other in zip(_tools(ours), _tools(theirs), strict=True):
        properties = dict(mine["inputSchema"].get("properties", {}))
        extras = {key: properties.pop(key) for key in ("limit", "cursor", "max_tokens") if key in properties}
        assert set(extras) == ({"limit", "cursor", "max_tokens"} if mine["name"] in _PAGED else set()), mine["name"]
        assert not set(extras) & set(mine["inputSchema"].get("required", []))
        trimmed = {**mine["inputSchema"], "properties": properties}
        assert trimmed["type"] == "object"
        assert _shape(trimmed, mine["inputSchema"]) == _shape(other["inputSchema"]), mine["name"]


def test_the_tools_answer_in_the_shapes_of_the_release(ours: Official, theirs: Official) -> None:
    for mine, other in zip(_tools(ours), _tools(theirs), strict=True):
        shape = _shape(mine["outputSchema"])
        if mine["name"] in _PAGED:
            shape.pop("nextCursor?", None)
        assert shape == _shape(other["outputSchema"]), mine["name"]


def test_the_graph_is_offered_as_the_same_resource(ours: Official, theirs: Official) -> None:
    expected = theirs.wire.request("resources/list")["result"]["resources"]
    uris = [resource["uri"] for resource in expected]
    assert uris == ["memory://knowledge-graph"]
    offered = {resource["uri"]: resource for resource in ours.wire.request("resources/list")["result"]["resources"]}
    for resource in expected:
        mine = offered[resource["uri"]]
        assert {key: mine.get(key) for key in ("name", "title", "mimeType")} == {
            key: resource.get(key) for key in ("name", "title", "mimeType")
        }


def test_the_resource_reads_the_same_text(ours: Official, theirs: Official) -> None:
    told = []
    for server in (ours, theirs):
        server.forget()
        empty = plain(server.wire.request("resources/read", {"uri": "memory://knowledge-graph"}))
        entities = [{"name": "서울", "entityType": "도시", "observations": ["크다", 'a "b"\n\u2028']}]
        server.answer(("create_entities", {"entities": entities}))
        relations = [{"from": "서울", "to": "nowhere", "relationType": "near"}]
        server.answer(("create_relations", {"relations": relations}))
        full = plain(server.wire.request("resources/read", {"uri": "memory://knowledge-graph"}))
        told.append([answer["contents"] for answer in (empty, full)])
    assert told[0] == told[1]


def test_a_subscriber_hears_of_a_change_in_both(ours: Official, theirs: Official) -> None:
    uri = "memory://knowledge-graph"
    for server in (ours, theirs):
        server.forget()
        assert plain(server.wire.request("resources/subscribe", {"uri": uri})) == {}
        heard = server.wire.heard
        before = len(heard)
        server.answer(("create_entities", {"entities": [{"name": "n", "entityType": "t", "observations": []}]}))
        while len(heard) == before:
            server.wire.listen()
        assert heard[before]["method"] == "notifications/resources/updated"
        assert heard[before]["params"] == {"uri": uri}
        server.wire.request("resources/unsubscribe", {"uri": uri})
