"""Reading through the native dialect: answers within a budget, in order, with dates, origins and reasons."""

from __future__ import annotations

import re

import pytest

from polymnia.engine.text.tokens import tokens
from stdio_client import Server

from .speaking import error, ids, text


def _shown(answer: str) -> list[str]:
    return re.findall(r"^\d+\. (\S+) \[", answer, re.MULTILINE)


@pytest.mark.promise("native.recall.answer")
def test_a_question_is_answered_by_meaning_with_date_origin_and_reason(meaning: Server) -> None:
    place = {"project": "question"}
    for one in ("Grandma cannot eat hazelnuts.", "The train to Basel leaves at noon.", "Tom painted the fence."):
        text(meaning, "remember", text=one, **place)
    answer = text(meaning, "recall", query="what food must we avoid when she visits?", **place)
    first = answer.split("\n2.")[0]
    assert "hazelnuts" in first
    assert re.search(r"\[\w+ · \d{4}-\d\d-\d\d · by [^·]+ · 0\.\d\d\]", first)
    assert "why: " in first


@pytest.mark.promise("native.recall.answer")
def test_a_short_query_is_looked_for_in_texts_and_names_and_not_in_ids(words: Server) -> None:
    said = [{"text": f"Shopping list of week {n}: milk, eggs, flour."} for n in range(30, 60) if n != 42]
    text(words, "remember", memories=[*said, {"text": "Bus 42 goes to the harbour."}], project="ids")
    assert len(_shown(text(words, "recall", query="42", project="ids"))) == 1
    answer = text(words, "recall", query="42", project="ids")
    (own,) = ids(answer)
    assert "Bus 42" in answer and own in text(words, "recall", query=own[:8], project="ids")


@pytest.mark.promise("native.recall.answer")
def test_a_memory_says_where_it_is_from(words: Server) -> None:
    text(words, "remember", text="The lease ends in May.", metadata={"source": "mail of 3 March"})
    text(words, "remember", text="The lease was signed by Ann.", session="moving")
    answer = text(words, "recall", query="lease")
    assert re.search(r"· from mail of 3 March · 0\.\d\d\]\nThe lease ends", answer)
    assert re.search(r"· from moving · 0\.\d\d\]\nThe lease was signed", answer)


@pytest.mark.promise("native.recall.once", "native.recall.turns")
def test_what_all_have_in_common_and_a_turn_that_was_found_itself_are_shown_once(words: Server) -> None:
    said = ("Is the ferry late?", "The ferry is late today.", "Then the ferry home is late too.")
    turns = [{"role": "Ann", "text": one} for one in said]
    text(words, "remember", conversation=turns, session="pier", extract=False)
    answer = text(words, "recall", query="ferry late")
    assert answer.splitlines()[0] == "All by contract tests 1 (native), in session/pier, unless said otherwise."
    assert answer.count("session/pier") == answer.count("by contract tests") == 1
    assert answer.count("The ferry is late today.") == 1
    assert re.search(r"  (before|after): see [123]$", answer, re.MULTILINE)
    text(words, "remember", text="The ferry is late on Mondays.")
    answer = text(words, "recall", query="ferry late")
    assert answer.count("session/pier") == 3


@pytest.mark.promise("native.recall.budget", "native.recall.cursor")
def test_pages_within_a_budget_hold_everything_once(words: Server) -> None:
    texts = [{"text": f"The harbour log of day {n} mentions a {'very ' * (n % 7)}large ship."} for n in range(60)]
    text(words, "remember", memories=texts)
    seen: list[str] = []
    cursor = None
    for _ in range(60):
        more = {} if cursor is None else {"cursor": cursor}
        answer = text(words, "recall", query="harbour ship", budget=400, **more)
        assert tokens(answer) <= 400
        seen += _shown(answer)
        found = re.search(r'cursor "([^"]+)"', answer)
        if found is None:
            assert "That is all that was found." in answer
            break
        cursor = found[1]
    assert len(seen) == len(set(seen)) == 60


def _pages(server: Server, **question: object) -> list[str]:
    """The answers to a question, page by page, up to the last one."""
    answers = [text(server, "recall", **question)]
    while found := re.search(r'cursor "([^"]+)"', answers[-1]):
        answers.append(text(server, "recall", **question, cursor=found[1]))
        assert len(answers) < 200
    return answers


@pytest.mark.promise("native.recall.cursor")
@pytest.mark.parametrize(("limit", "budget"), [(3, 2000), (20, 2000), (25, 8000), (None, 300), (None, 100)])
def test_every_match_comes_once_and_is_numbered_and_counted(meaning: Server, limit: int | None, budget: int) -> None:
    place = {"project": "customers"}
    cities = ("Seoul", "Lima", "Oslo")
    texts = [
        f"Customer {n} of {cities[n % 3]} ordered {n % 11} crates of {'very ' * (n % 5)}fresh fish." for n in range(90)
    ]
    text(meaning, "remember", memories=texts, **place)
    question = {
        "query": "customers from Seoul",
        "budget": budget,
        **({} if limit is None else {"limit": limit}),
        **place,
    }
    answers = _pages(meaning, **question)
    seen = [id for one in answers for id in _shown(one)]
    assert len(seen) == len(set(seen))
    numbers = [int(number) for one in answers for number in re.findall(r"^(\d+)\. ", one, re.MULTILINE)]
    assert numbers == list(range(1, len(seen) + 1))
    left = re.search(r"(\d+) more memor", answers[0])
    assert left is not None
    assert int(left[1]) + len(_shown(answers[0])) == len(seen)
    assert all(tokens(one) <= budget for one in answers)


@pytest.mark.promise("native.recall.cursor")
def test_pages_go_on_in_their_order_whatever_is_written_in_between(words: Server) -> None:
    text(words, "remember", memories=[f"The harbour log of day {n}." for n in range(9)])
    stored = _shown(text(words, "recall", query="harbour log"))
    first = text(words, "recall", query="harbour log", limit=3)
    text(words, "remember", text="The harbour log, harbour log, harbour log.")
    text(words, "forget", ids=[_shown(first)[0]])
    (gone,) = [one for one in stored if one not in _shown(first)][-1:]
    text(words, "forget", ids=[gone])
    (cursor,) = re.findall(r'cursor "([^"]+)"', first)
    rest = _shown(text(words, "recall", query="harbour log", cursor=cursor))
    assert sorted([*_shown(first), *rest, gone]) == sorted(stored)


@pytest.mark.promise("native.recall.budget")
@pytest.mark.parametrize("budget", [100, 150, 400])
def test_a_long_memory_keeps_to_a_small_budget(shared: Server, budget: int) -> None:
    place = {"project": "lorem"}
    text(shared, "remember", text="Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 80, **place)
    answer = text(shared, "recall", query="lorem ipsum", budget=budget, **place)
    assert tokens(answer) <= budget
    assert "Lorem" in answer
    assert "cut" in answer
    assert "budget" in error(shared, "recall", query="lorem", budget=50, **place)
    for limit in (0, -1):
        assert "limit" in error(shared, "recall", query="lorem", limit=limit, **place)


@pytest.mark.promise("native.recall.as_of")
def test_the_past_is_not_judged_by_the_present(meaning: Server) -> None:
    place = {"project": "office"}
    (id,) = ids(text(meaning, "remember", text="The office is in Berlin.", **place))
    (other,) = ids(text(meaning, "remember", text="a stop watch", **place))
    text(meaning, "forget", ids=[other], **place)
    stamp = re.findall(r"\d{4}-\d\d-\d\dT\S+Z", error(meaning, "read", ids=[other], **place))[0]
    text(meaning, "revise", id=id, text="Tulips bloom in April.", **place)
    answer = text(meaning, "recall", query="Where is the office?", as_of=stamp, **place)
    assert "The office is in Berlin." in answer
    assert "Nothing" not in answer


@pytest.mark.promise("native.recall.changed_since")
def test_changes_are_shown_as_they_were_and_counted(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="The office is in Berlin."))
    text(words, "revise", id=id, text="The office is in Munich.")
    answer = text(words, "recall", changed_since="today")
    assert re.search(r"stored .* The office is in Berlin\.", answer)
    assert '"The office is in Berlin." -> "The office is in Munich."' in answer
    short = text(words, "recall", changed_since="today", limit=1)
    assert "Berlin.\n" not in short
    assert "1 earlier change is left out" in short
    (cursor,) = re.findall(r'cursor "([^"]+)"', short)
    rest = text(words, "recall", changed_since="today", limit=1, cursor=cursor)
    assert "Munich" not in rest
    assert "cursor" not in rest
    assert "another question" in error(words, "recall", changed_since="today", kind="plan", cursor=cursor)
    for n in range(20):
        text(words, "remember", text=f"Note number {n} about the harbour and its many cranes.")
    small = text(words, "recall", changed_since="today", budget=150)
    assert "change" in small.splitlines()[0]
    assert tokens(small) <= 150


@pytest.mark.promise("native.recall.changed_since", "native.recall.filters")
def test_filters_hold_for_changes_as_well(words: Server) -> None:
    text(words, "remember", text="apple one", kind="fact", tags=["red"], scope="fruit/tree")
    (id,) = ids(text(words, "remember", text="apple two", kind="plan", scope="shop"))
    text(words, "forget", ids=[id])
    text(words, "remember", conversation=[{"role": "Zoe", "text": "apple three"}], session="s")
    text(words, "remember", relations=[{"from": "apple four", "to": "shop", "type": "sold_in"}])
    for arguments, expected in (
        ({"kind": "plan"}, {"two"}),
        ({"tags": ["red"]}, {"one"}),
        ({"scope": "fruit"}, {"one"}),
        ({"who": "zoe"}, {"three"}),
        ({"until": "2026-01-01"}, set()),
        ({"as_of": "2026-01-01"}, set()),
        ({}, {"one", "two", "three", "four"}),
    ):
        answer = text(words, "recall", changed_since="2025-01-01", **arguments)
        assert set(re.findall(r"apple (one|two|three|four)", answer)) == expected, arguments
    assert "Nothing that passes the filters has changed" in text(words, "recall", changed_since="today", who="nobody")
    assert "deleted" in text(words, "recall", changed_since="today", kind="plan")


@pytest.mark.promise("native.recall.as_of", "native.recall.filters", "native.recall.superseded")
def test_filters_and_marks_of_the_past_are_those_of_then(words: Server) -> None:
    (old,) = ids(text(words, "remember", text="Tickets cost ten, tickets, tickets.", kind="fact"))
    (new,) = ids(text(words, "remember", text="Tickets cost twelve.", kind="fact", supersedes=old))
    text(words, "remember", conversation=[{"role": "Zoe", "text": "Tickets?"}], extract=False)
    (gone,) = _shown(text(words, "recall", who="zoe"))
    stamp = _now(words)
    text(words, "revise", id=new, kind="plan")
    text(words, "forget", ids=[gone])
    then = text(words, "recall", query="tickets", kind="fact", as_of=stamp)
    assert _shown(then) == [new, old]
    assert "superseded by" in then
    assert _shown(text(words, "recall", query="tickets", who="zoe", as_of=stamp)) == [gone]
    assert gone not in text(words, "recall", query="tickets", until="2026-01-01", as_of=stamp)


@pytest.mark.promise("native.recall.as_of", "native.recall.cursor")
def test_all_that_matched_at_a_time_can_be_read_page_by_page(words: Server) -> None:
    text(words, "remember", memories=[f"The harbour log of day {n}." for n in range(90)])
    question = {"query": "harbour log", "as_of": _now(words), "budget": 8000}
    text(words, "remember", text="Later than that.")
    answers = _pages(words, **question)
    seen = [id for one in answers for id in _shown(one)]
    assert len(seen) == len(set(seen)) == 90
    assert "That is all that was found." in answers[-1]


@pytest.mark.promise("native.read.missing")
def test_of_several_ids_those_that_are_there_are_shown(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Tom drives a Volvo."))
    answer = text(words, "read", ids=[id, "no such thing"])
    assert "Tom drives a Volvo." in answer
    assert "not found: 'no such thing'" in answer
    refused = error(words, "revise", id="Tom's Volvo", text="Tom drives a Saab.")
    assert f"Did you mean {id}" in refused


@pytest.mark.promise("native.read.cursor")
def test_lines_can_be_limited(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Log", "observations": [f"line {n}" for n in range(5)]}])
    first = text(words, "read", ids=["Log"], limit=3)
    assert re.findall(r"^line \d$", first, re.MULTILINE) == ["line 0", "line 1"]
    (cursor,) = re.findall(r'cursor "([^"]+)"', first)
    rest = text(words, "read", ids=["Log"], limit=3, cursor=cursor)
    assert re.findall(r"^line \d$", rest, re.MULTILINE) == ["line 2", "line 3", "line 4"]


@pytest.mark.promise("native.recall.nothing")
def test_where_nothing_fits_only_the_nearest_are_shown(meaning: Server) -> None:
    place = {"project": "nearest"}
    text(meaning, "remember", memories=[f"The garage door number {n} is jammed." for n in range(12)], **place)
    answer = text(meaning, "recall", query="capital city of Mongolia", **place)
    assert "Nothing" in answer.splitlines()[0]
    assert len(_shown(answer)) <= 3
    assert "That is all that was found" not in answer


@pytest.mark.promise("native.read.cursor")
def test_a_text_of_any_length_is_read_to_its_end(words: Server) -> None:
    body = " ".join(f"word{n}" for n in range(3000))
    (id,) = ids(text(words, "remember", text=body))
    said, cursor = [], {}
    while True:
        answer = text(words, "read", ids=[id], budget=2000, **cursor)
        assert tokens(answer) <= 2000
        said += re.findall(r"word\d+", answer)
        found = re.search(r'cursor "([^"]+)"', answer)
        if found is None:
            break
        cursor = {"cursor": found[1]}
    assert said == body.split()
    assert "another call" in error(words, "read", ids=["/"], **cursor)
    assert "nextCursor" not in error(words, "read", ids=[id], cursor="abc")


@pytest.mark.promise("native.read.cursor", "native.read.missing")
def test_many_ids_are_read_to_their_end_and_each_is_shown_once(words: Server) -> None:
    text(
        words, "remember", entities=[{"name": f"Box {n}", "observations": [f"shelf {n}", "x " * 90]} for n in range(9)]
    )
    wanted = [name for n in range(9) for name in (f"Box {n}", f"nobody {n}")]
    answer = text(words, "read", ids=wanted, budget=300)
    assert re.search(r" and 1\d ids are left: cursor", answer)
    said = [answer]
    while (found := re.search(r'cursor "([^"]+)"', said[-1])) is not None:
        said.append(text(words, "read", ids=wanted, budget=300, cursor=found[1]))
        assert tokens(said[-1]) <= 300
    assert re.findall(r"^shelf (\d)", "\n".join(said), re.MULTILINE) == list("012345678")
    assert re.findall(r"'nobody (\d)'", "\n".join(said)) == list("012345678")


@pytest.mark.promise("native.read.missing", "native.remember.loose")
def test_a_name_that_only_relations_have_is_explained(words: Server) -> None:
    text(words, "remember", relations=[{"from": "Ada", "to": "Ben", "type": "knows"}])
    assert "Ada -knows-> Ben" in text(words, "read", ids=["Ada"])
    assert "as `relations`" in error(words, "forget", ids=["Ada"])


@pytest.mark.promise("native.arguments.ids")
def test_the_beginning_of_an_id_is_long_enough_in_any_case(words: Server) -> None:
    known = ids(text(words, "remember", memories=[f"Known by its id {n}." for n in range(9)]))
    id = next(one for one in known if any(letter.isdigit() for letter in one[:4]))  # "face" may be a word
    assert "Known by its id" in text(words, "read", ids=[id.upper()])
    assert "at least 8 characters" in error(words, "read", ids=[id[:4]])


@pytest.mark.promise("native.recall.budget")
def test_the_default_budget_holds_whatever_is_stored(words: Server) -> None:
    long = "Minutes of the harbour board. " + " ".join(f"Item {n}: the crane was moved." for n in range(2000))
    text(words, "remember", memories=[{"text": f"{n} {long}"} for n in range(5)])
    assert tokens(text(words, "recall", query="harbour crane")) <= 2000
    assert tokens(text(words, "brief")) <= 800
    assert tokens(text(words, "recall", changed_since="2026-01-01")) <= 2000
    assert tokens(text(words, "read", ids=[ids(text(words, "recall", query="harbour"))[0]])) <= 8000


@pytest.mark.promise("native.recall.budget", "native.answers.budget")
def test_a_budget_holds_where_some_lines_have_accents(words: Server) -> None:
    plain = ["Considerable observations containing extraordinarily complicated terminology."] * 5
    texts = [*(f"{n} {one}" for n, one in enumerate(plain * 6)), "Die größte Ölkanne steht in München. " * 300]
    text(
        words, "remember", entities=[{"name": "Considerable" * 12, "kind": "organisation" * 10, "observations": texts}]
    )
    for budget in (300, 500, 1000):
        assert tokens(text(words, "read", ids=["Considerable" * 12], budget=budget)) <= budget
    notes = [f"{n} {plain[0]}{' größte' if n % 9 == 0 else ''}" for n in range(300)]
    assert tokens(text(words, "remember", memories=notes)) <= 2_000


@pytest.mark.promise("native.recall.long")
def test_of_a_long_memory_the_best_passage_is_shown(words: Server) -> None:
    filler = " ".join(f"Paragraph {n} is about nothing in particular." for n in range(800))
    (id,) = ids(text(words, "remember", text=f"{filler} The safe code is 4711. {filler}"))
    answer = text(words, "recall", query="safe code", budget=300)
    assert "The safe code is 4711." in answer
    assert "read by its id shows it whole" in answer
    assert "4711" in text(words, "read", ids=[id], budget=20_000)


@pytest.mark.promise("native.recall.filters")
def test_every_filter_leaves_out_what_does_not_pass(words: Server) -> None:
    text(words, "remember", text="apple one", kind="fact", tags=["red"], scope="fruit/tree")
    text(words, "remember", text="apple two", kind="plan", tags=["green"], scope="shop")
    turns = [{"role": "Zoe", "text": "apple three", "at": "2025-03-04T00:00:00Z"}]
    text(words, "remember", conversation=turns, session="s")
    for arguments, expected in (
        ({"kind": "plan"}, {"two"}),
        ({"tags": ["red"]}, {"one"}),
        ({"scope": "fruit"}, {"one"}),
        ({"who": "zoe"}, {"three"}),
        ({"since": "2025-03-01", "until": "2025-03"}, {"three"}),
        ({"since": "2026-01-01"}, {"one", "two"}),
        ({}, {"one", "two", "three"}),
    ):
        answer = text(words, "recall", query="apple", **arguments)
        assert set(re.findall(r"apple (one|two|three)", answer)) == expected, arguments


@pytest.mark.promise("native.recall.nothing")
def test_nothing_is_said_plainly(meaning: Server) -> None:
    assert "There are no memories in the project 'void' yet" in text(meaning, "recall", query="x", project="void")
    text(meaning, "remember", text="The garage door is jammed.", scope="home/garage", project="some")
    assert "did you mean 'home/garage'" in text(meaning, "recall", query="door", scope="home/garag", project="some")
    answer = text(meaning, "recall", query="capital city of Mongolia", project="some")
    assert "Nothing" in answer.splitlines()[0]


@pytest.mark.promise("native.recall.newest")
def test_without_a_query_the_newest_come_first(words: Server) -> None:
    for n in range(3):
        text(words, "remember", text=f"entry number {n}", kind="log")
    answer = text(words, "recall", kind="log")
    assert re.findall(r"^entry number (\d)", answer, re.MULTILINE) == ["2", "1", "0"]


@pytest.mark.promise("native.recall.as_of")
def test_the_past_is_searched_with_what_was_deleted_and_changed_since(words: Server) -> None:
    (kept,) = ids(text(words, "remember", text="The boiler was serviced."))
    (gone,) = ids(text(words, "remember", text="The boiler makes a noise."))
    (other,) = ids(text(words, "remember", text="The boiler is red."))
    changes = text(words, "recall", changed_since="2026-01-01")
    assert all(f"stored {id}" in changes for id in (kept, gone, other))
    stamp = _now(words)
    text(words, "forget", ids=[gone])
    text(words, "revise", id=other, text="The furnace is red.")
    now = text(words, "recall", query="boiler")
    assert gone not in now
    assert "boiler is red" not in now
    then = text(words, "recall", query="boiler", as_of=stamp)
    assert {kept, gone, other} <= set(_shown(then))
    assert "The boiler is red." in then
    assert "The boiler makes a noise." in text(words, "read", ids=[gone], as_of=stamp)


@pytest.mark.promise("native.recall.as_of", "native.recall.superseded", "native.recall.relations")
def test_marks_relations_and_turns_of_the_past_are_those_of_then(words: Server) -> None:
    (old,) = ids(text(words, "remember", text="Tickets cost ten."))
    (new,) = ids(text(words, "remember", text="Tickets cost twelve."))
    ends = {"from": "Kim", "to": "Booth", "type": "runs"}
    text(words, "remember", entities=[{"name": "Kim", "observations": ["Sells tickets"]}], relations=[ends])
    text(words, "remember", conversation=[{"role": "Zoe", "text": "Tickets?"}], session="s1", extract=False)
    before = _now(words)
    text(words, "revise", id=old, superseded_by=new)
    marked = _now(words)
    text(words, "forget", ids=[new], relations=[ends])
    text(words, "remember", relations=[{"from": "Kim", "to": "Shop", "type": "owns"}])
    text(words, "remember", conversation=[{"role": "Al", "text": "None left."}], session="s1", extract=False)
    assert "superseded" not in text(words, "recall", query="tickets", as_of=before)
    assert f"superseded by {new}" in text(words, "recall", query="tickets", as_of=marked)  # though it is deleted by now
    then = text(words, "recall", query="What does Kim do with tickets?", as_of=marked)
    assert "Kim -runs-> Booth" in then
    assert "Shop" not in then
    assert "None left." not in then
    assert "Kim -runs-> Booth" in text(words, "recall", query="Booth", as_of=marked)
    assert f"Superseded by {new}" in text(words, "read", ids=[old], as_of=marked)
    assert "Superseded" not in text(words, "read", ids=[old], as_of=before)


@pytest.mark.promise("native.recall.as_of", "native.recall.conflicts")
def test_conflicts_of_the_past_are_those_of_then(meaning: Server) -> None:
    place = {"project": "conflicts then"}

    def now() -> str:
        (id,) = ids(text(meaning, "remember", text="a stop watch", **place))
        text(meaning, "forget", ids=[id], **place)
        return str(re.findall(r"\d{4}-\d\d-\d\dT\S+Z", error(meaning, "read", ids=[id], **place))[0])

    text(meaning, "remember", text="The kitchen is painted green.", **place)
    alone = now()
    (new,) = ids(text(meaning, "remember", text="The kitchen is not painted green.", **place))
    both = now()
    text(meaning, "forget", ids=[new], **place)
    question = {"query": "Which colour has the kitchen?", **place}
    assert "conflicts" not in text(meaning, "recall", **question)
    assert f"conflicts with {new} (newer)" in text(meaning, "recall", as_of=both, **question)
    text(meaning, "undo", confirm=True, **place)
    assert f"conflicts with {new} (newer)" in text(meaning, "recall", **question)
    assert "conflicts" not in text(meaning, "recall", as_of=alone, **question)


@pytest.mark.promise("native.read.as_of", "native.read.scopes")
def test_sessions_scopes_and_relations_are_read_as_they_were(words: Server) -> None:
    ends = {"from": "Kim", "to": "Team", "type": "leads"}
    text(words, "remember", relations=[ends])
    text(words, "remember", conversation=[{"role": "A", "text": "Good morning"}], session="s1", extract=False)
    text(words, "remember", text="in work", scope="work/api")
    before = _now(words)
    text(words, "forget", relations=[ends])
    text(words, "remember", conversation=[{"role": "B", "text": "Good evening"}], session="s1", extract=False)
    text(words, "remember", text="in work, too", scope="work/web")
    text(words, "remember", text="at home", scope="home")
    turns = text(words, "read", ids=["s1"], as_of=before)
    assert "1 turn:" in turns
    assert "Good evening" not in turns
    assert "work (1)\n  api (1)" in text(words, "read", ids=["work"], as_of=before)
    everything = text(words, "read", ids=["/"], as_of=before)
    assert "home" not in everything
    assert "session (1)" in everything
    assert "Kim -leads-> Team" in text(words, "read", ids=["Kim"], as_of=before)
    assert "not found" in error(words, "read", ids=["Kim"])
    assert "It is there now" in error(words, "read", ids=["home"], as_of=before)
    assert "no memories" in text(words, "read", ids=["/"], as_of="2020-01-01")


@pytest.mark.promise("native.recall.changed_since", "native.recall.budget")
@pytest.mark.parametrize("budget", [100, 130, 200])
def test_all_that_changed_is_found_by_the_cursors_of_a_small_budget(words: Server, budget: int) -> None:
    stored = set(ids(text(words, "remember", memories=[f"기억 번호 {n} 항구" for n in range(12)])))
    stored |= set(ids(text(words, "remember", text="A long line about the harbour and its cranes. " * 50)))
    text(words, "remember", relations=[{"from": f"Crane {n}", "to": "Harbour", "type": "stands in"} for n in range(9)])
    cursors: list[str | None] = [None]
    answers: dict[str | None, str] = {}
    while cursors:
        if (cursor := cursors.pop()) not in answers:
            more = {} if cursor is None else {"cursor": cursor}
            answers[cursor] = text(words, "recall", changed_since="2026-01-01", budget=budget, **more)
            assert tokens(answers[cursor]) <= budget
            cursors += re.findall(r'cursor "([^"]+)"', answers[cursor])
    found = "\n".join(answers.values())
    assert set(re.findall(r"stored ([a-f][0-9a-f]{7}-[0-9a-f]{4})", found)) == stored
    assert "Crane 0 -stands in-> Harbour" in found


@pytest.mark.promise("native.recall.nothing", "native.recall.filters")
def test_relations_do_not_stand_for_what_a_filter_leaves_out(words: Server) -> None:
    text(words, "remember", relations=[{"from": "Lee", "to": "Tea", "type": "likes"}])
    for tool in ("brief", "recall"):
        assert "only 1 relation" in text(words, tool)
    text(words, "remember", entities=[{"name": "Lee", "kind": "person", "scope": "work"}])
    assert "No memory passes the filters" in text(words, "recall", query="Lee", kind="plan")
    assert "did you mean 'work'" in text(words, "recall", query="Lee", scope="wrok")
    assert "Lee -likes-> Tea" in text(words, "recall", query="Tea")


@pytest.mark.promise("native.recall.as_of")
def test_what_was_deleted_is_not_of_a_time_at_which_another_had_its_name(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Kim", "observations": ["tall like the crane"]}])
    text(words, "forget", ids=["Kim"])
    text(words, "remember", entities=[{"name": "Kim", "observations": ["short like the crane"]}])
    stamp = _now(words)
    text(words, "forget", ids=["Kim"])
    text(words, "undo", change=2, confirm=True)  # the first one is there again
    then = text(words, "recall", query="crane", as_of=stamp)
    assert "short like the crane" in then
    assert "tall" not in then
    assert "tall" in text(words, "recall", query="crane")


def _now(words: Server) -> str:
    """A time after all that was done so far: that of a deletion."""
    (id,) = ids(text(words, "remember", text="a stop watch"))
    text(words, "forget", ids=[id])
    return str(re.findall(r"\d{4}-\d\d-\d\dT\S+Z", error(words, "read", ids=[id]))[0])


@pytest.mark.promise("native.recall.changed_since")
def test_what_changed_since_a_time_is_listed(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Bins go out on Monday."))
    text(words, "revise", id=id, text="Bins go out on Tuesday.")
    text(words, "forget", ids=[id])
    answer = text(words, "recall", changed_since="today")
    assert re.search(rf"deleted {id}.*\n(.*\n)*.*changed {id}.*\n(.*\n)*.*stored {id}", answer)
    assert "Nothing has changed since" in text(words, "recall", changed_since="2031-01-01")


@pytest.mark.promise("native.read.whole")
def test_relations_are_followed_up_to_the_depth(words: Server) -> None:
    text(
        words,
        "remember",
        entities=[{"name": one, "kind": "person", "observations": [f"fact of {one}"]} for one in ("Ada", "Ben", "Cy")],
        relations=[{"from": "Ada", "to": "Ben", "type": "knows"}, {"from": "Ben", "to": "Cy", "type": "knows"}],
    )
    near = text(words, "read", ids=["Ada"])
    assert "Ada -knows-> Ben" in near
    assert "fact of Ben" in near
    assert "fact of Cy" not in near
    assert "fact of Cy" in text(words, "read", ids=["Ada"], depth=2)
    assert "knows" not in text(words, "read", ids=["Ada"], depth=0)


@pytest.mark.promise("native.read.history", "native.read.as_of")
def test_history_names_every_change(words: Server) -> None:
    (id,) = ids(text(words, "remember", text="Version one."))
    stamp = _now(words)
    text(words, "revise", id=id, text="Version two.")
    answer = text(words, "read", ids=[id], history=True)
    assert "+ 'Version one.'" in answer
    assert "- 'Version one.'" in answer
    assert "Version one." in text(words, "read", ids=[id], as_of=stamp)


@pytest.mark.promise("native.read.scopes")
def test_a_path_shows_its_tree(words: Server) -> None:
    for scope in ("work/api/auth", "work/web", "home"):
        text(words, "remember", text=f"in {scope}", scope=scope)
    assert text(words, "read", ids=["work"]).splitlines()[1:] == ["work (2)", "  api (1)", "    auth (1)", "  web (1)"]
    assert "home (1)" in text(words, "read", ids=["/"])


@pytest.mark.promise("native.read.scopes")
def test_of_a_very_large_tree_the_upper_levels_are_shown(words: Server) -> None:
    text(words, "remember", memories=[{"text": f"n {n}", "scope": f"team{n % 5}/part{n}"} for n in range(600)])
    whole = text(words, "read", ids=["/"])
    assert "600 scopes are further below; read the path above them." in whole
    assert [f"team{n} (120)" in whole for n in range(5)] == [True] * 5
    assert "part7 (1)" in text(words, "read", ids=["team2"])
    assert "team4 (120)" in text(words, "brief")


@pytest.mark.promise("native.read.missing")
def test_a_missing_name_is_refused_with_the_way_on(words: Server) -> None:
    text(words, "remember", entities=[{"name": "Margaret", "kind": "person"}])
    assert "Did you mean 'Margaret'?" in error(words, "read", ids=["Margret"])
    text(words, "forget", ids=["Margaret"])
    said = error(words, "read", ids=["Margaret"])
    (before,) = re.findall(r"as_of '(.+?)'", said)
    assert "person" in text(words, "read", ids=["Margaret"], as_of=before)
    number = re.findall(r"undo\(change=(\d+)\)", said)[0]
    text(words, "undo", change=int(number), confirm=True)
    assert "person" in text(words, "read", ids=["Margaret"])


@pytest.mark.promise("native.recall.cursor")
def test_a_cursor_is_of_its_own_question(words: Server) -> None:
    text(words, "remember", memories=[f"The tree {n} stands." for n in range(4)])
    (cursor,) = re.findall(r'cursor "([^"]+)"', text(words, "recall", query="tree", limit=2))
    assert "3. " in text(words, "recall", query="tree", cursor=cursor, limit=5)
    assert "another question" in error(words, "recall", query="stands", cursor=cursor)


@pytest.mark.promise("native.recall.filters")
def test_filters_are_read_as_answers_show_them(words: Server) -> None:
    text(words, "remember", text="Prefers tea.", kind="Preference", tags=["#drinks"])
    assert "#drinks" in text(words, "recall", tags=["#drinks"], kind="PREFERENCE")
    assert "Prefers tea" in text(words, "recall", tags=["drinks"], kind="preference")
    assert "since" in error(words, "recall", query="tea", since="2026-02-01", until="2026-01-01")


@pytest.mark.promise("native.recall.relations")
def test_entities_are_shown_with_their_relations_and_names_that_only_relations_know_are_found(words: Server) -> None:
    entities = [{"name": "Ben", "kind": "person", "observations": ["Plays tennis"]}]
    pairs = [("Ben", "Carla", "is married to"), ("Ben", "Acme", "works at"), ("Oleg", "Tannhof Coffee", "supplies")]
    pairs += [("Ben", f"club {n}", "member of") for n in range(12)]
    text(words, "remember", entities=entities, relations=[{"from": a, "to": b, "type": c} for a, b, c in pairs])
    answer = text(words, "recall", query="Who is Ben married to?")
    assert answer.index("Ben -is married to-> Carla") < answer.index("Ben -member of->")
    assert "more relations; read shows them" in answer
    assert "Ben -works at-> Acme" in text(words, "recall", query="Acme")
    assert "Oleg -supplies-> Tannhof Coffee" in text(words, "recall", query="What about Tannhof Coffee?")


@pytest.mark.promise("native.recall.changed_since")
def test_all_that_a_large_change_did_can_be_read(words: Server) -> None:
    text(words, "remember", text="Before.")
    text(words, "remember", memories=[f"Train {at} leaves." for at in range(40)])
    seen: list[str] = []
    answer = text(words, "recall", changed_since="today", budget=400)
    while more := re.search(r'more memories: cursor "([^"]+)"', answer):
        assert tokens(answer) <= 400
        seen += re.findall(r"Train (\d+) leaves", answer)
        answer = text(words, "recall", changed_since="today", budget=400, cursor=more[1])
    seen += re.findall(r"Train (\d+) leaves", answer)
    assert seen == [str(at) for at in range(40)]
    assert "Before." in answer


@pytest.mark.promise("native.recall.superseded", "native.recall.budget")
def test_a_superseded_memory_is_marked_where_there_is_hardly_room(words: Server) -> None:
    old, new = (f"The budget of Phoenix is {sum} euros for the whole of the year, as agreed." for sum in (120, 95))
    text(words, "remember", text=old)
    text(words, "remember", text=new, supersedes=old)
    answer = text(words, "recall", query="budget of Phoenix", budget=100)
    assert "superseded" not in answer
    cursor = re.findall(r'cursor "([^"]+)"', answer)[0]
    answer = text(words, "recall", query="budget of Phoenix", budget=100, cursor=cursor)
    assert "· superseded]" in answer
    assert tokens(answer) <= 100


@pytest.mark.promise("native.recall.conflicts")
def test_a_known_conflict_is_marked_until_it_is_settled(meaning: Server) -> None:
    place = {"project": "marked"}
    (old,) = ids(text(meaning, "remember", text="Grandma is allergic to hazelnuts.", **place))
    (new,) = ids(text(meaning, "remember", text="Grandma can eat hazelnuts without any trouble.", **place))
    answer = text(meaning, "recall", query="hazelnuts", **place)
    assert f"conflicts with {old} (older)" in answer
    assert f"conflicts with {new} (newer)" in answer
    text(meaning, "revise", id=old, superseded_by=new, **place)
    assert "conflicts with" not in text(meaning, "recall", query="hazelnuts", **place)


@pytest.mark.promise("native.recall.cursor")
def test_an_answer_names_what_would_let_more_of_them_in(words: Server) -> None:
    text(words, "remember", memories=[f"The pump {n} hums." for n in range(30)])
    assert text(words, "recall", query="pump", budget=8_000).endswith("or a larger limit.")
    assert text(words, "recall", query="pump", budget=200).endswith("or a larger budget.")
    assert text(words, "recall", query="pump", budget=200, limit=30).endswith("or a larger budget.")
    assert "larger" not in text(words, "recall", query="pump", limit=3).splitlines()[-1]
    assert text(words, "recall", query="pump", budget=8_000, limit=30).endswith("That is all that was found.")


@pytest.mark.promise("native.recall.nothing")
def test_an_emptied_project_is_not_taken_for_a_new_one(words: Server) -> None:
    assert "yet" in text(words, "brief")
    (id,) = ids(text(words, "remember", text="The bike is in the shed."))
    text(words, "forget", ids=[id])
    for tool, arguments in (("recall", {"query": "bike"}), ("brief", {}), ("read", {"ids": ["/"]})):
        assert "any more" in text(words, tool, **arguments)
    assert "bike" in text(words, "recall", changed_since="1 hour ago")


@pytest.mark.promise("native.recall.changed_since")
def test_a_question_among_changes_that_has_no_answer_names_the_way_to_all_changes(words: Server) -> None:
    text(words, "remember", text="The bike is in the shed.")
    answer = text(words, "recall", query="car", changed_since="1 hour ago", kind="plan")
    assert "changed_since without a query lists all changes" in answer


@pytest.mark.promise("native.recall.superseded", "native.brief.sections")
def test_what_superseded_a_memory_does_so_no_more_when_it_is_gone(words: Server) -> None:
    (old,) = ids(text(words, "remember", text="The gate code is 11.", kind="fact"))
    (new, *_) = ids(text(words, "remember", text="The gate code is 22.", kind="fact", supersedes=old))
    assert "The gate code is 11." not in text(words, "brief")
    text(words, "forget", ids=[new])
    for shown in (text(words, "brief"), text(words, "recall", query="gate code")):
        assert "The gate code is 11." in shown
        assert "superseded" not in shown
    text(words, "undo", confirm=True)
    assert "The gate code is 11." not in text(words, "brief")


@pytest.mark.promise("native.recall.conflicts")
def test_of_two_memories_of_one_change_neither_is_shown_as_the_older(meaning: Server) -> None:
    both = ["The kitchen is painted green.", "The kitchen is not painted green."]
    text(meaning, "remember", memories=both, project="twins")
    answer = text(meaning, "recall", query="kitchen", project="twins")
    assert answer.count("conflicts with") == 2
    assert "(older)" not in answer
    assert "(newer)" not in answer
