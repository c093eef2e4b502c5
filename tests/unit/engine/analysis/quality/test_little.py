"""Texts that say next to nothing, or the same over and over: they are not praised for the faults they cannot have."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia import describe
from polymnia.engine.analysis.quality import Quality, analyze
from polymnia.engine.analysis.view import ProjectView

from .desk import Desk

LITTLE = {
    "one letter": "a" * 400,
    "figures": "12 34 56 78 90 1234 5678 90 12 34 56",
    "an address": "https://example.com/a/b/c",
    "one word": "word " * 40,
    "three items": "- milk\n- eggs\n- bread",
    "한 낱말": "가 " * 40,
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.notes([f"Note {n} tells how the harbour of town number {n} is dredged in autumn." for n in range(12)])
    return desk


def quality(desk: Desk, id: str) -> Quality:
    def work(material: ProjectView) -> Quality:
        return analyze(material, desk.record(material, id))

    return desk.ask(work)


@pytest.mark.parametrize("text", LITTLE.values(), ids=LITTLE)
def test_next_to_nothing_is_not_praised(desk: Desk, text: str) -> None:
    found = quality(desk, desk.note(text, content_type="text/plain"))
    assert found.score is None
    assert all(one.score is None and one.note for one in found.dimensions)


def test_what_is_wrong_with_little_is_still_told(desk: Desk) -> None:
    found = quality(desk, desk.note("TODO"))
    assert any(one.metric == "placeholders" for one in found.suggestions)


def test_what_is_said_again_and_again(desk: Desk) -> None:
    once = "The keeper of the lighthouse trims the lamp at dusk. The tide turns at noon. Boats come home before dark."
    again = f"{once} " + "The tide turns at noon. " * 6
    clear = {one.name: one.score for one in quality(desk, desk.note(once)).dimensions}["clarity"]
    found = quality(desk, desk.note(again))
    unclear = {one.name: one.score for one in found.dimensions}["clarity"]
    assert clear is not None and unclear is not None and unclear < clear - 0.2
    (told,) = [one for one in found.suggestions if one.metric == "repeated_sentences"]
    assert told.fault.quote == "The tide turns at noon." and "7 times" in describe(told.fault).summary


DISAGREEING = {
    "The gateway timeout is 30 seconds. Users log in with a passkey. The gateway timeout is 40 seconds.": "30",
    "Sessions expire after 2 hours. The lamp is trimmed at dusk. Sessions expire after 90 minutes.": "120",
    "결제 서버의 포트는 8080이다. 등대는 해 질 녘에 켠다. 결제 서버의 포트는 9090이다.": "8080",
}
AGREEING = [
    "Sessions expire after 2 hours. The lamp is trimmed at dusk. Sessions expire after 120 minutes.",
    "Day 3: we walked 14 km. Day 4: we walked 19 km. The lamp is trimmed at dusk.",
    "The limit was 20 MB until 2024. The limit is 50 MB. The lamp is trimmed at dusk.",
    "Server alpha has 16 GB of memory. Server beta has 32 GB of memory. The lamp is trimmed at dusk.",
]


@pytest.mark.parametrize(("text", "value"), DISAGREEING.items())
def test_figures_of_one_text_that_disagree(desk: Desk, text: str, value: str) -> None:
    found = quality(desk, desk.note(text))
    (told,) = [one for one in found.suggestions if one.metric == "figures_for_one_thing"]
    assert told.dimension == "accuracy" and told.fault.quote in text and value in describe(told.fault).summary


@pytest.mark.parametrize("text", AGREEING)
def test_figures_of_one_text_that_may_both_be(desk: Desk, text: str) -> None:
    found = quality(desk, desk.note(text))
    assert not [one for one in found.suggestions if one.metric == "figures_for_one_thing"]
