"""Answers within a budget of tokens. What does not fit is left out from the end, and the answer says how to go on.

There are two ways on. A tool that pages by itself (the graph's) is asked again for fewer items, so its own cursor fits.
Any other answers as always; of its list the first items that fit are sent, and a cursor of ours says where to go on
when the same call is made again. Whatever else is too long is shortened: long texts first, then long lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from msgspec.json import decode, encode, format
from msgspec.structs import replace

from polymnia.dialects.shapes import about
from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.content import foreign, position
from polymnia.models import JsonObject, Note
from polymnia.operation import Reply

LEAST = 100
_MARGIN = 150  # tokens for what the answer says about itself, the cursor included
_SHORT = 20  # tokens; texts and items below are not worth cutting
_HUB = 4  # the part of a budget that the relations of one entity may take before others are shown
_FEW = 10  # relations of an entity that are shown in any case
_NAME = 200  # characters; a text up to this long without a space is an id, a cursor or a path, and none in part
_LONGEST = 12  # bytes of a token, on average of a whole answer; none has more tokens than bytes
_COUNTED = 200_000  # characters

MaxTokens = Annotated[int, about("Most tokens of the answer.", ge=LEAST)]
Cursor = Annotated[str, about("Where to go on: next_cursor of the same call before.")]
NextCursor = Annotated[str, about("Present when something is left out: pass it as cursor to the same call to go on.")]

Limit = Annotated[int, about("Most items of its list.", ge=1)]

FIELDS: list[tuple[str, Any, None]] = [("max_tokens", MaxTokens | None, None), ("cursor", Cursor | None, None)]
"""The parameters of a call that reads, beside those of its contract."""
LIMIT: tuple[str, Any, None] = ("limit", Limit | None, None)
"""A third one, of tools with a list and without a limit of their own."""


def size(value: Any, indent: int = 0) -> int:
    """About how many tokens a value has as JSON."""
    data = encode(value)
    return _count((format(data, indent=indent) if indent else data).decode())


def _count(text: str) -> int:
    """The tokens of a text; those of a very long one are judged by its beginning."""
    from polymnia.engine.text.tokens import tokens

    if len(text) <= _COUNTED:
        return tokens(text)
    return tokens(text[:_COUNTED]) * len(text) // _COUNTED


def _fits(reply: Reply, most: int) -> bool:
    """Whether a reply is within the budget. Only what is neither very small nor very large needs counting."""
    if reply.is_error or reply.refusal is not None or reply.text is not None or reply.content is not None:
        return True
    length = len(encode(reply.value))
    if (length <= most and not reply.indent) or length > _LONGEST * most:
        return length <= most
    return size(reply.value, reply.indent) <= most


def fitted(
    reply: Reply,
    most: int | None,
    *,
    lists: Sequence[str] = (),
    whole: Sequence[str] = (),
    cursor: str | None = None,
    limit: int | None = None,
    takes_budget: bool = True,
) -> Reply:
    """The reply in at most so many tokens, with at most ``limit`` items of its list, from where the cursor says.

    ``lists`` are the fields, inner ones with a dot, of which the first that is there may be continued. A text in
    ``whole`` is of no use in part: it is left out if it does not fit. Unless the tool ``takes_budget``, a larger one
    is not offered.
    """
    if cursor is None and limit is None and (most is None or _fits(reply, most)):
        return reply
    value: JsonObject = decode(encode(reply.value))
    start = int((position("rest", cursor, 1) or (0,))[0])
    holder, name = next(_held(value, lists), (value, ""))
    items = holder.get(name, [])
    if cursor is not None and not 0 < start < len(items):
        raise foreign(cursor)
    rest = items[start:]
    said: list[str] = []
    if name:
        holder[name] = rest[:limit]
        if limit is not None and limit < len(rest) and (most is None or size(value) <= most):
            value["next_cursor"] = cursor_at("rest", start + limit)
            said.append(
                f"{len(rest) - limit:,} of {len(items):,} {name} are left out; pass next_cursor as cursor to go on."
            )
    if most is not None and (total := size(value)) > most:
        said += _without(value, whole, most)
        shown, texts = _shortened_to(value, holder, name, rest[:limit], most - _MARGIN)
        more = f"{'or a larger max_tokens: ' if takes_budget else ''}all of it has about {total:,} tokens"
        if name and (left := len(rest) - shown):
            value["next_cursor"] = cursor_at("rest", start + shown)
            said.append(f"{left:,} of {len(items):,} {name} are left out; pass next_cursor as cursor to go on, {more}.")
        if texts:
            said.append(f"Cut short (…), texts or lists: {texts:,}; ask for less, {more}.")
    if said:
        typed = "patterns" in value  # the notes of detect_patterns have a type
        value["notes"] = [*value.get("notes", ()), *({"type": "budget", "note": one} if typed else one for one in said)]
    notes = [*reply.notes, *(Note("left_out", one) for one in said)]
    return replace(reply, value=value, structured=value, notes=notes)


def paged(run: Callable[[int | None], Reply], most: int, limit: int | None, total: int | None = None) -> Reply:
    """The reply of a tool that has pages of its own, with as many items as fit; ``total`` is how many there are."""
    reply = run(limit)
    if _fits(reply, most):
        return reply
    there, count = _first(decode(encode(reply.value)), most - 2 * _MARGIN)
    reply, ties = _fewer_relations(run(count), most - _MARGIN)
    while count > 1 and not _fits(reply, most - _MARGIN):
        count = count * 3 // 4
        reply, ties = _fewer_relations(run(count), most - _MARGIN)
    left = (total or there) - count
    said = [f"{left:,} of {left + count:,} entities are left out"] if left else []
    if ties:
        said.append(f"{ties:,} relations, which only a larger max_tokens brings, are left out")
    if not _fits(reply, most - _MARGIN):
        reply, cut = _cut(reply, most - _MARGIN)
        said.append(f"texts or lists cut short (…): {cut:,}")
    if not said:
        return reply
    way = f"pass cursor {reply.next} to go on" if reply.next else "ask for less"
    text = f"{' and '.join(said)}: {way}, or a larger max_tokens."
    return replace(reply, notes=[*reply.notes, Note("left_out", text)], remark=text)


def _first(value: Any, most: int) -> tuple[int, int]:
    """How many items a graph answer has, and how many of the first fit, each with its relations; at least one.

    What the relations of one would take beyond a part of the budget does not count: some of them are left out then.
    """
    found = value if isinstance(value, list) else value.get("nodes", value.get("entities", []))
    relations: dict[str, list[Any]] = {one["name"]: [] for one in found}
    for one in value.get("relations", ()) if isinstance(value, dict) else ():
        relations.setdefault(one["from"] if one["from"] in relations else one["to"], []).append(one)
    share = most // _HUB
    for count, one in enumerate(found):
        inside = size(one.get("relations", ()))
        most -= size(one) - inside + min(share, inside + size(relations[one["name"]]))
        if most < 0:
            return len(found), max(1, count)
    return len(found), max(1, len(found))


def _fewer_relations(reply: Reply, most: int) -> tuple[Reply, int]:
    """A graph answer without the last relations of whatever has most, as far as needed, and how many these are."""
    if _fits(reply, most):
        return reply, 0
    value = decode(encode(reply.value))
    left_out = _drop_relations(value, most, reply.indent)
    if not left_out:
        return reply, 0
    structured = value
    if reply.structured is not reply.value:
        structured = decode(encode(reply.structured))
        _drop_relations(structured, most, reply.indent)
    return replace(reply, value=value, structured=structured), left_out


def _drop_relations(value: Any, most: int, indent: int) -> int:
    left_out = 0
    while size(value, indent) > most:
        lists = [holder[key] for holder, key in _parts(value, list) if key == "relations"]
        longest: list[Any] = max(lists, key=len, default=[])
        if len(longest) <= _FEW:
            break
        gone = len(longest) - max(_FEW, len(longest) * 3 // 4)
        del longest[-gone:]
        left_out += gone
    return left_out


def _cut(reply: Reply, most: int) -> tuple[Reply, int]:
    """A reply whose one item is too long, or whose lists are, with its texts and lists cut short."""
    value = decode(encode(reply.value))
    cut = shorten(value, most)
    if reply.structured is reply.value:
        return replace(reply, value=value, structured=value), cut
    structured = decode(encode(reply.structured))
    shorten(structured, most)
    return replace(reply, value=value, structured=structured), cut


def cut_short(reply: Reply, most: int) -> Reply:
    """The reply of a tool that writes, cut short where it is too long: what was written is written all the same."""
    if _fits(reply, most):
        return reply
    reply, cut = _cut(reply, most - _MARGIN)
    text = f"All of it was done. In this answer texts or lists are cut short (…): {cut:,}."
    return replace(reply, notes=[*reply.notes, Note("left_out", text)], remark=text)


def short_error(reply: Reply, most: int) -> Reply:
    """An error that quotes much of what was given, cut short: its beginning, and its end, which says what to do."""
    if reply.refusal is not None:
        code, message, data = reply.refusal
        said = decode(encode({"message": message, "data": data}))
        shorten(said, most)
        return replace(reply, refusal=(code, said["message"], said["data"]))
    if reply.text is None:
        value = decode(encode(reply.value))
        if size(value) <= most:
            return reply
        for holder, key in _parts(value, list):  # the message says how many there are
            del holder[key][_FEW:]
        shorten(value, most)
        return replace(reply, value=value, structured=value)
    if _count(reply.text) <= most:
        return reply
    from polymnia.engine.text.tokens import trimmed

    return replace(reply, text=f"{trimmed(reply.text[: most * _LONGEST], most - _MARGIN)} … {reply.text[-_NAME:]}")


def _held(value: JsonObject, lists: Sequence[str]) -> Iterator[tuple[JsonObject, str]]:
    """The objects that hold one of the lists, with the name it has there; the empty ones last."""
    found = []
    for path in lists:
        *outer, name = path.split(".")
        holder: Any = value
        for key in outer:
            holder = holder.get(key, {})
        if isinstance(holder.get(name), list):
            found.append((holder, name))
    return iter(sorted(found, key=lambda one: not one[0][one[1]]))


def _without(value: JsonObject, whole: Sequence[str], most: int) -> Iterator[str]:
    """Take out the texts that are of no use in part."""
    for name in whole:
        if isinstance(text := value.get(name), str) and (has := size(text)) > most - _MARGIN:
            del value[name]
            yield f"{name} has about {has:,} tokens and is left out; have it written to a file, or pass max_tokens."


def _shortened_to(value: JsonObject, holder: JsonObject, name: str, rest: list[Any], most: int) -> tuple[int, int]:
    """Shorten an answer with a list in it: how many of the list are shown, and how many texts and lists were cut."""
    if not rest:
        return 0, shorten(value, most)
    holder[name] = []
    cut = shorten(value, most * 3 // 4)
    shown: list[Any] = []
    room = most - size(value)
    for one in rest:
        cost = size(one)
        if cost > max(most // 4, room if not shown else 0):  # one long item does not silence all others
            cuts = shorten(one, max(_SHORT, min(most // 4, room)))
            cost = size(one)
            cut += cuts if cost <= room or not shown else 0
        if cost > room and shown:
            break
        room -= cost
        shown.append(one)
    holder[name] = shown
    return len(shown), cut


def shorten(value: Any, most: int) -> int:
    """Shorten the texts, then the lists of a JSON value in place until it has at most so many tokens; how many were."""
    cut: set[tuple[int, Any]] = set()
    room = most
    for _ in range(4):
        if (has := size(value)) <= most:
            break
        _shorten_texts(value, has, room, cut)
        room = room * 9 // 10
    while size(value) > most:
        lists = [(size(holder[key]), holder, key) for holder, key in _parts(value, list) if len(holder[key]) > 1]
        if not lists:
            break
        _, holder, key = max(lists, key=lambda one: one[0])
        holder[key] = holder[key][: (len(holder[key]) + 1) // 2]
        cut.add((id(holder), key))
    return len(cut)


def _shorten_texts(value: Any, has: int, room: int, cut: set[tuple[int, Any]]) -> None:
    """Give the long texts of a value what room there is: the longest are cut down to the same length."""
    from polymnia.engine.text.tokens import trimmed

    sizes = sorted((_count(holder[key]), at) for at, (holder, key) in enumerate(_parts(value, str)))
    places = list(_parts(value, str))
    left = room - (has - sum(number for number, _ in sizes))
    for done, (number, _) in enumerate(sizes):
        each = max(_SHORT, left // (len(sizes) - done))
        if number > each:
            for _, at in sizes[done:]:
                holder, key = places[at]
                holder[key] = trimmed(holder[key][: each * _LONGEST], each).removesuffix("…") + "…"
                cut.add((id(holder), key))
            return
        left -= number


def _parts(value: Any, kind: type) -> Iterator[tuple[Any, Any]]:
    """Every text or list in a JSON value, by what holds it and its key there."""
    for key, one in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(one, kind) and not (isinstance(one, str) and len(one) <= _NAME and len(one.split()) == 1):
            yield value, key
        if isinstance(one, dict | list):
            yield from _parts(one, kind)
