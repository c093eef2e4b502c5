"""Efficiency opportunities: what could be removed, joined or split, and what that would save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from polymnia.engine.analysis.actions import UNWRITTEN, CleanSessions, Delete, Relate, StoreItem, Update
from polymnia.engine.analysis.activity.changes import DAY
from polymnia.engine.analysis.insights.view import InsightResults, InsightView
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.engine.text.document import blocks
from polymnia.engine.text.language import fold
from polymnia.importing import importing
from polymnia.models import Record, normal

_CONFLICTS = 100


def efficiency_opportunities(view: InsightView, results: InsightResults) -> None:
    """Counts at the surface; conflicts, near duplicates and missing links when it goes deep."""
    results.looked_at["memories"] = len(view.records)
    _duplicates(view, results)
    _same_tags(view, results)
    _to_split(view, results)
    _idle_sessions(view, results)
    if view.deep:
        _conflicts(view, results)
        _missing_links(view, results)


# ── Duplicates ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _duplicates(view: InsightView, results: InsightResults) -> None:
    """Groups of equal memories of one scope, and near duplicates when it goes deep.

    No recommendation deletes what another one retains: groups are processed from the most valuable one (by its copies,
    relations, length and age), and a near duplicate is deleted with its copies.
    """
    text = view.project.text
    equal: dict[tuple[str | None, str], list[Record]] = {}
    for record in view.project.each(view.records):
        if key := normal(text(record)):
            equal.setdefault((record.scope, key), []).append(record)
    results.looked_at["equal_groups"] = sum(len(some) > 1 for some in equal.values())
    links = Counter(name for one in view.project.relations for name in (one.source, one.target))

    def worth(one: Record) -> tuple[int, int, int]:
        return -links[one.name], -len(text(one)), one.id

    groups = {some[0].id: some for some in (sorted(some, key=worth) for some in equal.values())}
    near = _near_copies(view, results, groups) if view.deep else {}
    chosen = [some for id, some in groups.items() if len(some) > 1 or id in near]
    retained: set[int] = set()
    deleted: set[int] = set()
    for keep, *same in sorted(chosen, key=lambda some: (-len(some), worth(some[0]))):
        if keep.id in deleted:
            continue
        retained.add(keep.id)
        if same:
            _add_duplicates(view, results, "duplicates", keep, same, 1.0)
        for id, certain in near.get(keep.id, {}).items():
            if id not in retained and id not in deleted:
                deleted.add(id)
                _add_duplicates(view, results, "near_duplicates", keep, groups[id], min(certain, 0.99))


def _near_copies(
    view: InsightView, results: InsightResults, groups: dict[int, list[Record]]
) -> dict[int, dict[int, float]]:
    with importing():
        from polymnia.engine.analysis.issues import near_copies

    part = view.part([some[0] for some in groups.values()])
    pairs, notes = near_copies(part, range(len(part.items)), groups.keys())
    results.looked_at["compared_for_near_duplicates"] = len(part.items)
    results.notes += notes
    found: dict[int, dict[int, float]] = {}
    for (a, b), certain in pairs.items():
        one, other = part.items[a].id, part.items[b].id
        found.setdefault(one, {})[other] = found.setdefault(other, {})[one] = certain
    return found


def _add_duplicates(
    view: InsightView, results: InsightResults, name: str, keep: Record, go: Sequence[Record], confidence: float
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
    results.add(
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
    """The letters and digits of a tag without case and accents, which all its spellings share."""
    return "".join(c for c in fold(tag) if c.isalnum())


def _same_tags(view: InsightView, results: InsightResults) -> None:
    tagged: dict[str, list[Record]] = {}
    for record in view.records:
        for tag in record.tags:
            tagged.setdefault(tag, []).append(record)
    results.looked_at["tags"] = len(tagged)
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
        results.add(
            "tag_spellings",
            1.0,
            evidence,
            every,
            details={"memories": every},
            members=tuple(one.id for one in records),
            actions=view.steps(*changes),
        )


# ── Long memories to split ───────────────────────────────────────────────────────────────────────────────────────────

_LONG = 8_000  # characters, about what a model can read of one memory without waste
_SECTIONS = 3  # at least
_LEVELS = 3  # of headings that may begin a section


def sections(text: str) -> list[tuple[str, int]]:
    """The titles and lengths of the sections of a text, by its highest level of headings that occurs twice."""
    heads = [block for block in blocks(text) if block.kind == "h" and block.level <= _LEVELS]
    levels = Counter(one.level for one in heads)
    top = min((level for level, count in levels.items() if count > 1), default=0)
    chosen = [one for one in heads if one.level <= top]
    ends = [one.start for one in chosen[1:]] + [len(text)]
    return [(one.text, end - one.start) for one, end in zip(chosen, ends, strict=False) if one.level == top]


def _to_split(view: InsightView, results: InsightResults) -> None:
    texts = [view.project.text(one) for one in view.records]
    results.looked_at["characters"] = sum(map(len, texts))
    for record, text in zip(view.records, texts, strict=True):
        parts = sections(text) if len(text) >= _LONG else []
        if len(parts) < _SECTIONS:
            continue
        saved = len(text) - max(size for _, size in parts)
        shown = [{"title": title, "characters": size} for title, size in parts[: view.budget.examples]]
        results.add(
            "split",
            1.0,
            {"characters": len(text), "saved_characters": saved, "sections": shown, "section_count": len(parts)},
            saved,
            details={"title": title_of(record)},
            members=(record.id,),
            actions=view.steps(
                StoreItem(content=f"## {parts[0][0]}\n\n{UNWRITTEN}", tags=record.tags, draft=True),
                Relate(source=UNWRITTEN, target=record.uid, type="part_of", draft=True),
            ),
        )


# ── Sessions and conflicts ───────────────────────────────────────────────────────────────────────────────────────────


def _idle_sessions(view: InsightView, results: InsightResults) -> None:
    """Sessions that were not used in the horizon: how many, but not which, since sessions are private."""
    filters = view.whole.filters
    if view.among is not None or filters.only_session:
        return
    sessions = view.whole.snapshot.sessions()
    results.looked_at["sessions"] = len(sessions)
    old = [one for one in sessions if one.used < view.start and one.memories and one.name != filters.session]
    if not old:
        return
    held = sum(one.memories for one in old)
    days = (view.project.now - min(one.used for one in old)) // DAY
    evidence = {"sessions": len(old), "of": len(sessions), "saved_memories": held, "oldest_days": days}
    steps = view.steps(CleanSessions(days=view.days))
    results.add("clean_sessions", 1.0, evidence, held, details={"days": view.days}, actions=steps)


def _conflicts(view: InsightView, results: InsightResults) -> None:
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts, deduplicated

    found = conflicts(view.sample, suggest=view.recommend)
    results.looked_at["compared_for_conflicts"] = found.looked_at.get("items", len(view.sample.items))
    results.notes += found.notes
    for one in deduplicated(found.clashes)[:_CONFLICTS]:
        sides = [
            {"id": side.record.uid, side.kind: side.sentence, "at": moment(side.at)} for side in (one.left, one.right)
        ]
        results.add(
            "settle_conflict",
            one.confidence,
            {"kind": one.type, "subtype": one.subtype, "newer": one.newer, "statements": sides},
            one.confidence,
            details={"clash": one},
            members=one.members,
            actions=() if one.resolution is None else view.steps(*one.resolution.steps),
        )


def _missing_links(view: InsightView, results: InsightResults) -> None:
    with importing():
        from polymnia.engine.analysis.graph.patterns import relationship_patterns

    found = relationship_patterns(view.project)
    results.looked_at["relations"] = found.looked_at.get("relations", len(view.project.relations))
    for one in found.patterns:
        if one.name == "missing_link":
            ids = [record.uid for record in view.loaded(one.members)]
            relate = [Relate(source=ids[0], target=ids[1], type="related_to", reason=one)] if len(ids) == 2 else []
            steps = view.steps(*relate)
            results.add(one.name, one.confidence, one.evidence, source=one, members=one.members, actions=steps)
