"""Each measure is shown a text that has its fault and the same text mended."""

from __future__ import annotations

from typing import NamedTuple

from form import each
from polymnia.engine.analysis.quality import Dimension
from polymnia.engine.analysis.quality.accuracy import accuracy
from polymnia.engine.analysis.quality.clarity import clarity, consistency, readable
from polymnia.engine.analysis.quality.completeness import actionability, completeness, structure
from polymnia.engine.analysis.quality.page import page
from polymnia.models import Record

from .desk import NOW


class Twins(NamedTuple):
    """A text with a fault, the words that are to be quoted, and the text without it."""

    dimension: str
    metric: str
    faulty: str
    quote: str
    mended: str
    kind: str = "content"


TWINS = [
    # clarity
    Twins(
        "clarity",
        "vague_words",
        "The job moves some stuff to the archive soon. Kim owns the job.",
        "The job moves some stuff to the archive soon.",
        "The job moves invoices to the archive at 02:00. Kim owns the job.",
    ),
    Twins(
        "clarity",
        "vague_words",
        "배치가 나중에 어떤 파일을 적절히 옮긴다. 김민수가 맡는다.",
        "배치가 나중에 어떤 파일을 적절히 옮긴다.",
        "배치가 새벽 2시에 청구서를 보관소로 옮긴다. 김민수가 맡는다.",
    ),
    Twins(
        "clarity",
        "long_sentences",
        "The importer reads each file in the folder that the settings name and then checks every line of it "
        "against the "
        "schema and writes the lines that pass into the table and the others into a second file. Kim owns it.",
        "The importer reads each file",
        "The importer reads each file in the folder. The importer checks every line against the schema. Kim owns it.",
    ),
    Twins(
        "clarity",
        "long_sentences",
        "가져오기 프로그램은 설정이 가리키는 폴더에 있는 파일을 하나씩 읽고 모든 줄을 스키마와 견주어 보고 맞는 "
        "줄은 표에 쓰고 맞지 않는 줄은 "
        "다른 파일에 쓰고 마지막으로 관리자에게 결과를 적은 편지를 보내고 기록을 남긴다. 김민수가 맡는다.",
        "가져오기 프로그램은",
        "가져오기 프로그램은 파일을 하나씩 읽는다. 맞는 줄은 표에 쓴다. 김민수가 맡는다.",
    ),
    # completeness
    Twins(
        "completeness",
        "placeholders",
        "The limit is 20 MB. TODO: describe the error.",
        "TODO: describe the error.",
        "The limit is 20 MB. A larger file is refused with code 413.",
    ),
    Twins(
        "completeness",
        "placeholders",
        "한도는 20MB이다. 오류는 추후 작성.",
        "오류는 추후 작성.",
        "한도는 20MB이다. 더 큰 파일은 413으로 거절한다.",
    ),
    Twins(
        "completeness",
        "headings_without_text",
        "# Limits\n\nFiles have 20 MB.\n\n## Errors\n\n## Retries\n\nThree times.\n",
        "Errors",
        "# Limits\n\nFiles have 20 MB.\n\n## Errors\n\nCode 413.\n\n## Retries\n\nThree times.\n",
    ),
    Twins(
        "completeness",
        "announced_but_missing",
        "Files have 20 MB. The errors are the following:\n",
        "The errors are the following:",
        "Files have 20 MB. The errors are the following:\n\n- 413\n- 415\n",
    ),
    Twins(
        "completeness",
        "announced_but_missing",
        "파일은 20MB까지다. 오류는 다음과 같다:\n",
        "오류는 다음과 같다:",
        "파일은 20MB까지다. 오류는 다음과 같다:\n\n- 413\n- 415\n",
    ),
    Twins(
        "completeness",
        "finished_end",
        "The limit is 20 MB because the",
        "The limit is 20 MB because the",
        "The limit is 20 MB because the mail server has it too.",
    ),
    Twins(
        "completeness",
        "finished_end",
        "한도는 20MB이다. 왜냐하면 메일 서버가 큰 파일을",
        "왜냐하면 메일 서버가 큰 파일을",
        "한도는 20MB이다. 왜냐하면 메일 서버가 큰 파일을 거절한다.",
    ),
    Twins(
        "completeness",
        "parts_of_a_decision",
        "# SQLite\n\n## Decision\n\nWe take SQLite.\n",
        "SQLite",
        "# SQLite\n\n## Context\n\nOne file is wanted.\n\n## Decision\n\nWe take SQLite.\n\n## Rationale\n\nNo "
        "server.\n\n"
        "## Alternatives considered\n\n- Postgres\n\n## Impact\n\nOne writer.\n\n## Stakeholders\n\n- Kim\n",
        "decision",
    ),
    # accuracy
    Twins(
        "accuracy",
        "possible_dates",
        "The review is on 30 February 2025.",
        "The review is on 30 February 2025.",
        "The review is on 28 February 2025.",
    ),
    Twins(
        "accuracy",
        "possible_dates",
        "Backups ran on 2025-06-31. All passed.",
        "Backups ran on 2025-06-31.",
        "Backups ran on 2025-05-31. All passed.",
    ),
    Twins(
        "accuracy",
        "possible_dates",
        "We meet on Monday, 4 March 2025.",
        "We meet on Monday, 4 March 2025.",
        "We meet on Tuesday, 4 March 2025.",
    ),
    Twins(
        "accuracy",
        "possible_dates",
        "회의는 2025년 2월 30일에 있다.",
        "회의는 2025년 2월 30일에 있다.",
        "회의는 2025년 2월 28일에 있다.",
    ),
    Twins(
        "accuracy",
        "possible_dates",
        "회의는 2025년 3월 4일(월)에 있다.",
        "회의는 2025년 3월 4일(월)에 있다.",
        "회의는 2025년 3월 4일(화)에 있다.",
    ),
    Twins(
        "accuracy",
        "order_of_dates",
        "The sale runs from 2025-05-10 to 2025-05-01.",
        "The sale runs from 2025-05-10 to 2025-05-01.",
        "The sale runs from 2025-05-01 to 2025-05-10.",
    ),
    Twins(
        "accuracy",
        "order_of_dates",
        "행사는 2025년 5월 10일 ~ 2025년 5월 1일이다.",
        "행사는 2025년 5월 10일",
        "행사는 2025년 5월 1일 ~ 2025년 5월 10일이다.",
    ),
    Twins(
        "accuracy",
        "sums",
        "The cost is 120 + 45 = 175 euros.",
        "The cost is 120 + 45 = 175 euros.",
        "The cost is 120 + 45 = 165 euros.",
    ),
    Twins(
        "accuracy",
        "totals",
        "| team | seats |\n|---|---|\n| a | 12 |\n| b | 10 |\n| total | 25 |\n",
        "| total | 25 |",
        "| team | seats |\n|---|---|\n| a | 12 |\n| b | 10 |\n| total | 22 |\n",
    ),
    Twins(
        "accuracy", "totals", "- 서울: 12\n- 부산: 10\n- 합계: 25\n", "합계: 25", "- 서울: 12\n- 부산: 10\n- 합계: 22\n"
    ),
    Twins(
        "accuracy",
        "announced_counts",
        "There are three reasons:\n\n- price\n- speed\n- size\n- taste\n",
        "There are three reasons:",
        "There are four reasons:\n\n- price\n- speed\n- size\n- taste\n",
    ),
    Twins(
        "accuracy",
        "announced_counts",
        "이유는 세 가지다:\n\n- 값\n- 속도\n- 크기\n- 취향\n",
        "이유는 세 가지다:",
        "이유는 네 가지다:\n\n- 값\n- 속도\n- 크기\n- 취향\n",
    ),
    # structure
    Twins(
        "structure",
        "levels_of_headings",
        "# Guide\n\nText here.\n\n#### Deep\n\nMore text here.\n",
        "Deep",
        "# Guide\n\nText here.\n\n## Deep\n\nMore text here.\n",
    ),
    Twins(
        "structure",
        "long_paragraphs",
        "The pump is old and loud. " * 40,
        "The pump is old and loud.",
        "\n\n".join(["The pump is old and loud. " * 10] * 4),
    ),
    Twins(
        "structure",
        "long_paragraphs",
        "펌프는 낡았고 소리가 매우 크다. " * 30,
        "펌프는 낡았고 소리가 매우 크다.",
        "\n\n".join(["펌프는 낡았고 소리가 매우 크다. " * 5] * 6),
    ),
    Twins(
        "structure",
        "well_made_marks",
        "# Run\n\nDo this first.\n\n```sh\nmake all\n",
        "make all",
        "# Run\n\nDo this first.\n\n```sh\nmake all\n```\n",
    ),
    Twins(
        "structure",
        "well_made_marks",
        "# Run\n\nRead [the guide]() first. Then go.",
        "Read [the guide]() first. Then go.",
        "# Run\n\nRead [the guide](https://example.org) first. Then go.",
    ),
    Twins(
        "structure",
        "well_made_marks",
        "# 실행\n\n먼저 [안내서]()를 읽는다. 그리고 간다.",
        "먼저 [안내서]()를 읽는다. 그리고 간다.",
        "# 실행\n\n먼저 [안내서](https://example.org)를 읽는다. 그리고 간다.",
    ),
    # consistency
    Twins(
        "consistency",
        "one_spelling_for_one_thing",
        "The e-mail goes out at noon. Each email has a footer. No email is kept for long.",
        "The e-mail goes out at noon.",
        "The email goes out at noon. Each email has a footer. No email is kept for long.",
    ),
    Twins(
        "consistency",
        "one_spelling_for_one_thing",
        "Ask the GitHub team. The Github page is public. A page on GitHub has a licence, too.",
        "The Github page is public.",
        "Ask the GitHub team. The GitHub page is public. A page on GitHub has a licence, too.",
    ),
    Twins(
        "consistency",
        "forms_of_dates",
        "It began on 2025-03-01. It went on to 2025-03-09. It was sold on March 12, 2025.",
        "It was sold on March 12, 2025.",
        "It began on 2025-03-01. It went on to 2025-03-09. It was sold on 2025-03-12.",
    ),
    Twins(
        "consistency",
        "manner_of_address",
        "서버는 매일 다시 시작합니다. 기록은 한 달 동안 보관합니다. 백업은 매주 한다. 담당자는 김민수입니다.",
        "백업은 매주 한다.",
        "서버는 매일 다시 시작합니다. 기록은 한 달 동안 보관합니다. 백업은 매주 합니다. 담당자는 김민수입니다.",
    ),
    # readability
    Twins(
        "readability",
        "reading_ease",
        "Notwithstanding considerable organisational impediments, the interdepartmental committee subsequently "
        "endorsed comprehensive "
        "restructuring recommendations, necessitating unprecedented administrative coordination. We went home.",
        "Notwithstanding considerable",
        "There were problems in the office. The group still said yes to the plan. We went home.",
    ),
    Twins(
        "readability",
        "reading_ease",
        "본 위원회는 조직 구조의 비효율성을 개선하기 위하여 전사적 차원의 재구조화 방안을 심층적으로 "
        "검토하였으며 이에 따라 자원 배분의 최적화를 도모하고자 한다. 우리는 집에 갔다.",
        "본 위원회는",
        "조직에 문제가 있다. 우리는 조직을 바꾼다. 돈을 더 잘 쓴다. 우리는 집에 갔다.",
    ),
    # actionability
    Twins(
        "actionability",
        "steps_with_who",
        "# Meeting\n\n## Action items\n\n- Send the offer by Friday\n- Kim will book the room by Monday\n",
        "Send the offer by Friday",
        "# Meeting\n\n## Action items\n\n- Lee will send the offer by Friday\n- Kim will book the room by Monday\n",
    ),
    Twins(
        "actionability",
        "steps_with_when",
        "# Meeting\n\n## Action items\n\n- Lee will send the offer\n- Kim will book the room by Monday\n",
        "Lee will send the offer",
        "# Meeting\n\n## Action items\n\n- Lee will send the offer by Friday\n- Kim will book the room by Monday\n",
    ),
    Twins(
        "actionability",
        "steps_with_who",
        "# 회의\n\n## 할 일\n\n- 금요일까지 제안서 보내기\n- 김민수님이 월요일까지 회의실 예약하기\n",
        "금요일까지 제안서 보내기",
        "# 회의\n\n## 할 일\n\n- 이지은님이 금요일까지 제안서 보내기\n- 김민수님이 월요일까지 회의실 예약하기\n",
    ),
    Twins(
        "actionability",
        "steps_with_when",
        "# 회의\n\n## 할 일\n\n- 이지은님이 제안서 보내기\n- 김민수님이 월요일까지 회의실 예약하기\n",
        "이지은님이 제안서 보내기",
        "# 회의\n\n## 할 일\n\n- 이지은님이 금요일까지 제안서 보내기\n- 김민수님이 월요일까지 회의실 예약하기\n",
    ),
    Twins(
        "actionability",
        "steps_with_means",
        "1. Install the tool\n2. Run it on the server\n3. Check the result\n",
        "Install the tool",
        "1. Install the tool with `pip install x`\n2. Run `x serve` on the server\n3. Check the result in `x.log`\n",
        "guide",
    ),
]


def measured(dimension: str, text: str, kind: str) -> Dimension:
    record = Record(id=1, uid="content_1", name="content_1", kind=kind, observations=(text,), created=NOW, updated=NOW)
    read = page(text, "text/markdown")
    return {
        "clarity": lambda: clarity(read),
        "completeness": lambda: completeness(read, record, None),
        "accuracy": lambda: accuracy(read, None),
        "structure": lambda: structure(read),
        "consistency": lambda: consistency(read, {}),
        "readability": lambda: readable(read),
        "actionability": lambda: actionability(read, record),
    }[dimension]()


@each("twins", TWINS)
def test_a_fault_lowers_the_score_and_is_quoted(twins: Twins) -> None:
    faulty = measured(twins.dimension, twins.faulty, twins.kind)
    mended = measured(twins.dimension, twins.mended, twins.kind)
    assert faulty.score is not None, faulty.note
    metric = next(one for one in faulty.metrics if one.name == twins.metric)
    assert metric.score < 1.0, metric
    assert metric.faults[0].quote.startswith(twins.quote)
    assert all(" ".join(fault.quote.split()) in " ".join(twins.faulty.split()) for fault in metric.faults)
    assert all(better > metric.score for better in metric.score_without)
    if mended.score is None:
        return  # what can be checked went away with the fault
    after = next((one.score for one in mended.metrics if one.name == twins.metric), 1.0)
    assert after > metric.score, (twins.metric, [one for one in mended.metrics if one.name == twins.metric])
    assert mended.score > faulty.score


@each("twins", TWINS)
def test_the_mended_text_has_not_the_fault(twins: Twins) -> None:
    mended = measured(twins.dimension, twins.mended, twins.kind)
    left = [one for one in mended.metrics if one.name == twins.metric and one.faults]
    assert not left or twins.metric == "reading_ease", left


@each("dimension", ["clarity", "completeness", "accuracy", "structure", "consistency", "readability", "actionability"])
@each("text", ["", "   \n", "word", "안녕", "🙂", "#", "```", "| | |", "- ", "[]()", "한다.", "日本語です", "0" * 5000])
def test_too_little_is_not_judged_and_nothing_breaks(dimension: str, text: str) -> None:
    found = measured(dimension, text, "content")
    assert found.score is None or found.metrics
    if found.score is None:
        assert found.note
