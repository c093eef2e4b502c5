"""Every parameter does something: one test for each, called `test_<tool>_<parameter>_…`, and none is missing."""

from __future__ import annotations

import json
from base64 import b64decode
from gzip import decompress
from typing import Any

import pytest
import yaml

from stdio_client import Place, Server

from .speaking import (
    archive,
    contents,
    found,
    got,
    kept,
    linked,
    refused,
    scopes,
    store,
    stored,
    told,
    until_embedded,
)

pytestmark = pytest.mark.promise("associative.parameters")

TEA = "Anna drinks green tea every morning"
TEA_AGAIN = "Anna drinks green tea every morning with honey"

_LIMITED = ("memory_get", "scope_list", "scope_suggest", "memory_list_all")  # whose limit is one of test_budgets.py


def test_every_parameter_has_a_test_here(shared: Server) -> None:
    """Budgets have theirs in test_budgets.py."""
    tests = [name for name in globals() if name.startswith("test_")]
    missing = [
        f"{tool}.{name}"
        for tool, listed in shared.tools().items()
        for name in listed["inputSchema"]["properties"]
        if name not in ("request", "max_tokens", "cursor")
        and not (name == "limit" and tool in _LIMITED)
        and not any(test.startswith(f"test_{tool}_{name}_") for test in tests)
    ]
    assert not missing


# memory_store


def test_memory_store_content_is_what_is_kept(shared: Server) -> None:
    assert got(shared, stored(shared, "one text", scope="content"))["content"] == "one text"


def test_memory_store_scope_is_where_it_is_filed(shared: Server) -> None:
    assert got(shared, stored(shared, "filed", scope="some/where"))["scope"] == "some/where"
    assert got(shared, stored(shared, "filed"))["scope"] == "user/default"


@pytest.mark.promise("associative.store.kept")
def test_memory_store_category_is_kept(shared: Server) -> None:
    assert got(shared, stored(shared, "with a category", category="decision"))["category"] == "decision"
    assert got(shared, stored(shared, "without any"))["category"] is None


@pytest.mark.promise("associative.store.kept")
def test_memory_store_tags_are_kept_and_found(shared: Server) -> None:
    id = stored(shared, "a labelled text", scope="labels", tags=["파이썬", "fastapi"])
    assert got(shared, id)["tags"] == ["파이썬", "fastapi"]
    (hit,) = shared.call("memory_search", query="fastapi", scope="labels").value["memories"]
    assert (hit["memory_id"], hit["tags"]) == (id, ["파이썬", "fastapi"])


@pytest.mark.promise("associative.store.kept")
def test_memory_store_metadata_is_kept_as_it_was(shared: Server) -> None:
    metadata = {"n": 1, "f": 1.5, "none": None, "list": [True, {"deep": "값"}], "": "", "big": 2**53}
    id = stored(shared, "with metadata", scope="metadata", metadata=metadata)
    assert got(shared, id)["metadata"] == metadata
    (hit,) = shared.call("memory_search", query="with metadata", scope="metadata").value["memories"]
    assert hit["metadata"] == metadata
    assert next(one for one in kept(shared) if one["memory_id"] == id)["metadata"] == metadata


def test_memory_store_allow_duplicates_stores_the_same_again(shared: Server) -> None:
    first = stored(shared, TEA, scope="again")
    assert store(shared, TEA, scope="again", allow_duplicates=False)["memory_id"] == first
    assert store(shared, TEA, scope="again", allow_duplicates=True)["memory_id"] != first


def test_memory_store_auto_associate_links_to_what_is_near(shared: Server) -> None:
    first = stored(shared, "the violet gardener waters orchids", scope="orchids")
    loose = stored(shared, "the violet gardener waters orchids twice", scope="orchids", auto_associate=False)
    bound = stored(shared, "the violet gardener waters orchids thrice", scope="orchids", auto_associate=True)
    assert linked(shared, loose) == [bound]  # drawn from the other side
    assert set(linked(shared, bound)) == {first, loose}


def test_memory_store_similarity_threshold_says_which_similar_memories_are_named(meaning: Server) -> None:
    reworded = ("The cat sleeps on the sofa", "The cat is sleeping on the couch")
    first = stored(meaning, reworded[0], scope="threshold")
    until_embedded(meaning, reworded[0])
    answer = store(meaning, reworded[1], scope="threshold", similarity_threshold=0.3)
    assert first in [one["memory_id"] for one in answer["similar_memories"]]
    assert "similar_memories" not in store(meaning, f"{reworded[1]} now", scope="threshold", similarity_threshold=1)


# memory_search


def test_memory_search_query_is_what_is_looked_for(shared: Server) -> None:
    whale, hedgehog = (stored(shared, f"a {animal} was seen", scope="animals") for animal in ("whale", "hedgehog"))
    assert found(shared, "whale", scope="animals") == [whale]
    assert found(shared, "hedgehog", scope="animals") == [hedgehog]


def test_memory_search_scope_is_all_that_is_searched(shared: Server) -> None:
    here, there = (stored(shared, "a walrus", scope=scope) for scope in ("search/here", "search/there"))
    assert set(found(shared, "walrus")) == {here, there}
    reply = shared.call("memory_search", query="walrus", scope=" search / here/")
    assert [one["memory_id"] for one in reply.value["memories"]] == [here]
    assert reply.value["search_scope"] == "search/here"


def test_memory_search_limit_is_the_most_that_is_answered(shared: Server) -> None:
    for number in range(12):
        stored(shared, f"penguin number {number}", scope="penguins", auto_associate=False)
    for limit, expected in ((1, 1), (5, 5), (None, 10), (100, 12)):
        value = shared.call("memory_search", query="penguin", scope="penguins", limit=limit).value
        assert len(value["memories"]) == expected
        assert value["total_found"] == 12


def test_memory_search_similarity_threshold_leaves_out_what_is_less_similar(shared: Server) -> None:
    stored(shared, "an ostrich", scope="ostriches")
    stored(shared, "an ostrich and a completely unrelated emu", scope="ostriches")
    value = shared.call("memory_search", query="ostrich emu", scope="ostriches", similarity_threshold=0).value
    scores = [one["similarity_score"] for one in value["memories"]]
    assert len(set(scores)) == 2
    between = sum(scores) / 2
    rest = shared.call("memory_search", query="ostrich emu", scope="ostriches", similarity_threshold=between).value
    assert [one["similarity_score"] for one in rest["memories"]] == [max(scores)]
    assert rest["total_found"] == 1
    assert found(shared, "ostrich emu", scope="ostriches", similarity_threshold=1) == []


def test_memory_search_include_associations_tells_what_hits_are_linked_to(shared: Server) -> None:
    for number in range(6):
        stored(shared, f"the copper kettle of aunt Maud, chapter {number}", scope="kettles")
    hits = shared.call("memory_search", query="kettle", scope="kettles").value["memories"]
    assert all(1 <= len(hit["associations"]) <= 3 for hit in hits)
    assert {"memory_id", "content", "similarity_score"} <= hits[0]["associations"][0].keys()
    for hit in shared.call("memory_search", query="kettle", scope="kettles", include_associations=False).value[
        "memories"
    ]:
        assert "associations" not in hit


@pytest.mark.promise("associative.scopes.children")
def test_memory_search_include_child_scopes_searches_below_and_not_beside(shared: Server) -> None:
    own, below, deeper, beside = (
        stored(shared, "a pelican", scope=scope) for scope in ("pel/b", "pel/b/c", "pel/b/c/d", "pel/bc")
    )
    assert found(shared, "pelican", scope="pel/b") == [own]
    assert set(found(shared, "pelican", scope="pel/b", include_child_scopes=True)) == {own, below, deeper}
    assert set(found(shared, "pelican", scope="pel", include_child_scopes=True)) == {own, below, deeper, beside}
    assert found(shared, "pelican", scope="pel") == []


# memory_get


def test_memory_get_memory_id_says_which(shared: Server) -> None:
    one, two = (stored(shared, text, scope="get") for text in ("the first", "the second"))
    assert [got(shared, id)["content"] for id in (two, one)] == ["the second", "the first"]


def test_memory_get_include_associations_tells_what_it_is_linked_to(shared: Server) -> None:
    first = stored(shared, "the silver anchor of the harbour", scope="anchors")
    second = stored(shared, "the silver anchor of the old harbour", scope="anchors")
    (link,) = got(shared, second)["associations"]
    assert link["memory_id"] == first
    assert link["content"] == "the silver anchor of the harbour"
    assert 0 < link["similarity_score"] <= 1
    assert got(shared, second, include_associations=True) == got(shared, second)
    assert "associations" not in got(shared, second, include_associations=False)


# memory_update

FULL: dict[str, Any] = {
    "content": "as it was", "scope": "update/old", "tags": ["old"], "category": "old", "metadata": {"old": 1},
}  # fmt: skip


def changed(server: Server, **changes: Any) -> dict[str, Any]:
    """What is another in a memory after an update of it."""
    id = stored(server, **FULL, allow_duplicates=True, auto_associate=False)
    reply = server.call("memory_update", memory_id=id, **changes)
    assert not reply.failed, reply.text
    after = got(server, id)
    assert {key: value for key, value in reply.value.items() if key != "success"} == after
    return {key: after[key] for key in FULL if after[key] != FULL[key]}


def test_memory_update_memory_id_says_which(shared: Server) -> None:
    one, two = (stored(shared, f"to update: {number}", scope="update/ids") for number in range(2))
    shared.call("memory_update", memory_id=two, content="updated")
    assert [got(shared, id)["content"] for id in (one, two)] == ["to update: 0", "updated"]


def test_memory_update_content_alone_is_changed(shared: Server) -> None:
    assert changed(shared, content="as it is") == {"content": "as it is"}


def test_memory_update_scope_alone_is_changed(shared: Server) -> None:
    assert changed(shared, scope="update/new") == {"scope": "update/new"}


def test_memory_update_tags_alone_are_changed(shared: Server) -> None:
    assert changed(shared, tags=["new", "newer"]) == {"tags": ["new", "newer"]}
    assert changed(shared, tags=[]) == {"tags": []}


def test_memory_update_category_alone_is_changed(shared: Server) -> None:
    assert changed(shared, category="new") == {"category": "new"}
    assert changed(shared, category="") == {"category": None}


def test_memory_update_metadata_alone_is_changed(shared: Server) -> None:
    assert changed(shared, metadata={"new": 2}) == {"metadata": {"new": 2}}
    assert changed(shared, metadata={}) == {"metadata": {}}


def test_memory_update_preserve_associations_keeps_them_or_finds_them_anew(shared: Server) -> None:
    first = stored(shared, "the golden lantern of the lighthouse", scope="lanterns")
    other = stored(shared, "seven brown bears in the forest", scope="lanterns")
    id = stored(shared, "the golden lantern of the tall lighthouse", scope="lanterns")
    assert linked(shared, id) == [first]
    shared.call("memory_update", memory_id=id, content="seven brown bears in the deep forest")
    assert linked(shared, id) == [first]
    reply = shared.call("memory_update", memory_id=id, preserve_associations=False)
    assert linked(shared, id) == [other]
    assert [one["memory_id"] for one in reply.value["associations"]] == [other]


# memory_delete


def test_memory_delete_memory_id_says_which(shared: Server) -> None:
    one, two = (stored(shared, f"to delete: {number}", scope="delete") for number in range(2))
    assert shared.call("memory_delete", memory_id=one).value["memory_id"] == one
    refused(shared, "memory_get", "MEMORY_NOT_FOUND", memory_id=one)
    assert got(shared, two)["content"] == "to delete: 1"


# memory_discover_associations


def discovered(server: Server, id: str, **more: Any) -> dict[str, Any]:
    reply = server.call("memory_discover_associations", memory_id=id, **more)
    assert not reply.failed, reply.text
    value: dict[str, Any] = reply.value
    return value


def test_memory_discover_associations_memory_id_says_around_which(shared: Server) -> None:
    one = stored(shared, "the marble staircase of the museum", scope="stairs")
    two = stored(shared, "the marble staircase of the grand museum", scope="stairs")
    value = discovered(shared, one)
    assert value["source_memory"] == {"memory_id": one, "content": "the marble staircase of the museum"}
    assert value["associations"][0]["memory_id"] == two
    assert discovered(shared, two)["associations"][0]["memory_id"] == one


def test_memory_discover_associations_limit_is_the_most_that_is_answered(shared: Server) -> None:
    ids = [stored(shared, f"the wooden bridge over the river, part {n}", scope="bridges") for n in range(14)]
    for limit, most in ((1, 1), (3, 3), (None, 10), (50, 50)):
        value = discovered(shared, ids[0], limit=limit)
        told = len(value["associations"])
        assert (told == most) if most <= 10 else (10 < told <= most)
        assert value["discovery_stats"]["filtered_results"] == told
        assert value["discovery_stats"]["total_candidates"] >= 13


def test_memory_discover_associations_similarity_threshold_leaves_out_what_is_weaker(shared: Server) -> None:
    id = stored(shared, "the iron gate of the castle", scope="gates")
    stored(shared, "the iron gate of the big castle", scope="gates")
    scores = [one["similarity_score"] for one in discovered(shared, id, similarity_threshold=0)["associations"]]
    assert scores == sorted(scores, reverse=True)
    strong = discovered(shared, id, similarity_threshold=scores[0])
    assert [one["similarity_score"] for one in strong["associations"]] == [s for s in scores if s == scores[0]]
    assert all(one["similarity_score"] >= 0.1 for one in discovered(shared, id)["associations"])


# scope_list and scope_suggest


def test_scope_list_parent_scope_shows_what_is_within_it(shared: Server) -> None:
    for scope in ("tree/oak", "tree/oak/leaf", "tree/oaken"):
        stored(shared, "a leaf", scope=scope)
    assert list(scopes(shared, parent_scope="tree/oak")) == ["tree/oak", "tree/oak/leaf"]
    assert list(scopes(shared, parent_scope="tree")) == ["tree", "tree/oak", "tree/oak/leaf", "tree/oaken"]
    assert set(scopes(shared)) > set(scopes(shared, parent_scope="tree"))


def test_scope_list_include_memory_counts_counts_the_memories(shared: Server) -> None:
    stored(shared, "counted", scope="counts")
    assert scopes(shared, parent_scope="counts")["counts"]["memory_count"] == 1
    bare = scopes(shared, parent_scope="counts", include_memory_counts=False)["counts"]
    assert bare == {"scope": "counts", "child_scopes": [], "depth": 1}


@pytest.mark.long
def test_scope_suggest_content_decides(place: Place) -> None:
    meaning = place.serve("associative", environment={"POLYMNIA_EMBEDDER": "use"})
    for number, (cooking, money) in enumerate(
        [
            ("Boil the pasta for nine minutes", "Transfer the rent to the landlord by bank"),
            ("Bake the bread at 220 degrees", "The savings account pays two percent interest"),
            ("Simmer the tomato sauce slowly", "Pay the credit card bill this week"),
            ("Knead the dough until smooth", "The loan from the bank runs ten years"),
        ]
    ):
        stored(meaning, f"{cooking} ({number})", scope="home/kitchen")
        stored(meaning, f"{money} ({number})", scope="home/finance")
    asked = ("Boil the rice and bake the bread", "Open a bank account and pay back the loan")
    answers = [meaning.call("scope_suggest", content=text).value for text in asked]
    assert [one["suggested_scope"] for one in answers] == ["home/kitchen", "home/finance"]
    assert all(0 < one["confidence"] <= 1 for one in answers)


def test_scope_suggest_current_scope_is_where_one_falls_back_to(words: Server) -> None:
    text = "qwertz uiop"
    assert words.call("scope_suggest", content=text, current_scope="my/place").value["suggested_scope"] == "my/place"
    away = words.call("scope_suggest", content=text).value
    assert (away["suggested_scope"], away["abstained"]) == ("user/default", True)


# memory_move


def test_memory_move_memory_ids_are_those_that_move(shared: Server) -> None:
    one, two = (stored(shared, f"to move: {number}", scope="move/from") for number in range(2))
    shared.call("memory_move", memory_ids=[one], target_scope="move/to")
    assert [got(shared, id)["scope"] for id in (one, two)] == ["move/to", "move/from"]


def test_memory_move_target_scope_is_where_they_move(shared: Server) -> None:
    id = stored(shared, "to move about", scope="move/from")
    for target in ("move/a", "move/b/c"):
        shared.call("memory_move", memory_ids=[id], target_scope=target)
        assert got(shared, id)["scope"] == target


def test_memory_move_source_scope_moves_everything_below_it(shared: Server) -> None:
    ids = [stored(shared, "to rename", scope=scope) for scope in ("old", "old/a", "old/a/b", "older")]
    value = shared.call("memory_move", source_scope="old", target_scope="new/name").value
    assert [got(shared, id)["scope"] for id in ids] == ["new/name", "new/name/a", "new/name/a/b", "older"]
    assert value["moved_count"] == 3
    assert value["moved_memories"][1] == {"memory_id": ids[1], "old_scope": "old/a", "new_scope": "new/name/a"}


# memory_list_all


def test_memory_list_all_page_says_which(words: Server) -> None:
    for number in range(5):
        stored(words, f"listed {number}")
    pages = [words.call("memory_list_all", page=page, per_page=2).value for page in (1, 2, 3, 4)]
    assert [[one["content"][-1] for one in page["memories"]] for page in pages] == [["4", "3"], ["2", "1"], ["0"], []]
    assert [(p["pagination"]["has_next"], p["pagination"]["has_prev"]) for p in pages] == [
        (True, False), (True, True), (False, True), (False, True),
    ]  # fmt: skip
    assert {page["pagination"]["total_items"] for page in pages} == {5}
    assert {page["pagination"]["total_pages"] for page in pages} == {3}


def test_memory_list_all_per_page_is_how_many(words: Server) -> None:
    for number in range(12):
        stored(words, f"listed {number}")
    for size, expected in ((1, 1), (7, 7), (None, 10), (100, 12)):
        value = words.call("memory_list_all", per_page=size).value
        assert len(value["memories"]) == expected
        assert value["pagination"]["total_pages"] == -(-12 // (size or 10))


# memory_export


def test_memory_export_scope_is_all_that_is_exported(shared: Server) -> None:
    for scope in ("out/a", "out/a/b", "out/ab"):
        stored(shared, "an export", scope=scope)
    reply = shared.call("memory_export", scope="out/a").value
    assert [one["scope"] for one in json.loads(reply["export_data"])["memories"]] == ["out/a", "out/a/b"]
    assert (reply["exported_count"], reply["export_scope"]) == (2, "out/a")
    assert shared.call("memory_export").value["exported_count"] == len(kept(shared))


def test_memory_export_file_path_is_the_file(module_place: Place, shared: Server) -> None:
    stored(shared, "to a file", scope="files")
    value = shared.call("memory_export", scope="files", file_path="deep/er/out.json").value
    file = module_place.folder / "exports" / "deep" / "er" / "out.json"
    assert file.read_text(encoding="utf-8") == archive(shared, scope="files")
    assert value["export_size"] == file.stat().st_size
    assert "export_data" not in value


def test_memory_export_export_format_is_json_or_yaml(shared: Server) -> None:
    stored(shared, "in: a format", scope="formats", tags=["yes"], metadata={"no": "1e3"})
    as_yaml = archive(shared, scope="formats", export_format="yaml")
    with pytest.raises(ValueError):
        json.loads(as_yaml)
    assert yaml.safe_load(as_yaml) == json.loads(archive(shared, scope="formats", export_format="json"))
    assert json.loads(archive(shared, scope="formats"))["memories"][0]["content"] == "in: a format"


def test_memory_export_compression_is_gzip(module_place: Place, shared: Server) -> None:
    stored(shared, "long " * 500, scope="gzip")
    plain = archive(shared, scope="gzip")
    reply = shared.call("memory_export", scope="gzip", compression=True).value
    packed = b64decode(reply["export_data"], validate=True)
    assert decompress(packed).decode() == plain
    assert (reply["export_size"], reply["compression_used"]) == (len(packed), True)
    shared.call("memory_export", scope="gzip", compression=True, file_path="out.json.gz")
    assert decompress((module_place.folder / "exports" / "out.json.gz").read_bytes()).decode() == plain


def test_memory_export_include_associations_exports_them_too(shared: Server) -> None:
    one = stored(shared, "the velvet curtain of the theatre", scope="curtains")
    two = stored(shared, "the velvet curtain of the small theatre", scope="curtains")
    (link,) = json.loads(archive(shared, scope="curtains"))["associations"]
    assert (link["source"], link["target"], link["origin"]) == (two, one, "auto")
    assert json.loads(archive(shared, scope="curtains", include_associations=False))["associations"] == []


# The parameters of memory_import

NEW = '{"memories": [{"content": "a new text", "scope": "%s"}]}'


def test_memory_import_file_path_is_the_file(module_place: Place, shared: Server) -> None:
    folder = module_place.folder / "exports"
    folder.mkdir(exist_ok=True)
    (folder / "in.json").write_text(NEW % "from/file")
    value = shared.call("memory_import", file_path="in.json").value
    assert (value["imported_count"], value["import_source"]) == (1, "file:in.json")
    assert found(shared, "new text", scope="from/file")


def test_memory_import_import_data_is_the_archive_itself(shared: Server) -> None:
    value = shared.call("memory_import", import_data=NEW % "from/data").value
    assert (value["imported_count"], value["imported_scopes"]) == (1, ["from/data"])
    assert found(shared, "new text", scope="from/data")


def test_memory_import_merge_strategy_decides_about_what_is_there(shared: Server) -> None:
    id = stored(shared, "the old text", scope="merge", tags=["a"], metadata={"k": "old", "o": 1})
    data = json.dumps(
        {"memories": [{"memory_id": id, "content": "new", "scope": "merge", "tags": ["b"], "metadata": {"k": "new"}}]}
    )
    seen = {}
    for strategy in (None, "skip_duplicates", "merge_metadata", "create_versions", "overwrite"):
        reply = shared.call("memory_import", import_data=data, merge_strategy=strategy).value
        memory = got(shared, id)
        seen[strategy] = (memory["content"], memory["tags"], memory["metadata"], memory["version"])
        assert reply["merge_strategy_used"] == (strategy or "skip_duplicates")
    assert seen[None] == seen["skip_duplicates"] == ("the old text", ["a"], {"k": "old", "o": 1}, 1)
    assert seen["merge_metadata"] == ("the old text", ["a", "b"], {"k": "new", "o": 1}, 2)
    assert seen["create_versions"] == ("new", ["b"], {"k": "new"}, 3)
    assert seen["overwrite"] == ("new", ["b"], {"k": "new"}, 1)


def test_memory_import_target_scope_prefix_files_everything_below_it(shared: Server) -> None:
    value = shared.call("memory_import", import_data=NEW % "a/b", target_scope_prefix="imported/").value
    assert value["imported_scopes"] == ["imported/a/b"]
    assert found(shared, "new text", scope="imported/a/b")


def test_memory_import_validate_data_decides_about_the_rest(shared: Server) -> None:
    data = '{"memories": [{"content": 5}, {"content": "a sound record", "scope": "validated"}]}'
    value = refused(shared, "memory_import", "IMPORT_ERROR", import_data=data)
    assert len(value["data"]["validation_errors"]) == 1
    assert found(shared, "sound record", scope="validated") == []
    partly = shared.call("memory_import", import_data=data, validate_data=False).value
    assert partly["imported_count"] == 1
    assert partly["validation_errors"] == value["data"]["validation_errors"]
    assert len(found(shared, "sound record", scope="validated")) == 1


# session_manage


def test_session_manage_action_says_what_to_do(words: Server) -> None:
    assert words.call("session_manage", action="create", session_id="s").value["session_scope"] == "session/s"
    listed = words.call("session_manage", action="list").value
    assert [one["session_id"] for one in listed["sessions"]] == ["s"]
    assert words.call("session_manage", action="cleanup", max_age_days=0).value["removed_sessions"] == 1
    assert words.call("session_manage", action="list").value["sessions"] == []


def test_session_manage_session_id_says_which(words: Server) -> None:
    for name in ("one", "둘"):
        answer = words.call("session_manage", action="create", session_id=name).value
        assert (answer["session_id"], answer["session_scope"]) == (name, f"session/{name}")
    listed = words.call("session_manage", action="list", session_id="둘").value
    assert [one["session_id"] for one in listed["sessions"]] == ["둘"]
    words.call("session_manage", action="cleanup", session_id="one", max_age_days=0)
    assert [one["session_id"] for one in words.call("session_manage", action="list").value["sessions"]] == ["둘"]


def test_session_manage_max_age_days_says_how_old(words: Server) -> None:
    words.call("session_manage", action="create", session_id="young")
    assert words.call("session_manage", action="cleanup").value["max_age_days"] == 7
    assert words.call("session_manage", action="cleanup", max_age_days=1).value["removed_sessions"] == 0
    assert words.call("session_manage", action="cleanup", max_age_days=0).value["removed_sessions"] == 1


@pytest.mark.promise("associative.update.nothing")
def test_an_update_of_nothing_changes_nothing_and_says_so(module_place: Place, shared: Server) -> None:
    id = stored(shared, "stays", scope="unchanged", tags=["t"])
    before = got(shared, id)
    for given in ({}, {"content": "stays"}, {"tags": ["t"]}, {"content": None, "scope": None}):
        reply = shared.call("memory_update", memory_id=id, **given)
        assert not reply.failed
        assert reply.notes
    assert got(shared, id) == before
    assert [event["action"] for event in told(module_place, "history", id)] == ["remember"]
    assert "stays" in contents(shared)
