"""Adding memories and moving them."""

from __future__ import annotations

import pytest

from .desk import UNLIKE, Desk


def test_a_text_is_stored_with_all_that_is_said_of_it(desk: Desk) -> None:
    told = desk.run(
        "add", "We use JWT", "--scope", "work/api", "--category", "decision", "--tag", "auth", "--tag", "api",
        "--meta", "team=blue", "--meta", "level=3", "--meta", 'code="3"', "--json",
    )  # fmt: skip
    assert told.code == 0
    value = told.value
    assert (value["text"], value["scope"], value["category"]) == ("We use JWT", "work/api", "decision")
    assert value["tags"] == ["auth", "api"]
    assert value["metadata"] == {"team": "blue", "level": 3, "code": "3"}
    assert value["duplicate"] is False
    shown = desk.run("show", value["id"], "--json").value
    assert shown["observations"] == ["We use JWT"]
    assert {key: shown[key] for key in ("scope", "category", "tags", "metadata")} == {
        key: value[key] for key in ("scope", "category", "tags", "metadata")
    }


def test_adding_tells_the_id_and_the_scope(desk: Desk) -> None:
    told = desk.run("add", "We use JWT")
    (line,) = told.lines
    (row,) = desk.run("list").lines
    assert line == f"Stored as {row.split()[0]} in user/default."


def test_what_the_scope_has_already_is_told_and_not_stored(desk: Desk) -> None:
    first = desk.add("We use JWT tokens", "--scope", "work")
    told = desk.run("add", "we use JWT tokens.", "--scope", "work")
    assert told.code == 0
    assert f"Not stored: {first} in work says the same" in told.out
    assert "We use JWT tokens" in told.out
    again = desk.run("add", "we use JWT tokens.", "--scope", "work", "--json").value
    assert (again["id"], again["duplicate"]) == (first, True)
    assert len(desk.run("list").lines) == 1
    assert desk.add("we use JWT tokens.", "--scope", "work", "--allow-duplicates") != first
    assert desk.add("we use JWT tokens.", "--scope", "home") != first


def test_a_text_is_read_from_stdin_without_its_last_line_break(desk: Desk) -> None:
    desk.run("add", "-", stdin="결제는 매달 1일\n둘째 줄\n".encode())
    assert desk.run("list", "--json").value["memories"][0]["observations"] == ["결제는 매달 1일\n둘째 줄"]


def test_stdin_that_is_no_utf8_is_refused(desk: Desk) -> None:
    told = desk.run("add", "-", stdin=b"caf\xe9\n")
    assert told.code == 1
    assert "UTF-8" in told.err


@pytest.mark.parametrize("words", [["add", "  "], ["add", "x", "--scope", "a//b"], ["add", "x", "--meta", "team"]])
def test_what_cannot_be_kept_is_refused_with_advice(desk: Desk, words: list[str]) -> None:
    told = desk.run(*words)
    assert told.code == 1
    assert told.out == ""
    assert told.err.startswith("polymnia: ")
    assert len(told.err.splitlines()) == 2


@pytest.mark.parametrize("threshold", ["2", "-1", "much", "nan"])
def test_a_threshold_is_a_number_from_0_to_1(desk: Desk, threshold: str) -> None:
    told = desk.run("add", "x", "--threshold", threshold)
    assert told.code == 2
    assert "from 0 to 1" in told.err or "expected one argument" in told.err


def test_a_new_memory_is_linked_to_its_like_unless_that_is_not_wanted(desk: Desk) -> None:
    for text in UNLIKE:
        desk.add(text)
    first = desk.add("The payment gateway retries failed charges after 5 minutes", "--tag", "payment")
    told = desk.run("add", "The payment gateway retries failed charges after 9 minutes", "--tag", "payment")
    assert "Linked to 1 memory:" in told.out
    assert first in told.out
    alone = desk.run("add", "The payment gateway retries failed charges at night", "--no-associate", "--json").value
    assert alone["associations"] == []


def test_a_text_is_filed_where_its_like_are(desk: Desk) -> None:
    for text in UNLIKE:
        desk.add(text, "--scope", "misc")
    for day in ("Mondays", "Tuesdays", "Fridays"):
        desk.add(f"Deploy the api on {day}", "--scope", "work/api")
    told = desk.run("add", "Deploy the api on Sundays", "--suggest")
    assert "work/api" in told.lines[0]
    assert "in work/api." in told.out
    value = desk.run("add", "Deploy the api on Thursdays", "--suggest", "--json").value
    assert value["scope"] == value["suggestion"]["scope"] == "work/api"


def test_a_text_that_is_like_nothing_is_filed_where_the_person_says(desk: Desk) -> None:
    desk.add("Deploy the api on Mondays", "--scope", "work/api")
    value = desk.run("add", "Snow is white", "--suggest", "--scope", "misc", "--json").value
    assert value["scope"] == "misc"
    assert value["suggestion"]["abstained"] is True
    assert "(not sure)" in desk.run("add", "Grass is green", "--suggest", "--scope", "misc").out


def test_memories_move_and_each_that_cannot_is_told(desk: Desk) -> None:
    a, b = desk.add("Ann likes tea"), desk.add("Bob plays chess", "--scope", "old")
    told = desk.run("move", a, "nobody", b, "--to", "people/friends")
    assert told.code == 1
    assert "Moved 2 memories to people/friends." in told.out
    assert "nobody" in told.err
    assert {row.split("\t")[1] for row in desk.run("list").lines} == {"people/friends"}
    value = desk.run("move", a, "nobody", "--to", "home", "--json")
    assert value.code == 1
    assert value.value["moved"] == [{"id": a, "from": "people/friends", "to": "home"}]
    assert [one["id"] for one in value.value["failed"]] == ["nobody"]


def test_a_scope_is_renamed_with_everything_below_it_and_back_again(desk: Desk) -> None:
    desk.add("Ann likes tea", "--scope", "work")
    desk.add("Bob plays chess", "--scope", "work/api/cache")
    desk.add("Eve sings", "--scope", "workshop")
    assert desk.run("move", "--scope", "work", "--to", "job/old").code == 0
    assert [row.split("\t")[1] for row in desk.run("list").lines] == ["workshop", "job/old/api/cache", "job/old"]
    assert desk.run("undo").code == 0
    assert [row.split("\t")[1] for row in desk.run("list").lines] == ["workshop", "work/api/cache", "work"]


def test_moving_needs_ids_or_a_scope_and_not_both(desk: Desk) -> None:
    a = desk.add("Ann likes tea")
    for words in (["move", "--to", "x"], ["move", a, "--scope", "user", "--to", "x"]):
        told = desk.run(*words)
        assert told.code == 1
        assert "either ids or --scope" in told.err
    assert desk.run("move", a).code == 2
    assert desk.run("move", "--scope", "nowhere", "--to", "x").code == 1
