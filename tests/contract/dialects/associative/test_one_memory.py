"""One memory for all dialects: what one stored, another finds; what one project keeps, another never sees."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server, entity, relation

from .speaking import archive, found, got, kept, linked, refused, scopes, store, stored


@pytest.fixture
def everything(place: Place) -> Server:
    """A server of the dialect `all`."""
    return place.serve("all")


@pytest.mark.promise("associative.one.graph_here")
def test_what_the_graph_tools_stored_is_found_read_and_listed(everything: Server) -> None:
    server = everything
    server.call("create_entities", entities=[entity("Ann", "likes tea", "lives in Oslo", type="person")])
    (hit,) = server.call("memory_search", query="who likes tea").value["memories"]
    assert (hit["name"], hit["kind"], hit["content"]) == ("Ann", "person", "likes tea\nlives in Oslo")
    assert hit["scope"] == "user/default"
    assert got(server, hit["memory_id"]) == got(server, "Ann")
    assert [one["name"] for one in kept(server)] == ["Ann"]
    assert scopes(server)["user/default"]["memory_count"] == 1
    assert "likes tea" in archive(server)


@pytest.mark.promise("associative.one.here_graph")
def test_what_was_stored_here_shows_in_the_graph(everything: Server) -> None:
    server = everything
    id = stored(server, "The deploy needs a password", scope="ops", tags=["deploy"])
    (node,) = server.graph()["entities"]
    assert (node["name"], node["observations"]) == (id, ["The deploy needs a password"])
    assert [node["name"] for node in server.call("search_nodes", query="deploy password").value["nodes"]] == [id]
    assert [node["name"] for node in server.call("open_nodes", names=[id]).value["nodes"]] == [id]


@pytest.mark.promise("associative.one.graph_changes")
def test_what_the_graph_tools_change_is_changed_here_and_the_other_way_round(everything: Server) -> None:
    server = everything
    id = stored(server, "first line", scope="a", tags=["t"])
    server.call("add_observations", observations=[{"entityName": id, "contents": ["second line"]}])
    memory = got(server, id)
    assert memory["content"] == "first line\nsecond line"
    assert (memory["scope"], memory["tags"], memory["version"]) == ("a", ["t"], 2)
    server.call("delete_observations", deletions=[{"entityName": id, "observations": ["first line"]}])
    server.call("memory_update", memory_id=id, content="one line")
    assert server.graph()["entities"][0]["observations"] == ["one line"]
    server.call("create_entities", entities=[entity("Ann", "likes tea")])
    server.call("memory_update", memory_id="Ann", tags=["person"], scope="people")
    assert server.call("open_nodes", names=["Ann"]).value["nodes"][0]["observations"] == ["likes tea"]
    server.call("memory_move", memory_ids=["Ann"], target_scope="people/friends")
    assert got(server, "Ann")["scope"] == "people/friends"
    server.call("delete_entities", entityNames=[id])
    refused(server, "memory_get", "MEMORY_NOT_FOUND", memory_id=id)
    server.call("memory_delete", memory_id="Ann")
    assert server.graph() == {"entities": [], "relations": []}


@pytest.mark.promise("associative.one.relations")
def test_relations_drawn_by_the_graph_tools_are_associations_here(everything: Server) -> None:
    server = everything
    server.call("create_entities", entities=[entity("Ann", "likes tea"), entity("Oslo", "is cold")])
    server.call("create_relations", relations=[relation("Ann", "lives_in", "Oslo")])
    (link,) = got(server, "Ann")["associations"]
    assert (link["name"], link["relation_type"], link["direction"]) == ("Oslo", "lives_in", "outgoing")
    assert link["similarity_score"] is None  # nobody gave a number
    assert linked(server, "Oslo") == [got(server, "Ann")["memory_id"]]


@pytest.mark.promise("associative.one.dialects")
@pytest.mark.parametrize("graph", ["simple", "strict", "bilingual", "official"])
def test_servers_of_other_dialects_share_the_store(place: Place, graph: str) -> None:
    here, there = place.serve("associative"), place.serve(graph)
    id = stored(here, "The printer is on the second floor", scope="office")
    assert [node["name"] for node in there.graph()["entities"]] == [id]
    there.call("create_entities", entities=[entity("Bob", "repairs printers")])
    assert [one.get("name", one["memory_id"]) for one in kept(here)] == ["Bob", id]
    assert len(found(here, "printers")) >= 1
    here.call("memory_delete", memory_id="Bob")
    assert there.names() == [id]


@pytest.mark.promise("associative.one.all")
def test_all_offers_both_and_each_keeps_its_own_manners(everything: Server) -> None:
    tools = everything.tools()
    assert {"create_entities", "read_graph", "memory_store", "session_manage"} <= tools.keys()
    graph = everything.refused("create_entities", entities=[])
    assert graph.text.startswith("Error: ")
    refused(everything, "memory_get", "MEMORY_NOT_FOUND", memory_id="nobody")
    assert store(everything, "x", scope="a")["scope"] == "a"
    assert everything.call("memory_store", request={"content": "y"}).value["scope"] == "user/default"


@pytest.mark.promise("associative.one.projects")
def test_projects_never_see_each_other(place: Place) -> None:
    one, two = (place.serve("associative", "--project", project) for project in ("one", "two"))
    id = stored(one, "A secret of project one", scope="secret/place", tags=["secret"])
    one.call("session_manage", action="create", session_id="secret-session")
    for tool in ("memory_get", "memory_delete", "memory_discover_associations", "memory_update"):
        value = refused(two, tool, "MEMORY_NOT_FOUND", memory_id=id)
        assert value["message"] == f"Memory with ID '{id}' not found"
    assert found(two, "secret", similarity_threshold=0) == []
    assert kept(two) == []
    assert scopes(two) == {}
    assert two.call("session_manage", action="list").value["sessions"] == []
    assert two.call("memory_export").value["exported_count"] == 0
    assert two.call("memory_move", memory_ids=[id], target_scope="x").value["moved_count"] == 0
    assert two.call("session_manage", action="cleanup", max_age_days=0).value["removed_sessions"] == 0
    assert store(two, "A secret of project one", scope="secret/place")["is_duplicate"] is False
    value = two.call("scope_suggest", content="A secret of project one").value
    assert got(one, id)["content"] == "A secret of project one"
    assert len(kept(one)) == 1
    known = {value["suggested_scope"], *(one["scope"] for one in value["alternatives"])}
    assert known == {"user/default", "secret/place"}  # its own, which it has by now


@pytest.mark.promise("associative.one.file")
def test_with_a_json_file_the_memories_are_in_it(place: Place) -> None:
    file = place.folder / "memory.json"
    servers = [place.serve("associative", "--file", str(file), environment={"POLYMNIA_STORE": None}) for _ in range(2)]
    id = stored(servers[0], "It is in the file", scope="a/b", tags=["t"])
    assert "It is in the file" in file.read_text()
    memory = got(servers[1], id)
    assert (memory["content"], memory["scope"], memory["tags"]) == ("It is in the file", "a/b", ["t"])
    file.write_text(file.read_text().replace("It is in", "Somebody edited"))
    memory = got(servers[0], id)
    assert (memory["content"], memory["scope"]) == ("Somebody edited the file", "a/b")
