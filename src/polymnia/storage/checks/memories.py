"""Checks of the memories: columns, references, and data derived from them.

Derived are the counts of scopes, the rows of tags, sessions, counters, vectors and the journal.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from struct import unpack

from polymnia.engine.ports.maintenance import Spot
from polymnia.storage import rows
from polymnia.storage.checks.view import CheckView, parse

_AHEAD = 300_000_000  # microseconds: the clocks of two machines differ by less than five minutes
# The ids this server assigns. The second form is a common one, so it only counts if a deleted memory had the id.
_ITEM = re.compile(rb"content_[0-9a-f]{32}(?![0-9a-f])")
_ANY = re.compile(rb"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])")
_TABLES = {
    "m": ("memory", rows.MEMORY_COLUMNS),
    "o": ("observation", rows.OBSERVATION_COLUMNS[1:]),
    "r": ("relation", rows.RELATION_COLUMNS),
    "s": ("session", rows.SESSION_COLUMNS),
}

# ── derived data ───────────────────────────────────────────────────────────────────────────────────────


def scope_counts(view: CheckView) -> None:
    """Find scopes whose stored number of memories is wrong."""
    counts = view.query("scope_counts", view.number)
    wrong = [Spot(0, path or "user/default", (stored, actual)) for path, stored, actual in counts]
    if view.request.session is not None:
        own = f"session/{view.request.session}/"
        wrong = [spot for spot in wrong if f"{spot.label}/".startswith(own)]
    view.found("scope_count_wrong", wrong)


def tags(view: CheckView) -> None:
    """Find memories whose tag rows differ from their tags."""
    tagged: dict[int, tuple[str, set[str]]] = {}
    for id, uid, raw in view.rows("tagged", "memory"):
        valid, value = parse(raw, list)
        tagged[id] = uid, {tag for tag in value if isinstance(tag, str)} if valid else set()
    indexed: dict[int, set[str]] = {}
    for memory, tag in view.query("tag_rows", view.number, view.low("memory")):
        indexed.setdefault(memory, set()).add(tag)
    wrong: list[Spot] = []
    for memory in sorted(tagged.keys() | indexed.keys()):
        uid, own = tagged.get(memory, ("", set()))
        listed = indexed.get(memory, set())
        if own != listed and (memory in tagged or _is_in_session(view, memory)):
            difference = {"missing": sorted(own - listed), "left over": sorted(listed - own)}
            wrong.append(Spot(memory, uid or view.label(memory), difference))
    view.found("tag_rows_wrong", wrong)


def _is_in_session(view: CheckView, memory: int) -> bool:
    session = view.request.session
    return session is None or view.first("session_of_memory", memory) == (session,)


def text_count(view: CheckView) -> None:
    """Check the stored number of texts."""
    (texts,) = view.run("count_texts", (view.base, view.top)).fetchone()
    if texts != view.snapshot._texts:
        view.found("text_count_wrong", [Spot(0, view.project or "", (view.snapshot._texts, texts))])


def row_number(view: CheckView) -> None:
    """Check the stored number of the last row."""
    (last,) = view.first("last_row", view.base, view.top)
    if last is not None and last - view.base > view.snapshot._seq:
        view.found("row_number_behind", [Spot(0, view.project or "", (view.snapshot._seq, last - view.base))])


def vectors(view: CheckView) -> None:
    """Find vectors of texts that do not exist, and invalid vectors."""
    texts, lowest = view.texts(), view.lowest()
    deleted = {ref for (ref,) in view.query("deleted_texts", view.number)}  # an undo restores one with its vectors
    stray = {
        text
        for (text,) in view.query("vector_texts", view.base + lowest, view.top)
        if text - view.base not in texts and text not in deleted
    }
    view.found("vector_of_nothing", [Spot(text, str(text - view.base)) for text in sorted(stray)])
    examined = (view.number, view.base + lowest, view.top)
    wrong = dict.fromkeys(text for _, text in view.query("vectors_broken", *examined))
    arrivals = [id for (id,) in view.query("vectors_newest", *examined)]
    for id in view.sampled(arrivals, "vectors"):
        row = view.first("vector_of", view.number, id)
        if row is not None and not _is_vector(row[1], row[2]):
            wrong[row[0]] = None
    view.found("vector_broken", [Spot(text, view.label(text)) for text in wrong if text not in stray])


def _is_vector(half: bytes, bits: bytes) -> bool:
    """Whether the vector has length 1, and the bits are the signs of its components, apart from rounding."""
    if len(half) % 2 or len(bits) != (len(half) // 2 + 7) // 8:
        return True  # reported by its length
    numbers = unpack(f"<{len(half) // 2}e", half)
    if numbers and not 0.8 < sum(x * x for x in numbers) < 1.25:
        return False
    signs = int("".join("1" if x > 0 else "0" for x in numbers).ljust(len(bits) * 8, "0") or "0", 2)
    return (signs ^ int.from_bytes(bits)).bit_count() <= max(2, len(numbers) // 20)


# ── columns ────────────────────────────────────────────────────────────────────────────────────────────


def scopes(view: CheckView) -> None:
    """Find scopes that are not valid paths."""
    illegal = [scope for (scope,) in view.rows("scopes_in_use", "memory") if not view.request.is_scope(scope)]
    view.found(
        "scope_illegal", [Spot(*row) for one in illegal for row in view.query("memories_in_scope", view.number, one)]
    )


def json(view: CheckView) -> None:
    """Find columns of memories that are not the expected JSON."""
    broken, mixed = [], []
    for id, uid, *raw in view.rows("memory_json", "memory"):
        read = [parse(value, kind) for value, kind in zip(raw, (list, dict, dict), strict=True)]
        bad = [name for name, (valid, _) in zip(("tags", "metadata", "extra"), read, strict=True) if not valid]
        if bad:
            broken.append(Spot(id, uid, bad))
        valid, tags = read[0]
        if valid and not all(isinstance(tag, str) for tag in tags):
            mixed.append(Spot(id, uid, tags))
    view.found("json_broken", broken)
    view.found("tag_no_text", mixed)


def relations(view: CheckView) -> None:
    """Find unreadable columns of relations, and strengths outside 0 to 1."""
    broken, outside = [], []
    for id, source, target, type, strength, *raw in view.rows("relation_json", "relation"):
        if not all(parse(value, dict)[0] for value in raw):
            broken.append(_arrow(id, source, target, type))
        elif strength is not None and not 0 <= strength <= 1:
            outside.append(_arrow(id, source, target, type))
    view.found("relation_json_broken", broken)
    view.found("strength_outside", outside)


def times(view: CheckView) -> None:
    """Find impossible times and versions."""
    for kind in ("time_ahead", "time_backwards", "version_low"):
        view.find(kind, "memory", border=view.now + _AHEAD)


def texts(view: CheckView) -> None:
    """Find texts that are not valid, or whose folded form or digest is wrong."""
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
            derived = (_fold(name.decode()), _fold(kind.decode()), rows.skeleton_hash(name.decode()))
        except UnicodeDecodeError:
            broken.append(Spot(id, label, id))
            continue
        if derived != (name_fold, kind_fold, look):
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


# ── references ─────────────────────────────────────────────────────────────────────────────────────────


def _arrow(id: int, *ends_and_type: str) -> Spot:
    return Spot(id, f"relation_{id:x}", ends_and_type)


def orphans(view: CheckView) -> None:
    """Find relations with an end that names no memory: broken, or waiting for it, as some clients use them."""
    broken: list[Spot] = []
    waiting: list[Spot] = []
    for id, source, target, type, origin, metadata, s, t in view.rows("relations_loose", "relation"):
        if _marked(metadata):
            continue  # retained on purpose when one of its ends was deleted
        missing = [name for name, there in ((source, s), (target, t)) if there is None]
        was = any(view.first("was_deleted_after", name, view.base, view.top, id - view.base) for name in missing)
        (broken if was or origin == "auto" else waiting).append(_arrow(id, source, target, type))
    view.found("relation_end_gone", broken)
    view.found("relation_end_waits", waiting)


def marks(view: CheckView) -> None:
    """Find relations marked as referring to a deleted memory, rightly or not."""
    loose = view.rows("relations_loose", "relation")
    view.found("reference_kept", [_arrow(*row[:4]) for row in loose if _marked(row[5])])
    marked = view.rows("relations_marked", "relation")
    view.found("reference_mark_wrong", [_arrow(*row[:4]) for row in marked if _marked(row[4])])


def _marked(metadata: bytes | None) -> bool:
    valid, value = parse(metadata, dict)
    return valid and value.get("deleted") is True


def mentions(view: CheckView) -> None:
    """Find mentions of ids that do not exist."""

    @cache
    def deleted() -> set[bytes]:
        states = view.query("deleted_states", view.number)
        return {uid for (before,) in states for uid in _ANY.findall(before or b"")}

    @cache
    def exists(uid: bytes) -> bool:
        return view.first("has_uid", view.number, uid.decode()) is not None

    def missing(raw: bytes) -> list[str]:
        others = (uid for uid in _ANY.findall(raw) if uid in deleted())
        return [uid.decode() for uid in dict.fromkeys([*_ITEM.findall(raw), *others]) if not exists(uid)]

    relations = (
        (id, f"relation_{id:x}", (context or b"") + b" " + (metadata or b""))
        for id, context, metadata in view.rows("relation_contexts", "relation")
    )
    texts = chain(view.rows("memory_metadata", "memory"), relations)
    view.found("mention_missing", [Spot(id, label, ids) for id, label, raw in texts if (ids := missing(raw))])


def lost_texts(view: CheckView) -> None:
    """Find texts without a memory."""
    view.find("observation_orphan", "observation", base=view.base)


# ── the journal ────────────────────────────────────────────────────────────────────────────────────────


def journal_ranges(view: CheckView) -> None:
    """Find rows that no change created, and changes that claim the rows of another."""
    overlaps: list[Spot] = []
    unjournalled: list[tuple[int]] = []
    covered = 0
    for id, first, last in view.query("change_ranges", view.number):
        if first < covered:
            overlaps.append(Spot(id, f"change {id}", (first, last)))
        elif first > covered:
            unjournalled += view.query("rows_between", view.base + covered, view.base + first)
        covered = max(covered, last)
    unjournalled += view.query("rows_between", view.base + covered, view.top)
    view.found("journal_overlap", overlaps)
    view.found("row_unjournalled", [Spot(id, view.label(id)) for (id,) in unjournalled])


def journal_items(view: CheckView) -> None:
    """Find journal items about rows that never existed, and those with an unreadable earlier state."""
    span = (view.base, view.top)
    known = {(kind, id) for kind, (table, _) in _TABLES.items() for (id,) in view.query(f"ids_{table}", *span)}
    known |= set(view.query("journal_gone", view.number))
    top = view.base + view.snapshot._seq
    lost: list[Spot] = []
    count = 0
    for change, n, op, kind, ref, before in view.query("journal_items", view.number):
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
    lost += [Spot(id, f"change {id}", undone.format(other)) for id, other in view.query("undoes_nothing", view.number)]
    view.result.examined["items of the journal"] = (count, count)
    view.found("journal_item_lost", lost)


def _is_state(before: bytes | None, kind: str, op: str) -> bool:
    valid, value = parse(before, dict)
    return before is not None and valid and (op == "u" or all(column in value for column in _TABLES[kind][1]))
