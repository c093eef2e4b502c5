"""Scopes: the tree and its counts, paths in any language, moving many, renaming, and the history of it all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from form import each
from stdio_client import Place, Server, entity

from .speaking import archive, found, got, refused, scopes, store, stored, told


@pytest.mark.promise("associative.scopes.tree")
def test_the_tree_counts_what_is_in_each_scope_and_below_it(words: Server) -> None:
    for scope, count in (("work/projects/api", 3), ("work", 1), ("work/projects/web", 2), ("home", 1)):
        for number in range(count):
            stored(words, f"note {number}", scope=scope)
    stored(words, "unfiled")
    answer = words.call("scope_list").value
    assert [(s["scope"], s["memory_count"], s["total_memory_count"], s["depth"]) for s in answer["scopes"]] == [
        ("home", 1, 1, 1),
        ("user", 0, 1, 1),
        ("user/default", 1, 1, 2),
        ("work", 1, 6, 1),
        ("work/projects", 0, 5, 2),
        ("work/projects/api", 3, 3, 3),
        ("work/projects/web", 2, 2, 3),
    ]
    tree = {one["scope"]: one["child_scopes"] for one in answer["scopes"]}
    assert tree["work"] == ["work/projects"]
    assert tree["work/projects"] == ["work/projects/api", "work/projects/web"]
    assert tree["home"] == []
    assert (answer["total_scopes"], answer["hierarchy_depth"]) == (7, 3)


@pytest.mark.promise("associative.scopes.tree")
def test_an_empty_store_and_an_unknown_parent_have_no_scopes(words: Server) -> None:
    empty = {"scopes": [], "total_scopes": 0, "hierarchy_depth": 0}
    assert words.call("scope_list").value == empty
    stored(words, "something", scope="here")
    notes = ["There is no scope 'her'; did you mean 'here'?"]
    assert words.call("scope_list", parent_scope="her").value == {**empty, "notes": notes}


@pytest.mark.promise("associative.scopes.tree")
def test_counts_follow_deletes_moves_and_updates(words: Server) -> None:
    one, two, three = (stored(words, f"note {number}", scope="a") for number in range(3))
    words.call("memory_delete", memory_id=one)
    words.call("memory_move", memory_ids=[two], target_scope="b")
    words.call("memory_update", memory_id=three, scope="c/d")
    counts = {path: (one["memory_count"], one["total_memory_count"]) for path, one in scopes(words).items()}
    assert counts == {"b": (1, 1), "c": (0, 1), "c/d": (1, 1)}


LEGAL = [
    ("work", "work"),
    ("작업/프로젝트/서버", "작업/프로젝트/서버"),
    ("日本語/メモ", "日本語/メモ"),
    ("عمل/مشروع", "عمل/مشروع"),
    ("🎉/party time", "🎉/party time"),
    ("  trimmed /  here  ", "trimmed/here"),
    ("ends/", "ends"),
    ("dots.in/a...b", "dots.in/a...b"),
    ("100%/_x_", "100%/_x_"),
    ('it\'s/"quoted"', 'it\'s/"quoted"'),
    ("/".join("abcdefghij"), "/".join("abcdefghij")),
    ("x" * 100, "x" * 100),
    ("가" * 100, "가" * 100),
]
ILLEGAL = [
    "", " ", "/", "//", "/work", "a//b", "a/ /b", "..", "a/../b", "a/..", "./a", "a/.", "/".join("abcdefghijk"),
    "x" * 101, "a/" + "x" * 101, "a\nb", "a\tb", "a\x7fb",
]  # fmt: skip


@pytest.mark.promise("associative.scopes.legal")
@each(("given", "kept"), LEGAL)
def test_a_scope_is_parts_in_any_language(shared: Server, given: str, kept: str) -> None:
    answer = store(shared, "filed", scope=given)
    assert answer["scope"] == kept
    assert got(shared, answer["memory_id"])["scope"] == kept
    assert found(shared, "filed", scope=given) == [answer["memory_id"]]
    assert scopes(shared, parent_scope=given)[kept]["memory_count"] == 1


@pytest.mark.promise("associative.scopes.illegal")
@each("path", ILLEGAL)
def test_what_makes_no_path_is_refused_by_the_name_of_its_field(shared: Server, path: str) -> None:
    id = stored(shared, "stays where it is", scope="illegal", allow_duplicates=True)
    before = archive(shared)
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("memory_store", "scope", {"content": "nowhere"}),
        ("memory_search", "scope", {"query": "x"}),
        ("memory_update", "scope", {"memory_id": id}),
        ("scope_list", "parent_scope", {}),
        ("scope_suggest", "current_scope", {"content": "x"}),
        ("memory_move", "target_scope", {"memory_ids": [id]}),
        ("memory_move", "source_scope", {"target_scope": "x"}),
        ("memory_export", "scope", {}),
    ]
    for tool, field, arguments in calls:
        value = refused(shared, tool, "VALIDATION_ERROR", **arguments, **{field: path})
        assert field in value["message"], (tool, value)
        assert value["data"].get("field") == field
    assert archive(shared) == before


@pytest.mark.promise("associative.scopes.like_patterns")
def test_signs_in_a_path_are_no_patterns(shared: Server) -> None:
    one = stored(shared, "a platypus", scope="p%/x")
    two = stored(shared, "a platypus", scope="p_/x")
    three = stored(shared, "a platypus", scope="pq/x")
    for scope, id in (("p%", one), ("p_", two), ("pq", three)):
        assert found(shared, "platypus", scope=scope, include_child_scopes=True) == [id]
        assert list(scopes(shared, parent_scope=scope)) == [scope, f"{scope}/x"]


@pytest.mark.promise("associative.scopes.case")
def test_paths_are_compared_exactly(shared: Server) -> None:
    upper, lower = (stored(shared, "a capybara", scope=scope) for scope in ("Case/X", "case/x"))
    assert found(shared, "capybara", scope="Case", include_child_scopes=True) == [upper]
    assert found(shared, "capybara", scope="case/x") == [lower]


@pytest.mark.promise("associative.scopes.default")
def test_the_default_scope_is_a_scope_like_any_other(place: Place) -> None:
    server = place.serve("all")
    server.call("create_entities", entities=[entity("Ann", "keeps an ocelot")])
    plain = stored(server, "an ocelot")
    below, beside = (stored(server, "an ocelot", scope=scope) for scope in ("user/default/deep", "user/defaults"))
    ann = got(server, "Ann")["memory_id"]
    assert store(server, "an ocelot", scope="user/default")["memory_id"] == plain
    assert set(found(server, "ocelot", scope="user/default")) == {plain, ann}
    assert set(found(server, "ocelot", scope="user/default", include_child_scopes=True)) == {plain, ann, below}
    assert set(found(server, "ocelot", scope="user", include_child_scopes=True)) == {plain, ann, below, beside}
    assert scopes(server)["user/default"]["total_memory_count"] == 3
    assert server.call("memory_export", scope="user/default").value["exported_count"] == 3
    server.call("memory_move", source_scope="user/default", target_scope="moved")
    assert [got(server, id)["scope"] for id in (plain, ann, below, beside)] == [
        "moved", "moved", "moved/deep", "user/defaults",
    ]  # fmt: skip
    server.call("memory_move", source_scope="moved", target_scope="user/default")
    assert set(found(server, "ocelot", scope="user/default")) == {plain, ann}


@pytest.mark.promise("associative.move.many")
def test_many_memories_move_at_once_and_each_failure_is_told(words: Server) -> None:
    ids = [stored(words, f"note {number}", scope=f"from/{number}", auto_associate=False) for number in range(50)]
    wanted = [*ids, "no-such-id", ids[0], "또 없음"]
    value = words.call("memory_move", memory_ids=wanted, target_scope=" to / here ").value
    assert (value["moved_count"], value["target_scope"]) == (50, "to/here")
    assert [one["memory_id"] for one in value["moved_memories"]] == ids
    assert value["moved_memories"][7] == {"memory_id": ids[7], "old_scope": "from/7", "new_scope": "to/here"}
    assert [one["memory_id"] for one in value["failed_moves"]] == ["no-such-id", "또 없음"]
    assert all("not found" in one["error"] for one in value["failed_moves"])
    assert {path: one["memory_count"] for path, one in scopes(words).items()} == {"to": 0, "to/here": 50}


@pytest.mark.promise("associative.move.many")
def test_moving_nothing_or_only_what_is_not_there_moves_nothing(place: Place, words: Server) -> None:
    stored(words, "stays")
    before = (archive(words), told(place, "changes"))
    value = words.call("memory_move", memory_ids=["nope"], target_scope="session/x").value
    assert (value["moved_count"], len(value["failed_moves"])) == (0, 1)
    assert words.call("memory_move", memory_ids=[], target_scope="x").value["moved_count"] == 0
    assert words.call("session_manage", action="list").value["sessions"] == []
    assert (archive(words), told(place, "changes")) == before


@pytest.mark.promise("associative.move.either")
def test_ids_and_a_source_scope_together_are_refused(shared: Server) -> None:
    value = refused(
        shared, "memory_move", "VALIDATION_ERROR", memory_ids=["x"], source_scope="a", target_scope="b"
    )  # fmt: skip
    assert "source_scope" in value["message"]


@pytest.mark.promise("associative.move.history")
def test_a_move_keeps_the_history_and_can_be_undone(place: Place, words: Server) -> None:
    ids = [stored(words, text, scope=scope) for text, scope in (("one", "a"), ("two", "b/c"))]
    before = archive(words)
    words.call("memory_move", memory_ids=ids, target_scope="moved")
    event = told(place, "history", ids[0])[-1]
    assert event["action"] == "move"
    assert event["changed"]["scope"] == "a"
    assert told(place, "changes")[0]["action"] == "move"
    told(place, "undo")
    assert [got(words, id)["scope"] for id in ids] == ["a", "b/c"]
    assert scopes(words).keys() == {"a", "b", "b/c"}
    assert found(words, "two", scope="b/c") == [ids[1]]
    assert [(m["content"], m["scope"]) for m in json.loads(archive(words))["memories"]] == [
        (m["content"], m["scope"]) for m in json.loads(before)["memories"]
    ]


@pytest.mark.promise("associative.move.rename")
def test_renaming_a_scope_moves_everything_below_it_and_nothing_beside_it(place: Place, words: Server) -> None:
    ids = [stored(words, "a note", scope=scope) for scope in ("a/b", "a/b/c", "a/b/c/d", "a/bc", "a")]
    value = words.call("memory_move", source_scope="a/b", target_scope="z").value
    assert [got(words, id)["scope"] for id in ids] == ["z", "z/c", "z/c/d", "a/bc", "a"]
    assert (value["moved_count"], value["failed_moves"], value["target_scope"]) == (3, [], "z")
    assert set(found(words, "note", scope="z", include_child_scopes=True)) == set(ids[:3])
    told(place, "undo")
    assert [got(words, id)["scope"] for id in ids] == ["a/b", "a/b/c", "a/b/c/d", "a/bc", "a"]


@pytest.mark.promise("associative.move.rename")
def test_a_scope_may_become_part_of_itself_and_the_other_way_round(words: Server) -> None:
    ids = [stored(words, "a note", scope=scope) for scope in ("a", "a/b")]
    words.call("memory_move", source_scope="a", target_scope="a/x")
    assert [got(words, id)["scope"] for id in ids] == ["a/x", "a/x/b"]
    words.call("memory_move", source_scope="a/x", target_scope="a")
    assert [got(words, id)["scope"] for id in ids] == ["a", "a/b"]


@pytest.mark.promise("associative.move.rename")
def test_a_rename_that_would_make_a_path_too_deep_changes_nothing(words: Server) -> None:
    deep = "/".join("abcdefghij")
    ids = [stored(words, "a note", scope=scope) for scope in ("a", deep)]
    refused(words, "memory_move", "VALIDATION_ERROR", source_scope="a", target_scope="x/y")
    assert [got(words, id)["scope"] for id in ids] == ["a", deep]


@pytest.mark.promise("associative.move.rename")
def test_a_scope_that_is_not_there_cannot_be_renamed(shared: Server) -> None:
    value = refused(shared, "memory_move", "MEMORY_NOT_FOUND", source_scope="no/such", target_scope="x")
    assert "no/such" in value["message"]


@pytest.mark.promise("associative.suggest.shape")
def test_a_suggestion_names_words_of_the_text_and_says_why(meaning: Server) -> None:
    for number, text in enumerate(
        ["Standup notes: the login page is slow", "Meeting notes about the roadmap", "Notes of the planning meeting"]
    ):
        stored(meaning, f"{text} {number}", scope="work/meetings", category="meeting")
    for number, text in enumerate(["Dough needs an hour to rise", "Roast the vegetables", "Whisk eggs with sugar"]):
        stored(meaning, f"{text} {number}", scope="home/recipes", category="recipe")
    text = "Notes from the meeting about the slow login page"
    value = meaning.call("scope_suggest", content=text).value
    assert value["suggested_scope"] == "work/meetings"
    assert value["abstained"] is False
    assert value["reasoning"]
    words = value["analysis"]["detected_keywords"]
    assert words
    assert all(word in text.lower() for word in words)
    assert value["analysis"]["suggested_category"] == "meeting"
    assert value["analysis"]["content_type"]
    confidences = [value["confidence"], *(one["confidence"] for one in value["alternatives"])]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 <= one <= 1 for one in confidences)
    assert all(one["reasoning"] and one["scope"] != "work/meetings" for one in value["alternatives"])


@pytest.mark.promise("associative.suggest.abstains")
def test_where_nothing_fits_it_abstains_with_low_confidence(words: Server) -> None:
    stored(words, "Dough needs an hour to rise", scope="home/recipes")
    for current, expected in ((None, "user/default"), ("my/place", "my/place")):
        value = words.call("scope_suggest", content="zxcv bnm qwer", current_scope=current).value
        assert (value["suggested_scope"], value["abstained"]) == (expected, True)
        assert value["confidence"] < 0.5


@pytest.mark.long
@pytest.mark.promise("associative.suggest.abstains")
def test_one_filed_memory_does_not_attract_gibberish(place: Place) -> None:
    server = place.serve("associative", environment={"POLYMNIA_EMBEDDER": "use"})
    stored(server, "Dough needs an hour to rise", scope="home/recipes")
    for text in ("zxcv bnm qwer asdf", "네이버페이 환불 문의", "Dough needs an hour to rise"):
        value = server.call("scope_suggest", content=text).value
        assert value["confidence"] < 0.5, text
        assert all(one["confidence"] <= value["confidence"] for one in value["alternatives"]), text
    words = server.call("scope_suggest", content="네이버페이 환불 문의").value["analysis"]["detected_keywords"]
    assert set(words) == {"네이버페이", "환불", "문의"}


@pytest.mark.promise("associative.suggest.reads")
def test_a_suggestion_stores_nothing(place: Place, words: Server) -> None:
    stored(words, "a note", scope="x")
    before = archive(words)
    words.call("scope_suggest", content="another note", current_scope="some/where")
    assert archive(words) == before
    assert len(told(place, "changes")) == 1


@pytest.mark.promise("associative.suggest.empty")
def test_an_empty_content_is_refused(shared: Server) -> None:
    for text in ("", "  \n"):
        assert "content" in refused(shared, "scope_suggest", "VALIDATION_ERROR", content=text)["message"]
