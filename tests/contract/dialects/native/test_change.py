"""Changing through the native dialect: revise, forget, undo; nothing is lost unless it is confirmed to be."""

from __future__ import annotations

import json
import re
import time

import pytest

from polymnia.engine.text.tokens import tokens
from stdio_client import Place, Server

from .speaking import error, ids, text


@pytest.mark.promise("native.revise.fields")
def test_only_what_is_given_changes(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="The pump is old.", kind="fact", tags=["pump"], scope="cellar"))
    answer = text(words, "revise", id=id, text="The pump is new.", tags=["pump", "bought"])
    assert 'was: "The pump is old."' in answer
    assert 'now: "The pump is new."' in answer
    opened = text(words, "read", ids=[id])
    assert re.search(r"\[fact · \S+ · cellar · #pump #bought", opened)
    assert "Nothing changed" in text(words, "revise", id=id, kind="fact")
    text(words, "undo", confirm=True)
    assert "The pump is old." in text(words, "read", ids=[id])


@pytest.mark.promise("native.revise.compared")
def test_a_new_text_is_compared_with_what_is_known(meaning: Server) -> None:
    place = {"project": "compared"}
    (old,) = ids(text(meaning, "remember", text="The kitchen is painted green.", **place))
    (dull,) = ids(text(meaning, "remember", text="The stove is loud.", **place))
    answer = text(meaning, "revise", id=dull, text="The kitchen is not painted green.", **place)
    assert f"conflicts with {old}" in answer
    assert f"revise(id='{old}', superseded_by='{dull}')" in answer
    assert "Conflicts to settle" in text(meaning, "brief", **place)
    assert "conflicts" not in text(meaning, "revise", id=dull, tags=["home"], **place)
    answer = text(meaning, "revise", id=dull, text="The kitchen is painted green.", scope="home", **place)
    assert re.search(rf"similar to {old}.*: says exactly this", answer)
    assert "conflicts" not in answer
    assert "Conflicts to settle" not in text(meaning, "brief", **place)
    text(meaning, "remember", entities=[{"name": "Office", "observations": ["opens at 8 am"]}], **place)
    assert 'conflicts with its own "opens at 8 am"' in text(
        meaning, "revise", id="Office", add=["opens at 9 am"], **place
    )


@pytest.mark.promise("native.brief.conflicts")
def test_an_undo_brings_back_a_conflict_that_another_text_has_replaced(meaning: Server) -> None:
    place = {"project": "undone conflict"}
    text(meaning, "remember", text="The kitchen is painted green.", **place)
    (id,) = ids(text(meaning, "remember", text="The kitchen is not painted green.", **place))
    answer = text(meaning, "revise", id=id, text="The kitchen is no longer painted green.", **place)
    assert "conflicts with" in answer
    text(meaning, "undo", confirm=True, **place)
    assert "Conflicts to settle" in text(meaning, "brief", **place)


@pytest.mark.promise("native.revise.observations")
def test_observations_are_added_and_removed_in_one_change(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Van", "kind": "car", "observations": ["White", "Diesel"]}])
    answer = text(words, "revise", id="Van", add=["Winter tyres"], remove=["Diesel", "Petrol"])
    assert '+ "Winter tyres"' in answer
    assert '- "Diesel"' in answer
    assert 'not there, so not removed: "Petrol"' in answer
    text(words, "undo", confirm=True)
    opened = text(words, "read", ids=["Van"])
    assert "Diesel" in opened
    assert "Winter tyres" not in opened


@pytest.mark.promise("native.revise.many_texts", "native.errors")
def test_a_text_does_not_replace_several_observations(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Van", "kind": "car", "observations": ["White", "Diesel"]}])
    assert "`add` and `remove`" in error(words, "revise", id="Van", text="Black")
    assert "White" in text(words, "read", ids=["Van"])


@pytest.mark.promise("native.revise.superseded")
def test_a_mark_is_set_and_taken_away(words: Server) -> None:
    (old,) = ids(text(words, "remember", text="Tickets cost ten."))
    (new,) = ids(text(words, "remember", text="Tickets cost twelve."))
    assert f"superseded by {new}" in text(words, "revise", id=old, superseded_by=new)
    assert f"Superseded by {new}" in text(words, "read", ids=[old])
    text(words, "revise", id=old, superseded_by="")
    assert "Superseded" not in text(words, "read", ids=[old])
    assert "cannot supersede itself" in error(words, "revise", id=old, superseded_by=old)


@pytest.mark.promise("native.forget.undo")
def test_what_is_forgotten_comes_back_with_its_relations(words: Server) -> None:
    text(
        words,
        "remember",
        entities=[{"name": "Ida", "kind": "person", "observations": ["Bakes bread"]}, {"name": "Oven", "kind": "tool"}],
        relations=[{"from": "Ida", "to": "Oven", "type": "uses"}],
    )
    assert "Forgot 1 memory and 1 relation." in text(words, "forget", ids=["Ida"])
    assert "Bakes bread" not in text(words, "recall", query="bread")
    text(words, "undo", confirm=True)
    assert "Ida -uses-> Oven" in text(words, "read", ids=["Ida"])
    gone = text(words, "forget", relations=[{"from": "Ida", "to": "Oven", "type": "uses"}])
    assert "Forgot 1 relation." in gone
    assert "not there" in text(words, "forget", relations=[{"from": "Ida", "to": "Oven", "type": "uses"}])


@pytest.mark.promise("native.forget.for_good")
def test_for_good_deletes_nothing_before_it_is_confirmed_and_everything_then(place: Place, words: Server) -> None:
    secret = "Xylophone-Zebra-4711 is the word"
    (id,) = ids(text(words, "remember", text=secret))
    assert "Nothing is deleted yet" in text(words, "forget", ids=[id], for_good=True)
    assert secret in text(words, "read", ids=[id])
    assert "Deleted for good: 1 memory." in text(words, "forget", ids=[id], for_good=True, confirm=True)
    assert "no memories" in text(words, "recall", query="Xylophone")
    words.close()
    assert not any(b"Xylophone" in data for data in place.contents().values())


@pytest.mark.promise("native.undo.preview", "native.undo.one")
def test_undo_shows_first_and_then_does(words: Server) -> None:
    (first,) = ids(text(words, "remember", text="First thing."))
    (second,) = ids(text(words, "remember", text="Second thing."))
    shown = text(words, "undo")
    assert f"deletes {second}" in shown
    assert "Second thing." in text(words, "read", ids=[second])
    number = int(re.findall(r"change: (\d+)", shown)[0])
    text(words, "undo", change=number - 1, confirm=True)
    assert "First thing." not in text(words, "recall", query="thing")
    assert "Second thing." in text(words, "read", ids=[second])
    assert first in text(words, "recall", changed_since="today")


@pytest.mark.promise("native.undo.since")
def test_undo_takes_back_all_since_a_time_or_none(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Log", "kind": "file", "observations": ["line 1"]}])
    for n in (2, 3):
        text(words, "revise", id="Log", add=[f"line {n}"])
    preview = text(words, "undo", since="today")
    assert preview.count("change ") >= 3
    text(words, "undo", since="today", confirm=True)
    assert "no memories" in text(words, "recall", query="line")
    assert "nothing to undo" in text(words, "undo", since="today")


@pytest.mark.promise("native.undo.since")
def test_a_session_is_undone_as_a_whole(words: Server) -> None:
    text(words, "remember", text="Stays.")
    text(words, "remember", conversation=[{"role": "A", "text": "hello there"}], session="s1")
    text(words, "remember", conversation=[{"role": "B", "text": "hello again"}], session="s1")
    text(words, "undo", session="s1", confirm=True)
    assert "hello" not in text(words, "recall", query="hello")
    assert "Stays." in text(words, "recall", query="stays")


@pytest.mark.promise("native.undo.since", "native.remember.session")
def test_memories_from_a_session_are_undone_with_it(words: Server) -> None:
    text(words, "remember", text="From the sprint.", session="sprint-12")
    text(words, "remember", text="From elsewhere.")
    assert "From the sprint." in text(words, "undo", session="sprint-12")
    text(words, "undo", session="sprint-12", confirm=True)
    left = text(words, "recall")
    assert "From elsewhere." in left
    assert "sprint" not in left


@pytest.mark.promise("native.undo.preview")
def test_a_preview_shows_relations(words: Server) -> None:
    text(words, "remember", relations=[{"from": "Kim", "to": "Team", "type": "leads"}])
    assert "deletes Kim -leads-> Team" in text(words, "undo")
    text(words, "forget", relations=[{"from": "Kim", "to": "Team", "type": "leads"}])
    assert "brings back Kim -leads-> Team" in text(words, "undo")


@pytest.mark.promise("native.answers.budget")
def test_what_a_change_answers_keeps_to_a_budget(words: Server) -> None:
    long = "A very long line about the harbour and its cranes. " * 100
    text(words, "remember", entities=[{"name": "Log", "kind": "file", "tags": [f"tag {n}" for n in range(500)]}])
    many = [f"{n} {long}" for n in range(100)]
    assert tokens(text(words, "revise", id="Log", add=many)) <= 2_000
    assert tokens(text(words, "revise", id="Log", remove=[*many[:50], *(f"not {one}" for one in many)])) <= 2_000
    assert tokens(error(words, "revise", id=long, add=["x"])) <= 2_000
    stored = ids(text(words, "remember", memories=[f"note {n}" for n in range(20)]))
    assert tokens(text(words, "forget", ids=[*stored, "Log"], for_good=True)) <= 2_000
    assert tokens(text(words, "recall", query="Log", budget=100)) <= 100


@pytest.mark.promise("native.undo.preview")
@pytest.mark.parametrize("which", [{"since": "1h"}, {"since": "2 minutes ago"}, {"session": 'the "first"'}])
def test_the_call_that_a_preview_names_undoes_what_was_shown_and_nothing_later(
    words: Server, which: dict[str, str]
) -> None:
    def said(role: str, what: str) -> None:
        text(words, "remember", conversation=[{"role": role, "text": what}], session='the "first"', project="boats")

    said("A", "hello there")
    said("B", "hello again")
    shown = text(words, "undo", project="boats", **which)
    said("A", "hello too late")
    named = re.findall(r"call undo again with (.+) to do this", shown)[0]
    call = json.loads("{" + re.sub(r"(^|, )(\w+): ", r'\1"\2": ', named) + "}")
    assert call["project"] == "boats"
    assert call.get("since") not in ("1h", "2 minutes ago")
    assert "Undone: 2 changes" in text(words, "undo", **call)
    left = text(words, "recall", query="hello", project="boats")
    assert "too late" in left
    assert "there" not in left
    assert "again" not in left
    assert "nothing to undo" in text(words, "undo", **call)


@pytest.mark.promise("native.undo.exact")
@pytest.mark.parametrize("words_for", ["1 second ago", "now", "vor 0 Minuten", "0초 전"])
def test_what_was_changed_before_a_time_within_the_day_stays(words: Server, words_for: str) -> None:
    text(words, "remember", text="Long ago.")
    before = time.monotonic()
    while time.monotonic() < before + (1.1 if "1" in words_for else 0):
        text(words, "recall", query="Long")
    assert "nothing to undo" in text(words, "undo", since=words_for)
    assert "deletes" in text(words, "undo", since="2 hours ago")


@pytest.mark.promise("native.undo.exact")
@pytest.mark.parametrize("vague", ["a few minutes ago", "some hours ago"])
def test_a_time_that_cannot_be_read_exactly_is_refused(words: Server, vague: str) -> None:
    assert "2 hours ago" in error(words, "undo", since=vague)


@pytest.mark.promise("native.undo.exact")
def test_a_time_of_day_is_never_taken_for_its_day(shared: Server) -> None:
    times = ["yesterday at 3pm", "2026-11-18 14:00 PST", "gestern um 15 Uhr", "어제 오후 3시", "2026-11-18T25:00"]
    times += ["2026-W47", "18.11.2026 09:30", "Wed, 18 Nov 2026 14:00:00 GMT"]
    times += ["monday afternoon", "어제 저녁", "not last week, whatever", "anything but last week", "end of last month"]
    for one in times:
        assert "is no time" in error(shared, "undo", since=one), one
        assert "is no time" in error(shared, "recall", query="tea", until=one), one
    for one in (
        "한 시간 전",
        "an hour ago",
        "2026-11-18T14:00:00+09:00",
        "yesterday",
        "within the past week",
        "3일 전부터",
    ):
        assert "nothing to undo" in text(shared, "undo", since=one, project="times"), one


@pytest.mark.promise("native.forget.preview")
def test_the_relations_that_would_go_along_are_shown(words: Server) -> None:
    ends = {"from": "Ben", "to": "Carla", "type": "knows"}
    text(words, "remember", entities=[{"name": "Ben"}, {"name": "Carla"}], relations=[ends])
    assert "Ben -knows-> Carla" in text(words, "forget", ids=["Ben"], confirm=False)


@pytest.mark.promise("native.undo.preview")
def test_a_time_and_a_session_together_are_refused(words: Server) -> None:
    assert "not both" in error(words, "undo", since="1h", session="s1")


@pytest.mark.promise("native.remember.joined", "native.undo.one")
@pytest.mark.parametrize(
    "known",
    [
        {"text": "Ann lives in Oslo."},
        {"relations": [{"from": "Kim", "to": "Team", "type": "leads"}]},
        {"entities": [{"name": "Kim", "kind": "person", "observations": ["Tall"]}]},
        {"conversation": [{"role": "Ann", "text": "Shall we go?"}], "session": "trip"},
    ],
)
def test_what_changes_nothing_says_so_and_undo_takes_back_what_did(words: Server, known: dict[str, object]) -> None:
    text(words, "remember", **known)
    text(words, "remember", text="Tom drives a red Volvo.")
    again = text(words, "remember", **known)
    assert again.startswith("Nothing changed")
    assert "undo takes it back" not in again


@pytest.mark.promise("native.undo.one", "native.undo.since")
def test_what_was_deleted_for_good_is_passed_over_by_undo(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Kim", "kind": "person"}, {"name": "Team", "kind": "group"}])
    text(words, "remember", relations=[{"from": "Kim", "to": "Team", "type": "leads"}])
    (id,) = ids(text(words, "remember", text="A secret."))
    text(words, "forget", ids=[id], for_good=True, confirm=True)
    preview = text(words, "undo")
    assert "change: 2, confirm: true" in preview
    assert "Passed over" in preview
    assert "4 (purge)" in preview
    assert "It cannot be undone" in error(words, "undo", change=4)
    refused = error(words, "undo", confirm=True)  # which asks for what was last, and that is final
    assert "nothing was undone" in refused
    assert "undo(change=2)" in refused
    assert "leads" in text(words, "read", ids=["Kim"])
    text(words, "undo", change=2, confirm=True)
    assert "leads" not in text(words, "read", ids=["Kim"])
    text(words, "undo", since="2026-01-01", confirm=True)
    assert "no memories" in text(words, "recall", query="Kim")
    assert "nothing to undo" in text(words, "undo")


@pytest.mark.promise("native.undo.preview")
def test_a_preview_shows_what_will_be(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="The old long text.", kind="fact"))
    text(words, "revise", id=id, text="Short now.")
    assert '"Short now." -> "The old long text."' in text(words, "undo")
    text(words, "revise", id=id, kind="plan", metadata={"source": "mail"})
    shown = text(words, "undo")
    assert "kind: plan -> fact" in shown
    assert "source: mail -> none" in shown


@pytest.mark.promise("native.undo.one", "native.undo.since")
def test_an_undo_names_the_changes_that_do_it_again(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Stays or goes."))
    again = int(re.findall(r"undo\(change=(\d+), confirm=true\) does it again", text(words, "undo", confirm=True))[0])
    text(words, "undo", change=again, confirm=True)
    assert "Stays or goes." in text(words, "read", ids=[id])
    for n in (1, 2):
        text(words, "remember", conversation=[{"role": "A", "text": f"hello {n}"}], session="s1")
    done = text(words, "undo", session="s1", confirm=True)
    for number in re.findall(r"\d+", re.findall(r"undo the changes ([\d, ]+), one by one", done)[0]):
        text(words, "undo", change=int(number), confirm=True)
    found = text(words, "recall", query="hello")
    assert "hello 1" in found
    assert "hello 2" in found


@pytest.mark.promise("native.undo.one", "native.undo.since")
def test_changes_that_build_on_each_other_are_done_again_in_the_order_named(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="alpha one"))
    text(words, "revise", id=id, text="alpha two")
    text(words, "revise", id=id, text="alpha three")
    done = text(words, "undo", since="2026-01-01", confirm=True)
    assert "no memories" in text(words, "recall")
    for number in re.findall(r"\d+", re.findall(r"undo the changes ([\d, ]+), one by one", done)[0]):
        text(words, "undo", change=int(number), confirm=True)
    assert "alpha three" in text(words, "read", ids=[id])


@pytest.mark.promise("native.undo.since")
def test_where_one_of_several_cannot_be_undone_those_that_build_on_it_stay(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Kim", "observations": ["tall"]}])
    text(words, "forget", ids=["Kim"])
    text(words, "remember", relations=[{"from": "Ann", "to": "Bob", "type": "knows"}])
    before = _stamp(words)
    text(words, "remember", entities=[{"name": "Kim", "observations": ["short"]}])
    text(words, "forget", ids=["Kim"])
    text(words, "remember", entities=[{"name": "Van", "observations": ["white"]}])
    text(words, "revise", id="Van", add=["diesel"])
    text(words, "undo", change=2, confirm=True)  # Kim, who is tall, is there again
    refused = error(words, "undo", since=before, confirm=True)
    assert "'Kim' is in use again" in refused
    assert "diesel" in text(words, "read", ids=["Van"])
    assert "tall" in text(words, "read", ids=["Kim"])


@pytest.mark.promise("native.undo.preview", "native.undo.one")
def test_a_relation_that_was_stored_again_is_not_doubled_by_an_undo(words: Server) -> None:
    ends = {"from": "Kim", "to": "Team", "type": "leads"}
    text(words, "remember", relations=[ends])
    text(words, "forget", relations=[ends])
    text(words, "remember", relations=[ends])
    for confirm in (False, True):
        assert "Kim -leads-> Team is there again" in error(words, "undo", change=2, confirm=confirm)
    assert text(words, "read", ids=["Kim"]).count("leads") == 1
    text(words, "undo", since="2026-01-01", confirm=True)
    assert "not found" in error(words, "read", ids=["Kim"])


@pytest.mark.promise("native.undo.one", "native.undo.since")
def test_an_undo_that_is_in_effect_again_counts_though_later_ones_are_not(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Comes and goes."))
    for change in (1, 2, 1, 4, 3):  # gone, there, gone, there, and gone since the first time to be there is undone
        text(words, "undo", change=change, confirm=True)
    assert "was deleted" in error(words, "read", ids=[id])
    assert "already undone by change 2" in error(words, "undo", change=1)
    assert "nothing to undo" in text(words, "undo", since="2026-01-01")


@pytest.mark.promise("native.forget.preview")
def test_forget_shows_what_it_would_do_where_that_is_asked_for(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Not yet."))
    assert "Nothing is deleted yet" in text(words, "forget", ids=[id], confirm=False)
    assert "Not yet." in text(words, "read", ids=[id])


@pytest.mark.promise("native.forget.undo")
def test_a_long_list_of_what_was_forgotten_counts_the_rest(words: Server) -> None:
    names = [f"Person {n}" for n in range(200)]
    text(words, "remember", entities=[{"name": one, "kind": "person", "observations": ["Tall"]} for one in names])
    answer = text(words, "forget", ids=names)
    assert answer.count("\n- Person") + int(re.findall(r"… and (\d+) more", answer)[0]) == 200


@pytest.mark.promise("native.forget.for_good")
def test_what_was_forgotten_can_still_be_deleted_for_good(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Forgotten first."))
    text(words, "forget", ids=[id])
    assert '"Forgotten first." (forgotten already)' in text(words, "forget", ids=[id], for_good=True)
    assert "Deleted for good: 1 memory." in text(words, "forget", ids=[id], for_good=True, confirm=True)
    assert "not found" in error(words, "read", ids=[id])


@pytest.mark.promise("native.revise.superseded")
def test_nothing_is_superseded_in_a_circle(words: Server) -> None:
    first, second, third = ids(text(words, "remember", memories=[f"The rent is {n} euros." for n in (1, 2, 3)]))
    text(words, "revise", id=first, superseded_by=second)
    text(words, "revise", id=second, superseded_by=third)
    assert "supersede each other" in error(words, "revise", id=third, superseded_by=first)
    assert "The rent is 3 euros." in text(words, "brief")


@pytest.mark.promise("native.revise.fields")
def test_a_revision_says_what_it_changed_and_refuses_an_empty_kind(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="The pump is old."))
    answer = text(words, "revise", id=id, metadata={"source": "mail"}, scope="cellar")
    assert "source: none -> mail" in answer
    assert "-> cellar" in answer
    assert "kind is empty" in error(words, "revise", id=id, kind="")
    text(words, "revise", id=id, kind="Instruction")
    assert "Standing instructions:\n- The pump is old." in text(words, "brief")


@pytest.mark.promise("native.undo.preview")
def test_what_cannot_be_undone_is_not_shown_as_if_it_could(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Van", "observations": ["White"]}])
    text(words, "revise", id="Van", add=["Diesel"])
    for confirm in (False, True):
        assert "later changes build on it (2)" in error(words, "undo", change=1, confirm=confirm)
    text(words, "undo", confirm=True)
    assert "already undone by change 3" in error(words, "undo", change=2)
    assert "deletes Van" in text(words, "undo", change=1)


@pytest.mark.promise("native.arguments.ids", "native.arguments.unknown")
def test_a_session_or_a_scope_in_place_of_a_memory_is_told_apart(words: Server) -> None:
    text(words, "remember", conversation=[{"role": "user", "text": "The key is under the mat."}], session="keys")
    text(words, "remember", text="The van is white.", scope="work/cars")
    for id in ("keys", "session/keys"):
        assert "undo(session='keys')" in error(words, "forget", ids=[id])
    assert "recall(scope='work/cars')" in error(words, "revise", id="work/cars", text="Red.")
    assert "`scope` session/NAME" in error(words, "recall", query="key", session="keys")


def _stamp(words: Server) -> str:
    """A time after all that was done so far: that of a deletion."""
    (id,) = ids(text(words, "remember", text="a stop watch"))
    text(words, "forget", ids=[id])
    return str(re.findall(r"\d{4}-\d\d-\d\dT\S+Z", error(words, "read", ids=[id]))[0])
