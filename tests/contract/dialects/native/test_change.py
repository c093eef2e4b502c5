"""Changing through the native dialect: revise, forget, undo; nothing is lost unless it is confirmed to be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    assert "Deleted for good: 1." in text(words, "forget", ids=[id], for_good=True, confirm=True)
    assert "no memories" in text(words, "recall", query="Xylophone")
    words.close()
    assert not any(b"Xylophone" in path.read_bytes() for path in Path(place.folder).glob("memory.db*"))


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
