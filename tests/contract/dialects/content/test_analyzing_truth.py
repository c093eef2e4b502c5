"""Every statement of an analysis is so: quotes stand in the store, counts can be recounted, ids and users exist."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from polymnia.engine.text.calendar import moment
from polymnia.models import EntityDraft
from stdio_client import Place, Server

from .analyzing import DAY, analyze, analyze_all, diary, ids_in
from .speaking import get, stored

PROJECT = "truth"
SEA = ["harbour", "ship", "anchor", "captain", "sailor", "wave", "tide", "mast", "crew", "deck", "pilot", "storm"]
BREAD = ["flour", "oven", "dough", "yeast", "crust", "baker", "rye", "wheat", "loaf", "salt", "butter", "sour"]
NOTES = (
    "# Pumps\n\nThe pump house is described in [[Manual of the pumps]].\n\nTODO: say who pays.",
    "Who owns the key of the windmill cellar?",
    "The gateway timeout is 30 seconds.  It was measured\nin May by the team of the harbour.",
    "The gateway timeout is 10 seconds.",
    "The northern lighthouse was rebuilt after the storm with a taller tower of white stone.",
    "The northern lighthouse was rebuilt after the storm with a taller tower of white stone.",
    "## Plan\n\n- Ship the loaf on Monday\n- **Never** ship the loaf on Monday\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "빵집은 월요일에 문을 닫는다.  반죽은 밤새\n발효한다.",
    "빵집은 월요일에 문을 연다.",
    "See ADR-1 and ADR-7. They say that the harbor is closed, teh harbour is open.",
)
QUOTED = {"sentence", "question", "line", "quote", "text"}


class Truth(NamedTuple):
    """What the store holds: texts, names and tags of each memory by its id; changes and reads by user."""

    texts: dict[str, str]
    known: str
    changes: Counter[str]
    readings: Counter[str]
    opened: Counter[str]
    found: Counter[str]
    answers: list[dict[str, Any]]


@pytest.fixture(scope="module")
def told(module_place: Place) -> Iterator[tuple[Server, str, Truth]]:
    """A project of sixty days that several people write and read, one of whom only brought memories along."""
    draw = Random(2)
    with diary(module_place, PROJECT) as book:
        ids = [book.note(text, days=50 - at, tags=["notes", "Notes"][: 1 + at % 2]) for at, text in enumerate(NOTES)]
        for day in range(60, 0, -1):
            words, tag = (SEA, "sea") if day > 25 or day % 6 == 0 else (BREAD, "bread")
            for n in range(1 if day > 25 else 3):
                who = ("Ann via desk 1", "Bob", "Cem")[(day + n) % 3]
                ids.append(book.note(f"The {' '.join(draw.sample(words, 6))}.", days=day - n / 10, tags=[tag], who=who))
        gone = book.note("This was deleted.", days=20, who="Dora")
        book.delete(gone, days=19, who="Dora")
        for day in range(29, 0, -1):
            for who in ("Ann via desk 1", "Bob", "Eve"):
                book.read(ids[4], days=day, who=who, times=2)
            book.read(ids[5], days=day, who="Bob")
        for day in range(45, 35, -1):
            book.read(ids[0], days=day, who="Bob")
        book.relate([(ids[at], ids[at + 1]) for at in range(12)], "related_to")
        book.relate([(ids[0], ids[1]), (ids[1], ids[2]), (ids[2], ids[0])], "part_of")
        book.relate([(ids[3], "no such {thing}")], "depends_on")
        with book._store.write(PROJECT, "Flo", "import_project_data") as tx:
            old = book.today - 200 * DAY
            tx.add_records(
                [
                    EntityDraft(f"Old {at}", "thing", (f"An old thing, number {at}.",), created=old, updated=old)
                    for at in range(3)
                ]
            )
    server = module_place.serve("content")
    for _ in range(3):
        get(server, PROJECT, ids[9])  # read just now, and not written yet
    yield server, ids[2], _truth(module_place)._replace(answers=_asked(server, ids[2]))


def _truth(place: Place) -> Truth:
    store = place.open_store()
    with store.read(PROJECT) as snapshot:
        records = list(snapshot.records())
        touches, seen = list(snapshot.touches(None, None)), list(snapshot.seen(None, None))
        relations = list(snapshot.relations())
    store.close()
    names = [word for one in records for word in (one.name, *one.tags, str(one.metadata.get("title", "")))]
    ends = [word for one in relations for word in (one.source, one.target, one.type)]
    texts = {one.uid: "\n".join(one.observations) for one in records}
    opened: Counter[str] = Counter()
    found: Counter[str] = Counter()
    uids = {one.id: one.uid for one in records}
    for one in seen:
        opened[uids.get(one.memory, "")] += one.opened
        found[uids.get(one.memory, "")] += one.found
    return Truth(
        texts=texts,
        known=_flat("\n".join([*texts.values(), *names, *ends])),
        changes=Counter(one.who.partition(" via ")[0] for one in touches),
        readings=Counter(one.who.partition(" via ")[0] for one in seen),
        opened=opened,
        found=found,
        answers=[],
    )


def _flat(text: str) -> str:
    return re.sub(r"[\s#*_|`>-]+", " ", text)


def _values(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)


def _asked(server: Server, id: str) -> list[dict[str, Any]]:
    every = analyze_all(server, PROJECT, id)
    return [*every, analyze(server, "generate_insights", PROJECT, options={"depth": "deep"})]


@pytest.mark.long
@pytest.mark.promise("analysis.true")
def test_what_is_quoted_stands_in_the_item_it_is_quoted_from(told: tuple[Server, str, Truth]) -> None:
    truth = told[2]
    quotes = 0
    for answer in told[2].answers:
        for one in _values(answer):
            if one.get("dated_by") == "the relationship":
                continue
            for field in QUOTED & one.keys():
                id = one.get("id") or one.get("content_id")
                where = truth.texts.get(str(id), truth.known)
                assert _flat(str(one[field])).strip(" …") in _flat(where), (field, one)
                quotes += 1
    assert quotes > 20


@pytest.mark.promise("analysis.true")
def test_what_stands_in_quotation_marks_is_in_the_store(told: tuple[Server, str, Truth]) -> None:
    truth = told[2]
    quotes = 0
    for answer in told[2].answers:
        for one in [*answer.get("patterns", []), *answer.get("insights", [])]:
            labels = _flat(str(one["evidence"]))
            for quote in re.findall(r"“([^”]*)”", one["summary"]):
                quote = _flat(quote).strip(" …")
                assert quote in truth.known or quote in labels, (quote, one)
                quotes += 1
    assert quotes > 10


@pytest.mark.promise("analysis.true")
def test_ids_that_are_told_exist(told: tuple[Server, str, Truth]) -> None:
    assert told[2].answers
    for answer in told[2].answers:
        assert ids_in(answer) <= truth_ids(told) | {one["reference"] for one in _values(answer) if "reference" in one}
        for one in [*answer.get("patterns", []), *answer.get("insights", [])]:
            assert len(one["content_ids"]) == min(one["content_count"], 50) or len(one["content_ids"]) >= 10
            for made in one.get("calls", []):
                assert "…" not in made["arguments"].values()


def truth_ids(told: tuple[Server, str, Truth]) -> set[str]:
    return set(told[2].texts)


@pytest.mark.promise("analysis.true")
def test_counts_can_be_recounted(told: tuple[Server, str, Truth]) -> None:
    truth = told[2]
    checked = Counter[str]()
    for answer in told[2].answers:
        for one in [*answer.get("patterns", []), *answer.get("insights", [])]:
            evidence = one["evidence"]
            if one["name"] in ("most_read", "found_not_opened", "rewritten", "read_not_updated", "orphans"):
                assert evidence["count"] == one["content_count"], one
                checked["members"] += 1
            lines = evidence.get("memories", [])
            for line in lines if isinstance(lines, list) and "days" not in evidence else []:
                if "opened" in line:
                    assert (line["opened"], line["found"]) == (truth.opened[line["id"]], truth.found[line["id"]]), one
                    checked["reads"] += 1
            if one["name"] == "duplicates":
                texts = [truth.texts[id] for id in evidence["superfluous"]]
                assert evidence["saved_characters"] == sum(map(len, texts))
                assert {_flat(text) for text in texts} == {_flat(truth.texts[evidence["keep"]])}
                checked["copies"] += 1
            forecast = evidence.get("forecast")
            if forecast:
                assert forecast["low"] * 2 + 1 >= forecast["expected"] >= forecast["high"] / 2 - 1
    assert checked["members"] and checked["copies"]


@pytest.mark.promise("analysis.true")
def test_users_who_are_named_have_changed_or_read_something(told: tuple[Server, str, Truth]) -> None:
    truth = told[2]
    named: dict[str, dict[str, Any]] = {}
    for answer in told[2].answers:
        for one in _values(answer):
            if "user" in one and "changes" in one and "readings" in one:
                named[one["user"]] = one
                assert one["changes"] + one["readings"] > 0, one
            if isinstance(one.get("user"), str):
                assert truth.changes[one["user"]] or truth.readings[one["user"]] or "tests" in one["user"], one
    assert {"Ann", "Bob", "Cem", "Dora", "Eve"} <= set(named)
    assert "Flo" not in named


@pytest.mark.promise("analysis.true")
def test_two_analyses_of_one_period_agree(told: tuple[Server, str, Truth]) -> None:
    server, id, _ = told
    get(server, PROJECT, id)
    insights = analyze(
        server, "generate_insights", PROJECT, insight_types=["usage_insights"], options={"depth": "deep"}
    )
    since = {"time_range": {"start": moment(_now(insights) - 30 * DAY)}}
    types = ["usage_patterns", "user_patterns"]
    patterns = analyze(server, "detect_patterns", PROJECT, pattern_types=types, options=since)
    here, there = insights["looked_at"]["usage_insights"], patterns["looked_at"]["usage_patterns"]
    for field in ("memories", "readings", "opened", "found", "changes", "readers"):
        assert here[field] == there[field], field
    assert here["users"] == patterns["looked_at"]["user_patterns"]["users"]
    for name in ("most_read", "concentration", "main_reader"):
        (one,) = [one["summary"] for one in insights["insights"] if one["name"] == name] or [None]
        (other,) = [one["summary"] for one in patterns["patterns"] if one["name"] == name] or [None]
        assert one == other
    whole = analyze(server, "detect_patterns", PROJECT, pattern_types=["usage_patterns"])
    assert whole["looked_at"]["usage_patterns"]["memories"] == there["memories"]


def _now(answer: dict[str, Any]) -> int:
    from datetime import datetime

    return int(datetime.fromisoformat(answer["analyzed_at"]).timestamp() * 1_000_000)


@pytest.mark.long
@pytest.mark.promise("analysis.true")
def test_no_evenness_is_claimed_of_reads_of_a_few_items(place: Place) -> None:
    with diary(place, PROJECT) as book:
        ids = [book.note(f"Note {at} on {SEA[at % 12]} and {BREAD[at % 11]}.", days=40) for at in range(154)]
        for at in range(65):
            book.read(ids[at % 8], days=1 + at // 8, who=f"reader {at % 2}")
    server = place.serve("content")
    answer = analyze(server, "detect_patterns", PROJECT, pattern_types=["usage_patterns"])
    assert {"most_read", "concentration"} <= {one["name"] for one in answer["patterns"]}
    assert "evenly" not in str(answer["notes"])
    stored(server, "calm", "Tea.")
    assert "evenly" not in str(analyze(server, "detect_patterns", "calm")["notes"])
