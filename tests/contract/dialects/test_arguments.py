"""Arguments as models send them, and what they are told about those that do not fit: one server a dialect."""

from __future__ import annotations

import json

import pytest

from stdio_client import Place, Server, entity

REFUSING = ["strict", "bilingual"]
TEXT = [{"name": "Ann", "entityType": "person", "observations": '["Likes tea"]'}]


@pytest.mark.promise("graph.arguments.unquoted")
def test_what_is_sent_as_text_is_read_as_what_it_says(server: Server) -> None:
    made = server.call("create_entities", entities=json.dumps([*TEXT, entity("[1]", "[2]", "true")]))
    assert "`entities` (array)" in made.notes[0]["text"]
    assert len(made.result["content"]) == 1
    opened = server.call("open_nodes", names='["Ann", "[1]"]', limit=" 2 ")
    assert "`limit` (integer)" in opened.notes[-1]["text"]
    graph = server.graph()["entities"]
    assert graph == [entity("Ann", "Likes tea", type="person"), entity("[1]", "[2]", "true")], "texts stay texts"
    assert server.call("open_nodes", names=["Ann"], limit=2).notes == []
    assert "limit" in server.refused("open_nodes", names=["Ann"], limit="two").text
    assert "names" in server.refused("open_nodes", names="Ann").text


@pytest.mark.promise("graph.arguments.unquoted")
def test_all_arguments_may_come_as_text(server: Server) -> None:
    arguments = json.dumps({"entities": [entity("Bea", "x")]})
    answer = server.request("tools/call", {"name": "create_entities", "arguments": arguments})
    assert not answer.get("isError"), answer
    assert server.names() == ["Bea"]


@pytest.mark.promise("graph.arguments.unknown")
def test_a_parameter_that_does_not_exist_is_named_with_the_nearest_or_ignored(server: Server, dialect: str) -> None:
    server.call("create_entities", entities=[entity("Ann", "x")])
    spelt = {"names": ["Ann"], "Limits": 1}
    if dialect in REFUSING:
        lines = server.refused("open_nodes", spelt).lines
        assert all("Limits" in line and "limit" in line for line in lines if not line.startswith("Solution")), lines
        inner = server.refused("create_entities", entities=[{**entity("Bob", "x"), "observation": ["y"]}]).text
        assert "entities[0].observation" in inner
        assert "Bob" in inner
    else:
        assert not server.call("open_nodes", spelt).failed
        server.call("create_entities", entities=[{**entity("Bob", "x"), "observation": ["y"]}])
        assert server.names() == ["Ann", "Bob"]


@pytest.mark.promise("graph.arguments.which")
def test_errors_name_the_item_and_every_field_in_both_languages(bilingual: Server) -> None:
    broken = [entity("Ann", "x"), {"name": "Bob"}]
    english, korean = bilingual.refused("create_entities", entities=broken).lines
    for line in (english, korean):
        assert "entities[1].entityType" in line, line
        assert "entities[1].observations" in line, line
        assert "'Bob'" in line, line
    assert "필요합니다" in korean
    english, korean = bilingual.refused("create_relations", relations=[{"from": "a"}]).lines
    assert all("relations[0].to" in line and "relations[0].relationType" in line for line in (english, korean))


@pytest.mark.promise("graph.arguments.nearest_name")
@pytest.mark.parametrize("dialect", REFUSING)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(server: Server, dialect: str) -> None:
    server.call("create_entities", entities=[entity("a", "x"), entity("Authentication", "x")])
    for wrong, right in (("A", "a"), ("Authentcation", "Authentication")):
        refusal = server.refused("add_observations", observations=[{"entityName": wrong, "contents": ["y"]}])
        assert f'"{right}"' in refusal.lines[1], refusal.text
        relation = {"from": "a", "to": wrong, "relationType": "r"}
        assert f'"{right}"' in server.refused("create_relations", relations=[relation]).lines[1]
    if dialect == "strict":
        assert "Authentication" in server.call("open_nodes", names=["authentication"]).notes[0]["text"]
    else:
        assert '"Authentication"' in server.refused("open_nodes", names=["authentication"]).lines[0]


@pytest.mark.promise("graph.arguments.empty_names")
def test_names_and_types_that_say_nothing_are_refused_where_the_dialect_refuses(server: Server, dialect: str) -> None:
    server.call("create_entities", entities=[entity("a", "x"), entity("b", "x")])
    for nothing in ("", " \t", "\u3000"):
        calls = [
            ("create_entities", {"entities": [{**entity("c", "x"), "name": nothing}]}, "entities[0].name"),
            ("create_entities", {"entities": [{**entity("c", "x"), "entityType": nothing}]}, "entities[0].entityType"),
        ]
        for field in ("from", "to", "relationType"):
            relation = {"from": "a", "to": "b", "relationType": "r", field: nothing}
            calls.append(("create_relations", {"relations": [relation]}, f"relations[0].{field}"))
        for tool, arguments, path in calls:
            if dialect in REFUSING:
                lines = server.refused(tool, arguments).lines
                assert f"`{path}`" in lines[0]
                assert "cannot be empty" in lines[0]
                if dialect == "bilingual":
                    assert f"{path} " in lines[1]
                    assert "비어있을 수 없습니다" in lines[1]
            else:
                assert not server.call(tool, arguments).failed, (tool, arguments)


@pytest.mark.promise("graph.arguments.empty_names")
def test_what_was_stored_without_a_name_elsewhere_can_be_deleted(place: Place) -> None:
    simple = place.serve("simple")
    simple.call("create_entities", entities=[entity("", "x")])
    simple.call("create_relations", relations=[{"from": "", "to": "", "relationType": ""}])
    strict = place.serve("strict")
    gone = strict.call("delete_relations", relations=[{"from": "", "to": "", "relationType": ""}])
    assert gone.value["deleted"] == 1
    assert strict.call("delete_entities", entityNames=[""]).value["deleted"] == 1


@pytest.mark.promise("graph.notes")
def test_simple_passes_over_in_silence_what_is_missing(simple: Server) -> None:
    simple.call("create_entities", entities=[entity("a", "x")])
    for tool, arguments in (
        ("add_observations", {"observations": [{"entityName": "nobody", "contents": ["y"]}]}),
        ("delete_observations", {"deletions": [{"entityName": "a", "observations": ["never said"]}]}),
        ("delete_entities", {"entityNames": ["nobody"]}),
        ("open_nodes", {"names": ["nobody", "A"]}),
    ):
        assert len(simple.call(tool, arguments).result["content"]) == 1, tool
