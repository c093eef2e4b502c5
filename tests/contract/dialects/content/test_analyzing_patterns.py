"""detect_patterns: what was planted is found, and nothing is found where everything is by chance."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import PATTERNS, analyze, diary, kinds, lasting, patterns, says
from .speaking import stored, write

SUBJECTS = {
    "sea": "harbour ship anchor captain sailor wave tide mast crew deck",
    "bread": "flour oven dough yeast crust baker rye wheat loaf salt",
    "music": "violin bow string orchestra cello tune concert chord melody tempo",
    "바다": "항구 선박 닻 선장 선원 파도 조류 돛대 갑판 등대",
}
SAME = "The northern lighthouse was rebuilt after the storm with a stronger lamp and a taller tower of white stone."


@pytest.fixture(scope="module")
def life(module_place: Place) -> dict[str, Any]:
    """Twelve weeks of two writers, with a burst, a memory that is read every day, and three readers."""
    plan: list[tuple[float, str, str]] = []
    for week in range(12):
        for n in range(2):
            plan.append((84 - 7 * week + n / 50, "Ann", f"Ann saw ship called {_spelled(2 * week + n)}."))
            plan.append((81 - 7 * week + n / 50, "Bob", f"Bob baked loaf called {_spelled(2 * week + n)}."))
    plan += [(48 - n / 40, "Ann", f"The storm took tiles off roof {_spelled(n)}.") for n in range(14)]
    plan.sort(reverse=True)
    draw = Random(3)
    with diary(module_place, "life") as book:
        ids = [book.note(text, days=days, who=who) for days, who, text in plan]
        for day in range(30):
            for who in ("Ann", "Bob", "Cem"):
                book.read(ids[0], days=day + 0.5, who=who)
            book.read(draw.choice(ids), days=day + 0.5)
        dates = {"early": 51, "before": 50, "after": 46, "quiet": 45}
        burst = {id for id, (_, _, text) in zip(ids, plan, strict=True) if "storm" in text}
        return {"ids": ids, "burst": burst, **{name: book.date(days) for name, days in dates.items()}}


def _spelled(number: int) -> str:
    """A number as a word: figures would make the texts contradict each other."""
    ones = ("nought", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return " ".join(ones[int(digit)] for digit in str(number))


@pytest.fixture(scope="module")
def chance(module_place: Place) -> list[str]:
    """As much of everything as in `life`, but at times, by people and of items drawn by lot."""
    draw = Random(5)
    with diary(module_place, "chance") as book:
        days = sorted((draw.uniform(1, 84) for _ in range(62)), reverse=True)
        ids = [
            book.note(f"{_spelled(n)} note", days=day, who=draw.choice(("Ann", "Bob"))) for n, day in enumerate(days)
        ]
        for _ in range(60):
            for who in ("Ann", "Bob"):
                day = draw.uniform(0.1, 25)
                there = [id for id, made in zip(ids, days, strict=True) if made > day + 1]
                book.read(draw.choice(there), days=day, who=who)
        return ids


@pytest.fixture(scope="module")
def net(module_place: Place) -> dict[str, list[str]]:
    """Three groups joined by two links, a ring of parts, one item alone; in `star` a middle; in `tangle` chance."""
    draw = Random(1)
    with diary(module_place, "net") as book:
        ids = [book.note(f"# N{n}\n\nText {n}.") for n in range(30)]
        for group in range(3):
            own = ids[10 * group : 10 * group + 10]
            book.relate((a, b) for a in own for b in own if a < b and draw.random() < 0.7)
        book.relate([(ids[0], ids[10]), (ids[10], ids[20])])
        ring = [book.note(f"# C{n}\n\nPart {n}.") for n in range(3)]
        book.relate([(ring[n], ring[(n + 1) % 3]) for n in range(3)], "part_of")
        alone = [book.note("# Alone\n\nBy itself.")]
    with diary(module_place, "star") as book:
        star = [book.note(f"# S{n}\n\nText {n}.") for n in range(31)]
        book.relate((star[0], one) for one in star[1:])
    with diary(module_place, "tangle") as book:
        tangle = [book.note(f"# T{n}\n\nText {n}.") for n in range(30)]
        book.relate({tuple(sorted(draw.sample(tangle, 2))) for _ in range(60)})  # type: ignore[arg-type]
    return {"ids": ids, "ring": ring, "alone": alone, "star": star}


def _texts(words: list[str], number: int, seed: int) -> Iterator[str]:
    draw = Random(seed)
    for _ in range(number):
        yield f"{' '.join(draw.sample(words, 6))}."


# Topics


@pytest.fixture(scope="module")
def topics(module_place: Place) -> dict[str, set[str]]:
    """Four subjects, one of them Korean, with a dozen items each."""
    found: dict[str, set[str]] = {}
    with diary(module_place, "topics") as book:
        for seed, (name, words) in enumerate(SUBJECTS.items()):
            found[name] = {book.note(text) for text in _texts(words.split(), 12, seed)}
    return found


@pytest.mark.promise("analysis.patterns.topics")
def test_subjects_are_found_and_named_by_their_words(shared: Server, topics: dict[str, set[str]]) -> None:
    found = [one for one in patterns(shared, "topics", "topic_clusters", least=0.5) if one["name"] == "cluster"]
    assert {frozenset(one["content_ids"]) for one in found} == {frozenset(ids) for ids in topics.values()}
    for one in found:
        name = next(name for name, ids in topics.items() if ids == set(one["content_ids"]))
        assert one["content_count"] == 12
        assert set(one["evidence"]["terms"]) <= set(SUBJECTS[name].split())
        assert 0 < one["evidence"]["cohesion"] <= 1
        assert one["confidence"] > 0.9


FEW = (
    "The anchor of the ship lies in the harbour mud.",
    "The captain of the ship reads the tide table.",
    "Sailors wash the deck of the ship.",
    "The mast of the ship is made of pine.",
    "Rye bread needs a sour dough.",
    "The baker kneads the dough of the bread.",
    "Wheat bread rises in a warm oven.",
    "Salt slows the dough of the bread.",
)
# Title, context, decision, rationale and alternative of decisions that have nothing in common but their form.
DECISIONS = (
    (
        "Buy a second espresso machine",
        "The queue is long at noon.",
        "A second espresso machine is bought.",
        "Beans are cheap.",
        "Tea only",
    ),
    (
        "Drop the homework of candidates",
        "People complain about it.",
        "Candidates talk through code instead.",
        "It takes less time.",
        "Pay for it",
    ),
    (
        "Move the harbour crane",
        "Ships wait for days.",
        "The crane stands on the north pier now.",
        "The ground is firm there.",
        "A second crane",
    ),
    (
        "Paint the school yellow",
        "The grey walls are sad.",
        "Children choose the shade of yellow.",
        "They look at it every day.",
        "White",
    ),
)
OFFICE = (
    "The espresso machine in the kitchen is descaled monthly.",
    "Coffee beans are bought from the roaster on Mill street.",
    "The coffee grinder is set to medium for filter coffee.",
    "Milk for the espresso is kept in the small fridge.",
    "Candidates for the backend job solve a small exercise.",
    "Interviews of candidates last one hour.",
    "Every candidate gets an answer within a week.",
    "The hiring manager reads each application.",
    "Card payments are captured at night.",
    "Refunds of card payments go through the gateway.",
    "The payment gateway retries a card charge twice.",
    "Chargebacks of card payments are booked by finance.",
    "Tomatoes in the garden are watered at dawn.",
    "The garden compost is turned in spring.",
    "Roses are pruned before the first frost.",
    "Garden snails eat the lettuce at night.",
    "Train tickets to Lyon are booked a month ahead.",
    "Hotels in Lyon are near the station.",
    "Travel costs are paid back within two weeks.",
    "Flights are allowed when the train takes eight hours.",
)


@pytest.mark.promise("analysis.patterns.form")
def test_the_form_of_decisions_is_no_subject(shared: Server, project: str) -> None:
    for text in FEW:
        stored(shared, project, text)
    ids = set()
    for title, context, decision, rationale, other in DECISIONS:
        given = {"title": title, "context": context, "decision": decision, "rationale": rationale}
        ids.add(write(shared, "store_decision", project, **given, alternatives=[other])["content_id"])
    found = [one for one in patterns(shared, project, "topic_clusters") if one["name"] == "cluster"]
    assert found
    assert not says(found, "Context", "Rationale", "Alternatives", "considered")
    assert not [one for one in found if ids <= set(one["content_ids"])]


@pytest.mark.promise("analysis.patterns.form")
def test_how_sure_a_subject_is_hardly_depends_on_the_order_of_writing(shared: Server, project: str) -> None:
    told: list[dict[frozenset[str], float]] = []
    for seed in (0, 6):
        of = f"{project} {seed}"
        texts = list(OFFICE)
        Random(seed).shuffle(texts)
        ids = {stored(shared, of, text): text for text in texts}
        found = [one for one in patterns(shared, of, "topic_clusters") if one["name"] == "cluster"]
        told.append({frozenset(ids[id] for id in one["content_ids"]): one["confidence"] for one in found})
    assert told[0].keys() == told[1].keys()
    assert max(abs(told[0][one] - told[1][one]) for one in told[0]) < 0.15


@pytest.mark.promise("analysis.patterns.chance")
def test_words_by_lot_are_no_topics(shared: Server, module_place: Place) -> None:
    draw = Random(2)
    made = ["".join(draw.choice("bcdfglmnprst") + draw.choice("aeiou") for _ in range(3)) for _ in range(400)]
    with diary(module_place, "babble") as book:
        for text in _texts(made, 36, 7):
            book.note(text)
    assert patterns(shared, "babble", "topic_clusters", least=0.5) == []


# Use, time and people


@pytest.mark.promise("analysis.patterns.usage")
def test_what_is_read_most_is_found(shared: Server, life: dict[str, Any]) -> None:
    found = {one["name"]: one for one in patterns(shared, "life", "usage_patterns", least=0.5)}
    assert {"most_read", "concentration"} <= set(found)
    assert found["most_read"]["content_ids"] == [life["ids"][0]]


@pytest.mark.promise("analysis.patterns.usage")
def test_reading_changes_what_is_told_of_use(shared: Server, project: str) -> None:
    ids = [stored(shared, project, f"{_spelled(n)} note") for n in range(6)]

    def opened() -> int:
        answer = analyze(shared, "detect_patterns", project, pattern_types=["usage_patterns"])
        return int(answer["looked_at"]["usage_patterns"]["opened"])

    assert opened() == 0
    for times in range(1, 4):
        shared.call("memory_retrieve", operation="get_content", project_id=project, content_id=ids[0])
        assert opened() == times


@pytest.mark.promise("analysis.patterns.temporal")
def test_a_burst_and_a_rhythm_are_found(shared: Server, life: dict[str, Any]) -> None:
    found = patterns(shared, "life", "temporal_patterns", least=0.5)
    assert {"burst", "rhythm"} <= kinds(found)
    burst = next(one for one in found if one["name"] == "burst")
    assert set(burst["content_ids"]) >= life["burst"] - {max(life["burst"])}
    assert any("weekly" in one["summary"] for one in found if one["name"] == "rhythm")


@pytest.mark.promise("analysis.patterns.users")
def test_who_came_later_is_found_and_everybody_is_counted(shared: Server, life: dict[str, Any]) -> None:
    answer = analyze(shared, "detect_patterns", "life", pattern_types=["user_patterns"])
    newcomer = next(one for one in answer["patterns"] if one["name"] == "newcomer")
    assert "Cem" in newcomer["summary"]
    people = {one["user"]: one for one in answer["looked_at"]["user_patterns"]["by_user"]}
    assert {name: one["changes"] for name, one in people.items()} == {"Ann": 38, "Bob": 24, "Cem": 0}
    assert people["Cem"]["readings"] == 30


@pytest.mark.promise("analysis.patterns.users")
def test_hours_are_those_of_the_clock(shared: Server, module_place: Place) -> None:
    with diary(module_place, "crowd") as book:
        for who in ("Ann", "Bob", "Cem", "Dee", "Eve", "Fay"):
            book.note(f"{who} was here.", days=1, who=who)
    answer = analyze(shared, "detect_patterns", "crowd", pattern_types=["user_patterns"])
    (said,) = answer["notes"]
    assert said["type"] == "user_patterns"
    assert "6 users wrote or read within 1 hour of the clock" in said["note"]


@pytest.mark.promise("analysis.patterns.chance")
@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("usage_patterns", ("most_read", "concentration", "read_together")),
        ("temporal_patterns", ("burst", "rhythm", "trend", "silence", "change")),
        ("user_patterns", ("newcomer", "main_writer", "specialty")),
    ],
)
def test_nothing_is_found_where_chance_rules(
    shared: Server, chance: list[str], type: str, kind: tuple[str, ...]
) -> None:
    assert not kinds(patterns(shared, "chance", type, least=0.5)) & set(kind)


# Relationships


@pytest.mark.promise("analysis.patterns.relationships")
def test_the_shape_of_what_is_related_is_found(shared: Server, net: dict[str, list[str]]) -> None:
    found = patterns(shared, "net", "relationship_patterns", least=0.5)
    groups = {frozenset(one["content_ids"]) for one in found if one["name"] == "community"}
    assert groups == {frozenset(net["ids"][n : n + 10]) for n in (0, 10, 20)}
    bridges = {frozenset(one["content_ids"]) for one in found if one["name"] == "bridge"}
    assert bridges & {frozenset({net["ids"][10]}), frozenset({net["ids"][0], net["ids"][10]})}
    (circle,) = (one for one in found if one["name"] == "cycle")
    assert set(circle["content_ids"]) == set(net["ring"])
    (alone,) = (one for one in found if one["name"] == "orphans")
    assert alone["content_ids"] == net["alone"]
    (hub,) = (one for one in patterns(shared, "star", "relationship_patterns", least=0.5) if one["name"] == "hub")
    assert hub["content_ids"] == net["star"][:1]
    assert hub["evidence"]


@pytest.mark.promise("analysis.patterns.chance")
def test_relationships_by_lot_have_no_shape(shared: Server, net: dict[str, list[str]]) -> None:
    found = patterns(shared, "tangle", "relationship_patterns", least=0.5)
    assert not kinds(found) & {"community", "hub", "bridge", "missing_link", "cycle"}


# Faults


@pytest.mark.promise("analysis.patterns.issues")
def test_what_is_wrong_with_items_is_found(shared: Server, project: str) -> None:
    twice = {stored(shared, project, SAME) for _ in range(2)}
    empty = {stored(shared, project, text) for text in ("-", "TODO")}
    contrary = {stored(shared, project, f"The door code is {code}.") for code in (4711, 8155)}
    untidy = stored(
        shared, project, "# Rules\n\n## Gates\n\n## Doors\n\nDoors are locked.", content_type="text/markdown"
    )
    for name in ("Alder grows fast.", "Birches are white.", "Cedars smell."):
        stored(shared, project, name)
    found = {one["name"]: one for one in patterns(shared, project, "quality_issues", least=0.5)}
    assert set(found["duplicated"]["content_ids"]) == twice
    assert set(found["empty"]["content_ids"]) == empty
    assert set(found["contradictory"]["content_ids"]) == contrary
    assert untidy in found["badly_structured"]["content_ids"]
    assert all(one["evidence"]["examples"] for one in found.values())


@pytest.mark.promise("analysis.patterns.chance")
def test_sound_items_have_no_faults(shared: Server, project: str) -> None:
    for text in (SAME, "The door code is 4711.", "The gate code is 8155.", "# Doors\n\nDoors are locked at night."):
        stored(shared, project, text)
    assert patterns(shared, project, "quality_issues", least=0.5) == []


# Options


@pytest.mark.promise("analysis.patterns.types")
@pytest.mark.parametrize("type", PATTERNS)
def test_only_the_types_asked_for_are_told(shared: Server, life: dict[str, Any], type: str) -> None:
    whole = analyze(shared, "detect_patterns", "life")
    assert list(whole["counts"]) == list(whole["looked_at"]) == list(PATTERNS)
    one = analyze(shared, "detect_patterns", "life", pattern_types=[type])
    assert list(one["counts"]) == [type]
    assert {found["type"] for found in one["patterns"]} <= {type}
    assert one["patterns"] == [found for found in whole["patterns"] if found["type"] == type]
    assert one["counts"][type] == len(one["patterns"])


@pytest.mark.promise("analysis.patterns.min_confidence")
def test_what_is_less_certain_is_left_out_and_counted(shared: Server, net: dict[str, list[str]]) -> None:
    def asked(least: float | None) -> dict[str, Any]:
        options = {} if least is None else {"min_confidence": least}
        return analyze(shared, "detect_patterns", "net", pattern_types=["relationship_patterns"], options=options)

    every = asked(0)
    for least in (0, 0.5, 0.9, 1):
        answer = asked(least)
        assert answer["patterns"] == [one for one in every["patterns"] if one["confidence"] >= least]
        assert answer["below_min_confidence"] == len(every["patterns"]) - len(answer["patterns"])
    assert len(asked(1)["patterns"]) < len(every["patterns"])
    assert lasting(asked(None)) == lasting(asked(0.5))


@pytest.mark.promise("analysis.patterns.explanations")
def test_explanations_are_told_unless_they_are_not_wanted(shared: Server, net: dict[str, list[str]]) -> None:
    told = patterns(shared, "net", "relationship_patterns")
    bare = patterns(shared, "net", "relationship_patterns", options={"include_explanations": False})
    assert told
    assert all(one["explanation"] for one in told)
    assert bare == [{key: value for key, value in one.items() if key != "explanation"} for one in told]


@pytest.mark.promise("analysis.patterns.time_range")
def test_only_what_happened_in_a_time_is_looked_at(shared: Server, life: dict[str, Any]) -> None:
    def looked(**span: str) -> dict[str, Any]:
        options = {"time_range": span}
        answer = analyze(shared, "detect_patterns", "life", pattern_types=["temporal_patterns"], options=options)
        value: dict[str, Any] = answer["looked_at"]["temporal_patterns"]
        return value

    assert looked()["changes"] == 62
    inside = looked(start=life["before"], end=life["after"])
    assert inside["changes"] == 18
    assert life["before"] <= inside["first"][:10] <= inside["last"][:10] <= life["after"]
    parts = looked(end=life["early"]), looked(start=life["quiet"])
    assert sum(one["changes"] for one in parts) == 62 - 18
    # The burst is not in the time after it.
    quiet = patterns(shared, "life", "temporal_patterns", options={"time_range": {"start": life["quiet"]}})
    assert "burst" not in kinds(quiet)
    nothing = patterns(shared, "life", "temporal_patterns", options={"time_range": {"end": "2001-01-01"}})
    assert nothing == []


@pytest.mark.promise("analysis.patterns.content")
def test_one_item_is_told_what_it_is_part_of(
    shared: Server, net: dict[str, list[str]], topics: dict[str, set[str]]
) -> None:
    middle, leaf = net["ids"][10], net["ids"][5]
    for id in (middle, leaf):
        found = patterns(shared, "net", "relationship_patterns", content_id=id)
        assert all(id in one["content_ids"] for one in found)
        assert "community" in kinds(found)
    assert "bridge" in kinds(patterns(shared, "net", "relationship_patterns", content_id=middle))
    assert "bridge" not in kinds(patterns(shared, "net", "relationship_patterns", content_id=leaf))
    sea = sorted(topics["sea"])[0]
    (cluster,) = patterns(shared, "topics", "topic_clusters", least=0.5, content_id=sea)
    assert set(cluster["content_ids"]) == topics["sea"]


@pytest.mark.promise("analysis.patterns.session")
def test_one_session_is_looked_at_alone(shared: Server, project: str) -> None:
    for number in range(3):
        stored(shared, project, f"{_spelled(number)} note of all")
    inside = [stored(shared, project, text, session_id="s") for text in (SAME, SAME)]
    both = analyze(shared, "detect_patterns", project, session_id="s")
    alone = analyze(shared, "detect_patterns", project, session_id="s", scope="session")
    outside = analyze(shared, "detect_patterns", project)
    counted = [one["looked_at"]["quality_issues"]["contents"] for one in (both, alone, outside)]
    assert counted == [5, 2, 3]
    for answer in (both, alone):
        (twice,) = (one for one in answer["patterns"] if one["name"] == "duplicated")
        assert set(twice["content_ids"]) == set(inside)
    assert "duplicated" not in kinds(outside["patterns"])
