"""Quality issues: items that are empty, duplicated, out of date, contradictory or badly structured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import rustworkx

from polymnia.engine.analysis.findings import Finding, Findings, Remark
from polymnia.engine.analysis.pairs import Numbers, Pairs, cosines, nearest, together
from polymnia.engine.analysis.quality.accuracy import days
from polymnia.engine.analysis.quality.completeness import empty_headings, heading_levels, marks
from polymnia.engine.analysis.quality.page import Flaw, page
from polymnia.engine.content import title_of
from polymnia.engine.knowledge import duplicates
from polymnia.engine.knowledge.judge import COPY
from polymnia.engine.knowledge.similarity import cosine_at, similarities
from polymnia.engine.text.calendar import moment
from polymnia.engine.text.document import PLACEHOLDER
from polymnia.engine.text.sentences import lines_of
from polymnia.importing import importing
from polymnia.models import JsonObject, Record, normal

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_ALIKE = 0.8  # the least similarity of a pair that is judged
_JUDGED = 1_000  # pairs judged, most similar first: some milliseconds each
_BEGIN = 1000  # characters in which a text must have a letter or a digit
_SEED = 20_261_115
_WORD = re.compile(r"[^\W_]+")
_HASHED = 6000  # characters hashed of a text
_BANDS = 12  # of MinHash
_SHINGLES = 3
_COMMON = 0.4  # of the shingles: as of two texts of a dozen words that differ in one


def copies(project: ProjectView, selected: AbstractSet[int]) -> tuple[dict[tuple[int, int], float], list[Remark]]:
    """The places of pairs of duplicates, one of them selected, with their confidence; and notes."""
    first: dict[tuple[str, str], int] = {}
    pairs: dict[tuple[int, int], float] = {}
    for at, record in enumerate(project.each(project.items)):
        text = project.text(record)
        if any(c.isalnum() for c in text[:_BEGIN]):
            # A copy in another scope may be intended.
            known = first.setdefault((str(record.scope), normal(text)), at)
            if known != at:
                pairs[known, at] = 1.0
    near, notes = near_copies(project, sorted(first.values()), selected)
    return pairs | near, notes


def near_copies(
    project: ProjectView, places: Sequence[int], selected: AbstractSet[int]
) -> tuple[dict[tuple[int, int], float], list[Remark]]:
    """The same for near duplicates among the items of some places."""
    records = [project.items[at] for at in places]
    texts = [project.text(one) for one in records]
    vectors = project.vectors[list(places)] if places else np.zeros((0, 0), np.float32)
    pairs, alike = pairs_alike(texts, vectors, project.unrelated, project.tick)
    order = np.argsort(-alike, kind="stable").tolist()
    chosen = [
        (a, b, float(alike[at]))
        for at in order
        for a, b in [pairs[at].tolist()]
        if {records[a].id, records[b].id} & selected
    ]
    left = len(chosen) - _JUDGED
    notes = [Remark("issues.not_compared", {"pairs": left})] if left > 0 else []
    chosen = [(a, b, near) for a, b, near in chosen[:_JUDGED] if records[a].scope == records[b].scope]
    judged = [(texts[a], texts[b]) for a, b, _ in chosen]
    sure = duplicates.same(project.judging, judged, [near for *_, near in chosen], COPY, strict=True, tick=project.tick)
    return {(places[a], places[b]): value for (a, b, _), value in zip(chosen, sure, strict=True) if value}, notes


def pairs_alike(
    texts: Sequence[str], vectors: Numbers, unrelated: float, tick: Callable[[int, int], None]
) -> tuple[Pairs, Numbers]:
    """Pairs of texts with similar vectors or mostly the same words (MinHash), and their similarity."""
    pairs, alike = _by_words(texts, tick)
    known: Numbers = np.asarray(vectors.any(axis=1)) if vectors.size else np.zeros(len(texts), bool)
    rows = np.flatnonzero(known)
    near, cosine = nearest(vectors[rows])
    near = rows[near[cosine >= cosine_at(_ALIKE, unrelated)]]
    pairs, first = np.unique(np.concatenate((pairs, near)), axis=0, return_index=True)
    alike = np.concatenate((alike, np.zeros(len(near), np.float32)))[first]
    both = known[pairs].all(axis=1)
    alike[both] = similarities(cosines(vectors, pairs[both]), unrelated)
    return pairs, alike


def _by_words(texts: Sequence[str], tick: Callable[[int, int], None]) -> tuple[Pairs, Numbers]:
    """Pairs of texts with mostly the same shingles, and the share they have in common."""
    random = np.random.default_rng(_SEED)
    turns = random.integers(1, 1 << 31, size=(_BANDS, 1), dtype=np.uint64) | np.uint64(1)
    smallest = np.zeros((len(texts), _BANDS), np.uint64)
    for at, text in enumerate(texts):
        if at % 1000 == 0:
            tick(at, len(texts))
        words = _WORD.findall(text[:_HASHED].lower())
        runs = {" ".join(words[i : i + _SHINGLES]) for i in range(max(1, len(words) - _SHINGLES + 1))}
        hashes = np.fromiter((crc32(run.encode()) for run in runs), np.uint64, len(runs))
        smallest[at] = ((hashes * turns) & np.uint64(0xFFFFFFFF)).min(axis=1)
    blocks = smallest.astype(np.int64) | np.arange(_BANDS) << 32
    pairs = together(blocks.ravel(), np.repeat(np.arange(len(texts)), _BANDS))
    share = (smallest[pairs[:, 0]] == smallest[pairs[:, 1]]).mean(axis=1, dtype=np.float32)
    return pairs[share >= _COMMON], share[share >= _COMMON]


Found = tuple[Finding | None, list[Remark]]

_EXAMPLES = 10
_SHOWN = 5  # members shown of a group of duplicates
_QUOTED = 160  # characters of a quotation
_READ = 4000


def quality_issues(project: ProjectView) -> Findings:
    """The issues of a project, or of the item in focus, one finding for each kind, most certain first."""
    selected = project.items
    if project.focus is not None:
        selected = [one for one in (project.by_id.get(project.focus),) if one is not None]
    if not selected:
        return Findings(looked_at={"contents": 0}, notes=[Remark("issues.no_content")])
    patterns = []
    notes: list[Remark] = []
    for check in (_empty, _duplicated, _stale, _contradictory, _badly_structured):
        found, remarks = check(project, selected)
        patterns += [found] if found is not None else []
        notes += remarks
    patterns.sort(key=lambda one: (-one.confidence, -one.evidence["count"], one.name))
    return Findings(patterns=patterns, looked_at={"contents": len(selected), "of": len(project.items)}, notes=notes)


def _issue(
    name: str, confidence: float, members: list[Record], total: int, examples: Iterable[JsonObject], **more: Any
) -> Finding:
    return Finding(
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
    flat = " ".join(text[:_READ].split())
    return flat if len(flat) <= _QUOTED else flat[:_QUOTED].rstrip() + "…"


def _example(record: Record, why: Remark, quote: str) -> JsonObject:
    return {"id": record.uid, "title": _quoted(title_of(record)), "why": why, "quote": _quoted(quote)}


_SHORT = 400  # characters; a longer text is never empty
_MARKUP = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]+.*)?$|^[ \t]{0,3}(?:=+|-{2,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LABEL = re.compile(r"\W*(?:[\w/-]+ ?){1,3}:?\W*")
_MARKED = 80  # characters; a longer text has more than a placeholder
_NOTHING = re.compile(
    r"(?:n/?a|none|nothing|empty|test|asdf+|foo(?:bar)?|untitled|null|undefined|없음|빈 문서|테스트|제목 없음"
    r"|내용 없음|미작성)[.!]*",
    re.IGNORECASE,
)


def emptiness(text: str) -> str | None:
    """Why a text is empty, as a code; None if it is not."""
    if not text.strip():
        return "white_space" if text else "no_text"
    if len(text) > _SHORT:
        return None
    rest = _MARKUP.sub("", text).strip()
    if not rest:
        return "heading_alone"
    if not any(c.isalnum() for c in rest):
        return "only_signs" if not any(ord(c) > 0x2190 for c in rest) else None  # a symbol may have a meaning
    if _NOTHING.fullmatch(rest.strip(" .[](){}<>*_-")):
        return "no_word"
    without = PLACEHOLDER.sub("", rest) if len(rest) <= _MARKED else rest
    label = _LABEL.fullmatch(without) and "\n" not in rest
    return "placeholder" if len(without) < len(rest) and (label or not any(map(str.isalpha, without))) else None


def _empty(project: ProjectView, selected: list[Record]) -> Found:
    found = []
    for record in project.each(selected):
        # A named record without observations is not empty: its name and relations say that it exists.
        named = record.name != record.uid and not record.observations
        why = emptiness(record.name if named else "\n".join(record.observations))
        if why and not (named and record.name.strip()):
            found.append((record, "no_text" if named else why))
    if not found:
        return None, []
    examples = (_example(record, Remark(f"issues.{why}"), project.text(record)) for record, why in found)
    reasons = dict(Counter(why for _, why in found))
    return _issue("empty", 1.0, [one for one, _ in found], len(selected), examples, by_reason=reasons), []


def _copied(project: ProjectView, ids: AbstractSet[int]) -> tuple[list[list[int]], dict[int, float], list[Remark]]:
    """Groups of duplicates as places in the items, the largest first; how certain each of them is; and notes."""
    records = project.items
    pairs, notes = copies(project, ids)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(records)))
    graph.add_edges_from([(a, b, None) for a, b in pairs])
    groups = [sorted(group) for group in rustworkx.connected_components(graph) if len(group) > 1]
    groups = [group for group in groups if any(records[at].id in ids for at in group)]
    groups.sort(key=lambda group: (-len(group), group[0]))
    certain: dict[int, float] = {}
    for pair, sure in pairs.items():
        for at in pair:
            certain[at] = max(certain.get(at, 0.0), sure)
    return groups, certain, notes


def groups_of_copies(project: ProjectView) -> tuple[list[tuple[list[Record], float]], list[Remark]]:
    """Groups of duplicates, the largest first, each with the certainty of its least certain member; and notes."""
    records = project.items
    groups, certain, notes = _copied(project, {one.id for one in records})
    return [([records[at] for at in group], min(certain[at] for at in group)) for group in groups], notes


def _duplicated(project: ProjectView, selected: list[Record]) -> Found:
    records = project.items
    groups, certain, notes = _copied(project, {one.id for one in selected})
    if not groups:
        return None, notes
    members = [at for group in groups for at in group]
    equal = sum(certain[at] == 1.0 for at in members)

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
        same = all(certain[at] == 1.0 for at in group)
        return {"id": records[group[0]].uid, "count": len(group), "equal": same, "contents": contents}

    return _issue(
        "duplicated",
        sum(certain[at] for at in members) / len(members),
        [records[at] for at in members],
        len(selected),
        map(shown, groups),
        groups=len(groups),
        superfluous=len(members) - len(groups),
        equal=equal,
        nearly=len(members) - equal,
    ), notes


_TERMS = 20_000  # characters searched for deadlines
_OUTDATED = frozenset(
    {"superseded", "deprecated", "obsolete", "replaced", "outdated", "expired", "폐기", "대체됨", "만료"}
)
_REPLACES = frozenset({"supersedes", "replaces", "obsoletes", "대체"})
_REPLACED = frozenset({"superseded_by", "replaced_by", "obsoleted_by"})
_DATED = re.compile(r"\d{4}[-./년]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d{1,2}월", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:will|shall|going to|due|deadline|until|by|no later than|scheduled|plan(?:s|ned)?|upcoming|expires?|should"
    r"|must|target|goal)\b|예정|계획|까지|할 것|하기로|마감|기한|목표|만료",
    re.IGNORECASE,
)
"""Words of a sentence about the future."""
_PAST = re.compile(
    r"\b(?<!be )(?<!to )(?:was|were|did|had|has been|have been|done|sent|finished|completed"
    r"|released|shipped|closed|cancel+ed)\b|\[[xX]\]|[가-힣](?:했|었|았|였|됐|렸|졌|갔|왔)(?:다|습니다|어요|음)|완료|취소|끝났",
    re.IGNORECASE,
)
"""Words of a sentence about the past."""


def stale_items(project: ProjectView, selected: list[Record]) -> list[tuple[Record, str, Remark, str]]:
    """Items that were superseded, or have a deadline that has passed: each with the reason, and a quotation."""
    marked, replaced = project.superseded(selected), _replaced(project)
    today = datetime.fromtimestamp(project.now / 1_000_000, UTC).date()
    found: list[tuple[Record, str, Remark, str]] = []
    for record in project.each(selected):
        text = project.text(record)
        status = str(record.metadata.get("status", "")).strip().casefold()
        if by := marked.get(record.uid) or replaced.get(record.name):
            found.append((record, "superseded", Remark("issues.superseded_by", {"by": by}), text))
        elif status in _OUTDATED:
            found.append((record, "superseded", Remark("issues.status", {"status": status}), text))
        elif passed := _passed(record, text, today):
            found.append((record, "past_deadline", Remark("issues.over", {"day": str(passed[0])}), passed[1]))
    return sorted(found, key=lambda one: (one[0].updated, one[0].id))


def _stale(project: ProjectView, selected: list[Record]) -> Found:
    found = stale_items(project, selected)
    if not found:
        return None, []
    examples = (_example(record, why, quote) for record, _, why, quote in found)
    reasons = dict(Counter(sort for _, sort, *_ in found))
    return _issue("stale", 1.0, [one[0] for one in found], len(selected), examples, by_reason=reasons), []


def _replaced(project: ProjectView) -> dict[str, str]:
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
    """A day after the last change that has passed, in a sentence about the future."""
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


def _contradictory(project: ProjectView, selected: list[Record]) -> Found:
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts, conflicts_of

    focused = project.focus is not None
    made = conflicts_of(project, selected[0], suggest=False) if focused else conflicts(project, suggest=False)
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
        len(selected),
        examples,
        conflicts=len(found),
        by_reason=dict(Counter(one.type for one in found)),
    ), list(made.notes)


_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}", re.MULTILINE)
_LINK = re.compile(r"\]\(\s*(?:\)|#)")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_DENSE = re.compile("[\u3041-\u9fff\uac00-\ud7af]")
_WALL = 2500  # characters of a paragraph that is too long, about 400 words; half of a dense script
_PARSED = 5000  # items that are parsed
_LARGE = 100_000  # characters; a larger text is a file


def doubtful(text: str) -> bool:
    """Whether a text might have broken markup: a quick test that misses none."""
    if len(text) > _LARGE:
        return False
    open_fence = ("```" in text or "~~~" in text) and len(_FENCE.findall(text)) % 2
    marked = ("#" in text and _HEADING.search(text)) or ("](" in text and _LINK.search(text))
    return bool(marked or open_fence or _wall(text) is not None)


def _wall(text: str) -> str | None:
    """A paragraph that is far too long and neither a list nor a table."""
    for match in _PARAGRAPH.finditer(text) if len(text) >= _WALL // 2 else ():
        size = len(match[0]) * (2 if _DENSE.search(match[0][:400]) else 1)
        listed = match[0].lstrip().startswith(("-", "*", "|", ">", "1.")) or match[0].count("\n") * 60 >= size
        if size > _WALL and not listed:
            return match[0]
    return None


def _layout_faults(record: Record, text: str) -> list[Flaw]:
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


def _badly_structured(project: ProjectView, selected: list[Record]) -> Found:
    texts = ((record, project.text(record)) for record in project.each(selected))
    candidates = [(record, text) for record, text in texts if doubtful(text)]
    step = max(1, -(-len(candidates) // _PARSED))
    notes = [Remark("issues.some_read", {"doubtful": len(candidates), "step": step})] if step > 1 else []
    candidates = candidates[::step]
    checked = ((record, _layout_faults(record, text)) for record, text in project.each(candidates, 100))
    found = [(record, faults) for record, faults in checked if faults]
    if not found:
        return None, notes
    found.sort(key=lambda one: (-len(one[1]), one[0].id))
    total = sum(len(faults) for _, faults in found)
    examples = (
        _example(record, Remark(f"quality.fault_{one.name}", one.values), one.quote) for record, (one, *_) in found
    )
    records = [record for record, _ in found]
    pattern = _issue(
        "badly_structured", 1.0, records, len(selected), examples, faults=total, read_closely=len(candidates)
    )
    return pattern, notes
