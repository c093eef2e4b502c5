"""Actionability: whether the tasks of a text say who and by when, and its steps with what."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.page import ParsedPage
from polymnia.engine.analysis.quality.scores import Dimension, Flaw, Metric, dimension, share, unknown
from polymnia.engine.text.dates import mentioned
from polymnia.engine.text.names import names
from polymnia.models import Record

_TASKS = re.compile(
    r"^\W*(?:\w+\s+)?(?:next steps?|action items?|actions|to-?dos?|(?:open )?tasks|follow[- ]?ups?)\W*$"
    r"|^\W*(?:[가-힣]+\s)?(?:할 ?일|다음 ?단계|액션 ?아이템|후속 ?조치|후속 ?작업)(?:\s?목록)?\W*$",
    re.IGNORECASE,
)
"""Headings under which tasks stand."""
_WHO = re.compile(
    r"@\w|\b(?:owner|assignee|responsible|assigned to)\b"
    r"|^\W*[A-Z]\w+(?: [A-Z]\w+)?(?:: | (?:will|must|should|shall|has)\b)"
    r"|\b(?:I|we|you|he|she|they|team)\s+(?:will|must|should|shall|has|have)\b|담당|[가-힣]{2,4}(?:님|씨|팀|매니저)"
)
_WHEN = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|immediately|within|daily|weekly|monthly|every|each)\b"
    r"|\d:\d\d|요일|까지|즉시|매[일주월]",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"`[^`]+`|https?://\S+|\[[^\[\]]+\]\([^()]+\)|(?:^|\s)\$\s\S|[\w.-]/[\w./-]|\w\.[a-z]{2,4}\b|[\"“][^\"“”]{2,}[\"”]"
    r"|\b\d+(?:\.\d+)?\b|[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\b"
)
_OWNERS = ("owner", "assignee", "assigned_to", "responsible", "stakeholders", "담당자", "담당")
_DUE = ("due", "due_date", "deadline", "review_by", "target_date", "마감", "기한")


def actionability(page: ParsedPage, record: Record) -> Dimension:
    """Measure whether tasks (items with boxes, or under a heading for tasks) and numbered steps can be acted on."""
    tasks, steps = _items(page)
    if not tasks and len(steps) < 2:
        return unknown("actionability", Remark("quality.no_tasks"))
    given = record.metadata.get("decision")
    fields = {**record.metadata, **(given if isinstance(given, dict) else {})}
    metrics = []
    if tasks:
        owned, dated = (any(fields.get(key) for key in keys) for keys in (_OWNERS, _DUE))
        metrics = [
            _told("steps_with_who", tasks, lambda text: owned or _has_who(text)),
            _told("steps_with_when", tasks, lambda text: dated or _has_when(text)),
        ]
    else:
        metrics = [_told("steps_with_means", steps, lambda text: _MEANS.search(text) is not None)]
    return dimension("actionability", metrics)


def _items(page: ParsedPage) -> tuple[list[str], list[str]]:
    """The tasks of a text and its numbered steps, as they stand; code below an item is part of it."""
    tasks, steps = [], []
    under_tasks = False
    for block, after in zip_longest(page.blocks, page.blocks[1:]):
        if block.kind == "h":
            under_tasks = _TASKS.search(block.text) is not None
        elif block.kind == "li" and block.text:
            if block.done is not None or under_tasks:
                tasks.append(block.text)
            elif block.mark[:1].isdigit() and not (after is not None and after.kind == "code"):
                steps.append(block.text)
    return tasks, steps


def _told(name: str, items: list[str], has: Callable[[str], bool]) -> Metric:
    return share(name, [Flaw(one, name) for one in items if not has(one)], len(items), "tasks and steps")


def _has_who(text: str) -> bool:
    return _WHO.search(text) is not None or any(one.kind == "person" for one in names(text))


def _has_when(text: str) -> bool:
    return _WHEN.search(text) is not None or bool(mentioned(text, 0))
