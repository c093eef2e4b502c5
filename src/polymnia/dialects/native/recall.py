"""The tools that read: recall answers a question, read opens what is known by name, id or path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

from polymnia.dialects.native import shapes
from polymnia.dialects.native.shapes import at_time, tool
from polymnia.dialects.native.text import TextAnswer, day, gist, label, mention, short_id, stored_by, tokens
from polymnia.dialects.notes import sentence
from polymnia.dialects.shapes import about
from polymnia.engine.content import content, position
from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.recall import RecalledMemory
from polymnia.engine.scopes import legal_scope
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid, NotFound
from polymnia.models import Event, Filters, Record
from polymnia.operation import Context, Memory, Reply

if TYPE_CHECKING:
    from polymnia.engine.search.results import Turn, Why

_BUDGET = 2_000
_LONG = 0.4  # the share of a budget that one memory may take whole; of a longer one its best passages are shown
_FOOT = 60  # tokens for the last line
_READ_BUDGET = 8_000
_CLOSE, _LENT = 0.15, 0.02  # what counts as near in meaning, and as next to a match
_WEAK, _GOOD = 0.02, 0.2  # what scores less than the first is left out where something scores more than the second
_CHANGES = 200
_AROUND = " \t\n\"'`[]()<>"  # what may stand around an id that was copied

Query = Annotated[str, about("A question or words, in any language.")]
Who = Annotated[str, about("Who stored or said it.")]
ChangedSince = Annotated[str, about("Only what was stored, changed or deleted since.")]
AsOf = Annotated[str, about("TextAnswer as of this time.")]
Recency = Annotated[float, about("0 to 1: how much newer ones rise.", ge=0, le=1)]
Cursor = Annotated[str, about("From the answer before, for more.")]


@tool("recall", "Recall", reads=True, idempotent=True)
def recall(
    context: Context,
    query: Query = "",
    kind: str | None = None,
    tags: shapes.Tags | None = None,
    scope: Annotated[str, about("This scope and those below.")] | None = None,
    who: Who | None = None,
    since: shapes.Time | None = None,
    until: str | None = None,
    changed_since: ChangedSince | None = None,
    as_of: AsOf | None = None,
    recency: Recency = 0.0,
    limit: int = 0,
    budget: shapes.Budget = _BUDGET,
    cursor: Cursor | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """Find memories by meaning and words: ask before you answer from assumption. Best first, each with its date, who
    stored it and why it was found. Without a query: the newest. Says so when nothing fits.
    """
    memory = context.memory
    if changed_since is not None and not query.strip():
        return _changes(memory, at_time(changed_since, "changed_since"), budget)
    scope = scope.strip("/") if scope else None
    filters = Filters(
        kinds=tuple(dict.fromkeys((kind, kind.lower(), kind.capitalize()))) if kind else (),
        tags=tuple(shapes.bare(tags)),
        scope=legal_scope(scope, "scope") if scope else None,
        scopes_below=bool(scope),
        who=who or None,
        created_from=at_time(since, "since") if since else None,
        created_to=at_time(until, "until", end=True) if until else None,
        updated_from=at_time(changed_since, "changed_since") if changed_since else None,
    )
    start, end = filters.created_from, filters.created_to
    if start is not None and end is not None and end <= start:
        raise Invalid(f"since ({since}) is not before until ({until})", field="since", hint="Exchange or widen them.")
    asked = crc32(repr((query, kind, tags, scope, who, since, until, changed_since, as_of, recency)).encode())
    first, skip, question = map(int, position("recall", cursor, 3) or (0, 0, asked))
    if question != asked:
        raise Invalid("The cursor is of another question", field="cursor", hint="Repeat that one, or leave cursor out.")
    if not memory.stamp():
        return Reply(text=shapes.empty_project(memory))
    found = memory.recall(
        query,
        filters=filters,
        offset=first,
        recency=recency,
        as_of=at_time(as_of, "as_of", end=True) if as_of else None,
    )
    best = max((one.hit.score for one in found.memories), default=0.0)
    window = [one for one in _once(found.memories) if best < _GOOD or one.hit.score >= _WEAK]
    answer = TextAnswer(budget)
    nothing = next((sentence(note) for note in found.notes if note.code == "nothing_fits"), None)
    if not window:
        return Reply(text=_nothing(memory, filters, [sentence(note) for note in found.notes]))
    if nothing:
        answer.force(nothing)
    shown = 0
    for one in window[skip:]:
        if limit and shown == limit:
            break
        block = _block(first + skip + shown + 1, one, int(budget * _LONG))
        if not answer.add(block, _FOOT) and shown:
            break
        if not shown and answer.left_out:
            answer.force(_block(1, one, max(40, answer.room - _FOOT)))
        shown += 1
    for note in found.notes:
        if note.code not in ("nothing_fits", "cut", "nearest", "filtered"):
            answer.add(f"Note: {sentence(note)}", _FOOT)
    if not found.whole_past:
        answer.add("Note: there are too many later changes to take all of them back; newer ones may shine through.")
    place = (first, skip + shown) if skip + shown < len(window) else (first + len(found.memories), 0)
    answer.force(_foot(cursor_at("recall", *place, asked), found.total - sum(place), limit))
    return Reply(text=str(answer))


def _foot(place: str, left: int, limit: int) -> str:
    if left <= 0:
        return "That is all that matches."
    what = f"{left:,} more match{'es' if left == 1 else ''}"
    return f'{what}: cursor "{place}"' + ("" if limit else ", or a larger budget.")


def _once(memories: list[RecalledMemory]) -> list[RecalledMemory]:
    """Without turns and statements that repeat one another: a statement taken from a turn stands in it as well."""
    kept: list[RecalledMemory] = []
    texts: list[tuple[str | None, str]] = []
    for one in memories:
        record = one.hit.record
        session = record.metadata.get("session") or record.session
        text = content(record).removeprefix(f"{record.metadata.get('speaker')}: ")
        if session and any(session == other and (text in said or said in text) for other, said in texts):
            continue
        kept.append(one)
        texts.append((session, text))
    return kept


def _block(number: int, one: RecalledMemory, most: int) -> str:
    """A memory that was found, as lines: its head, what it says, what stands around it, and why."""
    hit, record = one.hit, one.hit.record
    lines = [f"{number}. {label(record, stored_by(one.stored), f'{hit.score:.2f}')}"]
    whole = content(record)
    if not hit.cut and tokens(whole) <= most:
        lines.append(whole)
    else:
        pieces = " … ".join(fragment.text for fragment in hit.fragments) or gist(record, most * 3)
        lines.append(f"{pieces} … (cut; read it whole by its id)")
    for side, turn in (("before", hit.previous), ("after", hit.next)):
        if turn is not None:
            lines.append(f"  {side}: {_said(turn)}")
    if one.superseded_by is not None:
        lines.append(f"  superseded by {mention(one.superseded_by)}")
    if why := _why(hit.why):
        lines.append(f"  why: {why}")
    return "\n".join(lines)


def _why(why: Why) -> str:
    """Why a memory was found, in a few words."""
    parts = [f"contains the query ({why.exact})"] if why.exact else []
    if why.terms:
        parts.append("words " + ", ".join(why.terms[:6]))
    parts += [f"{other} for {word}" for word, other in why.alike[:3]]
    if why.meaning is not None and why.meaning > _CLOSE:
        parts.append(f"meaning {why.meaning:.2f}")
    if why.date:
        parts.append("of the time asked for")
    if why.lent > _LENT:
        parts.append("next to a match")
    if why.judged is not None:
        parts.append(f"judged {why.judged:.2f}")
    return "; ".join(parts)


def _said(turn: Turn) -> str:
    return f"{turn.who}: {turn.text}" if turn.who else turn.text


def _nothing(memory: Memory, filters: Filters, notes: list[str]) -> str:
    if not memory.count()[0]:
        return shapes.empty_project(memory)
    if filters.scope is not None and not memory.scopes(filters.scope):
        near = memory.nearest_scope(filters.scope)
        return f"There is no scope {filters.scope!r}" + (f"; did you mean {near!r}?" if near else ".")
    return " ".join(["Nothing stored answers this.", *notes])


def _changes(memory: Memory, at: int, budget: int) -> Reply:
    """What was stored, changed and deleted since a time, newest first."""
    found = memory.changed_since(at, limit=_CHANGES)
    if not found:
        return Reply(text=f"Nothing has changed since {moment(at)}.")
    answer = TextAnswer(budget)
    for one in found:
        change = one.change
        undone = f", undone by change {change.undone_by}" if change.undone_by else ""
        head = f"{moment(change.at)[:16]} change {change.id} by {change.who}: {change.action}{undone}"
        if not answer.add(head, _FOOT):
            break
        for effect in one.effects:
            answer.add(f"  {_HOW[effect.how]} {label(effect.record)} {gist(effect.record, 100)}", _FOOT)
        if one.total > len(one.effects):
            answer.add(f"  and {one.total - len(one.effects):,} more memories", _FOOT)
    if answer.left_out or len(found) == _CHANGES:
        answer.force("There is more: name a later time or a larger budget.")
    return Reply(text=str(answer))


_HOW = {"made": "stored", "changed": "changed", "deleted": "deleted", "restored": "restored"}


@tool("read", "Read", reads=True, idempotent=True)
def read(
    context: Context,
    ids: Annotated[list[str], about("Names, ids, or a scope path for its tree; / for all scopes.")],
    depth: Annotated[int, about("Steps of relations to follow.", ge=0, le=5)] = 1,
    history: bool = False,
    as_of: str | None = None,
    budget: shapes.Budget = _READ_BUDGET,
    project: shapes.Project | None = None,
) -> Reply:
    """Open memories or entities whole, with relations and, if asked, their history; or the tree of scopes."""
    memory = context.memory
    if not ids:
        raise Invalid("ids is empty", field="ids", hint="Give a name, an id, or / for the tree of scopes.")
    at = at_time(as_of, "as_of", end=True) if as_of else None
    answer = TextAnswer(budget)
    for id in ids:
        if (tree := _tree(memory, id)) is not None:
            answer.section(tree[0], tree[1], lambda more: f"… {more:,} more scopes")
            continue
        for line in _opened(memory, id, depth, history, at):
            if not answer.add(line, _FOOT) and tokens(line) > budget // 2:
                answer.force(f"{_trimmed(line, answer.room - _FOOT)} … (cut; a larger budget shows all of it)")
    if answer.left_out:
        answer.force(f"{answer.left_out:,} lines are left out; a larger budget shows them.")
    return Reply(text=str(answer))


def _trimmed(text: str, most: int) -> str:
    from polymnia.engine.text.tokens import trimmed

    return trimmed(text, max(20, most))


def _tree(memory: Memory, path: str) -> tuple[str, list[str]] | None:
    """The scopes at a path and below, where it is one and no memory has that name."""
    whole = path.strip() in ("/", "")
    try:
        scopes = memory.scopes(None if whole else path.strip().strip("/"))
    except Invalid:  # no path
        return None
    if whole and not scopes:
        return shapes.empty_project(memory), [""]
    if not scopes or (not whole and _named(memory, path) is not None):
        return None
    lines = [f"{'  ' * (one.depth - 1)}{one.path.rpartition('/')[2]} ({one.total:,})" for one in scopes]
    return f"Scopes{'' if whole else f' at {path}'}, with how many memories:", lines


def _named(memory: Memory, text: str) -> Record | None:
    try:
        return memory.resolve(text)
    except (NotFound, Invalid):
        return None


def _opened(memory: Memory, id: str, depth: int, history: bool, at: int | None) -> Iterator[str]:
    if at is not None:
        name = memory.deleted_name(id) or found(memory, id).name
        record, relations = memory.get(name, at=at)
        yield f"{label(record)} as of {day(at - 1)}"
        yield from record.observations
        yield from (f"  {one.source} -{one.type}-> {one.target}" for one in relations)
    else:
        record = found(memory, id)
        around = memory.neighbourhood(record, depth)
        yield label(record, stored_by(around.stored), f"version {record.version}")
        yield from record.observations
        if record.summary:
            yield f"Summary: {record.summary}"
        if record.metadata:
            yield "Metadata: " + ", ".join(f"{key}={value}" for key, value in record.metadata.items())
        if around.superseded_by is not None:
            yield f"Superseded by {mention(around.superseded_by)}"
        names = {one.name: short_id(one) for one in (record, *around.records)}
        for one in around.relations:
            auto = " (by similarity)" if one.origin == "auto" else ""
            yield f"  {names.get(one.source, one.source)} -{one.type}-> {names.get(one.target, one.target)}{auto}"
        yield from (f"  {label(one)} {gist(one)}" for one in around.records)
        if around.cut:
            yield "  There are more relations than are followed here; read what they lead to."
    if history:
        yield "History:"
        yield from (f"  {_event(event)}" for event in memory.history(record.name))


def found(memory: Memory, id: str) -> Record:
    """A memory by name, id, the beginning of its id, or all it says; a deleted one is refused with the way back."""
    if not id.strip():
        raise Invalid("The id is empty", field="id", hint="Give a name or an id; recall finds them.")
    try:
        return memory.resolve(id)
    except NotFound:
        name = memory.deleted_name(id)
    if name is None:
        return _meant(memory, id)
    change = memory.history(name)[-1].change
    hint = f"undo(change={change.id}) brings it back; read with as_of shows what it said."
    raise NotFound([id], message=f"{id!r} was deleted at {moment(change.at)}", hint=hint)


def _meant(memory: Memory, id: str) -> Record:
    """The one memory that can be meant: named so but for case and quotes, or saying exactly this."""
    bare = id.strip(_AROUND)
    if bare != id and (record := _named(memory, bare)) is not None:
        return record
    near: list[str] = []
    try:
        memory.history(bare)
    except NotFound as e:
        nearest = e.details.get("nearest")
        near = nearest if isinstance(nearest, list) else []
    same = memory.names_alike(bare)
    if len(same) == 1 and same[0].casefold() == bare.casefold():
        return memory.resolve(same[0])
    said = [one.hit.record for one in memory.recall(id).memories if content(one.hit.record) == id.strip()]
    if len(said) == 1:
        return said[0]
    meant = f"Did you mean {', '.join(map(repr, same or near))}? " if same or near else ""
    raise NotFound([id], "Memory", hint=f"{meant}recall finds memories by what they say.")


def _event(event: Event) -> str:
    change = event.change
    did = "created" if event.created else "deleted" if event.deleted else "changed"
    parts = [f"+ {text!r:.120}" for text in event.added] + [f"- {text!r:.120}" for text in event.removed]
    parts += [f"linked {one}" for one in event.related] + [f"unlinked {one}" for one in event.unrelated]
    parts += [f"{key} was {value!r:.80}" for key, value in event.changed.items() if key not in ("kind_fold",)]
    undone = f" (undone by change {change.undone_by})" if change.undone_by else ""
    return f"{moment(change.at)[:16]} change {change.id} by {change.who}: {did} {'; '.join(parts)}{undone}".rstrip()
