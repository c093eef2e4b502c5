"""What the page of the explorer asks for, on both engines: find, look at, change, take back, compare, settle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

import postgres
from stdio_client import STORE

from .conftest import MANY
from .exploring import Api, archive_with_drawn_relations
from .served import Served

_names = count()


@pytest.fixture(scope="module", params=["sqlite", "postgres"] if STORE == "sqlite" else [STORE])
def served(request: pytest.FixtureRequest, serving: Callable[..., Served]) -> Iterator[Served]:
    """A server without keys, on each engine."""
    many = (*MANY, "--rate-limit-explorer", "1000000")
    if request.param == STORE:
        yield serving(*many)
        return
    with postgres.database() as url:
        made = serving(*many, "--store", f"{url}?partitions=2")
        yield made
        made.stop()


@pytest.fixture
def api(served: Served) -> Api:
    """Its API."""
    return Api(served)


@pytest.fixture
def project() -> str:
    """A project of the test's own."""
    return f"project {next(_names)}"


def texts(memory: dict[str, Any]) -> list[str]:
    """The observations of a memory."""
    return [one["text"] for one in memory["observations"]]


@pytest.mark.promise("api.calls.json", "api.about", "api.calls.listed")
def test_a_call_is_json_in_and_json_out(api: Api, served: Served) -> None:
    about = served.request("POST", "/api/about", "", Content_Type="application/json; charset=utf-8")
    assert about.headers["content-type"] == "application/json"
    assert about.headers["cache-control"] == "no-store"
    assert about.value["access"] == {"write": True, "manage": True, "all_projects": True, "key": False}
    assert about.value["project"] == "default"
    assert api("search", query="nothing like it", project=None)["hits"] == []
    status, data = api.refused("search", query="x", qurry=1)
    assert (status, data["error_type"]) == (400, "bad_arguments")
    assert data["details"]["violations"][0]["path"] == "qurry"
    listed = {one["name"]: one for one in api("operations")["operations"]}
    assert listed["search"]["reads"] and not listed["edit"]["reads"]
    assert "from" in listed["compare"]["parameters"]["properties"]


@pytest.mark.promise("api.faults", "api.faults.status")
def test_a_refusal_says_what_why_and_what_to_do(api: Api, project: str) -> None:
    status, data = api.refused("memory", id="nobody", project=project)
    assert (status, data["error_type"], data["details"]["names"]) == (404, "not_found", ["nobody"])
    assert data["suggestions"]
    assert api.refused("search", query="x", limit=0)[0] == 400
    assert api.refused("search", query="x" * 70_000)[0] == 413
    assert api.refused("import", name="x.json", data="no memories at all", project=project)[0] == 422
    assert api.refused("search", query="x", cursor="bm9uZQ")[0] == 400
    answer = api.served.request("POST", "/api/search", "{not json", Content_Type="application/json")
    assert answer.status == 400


@pytest.mark.promise("api.search.hits")
def test_hits_come_with_the_pieces_that_match_and_why(api: Api, project: str) -> None:
    api.store("The deploy port of the Seoul server is 8080.", project=project, tags=["ops"])
    api.store("서울 서버의 배포 포트는 8080이다.", project=project)
    api.store("Bea mends old clocks.", project=project)
    found = api("search", query="deploy port", project=project)
    hit = found["hits"][0]
    assert "".join(part["text"] for part in hit["fragments"][0]["parts"]) == (
        "The deploy port of the Seoul server is 8080."
    )
    assert "deploy port" in " ".join(part["text"] for part in hit["fragments"][0]["parts"] if part["match"])
    assert set(hit["why"]["terms"]) == {"deploy", "port"} and hit["reason"]
    assert hit["stored"]["client"] == "explorer" and hit["stored"]["tool"] == "store"
    korean = api("search", query="배포 포트", project=project)["hits"][0]
    assert any("배포" in part["text"] for part in korean["fragments"][0]["parts"] if part["match"])
    newest = api("search", query="", project=project)
    assert newest["hits"][0]["title"] == "Bea mends old clocks."
    assert newest["total"] == 3


@pytest.mark.promise("api.search.facets", "api.search.effort")
def test_facets_count_what_was_found_and_filters_leave_out(api: Api, project: str) -> None:
    for at in range(3):
        api.store(f"Tea number {at} is green.", project=project, tags=["tea", f"t{at}"], scope=f"kitchen/shelf{at}")
    api("store", text="Green paint.", name=f"paint {project}", kind="material", project=project)
    found = api("search", query="green", project=project, effort="quick")
    assert found["total"] == 4
    assert found["facets"]["project"] == [[project, 4]]
    assert dict(found["facets"]["tags"])["tea"] == 3
    assert dict(found["facets"]["kind"])["material"] == 1
    assert len(found["facets"]["scope"]) == 3 and found["facets"]["month"][0][1] == 4

    def titles(**filters: Any) -> int:
        return len(api("search", query="green", project=project, **filters)["hits"])

    assert titles(kinds=["material"]) == 1
    assert titles(tags=["t1"]) == 1
    assert titles(scope="kitchen") == 3
    assert titles(scope="kitchen/shelf2") == 1
    assert titles(until="2001-01-01") == 0
    assert titles(since="today") == 4
    assert api("search", query="", project=project, tags=["tea"])["total"] == 3


@pytest.mark.promise("api.search.everywhere")
def test_all_projects_are_searched_and_paged_without_a_gap(api: Api, project: str) -> None:
    for of in range(3):
        for at in range(4):
            api.store(f"{project} zebra note {at} of {of}", project=f"{project} {of}")
    one = [f"{project} {of}" for of in range(3)]
    for query in (f"{project} zebra", ""):
        seen, cursor = [], None
        while True:
            page = api("search", query=query, projects=one, limit=5, cursor=cursor)
            seen += [(hit["project"], hit["title"]) for hit in page["hits"]]
            assert page["total"] == 12
            cursor = page["next"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 12, query
    assert one[0] in api("search", query=f"{project} zebra")["projects"]
    assert api.refused("search", query="other", projects=one, cursor=page["next"] or "eA")[0] == 400


@pytest.mark.promise("api.names")
def test_names_are_completed(api: Api, project: str) -> None:
    api("store", text="x", name=f"{project} atlas", project=project)
    assert api("names", prefix=f"{project} at")["names"][0]["name"] == f"{project} atlas"
    assert api("names", prefix="atl", project=project)["names"][0]["project"] == project


@pytest.mark.promise("api.memory.whole", "api.memory.past", "api.author")
def test_a_memory_comes_with_relations_and_who_stored_it(api: Api, project: str) -> None:
    first = api("store", text="uses JWT", name="auth", kind="decision", project=project)
    api("store", text="FastAPI", name="users", project=project)
    api("relate", from_="users", to="auth", type="implements", project=project)
    found = api("memory", id="auth", project=project)
    assert texts(found["memory"]) == ["uses JWT"] and found["memory"]["name"] == "auth"
    assert [(one["direction"], one["type"], one["other"]["title"]) for one in found["relations"]] == [
        ("in", "implements", "users")
    ]
    assert (found["stored"]["tool"], found["stored"]["dialect"], found["stored"]["client"]) == (
        "store", "api", "explorer",
    )  # fmt: skip
    assert api("memory", id=first["memory"]["id"][:10], project=project)["memory"]["name"] == "auth"
    api("edit", id="auth", observations=["uses sessions"], project=project)
    then = found["memory"]["updated"]
    assert texts(api("memory", id="auth", project=project, at=then)["memory"]) == ["uses JWT"]
    long = api.store("ä" * 150_000, project=project)
    (cut,) = api("memory", id=long, project=project)["memory"]["observations"]
    assert (len(cut["text"]), cut["length"], cut["cut"]) == (100_000, 150_000, True)
    (whole,) = api("memory", id=long, project=project, whole=True)["memory"]["observations"]
    assert len(whole["text"]) == 150_000 and not whole["cut"]


@pytest.mark.promise("api.delete", "api.memory.deleted", "api.undo", "api.undo.preview")
def test_what_was_deleted_is_shown_and_comes_back(api: Api, project: str) -> None:
    id = api.store("Keep me", project=project)
    api("store", text="x", name="hub", project=project)
    api("relate", from_="hub", to=id, type="has", project=project)
    gone = api("delete", ids=[id], project=project)
    assert [one["id"] for one in gone["deleted"]] == [id] and gone["relations"] == 1
    shown = api("memory", id=id, project=project)
    assert shown["deleted"]["change"] == gone["changes"][0]
    assert texts(shown["memory"]) == ["Keep me"]
    before = api("timeline", project=project)["changes"]
    preview = api("undo_preview", changes=gone["changes"], project=project)
    assert preview["changes"] == gone["changes"]
    assert [one["how"] for one in preview["steps"][0]["effects"]] == ["restores"]
    assert texts(preview["steps"][0]["effects"][0]["after"]) == ["Keep me"]
    assert api("timeline", project=project)["changes"] == before
    back = api("undo", changes=gone["changes"], project=project)
    assert api("memory", id=id, project=project)["relations_total"] == 1
    api("undo", changes=back["changes"], project=project)
    assert api("memory", id=id, project=project)["deleted"]


@pytest.mark.promise("api.memory.deleted", "api.restore")
def test_a_deleted_entity_is_found_by_its_id_too(api: Api, project: str) -> None:
    id = api.store("Was here.", name="entity", project=project)
    other = api.store("Goes with it.", name="other", project=project)
    api("delete", ids=[id, other], project=project)
    shown = api("memory", id=id, project=project)
    assert shown["deleted"] and shown["memory"]["name"] == "entity"
    (version,) = api("versions", id=id, project=project)["versions"]
    api("restore", id=id, change=version["change"]["change"], project=project)
    assert api("memory", id=id, project=project)["deleted"] is None
    assert api("memory", id=other, project=project)["deleted"]
    assert api.refused("memory", id="00000000-0000-4000-8000-000000000000", project=project)[0] == 404


@pytest.mark.promise("api.store")
def test_an_entity_is_stored_in_the_scope_it_is_given(api: Api, project: str) -> None:
    id = api.store("Here.", name="entity", scope="work/api", project=project)
    assert api("memory", id=id, project=project)["memory"]["scope"] == "work/api"


@pytest.mark.promise("api.versions", "api.restore")
def test_versions_are_listed_and_restored(api: Api, project: str) -> None:
    id = api.store("first", project=project)
    api("edit", id=id, text="second", project=project)
    api("edit", id=id, tags=["a"], kind="fact", project=project)
    page = api("versions", id=id, project=project, limit=2)
    rest = api("versions", id=id, project=project, limit=2, cursor=page["next"])
    versions = page["versions"] + rest["versions"]
    assert [texts(one["memory"]) for one in versions] == [["second"], ["second"], ["first"]]
    assert [one["differs"] for one in versions] == [["kind", "tags"], ["observations"], []]
    assert [one["current"] for one in versions] == [True, False, False]
    assert versions[1]["change"]["tool"] == "edit"
    done = api("restore", id=id, change=versions[2]["change"]["change"], project=project)
    assert texts(done["memory"]) == ["first"] and done["memory"]["tags"] == []
    api("undo", changes=done["changes"], project=project)
    assert texts(api("memory", id=id, project=project)["memory"]) == ["second"]
    api("delete", ids=[id], project=project)
    assert texts(api("restore", id=id, change=versions[2]["change"]["change"], project=project)["memory"]) == ["first"]
    assert api("memory", id=id, project=project)["deleted"] is None
    assert api.refused("restore", id=id, change=10**9, project=project)[0] == 404


@pytest.mark.promise("api.edit", "api.edit.version", "api.store", "api.relate", "api.move")
def test_only_what_is_given_changes_and_nobody_overwrites_what_they_have_not_seen(api: Api, project: str) -> None:
    api("store", text="one", name="thing", kind="part", tags=["x"], project=project)
    assert api("store", text="two", name="thing", project=project)["joined"]
    seen = api("memory", id="thing", project=project)["memory"]
    edited = api("edit", id="thing", observations=["two", "one", "three"], version=seen["version"], project=project)
    assert texts(edited["memory"]) == ["two", "one", "three"]
    assert (edited["memory"]["kind"], edited["memory"]["tags"]) == ("part", ["x"])
    assert len(edited["changes"]) == 1
    status, data = api.refused("edit", id="thing", observations=["mine"], version=seen["version"], project=project)
    assert (status, data["details"]["version"]) == (409, edited["memory"]["version"])
    assert api.refused("edit", id="thing", text="all of them", project=project)[0] == 409
    assert api("edit", id="thing", remove=["nothing"], project=project)["missing"] == ["nothing"]
    assert api.refused("edit", id="thing", project=project)[0] == 400
    api("relate", from_="thing", to="thing", type="is", project=project)
    api("unrelate", from_="thing", to="thing", type="is", project=project)
    assert api("memory", id="thing", project=project)["relations"] == []
    assert api.refused("unrelate", from_="thing", to="thing", type="is", project=project)[0] == 404
    moved = api("move", ids=["thing", "nobody"], scope="attic/box", project=project)
    assert ([one["title"] for one in moved["moved"]], moved["missing"]) == (["thing"], ["nobody"])
    assert api("memory", id="thing", project=project)["memory"]["scope"] == "attic/box"


@pytest.mark.promise("api.timeline.relations")
def test_a_change_tells_of_relations_too(api: Api, project: str) -> None:
    api("store", text="Is here.", name="here", project=project)
    made = api("relate", from_="here", to="nowhere", type="near", project=project)["changes"]
    gone = api("unrelate", from_="here", to="nowhere", type="near", project=project)["changes"]
    changes = {one["change"]: one for one in api("timeline", project=project)["changes"]}
    for numbers, how in ((made, "made"), (gone, "deleted")):
        (tie,) = changes[numbers[0]]["relations"]
        assert (tie["how"], tie["from"]["title"], tie["to"]["title"], tie["type"]) == (how, "here", "nowhere", "near")
        assert tie["from"]["id"] and tie["to"]["id"] is None
        assert changes[numbers[0]]["relations_total"] == 1
    assert api("change", change=made[0], project=project)["relations"] == changes[made[0]]["relations"]
    assert (
        api("undo_preview", change=gone[0], project=project)["steps"][0]["relations"] == changes[gone[0]]["relations"]
    )
    told = api("news", after=made[0] - 1)["changes"]
    assert [one["relations"][0]["how"] for one in told if one["project"] == project] == ["made", "deleted"]


@pytest.mark.promise("api.timeline.relations")
def test_relations_that_the_server_drew_come_after_those_that_somebody_made(api: Api, project: str) -> None:
    (made,) = api("import", project=project, name="drawn.json", data=archive_with_drawn_relations())["changes"]
    (change,) = (one for one in api("timeline", project=project)["changes"] if one["change"] == made)
    assert (change["relations_total"], change["relations_automatic"]) == (8, 7)
    assert [one["automatic"] for one in change["relations"]] == [False, True, True, True, True]


@pytest.mark.promise("api.timeline", "api.timeline.filters", "api.change")
def test_the_timeline_has_the_changes_of_all_projects(api: Api, project: str) -> None:
    other = f"{project} other"
    for at in range(3):
        api.store(f"{project} {at}", project=project)
        api.store(f"{other} {at}", project=other)
    call = {"name": "create_entities", "arguments": {"entities": [
        {"name": "Ann", "entityType": "person", "observations": ["likes tea"]},
    ]}}  # fmt: skip
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    made = api.served.post(message, f"/mcp/strict?project={project.replace(' ', '%20')}")
    assert made.status == 200 and "error" not in made.value, made.value
    seen, cursor = [], None
    while len(seen) < 7:
        page = api("timeline", limit=2, cursor=cursor)
        seen += [(one["project"], one["change"]) for one in page["changes"]]
        cursor = page["next"]
    assert len(set(seen)) == len(seen)
    ours = [place for place in seen if place[0] in (project, other)]
    assert [change for _, change in ours] == sorted((change for _, change in ours), reverse=True)
    page = api("timeline", project=project)
    newest = page["changes"][0]
    assert (newest["tool"], newest["effects"][0]["title"], newest["total"]) == ("create_entities", "Ann", 1)
    assert {"explorer", newest["client"]} <= set(page["clients"]) and "store" in page["tools"]
    assert len(api("timeline", project=project, tool="store")["changes"]) == 3
    assert len(api("timeline", project=project, client=newest["client"])["changes"]) == 1
    assert api("timeline", project=project, until="2001-01-01")["changes"] == []
    whole = api("change", change=newest["change"], project=project)
    assert [(one["how"], one["before"], texts(one["after"])) for one in whole["effects"]] == [
        ("made", None, ["likes tea"])
    ]
    assert api.refused("change", change=10**9, project=project)[0] == 404


@pytest.mark.promise("api.undo.conflict")
def test_an_undo_that_later_changes_build_on_names_them(api: Api, project: str) -> None:
    made = api("store", text="one", name="base", project=project)
    later = api("edit", id="base", add=["two"], project=project)
    status, data = api.refused("undo", changes=made["changes"], project=project)
    assert (status, data["details"]["changes"]) == (409, later["changes"])
    both = api("undo", changes=[*made["changes"], *later["changes"]], project=project)
    assert len(both["undone"]) == 2
    assert api("memory", id="base", project=project)["deleted"]


@pytest.mark.promise("api.compare")
def test_two_moments_are_compared(api: Api, project: str) -> None:
    api("store", text="stays", name="stays", project=project)
    api("store", text="goes", name="goes", project=project)
    start = api("store", text="old", name="changes", project=project)["memory"]["updated"]
    api("delete", ids=["goes"], project=project)
    api("edit", id="changes", observations=["new"], project=project)
    api("store", text="comes", name="comes", project=project)
    api("store", text="in between", name="between", project=project)
    end = api("delete", ids=["between"], project=project)
    last = api("change", change=end["changes"][0], project=project)["change"]["at"]
    api("edit", id="stays", observations=["later"], project=project)
    found = api("compare", from_=start, to=last, project=project)
    assert [one["name"] for one in found["made"]] == ["comes"]
    assert [one["name"] for one in found["deleted"]] == ["goes"]
    assert [(texts(one["before"]), texts(one["after"])) for one in found["changed"]] == [(["old"], ["new"])]
    assert api.refused("compare", from_=last, to=start, project=project)[0] == 400


@pytest.mark.promise("api.graph.around", "api.graph.project", "api.graph.communities", "api.graph.types")
def test_the_graph_around_a_memory_and_of_a_project(api: Api, project: str) -> None:
    for group in "ab":
        for at in range(4):
            api("store", text="x", name=f"{group}{at}", project=project)
        for one, other in ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3)):
            api("relate", from_=f"{group}{one}", to=f"{group}{other}", type="near", project=project)
    api("relate", from_="a0", to="b0", type="knows", project=project)
    api("relate", from_="a0", to="elsewhere", type="knows", project=project)
    near = api("graph", id="a0", project=project)
    assert {one["name"] for one in near["nodes"]} == {"a0", "a1", "a2", "a3", "b0", "elsewhere"}
    assert near["nodes"][0]["degree"] == 5
    b0 = next(one for one in near["nodes"] if one["name"] == "b0")
    assert b0["degree"] == 4  # more than is drawn
    missing = next(one for one in near["nodes"] if one["missing"])
    assert (missing["name"], missing["id"]) == ("elsewhere", None)
    whole = api("graph", project=project)
    assert (len(whole["nodes"]), len(whole["edges"]), whole["cut"]) == (9, 12, False)
    assert whole["types"] == [["near", 10], ["knows", 2]]
    community = {one["name"]: one["community"] for one in whole["nodes"]}
    assert community["a1"] == community["a2"] != community["b1"] == community["b2"]
    source, target, type, _, automatic = whole["edges"][-1]
    assert (whole["nodes"][source]["name"], whole["nodes"][target]["name"]) == ("a0", "elsewhere")
    assert whole["types"][type][0] == "knows" and automatic is False
    assert len(api("graph", project=project, types=["knows"])["edges"]) == 2
    some = api("graph", project=project, limit=3)
    assert (len(some["nodes"]), some["cut"], some["memories"]) == (3, True, 8)
    connected = api("graph", project=project, limit=1, choose="connected")
    assert [one["name"] for one in connected["nodes"]] == ["a0"]


@pytest.mark.promise("api.tree", "api.move_scope")
def test_scopes_are_a_tree_that_can_be_moved(api: Api, project: str) -> None:
    api.store("a", project=project, scope="work/api")
    api.store("b", project=project, scope="work/api/v2")
    api.store("c", project=project, scope="home")
    (found,) = api("tree", project=project)["projects"]
    counts = {one["path"]: (one["memories"], one["total"]) for one in found["scopes"]}
    assert counts == {"home": (1, 1), "work": (0, 2), "work/api": (1, 2), "work/api/v2": (1, 1)}
    assert project in [one["project"] for one in api("tree")["projects"]]
    moved = api("move_scope", from_="work/api", to="old", project=project)
    assert moved["moved"] == 2
    (after,) = api("tree", project=project)["projects"]
    assert [one["path"] for one in after["scopes"]] == ["home", "old", "old/v2"]
    assert api.refused("move_scope", from_="old", to="old/below", project=project)[0] == 400
    api("undo", changes=moved["changes"], project=project)
    assert api("tree", project=project)["projects"] == [found]


@pytest.mark.promise("api.import", "api.import.preview", "api.export")
def test_what_is_exported_is_imported_after_a_preview(api: Api, served: Served, project: str) -> None:
    api("store", text="=1+1 is a formula", name="=cmd()", kind="note", project=project, tags=["x"])
    api.store("서울에서 만나요", project=project, scope="trips")
    api("relate", from_="=cmd()", to="=cmd()", type="is", project=project)
    files = {}
    for form in api("about")["formats"]["export"]:
        address = f"/api/export?format={form}&project={project.replace(' ', '%20')}"
        answer = served.request("GET", address)
        assert answer.status == 200, (form, answer.body)
        assert answer.headers["content-disposition"].startswith("attachment; filename="), form
        assert int(answer.headers["content-length"]) == len(answer.body)
        files[form] = answer
    csv = files["project-csv"].body.decode()
    assert "'=1+1 is a formula" in csv and "\n=" not in csv and ",=" not in csv
    from base64 import b64encode

    for form, answer in files.items():
        target = f"{project} {form}"
        name = answer.headers["content-disposition"].split('"')[1]
        given = {"name": name, "data": b64encode(answer.body).decode(), "base64": True, "project": target}
        preview = api("import_preview", **given)
        assert preview["changes"] == [] and preview["examples"], (form, preview)
        assert api("search", query="", project=target)["total"] == 0, form
        done = api("import", **given)
        assert done["imported"] == preview["imported"] and len(done["changes"]) == 1
        assert api("search", query="", project=target)["total"] == 2, form
        api("undo", changes=done["changes"], project=target)
        assert api("search", query="", project=target)["total"] == 0, form
    odd = served.request("GET", "/api/export?format=graph-json&project=%22x%22%3B%20a%3D%EC%84%9C")
    assert odd.headers["content-disposition"] == (
        "attachment; filename=\"-x---a---graph.json\"; filename*=UTF-8''-x---a-%EC%84%9C-graph.json"
    )
    assert served.request("GET", "/api/export?format=exe").status == 400
    assert served.request("GET", "/api/export?format=graph-json&path=/etc").status == 400
    for cannot in ("format=project-json&scope=a//b", "format=graph-json&scope=trips"):
        refused = served.request("GET", f"/api/export?{cannot}")  # not a file that stops short
        assert (refused.status, refused.value["error"]["data"]["details"]["field"]) == (400, "scope"), cannot
    scoped = served.request("GET", f"/api/export?format=archive-json&scope=trips&project={project.replace(' ', '%20')}")
    assert len(json.loads(scoped.body)["memories"]) == 1


@pytest.mark.promise("api.import", "api.import.preview")
def test_exports_of_other_programs_are_imported_too_and_only_once(api: Api, project: str) -> None:
    from base64 import b64encode
    from io import BytesIO
    from zipfile import ZipFile

    said = {"uuid": "m1", "sender": "human", "text": "We meet on Tuesdays", "created_at": "2026-03-01T10:00:00Z"}
    chat = [{"uuid": "c1", "name": "Plans", "created_at": "2026-03-01T10:00:00Z", "chat_messages": [said]}]
    made = BytesIO()
    with ZipFile(made, "w") as file:
        file.writestr("vault/Kim.md", "# Kim\n\nRuns the database, see [[Berlin]].\n")
        file.writestr("vault/Berlin.md", "# Berlin\n\nThe office.\n")
        file.writestr("vault/plan.canvas", "{}")
    vault = {"name": "vault.zip", "data": b64encode(made.getvalue()).decode(), "base64": True}
    for given, many in (({"name": "conversations.json", "data": json.dumps(chat)}, 1), (vault, 2)):
        preview = api("import_preview", project=project, **given)
        assert preview["imported"]["entities_new"] == many and preview["changes"] == [], preview
        done = api("import", project=project, **given)
        assert done["imported"] == preview["imported"] and len(done["changes"]) == 1
        assert done["form"].startswith("a"), "what it was taken for"
        again = api("import", project=project, **given)
        assert again["imported"]["entities_new"] == 0 and again["changes"] == [], again
    assert any("canvas" in one for one in api("import_preview", project=project, **vault)["problems"])
    assert api("search", query="Tuesdays", project=project)["hits"][0]["title"]
    assert api("search", query="", project=project)["total"] == 3
    store = b64encode(b"SQLite format 3\0" + bytes(100)).decode()
    status, error = api.refused("import", name="memory.db", data=store, base64=True, project=project)
    assert status == 422 and "polymnia import" in str(error)


@pytest.mark.promise("api.health")
def test_health_has_sizes_clients_and_limits(api: Api, project: str) -> None:
    api.store("one", project=project)
    found = api("health")
    assert found["status"] == "ready" and found["store"]["bytes"] > 0
    ours = next(one for one in found["projects"] if one["project"] == project)
    assert (ours["memories"], ours["pending"]) == (1, 0)
    assert {"client": "explorer", "project": project}.items() <= next(
        one for one in found["clients"] if one["project"] == project
    ).items()
    assert found["limits"]["max_text_bytes"] > 0
    assert "/" not in found["store"].get("path", "")
