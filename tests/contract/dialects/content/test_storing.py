"""store_content, update_content and store_decision: what is given is kept, and only what is given changes."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .speaking import DECISION, bytes_of, find, found, get, refused, restarted, stored, told, versions, write


@pytest.mark.promise("content.store.kept")
def test_all_that_is_given_is_kept(shared: Server, project: str) -> None:
    given = {
        "content": "# Bread\n\nFlour, water, salt.\n",
        "summary": "How bread is made",
        "content_type": "text/markdown",
        "tags": ["kitchen", "빵"],
        "metadata": {"pages": 3, "nested": {"list": [1, None, True, 2.5, "x"]}},
    }
    answer = write(shared, "store_content", project, **given)
    assert (answer["version"], answer["metadata"]) == (1, given["metadata"])
    shown = get(shared, project, answer["content_id"])
    assert {key: shown[key] for key in given} == given
    assert (shown["title"], shown["kind"], shown["version"]) == ("Bread", "content", 1)
    assert shown["created_at"] == shown["updated_at"] == answer["created_at"]


@pytest.mark.promise("content.store.defaults")
def test_a_bare_text_is_plain(shared: Server, project: str) -> None:
    shown = get(shared, project, stored(shared, project, "just words"))
    assert (shown["content_type"], shown["tags"], shown["metadata"]) == ("text/plain", [], {})
    assert "summary" not in shown
    assert "session_id" not in shown


@pytest.mark.promise("content.store.found")
def test_what_is_stored_is_found_at_once_by_its_text_summary_and_tags(shared: Server, project: str) -> None:
    id = stored(shared, project, "Flour and salt", summary="baking", tags=["sourdough"])
    for query in ("flour", "baking", "sourdough"):
        assert found(shared, project, query) == [id], query


@pytest.mark.promise("content.store.twice")
def test_the_same_text_again_is_another_item(shared: Server, project: str) -> None:
    assert stored(shared, project, "twin") != stored(shared, project, "twin")
    assert find(shared, project, "twin")["total"] == 2


@pytest.mark.promise("content.update.given")
def test_only_what_is_given_changes(shared: Server, project: str) -> None:
    id = stored(shared, project, "old text", summary="old summary", tags=["a", "b"], metadata={"x": 1, "y": {"z": 2}},
                content_type="text/markdown")  # fmt: skip
    before = get(shared, project, id)
    steps = (
        ({"content": "new text"}, {"content": "new text", "title": "new text"}),
        ({"summary": "new summary"}, {"summary": "new summary"}),
        ({"tags": ["c"]}, {"tags": ["c"]}),
        ({"metadata": {"y": 3, "w": 4}}, {"metadata": {"x": 1, "y": 3, "w": 4}}),
        ({"tags": []}, {"tags": []}),
    )
    for number, (updates, changed) in enumerate(steps):
        answer = write(shared, "update_content", project, content_id=id, updates=updates)
        assert answer["version"] == number + 2
        assert answer["message"] == "Content updated successfully"
        after = get(shared, project, id)
        assert after["updated_at"] > before["updated_at"]
        assert after == before | changed | {"version": number + 2, "updated_at": after["updated_at"]}
        before = after


@pytest.mark.promise("content.update.same")
def test_what_is_so_already_makes_no_version(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "text", tags=["t"], metadata={"k": 1})
    before, changes = get(words, "atlas", id), told(place, "atlas", "changes")
    updates = {"content": "text", "tags": ["t"], "metadata": {"k": 1}}
    assert write(words, "update_content", "atlas", content_id=id, updates=updates)["version"] == 1
    assert get(words, "atlas", id) == before
    assert told(place, "atlas", "changes") == changes


@pytest.mark.promise("content.update.at_once")
def test_updates_at_once_are_all_kept(place: Place, words: Server) -> None:
    other = place.serve("content")
    id = stored(words, "atlas", "text")
    calls = []
    for number in range(16):
        server = (words, other)[number % 2]
        updates = {"metadata": {f"key {number}": number}}
        given = {"operation": "update_content", "project_id": "atlas", "content_id": id, "updates": updates}
        calls.append((server, server.begin_call("memory_store", given)))
    answered = [server.reply(number).structured["version"] for server, number in calls]
    assert sorted(answered) == list(range(2, 18))
    shown = get(other, "atlas", id)
    assert (shown["version"], shown["metadata"]) == (17, {f"key {number}": number for number in range(16)})
    assert [one["version"] for one in versions(words, "atlas", id)] == list(range(17, 0, -1))


@pytest.mark.promise("content.update.found")
def test_the_new_text_is_found_and_the_old_is_not(shared: Server, project: str) -> None:
    id = stored(shared, project, "a lighthouse")
    write(shared, "update_content", project, content_id=id, updates={"content": "a windmill"})
    assert found(shared, project, "windmill") == [id]
    assert found(shared, project, "lighthouse") == []


@pytest.mark.promise("content.update.previous")
def test_the_version_before_stays_readable(shared: Server, project: str) -> None:
    id = stored(shared, project, "a lighthouse", tags=["sea"])
    write(shared, "update_content", project, content_id=id, updates={"content": "a windmill", "tags": ["land"]})
    keep = {"preserve_previous": True}
    write(shared, "update_content", project, content_id=id, updates={"content": "a bridge"}, options=keep)
    told = [(one["version"], one["content"], one["tags"]) for one in versions(shared, project, id)]
    assert told == [(3, "a bridge", ["land"]), (2, "a windmill", ["land"]), (1, "a lighthouse", ["sea"])]


@pytest.mark.promise("content.update.forgotten")
def test_without_preserve_previous_nothing_is_left_of_the_text_before(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "Xylophone beginnings", summary="Quixotic", metadata={"k": "Brontosaurus"})
    write(words, "update_content", "atlas", content_id=id, updates={"content": "Pterodactyl middle"})
    find(words, "atlas", "xylophone")
    updates = {"content": "plain end", "summary": "short", "metadata": {"k": "v"}}
    answer = write(
        words, "update_content", "atlas", content_id=id, updates=updates, options={"preserve_previous": False}
    )
    assert answer["version"] == 3
    assert [one["content"] for one in versions(words, "atlas", id)] == ["plain end"]
    for query in ("xylophone", "pterodactyl", "quixotic"):
        assert found(words, "atlas", query) == []
    last = restarted(place, words)
    assert get(last, "atlas", id)["content"] == "plain end"
    for name, data in bytes_of(place).items():
        for word in (b"Xylophone", b"xylophone", b"Pterodactyl", b"Quixotic", b"Brontosaurus"):
            assert word not in data, (name, word)


@pytest.mark.promise("content.update.forgotten")
def test_what_is_stored_beside_it_keeps_its_past(shared: Server, project: str) -> None:
    one, two = stored(shared, project, "one first"), stored(shared, project, "two first")
    write(shared, "update_content", project, content_id=two, updates={"content": "two second"})
    forget = {"preserve_previous": False}
    write(shared, "update_content", project, content_id=one, updates={"content": "one second"}, options=forget)
    assert [one["content"] for one in versions(shared, project, two)] == ["two second", "two first"]
    write(shared, "update_content", project, content_id=one, updates={"content": "one third"})
    assert [one["content"] for one in versions(shared, project, one)] == ["one third", "one second"]


@pytest.mark.promise("content.update.undo")
def test_an_update_can_be_undone(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "first")
    write(words, "update_content", "atlas", content_id=id, updates={"content": "second", "tags": ["t"]})
    told(place, "atlas", "undo")
    shown = get(words, "atlas", id)
    assert (shown["content"], shown["tags"]) == ("first", [])


@pytest.mark.promise("content.decisions")
def test_a_decision_is_kept_as_readable_text_and_in_its_parts(shared: Server, project: str) -> None:
    more = {"tags": ["mill"], "metadata": {"quarter": "Q3"}}
    answer = write(shared, "store_decision", project, **DECISION, **more)
    assert answer["message"] == "Decision stored successfully"
    assert answer["decision_id"] == answer["content_id"]
    shown = get(shared, project, answer["content_id"])
    assert (shown["kind"], shown["title"], shown["tags"]) == ("decision", DECISION["title"], ["mill"])
    assert shown["metadata"]["decision"] == DECISION
    assert shown["metadata"]["quarter"] == "Q3"
    for text in ("title", "context", "decision", "rationale", "impact"):
        assert DECISION[text] in shown["content"]
    for text in (*DECISION["alternatives"], *DECISION["stakeholders"]):
        assert f"- {text}" in shown["content"]
    assert found(shared, project, "bakers") == [answer["content_id"]]


@pytest.mark.promise("content.decisions")
def test_a_decision_has_no_headings_for_what_was_not_given(shared: Server, project: str) -> None:
    bare = {key: DECISION[key] for key in ("title", "context", "decision", "rationale")}
    shown = get(shared, project, write(shared, "store_decision", project, **bare)["content_id"])
    assert shown["metadata"]["decision"] == bare
    for heading in ("Alternatives", "Impact", "Stakeholders"):
        assert heading not in shown["content"]


@pytest.mark.promise("content.decisions")
def test_a_decision_may_belong_to_a_session(shared: Server, project: str) -> None:
    id = write(shared, "store_decision", project, **DECISION, session_id="one")["content_id"]
    assert found(shared, project, "silo") == []
    assert found(shared, project, "silo", session_id="one") == [id]


@pytest.mark.promise("content.update.derived")
def test_the_summary_and_parts_of_a_decision_follow_its_text(shared: Server, project: str) -> None:
    id = write(shared, "store_decision", project, **DECISION)["content_id"]
    content = get(shared, project, id)["content"].replace(DECISION["decision"], "Both grains are milled by turns")
    content = content.replace("- Bakers", "- Bakers\n- Carters")
    write(shared, "update_content", project, content_id=id, updates={"content": content})
    shown = get(shared, project, id)
    new = {**DECISION, "decision": "Both grains are milled by turns", "stakeholders": ["Millers", "Bakers", "Carters"]}
    assert (shown["summary"], shown["metadata"]["decision"]) == (new["decision"], new)
    assert found(shared, project, "built") == []

    write(shared, "update_content", project, content_id=id, updates={"content": "The silo is sold."})
    shown = get(shared, project, id)
    assert (shown["summary"], shown["title"]) == ("The silo is sold.", DECISION["title"])
    assert shown["metadata"]["decision"] == {"title": DECISION["title"], "decision": "The silo is sold."}


@pytest.mark.promise("content.update.derived")
def test_the_text_of_a_decision_follows_its_parts_and_what_the_caller_set_stays(shared: Server, project: str) -> None:
    id = write(shared, "store_decision", project, **DECISION)["content_id"]
    parts = {"decision": "Nothing is built", "impact": None}
    write(shared, "update_content", project, content_id=id, updates={"metadata": {"decision": parts, "title": "Wait"}})
    shown = get(shared, project, id)
    assert (shown["title"], shown["summary"]) == ("Wait", "Nothing is built")
    assert shown["content"].startswith("# Wait\n")
    assert "Nothing is built" in shown["content"]
    assert "## Impact" not in shown["content"]
    assert DECISION["rationale"] in shown["content"]

    own = {"summary": "Our own words", "metadata": {"title": "Our title"}}
    write(shared, "update_content", project, content_id=id, updates=own)
    write(shared, "update_content", project, content_id=id, updates={"content": "It is built after all."})
    shown = get(shared, project, id)
    assert (shown["summary"], shown["title"]) == ("Our own words", "Our title")
    assert shown["metadata"]["decision"]["decision"] == "It is built after all."
    write(shared, "update_content", project, content_id=id, updates={"metadata": {"title": "Another"}})
    shown = get(shared, project, id)
    assert (shown["title"], shown["content"]) == ("Another", "It is built after all.")
    bad = {"metadata": {"decision": "yes"}}
    refusal = refused(shared, "update_content", 422, project, content_id=id, updates=bad)
    assert refusal["data"]["details"]["field"] == "updates.metadata.decision"


@pytest.mark.promise("content.update.derived")
def test_what_was_extracted_from_a_text_follows_it(shared: Server, project: str) -> None:
    given = {"content_type": "text/markdown", "options": {"extract_metadata": True}}
    text = "# Harbour\n\nSee https://harbour.example on 2024-05-01."
    for metadata, title in (({}, "Orchard"), ({"title": "Mine"}, "Mine")):
        id = stored(shared, project, text, metadata={**metadata, "pages": 3}, **given)
        updates = {"content": "# Orchard\n\nMany apples were counted on 2025-09-30 by many people."}
        write(shared, "update_content", project, content_id=id, updates=updates)
        shown = get(shared, project, id)["metadata"]
        assert (shown["title"], shown["pages"]) == (title, 3)
        fresh = get(shared, project, stored(shared, project, updates["content"], **given))["metadata"]
        assert shown["extracted"] == fresh["extracted"]
    write(shared, "update_content", project, content_id=id, updates={"content": "no title", "metadata": {"title": "T"}})
    assert get(shared, project, id)["title"] == "T"
