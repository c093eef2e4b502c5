"""Reads the journal: the history of a memory, and the project as it was at a time; and purges it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.json import Decoder

from polymnia.models import Change, Event, JsonObject, Record, Relation, RelationTouch, Seen, Touch
from polymnia.storage import rows
from polymnia.storage.rows import HOUR
from polymnia.storage.statements import StatementRunner

if TYPE_CHECKING:
    from polymnia.storage.transaction import ProjectTransaction

BOOKKEEPING = frozenset(("version", "updated"))
"""Columns that every change of a record updates."""

ROWS = {
    "m": "memory_rows_between",
    "o": "observation_rows_between",
    "r": "relation_rows_between",
    "s": "session_rows_between",
}
"""The statement that reads a range of rows, by the kind of row."""

decode = Decoder(JsonObject).decode


def change(run: StatementRunner, project: int, row: tuple[Any, ...], undo: int | None = None) -> Change:
    """A change from the columns of the change statements; ``undo`` is the change that is undoing it now."""
    id, at, who, action, _, _, undoes, account, client, dialect, tool = row
    return Change(
        id=id, at=at, who=who, action=action, undoes=undoes, undone_by=undo or undone_by(run, project, id),
        account=account, client=client, dialect=dialect, tool=tool,
    )  # fmt: skip


def undone_by(run: StatementRunner, project: int, number: int) -> int | None:
    """The change that undid this one and is still in effect: an undo may have been undone itself, and done again."""
    undos: dict[int, list[int]] = {}  # each change with those that undid it, newest first
    waiting = [number]
    while waiting:
        at = waiting.pop()
        undos[at] = [by for (by,) in run("undone_by", (project, at)).fetchall()]
        waiting += undos[at]
    undone: dict[int, int | None] = {}
    for at in sorted(undos, reverse=True):
        undone[at] = next((by for by in undos[at] if undone[by] is None), None)
    return undone[number]


def history(run: StatementRunner, project: int, name: str) -> list[Event]:
    """The events of all memories of this name and their relations, oldest first."""
    base, top = project * rows.SPAN, (project + 1) * rows.SPAN - 1
    changes: dict[int, tuple[tuple[Any, ...], JsonObject]] = {}  # each with its effects

    def effects(row: tuple[Any, ...]) -> JsonObject:
        lists: JsonObject = {"added": [], "removed": [], "related": [], "unrelated": []}
        return changes.setdefault(row[0], (row, {"version": None, "changed": {}, **lists}))[1]

    def creation(ref: int) -> JsonObject:
        row = run("change_that_made", (project, ref - base)).fetchone()
        return effects(row or (0,))  # 0: no change created the row

    def effects_of(change: int) -> JsonObject:
        return effects(run("change", (project, change)).fetchone())

    ids = {id for (id,) in run("id_of", (project, name))}
    ids |= {id for (id,) in run("deleted_named", (base, top, name))}
    for id in sorted(ids):
        _add_memory(run, id, creation, effects_of)
    current = run.few("relations_of", project, [name])
    arrows = {row[0]: f"{row[1]} -{row[3]}-> {row[2]}" for row in current}
    for ref, before in run("deleted_relations_named", (base, top, name)):
        ends = decode(before)
        arrows[ref] = f"{ends['source']} -{ends['type']}-> {ends['target']}"
    for ref, arrow in arrows.items():
        creation(ref)["related"].append((ref, arrow))
        for at, op, *_ in run("items_of_owner", (ref,)).fetchall():
            effects_of(at)["unrelated" if op == "d" else "related"].append((ref, arrow))
    changes.pop(0, None)
    events = []
    for _, (row, done) in sorted(changes.items()):
        for key in ("added", "removed", "related", "unrelated"):
            done[key] = tuple(text for _, text in sorted(done[key]))
        events.append(Event(change=change(run, project, row), **done))
    return events


def _add_memory(
    run: StatementRunner, id: int, creation: Callable[[int], JsonObject], effects_of: Callable[[int], JsonObject]
) -> None:
    """Add what happened to a memory to the effects of each change."""
    items = run("items_of_owner", (id,)).fetchall()
    texts = dict(run("texts", (id,)).fetchall())
    for _, op, kind, ref, _, before in items:
        if kind == "o" and op == "d":
            texts.setdefault(ref, decode(before)["text"])
    creation(id).update(created=True, version=1)
    for ref, text in texts.items():
        creation(ref)["added"].append((ref, text))
    for at, op, kind, ref, _, before in items:
        if op == "p":
            continue  # purged
        done = effects_of(at)
        if kind == "o":
            done["removed" if op == "d" else "added"].append((ref, texts[ref]))
        elif op == "u":
            old = decode(before)
            if "version" in old:
                done["version"] = old["version"] + 1
            done["changed"].update((k, v) for k, v in old.items() if k not in BOOKKEEPING)
        elif op == "d":
            done["deleted"] = True
        else:
            done["created"] = True
            done["version"] = decode(before)["version"] if before else None


def versions(run: StatementRunner, project: int, id: int) -> list[tuple[Change, Record]]:
    """A memory as each known change left it, newest first; a deleted one from its last state on."""
    base = project * rows.SPAN
    items = run("items_of_owner", (id,)).fetchall()
    row = run("memory_row", (id,)).fetchone()
    state = dict(zip(rows.MEMORY_COLUMNS, row, strict=True)) if row else None
    texts = dict(run("texts", (id,)).fetchall())
    by_change: dict[int, list[tuple[Any, ...]]] = {}
    for item in items:
        by_change.setdefault(item[0], []).append(item)
    changes = {number: run("change", (project, number)).fetchone() for number in by_change}
    for ref in {id, *texts, *(item[3] for item in items if item[2] == "o")}:
        made = run("change_that_made", (project, ref - base)).fetchone()
        if made is not None:
            changes[made[0]] = made
    states = []
    for number in sorted(changes, reverse=True):
        change_row = changes[number]
        if state is not None:
            record = _record({**state, "id": id}, [texts[ref] for ref in sorted(texts)])
            states.append((change(run, project, change_row), record))
        first, last = base + change_row[4], base + change_row[5]
        for _, op, kind, ref, _, before in reversed(by_change.get(number, [])):
            if op == "p":
                return states  # earlier versions were purged
            if kind == "o":
                if op == "d":
                    texts[ref] = decode(before)["text"]
                else:
                    texts.pop(ref, None)
            elif op == "d":
                state = decode(before)
            elif op == "u" and state is not None:
                state.update(decode(before))
            elif op == "i":
                state = None
        texts = {ref: text for ref, text in texts.items() if not first < ref <= last}
        if first < id <= last:
            break
    return states


def as_of(run: StatementRunner, project: int, at: int, name: str | None) -> tuple[list[Record], list[Relation]]:
    """The project as it was at a time: the current rows with every later change reverted in memory."""
    base = project * rows.SPAN
    cut = run("change_at", (project, at)).fetchone()
    if cut is None:
        return [], []
    border = base + cut[1]  # rows above this id were created later
    columns = {"m": rows.MEMORY_COLUMNS, "o": rows.OBSERVATION_COLUMNS, "r": rows.RELATION_COLUMNS}
    tables: dict[str, dict[int, JsonObject]] = {
        kind: {row[0]: dict(zip(columns[kind], row, strict=True)) for row in run(ROWS[kind], (base, border))}
        for kind in columns
    }
    for _, op, kind, ref, _, before in run("items_after", (project, cut[0])):
        if ref > border or kind not in tables:
            continue
        table = tables[kind]
        if op == "i":
            table.pop(ref, None)
        elif op == "d":
            table[ref] = {**decode(before), "id": ref}
        elif op == "u" and ref in table:
            table[ref].update(decode(before))
    texts: dict[int, list[str]] = {}
    for id in sorted(tables["o"]):
        row = tables["o"][id]
        texts.setdefault(row["memory"], []).append(row["text"])
    records = [
        _record(row, texts.get(id, []))
        for id, row in sorted(tables["m"].items())
        if name is None or row["name"] == name
    ]
    relations = [
        rows.relation(tuple(row[c] for c in rows.RELATION_COLUMNS if c != "project"))
        for _, row in sorted(tables["r"].items())
        if name is None or name in (row["source"], row["target"])
    ]
    return records, relations


def _record(row: JsonObject, texts: list[str]) -> Record:
    return rows.record(tuple(row[c] for c in rows.MEMORY_COLUMNS if c != "project"), texts)


_LONG_AGO, _FAR_AHEAD = -(1 << 62), 1 << 62
_HOW = {("m", "d"): "deleted", ("m", "i"): "restored"}


def effects(run: StatementRunner, project: int, base: int, number: int) -> list[Touch]:
    """What one change did to each memory, in the order of their ids."""
    row = run("change", (project, number)).fetchone()
    if row is None:
        return []
    _, at, who, action, first, last, *_ = row
    how: dict[int, str] = {}
    sessions: dict[int, str | None] = {}
    rows_made = (base + first, base + last)
    if last > first:
        sessions = dict(run("memory_ids", rows_made))
        how = dict.fromkeys(sessions, "made")
        how |= {id: "made" for (id,) in run("deleted_between", rows_made)}
        for _, owner in run("observation_owners", rows_made):
            how.setdefault(owner, "changed")
    for _, op, kind, ref, owner, before in run("items", (project, number)):
        if kind in ("m", "o") and op != "p":
            whole = _HOW.get((kind, op))
            how[owner] = whole or how.get(owner, "changed")
            if kind == "m" and before is not None:
                sessions[ref] = decode(before).get("session")
    for id in how.keys() - sessions.keys():
        there = run("memory_row", (id,)).fetchone()
        if there is not None:
            sessions[id] = dict(zip(rows.MEMORY_COLUMNS, there, strict=True))["session"]
    return [Touch(id, at, who, action, done, sessions.get(id)) for id, done in sorted(how.items())]


def relation_effects(run: StatementRunner, project: int, base: int, number: int) -> list[RelationTouch]:
    """What one change did to each relation: first those it made, also where they are deleted by now."""
    row = run("change", (project, number)).fetchone()
    if row is None:
        return []
    found: dict[int, RelationTouch] = {}
    first, last = row[4:6]
    if last > first:
        rows_made = (base + first, base + last)
        found = {ref: RelationTouch("made", *ends) for ref, *ends in run("relation_ends_between", rows_made)}
        gone = run("deleted_relations_between", rows_made).fetchall()
        if gone:
            found = dict(sorted(({ref: _touch("made", decode(before)) for ref, before in gone} | found).items()))
    for _, op, kind, ref, _, before in run("items", (project, number)):
        if kind == "r" and op == "d":
            found[ref] = _touch("deleted", decode(before))
        elif kind == "r" and op == "i":
            there = run("relation_ends_between", (ref - 1, ref)).fetchone()
            if there is not None:
                found[ref] = RelationTouch("restored", *there[1:])
            elif (lost := run("deleted_relations_between", (ref - 1, ref)).fetchone()) is not None:
                found[ref] = _touch("restored", decode(lost[1]))
    return list(found.values())


def _touch(how: str, row: JsonObject) -> RelationTouch:
    return RelationTouch(how, row["source"], row["target"], row["type"], row.get("origin", "manual"))


def touches(run: StatementRunner, project: int, base: int, top: int, start: int | None, end: int | None) -> list[Touch]:
    """The effect of every change on every memory, oldest first."""
    changes = {row[0]: row for row in run("changes_in_order", (project,))}
    creating = [row for row in changes.values() if row[5] > row[4]]
    lasts = [row[5] for row in creating]
    found: dict[tuple[int, int, str], None] = {}  # (change, memory, effect), each once

    def creator(id: int) -> int | None:
        at = bisect_left(lasts, id - base)
        return creating[at][0] if at < len(creating) and creating[at][4] < id - base else None

    def add(change: int | None, memory: int, how: str) -> None:
        if change is not None:
            found[change, memory, how] = None

    sessions: dict[int, str | None] = dict(run("memory_ids", (base, top)))
    current = frozenset(sessions)
    owners: dict[int, int | None] = {id: creator(id) for id in sessions}
    for change, op, kind, ref, owner, before in run("items_of_project", (project,)):
        if op == "p" or kind not in "mo":
            continue
        if owner not in owners:
            owners[owner] = creator(owner)
        if before is not None and owner not in current:
            sessions[owner] = decode(before).get("session")
        how = _HOW.get((kind, op), "changed")
        if kind == "o" and op == "d" and (by := creator(ref)) is not None and by != owners[owner]:
            add(by, owner, "changed")
        add(change, owner, how)
    for id, by in owners.items():
        add(by, id, "made")
    for ref, owner in run("observation_owners", (base, top)):
        if (by := creator(ref)) != owners.get(owner):
            add(by, owner, "changed")
    effects = [one for one in found if one[2] != "changed" or not _is_whole(found, one)]
    low, high = _LONG_AGO if start is None else start, _FAR_AHEAD if end is None else end
    touches = []
    for change, memory, how in sorted(effects):
        _, at, who, action, *_ = changes[change]
        if low <= at < high:
            touches.append(Touch(memory, at, who, action, how, sessions.get(memory)))
    return touches


def _is_whole(found: dict[tuple[int, int, str], None], one: tuple[int, int, str]) -> bool:
    """Whether the same change created, deleted or restored the whole memory."""
    change, memory, _ = one
    return any((change, memory, how) in found for how in ("made", "deleted", "restored"))


def seen(run: StatementRunner, base: int, top: int, start: int | None, end: int | None) -> list[Seen]:
    """The read counts, oldest first."""
    low = _LONG_AGO if start is None else start // HOUR
    high = _FAR_AHEAD if end is None else -(-end // HOUR)
    return [
        Seen(memory, hour * HOUR, who, opened, found)
        for memory, hour, who, opened, found in run("seen", (base, top, low, high))
    ]


def purge(tx: ProjectTransaction, ids: Sequence[int]) -> None:
    """Permanently remove records, including deleted ones."""
    # All names first: purging a record removes its name from the journal for other records that had it.
    named = {id: {name for (name,) in tx._run("names_of", (id,)) if name is not None} for id in ids}
    for id, names in named.items():
        if not names or not tx._base < id <= tx._top:
            continue
        for uid in {record.uid for _, record in versions(tx._run, tx._project, id)}:
            tx._run("forget_facts_naming", (tx._project, uid))  # such as whom it contradicted
        for relation in tx.relations_of(sorted(names)):
            tx._run("delete_relation", (relation.id,))
            tx._run("purge_items", (relation.id,))
        tx._purge_texts(id)
        tx._run("forget_seen", (id,))
        for row, _ in tx._run("texts", (id,)).fetchall():
            tx._run("delete_observation", (row,))
            tx._unindex(row)
            tx._texts -= 1
        if tx._run("bookkeeping", (id,)).fetchone() is not None:
            tx._untag(id, tx._tags_of(id))
            tx._run("delete_memory", (id,))
            tx._unindex(id)
            tx._texts -= 1
        tx._run("purge_items", (id,))
        for name in names:
            # Other deleted records of the name lose it, so nothing else of them may stay restorable.
            for (other,) in tx._run("deleted_named", (tx._base, tx._top, name)).fetchall():
                tx._purge_texts(other)
                tx._run("purge_items", (other,))
            tx._run("purge_named_items", (tx._base, tx._top, name))
        tx._journal("p", "m", id, id, None)
        tx.purged = True
    if tx.purged:
        tx._merge_substring_index()


def purge_versions(tx: ProjectTransaction, id: int) -> None:
    """Permanently remove the earlier versions of a record."""
    current = {row for row, _ in tx._run("texts", (id,)).fetchall()}
    for ref in {ref for _, _, kind, ref, *_ in tx._run("items_of_owner", (id,)) if kind == "o"} - current:
        tx._purge_text(ref)
    tx._run("purge_items", (id,))
    # What this change has replaced is not in the journal yet.
    items = []
    for op, kind, ref, owner, before, name, other in tx._items:
        if owner == id and kind == "o" and op == "d":
            tx._purge_text(ref)
            op, before = "p", None
        elif owner == id and kind == "m" and op == "u":
            op, before = "p", None
        items.append((op, kind, ref, owner, before, name, other))
    tx._items = items
    tx._noted = tx.purged = True
    tx._merge_substring_index()
