"""Efficiency opportunities: what a project could do without, or draw together, and what that would save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from polymnia.engine.analysis.actions import UNWRITTEN, CleanSessions, Delete, Relate, Store, Update
from polymnia.engine.analysis.insights.view import DAY, InsightView, Looked
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.engine.text.document import blocks
from polymnia.engine.text.language import fold
from polymnia.importing import importing
from polymnia.models import Record, normal

_CONFLICTS = 100  # that are passed on


def efficiency_opportunities(view: InsightView, looked: Looked) -> None:
    """What can be counted at the surface; conflicts and near copies when it goes deep."""
    looked.looked_at["memories"] = len(view.records)
    _duplicates(view, looked)
    _same_tags(view, looked)
    _to_split(view, looked)
    _idle_sessions(view, looked)
    if view.deep:
        _conflicts(view, looked)


# ── Duplicates: memories that say the same, and what it would save to keep one of each ───────────────────────────────

_TOLD = 200


class _Choice:
    """Which of several memories to keep: one home for all advice, so that none says to delete what another keeps.

    Equal memories are a list, the one to keep first.
    """

    def __init__(self, view: InsightView, groups: Iterable[Sequence[Record]]) -> None:
        self._text = view.project.text
        names = {one.name for some in groups for one in some}
        ends = (name for one in view.project.relations for name in (one.source, one.target))
        self._links = Counter(name for name in ends if name in names)
        self._kept: set[int] = set()
        self._gone: set[int] = set()

    def ordered(self, some: Iterable[Record]) -> list[Record]:
        """Memories in the order in which they are worth keeping: by their relations, their length, their age."""
        return sorted(some, key=lambda one: (-self._links[one.name], -len(self._text(one)), one.id))

    def between(self, one: list[Record], other: list[Record]) -> tuple[list[Record], list[Record]] | None:
        """Which of two groups stays and which goes; None where that is decided already."""
        firsts = {one[0].id, other[0].id}
        if firsts & self._gone or firsts <= self._kept:
            return None
        best = self.ordered((one[0], other[0]))[0]
        many = len(one) - len(other)
        stays, goes = (one, other) if many > 0 or (not many and best is one[0]) else (other, one)
        if goes[0].id in self._kept:
            stays, goes = goes, stays
        self._kept.add(stays[0].id)
        self._gone |= {record.id for record in goes}
        return stays, goes

    def stays(self, copies: list[Record]) -> bool:
        """Whether nothing says that a group goes."""
        return copies[0].id not in self._gone


def _duplicates(view: InsightView, looked: Looked) -> None:
    """Groups of memories of one scope that are equal, and when it goes deep those that are nearly so."""
    equal: dict[tuple[str | None, str], list[Record]] = {}
    for record in view.project.each(view.records):
        if said := normal(view.project.text(record)):
            equal.setdefault((record.scope, said), []).append(record)
    looked.looked_at["equal_groups"] = sum(len(some) > 1 for some in equal.values())
    choice = _Choice(view, [some for some in equal.values() if view.deep or len(some) > 1])
    groups = [choice.ordered(some) if len(some) > 1 else some for some in equal.values()]
    if view.deep:
        _near_duplicates(view, looked, groups, choice)
    told = [one for one in groups if len(one) > 1 and choice.stays(one)]
    for keep, *go in sorted(told, key=lambda one: (-len(one), one[0].id))[:_TOLD]:
        _tell_duplicates(view, looked, "duplicates", keep, go, 1.0)


def _near_duplicates(view: InsightView, looked: Looked, groups: Sequence[list[Record]], choice: _Choice) -> None:
    """Pairs of groups of equal memories that are nearly the same; what is equal to one that goes, goes with it."""
    with importing():
        from polymnia.engine.analysis.issues.copies import near_copies

    copies = {one[0].id: one for one in groups}
    part = view.part([one[0] for one in groups])
    found, notes = near_copies(part, range(len(part.items)), copies.keys())
    looked.looked_at["compared_for_near_duplicates"] = len(part.items)
    looked.notes += notes
    for (a, b), certain in found.items():
        chosen = choice.between(copies[part.items[a].id], copies[part.items[b].id])
        if chosen is not None:
            _tell_duplicates(view, looked, "near_duplicates", chosen[0][0], chosen[1], min(certain, 0.99))


def _tell_duplicates(
    view: InsightView, looked: Looked, name: str, keep: Record, go: Sequence[Record], confidence: float
) -> None:
    text, most = view.project.text, view.budget.examples
    saved = sum(len(text(one)) for one in go)
    evidence = {
        "keep": keep.uid,
        "superfluous": [one.uid for one in go[:10]],
        "saved_memories": len(go),
        "saved_characters": saved,
        "texts": [{"id": one.uid, "text": text(one)[:200]} for one in [keep, *go][:most]],
    }
    looked.add(
        name,
        confidence,
        evidence,
        saved,
        details={"title": title_of(keep)},
        members=tuple(one.id for one in [keep, *go]),
        actions=view.steps(*(Delete(id=one.uid) for one in go[:most])),
    )


# ── Tags in several spellings ────────────────────────────────────────────────────────────────────────────────────────


def spelling(tag: str) -> str:
    """What two spellings of one tag have in common: its letters and digits, without case and accents."""
    return "".join(c for c in fold(tag) if c.isalnum())


def _same_tags(view: InsightView, looked: Looked) -> None:
    tagged: dict[str, list[Record]] = {}
    for record in view.records:
        for tag in record.tags:
            tagged.setdefault(tag, []).append(record)
    looked.looked_at["tags"] = len(tagged)
    spelled: dict[str, list[str]] = {}
    for tag in sorted(tagged):
        if key := spelling(tag):
            spelled.setdefault(key, []).append(tag)
    for some in spelled.values():
        if len(some) < 2:
            continue
        keep = max(some, key=lambda tag: (len(tagged[tag]), tag))
        others = [tag for tag in some if tag != keep]
        records = list({one.id: one for tag in others for one in tagged[tag]}.values())
        every = len({one.id for tag in some for one in tagged[tag]})
        evidence = {
            "tags": {tag: len(tagged[tag]) for tag in some},
            "keep": keep,
            "saved_tags": len(others),
            "to_change": view.shown(records),
            "count": len(records),
        }
        changes = (
            Update(id=one.uid, tags=tuple(dict.fromkeys(keep if tag in others else tag for tag in one.tags)))
            for one in records[: view.budget.examples]
        )
        looked.add(
            "tag_spellings",
            1.0,
            evidence,
            every,
            details={"memories": every},
            members=tuple(one.id for one in records),
            actions=view.steps(*changes),
        )


# ── Memories so long that they are several ───────────────────────────────────────────────────────────────────────────

_LONG = 8_000  # characters, about what a model reads of one memory before it pays for what it does not need
_SECTIONS = 3  # parts with a heading of their own, without which there is nothing to split at
_LEVELS = 3  # of headings that may be parts


def sections(text: str) -> list[tuple[str, int]]:
    """The parts of a text under headings of its highest level that occurs more than once, and their lengths."""
    heads = [block for block in blocks(text) if block.kind == "h" and block.level <= _LEVELS]
    levels = Counter(one.level for one in heads)
    top = min((level for level, count in levels.items() if count > 1), default=0)
    chosen = [one for one in heads if one.level <= top]
    ends = [one.start for one in chosen[1:]] + [len(text)]
    return [(one.text, end - one.start) for one, end in zip(chosen, ends, strict=False) if one.level == top]


def _to_split(view: InsightView, looked: Looked) -> None:
    """Memories of several sections that are longer than anybody wants to read at once."""
    texts = [view.project.text(one) for one in view.records]
    looked.looked_at["characters"] = sum(map(len, texts))
    for record, text in zip(view.records, texts, strict=True):
        parts = sections(text) if len(text) >= _LONG else []
        if len(parts) < _SECTIONS:
            continue
        saved = len(text) - max(size for _, size in parts)
        shown = [{"title": title, "characters": size} for title, size in parts[: view.budget.examples]]
        looked.add(
            "split",
            1.0,
            {"characters": len(text), "saved_characters": saved, "sections": shown, "section_count": len(parts)},
            saved,
            details={"title": title_of(record)},
            members=(record.id,),
            actions=view.steps(
                Store(content=f"## {parts[0][0]}\n\n{UNWRITTEN}", tags=record.tags, draft=True),
                Relate(source=UNWRITTEN, target=record.uid, type="part_of", draft=True),
            ),
        )


# ── Sessions and conflicts ───────────────────────────────────────────────────────────────────────────────────────────


def _idle_sessions(view: InsightView, looked: Looked) -> None:
    """Sessions nobody has used within the horizon. How many, not which: what is in a session is its own affair."""
    wanted = view.whole.wanted
    if view.among is not None or wanted.only_session:
        return
    sessions = view.whole.snapshot.sessions()
    looked.looked_at["sessions"] = len(sessions)
    old = [one for one in sessions if one.used < view.start and one.memories and one.name != wanted.session]
    if not old:
        return
    held = sum(one.memories for one in old)
    days = (view.project.now - min(one.used for one in old)) // DAY
    evidence = {"sessions": len(old), "of": len(sessions), "saved_memories": held, "oldest_days": days}
    steps = view.steps(CleanSessions(days=view.days))
    looked.add("clean_sessions", 1.0, evidence, held, details={"days": view.days}, actions=steps)


def _conflicts(view: InsightView, looked: Looked) -> None:
    """Two statements that cannot both hold, as something to settle."""
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts, once

    found = conflicts(view.sample, suggest=view.recommend)
    looked.looked_at["compared_for_conflicts"] = found.looked_at.get("items", len(view.sample.items))
    looked.notes += found.notes
    for one in once(found.clashes)[:_CONFLICTS]:
        sides = [
            {"id": side.record.uid, side.kind: side.sentence, "at": moment(side.at)} for side in (one.left, one.right)
        ]
        looked.add(
            "settle_conflict",
            one.confidence,
            {"kind": one.type, "subtype": one.subtype, "newer": one.newer, "statements": sides},
            one.confidence,
            details={"clash": one},
            members=one.members,
            actions=() if one.resolution is None else view.steps(*one.resolution.steps),
        )
