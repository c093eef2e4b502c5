"""Issues that were planted are found, each as what it is, and a clean project has none."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from polymnia import remark
from polymnia.engine.analysis.findings import Finding, Findings
from polymnia.engine.analysis.issues import emptiness, quality_issues

from .quality.desk import Desk

CLEAN = [
    "The billing service reads invoices from the queue and stores them for ten years.",
    "Every invoice has a number, a customer and a list of positions.",
    "The search index of the shop is rebuilt each night at two.",
    "A customer may pay by card, by transfer or in cash at the counter.",
    "The warehouse in Lisbon holds spare parts for pumps and valves.",
    "Pumps are checked twice a year by the technicians of the plant.",
    "The garden behind the office has apple trees and a small pond.",
    "Hana plays the cello in the orchestra of the city.",
    "The night train to Vienna leaves from platform nine.",
    "Bread rises better when the dough rests in a warm kitchen.",
    "결제 서비스는 청구서를 십 년 동안 보관한다.",
    "창고에는 펌프와 밸브의 예비 부품이 있다.",
    "기술자들은 해마다 두 번 펌프를 점검한다.",
    "사무실 뒤뜰에는 사과나무와 작은 연못이 있다.",
]

COLOURS = ("red", "blue", "green", "black", "white", "grey", "brown", "pink")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def tagged(desk: Desk, texts: list[str], ago: float = 30) -> list[str]:
    """Notes as they should be: with tags and relations."""
    ids = desk.notes(texts, ago, tags=("company",))
    for one, other in pairwise(ids):
        desk.relate(one, other)
    return ids


def issues(desk: Desk, focus: str | None = None) -> tuple[dict[str, Finding], Findings]:
    found = desk.ask(quality_issues, focus=focus)
    return {one.name: one for one in found.patterns}, found


def ids(desk: Desk, pattern: Finding) -> set[str]:
    names = desk.ask(lambda material: {one.id: one.uid for one in material.items})
    return {names[id] for id in pattern.members}


def test_a_clean_project_has_no_issues(desk: Desk) -> None:
    tagged(desk, CLEAN)
    patterns, found = issues(desk)
    assert patterns == {}
    assert found.looked_at["contents"] == len(CLEAN)


def test_empty_contents_are_found_and_only_those(desk: Desk) -> None:
    tagged(desk, CLEAN)
    planted = desk.notes(
        ["# Heading alone\n", "TBD", "???", "# 제목만\n\n", "작성 예정", "...", "# Plan\n\nTODO\n"], tags=("x",)
    )
    kept = desk.notes(["# Heading\n\nand a word", "TODO: buy bread for the party on Sunday", "42"], tags=("x",))
    one = issues(desk)[0]["empty"]
    assert ids(desk, one) == set(planted) and not ids(desk, one) & set(kept)
    assert one.confidence == 1.0
    assert one.evidence["count"] == len(planted)
    assert one.evidence["share"] == pytest.approx(len(planted) / (len(CLEAN) + 10), abs=1e-4)
    assert {example["quote"] for example in one.evidence["examples"]} >= {"TBD", "작성 예정"}


@pytest.mark.parametrize("text", ["The end.", "1", "한 줄", "# A\n\n- b", "ok", "🙂", "x" * 900, "Name: Kim"])
def test_what_says_something_is_not_empty(text: str) -> None:
    assert emptiness(text) is None


def test_copies_are_grouped_exact_and_near(desk: Desk) -> None:
    tagged(desk, CLEAN)
    first = desk.note("The gateway restarts every night at three, and the log is kept for a week.", tags=("x",))
    same = desk.note("the gateway restarts every night at three,  and the log is kept for a week", tags=("x",))
    other = desk.note("The gateway restarts every night at four, and the log is kept for a week.", tags=("x",))
    long = (
        "The plant in Busan has nine pumps and the technicians check each of the pumps twice every year in "
        "spring and autumn."
    )
    near = [
        desk.note(long, tags=("x",)),
        desk.note(long.replace("technicians check", "technicians will check"), tags=("x",)),
    ]
    korean = desk.notes(["서버는 매일 밤 세 시에 다시 시작한다.", "서버는 매일 밤 세 시에 다시 시작한다"], tags=("x",))
    one = issues(desk)[0]["duplicated"]
    members = ids(desk, one)
    assert {first, same, *korean} <= members
    assert other not in members
    assert members <= {first, same, *korean, *near}
    assert one.evidence["groups"] >= 2
    assert one.evidence["equal"] == 4
    groups = [{content["id"] for content in group["contents"]} for group in one.evidence["examples"]]
    assert {first, same} in groups and set(korean) in groups
    if set(near) <= members:
        assert one.confidence < 1.0


def test_equal_texts_of_two_scopes_are_no_copies(desk: Desk) -> None:
    tagged(desk, CLEAN)
    desk.note("The gateway restarts every night at three.", scope="work/a", tags=("x",))
    desk.note("The gateway restarts every night at three.", scope="work/b", tags=("x",))
    assert "duplicated" not in issues(desk)[0]


def test_exact_copies_alone_are_certain(desk: Desk) -> None:
    tagged(desk, CLEAN)
    desk.notes(["The gateway restarts every night at three."] * 3, tags=("x",))
    one = issues(desk)[0]["duplicated"]
    assert one.confidence == 1.0
    assert (one.evidence["count"], one.evidence["superfluous"]) == (3, 2)


def test_superseded_contents_and_deadlines_that_passed_are_stale(desk: Desk) -> None:
    clean = tagged(desk, CLEAN)
    old = desk.note("The offer for Brandt must be sent by 20 May 2025.", ago=60, tags=("x",))
    korean = desk.note("보고서는 2025년 5월 20일까지 내야 한다.", ago=60, tags=("x",))
    done = desk.note("The offer for Okafor was sent on 20 May 2025.", ago=60, tags=("x",))
    ahead = desk.note("The offer for Lindqvist must be sent by 20 May 2026.", ago=60, tags=("x",))
    late = desk.note("The offer for Duarte was due by 20 May 2025 and is late.", ago=2, tags=("x",))
    marked = desk.note(
        "The port of the gateway is 8080, as the first plan said.", tags=("x",), metadata={"superseded_by": clean[0]}
    )
    replaced = desk.note("The port of the mailer is 7070, as the first plan said.", tags=("x",))
    desk.relate(clean[1], replaced, "supersedes")
    gone = desk.note("The port of the gateway is 9090.", tags=("x",))
    desk.note("The port of the gateway was 8000 once.", tags=("x",), metadata={"superseded_by": gone})
    desk.memory.delete_item(gone)
    one = issues(desk)[0]["stale"]
    assert ids(desk, one) == {old, korean, marked, replaced}
    assert not ids(desk, one) & {done, ahead, late}
    quotes = {example["quote"] for example in one.evidence["examples"]}
    assert "The offer for Brandt must be sent by 20 May 2025." in quotes
    assert "보고서는 2025년 5월 20일까지 내야 한다." in quotes
    assert one.evidence["by_reason"] == {"superseded": 2, "past_deadline": 2}


def test_what_nobody_changes_is_not_stale_for_that(desk: Desk) -> None:
    tagged(desk, CLEAN, ago=900)
    assert "stale" not in issues(desk)[0]


def test_contradictory_contents_are_told_with_both_sentences(desk: Desk) -> None:
    tagged(desk, CLEAN)
    one = desk.note("The billing service stores card numbers.", tags=("x",))
    other = desk.note("The billing service does not store card numbers.", ago=3, tags=("x",))
    found = issues(desk)[0]["contradictory"]
    assert {one, other} == ids(desk, found)
    example = found.evidence["examples"][0]
    assert {example["quote"], example["other_quote"]} == {
        "The billing service stores card numbers.", "The billing service does not store card numbers.",
    }  # fmt: skip
    assert 0.5 < found.confidence <= 1.0


def test_broken_layout_is_found_and_quoted(desk: Desk) -> None:
    tagged(desk, CLEAN)
    planted = desk.notes(
        [
            "# Run\n\nDo this.\n\n```sh\nmake all\n",
            "# Read\n\nRead [the guide]() first.\n",
            "# Limits\n\nFiles have 20 MB.\n\n## Errors\n\n## Retries\n\nThree times.\n",
            "# 실행\n\n내용이 있다.\n\n#### 깊은 곳\n\n더 있다.\n",
            "펌프는 낡았고 소리가 매우 크다. " * 90,
        ],
        tags=("x",),
    )
    desk.notes(
        ["# Run\n\nDo this.\n\n```sh\nmake all\n```\n", "# Read\n\nRead [the guide](https://example.org) first.\n"],
        tags=("x",),
    )
    one = issues(desk)[0]["badly_structured"]
    assert ids(desk, one) == set(planted)
    assert one.confidence == 1.0
    assert "Read [the guide]() first." in {example["quote"] for example in one.evidence["examples"]}


def test_a_focus_asks_about_one_content(desk: Desk) -> None:
    tagged(desk, CLEAN)
    desk.note("TBD", tags=("x",))
    broken = desk.note("# Run\n\nDo this.\n\n```sh\nmake all\n", tags=("x",))
    patterns, found = issues(desk, focus=broken)
    assert set(patterns) == {"badly_structured"}
    assert found.looked_at["contents"] == 1


def test_an_empty_project_and_one_note(desk: Desk) -> None:
    patterns, found = issues(desk)
    assert not patterns and [remark(note) for note in found.notes] == ["There is no content to look at."]
    desk.note("The gateway restarts every night.")
    patterns, found = issues(desk)
    assert not patterns and any(remark(note).startswith("1 item") for note in found.notes)


def test_without_a_model_copies_are_found_by_their_words(tmp_path: Path) -> None:
    desk = Desk(tmp_path, meaning=False)
    tagged(desk, CLEAN)
    copies = desk.notes(
        ["The gateway restarts every night at three.", "the gateway restarts every night at three"], tags=("x",)
    )
    assert ids(desk, issues(desk)[0]["duplicated"]) == set(copies)


def test_the_same_question_has_the_same_answer(desk: Desk) -> None:
    tagged(desk, CLEAN)
    desk.notes(["TBD", "# Run\n\n```sh\nmake\n", "The gateway restarts.", "The gateway restarts!"], tags=("x",))
    assert issues(desk)[1] == issues(desk)[1]
