"""One memory under all dialects, and walls between projects."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server, entity, relation

DIALECTS = ("simple", "strict", "bilingual", "official")


@pytest.mark.promise("graph.shared.dialects")
def test_what_one_dialect_stores_every_other_finds_while_both_run(place: Place) -> None:
    servers = {name: place.serve(name) for name in DIALECTS}
    for name, server in servers.items():
        server.call("create_entities", entities=[entity(f"of {name}", f"stored by {name}")])

    everything = [entity(f"of {name}", f"stored by {name}") for name in DIALECTS]
    for name, server in servers.items():
        assert server.graph()["entities"] == everything, name

    servers["strict"].call("create_relations", relations=[relation("of simple", "meets", "of official")])
    servers["official"].call("delete_entities", entityNames=["of bilingual"])
    for name, server in servers.items():
        assert server.names() == ["of simple", "of strict", "of official"], name
        assert server.graph()["relations"] == [relation("of simple", "meets", "of official")], name


@pytest.mark.promise("graph.shared.restart")
def test_a_server_started_later_finds_what_an_earlier_one_stored(place: Place, server: Server, dialect: str) -> None:
    server.call("create_entities", entities=[entity("kept", "for later")])
    server.close_input()
    assert server.exit_code() == 0

    assert place.serve(dialect).graph()["entities"] == [entity("kept", "for later")]


@pytest.mark.promise("graph.shared.projects")
def test_projects_of_one_store_do_not_see_each_other(place: Place, dialect: str) -> None:
    default = place.serve(dialect)
    red = place.serve(dialect, "--project", "red")
    blue = place.serve(dialect, environment={"POLYMNIA_PROJECT": "blue"})
    for name, server in (("default", default), ("red", red), ("blue", blue)):
        server.call("create_entities", entities=[entity("same name", f"in {name}")])
        server.call("create_relations", relations=[relation("same name", name, "same name")])

    for name, server in (("default", default), ("red", red), ("blue", blue)):
        assert server.graph() == {
            "entities": [entity("same name", f"in {name}")],
            "relations": [relation("same name", name, "same name")],
        }
        found = server.call("search_nodes", query="in ").text
        assert f"in {name}" in found
        assert found.count("same name") == server.call("open_nodes", names=["same name"]).text.count("same name")

    red.call("delete_entities", entityNames=["same name"])
    assert default.names() == ["same name"]
    assert place.serve(dialect, "--project", "default").names() == ["same name"]


@pytest.mark.promise("graph.shared.environment")
def test_dialect_store_and_project_can_come_from_the_environment(place: Place) -> None:
    other = place.folder / "elsewhere" / "other.db"
    by_argument = place.serve("bilingual", "--store", str(other), "--project", "p")
    by_argument.call("create_entities", entities=[entity("a", "x")])

    by_environment = place.start(
        environment={"POLYMNIA_DIALECT": "bilingual", "POLYMNIA_STORE": str(other), "POLYMNIA_PROJECT": "p"}
    )
    by_environment.initialize()

    assert by_environment.call("open_nodes", names=["a"]).value == [entity("a", "x")]
    assert by_environment.refused("open_nodes", names=["b"]).text.endswith('찾을 수 없습니다: ["b"]')
    assert other.exists()
    assert not place.store.exists()


@pytest.mark.promise("graph.shared.all")
def test_dialect_all_offers_the_graph_tools_with_the_behaviour_asked_for(place: Place) -> None:
    usual = place.serve("all")
    forgiving = place.serve("all", "--graph", "simple")
    usual.call("create_entities", entities=[entity("a", "x")])

    assert usual.refused("create_entities", entities=[entity("a", "y")]).lines[0] == (
        'Error: Entity "a" already exists'
    )
    assert forgiving.call("create_entities", entities=[entity("a", "y")]).value == [entity("a", "y")]
