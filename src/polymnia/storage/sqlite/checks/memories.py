"""Memories: whether every row is what its columns promise, and agrees with what is kept beside it.

Beside the memories are kept the counts of scopes, the rows of tags, sessions, counters and vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack

from polymnia.engine.ports.maintenance import Spot
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checks.references import arrow
from polymnia.storage.sqlite.checks.view import CheckView, readable

_AHEAD = 300_000_000  # clocks of two machines differ by less: five minutes, in microseconds


def _is_vector(half: bytes, bits: bytes) -> bool:
    """Whether the numbers have the length 1 together, and the bits are their signs but for what rounding moves."""
    if len(half) % 2 or len(bits) != (len(half) // 2 + 7) // 8:
        return True  # told by its length
    numbers = unpack(f"<{len(half) // 2}e", half)
    if numbers and not 0.8 < sum(x * x for x in numbers) < 1.25:
        return False
    signs = int("".join("1" if x > 0 else "0" for x in numbers).ljust(len(bits) * 8, "0") or "0", 2)
    return (signs ^ int.from_bytes(bits)).bit_count() <= max(2, len(numbers) // 20)


def consistency(view: CheckView) -> None:
    """Compare everything that is kept twice."""
    _scope_counts(view)
    _tags(view)
    view.found("session_missing", [Spot(0, name) for (name,) in view.rows("sessions_missing", "memory")])
    differing = view.rows("session_differs", "memory")
    view.found("session_differs", [Spot(id, uid, (scope, session)) for id, uid, scope, session in differing])
    if view.asked.session is None:
        _counters(view)
        _vectors(view)


def indexes(view: CheckView) -> None:
    """Compare what is made of the memories alone, and is made again by a reindex."""
    _scope_counts(view)
    _tags(view)
    _text_count(view)
    _vectors(view)


def _scope_counts(view: CheckView) -> None:
    wrong = [
        Spot(0, path or "user/default", (kept, real)) for path, kept, real in view.ask("scope_counts", view.number)
    ]
    if view.asked.session is not None:
        own = f"session/{view.asked.session}"
        wrong = [spot for spot in wrong if spot.label == own or spot.label.startswith(own + "/")]
    view.found("scope_count_wrong", wrong)


def true_tags(raw: bytes | None) -> list[str]:
    """The tags of a memory that can be read."""
    whole, value = readable(raw, list)
    return [tag for tag in value if isinstance(tag, str)] if whole else []


def _tags(view: CheckView) -> None:
    real: dict[int, tuple[str, set[str]]] = {
        id: (uid, set(true_tags(raw))) for id, uid, raw in view.rows("tagged", "memory")
    }
    kept: dict[int, set[str]] = {}
    for memory, tag in view.ask("tag_rows", view.number, view.low("memory")):
        kept.setdefault(memory, set()).add(tag)
    wrong: list[Spot] = []
    for memory in sorted(real.keys() | kept.keys()):
        uid, tags = real.get(memory, ("", set()))
        listed = kept.get(memory, set())
        if tags != listed and (memory in real or _in_sight(view, memory)):
            wrong.append(
                Spot(
                    memory,
                    uid or view.label(memory),
                    {"missing": sorted(tags - listed), "left over": sorted(listed - tags)},
                )
            )
    view.found("tag_rows_wrong", wrong)


def _in_sight(view: CheckView, memory: int) -> bool:
    if view.asked.session is None:
        return True
    row = view.ask(
        "session_of_memory",
        memory,
    ).fetchone()
    return row is not None and row[0] == view.asked.session


def _text_count(view: CheckView) -> None:
    (texts,) = view.ask("count_texts", view.base, view.top).fetchone()
    if texts != view.snapshot._texts:
        view.found("text_count_wrong", [Spot(0, view.project or "", (view.snapshot._texts, texts))])


def _counters(view: CheckView) -> None:
    _text_count(view)
    (last,) = view.ask("last_row", view.base, view.top).fetchone()
    if last is not None and last - view.base > view.snapshot._seq:
        view.found("row_number_behind", [Spot(0, view.project or "", (view.snapshot._seq, last - view.base))])


def _vectors(view: CheckView) -> None:
    there = view.texts()
    least = view.least()
    deleted = {
        ref
        for (ref,) in view.ask(
            "deleted_texts",
            view.number,
        )
    }
    stray: list[int] = [
        text
        for (text,) in view.ask("vector_texts", view.base + least, view.top)
        if text - view.base not in there and text not in deleted  # an undo brings a deleted text back with its vectors
    ]
    view.found("vector_of_nothing", [Spot(text, str(text - view.base)) for text in sorted(stray)])
    given = (view.number, view.base + least, view.top)
    wrong = dict.fromkeys(text for _, text in view.ask("vectors_broken", *given))
    arrivals = [id for (id,) in view.ask("vectors_newest", *given)]
    for id in view.sampled(arrivals, "vectors"):
        row = view.ask(
            "vector_of",
            id,
        ).fetchone()
        if row is not None and not _is_vector(row[1], row[2]):
            wrong[row[0]] = None
    view.found("vector_broken", [Spot(text, view.label(text)) for text in wrong if text not in set(stray)])


# ── columns ────────────────────────────────────────────────────────────────────────────────────────────


def schema(view: CheckView) -> None:
    """Look at every row."""
    view.found("scope_illegal", list(_scopes(view)))
    _json(view)
    _links(view)
    _times(view)
    for statement, kind in (("names_twice", "name_twice"), ("uids_twice", "id_twice")):
        twice = view.rows(statement, "memory")
        view.found(kind, [Spot(id, str(value), count) for value, count, id in twice])
    _texts(view)


def _scopes(view: CheckView) -> Iterator[Spot]:
    for (scope,) in view.rows("scopes_in_use", "memory"):
        if not view.asked.is_scope(scope):
            for id, uid, path in view.ask("memories_in_scope", view.number, scope):
                yield Spot(id, uid, path)


def _json(view: CheckView) -> None:
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


def _links(view: CheckView) -> None:
    broken, outside = [], []
    for id, source, target, type, strength, *raw in view.rows("relation_json", "relation"):
        if not all(readable(value, dict)[0] for value in raw):
            broken.append(arrow(id, source, target, type))
        elif strength is not None and not 0 <= strength <= 1:
            outside.append(arrow(id, source, target, type))
    view.found("relation_json_broken", broken)
    view.found("strength_outside", outside)


def _times(view: CheckView) -> None:
    border = view.now + _AHEAD
    ahead, back, low = [], [], []
    for id, uid, created, updated, version in view.rows("times_wrong", "memory", border=border):
        if max(created, updated) > border:
            ahead.append(Spot(id, uid, (created, updated)))
        elif updated < created:
            back.append(Spot(id, uid, (created, updated)))
        if version < 1:
            low.append(Spot(id, uid, version))
    view.found("time_ahead", ahead)
    view.found("time_backwards", back)
    view.found("version_low", low)


def _texts(view: CheckView) -> None:
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
