"""What is found about users: planted habits, and projects in which names mean nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polymnia import remark
from polymnia.engine.analysis.activity.changes import split_who
from polymnia.engine.analysis.activity.users import user_patterns
from polymnia.engine.analysis.findings import Finding, Findings

from .planted import DAY, HOUR, Place, anywhere, names, one_named

DAYS = 90
ANA, BO, CY = "ana via desk 1.2", "bo via code 2", "cy"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def _ask(place: Place) -> Findings:
    return place.ask(user_patterns, DAYS * DAY)


def _of(found: Findings, name: str, user: str) -> list[Finding]:
    return [one for one in found.patterns if one.name == name and one.evidence["user"] == user]


def _write(place: Place, rows: list[tuple[int, str, tuple[str, ...]]]) -> None:
    for number, (at, who, tags) in enumerate(sorted(rows)):
        place.write(at, f"n{number}", who, tags=tags)


@pytest.mark.parametrize(
    ("who", "parts"),
    [
        ("ana via claude-desktop 1.2", ("ana", "claude-desktop 1.2")),
        ("library", ("library", None)),
        ("민수 via 코드", ("민수", "코드")),
        (" via x", (" via x", None)),
        ("a via b via c", ("a", "b via c")),
    ],
)
def test_user_and_client_are_told_apart(who: str, parts: tuple[str, str | None]) -> None:
    assert split_who(who) == parts


def test_clients_of_one_user_are_one_user(place: Place) -> None:
    rng = np.random.default_rng(1)
    _write(place, [(at, ("ana via a", "ana via b")[n % 2], ()) for n, at in enumerate(anywhere(rng, 30, DAYS))])
    found = _ask(place)
    assert (found.looked_at["users"], found.looked_at["by_user"][0]["clients"]) == (1, ["a", "b"])
    assert found.patterns == []
    assert "one user" in remark(found.notes[0])


def test_who_writes_most_is_named(place: Place) -> None:
    rng = np.random.default_rng(2)
    _write(place, [(at, ANA if rng.random() < 0.8 else BO, ()) for at in anywhere(rng, 120, DAYS)])
    found = _ask(place)
    main = one_named(found, "main_writer")
    assert (main.evidence["user"], main.evidence["clients"]) == ("ana", ["desk 1.2"])
    assert main.evidence["share"] == pytest.approx(0.8, abs=0.1)
    assert names(found) == ["main_writer"]


def test_who_reads_most_is_named(place: Place) -> None:
    rng = np.random.default_rng(3)
    _write(place, [(at, (ANA, BO)[n % 2], ()) for n, at in enumerate(anywhere(rng, 60, DAYS))])
    place.read(("n1", at, BO if rng.random() < 0.85 else ANA, 1, 1) for at in anywhere(rng, 100, DAYS))
    main = one_named(_ask(place), "main_reader")
    assert main.evidence["user"] == "bo"


def test_what_each_writes_about_is_told_in_korean_too(place: Place) -> None:
    rng = np.random.default_rng(5)
    own = {ANA: "billing", BO: "결제", CY: "infra"}
    rows = []
    for at in anywhere(rng, 150, DAYS):
        who = (ANA, BO, CY)[rng.integers(3)]
        tag = own[who] if rng.random() < 0.6 else ("billing", "결제", "infra")[rng.integers(3)]
        rows.append((at, who, (tag,)))
    _write(place, rows)
    found = _ask(place)
    special = {one.evidence["user"]: one.evidence["tag"] for one in found.patterns if one.name == "specialty"}
    assert special == {"ana": "billing", "bo": "결제", "cy": "infra"}
    assert set(names(found)) == {"specialty"}
    assert all(one.members for one in found.patterns)


def test_one_sitting_on_a_tag_is_no_specialty(place: Place) -> None:
    rng = np.random.default_rng(6)
    rows = [
        (at, (ANA, BO)[rng.integers(2)], ("plain",) if rng.random() < 0.5 else ()) for at in anywhere(rng, 100, DAYS)
    ]
    _write(place, [*rows, *((40 * DAY + i * HOUR // 60, ANA, ("rare",)) for i in range(12))])
    assert _of(_ask(place), "specialty", "ana") == []


def test_what_only_one_keeps_is_told(place: Place) -> None:
    rng = np.random.default_rng(8)
    for number in range(20):
        place.write(number * HOUR, f"n{number}", ANA if number == 0 else (ANA, BO)[number % 2])
    changes = [(at, f"n{rng.integers(1, 20)}", (ANA, BO)[rng.integers(2)]) for at in anywhere(rng, 100, DAYS - 2, 2)]
    for at, name, who in sorted([*changes, *((day * DAY, "n0", ANA) for day in range(3, 60, 3))]):
        place.change(at, name, who)
    kept = one_named(_ask(place), "sole_keeper")
    assert kept.evidence["user"] == "ana"
    assert [one["title"] for one in kept.evidence["memories"]] == ["n0"]


def test_who_came_and_who_went_is_told(place: Place) -> None:
    rng = np.random.default_rng(9)
    rows = [(at, ANA, ()) for at in anywhere(rng, 80, DAYS)]
    rows += [(at, BO, ()) for at in anywhere(rng, 30, 45)]
    rows += [(at, CY, ()) for at in anywhere(rng, 30, 40, 50)]
    _write(place, rows)
    found = _ask(place)
    (new,), (gone,) = _of(found, "newcomer", "cy"), _of(found, "gone", "bo")
    assert new.evidence["at"] > "2024-11-22"
    assert gone.evidence["at"] < "2024-11-18"
    assert not _of(found, "newcomer", "ana") + _of(found, "gone", "ana")


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_names_drawn_by_chance_mean_nothing(place: Place, seed: int) -> None:
    rng = np.random.default_rng(seed)
    who = (ANA, BO, CY)
    _write(place, [(at, who[rng.integers(3)], (f"t{rng.integers(5)}",)) for at in anywhere(rng, 100, DAYS)])
    for at in anywhere(rng, 60, DAYS - 30, 30):
        place.change(at, f"n{rng.integers(30)}", who[rng.integers(3)])
    place.read((f"n{rng.integers(100)}", at, who[rng.integers(3)], 1, 1) for at in anywhere(rng, 200, DAYS))
    found = _ask(place)
    assert names(found) == []
    assert "sure enough" in remark(found.notes[0])


def test_a_time_in_which_others_were_there_is_looked_at_alone(place: Place) -> None:
    rng = np.random.default_rng(10)
    _write(
        place, [*((at, BO, ()) for at in anywhere(rng, 40, 40)), *((at, ANA, ()) for at in anywhere(rng, 40, 40, 50))]
    )
    found = place.ask(user_patterns, DAYS * DAY, start=50 * DAY)
    assert [one["user"] for one in found.looked_at["by_user"]] == ["ana"]


def test_an_import_makes_nobody_a_main_writer(place: Place) -> None:
    rng = np.random.default_rng(11)
    _write(place, [(at, (ANA, BO)[n % 2], ()) for n, at in enumerate(anywhere(rng, 60, DAYS))])
    place.many(45 * DAY, [f"import {i}" for i in range(500)], who=ANA)
    assert names(_ask(place)) == []


def test_little_is_answered_with_what_it_takes(place: Place) -> None:
    found = _ask(place)
    assert (found.patterns, "0 users wrote or read within 0 hours" in remark(found.notes[0])) == ([], True)
    place.write(0, "one")
    assert "1 user wrote or read within 1 hour of the clock" in remark(_ask(place).notes[0])
    assert "it takes 20 of them; there is 1." in remark(_ask(place).notes[0])
