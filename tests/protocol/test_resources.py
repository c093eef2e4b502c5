"""Resources: the graph, one memory by its name, and news about both."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from stdio_client import Place, Server, entity, envelope, relation

GRAPH = "memory://knowledge-graph"


def memory(name: str) -> str:
    return f"memory://memory/{quote(name, safe='')}"


def read(server: Server, uri: str) -> Any:
    contents = server.request("resources/read", {"uri": uri})["contents"]
    assert len(contents) == 1
    assert contents[0]["uri"] == uri
    assert contents[0]["mimeType"] == "application/json"
    return json.loads(contents[0]["text"])


@pytest.mark.promise("protocol.resources.list")
def test_the_graph_is_listed_as_a_resource(server: Server) -> None:
    listed = {resource["uri"]: resource for resource in server.request("resources/list")["resources"]}

    assert listed[GRAPH]["mimeType"] == "application/json"
    assert listed[GRAPH]["name"]
    assert listed[GRAPH]["title"]
    assert listed[GRAPH]["description"]


@pytest.mark.promise("protocol.resources.templates")
def test_one_memory_by_name_is_listed_as_a_template(server: Server) -> None:
    templates = server.request("resources/templates/list")["resourceTemplates"]

    assert [template["uriTemplate"] for template in templates] == ["memory://memory/{name}"]
    assert templates[0]["name"]
    assert templates[0]["mimeType"] == "application/json"


@pytest.mark.promise("protocol.resources.graph")
def test_reading_the_graph_resource_gives_entities_and_relations(server: Server) -> None:
    entities = [entity("a", "x"), entity("b", "y")]
    server.call("create_entities", entities=entities)
    server.call("create_relations", relations=[relation("a", "knows", "b")])

    assert read(server, GRAPH) == {"entities": entities, "relations": [relation("a", "knows", "b")]}


@pytest.mark.promise("protocol.resources.memory")
@pytest.mark.parametrize("name", ["alice", "서울 시청", "a/b?c#d", "100%", "이름 %20", "👩‍👩‍👧", "a+b"])
def test_a_memory_is_read_by_its_percent_encoded_name(strict: Server, name: str) -> None:
    strict.call("create_entities", entities=[entity(name, "하나", "two"), entity("other", "x")])

    value = read(strict, memory(name))

    assert entity(name, "하나", "two").items() <= value.items()


@pytest.mark.promise("protocol.resources.memory")
def test_a_memory_can_be_read_with_its_letters_as_they_are(strict: Server) -> None:
    strict.call("create_entities", entities=[entity("서울", "x")])

    assert read(strict, "memory://memory/서울")["name"] == "서울"


@pytest.mark.promise("protocol.resources.unknown")
@pytest.mark.parametrize("uri", ["memory://memory/nobody", "memory://elsewhere", "file:///etc/passwd", "x", ""])
def test_an_unknown_resource_is_not_found_and_named(strict: Server, uri: str) -> None:
    error = strict.refusal("resources/read", {"uri": uri})

    assert error["code"] == -32002
    assert uri in json.dumps(error)


@pytest.mark.promise("protocol.resources.unknown")
def test_reading_without_a_uri_is_invalid_params(strict: Server) -> None:
    assert strict.refusal("resources/read", {})["code"] == -32602
    assert strict.refusal("resources/read", {"uri": 5})["code"] == -32602


@pytest.mark.promise("protocol.resources.subscribe")
def test_a_subscriber_hears_of_changes_it_makes_itself(server: Server) -> None:
    assert server.request("resources/subscribe", {"uri": GRAPH}) == {}

    server.call("create_entities", entities=[entity("a", "x")])

    assert server.notification("notifications/resources/updated")["params"]["uri"] == GRAPH


@pytest.mark.promise("protocol.resources.subscribe_other_process")
def test_a_subscriber_hears_of_changes_another_process_makes(place: Place, server: Server) -> None:
    server.call("create_entities", entities=[entity("한 이름", "x")])
    server.request("resources/subscribe", {"uri": GRAPH})
    server.request("resources/subscribe", {"uri": memory("한 이름")})

    addition = {"entityName": "한 이름", "contents": ["y"]}
    place.serve("simple").call("add_observations", observations=[addition])

    for uri in (GRAPH, memory("한 이름")):
        server.notification("notifications/resources/updated", lambda n, uri=uri: n["params"]["uri"] == uri)


@pytest.mark.promise("protocol.resources.unsubscribe")
def test_after_unsubscribing_there_is_no_more_news(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[entity("a", "x")])
    strict.request("resources/subscribe", {"uri": GRAPH})
    strict.request("resources/subscribe", {"uri": memory("a")})
    assert strict.request("resources/unsubscribe", {"uri": GRAPH}) == {}

    strict.call("add_observations", observations=[{"entityName": "a", "contents": ["y"]}])
    strict.notification("notifications/resources/updated", lambda n: n["params"]["uri"] == memory("a"))
    strict.request("ping")

    assert [n for n in strict.notifications if n["params"].get("uri") == GRAPH] == []


@pytest.mark.promise("protocol.resources.subscribe")
def test_without_a_subscription_there_is_no_news(strict: Server) -> None:
    strict.call("create_entities", entities=[entity("a", "x")])
    strict.call("create_entities", entities=[entity("b", "x")])
    strict.request("ping")

    assert strict.notifications == []


@pytest.mark.promise("protocol.listen.acknowledged")
@pytest.mark.promise("protocol.listen.updates")
def test_listening_is_acknowledged_first_and_then_brings_stamped_updates(place: Place) -> None:
    server = place.start("--dialect", "strict")
    wanted = {"resourceSubscriptions": [GRAPH, memory("기억")], "toolsListChanged": True}
    server.send(
        {
            "jsonrpc": "2.0",
            "id": "news",
            "method": "subscriptions/listen",
            "params": {"notifications": wanted, "_meta": envelope()},
        }
    )

    acknowledged = server.notification("notifications/subscriptions/acknowledged")
    assert server.arrivals[0] == acknowledged
    assert acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "news"
    assert acknowledged["params"]["notifications"]["resourceSubscriptions"] == [GRAPH, memory("기억")]

    place.serve("simple").call("create_entities", entities=[entity("기억", "x")])

    for uri in (GRAPH, memory("기억")):
        update = server.notification("notifications/resources/updated", lambda n, uri=uri: n["params"]["uri"] == uri)
        assert update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "news"
    assert not server.answered("news")


@pytest.mark.promise("protocol.listen.ends")
def test_cancelling_a_listen_request_ends_its_news(place: Place) -> None:
    server = place.start("--dialect", "strict")
    for id in ("first", "second"):
        server.send(
            {
                "jsonrpc": "2.0",
                "id": id,
                "method": "subscriptions/listen",
                "params": {"notifications": {"resourceSubscriptions": [GRAPH]}, "_meta": envelope()},
            }
        )
        server.notification("notifications/subscriptions/acknowledged")
    server.notify("notifications/cancelled", {"requestId": "first"})

    call = {"name": "create_entities", "arguments": {"entities": [entity("a", "x")]}}
    server.modern("tools/call", call)

    update = server.notification("notifications/resources/updated")
    assert update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "second"
    server.modern("tools/list")
    assert server.notifications == []


@pytest.mark.promise("protocol.listen.ends")
def test_a_listen_request_is_answered_when_the_client_goes(place: Place) -> None:
    server = place.start("--dialect", "strict")
    server.send(
        {
            "jsonrpc": "2.0",
            "id": "news",
            "method": "subscriptions/listen",
            "params": {"notifications": {"resourceSubscriptions": [GRAPH]}, "_meta": envelope()},
        }
    )
    server.notification("notifications/subscriptions/acknowledged")

    server.close_input()

    answer = server.answer("news")
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "news"
    assert server.exit_code() == 0


@pytest.mark.promise("protocol.listen.bad_params")
def test_listening_without_saying_to_what_is_invalid_params(strict: Server) -> None:
    assert strict.refusal("subscriptions/listen", {"_meta": envelope()})["code"] == -32602
    bad = {"notifications": {"resourceSubscriptions": "all"}, "_meta": envelope()}
    assert strict.refusal("subscriptions/listen", bad)["code"] == -32602
