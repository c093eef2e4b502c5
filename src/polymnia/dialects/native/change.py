"""The tools that change what is stored: revise, forget, and undo, which shows first what it would take back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec.json import encode
from msgspec.structs import replace

from polymnia.dialects.native import shapes
from polymnia.dialects.native.compared import conflict_lines, contradictions, similar_lines
from polymnia.dialects.native.read import found
from polymnia.dialects.native.shapes import tool
from polymnia.dialects.native.text import (
    TextAnswer,
    arrow,
    count,
    differences,
    gist,
    label,
    mention,
    minute,
    short_id,
    shortened,
)
from polymnia.dialects.shapes import about, at_time
from polymnia.engine.history import ChangeEffects
from polymnia.engine.scopes import legal_session
from polymnia.engine.text.calendar import moment
from polymnia.errors import Conflict, Invalid
from polymnia.models import Change, JsonObject
from polymnia.operation import Context, Memory, Reply

_BUDGET = 2_000
_UNDONE = {"made": "deletes", "deleted": "brings back", "restored": "deletes"}
_LISTED = 10  # changes whose numbers are named one by one

SupersededBy = Annotated[str, about('Id of what is true now; "" takes the mark away.')]
ForGood = Annotated[bool, about("Beyond undo; asks first.")]
Agreed = Annotated[bool, about("for_good: the user agreed. False only shows what would go.")]


@tool("revise", "Revise", destroys=True, idempotent=True)
def revise(
    context: Context,
    id: Annotated[str, about("Name, id, or beginning of the id.")],
    text: Annotated[str, about("The new text of a memory.")] | None = None,
    add: Annotated[list[str], about("Observations to add to an entity.")] | None = None,
    remove: Annotated[list[str], about("Observations to remove, word for word.")] | None = None,
    kind: str | None = None,
    tags: Annotated[shapes.Tags, about("All it shall have.")] | None = None,
    scope: str | None = None,
    metadata: JsonObject | None = None,
    superseded_by: SupersededBy | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """Correct a memory or entity. Only what you give changes; the version before stays in its history."""
    memory = context.memory
    record = found(memory, id)
    if all(one is None for one in (text, add, remove, kind, tags, scope, metadata, superseded_by)):
        raise Invalid("Nothing to change was given", hint="Give text, add, remove, kind, tags, scope or superseded_by.")
    if superseded_by:
        superseded_by = found(memory, superseded_by).uid
    done = memory.amend(
        record.uid,
        text=text,
        add=add or (),
        remove=remove or (),
        kind=kind if kind is None or record.name != record.uid else kind.lower(),  # as remember stores them
        tags=None if tags is None else shapes.bare(tags),
        scope=None if scope is None else shapes.path(scope),
        metadata=metadata,
        superseded_by=superseded_by,
        compare=True,
        step=context.step,
    )
    if not done.changed and not done.missing:
        return Reply(text=f"Nothing changed, it was like that already: {label(done.record)}")
    answer = TextAnswer(_BUDGET)
    answer.force(f"{'Changed' if done.changed else 'Nothing changed:'} {label(done.record)}")
    lines = []
    if text is not None and record.observations != done.record.observations:
        lines.append(f'was: "{gist(record)}"')
        lines.append(f'now: "{gist(done.record)}"')
    lines += differences(replace(record, observations=()), replace(done.record, observations=()))
    lines += [f'+ "{shortened(one)}"' for one in done.added]
    lines += [f'- "{shortened(one)}"' for one in done.removed]
    lines += [f'not there, so not removed: "{shortened(one)}"' for one in done.missing]
    if done.missing:
        lines.append("It has: " + "; ".join(f'"{shortened(one, 80)}"' for one in record.observations[:_LISTED]))
    said = done.added if text is None else done.record.observations
    if said and record.observations != done.record.observations:
        conflicts, _, missed = contradictions(memory, [(done.record, said)])
        lines += conflict_lines(done.record, list(conflicts.get(record.uid, {}).values()))
        lines += [missed] if missed else []
        lines += similar_lines(done)
    answer.rest(lines, _more)
    if done.changed:
        answer.force("undo takes it back.")
    return Reply(text=str(answer))


@tool("forget", "Forget", destroys=True, asks=True)
def forget(
    context: Context,
    ids: shapes.Ids | None = None,
    relations: list[shapes.NewRelation] | None = None,
    for_good: ForGood = False,
    confirm: Agreed | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """Delete memories or entities with their relations, or relations alone. undo brings them back, unless for_good."""
    memory = context.memory
    if not ids and not relations:
        raise Invalid("Nothing to forget was named", field="ids", hint="Give ids, or relations.")
    if for_good:
        if relations:
            raise Invalid("for_good deletes memories, not relations alone", field="relations", hint="Give ids only.")
        return _purge(context, dict(_ever_named(memory, id) for id in ids or ()), confirm)
    records = {record.uid: record for record in (found(memory, id) for id in ids or ())}
    ends = [(one.from_, one.to, one.type) for one in relations or ()]
    answer = TextAnswer(_BUDGET)
    if confirm is False:
        answer.force("Nothing is deleted yet; without confirm: false this would delete:")
        lines = [*map(mention, records.values()), *(_arrow(*one) for one in ends)]
        lines += {arrow(one): None for record in records.values() for one in memory.relations_naming(record.name)}
        answer.rest((f"- {one}" for one in lines), _more)
        return Reply(text=str(answer))
    gone = memory.forget_all([record.name for record in records.values()], ends, step=context.step)
    missing = [one for one in ends if one not in {relation.ends for relation in gone.relations}]
    lines = [f"- {mention(record)}" for record in gone.records]
    lines += [f"not there: {_arrow(*one)}" for one in missing]
    what = " and ".join(
        [
            *([count(len(gone.records), "memory", "memories")] if gone.records else []),
            *([count(len(gone.relations), "relation", "relations")] if gone.relations else []),
        ]
    )
    brings = f"undo brings {'it' if len(gone.records) + len(gone.relations) == 1 else 'them'} back"
    answer.force(f"Forgot {what}. {brings}." if what else "There was nothing to forget:")
    answer.rest(lines, _more)
    return Reply(text=str(answer))


def _arrow(source: str, target: str, type: str) -> str:
    return f"{source} -{type}-> {target}"


def _more(number: int) -> str:
    return f"… and {number:,} more"


def _ever_named(memory: Memory, id: str) -> tuple[str, str]:
    """The name of a memory to delete for good, be it there or forgotten already, and its line in the question."""
    name = memory.deleted_name(id)
    if name is not None:
        return name, f"- {mention(memory.versions(name)[0][0][1])} (forgotten already)"
    record = found(memory, id)
    return record.name, f"- {mention(record)}"


def _purge(context: Context, named: dict[str, str], confirm: bool | None) -> Reply:
    """Delete for good once somebody has agreed: the user where the client can ask, whatever the call says."""
    asked = TextAnswer(_BUDGET)
    asked.force("Delete for good, with all history, beyond undo?")
    asked.rest(named.values(), _more)
    question = str(asked)
    if confirm is False or (not confirm and context.confirm is None):
        return Reply(text=f"Nothing is deleted yet. {question}\nAsk the user, then call again with confirm: true.")
    if context.confirm is not None and not (answered := context.confirm(question)):
        said = "declined" if answered is False else "did not answer"
        return Reply(text=f"Nothing was deleted: the user {said}. Do not ask again unless they want it.")
    purged = context.memory.purge(list(named))
    what = count(purged, "memory", "memories")
    return Reply(text=f"Deleted for good: {what}. Nothing of that is left in the store or its history.")


@tool("undo", "Undo", destroys=True)
def undo(
    context: Context,
    change: Annotated[int, about("Number of one change; beside since or session the last of them.")] | None = None,
    since: Annotated[str, about("All changes since then.")] | None = None,
    session: Annotated[str, about("All changes to a conversation.")] | None = None,
    confirm: shapes.Confirm = False,
    project: shapes.Project | None = None,
) -> Reply:
    """Take back the last change, one by its number, or all since a time. Shows what it would do; confirm does it."""
    memory = context.memory
    if since and session:
        raise Invalid("Give since or session, not both", field="since", hint="Or neither: the last change.")
    start = at_time(since, "since") if since else None
    session = legal_session(session, "session") if session else None
    if start is None and session is None:
        planned = memory.undoable(change=change)
        if change is not None and not confirm and not planned[0].final:
            memory.check_undo(change)
    else:
        planned = memory.undoable(since=start, session=session)
        planned = [one for one in planned if change is None or one.change.id <= change]
    final = [one.change for one in planned if one.final]
    planned = [one for one in planned if not one.final]
    if change is not None and start is None and session is None and final:
        raise Conflict(f"Change {change} deleted something for good, or what it did was", hint="It cannot be undone.")
    numbers = [one.change.id for one in planned]
    if final and numbers and confirm and change is None and start is None and session is None:
        last = f"The last change ({final[0].id}, {final[0].action}) is final"
        hint = f"undo(change={numbers[0]}) shows what the last one that can be undone would take back."
        raise Conflict(f"{last}; nothing was undone", hint=hint)
    answer = TextAnswer(_BUDGET)
    if not planned:
        answer.force("There is nothing to undo.")
    elif confirm:
        answer.force(_done(memory.undo_all(numbers)))
    else:
        again: JsonObject = {"change": numbers[0], "confirm": True}
        if len(numbers) > 1:  # "1h" means another time later, and changes may be made until then
            again |= {"session": session} if start is None else {"since": moment(max(start, 0))}
        if project:
            again["project"] = project
        same = ", ".join(f"{name}: {encode(value).decode()}" for name, value in again.items())
        answer.force(f"Nothing is undone yet; call undo again with {same} to do this:")
    if final:
        passed = ", ".join(f"{one.id} ({one.action})" for one in final[:_LISTED])
        answer.add(f"Passed over, since what they did was deleted for good: {passed}.")
    answer.rest((line for one in planned for line in _described(one)), lambda more: f"… and {more:,} more lines")
    return Reply(text=str(answer))


def _done(undone: Sequence[Change]) -> str:
    """What was undone, and by which changes: those that do it again when they are undone."""
    by = [one.undone_by for one in undone]
    if len(undone) == 1:
        return f"Undone: change {undone[0].id}, by change {by[0]}; undo(change={by[0]}, confirm=true) does it again."
    order = ", ".join(map(str, reversed(by))) if len(by) <= _LISTED else f"{by[-1]} down to {by[0]}"
    return f"Undone: {len(undone):,} changes. To do them again, undo the changes {order}, one by one in this order."


def _described(one: ChangeEffects) -> Iterator[str]:
    change = one.change
    yield f"change {change.id}, {minute(change.at)} by {change.who}: {change.action}"
    for effect in one.effects:
        before, after = effect.before, effect.after
        if before is not None and after is not None:
            yield f"  sets back {short_id(after)}: {'; '.join(differences(after, before)) or 'nothing that is shown'}"
        elif (record := before or after) is not None:
            yield f'  {_UNDONE[effect.how]} {short_id(record)} "{gist(record, 100)}"'
    if one.total > len(one.effects):
        yield f"  and {one.total - len(one.effects):,} more memories"
    yield from (f"  {_UNDONE[tie.how]} {arrow(tie)}" for tie in one.relations[:_LISTED])
    if len(one.relations) > _LISTED:
        yield f"  and {len(one.relations) - _LISTED:,} more relations"
