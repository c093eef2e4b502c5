"""What is found about time: planted bursts, rhythms, trends, turns and silences, and projects without any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from polymnia import describe, remark
from polymnia.engine.analysis.activity.temporal import temporal_patterns
from polymnia.engine.analysis.findings import Findings, Remark

from .planted import BASE, DAY, HOUR, Place, anywhere, names, one_named


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def _found(place: Place, times: Sequence[int], days: int, tags=lambda at: ()) -> Findings:  # type: ignore[no-untyped-def]
    place.bring(days * DAY, sorted(times), tags)
    return place.ask(temporal_patterns, days * DAY)


def _day(moment: str) -> int:
    return (np.datetime64(moment[:10]).astype(int) - BASE // DAY).item()


def test_a_burst_is_found_with_its_days(place: Place) -> None:
    rng = np.random.default_rng(1)
    found = _found(place, [*anywhere(rng, 200, 120), *anywhere(rng, 30, 2, 60)], 120)
    burst = one_named(found, "burst")
    assert (_day(burst.evidence["start"]), _day(burst.evidence["end"])) == (60, 62)
    assert burst.evidence["count"] >= 30
    assert burst.evidence["expected"] == pytest.approx(3.3, abs=1)
    assert burst.confidence > 0.99
    assert len(burst.members) == burst.evidence["count"]
    assert names(found) == ["burst"]


def test_a_burst_says_what_was_written_then(place: Place) -> None:
    rng = np.random.default_rng(1)
    for number, at in enumerate(anywhere(rng, 60, 60)):
        place.write(at, f"plain {number}", text=f"a plain note on the weather of day {at // DAY}")
    for number, at in enumerate(anywhere(rng, 15, 1, 70)):
        place.write(at, f"outage {number}", text="the payment gateway had an outage and customers complained")
    place.write(80 * DAY, "end")
    burst = one_named(place.ask(temporal_patterns, 81 * DAY), "burst")
    assert _day(burst.evidence["start"]) == 70
    assert any("gateway" in word or "outage" in word or "payment" in word for word in burst.evidence["words"])


def test_an_import_is_one_event_and_no_burst(place: Place) -> None:
    rng = np.random.default_rng(2)
    for number, at in enumerate(anywhere(rng, 90, 60)):
        place.write(at, f"n{number}")
    place.many(30 * DAY, [f"import {i}" for i in range(400)], who="bo via loader")
    found = place.ask(temporal_patterns, 60 * DAY)
    assert (names(found), found.looked_at["changes"]) == ([], 91)


def test_imports_in_a_row_are_one_event(place: Place) -> None:
    for part in range(3):
        place.many(part * HOUR // 60, [f"{part}-{i}" for i in range(100)])
    assert place.ask(temporal_patterns, DAY).looked_at["changes"] == 1


def test_imported_memories_count_at_their_own_dates(place: Place) -> None:
    rng = np.random.default_rng(3)
    place.bring(500 * DAY, anywhere(rng, 100, 60))
    found = place.ask(temporal_patterns, 500 * DAY, start=0, end=60 * DAY)
    assert (found.looked_at["changes"], names(found)) == (100, [])
    found = place.ask(temporal_patterns, 500 * DAY)
    silence = one_named(found, "silence")
    assert (abs(_day(silence.evidence["start"]) - 60) <= 1, silence.evidence["ongoing"]) == (True, True)


def test_a_weekly_rhythm_names_its_days(place: Place) -> None:
    rng = np.random.default_rng(4)
    times = [at for at in anywhere(rng, 300, 140) if (BASE // DAY + at // DAY + 3) % 7 < 5]
    found = _found(place, times, 140)
    rhythm = one_named(found, "rhythm")
    assert set(rhythm.evidence["quiet"]) == {"Saturday", "Sunday"}
    assert rhythm.evidence["time_zone"] == "UTC"
    assert names(found) == ["rhythm"]


def test_a_daily_rhythm_names_its_hours(place: Place) -> None:
    rng = np.random.default_rng(5)
    times = [at // DAY * DAY + 9 * HOUR + at % DAY // 3 for at in anywhere(rng, 150, 90)]
    found = _found(place, times, 90)
    rhythm = one_named(found, "rhythm")
    assert (rhythm.evidence["from_hour"] >= 9, rhythm.evidence["to_hour"] <= 17) == (True, True)
    assert rhythm.evidence["share"] >= 0.8
    assert names(found) == ["rhythm"]


def test_dates_without_a_time_have_no_hours(place: Place) -> None:
    rng = np.random.default_rng(6)
    found = _found(place, [at // DAY * DAY for at in anywhere(rng, 200, 90)], 90)
    assert (names(found), found.looked_at["changes"]) == ([], 200)


def test_a_trend_is_found_with_its_levels(place: Place) -> None:
    rng = np.random.default_rng(7)
    found = _found(place, (np.sqrt(rng.random(300)) * 180 * DAY).astype(int).tolist(), 180)
    trend = one_named(found, "trend")
    assert trend.evidence["direction"] == "rising"
    assert trend.evidence["per"] == "week"
    assert trend.evidence["first"] < 8 < 18 < trend.evidence["last"]
    assert "change" not in names(found)


def test_a_new_level_is_found_with_its_day(place: Place) -> None:
    rng = np.random.default_rng(8)
    found = _found(place, [*anywhere(rng, 60, 80), *anywhere(rng, 240, 80, 80)], 160)
    change = one_named(found, "change")
    assert abs(_day(change.evidence["at"]) - 80) <= 2
    assert change.evidence["before_per_week"] == pytest.approx(5.3, abs=1.5)
    assert change.evidence["after_per_week"] == pytest.approx(21, abs=3)
    assert "trend" not in names(found)


def test_a_silence_is_found_with_its_days(place: Place) -> None:
    rng = np.random.default_rng(9)
    found = _found(place, [*anywhere(rng, 100, 60), *anywhere(rng, 100, 60, 85)], 145)
    silence = one_named(found, "silence")
    assert abs(_day(silence.evidence["start"]) - 60) <= 1
    assert abs(_day(silence.evidence["end"]) - 85) <= 1
    assert not silence.evidence["ongoing"]


def test_a_silence_lasts_until_now(place: Place) -> None:
    rng = np.random.default_rng(10)
    found = _found(place, anywhere(rng, 100, 60), 90)
    silence = one_named(found, "silence")
    assert silence.evidence["ongoing"]
    assert silence.evidence["days"] >= 29
    assert names(found) == ["silence"]


def test_weekends_are_no_silences(place: Place) -> None:
    rng = np.random.default_rng(11)
    times = [at for at in anywhere(rng, 500, 140) if (BASE // DAY + at // DAY + 3) % 7 < 5]
    assert "silence" not in names(_found(place, times, 140))


def test_a_tag_has_a_burst_of_its_own(place: Place) -> None:
    rng = np.random.default_rng(13)

    def tags(at: int) -> tuple[str, ...]:
        return ("billing",) if rng.random() < (0.9 if 50 * DAY <= at < 57 * DAY else 0.08) else ("other",)

    found = _found(place, anywhere(rng, 400, 120), 120, tags)
    burst = one_named(found, "burst")
    assert burst.evidence["subject"] == {"tag": "billing"}
    assert 49 <= _day(burst.evidence["start"]) < _day(burst.evidence["end"]) <= 58


@pytest.mark.parametrize(("seed", "count", "days"), [(20, 240, 120), (21, 60, 60), (22, 80, 365), (23, 150, 30)])
def test_a_project_without_a_pattern_has_none(place: Place, seed: int, count: int, days: int) -> None:
    rng = np.random.default_rng(seed)
    tags = ("a", "b", "c", "d", "e")
    found = _found(place, anywhere(rng, count, days), days, lambda at: [tag for tag in tags if rng.random() < 0.25])
    assert names(found) == []
    assert any("sure enough" in remark(note) for note in found.notes)


def test_a_shuffled_twin_of_a_burst_has_none(place: Place) -> None:
    rng = np.random.default_rng(24)
    times = [*anywhere(rng, 200, 120), *anywhere(rng, 40, 2, 60)]
    assert names(_found(place, anywhere(rng, len(times), 120), 120)) == []


def test_one_item_is_asked_about_alone(place: Place) -> None:
    rng = np.random.default_rng(25)
    place.write(0, "plan")
    place.write(0, "other")
    for at in [*anywhere(rng, 30, 60), *anywhere(rng, 14, 1, 65)]:
        place.change(at, "plan")
    found = place.ask(temporal_patterns, 70 * DAY, focus="plan")
    burst = one_named(found, "burst")
    assert (describe(burst).summary.startswith("The memory"), len(burst.members)) == (True, 1)
    assert names(place.ask(temporal_patterns, 70 * DAY, focus="other")) == []


def test_less_sure_findings_are_told_to_those_who_ask(place: Place) -> None:
    rng = np.random.default_rng(27)
    place.bring(120 * DAY, anywhere(rng, 240, 120))
    sure = place.ask(temporal_patterns, 120 * DAY)
    unsure = place.ask(lambda material: temporal_patterns(material, least=0.0), 120 * DAY)
    assert len(unsure.patterns) > len(sure.patterns)
    assert all(one.confidence >= 0.8 for one in sure.patterns)


def test_little_is_answered_with_what_it_takes(place: Place) -> None:
    found = place.ask(temporal_patterns, DAY)
    assert (found.patterns, found.notes) == ([], [Remark("activity.no_changes")])
    place.write(0, "one")
    assert "1 change on 1 day" in remark(place.ask(temporal_patterns, DAY).notes[0])
    for number in range(20):
        place.write(number * HOUR // 20, f"n{number}")
    found = place.ask(temporal_patterns, 2 * HOUR)
    assert found.patterns == []
    assert "21 changes on 1 day" in remark(found.notes[0])
    assert "20 changes on 8 days" in remark(found.notes[0])


def test_the_same_project_has_the_same_answer(place: Place) -> None:
    rng = np.random.default_rng(26)
    place.bring(120 * DAY, [*anywhere(rng, 200, 120), *anywhere(rng, 30, 2, 60)])
    assert place.ask(temporal_patterns, 120 * DAY) == place.ask(temporal_patterns, 120 * DAY)


def test_a_busy_time_stands_out_where_sittings_differ_much(place: Place) -> None:
    rng = np.random.default_rng(30)
    times: list[int] = []
    for at in anywhere(rng, 60, 120):
        times += (at + np.cumsum(rng.integers(1, HOUR // 5, rng.geometric(0.2)))).tolist()
    times += [day * DAY + hour * HOUR + 1 for day in (70, 71) for hour in range(6, 20)]
    found = _found(place, [at for at in times if at < 120 * DAY], 120)
    burst = one_named(found, "burst")
    assert 68 <= _day(burst.evidence["start"]) <= 70
    assert 72 <= _day(burst.evidence["end"]) <= 74
