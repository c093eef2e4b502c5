"""Undoes a change completely, unless a later one builds on it; and restores deleted records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymnia.engine.ports import BACKGROUND
from polymnia.errors import Conflict, NotFound
from polymnia.models import Change, JsonObject
from polymnia.storage import rows
from polymnia.storage.journal import BOOKKEEPING, ROWS, change, decode, undone_by

if TYPE_CHECKING:
    from polymnia.storage.transaction import ProjectTransaction


_LATEST = 50  # changes that are looked at before all of them are


def undo(tx: ProjectTransaction, number: int | None) -> Change:
    """Undo a change; by default the newest one that is in effect and is not an undo itself."""
    row = _newest(tx) if number is None else tx._run("change", (tx._project, number)).fetchone()
    if row is None:
        raise NotFound([str(number)], "Change", hint="`polymnia changes` lists their numbers.")
    if (by := undone_by(tx._run, tx._project, row[0])) is not None:
        raise Conflict(
            f"Change {row[0]} was already undone by change {by}",
            changes=[by],
            hint=f"To do it again, undo change {by}.",
        )
    reversal = _Reversal(tx, row)
    if reversal.has_effects():
        reversal.refuse_conflicts()
        reversal.run()
        if tx.changed:
            tx._undoes = row[0]
            return change(tx._run, tx._project, row, tx.number())
    if number is not None:
        raise Conflict(f"Nothing of change {number} is left to undo: it was purged", hint="It cannot be undone.")
    raise Conflict(
        f"The last change was final: change {row[0]} ({row[3]}) removed what it did for good. Nothing was undone",
        hint="To take back an earlier change, name it: `polymnia undo --change N`. `polymnia changes` lists them.",
    )


def restore_record(tx: ProjectTransaction, id: int) -> None:
    """Revert what the change that deleted a record did to it, and nothing else."""
    deletions = [at for at, op, kind, ref, *_ in tx._run("items_of_owner", (id,)) if (op, kind) == ("d", "m")]
    row = tx._run("change", (tx._project, deletions[-1])).fetchone()
    reversal = _Reversal(tx, row)
    name = next(decode(before)["name"] for _, op, _, ref, _, before in reversal.items if (op, ref) == ("d", id))
    if taken := tx.ids([name]):
        raise Conflict(
            f"The name {name!r} is in use again",
            changes=sorted(reversal._creator(taken[name])),
            hint="Delete the newer one first.",
        )
    # The marked relations that replaced the deleted ones.
    tx.remove_relations([r[0] for r in reversal.made["r"].values() if r[3] == name])
    links = []
    for _, op, kind, ref, owner, before in reversed(reversal.items):
        if op == "d" and kind == "r" and name in (decode(before)["source"], decode(before)["target"]):
            links.append((ref, owner, decode(before)))
        elif op == "d" and owner == id:
            reversal._restore(kind, ref, owner, decode(before))
    for ref, owner, link in links:
        if len(tx.ids([link["source"], link["target"]])) == len({link["source"], link["target"]}):
            reversal._restore("r", ref, owner, link)


def _newest(tx: ProjectTransaction) -> tuple[Any, ...]:
    """The newest change that is in effect and is not an undo itself, even if it cannot be undone."""
    for most in (_LATEST, -1):
        for row in tx._run("changes", (tx._project, most)).fetchall():
            if row[6] is None and row[3] != BACKGROUND and undone_by(tx._run, tx._project, row[0]) is None:
                return tuple(row)
    raise Conflict("There is nothing left to undo in this project", hint="`polymnia changes` lists what happened.")


class _Reversal:
    """The undo of one change."""

    def __init__(self, tx: ProjectTransaction, row: tuple[Any, ...]) -> None:
        self.tx = tx
        self.number: int = row[0]
        first, last = tx._base + row[4], tx._base + row[5]
        self.first: int = first
        self.last: int = last
        self.made: dict[str, dict[int, tuple[Any, ...]]] = {
            kind: {row[0]: row for row in tx._run(name, (first, last))} for kind, name in ROWS.items()
        }
        self.items = tx._run("items", (tx._project, self.number)).fetchall()
        self.added_later: list[int] = []  # relations added in the background to what the change created
        self.removed = self._removed()

    def refuse_conflicts(self) -> None:
        """Raise Conflict if a later change that is in effect has changed what this one made, or depends on it."""
        tx, later = self.tx, {at for at, _ in self.removed}
        touched = {(kind, ref) for _, op, kind, ref, _, before in self.items if self._matters(op, before)}
        records = self.made["m"].keys() | {ref for _, op, kind, ref, *_ in self.items if (op, kind) == ("i", "m")}
        owners = {owner for *_, owner, _ in self.items} | records | self.made["r"].keys()
        owners |= {row[1] for row in self.made["o"].values()}
        for owner in owners:
            for at, op, kind, ref, _, before in tx._run("items_of_owner_after", (owner, self.number)):
                if op == "p":
                    continue  # purged
                if owner in records or (kind == "m" and op != "u"):
                    later.add(at)  # any change of a record this one created, or a deletion or restoration
                elif ((kind, ref) in touched or ref in self.made["o"]) and self._matters(op, before):
                    later.add(at)
        for record in tx.load(list(records)):
            for relation in tx.relations_of([record.name]):
                if relation.id > self.last:
                    creators = self._creator(relation.id)
                    if all(self._is_background(at) for at in creators):
                        self.added_later.append(relation.id)
                    else:
                        later |= creators
        standing = sorted(at for at in later if self._stands(at))
        if standing:
            raise Conflict(
                f"Change {self.number} cannot be undone alone: later changes build on it "
                f"({', '.join(map(str, standing))})",
                changes=standing,
            )
        self._refuse_doubled()
        restored = {ref for _, op, kind, ref, *_ in self.items if (op, kind) == ("i", "m")}
        for _, op, kind, ref, _, before in self.items:
            if op == "d" and kind == "s" and not self._is_own(ref) and (newer := self._successor(before)):
                raise Conflict(
                    f"Change {self.number} cannot be undone: there is a session of the same name again",
                    changes=sorted(self._creator(newer)),
                    hint="Clean up the newer one first.",
                )
            if op == "d" and kind == "m" and not self._is_own(ref):
                name = decode(before)["name"]
                for taken in tx.ids([name]).values():
                    if self._is_own(taken) or taken in restored:
                        continue  # this undo removes it
                    raise Conflict(
                        f"Change {self.number} cannot be undone: the name {name!r} is in use again",
                        changes=sorted(self._creator(taken)),
                        hint="Delete the newer one first, or undo the change that made it.",
                    )

    def _refuse_doubled(self) -> None:
        """Raise Conflict if a relation that would come back is there again, and was not there beside it before."""
        restored = {ref for _, op, kind, ref, *_ in self.items if (op, kind) == ("i", "r")}
        links = [
            decode(b) for _, op, kind, ref, _, b in self.items if (op, kind) == ("d", "r") and not self._is_own(ref)
        ]
        ends = [(one["source"], one["target"], one["type"]) for one in links if one.get("origin") != "auto"]
        for one in self.tx.find_relations(ends) if ends else ():
            own = self._is_own(one.id) or one.id in restored  # this undo removes it
            if not own and one.origin != "auto" and not self._was_there(one.id):
                raise Conflict(
                    f"Change {self.number} cannot be undone: {one.source} -{one.type}-> {one.target} is there again",
                    changes=sorted(self._creator(one.id)),
                    hint="Delete the newer one first, or undo the change that made it.",
                )

    def _was_there(self, relation: int) -> bool:
        """Whether a relation was there before the change."""
        tx = self.tx
        creator = tx._run("change_that_made", (tx._project, relation - tx._base)).fetchone()
        items = [op for at, op, *_ in tx._run("items_of_owner", (relation,)) if at < self.number]
        return creator is not None and creator[0] < self.number and items[-1:] != ["d"]

    def _stands(self, later: int) -> bool:
        """Whether a later change is in effect and more than the undo of another one that is later, too."""
        row = self.tx._run("change", (self.tx._project, later)).fetchone()
        of_later = row is not None and row[6] is not None and row[6] >= self.number
        return not of_later and undone_by(self.tx._run, self.tx._project, later) is None

    def _is_background(self, number: int) -> bool:
        row = self.tx._run("change", (self.tx._project, number)).fetchone()
        return row is not None and row[3] == BACKGROUND

    def _successor(self, before: str) -> int | None:
        """The session that now has the name of a removed one."""
        row = self.tx._run("session", (self.tx._project, decode(before)["name"])).fetchone()
        return None if row is None else int(row[0])

    def _is_own(self, ref: int) -> bool:
        """Whether the change created the row itself: if it also removed it, there is nothing to undo."""
        return self.first < ref <= self.last

    def _creator(self, ref: int) -> set[int]:
        """The change that restored a row, or else created it."""
        tx = self.tx
        restored = [at for at, op, _, row, *_ in tx._run("items_of_owner", (ref,)) if op == "i" and row == ref]
        if restored:
            return {restored[-1]}
        creator = tx._run("change_that_made", (tx._project, ref - tx._base)).fetchone()
        return {creator[0]} if creator else set()

    @staticmethod
    def _matters(op: str, before: str | None) -> bool:
        return op != "u" or before is None or bool(decode(before).keys() - BOOKKEEPING)

    def _removed(self) -> set[tuple[int, int]]:
        """The rows this change created and a later one removed, each with that change."""
        if sum(map(len, self.made.values())) == self.last - self.first:
            return set()
        items = self.tx._run("items_after", (self.tx._project, self.number))
        return {
            (at, ref)
            for at, op, kind, ref, *_ in items
            if op == "d" and self._is_own(ref) and ref not in self.made[kind]
        }

    def has_effects(self) -> bool:
        """Whether there is anything to undo; purged rows do not count."""
        return any(self.made.values()) or any(op != "p" for _, op, *_ in self.items) or bool(self.removed)

    def run(self) -> None:
        """Revert everything the change did, in reverse order."""
        tx = self.tx
        tx.remove_relations([*self.made["r"], *dict.fromkeys(self.added_later)])
        for session in self.made["s"].values():
            tx._remove_session(session)
        for id, row in self.made["o"].items():
            if row[1] not in self.made["m"]:
                tx._remove_observations(row[1], [(id, row[2])])
                tx._bump(row[1])
        tx.remove_records(list(self.made["m"]))
        for _, op, kind, ref, owner, before in reversed(self.items):
            if self._is_own(ref):
                continue
            if op == "d":
                self._restore(kind, ref, owner, decode(before))
            elif op == "i":
                self._remove(kind, ref, owner)
            elif op == "u":
                self._revert(ref, {k: v for k, v in decode(before).items() if k not in BOOKKEEPING})

    def _restore(self, kind: str, ref: int, owner: int, before: JsonObject) -> None:
        tx = self.tx
        if kind == "m":
            before |= {"version": before["version"] + 1, "updated": tx._at}
            name, type = before["name"], before["kind"]
            derived = (tx._run.folded(name), tx._run.folded(type), rows.skeleton_hash(name))
            tx._run("restore_memory", (*(before[c] for c in rows.MEMORY_COLUMNS), *derived))
            tx._tag(ref, tx._tags_of(ref))
            tx._texts += 1
            tx._index_restored(ref, f"{rows.fold(name)}\x01{rows.fold(type)}")
            tx._bumped.add(ref)
            tx._journal("i", "m", ref, ref, {"version": before["version"]})
        elif kind == "o":
            text = before["text"]
            tx._run("add_observation", (ref, owner, rows.digest(text), text, tx._run.folded(text)))
            tx._texts += 1
            tx._index_restored(ref, rows.fold(text))
            tx._journal("i", "o", ref, owner, None)
            if tx._run("bookkeeping", (owner,)).fetchone() is not None:
                tx._bump(owner)
        elif kind == "s":
            tx._run("add_session", [before[c] for c in rows.SESSION_COLUMNS])
            tx._journal("i", "s", ref, ref, None)
        else:
            tx._run("restore_relation", [before[c] for c in rows.RELATION_COLUMNS])
            tx._journal("i", "r", ref, ref, None)

    def _remove(self, kind: str, ref: int, owner: int) -> None:
        tx = self.tx
        if kind == "m":
            tx.remove_records([ref])
        elif kind == "o":
            removed = tx._run("observation_rows_between", (ref - 1, ref)).fetchall()
            tx._remove_observations(owner, [(id, text) for id, _, text in removed])
            if removed and tx._run("bookkeeping", (owner,)).fetchone() is not None:
                tx._bump(owner)
        elif kind == "s":
            for row in tx._run("session_rows_between", (ref - 1, ref)).fetchall():
                tx._remove_session(row)
        else:
            tx.remove_relations([ref])

    def _revert(self, ref: int, before: JsonObject) -> None:
        tx = self.tx
        row = tx._run("memory_row", (ref,)).fetchone()
        if row is None or not before:
            return
        old = dict(zip(rows.MEMORY_COLUMNS, row, strict=True))
        new = old | before
        tx._untag(ref, tx._tags_of(ref))
        head = (new["kind"], tx._run.folded(new["kind"]), new["extra"], *(new[c] for c in rows.HEAD_COLUMNS))
        tx._run("set_head", (*head, ref))
        if "created" in before:
            tx._run("set_created", (before["created"], ref))
        tx._tag(ref, tx._tags_of(ref))
        tx._bump(ref, **{column: old[column] for column in before})
        tx._change_head(ref, old["name"], before.get("kind", old["kind"]))
