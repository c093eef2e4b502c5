"""Completeness, structure and actionability: what is missing in a text, its layout, and whether its tasks say who and
when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from msgspec import Struct

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.page import Dimension, Flaw, Metric, ParsedPage, dimension, few, share, unknown
from polymnia.engine.content import DECISION
from polymnia.engine.text.dates import find_dates
from polymnia.engine.text.document import PLACEHOLDER
from polymnia.engine.text.language import fold
from polymnia.engine.text.names import names
from polymnia.models import Record

_FEWEST = 4  # words
_PARTS = ("context", "decision", "rationale", "alternatives", "impact", "stakeholders")
_PART_WORDS = {
    "context": r"context|background|problem|배경|상황|문제|맥락",
    "decision": r"decision|decided|resolution|outcome|결정|결론",
    "rationale": r"rationale|reasons?|why|because|justification|근거|이유|사유",
    "alternatives": r"alternatives?|options?|considered|rejected|대안|선택지|검토한",
    "impact": r"impact|consequences?|effects?|implications|영향|결과|효과",
    "stakeholders": r"stakeholders?|owners?|people|deciders|participants|이해관계자|담당|관계자|참석",
}
_ANNOUNCES = re.compile(
    r"[:：]\s*[*_]*$|(?:\bthe following|\bas follows|[다음아래][과와] 같(?:다|습니다))\s*\.?\s*$", re.I
)
_ENDED = re.compile(r"[.!?…:。！？][\"'”’)*_`]*\s*$|[다요죠음함임됨것]\s*$")
_BROKEN = re.compile(
    r"(?:,|;|\s[-–—]|\((?:[^()]{0,80})|\b(?:and|or|but|the|a|an|of|to|for|with|because|that|which|if|when|by|from|is"
    r"|are))\s*$|(?:그리고|및|또는|하지만|그러나|왜냐하면|때문에|위해|[가-힣]지만|면서|으며|하며|[가-힣][을를])\s*$",
    re.IGNORECASE,
)
_LIKELY = 0.5  # the weight of an end that only lacks a full stop,
_STOPPED = 0.8  # if more than this share of the other sentences has one


def completeness(page: ParsedPage, record: Record, expected: Usual | None) -> Dimension:
    """Measure what is missing in a text, also compared with others of its kind."""
    if not page.blocks:
        return unknown("completeness", Remark("quality.no_text"))
    open_ends = _placeholders(page)
    parts = _decision(page, record)
    if page.words < _FEWEST and parts is None and not open_ends.faults:
        return few("completeness", page.words, _FEWEST)
    metrics = [open_ends, empty_headings(page), _announced(page), _end(page), parts, _fields(record, page, expected)]
    return dimension("completeness", metrics, None if expected else Remark("quality.few_siblings"))


def _placeholders(page: ParsedPage) -> Metric:
    faults = []
    for at, block in enumerate(page.blocks):
        lines = [one.text for one in page.inside[at]] or block.text.splitlines()
        faults += [
            Flaw(line.strip(), "placeholders", {"mark": match[0]})
            for line in lines
            if (match := PLACEHOLDER.search(line))
        ]
    return share("placeholders", faults, len(page.sentences) + len(page.headings), "sentences and headings")


def empty_headings(page: ParsedPage) -> Metric | None:
    """Headings without text; None without headings."""
    heads = [at for at, one in enumerate(page.blocks) if one.kind == "h"]
    faults = []
    for at in heads:
        after = page.blocks[at + 1] if at + 1 < len(page.blocks) else None
        if after is None or (after.kind == "h" and after.level <= page.blocks[at].level):
            faults.append(Flaw(page.blocks[at].text, "headings_without_text"))
    return share("headings_without_text", faults, len(heads), "headings") if heads else None


def _announced(page: ParsedPage) -> Metric | None:
    faults, places = [], 0
    for at, block in enumerate(page.blocks):
        if block.kind in ("p", "li") and _ANNOUNCES.search(block.text):
            places += 1
            after = page.blocks[at + 1] if at + 1 < len(page.blocks) else None
            same_list = after is not None and block.kind == after.kind == "li" and after.level <= block.level
            if after is None or after.kind == "h" or same_list:
                last = page.inside[at][-1].text if page.inside[at] else block.text
                faults.append(Flaw(last, "announced_but_missing"))
    return share("announced_but_missing", faults, places, "announcements") if places else None


def _end(page: ParsedPage) -> Metric | None:
    """Whether the text breaks off: after a comma or an article, or probably if only its last sentence has no stop."""
    if page.blocks[-1].kind not in ("p", "li") or not page.prosaic or not page.inside[-1]:
        return None
    *before, tail = [one.text for one in page.sentences]
    faults = []
    if not _ENDED.search(tail):
        stopped = sum(_ENDED.search(one) is not None for one in before)
        if _BROKEN.search(tail):
            faults = [Flaw(tail, "finished_end")]
        elif page.sentences[-1].words >= _FEWEST and stopped > _STOPPED * len(before):
            faults = [Flaw(tail, "finished_end", weight=_LIKELY)]
    return share("finished_end", faults, 1, "ends")


def _decision(page: ParsedPage, record: Record) -> Metric | None:
    given = record.metadata.get("decision")
    parts = given if isinstance(given, dict) else {}
    if record.kind != DECISION and not parts:
        return None
    prose = "\n".join([one.text for one in page.headings] + [one.text for one in page.sentences])
    missing = [
        part
        for part in _PARTS
        if not parts.get(part) and (parts or not re.search(_PART_WORDS[part], prose, re.IGNORECASE))
    ]
    title = parts.get("title") or record.metadata.get("title") or (page.blocks[0].text if page.blocks else "")
    quote = str(parts.get("decision") or title)
    return share("parts_of_a_decision", [Flaw(quote, f"no_{part}") for part in missing], len(_PARTS), "parts")


_SIBLINGS = 5  # at least
_NEWEST = 200  # siblings compared, at most
_USUAL = 0.7  # the share of them with a field, from which it is missed
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*\S)", re.MULTILINE)
_OWN = frozenset({"title", "decision", "created", "updated"})


class Usual(Struct, frozen=True):
    """The fields of most of so many siblings (of one kind, or of one kind and tag), with their share."""

    count: int
    kind: str
    tag: str | None
    fields: dict[tuple[str, str], tuple[str, float]]


def usual(peers: Sequence[Record], record: Record, text: Callable[[Record], str]) -> Usual | None:
    """The usual fields of items of the same kind, and of the same tag if these are enough; None if they are few."""
    alike = [one for one in peers if one.kind == record.kind and one.id != record.id]
    near = [one for one in alike if set(one.tags) & set(record.tags)]
    tag = None
    if len(near) >= _SIBLINGS:
        alike = near
        tag = Counter(tag for one in near for tag in one.tags if tag in record.tags).most_common(1)[0][0]
    alike = alike[-_NEWEST:]
    if len(alike) < _SIBLINGS:
        return None
    counts: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, str], str] = {}
    for one in alike:
        found = _fields_of(one, _HEADING.findall(text(one)))
        counts.update(found.keys())
        names = found | names
    fields = {key: (names[key], count / len(alike)) for key, count in counts.items() if count >= _USUAL * len(alike)}
    return Usual(len(alike), record.kind, tag, dict(sorted(fields.items(), key=lambda one: (-one[1][1], one[0]))))


def _fields_of(record: Record, headings: Iterable[str]) -> dict[tuple[str, str], str]:
    """The fields of a record: type and folded name of each, and its name as it is written."""
    found = {("heading", fold(head)): head for head in headings}
    found |= {("metadata", key): key for key, value in record.metadata.items() if key not in _OWN and value}
    return found | {("field", name): name for name in ("summary", "tags", "category") if getattr(record, name)}


def _fields(record: Record, page: ParsedPage, expected: Usual | None) -> Metric | None:
    if expected is None or not expected.fields:
        return None
    have = _fields_of(record, [one.text for one in page.headings])
    faults = []
    for key, (name, part) in expected.fields.items():
        if key not in have:
            values = {"name": name, "share": part, "count": expected.count, "kind": expected.kind, "tag": expected.tag}
            faults.append(Flaw(page.first, f"no_{key[0]}", values))
    return share("fields_of_its_kind", faults, len(expected.fields), "fields")


_SHORTEST = 3  # sentences of a text that needs structure
_PARAGRAPH, _PARAGRAPH_KOREAN = 150, 110  # words
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(\s*<?([^)\s]*)")
_CODE_SPAN = re.compile(r"(?<!`)(`+)[^`\n]+\1")
_SLUG = re.compile(r"[^\w\- ]+")


def structure(page: ParsedPage) -> Dimension:
    """Measure the layout of a text."""
    if not page.prosaic:
        return unknown("structure", Remark("quality.no_layout"))
    made = marks(page) if page.marked or _LINK.search(page.text) else None
    if len(page.sentences) + len(page.headings) < _SHORTEST:
        if made is not None and made.faults:
            return dimension("structure", [made])
        values = {"sentences": len(page.sentences), "least": _SHORTEST}
        return unknown("structure", Remark("quality.short", values))
    return dimension("structure", [heading_levels(page), _paragraphs(page), made])


def heading_levels(page: ParsedPage) -> Metric | None:
    """Headings that skip a level or are repeated in one section; None of fewer than two."""
    heads = page.headings
    faults = []
    seen: set[tuple[str, ...]] = set()
    path: list[tuple[int, str]] = []
    for before, one in zip([None, *heads], heads, strict=False):
        if before is not None and one.level > before.level + 1:
            faults.append(Flaw(one.text, "heading_level", {"level": one.level, "before": before.level}))
        while path and path[-1][0] >= one.level:
            path.pop()
        path.append((one.level, fold(one.text)))
        place = tuple(name for _, name in path)
        if place in seen:
            faults.append(Flaw(one.text, "heading_twice"))
        seen.add(place)
    return share("levels_of_headings", faults, len(heads), "headings") if len(heads) > 1 else None


def _paragraphs(page: ParsedPage) -> Metric:
    limit = _PARAGRAPH_KOREAN if page.language == "ko" else _PARAGRAPH
    faults, places = [], 0
    for block, inside in zip(page.blocks, page.inside, strict=True):
        if block.kind in ("p", "li") and inside:
            places += 1
            words = sum(one.words for one in inside)
            if words > limit:
                faults.append(Flaw(inside[0].text, "long_paragraphs", {"words": words, "limit": limit}))
    return share("long_paragraphs", faults, places, "paragraphs")


def marks(page: ParsedPage) -> Metric:
    """Broken markup: open code blocks, links without a target, open emphasis."""
    faults = []
    anchors = {_SLUG.sub("", one.text.lower()).replace(" ", "-") for one in page.headings}
    for block in page.blocks:
        if block.kind == "code":
            if block.done is False:
                first = next((line for line in block.text.splitlines() if line.strip()), block.text)
                faults.append(Flaw(first or page.text.splitlines()[block.line], "open_code"))
            continue
        for match in _LINK.finditer(block.text):
            if not match[2]:
                faults.append(Flaw(_line(block.text, match.start()), "empty_link", {"words": match[1]}))
            elif match[2].startswith("#") and match[2][1:].lower() not in anchors:
                faults.append(Flaw(_line(block.text, match.start()), "no_anchor", {"target": match[2]}))
        bare = _CODE_SPAN.sub("", block.text) if block.kind in ("p", "li") else ""
        for sign in ("**", "`"):
            if bare.count(sign) % 2:
                faults.append(Flaw(_line(block.text, block.text.rfind(sign)), "open_mark", {"sign": sign}))
    return share("well_made_marks", faults, len(page.blocks), "blocks")


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].split("\n", 1)[0].strip()


_TASKS = re.compile(
    r"^\W*(?:\w+\s+)?(?:next steps?|action items?|actions|to-?dos?|(?:open )?tasks|follow[- ]?ups?)\W*$"
    r"|^\W*(?:[가-힣]+\s)?(?:할 ?일|다음 ?단계|액션 ?아이템|후속 ?조치|후속 ?작업)(?:\s?목록)?\W*$",
    re.IGNORECASE,
)
"""Headings of lists of tasks."""
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
    """Measure whether tasks (check boxes, or items under a heading for tasks) and numbered steps can be acted on."""
    tasks, steps = _items(page)
    if not tasks and len(steps) < 2:
        return unknown("actionability", Remark("quality.no_tasks"))
    given = record.metadata.get("decision")
    fields = {**record.metadata, **(given if isinstance(given, dict) else {})}
    metrics = []
    if tasks:
        owned, dated = (any(fields.get(key) for key in keys) for keys in (_OWNERS, _DUE))
        metrics = [
            _with("steps_with_who", tasks, lambda text: owned or _has_who(text)),
            _with("steps_with_when", tasks, lambda text: dated or _has_when(text)),
        ]
    else:
        metrics = [_with("steps_with_means", steps, lambda text: _MEANS.search(text) is not None)]
    return dimension("actionability", metrics)


def _items(page: ParsedPage) -> tuple[list[str], list[str]]:
    """The tasks and the numbered steps of a text, without steps that are followed by code."""
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


def _with(name: str, items: list[str], has: Callable[[str], bool]) -> Metric:
    return share(name, [Flaw(one, name) for one in items if not has(one)], len(items), "tasks and steps")


def _has_who(text: str) -> bool:
    return _WHO.search(text) is not None or any(one.kind == "person" for one in names(text))


def _has_when(text: str) -> bool:
    return _WHEN.search(text) is not None or bool(find_dates(text, 0))
