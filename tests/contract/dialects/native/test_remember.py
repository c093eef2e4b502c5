"""Storing through the native dialect: what became of each item, in one change."""

from __future__ import annotations

import re

import pytest

from stdio_client import Server

from .speaking import error, ids, text


@pytest.mark.promise("native.remember.one")
def test_a_text_is_stored_and_read_again_by_the_id_that_was_answered(words: Server) -> None:
    answer = text(words, "remember", text="The spare key is under the blue pot.", kind="fact", tags=["home"])
    (id,) = ids(answer)
    assert "The spare key is under the blue pot." in text(words, "read", ids=[id])
    assert "#home" in text(words, "read", ids=[id])


@pytest.mark.promise("native.remember.many")
def test_everything_of_a_call_is_one_change(words: Server) -> None:
    answer = text(
        words,
        "remember",
        memories=[{"text": "Rent is due on the third."}, {"text": "The lease ends in May."}],
        entities=[{"name": "Flat 4", "kind": "place", "observations": ["Third floor"]}],
        relations=[{"from": "Flat 4", "to": "Mrs Diaz", "type": "owned_by"}],
    )
    assert "Stored 2 memories, 1 entity, 1 relation" in answer
    text(words, "undo", confirm=True)
    assert "no memories" in text(words, "brief") or "0 memories" in text(words, "brief")


@pytest.mark.promise("native.remember.many")
def test_one_bad_item_stores_nothing(words: Server) -> None:
    said = error(words, "remember", memories=[{"text": "good"}, {"text": "  "}])
    assert "memories[1].text" in said
    assert "no memories" in text(words, "recall", query="good")


@pytest.mark.promise("native.remember.joined")
def test_what_is_stored_already_is_joined(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Max is allergic to cats."))
    again = text(words, "remember", text="Max is allergic to cats", tags=["health"])
    assert f"joined with {id}" in again
    assert "Stored nothing new" in again
    assert "#health" in text(words, "read", ids=[id])


@pytest.mark.promise("native.remember.entity")
def test_a_known_entity_gets_only_what_it_lacks(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Max", "kind": "person", "observations": ["Tall"]}])
    again = text(words, "remember", entities=[{"name": "Max", "observations": ["Tall", "Plays cello"]}])
    assert "joined with the entity Max: 1 observation added" in again
    opened = text(words, "read", ids=["Max"])
    assert opened.count("Tall") == 1
    assert "Plays cello" in opened
    assert "person" in opened


@pytest.mark.promise("native.remember.entity")
def test_an_entity_gets_what_is_given_for_all_of_a_call(words: Server) -> None:
    given = {"scope": "people/oslo", "metadata": {"source": "mail"}, "tags": ["team"]}
    text(words, "remember", entities=[{"name": "Tom", "observations": ["tall"]}], kind="person", **given)
    opened = text(words, "read", ids=["Tom"])
    assert re.search(r"Tom \[person · \S+ · people/oslo · #team", opened)
    assert "source=mail" in opened
    again = text(words, "remember", entities=[{"name": "Tom", "scope": "people/bergen"}])
    assert "it stays in the scope 'people/oslo'" in again


@pytest.mark.promise("native.remember.conversation")
def test_turns_get_the_tags_and_metadata_of_the_call(words: Server) -> None:
    said = {"conversation": [{"role": "user", "text": "We chose Postgres."}], "kind": "decision"}
    answer = text(words, "remember", **said, tags=["db"], metadata={"channel": "chat"})
    assert "`kind` was not used" in answer
    (id,) = ids(text(words, "recall", tags=["db"]))
    assert "channel=chat" in text(words, "read", ids=[id])


@pytest.mark.promise("native.remember.loose")
def test_a_relation_to_nothing_is_stored_and_said(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Max", "kind": "person"}])
    answer = text(words, "remember", relations=[{"from": "Max", "to": "Orchestra", "type": "plays_in"}])
    assert "new relation Max -plays_in-> Orchestra" in answer
    assert "nothing is stored as 'Orchestra' yet" in answer
    assert "known relation" in text(
        words, "remember", relations=[{"from": "Max", "to": "Orchestra", "type": "plays_in"}]
    )


@pytest.mark.promise("native.remember.conflict", "native.brief.conflicts")
def test_a_contradiction_is_stored_named_and_kept_in_the_brief_until_it_is_settled(meaning: Server) -> None:
    place = {"project": "contradiction"}
    (old,) = ids(text(meaning, "remember", text="The kitchen is painted green.", **place))
    answer = text(meaning, "remember", text="The kitchen is not painted green.", **place)
    (new, *_) = ids(answer)
    assert f"conflicts with {old}" in answer
    assert f"superseded_by='{new}'" in answer
    assert "Conflicts to settle" in text(meaning, "brief", **place)
    text(meaning, "revise", id=old, superseded_by=new, **place)
    assert "Conflicts to settle" not in text(meaning, "brief", **place)


@pytest.mark.promise("native.brief.conflicts", "native.recall.conflicts")
def test_a_conflict_outlives_changes_beside_it_and_comes_back_with_an_undo(meaning: Server) -> None:
    place = {"project": "unsettled"}
    old, loud = "The kitchen is painted green.", "The stove in the kitchen is loud."
    text(meaning, "remember", entities=[{"name": "Kitchen", "observations": [loud, old]}], **place)
    (new,) = ids(text(meaning, "remember", text="The kitchen is not painted green.", kind="fact", **place))
    text(meaning, "revise", id=new, kind="decision", tags=["home"], **place)
    text(meaning, "revise", id="Kitchen", remove=[loud], add=["It faces north."], **place)
    assert f"against {new}" in text(meaning, "brief", **place)
    for settles in ({"id": "Kitchen", "superseded_by": new}, {"id": "Kitchen", "remove": [old]}):
        text(meaning, "revise", **settles, **place)
        assert "Conflicts to settle" not in text(meaning, "brief", **place)
        text(meaning, "undo", confirm=True, **place)
        assert "conflicts with Kitchen" in text(meaning, "recall", query="kitchen", **place)
    text(meaning, "forget", ids=[new], **place)
    text(meaning, "undo", confirm=True, **place)
    assert f"against {new}" in text(meaning, "brief", **place)


@pytest.mark.promise("native.remember.similar")
def test_the_same_in_other_words_is_named(meaning: Server) -> None:
    place = {"project": "similar"}
    (old,) = ids(text(meaning, "remember", text="The meeting starts at nine in the morning.", **place))
    answer = text(meaning, "remember", text="The meeting begins at nine in the morning.", **place)
    assert f"similar to {old}" in answer


@pytest.mark.promise("native.remember.supersedes", "native.recall.superseded")
def test_what_supersedes_stands_above_what_it_superseded(words: Server) -> None:
    (old,) = ids(text(words, "remember", text="The wifi password is on the fridge door, wifi wifi password."))
    (new, *_) = ids(text(words, "remember", text="The wifi password is in the drawer.", supersedes=old))
    found = text(words, "recall", query="wifi password")
    assert found.index(new) < found.index(f"2. {old}")
    assert f"superseded by {new}" in found


@pytest.mark.promise("native.remember.batch")
def test_a_thousand_memories_are_one_change_with_progress(words: Server) -> None:
    many = [{"text": f"Box {n} is on shelf {n % 17}."} for n in range(1000)]
    result = words.request(
        "tools/call",
        {"name": "remember", "arguments": {"memories": many}, "_meta": {"progressToken": "p"}},
    )
    assert "Stored 1,000 memories" in result["content"][0]["text"]
    assert words.notification("notifications/progress", lambda n: n["params"]["progress"] == 1000)
    assert len(result["content"][0]["text"]) < 12_000
    preview = text(words, "undo")
    assert "990 more memories" in preview
    text(words, "undo", confirm=True)
    assert "no memories" in text(words, "recall", query="box")


@pytest.mark.promise("native.remember.conversation", "native.recall.turns", "native.recall.filters")
def test_a_conversation_is_stored_turn_by_turn(words: Server) -> None:
    turns = [
        {"role": "Ann", "text": "Where shall we meet on Sunday?", "at": "2026-05-01T10:00:00Z"},
        {"role": "Bob", "text": "At the old lighthouse.", "at": "2026-05-01T10:01:00Z"},
        {"role": "Ann", "text": "I will bring sandwiches.", "at": "2026-05-01T10:02:00Z"},
    ]
    assert "3 turns of the session 'trip'" in text(words, "remember", conversation=turns, session="trip")
    found = text(words, "recall", query="lighthouse", limit=1)
    assert re.search(r"turn · 2026-05-01 · session/trip", found)
    assert "before: Ann: Where shall we meet on Sunday?" in found
    assert "after: Ann: I will bring sandwiches." in found
    assert (
        "sandwiches" not in text(words, "recall", query="lighthouse sandwiches", who="Bob", limit=1).split("after")[0]
    )


@pytest.mark.promise("native.remember.kind")
def test_the_kind_of_a_memory_is_guessed_where_none_is_given(meaning: Server) -> None:
    place = {"project": "kinds"}
    answer = text(meaning, "remember", text="Always answer me in metric units.", **place)
    assert "[instruction · " in answer
    assert "Kinds were guessed for 1 memory" in answer
    named = text(meaning, "remember", text="Never call me before nine.", kind="rule", **place)
    assert "[rule · " in named
    assert "guessed" not in named


@pytest.mark.promise("native.remember.session")
def test_a_memory_keeps_the_conversation_it_is_from(words: Server) -> None:
    stored = text(words, "remember", text="The gate is blue.", session="tour")
    assert "session=tour" in text(words, "read", ids=ids(stored))
    assert "session 'a/b' has a slash" in error(words, "remember", text="The gate is red.", session="a/b")


@pytest.mark.promise("native.remember.kind")
def test_without_a_model_no_kind_is_guessed(words: Server) -> None:
    assert "[memory · " in text(words, "remember", text="Always answer me in metric units.")


@pytest.mark.promise("native.remember.extract")
def test_statements_of_a_conversation_are_kept_and_the_rest_is_named(meaning: Server) -> None:
    place = {"project": "extracting"}
    turns = [
        {"role": "Mia", "text": "Hi there! I am allergic to peanuts. Haha, thanks!"},
        {"role": "assistant", "text": "You're welcome! Anything else?"},
        {"role": "Mia", "text": "We decided to move the launch to October."},
    ]
    answer = text(meaning, "remember", conversation=turns, session="talk", **place)
    assert "3 turns of the session 'talk'" in answer
    assert "Mia: I am allergic to peanuts." in answer
    assert "Mia: We decided to move the launch to October." in answer
    assert "chosen by the built-in model; sentences left out (nothing to remember: " in answer
    assert '"Haha, thanks!"' in answer
    found = text(meaning, "recall", query="what is Mia allergic to?", **place)
    assert len(re.findall(r"^\d+\. .*\n.*allergic to peanuts", found, re.MULTILINE)) == 1
    plain = text(meaning, "remember", conversation=turns, session="plain", extract=False, **place)
    assert "Kept" not in plain


@pytest.mark.promise("native.remember.conversation")
def test_a_conversation_that_grows_is_stored_once(words: Server) -> None:
    turns = [{"role": "Ann", "text": "Hello!"}, {"role": "Bob", "text": "Hi."}, {"role": "Ann", "text": "Hello!"}]
    text(words, "remember", conversation=turns[:2], session="jin")
    assert "2 turns are in the session 'jin' already" in text(words, "remember", conversation=turns, session="jin")
    text(words, "remember", conversation=turns[1:], session="jin")
    shown = text(words, "read", ids=["session/jin"])
    assert re.findall(r"(Ann: Hello!|Bob: Hi\.)", shown) == ["Ann: Hello!", "Bob: Hi.", "Ann: Hello!"]
    assert text(words, "read", ids=["jin"]) == shown


@pytest.mark.promise("native.remember.conversation")
def test_a_turn_has_a_text_and_a_time_that_is_one(words: Server) -> None:
    assert "has a text" in error(words, "remember", conversation=[{"role": "Ann", "text": " "}])
    some = [{"role": "Ann", "text": "hello"}, {"role": "assistant", "text": ""}]
    assert "1 turn without text left out" in text(words, "remember", conversation=some)
    for at in ("last tuesday-ish", "blue"):
        turn = {"role": "Ann", "text": "Hello!", "at": at}
        assert "which is no time" in error(words, "remember", conversation=[turn])


@pytest.mark.promise("native.remember.entity")
def test_the_kind_of_a_known_entity_stays_and_that_is_said(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Alice", "kind": "person"}, {"name": "Acme"}])
    assert "stays of the kind 'person'" in text(words, "remember", entities=[{"name": "Alice", "kind": "company"}])
    assert "[person" in text(words, "read", ids=["Alice"])
    text(words, "remember", entities=[{"name": "Acme", "kind": "company"}])
    assert "[company" in text(words, "read", ids=["Acme"])


@pytest.mark.promise("native.remember.similar")
def test_the_same_text_in_another_scope_is_named_as_such(meaning: Server) -> None:
    place = {"project": "elsewhere"}
    (old,) = ids(text(meaning, "remember", text="The meeting starts at nine.", scope="work", **place))
    answer = text(meaning, "remember", text="The meeting starts at nine.", scope="home", **place)
    assert re.search(rf"similar to {old}.*: says exactly this, in the scope 'work'", answer)


@pytest.mark.promise("native.remember.conflict")
def test_of_two_new_memories_none_is_called_the_older(meaning: Server) -> None:
    both = ["The kitchen is painted green.", "The kitchen is not painted green."]
    answer = text(meaning, "remember", memories=both, project="both")
    assert "conflicts with" in answer
    assert "new as well" in answer
    assert "the older" not in answer


@pytest.mark.promise("native.errors")
def test_errors_name_what_was_sent(words: Server) -> None:
    said = error(words, "remember", text=" ")
    assert "text is empty" in said
    assert "memories[0]" not in said
    assert "conversation" in error(words, "remember")
    text(words, "remember", entities=[{"name": "Van", "kind": "car", "observations": ["White", "Diesel"]}])
    assert "content" not in error(words, "revise", id="Van", text="Black")


@pytest.mark.promise("native.remember.extract")
def test_each_sentence_left_out_says_why_and_one_kept_before_is_said_to_be(meaning: Server) -> None:
    place = {"project": "why"}
    turns = [{"role": "Mia", "text": "I am allergic to peanuts. Haha, thanks!"}]
    answer = text(meaning, "remember", conversation=turns, session="one", **place)
    assert '"Haha, thanks!" (nothing to remember)' in answer
    again = text(meaning, "remember", conversation=turns, session="two", **place)
    assert "Kept 0 new statements, 1 known already" in again


@pytest.mark.promise("native.remember.alike")
def test_an_entity_that_is_named_like_another_is_stored_and_the_other_is_named(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Jisoo Park"}])
    assert "looks like 'Jisoo Park'" in text(words, "remember", entities=[{"name": "jisoo park"}])


@pytest.mark.promise("native.remember.conflict")
def test_what_an_entity_no_longer_is_is_settled_by_its_observation(meaning: Server) -> None:
    place = {"project": "settled"}
    facts = ["Runs the company", "Mara is allergic to hazelnuts."]
    text(meaning, "remember", entities=[{"name": "Mara", "kind": "person", "observations": facts}], **place)
    answer = text(meaning, "remember", text="Mara can eat hazelnuts without any trouble.", **place)
    assert "revise(id='Mara', remove=['Mara is allergic to hazelnuts.'])" in answer


@pytest.mark.promise("native.remember.conflict")
def test_a_new_observation_is_held_against_what_is_known_and_old_ones_are_not_looked_at_again(meaning: Server) -> None:
    place = {"project": "observations"}
    port, likes = "runs on port 8080", "written in Go"
    text(meaning, "remember", entities=[{"name": "billing", "observations": [port, likes]}], **place)
    more = [{"name": "billing", "observations": [port, "runs on port 9090"]}, {"name": "Van", "observations": ["Red"]}]
    answer = text(meaning, "remember", entities=more, **place)
    assert f'conflicts with its own "{port}"' in answer
    assert f"revise(id='billing', remove=['{port}'])" in answer
    assert answer.count("conflicts with") == 1
    later = [{"name": "billing", "observations": ["has five callers"]}]
    assert "conflicts" not in text(meaning, "remember", entities=later, **place)
    text(meaning, "remember", text="The kitchen is painted green.", **place)
    kitchen = [{"name": "Kitchen", "observations": ["The kitchen is not painted green."]}]
    assert "superseded_by='Kitchen'" in text(meaning, "remember", entities=kitchen, **place)
    assert "against Kitchen" in text(meaning, "brief", **place)


@pytest.mark.promise("native.remember.conflict")
def test_how_many_were_checked_for_contradictions_is_said(meaning: Server) -> None:
    many = [{"name": f"Bridge {n}", "observations": [f"Is {n + 20} metres long"]} for n in range(12)]
    assert "looked for in the first 10 only" in text(meaning, "remember", entities=many, project="bridges")


@pytest.mark.promise("native.brief.conflicts")
def test_a_brief_says_that_there_are_more_conflicts_than_it_shows(meaning: Server) -> None:
    place = {"project": "many conflicts"}
    for windows in (2, 3, 4, 5, 6, 7):
        text(meaning, "remember", text=f"The kitchen has {windows} windows.", **place)
    brief = text(meaning, "brief", budget=4_000, **place)
    assert brief.count(" against ") == 10
    assert "and more, which are shown when some of these are settled" in brief


@pytest.mark.promise("native.remember.joined", "native.remember.supersedes")
def test_what_is_stated_once_more_after_it_was_superseded_is_not_taken_for_stored(words: Server) -> None:
    first, second, third = ids(text(words, "remember", memories=[f"The rent is {n} euros." for n in (1, 2, 3)]))
    text(words, "revise", id=first, superseded_by=second)
    text(words, "revise", id=second, superseded_by=third)
    answer = text(words, "remember", text="The rent is 1 euros.")
    assert f"superseded by {third}" in answer
    assert f"supersedes={third!r}" in answer
    answer = text(words, "remember", text="The rent is 1 euros.", supersedes=third)
    assert f"supersedes {third}" in answer
    brief = text(words, "brief")
    assert "The rent is 1 euros." in brief
    assert "The rent is 3 euros." not in brief
    assert f"superseded by {first}" in text(words, "recall", query="rent")
    text(words, "undo", confirm=True)
    assert "The rent is 3 euros." in text(words, "brief")
    assert "cannot supersede itself" in error(words, "remember", text="The rent is 3 euros.", supersedes=third)


@pytest.mark.promise("native.remember.joined", "native.remember.conflict")
def test_what_is_stated_once_more_names_what_contradicts_it(meaning: Server) -> None:
    place = {"project": "restated"}
    text(meaning, "remember", text="The kitchen is painted green.", **place)
    (new, *_) = ids(text(meaning, "remember", text="The kitchen is not painted green.", **place))
    assert f"conflicts with {new}" in text(meaning, "remember", text="The kitchen is painted green.", **place)


@pytest.mark.promise("native.remember.credentials")
def test_what_looks_like_a_credential_is_told_where_a_model_reads_it(words: Server) -> None:
    told = "looks like a credential was stored"
    assert told in text(words, "remember", text="The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a.")
    assert told not in text(words, "remember", text="The key is under the mat.")


@pytest.mark.promise("native.remember.extract")
def test_of_a_long_conversation_it_is_said_what_was_not_kept(meaning: Server) -> None:
    said = [
        ("We moved to the house number {} in Oslo.", "Okay, noted."),
        ("My aunt number {} lives in Busan.", "Nice!"),
    ]
    turns = [{"role": role, "text": pair[at].format(n)} for n in range(40) for pair in said
             for at, role in enumerate(("user", "assistant"))]  # fmt: skip
    answer = text(meaning, "remember", conversation=turns, session="long", project="long talk")
    assert "left out; everything is stored" in answer
    assert re.search(r"Kept \d+ statements of the conversation, .* sentences left out \(", answer)
    assert "(nothing to remember)" in answer


@pytest.mark.promise("native.remember.many", "native.errors")
def test_the_item_of_a_batch_that_is_wrong_is_named_and_nothing_is_stored(words: Server) -> None:
    for wrong, place in (({"text": " "}, "memories[7].text"), ({"text": "x", "tags": [""]}, "memories[7].tags[0]")):
        memories = [{"text": f"note {n}"} for n in range(7)]
        assert place in error(words, "remember", memories=[*memories, wrong])
    assert "entities[1].tags[0]" in error(words, "remember", entities=[{"name": "Kim"}, {"name": "Lee", "tags": [" "]}])
    assert "no memories" in text(words, "recall")


@pytest.mark.promise("native.remember.one", "native.revise.compared")
def test_a_memory_in_the_scope_of_a_session_is_stored_and_revised(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="The key is under the mat.", scope="session/trip"))
    assert "Changed" in text(words, "revise", id=id, text="The key is in the drawer.")
    text(words, "remember", conversation=[{"role": "Ann", "text": "Where is it?"}], session="trip", extract=False)
    (turn,) = re.findall(r"([a-f][0-9a-f]{7}-[0-9a-f]{4}) \S+Z Ann", text(words, "read", ids=["trip"]))
    assert "Changed" in text(words, "revise", id=turn, text="Ann: Where is the key?")
    assert "Changed" in text(words, "revise", id=id, scope="session/other")


@pytest.mark.promise("native.arguments.synonyms", "native.remember.conversation")
def test_of_turns_in_parts_the_texts_are_kept(words: Server) -> None:
    parts = [
        {"type": "text", "text": "Look at this tree.", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]
    calls = [{"type": "tool_use", "id": "1", "name": "look", "input": {}}]
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": calls},
        {"role": "assistant", "content": [{"type": "output_text", "text": "An oak.", "annotations": []}]},
    ]
    answer = words.call("remember", messages=messages, session="trees", extract=False)
    assert "Stored 2 turns" in answer.text
    assert "1 turn without text left out" in answer.text
    shown = text(words, "read", ids=["trees"])
    assert "user: Look at this tree." in shown
    assert "assistant: An oak." in shown
