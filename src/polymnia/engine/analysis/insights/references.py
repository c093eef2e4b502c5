"""References: what memories point to and what is not there: ids, linked titles, numbered keys, ends of relations."""

from __future__ import annotations

import re
from collections import Counter

from polymnia.engine.analysis.actions import UNWRITTEN, Action, CreateEntity, DeleteRelations, Store, Update
from polymnia.engine.analysis.insights.habits import habit
from polymnia.engine.analysis.insights.heads import key
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural
from polymnia.engine.items import find_deleted, title_of
from polymnia.models import Record, Relation

__all__ = ["loose_ends", "missing_references"]

_ID = re.compile(r"\bcontent_[0-9a-f]{32}\b")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,120})(?:[|#][^\[\]\n]*)?\]\]")
_KEY = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?![\w-])")
_FENCED = re.compile(r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SAYS = re.compile(r"[^\W\d_]")
_SERIES = 2  # titles that make a series of numbered keys
_LEAST = 0.2
_DELETED = "deleted"  # the mark of a relation that was kept on purpose when its end was deleted
_TOLD = 100
_AT_ONCE = 20  # relations that one action deletes

Places = dict[str, list[Record]]


def missing_references(view: View, looked: Looked) -> None:
    """What texts name by an id, a link or a numbered key, and what is not there."""
    ids: Places = {}
    links: Places = {}
    keys: Places = {}
    for at, record in enumerate(view.records):
        if at % 1000 == 0:
            view.tick(at, len(view.records))
        text = _FENCED.sub(" ", view.material.text(record))
        for found, places in ((_ID.findall(text), ids), (_LINK.findall(text), links)):
            for one in dict.fromkeys(found):
                if _SAYS.search(one):
                    places.setdefault(one.strip(), []).append(record)
        for match in _KEY.finditer(text):
            some = keys.setdefault(match[0], [])
            if not some or some[-1] is not record:
                some.append(record)
    looked.looked_at["references"] = len(ids) + len(links)
    snapshot, wanted = view.whole.snapshot, view.whole.wanted
    known = snapshot.ids_of(list(ids)) if ids else {}
    base = view.whole.look.base
    seen = set(snapshot.matching(wanted, among=[id - base for id in known.values()])) if known else set()
    there = {uid for uid, id in known.items() if id - base in seen}  # what may not be seen is told like what never was
    for id, records in sorted(ids.items()):
        if id not in there:
            gone = find_deleted(snapshot, id, wanted.session) is not None
            _tell(view, looked, "missing_reference", id, records, 1.0,
                  "Counted: the id belongs to nothing that is "
                  "there" + (", but to something that was deleted." if gone else "."),
                  "which was deleted" if gone else "which is not there")  # fmt: skip
    if links or keys:
        titles = [title_of(one) for one in view.whole.items]
        _links(view, looked, links, titles)
        _keys(view, looked, keys, titles)


def _links(view: View, looked: Looked, links: Places, titles: list[str]) -> None:
    known = {key(title) for title in titles} | {key(one.name) for one in view.whole.items if one.name != one.uid}
    for title, records in sorted(links.items()):
        if key(title) not in known:
            _tell(view, looked, "missing_reference", title, records, 1.0,
                  "Counted: no memory has this name or title.", "which no memory is called")  # fmt: skip


def _keys(view: View, looked: Looked, keys: Places, titles: list[str]) -> None:
    """Numbered keys such as ADR-12, of series that memories are called by."""
    led: dict[str, set[str]] = {}
    for title in titles:
        if match := _KEY.match(title.strip("#[( ")):
            led.setdefault(match[1], set()).add(match[0])
    for series, known in sorted(led.items()):
        if len(known) < _SERIES:
            continue
        named = {one for one in keys if one.rpartition("-")[0] == series}
        missing = named - known
        usual = habit(len(named) - len(missing), len(named) - 1)
        if usual < _LEAST:
            continue
        looked.looked_at["references"] += len(named)
        for one in sorted(missing):
            _tell(view, looked, "missing_reference", one, keys[one], round(usual, 4),
                  f"Of {len(named)} keys {series}-… that are named, {len(named) - len(missing)} are the title of a "
                  f"memory; "
                  "the confidence is how usual that is: (those + 1) / (the others + 2).",
                  f"which no memory is called, though {len(known)} others of its series are")  # fmt: skip


def _tell(
    view: View, looked: Looked, name: str, what: str, records: list[Record], sure: float, how: str, said: str
) -> None:
    first = records[0]
    advice = f"Correct the reference in {', '.join(r.uid for r in records[:3])}"
    steps: list[Action] = [Update(id=first.uid, content=UNWRITTEN, draft=True)]
    if not _ID.fullmatch(what):
        advice += f", or store “{what}”"
        steps.append(Store(content=UNWRITTEN, title=what, draft=True))
    looked.add(
        Insight(
            type="content_gaps", name=name,
            summary=f"{view.title(first)}{_more(len(records))} refers to “{what}”, {said}.",
            confidence=sure, explanation=how,
            evidence={"reference": what, "count": len(records), "records": view.shown(records)},
            members=tuple(one.id for one in records), **view.advised(advice + ".", *steps),
        ),
        len(records),
    )  # fmt: skip


def _more(count: int) -> str:
    return f" (and {plural(count - 1, 'other memory', 'other memories')})" if count > 1 else ""


def loose_ends(view: View, looked: Looked) -> None:
    """Relations an end of which names nothing, those of one name together."""
    known = view.whole.by_name
    own = view.material.by_name
    ends: dict[str, list[Relation]] = {}
    for at, relation in enumerate(view.whole.snapshot.relations()):
        if at % 5000 == 0:
            view.tick()
        if relation.metadata.get(_DELETED) or (relation.source in known and relation.target in known):
            continue
        if relation.source in own or relation.target in own or view.among is None:
            for name in {relation.source, relation.target} - known.keys():
                ends.setdefault(name, []).append(relation)
    there = view.whole.snapshot.ids(list(ends)) if ends else {}
    loose = sorted(((-len(some), name) for name, some in ends.items() if name not in there))
    looked.looked_at["loose_ends"] = len(loose)
    for count, name in loose[:_TOLD]:
        some = ends[name]
        records = [own[end] for end in dict.fromkeys(e for r in some for e in (r.source, r.target)) if end in own]
        types = Counter(relation.type for relation in some)
        shown = [{"source": r.source, "type": r.type, "target": r.target} for r in some[: view.budget.examples]]
        steps: list[Action] = [CreateEntity(name=name, draft=True)]
        if len(some) <= _AT_ONCE:
            steps.append(DeleteRelations(relations=tuple((r.source, r.target, r.type) for r in some)))
        what = ", ".join(type for type, _ in types.most_common(3))
        looked.add(
            Insight(
                type="content_gaps", name="loose_end",
                summary=f"{plural(-count, 'relation')} ({what}) lead to “{name}”, which names nothing that is there.",
                confidence=1.0, explanation="Counted.",
                evidence={"name": name, "count": -count, "relations": shown, "records": view.shown(records)},
                members=tuple(one.id for one in records),
                **view.advised(f"Store “{name}”, or delete the relations that lead to it.", *steps),
            ),
            -count,
        )  # fmt: skip
