"""What an assistant remembers over months: what was changed is found, what stands side by side is left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest
from polymnia.engine.analysis.conflicts.facts import facts
from polymnia.engine.analysis.conflicts.quantities import common, plainly

from .memories import BEYOND, CLASHING, HELD_CLASHING, HELD_PEACEFUL, PEACEFUL
from .planted import Desk

PROJECTS = 12  # so that few pairs of a project are about the same


def told(path: Path, pairs: list[tuple[str, str]], sensitivity: str = "medium") -> set[tuple[str, str]]:
    """Which of some pairs are told, parted over a few projects."""
    found = set()
    for number in range(PROJECTS):
        (path / str(number)).mkdir()
        desk = Desk(path / str(number), meaning=False)
        some = pairs[number::PROJECTS]
        for day in (0, 1):
            desk.notes([pair[day] for pair in some], day=40 * day)
        sentences = {frozenset((c.left.sentence, c.right.sentence)) for c in desk.conflicts(sensitivity=sensitivity)}
        found |= {pair for pair in some if frozenset(pair) in sentences}
    return found


def test_what_changed_is_found(tmp_path: Path) -> None:
    assert sorted(set(CLASHING) - told(tmp_path, CLASHING)) == []


def test_what_stands_side_by_side_is_left_in_peace(tmp_path: Path) -> None:
    assert sorted(told(tmp_path, PEACEFUL)) == []


def test_what_was_held_out(tmp_path: Path) -> None:
    (tmp_path / "clashing").mkdir()
    (tmp_path / "peaceful").mkdir()
    right = len(told(tmp_path / "clashing", HELD_CLASHING))
    wrong = len(told(tmp_path / "peaceful", HELD_PEACEFUL))
    assert right / len(HELD_CLASHING) >= 0.75
    assert right / (right + wrong) >= 0.95


def test_what_is_beyond_is_not_guessed(tmp_path: Path) -> None:
    assert len(told(tmp_path, BEYOND)) <= 1


MOVED = [
    ("User lives in Hamburg with two cats.", "User moved to Lisbon in September.", "Hamburg and Lisbon"),
    ("User works as a data engineer at Otto.", "User left Otto and works at Zalando.", "Otto and Zalando"),
    ("User prefers dark mode in all editors.", "User now prefers light mode.", "dark mode and light mode"),
    (
        "User drinks coffee every morning.",
        "User stopped drinking coffee.",
        "only one says that it is so no more: coffee",
    ),
    ("The office is in Berlin.", "The office moved to Munich.", "Berlin and Munich"),
    ("The blog is hosted on Netlify.", "We moved the blog to Vercel.", "Netlify and Vercel"),
    ("The checkout page is owned by Mara.", "Piet took over the checkout page.", "Mara and Piet"),
    ("The gateway listens on port 8000.", "The gateway runs on port 9000.", "8000 and 9000"),
    ("The depot is in Köln near the river.", "The depot moved to Berlin.", "Köln and Berlin"),
    ("Zoë’s café is in Genoa.", "Zoë’s café moved to Turin.", "Genoa and Turin"),
    ("지수는 대전에 산다.", "지수는 제주로 이사했다.", "대전 and 제주"),
    ("우리는 지라를 쓴다.", "우리는 이제 지라 대신 리니어를 쓴다.", "only one says that it is so no more: 지라"),
]


@pytest.mark.parametrize(("old", "new", "differs"), MOVED, ids=[one[1] for one in MOVED])
def test_one_thing_said_in_other_words(tmp_path: Path, old: str, new: str, differs: str) -> None:
    desk = Desk(tmp_path, meaning=False)
    desk.notes(["Lisbon has hills.", "The choir rehearses on Tuesdays."])
    ids = [desk.note(old), desk.note(new, day=40)]
    (found,) = desk.conflicts().clashes
    assert (found.left.sentence, found.right.sentence, found.differs) == (old, new, differs)
    assert found.newer == "right"
    assert [one.differs for one in desk.conflicts(*ids)] == [differs]


ELSEWHERE = [
    ("Tom moved to Lisbon in 2019.", "Tom moved to Madrid in 2023."),
    ("The user lives in Hamburg.", "The user lives in a flat."),
    ("The user works at Siemens.", "The user works at night."),
    ("The office is in Berlin.", "The office is in Germany."),
    ("Our servers are in Frankfurt.", "Our servers are in good shape."),
    ("We use PostgreSQL for orders.", "We use MongoDB for logs."),
    ("The user stopped drinking coffee after lunch.", "The user drinks coffee in the morning."),
    ("The app runs on iOS.", "The app runs on Android."),
    ("Ben owns the search module.", "Ben owns the billing module."),
    ("The user has a sister.", "The user has a brother."),
    ("Customer A pays monthly.", "Customer B pays yearly."),
    ("우리는 깃을 쓴다.", "우리는 깃허브를 쓴다."),
    ("문서는 마크다운으로 작성한다.", "문서는 한국어로 작성한다."),
]


@pytest.mark.parametrize("pair", ELSEWHERE, ids=[one[1] for one in ELSEWHERE])
def test_another_question_is_no_conflict(tmp_path: Path, pair: tuple[str, str]) -> None:
    desk = Desk(tmp_path, meaning=False)
    desk.note(pair[0])
    desk.note(pair[1], day=40)
    assert desk.conflicts().clashes == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 hours", "120 minutes"), ("1 hour and 30 minutes", "90 min"), ("1 GB", "1024 MB"), ("1 GB", "1000 MB"),
        ("two weeks", "14 days"), ("one year", "12 months"), ("1.5 km", "1500 m"), ("12k euros", "12000 euros"),
        ("2 million rows", "2000000 rows"), ("0.5 seconds", "500 ms"), ("기간은 1일이다", "기간은 24시간이다"),
        ("300만 원", "3000000 원"), ("3천만 원", "30000000 원"), ("1GB까지", "1024MB까지"),
    ],
)  # fmt: skip
def test_amounts_in_other_units_are_the_same(one: str, other: str) -> None:
    assert plainly(one) == plainly(other)


@pytest.mark.parametrize("text", ["Day 3 was long.", "회의는 10시 30분이다.", "마감은 6월 3일이다.", "Python 3.12"])
def test_what_only_looks_like_an_amount_stays(text: str) -> None:
    assert plainly(text) == text


def test_the_difference_is_told_in_one_unit(tmp_path: Path) -> None:
    assert common("It takes 2 hours.", "It takes 90 minutes.") == ("It takes 120 minutes.", "It takes 90 minutes.")
    assert common("It takes 2 hours.", "It takes 3 hours.") == ("It takes 2 hours.", "It takes 3 hours.")
    desk = Desk(tmp_path, meaning=False)
    desk.note("Sessions expire after 2 hours.")
    desk.note("Sessions expire after 90 minutes.", day=9)
    (found,) = desk.conflicts().clashes
    assert found.differs == "120 minutes and 90 minutes"
    assert found.left.sentence == "Sessions expire after 2 hours."


@pytest.mark.parametrize(
    "text",
    [
        "The app does not use Redux.",
        "He lives in Oslo.",
        "The project uses PostgreSQL and MySQL.",
        "이 앱은 레디스를 쓰지 않는다.",
    ],
)
def test_what_denies_lists_or_leaves_its_subject_open_is_no_fact(text: str) -> None:
    assert facts(text) == ()


def test_do_and_do_not_under_headings_that_any_text_has(tmp_path: Path) -> None:
    desk = Desk(tmp_path, meaning=False)
    desk.note("# Deployment guide\n\n## Steps\n\n1. Build the image.\n2. Restart the workers after the deployment.\n")
    desk.note("# Operations\n\n- Do not restart the workers after the deployment.\n- Java is required.\n", day=3)
    (found,) = desk.conflicts().clashes
    assert found.subtype == "do_and_do_not"
