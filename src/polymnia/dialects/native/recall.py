"""recall answers a question: by words and meaning, of a time, or what changed since."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

from msgspec import Struct
from msgspec.structs import astuple, replace

from polymnia.dialects.native import shapes
from polymnia.dialects.native.shapes import tool
from polymnia.dialects.native.text import (
    TextAnswer,
    arrow,
    count,
    day,
    differences,
    gist,
    label,
    mention,
    minute,
    short_id,
    shortened,
    stored_by,
    tokens,
    trimmed,
)
from polymnia.dialects.notes import sentence
from polymnia.dialects.shapes import about, at_time
from polymnia.engine.content import content, position
from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.history import ChangeEffect, ChangeEffects
from polymnia.engine.recall import WINDOW, Recalled, RecalledMemory
from polymnia.engine.scopes import legal_scope
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import Filters, Record, Relation
from polymnia.operation import Context, Memory, Reply

if TYPE_CHECKING:
    from polymnia.engine.search.results import Hit, Turn, Why

_BUDGET = 2_000
# The share of a budget that one of the first memories may take whole, and another one before there is room for more
# (but so many tokens): of a longer one the best passages are shown. Measured by `bench.agents --only evidence`.
_LARGE, _SMALL, _LEAST = 0.3, 0.02, 40
_FIRST = 2
_SPARE = 16  # a part of a budget that is kept free: heads and reasons cost a tenth more than they are estimated at
_FOOT = 70  # tokens for the last lines
_CLOSE, _LENT = 0.15, 0.02  # what counts as near in meaning, and as next to a match
_ALIKE = 3  # memories of one origin, from which on it is said once for all
_NEAREST = 3  # memories that are shown where none fits
_CUT = " … (cut)"
_CUT_MEANS = "(cut): read by its id shows it whole."
_CHANGES = 200
_MORE = 40  # tokens for the line with the cursor to more memories of a change
_FEW, _TIES = 3, 10  # relations of an entity or a change that are shown, where room is short and where not
_AGES = {1: " (newer)", -1: " (older)", 0: ""}
_CONFLICTS = 2  # memories in conflict with one that are named
_WITHOUT_QUERY = "changed_since without a query lists all changes, and what was deleted."
_OTHER_QUESTION = "The cursor is of another question"
_SOURCES, _SOURCE = ("source", "url", "session"), 80  # keys of metadata that say where a memory is from; characters

Query = Annotated[str, about("A question or words, in any language.")]
Who = Annotated[str, about("Who stored or said it.")]
ChangedSince = Annotated[str, about("Only what was stored, changed or deleted since.")]
AsOf = Annotated[str, about("Answer as of this time.")]
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
    limit: Annotated[int, about("Memories an answer may have.", ge=1, le=1_000)] | None = None,
    budget: shapes.Budget = _BUDGET,
    cursor: Cursor | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """Find memories by meaning and words: ask before you answer from assumption. Best first, each with its date, who
    stored it and why it was found. Without a query: the newest. Says so when nothing fits.
    """
    memory = context.memory
    scope = shapes.path(scope) if scope else None
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
    asked = crc32(repr((query, kind, tags, scope, who, since, until, changed_since, as_of, recency)).encode()) & 0xFFFF
    at = at_time(as_of, "as_of", end=True) if as_of else None
    if changed_since is not None and not query.strip():
        return _changes(memory, filters, at, cursor, asked, budget, limit)
    place = _Place(*map(int, position("recall", cursor, 5) or (0, 0, 0, 0, asked)))
    if place.question != asked:
        raise Invalid(_OTHER_QUESTION, field="cursor", hint="Repeat that one, or leave cursor out.")
    if not memory.stamp():
        return Reply(text=shapes.empty_project(memory))
    listing = _Listing(
        lambda order, first: memory.recall(
            query, filters=filters, offset=first, order=order, recency=recency, as_of=at
        ),
        place,
    )
    if listing.next() is None and cursor is None:
        if listing.page.relations and filters.empty:  # no filter tells relations apart
            return Reply(text=_answer(listing, budget, limit, query, changed=False))
        notes = [sentence(note) for note in listing.page.notes]
        if changed_since is not None:
            notes.append(_WITHOUT_QUERY)
        return Reply(text=_nothing(memory, filters, notes))
    return Reply(text=_answer(listing, budget, limit, query, changed=changed_since is not None))


class _Place(Struct, frozen=True):
    """Where an answer stopped: the page of an order, which of its places were shown (as bits), and how many in all."""

    order: int
    first: int
    shown: int
    number: int
    question: int


class _Listing:
    """What answers a question, from a place on, in the order that its first page had."""

    def __init__(self, ask: Callable[[int, int], Recalled], place: _Place) -> None:
        self._ask = ask
        self.place = place
        self.repeated = 0
        self.page = self._turn_to(place.first)
        self.lost = place.order not in (0, self.page.order)  # another order was made

    def _turn_to(self, first: int) -> Recalled:
        page = self._ask(self.place.order, first)
        kept = first == self.place.first and self.place.order in (0, page.order)
        self.place = replace(self.place, order=page.order, first=first, shown=self.place.shown if kept else 0)
        window = _once(page.memories)
        self._waiting = [one for one in window if not self.place.shown & self._bit(one)]
        if not self.place.shown:
            self.repeated += len(page.memories) - len(window)
        return page

    def _bit(self, one: RecalledMemory) -> int:
        return 1 << (one.hit.place - self.place.first)

    def next(self) -> RecalledMemory | None:
        """The memory that comes next; None at the end."""
        while not self._waiting and self.place.first + WINDOW < self.page.total:
            self.page = self._turn_to(self.place.first + WINDOW)
        return self._waiting[0] if self._waiting else None

    def take(self) -> None:
        """Mark the next memory as shown."""
        bit = self._bit(self._waiting.pop(0))
        self.place = replace(self.place, shown=self.place.shown | bit, number=self.place.number + 1)

    @property
    def left(self) -> int:
        """How many are still to come."""
        return len(self._waiting) + max(0, self.page.total - self.place.first - WINDOW)


def _answer(listing: _Listing, budget: int, limit: int | None, query: str, *, changed: bool) -> str:
    """The memories that fit, the notes, and how to go on."""
    answer = TextAnswer(budget - budget // _SPARE)
    notes = listing.page.notes
    nothing = next((sentence(note) for note in notes if note.code == "nothing_fits"), None)
    if nothing and not listing.page.relations:
        answer.force(nothing)
    elif nothing:
        answer.force("No memory seems to answer this; relations below name it.")
    if listing.lost:
        answer.add("Note: the list that this goes on with is no longer kept; some may come twice or be missing.")
    worded = [sentence(note) for note in notes if note.code not in ("nothing_fits", "cut", "nearest", "filtered")]
    if not listing.page.whole_past:
        worded.append("there are too many later changes to take all of them back; newer ones may shine through.")
    if changed:
        worded.append(_WITHOUT_QUERY)
    below = TextAnswer(budget // 4)
    if listing.page.relations and not listing.place.number:
        below.rest(["Relations of what you ask about:", *(f"  {arrow(one)}" for one in listing.page.relations)], _more)
    for note in worded:
        below.add(f"Note: {note}")
    most = limit or (_NEAREST if nothing else WINDOW)
    before = listing.place.number
    for block in _blocks(listing, most, budget, answer.room - _FOOT - tokens(str(below)), query):
        answer.force(block)
    full = listing.place.number - before == most
    if str(below):
        answer.force(str(below))
    if listing.repeated:
        what = count(listing.repeated, "turn or statement that repeats", "turns or statements that repeat")
        answer.add(f"Note: left out {what} these.", _FOOT)
    if _CUT in str(answer):
        answer.force(_CUT_MEANS)
    answer.force(_foot(listing, fits=nothing is None, larger=("" if limit else "limit") if full else "budget"))
    return str(answer)


def _blocks(listing: _Listing, most: int, budget: int, room: int, query: str) -> list[str]:
    """The next memories, at most so many, as there is room for them.

    First as many as possible, the best two whole and the others by their best passages; then what room is left goes to
    whole texts, the turns around them and longer passages, best first.
    """
    large, small = int(budget * _LARGE), max(_LEAST, int(budget * _SMALL))
    taken: list[RecalledMemory] = []
    blocks: list[str] = []
    start = listing.place.number + 1
    shown = _Shown(listing.page.memories[:most], query)
    room -= tokens(shown.opening) if shown.opening else 0
    while len(taken) < most and (one := listing.next()) is not None:
        number = start + len(taken)
        block = shown.block(number, one, large if len(taken) < _FIRST else small)
        if tokens(block) > room:
            if taken:
                break
            block = _squeezed(number, one, room)
        listing.take()
        taken.append(one)
        blocks.append(block)
        room -= tokens(block)
    numbers = {one.hit.record.uid: start + at for at, one in enumerate(taken)}
    for at, one in enumerate(taken):
        for size, around in ((large, numbers), (large, None), (2 * small, None)):
            fuller = shown.block(start + at, one, size, around)
            more = tokens(fuller) - tokens(blocks[at])
            if more <= room:
                blocks[at] = fuller
                room -= more
                break
    return [shown.opening, *blocks] if shown.opening else blocks


def _more(number: int) -> str:
    return f"  and {number:,} more; read shows them"


def _foot(listing: _Listing, *, fits: bool, larger: str) -> str:
    """How many are left, and how to get them; ``larger`` is what would have let more of them in."""
    left = listing.left
    if not left:
        return "That is all that was found." if fits else "These are only the nearest."
    what = (
        count(left, "more memory was found", "more memories were found") if fits else f"{left:,} more are less like it"
    )
    way = f", or a larger {larger}." if larger else ""
    return f'{what}: cursor "{cursor_at("recall", *astuple(listing.place))}"{way}'


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


class _Shown:
    """How memories are shown: what most of them have in common stands above them once, as ``opening``."""

    def __init__(self, memories: list[RecalledMemory], query: str) -> None:
        self._scored = bool(query.strip())
        self._words = set(re.findall(r"\w+", query.casefold()))
        scopes = {one.hit.record.scope for one in memories}
        self._scope = scopes.pop() if len(memories) >= _ALIKE and len(scopes) == 1 else None
        by = [stored_by(one.stored) for one in memories]
        most = max(by, key=by.count, default="")
        self._by = most if by.count(most) >= _ALIKE and all(by) else ""
        common = [*([self._by] if self._by else []), *([f"in {self._scope}"] if self._scope else [])]
        self.opening = f"All {', '.join(common)}, unless said otherwise." if common else ""

    def block(self, number: int, one: RecalledMemory, most: int, around: dict[str, int] | None = None) -> str:
        """A memory as lines: its head, what it says, the turns ``around`` it (those that have a number by it), why."""
        hit, record = one.hit, one.hit.record
        if self._scope is not None:
            record = replace(record, scope=None if record.scope == self._scope else record.path)
        by = stored_by(one.stored)
        told = (record.metadata.get(key) for key in _SOURCES)
        origin = next((f"from {shortened(one, _SOURCE)}" for one in told if isinstance(one, str) and one), "")
        more = [*filter(None, (by if by != self._by else "", origin)), *([f"{hit.score:.2f}"] if self._scored else [])]
        lines = [f"{number}. {label(record, *more)}"]
        whole = content(record)
        lines.append(whole if tokens(whole) <= most else _passages(hit, most))
        for side, turn in (("before", hit.previous), ("after", hit.next)):
            if around is not None and turn is not None:
                lines.append(f"  {side}: {f'see {around[turn.id]}' if turn.id in around else _said(turn)}")
        if one.superseded_by is not None:
            lines.append(f"  superseded by {mention(one.superseded_by)}")
        for other in one.conflicts[:_CONFLICTS]:
            age = (other.created > record.created) - (other.created < record.created)  # of one change, neither is older
            lines.append(f'  conflicts with {short_id(other)}{_AGES[age]}: "{gist(other, 80)}"')
        lines += self._relations(one.relations, _FEW if around is None else _TIES)
        if self._scored and (why := _why(hit.why)):
            lines.append(f"  why: {why}")
        return "\n".join(lines)

    def _relations(self, relations: list[Relation], most: int) -> list[str]:
        """The relations of an entity, those first that share words with the question."""
        given = sorted(relations, key=lambda one: -len(self._words & set(arrow(one).casefold().split())))
        lines = [f"  {arrow(one)}" for one in given[:most]]
        return [*lines, f"  and {len(given) - most:,} more relations; read shows them"] if len(given) > most else lines


def _squeezed(number: int, one: RecalledMemory, room: int) -> str:
    """A memory for which there is no room: its id, whether it holds, and as much of it as there is room for."""
    marks = ["superseded"] if one.superseded_by is not None else ["in conflict"] if one.conflicts else []
    head = f"{number}. {label(one.hit.record, *marks)}"
    if tokens(head) > room // 2:
        head = f"{number}. {_short_head(one.hit.record, *marks)}"
    return f"{head}\n{_passages(one.hit, room - tokens(head))}"


def _short_head(record: Record, *marks: str) -> str:
    return f"{short_id(replace(record, name=record.uid))} [{' · '.join([day(record.created), *marks])}]"


def _passages(hit: Hit, most: int) -> str:
    """The best passages of a memory in at most so many tokens, and that it is cut."""
    pieces = " … ".join(piece.text for piece in hit.fragments if piece.observation is not None)
    whole = content(hit.record)
    cut = trimmed(pieces or whole, max(10, most - tokens(_CUT)))
    return whole if cut == whole else cut + _CUT


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
    if why.judged is not None and not parts:
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
    return " ".join(["Nothing stored answers this.", *(note.removeprefix("Nothing matches. ") for note in notes)])


def _changes(
    memory: Memory, filters: Filters, end: int | None, cursor: str | None, asked: int, budget: int, limit: int | None
) -> Reply:
    """What was stored, changed and deleted since a time, newest first; until and as_of end it."""
    start = filters.updated_from or 0
    before, skip, question = map(int, position("changes", cursor, 3) or (0, 0, asked))
    if question != asked:
        raise Invalid(_OTHER_QUESTION, field="cursor", hint="Repeat that one, or leave cursor out.")
    until = min((one for one in (end, filters.created_to) if one is not None), default=None)
    filters = replace(filters, updated_from=None, created_to=None)
    found = memory.changed_since(
        start,
        until=until,
        before=before or None,
        filters=None if filters.empty else filters,
        limit=_CHANGES + 1,
        skip=skip,
    )
    if not found:
        which = "" if filters.empty else " that passes the filters"
        return Reply(text=f"Nothing{which} has changed since {moment(start)}.")
    answer = TextAnswer(budget)
    shown = 0
    for one in found[: min(limit or _CHANGES, _CHANGES)]:
        lines = _change(one, 0 if shown else skip, answer.room - _FOOT, asked)
        if not answer.add(lines, _FOOT):
            if shown:
                break
            lines, rest = _squeezed_change(one, skip)
            answer.begin(lines, _MORE)
            if rest:
                further = cursor_at("changes", one.change.id, skip + 1, asked)
                answer.force(f'and {rest:,} more memories of it, then earlier changes: cursor "{further}"')
                return Reply(text=str(answer))
        shown += 1
    if shown < len(found):
        more = "More than " if len(found) > _CHANGES else ""
        left = count(min(len(found), _CHANGES) - shown, "earlier change is", "earlier changes are")
        answer.force(f'{more}{left} left out: cursor "{cursor_at("changes", found[shown - 1].change.id, 0, asked)}".')
    return Reply(text=str(answer))


def _change(one: ChangeEffects, skip: int, room: int, asked: int) -> str:
    """A change, and what it did to the memories after the first ``skip`` of them, as far as there is room."""
    change = one.change
    undone = f", undone by change {change.undone_by}" if change.undone_by else ""
    lines = [f"{minute(change.at)} change {change.id} by {change.who}: {change.action}{undone}"]
    ties = [] if skip else [f"  {_HOW[tie.how]} {arrow(tie)}" for tie in one.relations[:_TIES]]
    if ties and len(one.relations) > _TIES:
        ties.append(f"  and {len(one.relations) - _TIES:,} more relations")
    room -= sum(map(tokens, (*lines, *ties))) + _MORE
    for effect in one.effects:
        line = f"  {_effect(effect)}"
        room -= tokens(line)
        if room < 0 and len(lines) > 1:
            break
        lines.append(line)
    done = skip + len(lines) - 1
    if one.effects and done < one.total:
        further = cursor_at("changes", change.id, done, asked)
        lines.append(f'  and {one.total - done:,} more memories: cursor "{further}"')
    return "\n".join([*lines, *ties])


def _squeezed_change(one: ChangeEffects, skip: int) -> tuple[str, int]:
    """A change for which there is no room: one thing it did, and how many memories are left of it."""
    change = one.change
    line = f"{minute(change.at)} change {change.id}: {change.action}"
    if not one.effects:
        more = len(one.relations) - 1
        ties = [f"  {_HOW[tie.how]} {arrow(tie)}" for tie in one.relations[:1]]
        return "\n".join([f"{line}, {count(more, 'more relation', 'more relations')}" if more > 0 else line, *ties]), 0
    effect = one.effects[0]
    record = effect.after or effect.before
    did = "changed" if effect.before is not None and effect.after is not None else _HOW[effect.how]
    said = f"  {did}" if record is None else f'  {did} {_short_head(record)} "{gist(record, 80)}"'
    return f"{line}\n{said}", max(0, one.total - skip - 1)


def _effect(effect: ChangeEffect) -> str:
    if effect.before is not None and effect.after is not None:
        return f"changed {label(effect.after)} {'; '.join(differences(effect.before, effect.after))}"
    record = effect.after or effect.before
    return _HOW[effect.how] if record is None else f"{_HOW[effect.how]} {label(record)} {gist(record, 100)}"


_HOW = {"made": "stored", "deleted": "deleted", "restored": "restored"}
