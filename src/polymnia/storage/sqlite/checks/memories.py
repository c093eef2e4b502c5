"""Memories: whether every row is what its columns promise, agrees with what is kept beside it, and leads somewhere.

Beside the memories are kept the counts of scopes, the rows of tags, sessions, counters, vectors and the journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import unpack

from polymnia.engine.ports.maintenance import Spot
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checks.view import CheckView, readable

_AHEAD = 300_000_000  # clocks of two machines differ by less: five minutes, in microseconds
# The ids this server gives. One of the second form may be anybody's, so it counts only if it was a memory's once.
_ITEM = re.compile(rb"content_[0-9a-f]{32}(?![0-9a-f])")
_ANY = re.compile(rb"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])")
_TABLES = {
    "m": ("memory", rows.MEMORY_COLUMNS),
    "o": ("observation", rows.OBSERVATION_COLUMNS[1:]),
    "r": ("relation", rows.RELATION_COLUMNS),
    "s": ("session", rows.SESSION_COLUMNS),
}

# ── what is kept twice ─────────────────────────────────────────────────────────────────────────────────


def scope_counts(view: CheckView) -> None:
    """Scopes whose number of memories is another than the one that is kept."""
    counts = view.ask("scope_counts", view.number)
    wrong = [Spot(0, path or "user/default", (kept, real)) for path, kept, real in counts]
    if view.asked.session is not None:
        own = f"session/{view.asked.session}/"
        wrong = [spot for spot in wrong if f"{spot.label}/".startswith(own)]
    view.found("scope_count_wrong", wrong)


def tags(view: CheckView) -> None:
    """Memories whose rows of tags are not their tags."""
    real: dict[int, tuple[str, set[str]]] = {}
    for id, uid, raw in view.rows("tagged", "memory"):
        whole, value = readable(raw, list)
        real[id] = uid, {tag for tag in value if isinstance(tag, str)} if whole else set()
    kept: dict[int, set[str]] = {}
    for memory, tag in view.ask("tag_rows", view.number, view.low("memory")):
        kept.setdefault(memory, set()).add(tag)
    wrong: list[Spot] = []
    for memory in sorted(real.keys() | kept.keys()):
        uid, own = real.get(memory, ("", set()))
        listed = kept.get(memory, set())
        if own != listed and (memory in real or _in_sight(view, memory)):
            apart = {"missing": sorted(own - listed), "left over": sorted(listed - own)}
            wrong.append(Spot(memory, uid or view.label(memory), apart))
    view.found("tag_rows_wrong", wrong)


def _in_sight(view: CheckView, memory: int) -> bool:
    session = view.asked.session
    return session is None or view.first("session_of_memory", memory) == (session,)


def text_count(view: CheckView) -> None:
    """The number of texts of the project."""
    (texts,) = view.first("count_texts", view.base, view.top)
    if texts != view.snapshot._texts:
        view.found("text_count_wrong", [Spot(0, view.project or "", (view.snapshot._texts, texts))])


def row_number(view: CheckView) -> None:
    """The number of the project's last row."""
    (last,) = view.first("last_row", view.base, view.top)
    if last is not None and last - view.base > view.snapshot._seq:
        view.found("row_number_behind", [Spot(0, view.project or "", (view.snapshot._seq, last - view.base))])


def vectors(view: CheckView) -> None:
    """Vectors of texts that are not there, and vectors that are none."""
    there, least = view.texts(), view.least()
    deleted = {ref for (ref,) in view.ask("deleted_texts", view.number)}  # an undo brings one back with its vectors
    stray = {
        text
        for (text,) in view.ask("vector_texts", view.base + least, view.top)
        if text - view.base not in there and text not in deleted
    }
    view.found("vector_of_nothing", [Spot(text, str(text - view.base)) for text in sorted(stray)])
    rows_looked_at = (view.number, view.base + least, view.top)
    wrong = dict.fromkeys(text for _, text in view.ask("vectors_broken", *rows_looked_at))
    arrivals = [id for (id,) in view.ask("vectors_newest", *rows_looked_at)]
    for id in view.sampled(arrivals, "vectors"):
        row = view.first("vector_of", id)
        if row is not None and not _is_vector(row[1], row[2]):
            wrong[row[0]] = None
    view.found("vector_broken", [Spot(text, view.label(text)) for text in wrong if text not in stray])


def _is_vector(half: bytes, bits: bytes) -> bool:
    """Whether the numbers have the length 1 together, and the bits are their signs but for what rounding moves."""
    if len(half) % 2 or len(bits) != (len(half) // 2 + 7) // 8:
        return True  # told by its length
    numbers = unpack(f"<{len(half) // 2}e", half)
    if numbers and not 0.8 < sum(x * x for x in numbers) < 1.25:
        return False
    signs = int("".join("1" if x > 0 else "0" for x in numbers).ljust(len(bits) * 8, "0") or "0", 2)
    return (signs ^ int.from_bytes(bits)).bit_count() <= max(2, len(numbers) // 20)


# ── columns ────────────────────────────────────────────────────────────────────────────────────────────


def scopes(view: CheckView) -> None:
    """Scopes that are no legal paths."""
    illegal = [scope for (scope,) in view.rows("scopes_in_use", "memory") if not view.asked.is_scope(scope)]
    view.found(
        "scope_illegal", [Spot(*row) for one in illegal for row in view.ask("memories_in_scope", view.number, one)]
    )


def json(view: CheckView) -> None:
    """Columns of memories that are not the JSON they should be."""
    broken, mixed = [], []
    for id, uid, *raw in view.rows("memory_json", "memory"):
        read = [readable(value, kind) for value, kind in zip(raw, (list, dict, dict), strict=True)]
        bad = [name for name, (whole, _) in zip(("tags", "metadata", "extra"), read, strict=True) if not whole]
        if bad:
            broken.append(Spot(id, uid, bad))
        whole, tags = read[0]
        if whole and not all(isinstance(tag, str) for tag in tags):
            mixed.append(Spot(id, uid, tags))
    view.found("json_broken", broken)
    view.found("tag_no_text", mixed)


def relations(view: CheckView) -> None:
    """Columns of relations that cannot be read, and strengths outside of 0 to 1."""
    broken, outside = [], []
    for id, source, target, type, strength, *raw in view.rows("relation_json", "relation"):
        if not all(readable(value, dict)[0] for value in raw):
            broken.append(_arrow(id, source, target, type))
        elif strength is not None and not 0 <= strength <= 1:
            outside.append(_arrow(id, source, target, type))
    view.found("relation_json_broken", broken)
    view.found("strength_outside", outside)


def times(view: CheckView) -> None:
    """Times and versions that cannot be."""
    for kind in ("time_ahead", "time_backwards", "version_low"):
        view.find(kind, "memory", border=view.now + _AHEAD)


def texts(view: CheckView) -> None:
    """Texts that are no text, or whose folded forms and digests are another text's."""
    nul, named, broken, folded = [], [], [], []
    for id, uid, name, kind, summary, category, name_fold, kind_fold, look in view.rows("names", "memory"):
        label = uid.decode("utf-8", "replace")
        if any(b"\0" in text for text in (uid, name, kind)):
            named.append(Spot(id, label))
            continue
        if any(text is not None and b"\0" in text for text in (summary, category)):
            nul.append(Spot(id, label, id))
        try:
            for text in (uid, summary, category):
                if text is not None:
                    text.decode()
            true = (_fold(name.decode()), _fold(kind.decode()), rows.look(name.decode()))
        except UnicodeDecodeError:
            broken.append(Spot(id, label, id))
            continue
        if true != (name_fold, kind_fold, look):
            folded.append(Spot(id, label))
    for id, memory, text, fold, digest in view.rows("texts", "observation"):
        if b"\0" in text:
            nul.append(Spot(id, view.label(id), memory))
            continue
        try:
            body = text.decode()
        except UnicodeDecodeError:
            broken.append(Spot(id, view.label(id), memory))
            continue
        if rows.digest(body) != digest or _fold(body) != fold:
            folded.append(Spot(id, view.label(id)))
    view.found("text_has_nul", nul)
    view.found("name_has_nul", named)
    view.found("text_no_unicode", broken)
    view.found("fold_wrong", folded)


def _fold(text: str) -> bytes | None:
    folded = rows.fold_or_none(text)
    return None if folded is None else folded.encode("utf-8", "surrogatepass")


# ── what leads to something that is not there ──────────────────────────────────────────────────────────


def _arrow(id: int, *ends_and_type: str) -> Spot:
    return Spot(id, f"relation_{id:x}", ends_and_type)


def orphans(view: CheckView) -> None:
    """Relations an end of which names no memory: broken, or waiting for one as some clients draw them."""
    broken: list[Spot] = []
    waiting: list[Spot] = []
    for id, source, target, type, origin, metadata, s, t in view.rows("relations_loose", "relation"):
        if _marked(metadata):
            continue  # kept on purpose when one of its ends was deleted
        missing = [name for name, there in ((source, s), (target, t)) if there is None]
        was = any(view.first("was_deleted_after", name, view.base, view.top, id - view.base) for name in missing)
        (broken if was or origin == "auto" else waiting).append(_arrow(id, source, target, type))
    view.found("relation_end_gone", broken)
    view.found("relation_end_waits", waiting)


def marks(view: CheckView) -> None:
    """Relations that are marked as leading to something deleted, rightly or not."""
    loose = view.rows("relations_loose", "relation")
    view.found("reference_kept", [_arrow(*row[:4]) for row in loose if _marked(row[5])])
    marked = view.rows("relations_marked", "relation")
    view.found("reference_mark_wrong", [_arrow(*row[:4]) for row in marked if _marked(row[4])])


def _marked(metadata: bytes | None) -> bool:
    whole, value = readable(metadata, dict)
    return whole and value.get("deleted") is True


def mentions(view: CheckView) -> None:
    """Ids that are mentioned and are nobody's."""
    view.found("mention_missing", _mentions(view))


def _mentions(view: CheckView) -> Iterator[Spot]:
    once: set[bytes] | None = None
    there: dict[bytes, bool] = {}

    def missing(raw: bytes) -> list[str]:
        nonlocal once
        mentioned = list(dict.fromkeys(_ITEM.findall(raw)))
        if others := dict.fromkeys(_ANY.findall(raw)):
            if once is None:
                states = view.ask("deleted_states", view.number)
                once = {uid for (before,) in states for uid in _ANY.findall(before or b"")}
            mentioned += [uid for uid in others if uid in once]
        for uid in mentioned:
            if uid not in there:
                there[uid] = view.first("has_uid", view.number, uid.decode()) is not None
        return [uid.decode() for uid in mentioned if not there[uid]]

    for id, uid, metadata in view.rows("memory_metadata", "memory"):
        if gone := missing(metadata):
            yield Spot(id, uid, gone)
    for id, context, metadata in view.rows("relation_contexts", "relation"):
        if gone := missing((context or b"") + b" " + (metadata or b"")):
            yield Spot(id, f"relation_{id:x}", gone)


def lost_texts(view: CheckView) -> None:
    """Texts of no memory."""
    view.find("observation_orphan", "observation", base=view.base)


# ── the journal ────────────────────────────────────────────────────────────────────────────────────────


def journal_ranges(view: CheckView) -> None:
    """The rows that no change has made, and the changes that claim the rows of another."""
    overlaps: list[Spot] = []
    alone: list[tuple[int]] = []
    covered = 0
    for id, first, last in view.ask("change_ranges", view.number):
        if first < covered:
            overlaps.append(Spot(id, f"change {id}", (first, last)))
        elif first > covered:
            alone += view.ask("rows_between", view.base + covered, view.base + first)
        covered = max(covered, last)
    alone += view.ask("rows_between", view.base + covered, view.top)
    view.found("journal_overlap", overlaps)
    view.found("row_unjournalled", [Spot(id, view.label(id)) for (id,) in alone])


def journal_items(view: CheckView) -> None:
    """The items about rows that never were, and those whose earlier state cannot be read."""
    span = (view.base, view.top)
    known = {
        (kind, id)
        for kind, (table, _) in _TABLES.items()
        for (id,) in view.run(f"SELECT id FROM {table} WHERE id > ? AND id <= ?", span)
    }
    known |= set(view.ask("journal_gone", view.number))
    top = view.base + view.snapshot._seq
    lost: list[Spot] = []
    count = 0
    for change, n, op, kind, ref, before in view.ask("journal_items", view.number):
        count += 1
        if kind not in _TABLES or not view.base < ref <= top:
            why = "about a row that was never made"
        elif (kind, ref) not in known:
            why = "about a row that is not there and was not deleted"
        elif op in ("u", "d") and not _is_state(before, kind, op):
            why = "with an earlier state that cannot be read"
        else:
            continue
        lost.append(Spot(change, f"change {change}", f"item {n}, {why}"))
    undone = "undoes change {}, which is not there"
    lost += [Spot(id, f"change {id}", undone.format(other)) for id, other in view.ask("undoes_nothing", view.number)]
    view.result.looked["items of the journal"] = (count, count)
    view.found("journal_item_lost", lost)


def _is_state(before: bytes | None, kind: str, op: str) -> bool:
    whole, value = readable(before, dict)
    return before is not None and whole and (op == "u" or all(column in value for column in _TABLES[kind][1]))
