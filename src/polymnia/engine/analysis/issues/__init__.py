"""Issues: which contents of a project are empty, copied, out of date, contradictory, lone or badly laid out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import rustworkx
from msgspec.structs import replace

from polymnia.engine.analysis.findings import Findings, Pattern, Remark
from polymnia.engine.analysis.issues.copies import copies
from polymnia.engine.analysis.quality.accuracy import days
from polymnia.engine.analysis.quality.completeness import empty_headings, heading_levels, marks
from polymnia.engine.analysis.quality.page import Flaw, page
from polymnia.engine.content import title_of
from polymnia.engine.knowledge.similarity import cosine_at
from polymnia.engine.text.calendar import moment
from polymnia.engine.text.document import PLACEHOLDER
from polymnia.engine.text.sentences import lines_of
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

Found = tuple[Pattern | None, list[Remark]]

_EXAMPLES = 10
_SHOWN = 5  # members of a group of copies that are shown
_QUOTED = 160  # characters of a quotation
_READ = 4000


def quality_issues(project: ProjectView) -> Findings:
    """The issues of a project, one pattern a kind, most certain first; of the content in focus if there is one."""
    asked = project.items
    if project.focus is not None:
        asked = [one for one in (project.by_id.get(project.focus),) if one is not None]
    if not asked:
        return Findings(looked_at={"contents": 0}, notes=[Remark("issues.no_content")])
    patterns = []
    notes: list[Remark] = []
    for look in (_empty, _duplicated, _stale, _contradictory, _orphaned, _badly_structured):
        found, remarks = look(project, asked)
        patterns += [found] if found is not None else []
        notes += remarks
    patterns.sort(key=lambda one: (-one.confidence, -one.evidence["count"], one.name))
    return Findings(patterns=patterns, looked_at={"contents": len(asked), "of": len(project.items)}, notes=notes)


def _issue(
    name: str, confidence: float, members: list[Record], total: int, examples: Iterable[JsonObject], **more: Any
) -> Pattern:
    return Pattern(
        type="quality_issues",
        name=name,
        confidence=round(confidence, 4),
        evidence={
            "count": len(members),
            "share": round(len(members) / max(1, total), 4),
            **more,
            "examples": list(islice(examples, _EXAMPLES)),
        },
        details={"total": total},
        members=tuple(one.id for one in members),
    )


def _quoted(text: str) -> str:
    """The beginning of a text as it stands, on one line."""
    flat = " ".join(text[:_READ].split())
    return flat if len(flat) <= _QUOTED else flat[:_QUOTED].rstrip() + "…"


def _example(record: Record, why: Remark, quote: str) -> JsonObject:
    """A content as evidence: what is wrong, and the words that show it."""
    return {"id": record.uid, "title": _quoted(title_of(record)), "why": why, "quote": _quoted(quote)}


_SHORT = 400  # characters; a longer text is never empty
_NOT_SAID = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]+.*)?$|^[ \t]{0,3}(?:=+|-{2,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LABEL = re.compile(r"\W*(?:[\w/-]+ ?){1,3}:?\W*")
_MARKED = 80  # characters; in a longer text a mark stands beside something
_NOTHING = re.compile(
    r"(?:n/?a|none|nothing|empty|test|asdf+|foo(?:bar)?|untitled|null|undefined|없음|빈 문서|테스트|제목 없음"
    r"|내용 없음|미작성)[.!]*",
    re.IGNORECASE,
)


def emptiness(text: str) -> str | None:
    """Why a text is empty, as a code; None where it says something."""
    if not text.strip():
        return "white_space" if text else "no_text"
    if len(text) > _SHORT:
        return None
    rest = _NOT_SAID.sub("", text).strip()
    if not rest:
        return "heading_alone"
    if not any(c.isalnum() for c in rest):
        return "only_signs" if not any(ord(c) > 0x2190 for c in rest) else None  # a symbol may say something
    if _NOTHING.fullmatch(rest.strip(" .[](){}<>*_-")):
        return "no_word"
    without = PLACEHOLDER.sub("", rest) if len(rest) <= _MARKED else rest
    label = _LABEL.fullmatch(without) and "\n" not in rest
    return "placeholder" if len(without) < len(rest) and (label or not any(map(str.isalpha, without))) else None


def _empty(project: ProjectView, asked: list[Record]) -> Found:
    """The contents that say nothing: no text, a heading alone, or a mark that something is still to be written."""
    found = []
    for record in project.each(asked):
        # A record whose author chose the name says by its name and its relations that it exists.
        named = record.name != record.uid and not record.observations
        why = emptiness(record.name if named else "\n".join(record.observations))
        if why and not (named and record.name.strip()):
            found.append((record, "no_text" if named else why))
    if not found:
        return None, []
    examples = (_example(record, Remark(f"issues.{why}"), project.text(record)) for record, why in found)
    reasons = dict(Counter(why for _, why in found))
    return _issue("empty", 1.0, [one for one, _ in found], len(asked), examples, by_reason=reasons), []


def _duplicated(project: ProjectView, asked: list[Record]) -> Found:
    """The contents that are copies of others, in groups."""
    records = project.items
    ids = {one.id for one in asked}
    pairs, notes = copies(project, ids)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(records)))
    graph.add_edges_from([(a, b, None) for a, b in pairs])
    groups = [sorted(group) for group in rustworkx.connected_components(graph) if len(group) > 1]
    groups = [group for group in groups if any(records[at].id in ids for at in group)]
    if not groups:
        return None, notes
    groups.sort(key=lambda group: (-len(group), group[0]))
    right: dict[int, float] = {}
    for pair, sure in pairs.items():
        for at in pair:
            right[at] = max(right.get(at, 0.0), sure)
    members = [at for group in groups for at in group]
    equal = sum(right[at] == 1.0 for at in members)

    def shown(group: list[int]) -> JsonObject:
        contents = [
            {
                "id": one.uid,
                "title": _quoted(title_of(one)),
                "updated": moment(one.updated),
                "quote": _quoted(project.text(one)),
            }
            for one in (records[at] for at in group[:_SHOWN])
        ]
        same = all(right[at] == 1.0 for at in group)
        return {"id": records[group[0]].uid, "count": len(group), "equal": same, "contents": contents}

    return _issue(
        "duplicated",
        sum(right[at] for at in members) / len(members),
        [records[at] for at in members],
        len(asked),
        map(shown, groups),
        groups=len(groups),
        superfluous=len(members) - len(groups),
        equal=equal,
        nearly=len(members) - equal,
    ), notes


_TERMS = 20_000  # characters in which deadlines are looked for
_GONE = frozenset({"superseded", "deprecated", "obsolete", "replaced", "outdated", "expired", "폐기", "대체됨", "만료"})
_REPLACES = frozenset({"supersedes", "replaces", "obsoletes", "대체"})
_REPLACED = frozenset({"superseded_by", "replaced_by", "obsoleted_by"})
_DATED = re.compile(r"\d{4}[-./년]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d{1,2}월", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:will|shall|going to|due|deadline|until|by|no later than|scheduled|plan(?:s|ned)?|upcoming|expires?|should"
    r"|must|target|goal)\b|예정|계획|까지|할 것|하기로|마감|기한|목표|만료",
    re.IGNORECASE,
)
"""Words of a sentence about what is to come."""
_PAST = re.compile(
    r"\b(?<!be )(?<!to )(?:was|were|did|had|has been|have been|done|sent|finished|completed"
    r"|released|shipped|closed|cancel+ed)\b|\[[xX]\]|[가-힣](?:했|었|았|였|됐|렸|졌|갔|왔)(?:다|습니다|어요|음)|완료|취소|끝났",
    re.IGNORECASE,
)
"""Words of a sentence about what has been."""


def _stale(project: ProjectView, asked: list[Record]) -> Found:
    """The contents that time has passed by: superseded ones, and deadlines that are over."""
    replaced = _replaced(project)
    today = datetime.fromtimestamp(project.now / 1_000_000, UTC).date()
    found: list[tuple[Record, str, Remark, str]] = []
    for record in project.each(asked):
        text = project.text(record)
        status = str(record.metadata.get("status", "")).strip().casefold()
        if by := record.metadata.get("superseded_by") or replaced.get(record.name):
            found.append((record, "superseded", Remark("issues.superseded_by", {"by": by}), text))
        elif status in _GONE:
            found.append((record, "superseded", Remark("issues.status", {"status": status}), text))
        elif passed := _passed(record, text, today):
            found.append((record, "past_deadline", Remark("issues.over", {"day": str(passed[0])}), passed[1]))
    if not found:
        return None, []
    found.sort(key=lambda one: (one[0].updated, one[0].id))
    examples = (_example(record, why, quote) for record, _, why, quote in found)
    reasons = dict(Counter(sort for _, sort, *_ in found))
    return _issue("stale", 1.0, [one[0] for one in found], len(asked), examples, by_reason=reasons), []


def _replaced(project: ProjectView) -> dict[str, str]:
    """Names that a relation says are superseded, and by what."""
    found: dict[str, str] = {}
    names = project.by_name
    for one in project.relations:
        kind = one.type.casefold().replace(" ", "_").replace("-", "_")
        if kind in _REPLACES:
            found[one.target] = names[one.source].uid
        elif kind in _REPLACED:
            found[one.source] = names[one.target].uid
    return found


def _passed(record: Record, text: str, today: date) -> tuple[date, str] | None:
    """A day that was ahead when a text was last changed, is over now, and is still spoken of as one to come."""
    text = text[:_TERMS]
    if not _DATED.search(text) or not _AHEAD.search(text):
        return None
    written = datetime.fromtimestamp(record.updated / 1_000_000, UTC).date()
    for sentence in lines_of(text):
        if not _DATED.search(sentence) or not _AHEAD.search(sentence) or _PAST.search(sentence):
            continue
        for day in days(sentence):
            at = day.date if day.year else day._replace(year=written.year).date
            if at is not None and written < at < today:
                return at, sentence
    return None


def _contradictory(project: ProjectView, asked: list[Record]) -> Found:
    """The contents that clash with others, by the conflicts that the project shows, and what was not compared."""
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts, conflicts_of

    one_asked = project.focus is not None
    made = conflicts_of(project, asked[0], suggest=False) if one_asked else conflicts(project, suggest=False)
    found = made.clashes
    if not found:
        return None, list(made.notes)
    members = {side.record.id: side.record for one in found for side in (one.left, one.right)}
    examples = (
        {
            "id": one.left.record.uid,
            "title": _quoted(title_of(one.left.record)),
            "relation" if one.left.drawn else "quote": _quoted(one.left.sentence),
            "other_id": one.right.record.uid,
            "other_title": _quoted(title_of(one.right.record)),
            "other_relation" if one.right.drawn else "other_quote": _quoted(one.right.sentence),
            "why": one.differs,
            "confidence": round(one.confidence, 3),
        }
        for one in found
    )
    return _issue(
        "contradictory",
        sum(one.confidence for one in found) / len(found),
        list(members.values()),
        len(asked),
        examples,
        conflicts=len(found),
        by_reason=dict(Counter(one.type for one in found)),
    ), list(made.notes)


_YOUNG = 7 * 86_400_000_000  # a content younger than a week had no time to be related or found
_FEWEST = 10  # contents of a project in which one may stand alone
_UNUSUAL = 0.5  # where more than this share stands alone it is how the project is kept, and no fault
_APART = 0.35  # the similarity below which two texts have no topic in common
_COMPARED = 4000  # lone contents whose neighbours are looked for
_SOME = 500  # of them at a time


def _orphaned(project: ProjectView, asked: list[Record]) -> Found:
    """The contents that nothing leads to: no relation, no tag, no reader, and nothing near in meaning."""
    records = project.items
    if len(records) < _FEWEST:
        return None, [Remark("issues.few_contents", {"count": len(records), "least": _FEWEST})]
    ends = {name for one in project.relations for name in (one.source, one.target)}
    read = {one.memory for one in project.seen if one.found or one.opened}
    old = [one for one in records if project.now - one.created >= _YOUNG]
    lone = [one for one in old if one.name not in ends and not one.tags and one.id not in read]
    notes = [] if read else [Remark("issues.never_read")]
    if not old:
        return None, [*notes, Remark("issues.all_young")]
    part = len(lone) / len(old)
    if part > _UNUSUAL:
        return None, [*notes, Remark("issues.most_alone", {"lone": len(lone), "old": len(old)})]
    ids = {one.id for one in asked}
    lone = [one for one in lone if one.id in ids]
    if project.model is None and lone:
        notes.append(Remark("issues.no_vectors"))
    if project.model is not None and len(lone) > _COMPARED:
        notes.append(Remark("issues.some_compared", {"lone": len(lone), "compared": _COMPARED}))
    apart = _apart(project, lone[:: max(1, -(-len(lone) // _COMPARED))]) if project.model else lone
    if not apart:
        return None, notes
    examples = (_example(one, Remark("issues.alone"), project.text(one)) for one in apart)
    found = _issue("orphaned", 1 - part, apart, len(asked), examples, without_relation_tag_or_reader=len(lone))
    details = {"contents": len(records), "linked": 1 - part, "similarity": _APART if project.model else None}
    return replace(found, details=details), notes


def _apart(project: ProjectView, lone: list[Record]) -> list[Record]:
    """Those that are far from everything else in meaning."""
    vectors = project.vectors
    places = {one.id: at for at, one in enumerate(project.items)}
    limit = cosine_at(_APART, project.unrelated)
    found = []
    for start in range(0, len(lone), _SOME):
        project.tick(start, len(lone))
        some = lone[start : start + _SOME]
        rows = np.array([places[one.id] for one in some])
        alike = vectors[rows] @ vectors.T
        alike[np.arange(len(rows)), rows] = -1.0
        far = (alike.max(axis=1) < limit) & vectors[rows].any(axis=1)
        found += [one for one, is_far in zip(some, far, strict=True) if is_far]
    return found


_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}", re.MULTILINE)
_LINK = re.compile(r"\]\(\s*(?:\)|#)")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_DENSE = re.compile("[\u3041-\u9fff\uac00-\ud7af]")
_WALL = 2500  # characters of a paragraph that is too long for any text, about 400 words; of a dense script half
_CLOSELY = 5000  # contents that are read closely
_LARGE = 100_000  # characters; a larger text is a file and not laid out by hand


def doubtful(text: str) -> bool:
    """Whether a text might have broken marks: a quick look that lets no broken one pass."""
    if len(text) > _LARGE:
        return False
    open_fence = ("```" in text or "~~~" in text) and len(_FENCE.findall(text)) % 2
    marked = ("#" in text and _HEADING.search(text)) or ("](" in text and _LINK.search(text))
    return bool(marked or open_fence or _wall(text) is not None)


def _wall(text: str) -> str | None:
    """A paragraph that is far too long, and neither a list nor a table."""
    for match in _PARAGRAPH.finditer(text) if len(text) >= _WALL // 2 else ():
        size = len(match[0]) * (2 if _DENSE.search(match[0][:400]) else 1)
        listed = match[0].lstrip().startswith(("-", "*", "|", ">", "1.")) or match[0].count("\n") * 60 >= size
        if size > _WALL and not listed:
            return match[0]
    return None


def _layout_faults(record: Record, text: str) -> list[Flaw]:
    """What is broken in the layout of a text for certain."""
    read = page(text, record.content_type)
    if not read.prosaic:
        return []
    found: list[Flaw] = []
    if read.marked or "](" in text:
        metrics = (marks(read), empty_headings(read), heading_levels(read))
        found = [fault for one in metrics if one is not None for fault in one.faults]
    if wall := _wall(text):
        found.append(Flaw(wall, "wall", {"characters": len(wall)}))
    return found


def _badly_structured(project: ProjectView, asked: list[Record]) -> Found:
    """The contents whose layout is broken: open code, links to nowhere, headings over nothing, walls of text."""
    candidates = []
    for record in project.each(asked):
        if doubtful(text := project.text(record)):
            candidates.append((record, text))
    step = max(1, -(-len(candidates) // _CLOSELY))
    notes = [Remark("issues.some_read", {"doubtful": len(candidates), "step": step})] if step > 1 else []
    candidates = candidates[::step]
    found = []
    for record, text in project.each(candidates, 100):
        if faults := _layout_faults(record, text):
            found.append((record, faults))
    if not found:
        return None, notes
    found.sort(key=lambda one: (-len(one[1]), one[0].id))
    total = sum(len(faults) for _, faults in found)
    examples = (
        _example(record, Remark(f"quality.fault_{one.name}", one.values), one.quote) for record, (one, *_) in found
    )
    records = [record for record, _ in found]
    pattern = _issue("badly_structured", 1.0, records, len(asked), examples, faults=total, read_closely=len(candidates))
    return pattern, notes
