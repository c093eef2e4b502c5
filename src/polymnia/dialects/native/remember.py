"""The tool that stores: memories, entities, relations and whole conversations, and what became of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from polymnia.dialects.native import conversations, shapes
from polymnia.dialects.native.compared import MOST, conflict_lines, contradictions, similar_lines
from polymnia.dialects.native.read import found
from polymnia.dialects.native.shapes import bare, tool
from polymnia.dialects.native.text import TextAnswer, count, gist, label, mention, short_id, tokens
from polymnia.dialects.shapes import about
from polymnia.engine.batches import COMPARED, GUESSED, MemoryDraft, StoredBatch, StoredMemory
from polymnia.engine.content import KIND
from polymnia.engine.scopes import legal_session
from polymnia.errors import Invalid
from polymnia.models import DEFAULT_SCOPE, EntityDraft, JsonObject, Record
from polymnia.operation import Context, Memory, Reply

if TYPE_CHECKING:
    from polymnia.engine.analysis.conflicts.clash import Side

_NAMED = 3  # known conflicts of a memory that is stated again that are named
_BUDGET = 2_000  # tokens of an answer
_FOOT = 60  # tokens of its last lines
_SURE = 0.6  # the probability from which on a guessed kind is stored

Entities = Annotated[list[shapes.NewEntity], about("Things with a name, and facts about each.")]
Conversation = Annotated[list[shapes.NewTurn], about("An exchange, turn by turn.")]
Kind = Annotated[str, about("fact, preference, decision, plan, instruction, question, …")]
Extract = Annotated[bool, about("False: keep only the turns of a conversation, not its statements.")]
Supersedes = Annotated[str, about("Id of a memory that this one replaces.")]


@tool("remember", "Remember", asks=True)
def remember(
    context: Context,
    text: Annotated[str, about("One memory: a full sentence.")] | None = None,
    memories: Annotated[list[shapes.NewMemory], about("Several at once.")] | None = None,
    entities: Entities | None = None,
    relations: list[shapes.NewRelation] | None = None,
    conversation: Conversation | None = None,
    kind: Kind | None = None,
    tags: shapes.Tags | None = None,
    scope: Annotated[str, about("Where it belongs, as a path: work/api.")] | None = None,
    session: Annotated[str, about("Name of the conversation.")] | None = None,
    supersedes: Supersedes | None = None,
    extract: Extract = True,
    metadata: JsonObject | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """Store what should outlive this conversation: one memory or many, named entities, relations between them, or a
    whole conversation. All or nothing. Says for each whether it is new, joined with one that says the same, similar to
    or in conflict with another.
    """
    given: list[shapes.NewMemory] = list(memories or ())
    if text is not None and not text.strip():
        raise Invalid("text is empty", field="text", hint="Give the text to remember.")
    if text is not None:
        given.append(shapes.NewMemory(text=text, supersedes=supersedes))
    elif supersedes and len(given) == 1:
        given = [replace(given[0], supersedes=supersedes)]
    elif supersedes:
        raise Invalid("supersedes goes with one text", field="supersedes", hint="Give it inside the item of memories.")
    if not (given or entities or relations or conversation):
        raise Invalid(
            "There is nothing to remember",
            field="text",
            hint="Give text, memories, entities, relations or conversation.",
        )
    memory = context.memory
    place = shapes.path(scope or "") or DEFAULT_SCOPE
    if session and not conversation:  # memories from it, not its turns
        metadata = {**(metadata or {}), "session": legal_session(session, "session")}
    drafts = [
        MemoryDraft(
            text=one.text,
            kind=(one.kind or kind or KIND).lower(),
            scope=shapes.path(one.scope or "") or place,
            tags=list(dict.fromkeys([*bare(one.tags), *bare(tags)])),
            metadata={**(metadata or {}), **(one.metadata or {})},
            supersedes=found(memory, one.supersedes).uid if one.supersedes else None,
        )
        for one in given
    ]
    _guess_kinds(memory, drafts)
    said, name = conversations.turns(conversation or (), session)
    silent = len(conversation or ()) - len(said)
    unread = conversations.not_yet_stored(memory, said, name) if extract else []
    extracted = conversations.extract(context, unread, name, place) if unread else None
    statements = [] if extracted is None else extracted.drafts
    statements, turns = (
        [replace(one, tags=bare(tags), metadata={**(metadata or {}), **one.metadata}) for one in some]
        for some in (statements, said)
    )
    named = [
        EntityDraft(
            one.name,
            one.kind or ("" if given else kind) or "",
            tuple(one.observations or ()),
            scope=shapes.path(one.scope or scope or "") or None,
            tags=tuple(dict.fromkeys([*bare(one.tags), *bare(tags)])),
            metadata=metadata or {},
        )
        for one in entities or ()
    ]
    ties = [(one.from_, one.to, one.type) for one in relations or ()]
    batch = memory.store_batch([*drafts, *statements, *turns], named, ties, step=context.step)
    own = batch.memories[: len(drafts) + len(statements)]
    new = sum(one.outcome == "new" for one in batch.memories[len(own) :])
    known = len(turns) - new
    stated = [(one.record, one.record.observations) for one in own if one.outcome == "new"]
    stated += [(one.record, one.added) for one in batch.entities if one.added]
    replaced = {one.superseded.uid for one in own if one.superseded is not None}
    again = {one.record.uid for one in own if one.outcome == "joined"}
    conflicts, unsettled, missed = contradictions(memory, stated if batch.compared else [], replaced, again)
    answer = TextAnswer(_BUDGET)
    answer.force(_headline(batch, len(own), new, name))
    if known:
        answer.add(f"{count(known, 'turn is', 'turns are')} in the session {name!r} already.")
    if silent:
        answer.add(f"{count(silent, 'turn', 'turns')} without text left out.")
    if kind and conversation and not (given or entities):
        answer.add("`kind` was not used: the turns and statements of a conversation have kinds of their own.")
    guessed = sum(one.outcome == "new" and GUESSED in one.record.metadata for one in batch.memories[: len(drafts)])
    if guessed:
        answer.add(f"Kinds were guessed for {count(guessed, 'memory', 'memories')}; give `kind`, or revise it.")
    alike = {one.name: other for one in named[:MOST] for other in memory.names_alike(one.name) if other != one.name}
    repeated = sum(one.outcome == "joined" for one in own[len(drafts) :])
    report = [] if extracted is None else list(extracted.report(repeated))
    reserve = _FOOT + sum(map(tokens, report))  # what of the conversation was not kept is said in any case
    for line in _lines(batch, own, conflicts, unsettled, alike, named):
        answer.add(line, reserve)
    for line in report:
        answer.add(line, _FOOT)
    if answer.left_out:
        left = count(answer.left_out, "line of this answer is", "lines of this answer are")
        answer.force(f"{left} left out; everything is stored.")
    if missed:
        answer.force(missed)
    elif batch.compared and len(stated) > MOST:
        answer.force(f"Contradictions were looked for in the first {MOST} only.")
    if not batch.compared:
        answer.force("So many at once are not compared with what is stored; recall shows what is similar.")
    return Reply(text=str(answer))


def _guess_kinds(memory: Memory, drafts: list[MemoryDraft]) -> None:
    """Give memories of no named kind the kind their text is likely to be. Many at once are left alone."""
    open_ = [at for at, one in enumerate(drafts) if one.kind == KIND]
    if len(open_) > COMPARED:
        return
    for at, guess in zip(open_, memory.kinds([drafts[at].text for at in open_]), strict=True):
        if guess is not None and guess.kind != "other" and guess.probability >= _SURE:
            metadata = {**drafts[at].metadata, GUESSED: round(guess.probability, 2)}
            drafts[at] = replace(drafts[at], kind=guess.kind, metadata=metadata)


def _headline(batch: StoredBatch, memories: int, turns: int, session: str) -> str:
    if not batch.changed:
        return "Nothing changed: all of this is stored already."
    parts = []
    if new := sum(one.outcome == "new" for one in batch.memories[:memories]):
        parts.append(count(new, "memory", "memories"))
    if turns:
        parts.append(f"{count(turns, 'turn', 'turns')} of the session {session!r}")
    if new := sum(one.outcome == "new" for one in batch.entities):
        parts.append(count(new, "entity", "entities"))
    if new := sum(one.outcome == "new" for one in batch.relations):
        parts.append(count(new, "relation", "relations"))
    return f"Stored {', '.join(parts) or 'nothing new, but added to what was there'}. undo takes it back."


def _lines(
    batch: StoredBatch,
    own: Sequence[StoredMemory],
    conflicts: dict[str, dict[str, Side]],
    unsettled: Sequence[tuple[Record, Record]],
    alike: dict[str, str],
    named: Sequence[EntityDraft],
) -> Iterator[str]:
    """What became of each item; of many, those first that need a decision."""
    new = {one.record.uid for one in own if one.outcome == "new"}
    against: dict[str, list[Record]] = {}
    for left, right in unsettled:
        against.setdefault(left.uid, []).append(right)
        against.setdefault(right.uid, []).append(left)
    new |= {one.record.uid for one in batch.entities if one.outcome == "new"}
    in_conflict = conflicts.keys() | against.keys()

    def need(one: StoredMemory) -> tuple[bool, bool, bool]:
        settled = one.record.uid not in in_conflict and one.superseded_by is None
        return settled, not one.similar, one.outcome == "new"

    for stored in own if len(own) <= MOST else sorted(own, key=need):
        yield from _memory(stored, list(conflicts.get(stored.record.uid, {}).values()), new)
        if stored.outcome == "joined":
            yield from _restated(stored, against.get(stored.record.uid, []))
    for entity, draft in zip(batch.entities, named, strict=True):
        added = count(len(entity.added), "observation", "observations")
        if entity.outcome == "new":
            yield f"new entity {label(entity.record)}, {added}"
            if (other := alike.get(draft.name)) is not None:
                yield f"  its name looks like {other!r}, which is another entity; undo, if they are one"
        elif entity.added:
            yield f"joined with the entity {short_id(entity.record)}: {added} added"
        else:
            yield f"joined with the entity {short_id(entity.record)}: it has all of this already"
        yield from conflict_lines(entity.record, list(conflicts.get(entity.record.uid, {}).values()), new)
        if draft.kind.strip() not in ("", entity.record.kind):
            yield f"  it stays of the kind {entity.record.kind!r}; revise(id={draft.name!r}, kind=…) changes that"
        if draft.scope not in (None, entity.record.path):
            yield f"  it stays in the scope {entity.record.path!r}; revise(id={draft.name!r}, scope=…) changes that"
    for tie in batch.relations:
        ends = f"{tie.relation.source} -{tie.relation.type}-> {tie.relation.target}"
        missing = " and ".join(map(repr, tie.missing))
        loose = f"; nothing is stored as {missing} yet" if missing else ""
        yield f"{'new relation' if tie.outcome == 'new' else 'known relation'} {ends}{loose}"


def _memory(one: StoredMemory, conflicts: Sequence[Side], new: Set[str]) -> Iterator[str]:
    """What became of a memory; ``new`` are the ids of all new ones of the call."""
    record = one.record
    if one.outcome == "joined":
        yield f"joined with {label(record)}: it says exactly this already"
    else:
        yield f"new {label(record)} {gist(record, 80)}"
    if one.superseded is not None:
        yield f"  supersedes {mention(one.superseded)}"
    yield from conflict_lines(record, conflicts, new)
    yield from similar_lines(one)


def _restated(one: StoredMemory, against: Sequence[Record]) -> Iterator[str]:
    """What stands against a memory that was there and is stated once more."""
    if one.superseded_by is not None:
        yield f"  but it is superseded by {mention(one.superseded_by)}"
        yield f"  if it is true again: remember it with supersedes={short_id(one.superseded_by)!r}"
    for other in against[:_NAMED]:
        yield f"  conflicts with {mention(other)}, as was found before; revise whichever is no longer true"
