"""The tools that change what is stored: revise, forget, and undo, which shows first what it would take back."""

from __future__ import annotations

from typing import Annotated

from polymnia.dialects.native import shapes
from polymnia.dialects.native.recall import found
from polymnia.dialects.native.shapes import at_time, tool
from polymnia.dialects.native.text import TextAnswer, count, gist, label, mention, short_id
from polymnia.dialects.shapes import about
from polymnia.engine.history import ChangeEffects
from polymnia.engine.scopes import legal_session
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import JsonObject
from polymnia.operation import Context, Reply

_BUDGET = 2_000
_UNDONE = {"made": "deletes", "changed": "sets back", "deleted": "brings back", "restored": "deletes"}

SupersededBy = Annotated[str, about('Id of what is true now; "" takes the mark away.')]
ForGood = Annotated[bool, about("Beyond undo; asks first.")]


@tool("revise", "Revise", destroys=True, idempotent=True)
def revise(
    context: Context,
    id: Annotated[str, about("Name, id, or beginning of the id.")],
    text: Annotated[str, about("The new text of a memory.")] | None = None,
    add: Annotated[list[str], about("Observations to add to an entity.")] | None = None,
    remove: Annotated[list[str], about("Observations to remove, word for word.")] | None = None,
    kind: str | None = None,
    tags: shapes.Tags | None = None,
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
        if superseded_by == record.uid:
            raise Invalid("A memory cannot supersede itself", field="superseded_by", hint="Name the newer one.")
    done = memory.amend(
        record.uid,
        text=text,
        add=add or (),
        remove=remove or (),
        kind=kind,
        tags=None if tags is None else shapes.bare(tags),
        scope=None if scope is None else scope.strip("/"),
        metadata=metadata,
        superseded_by=superseded_by,
        step=context.step,
    )
    lines = [f"{'Changed' if done.changed else 'Nothing changed, it was like that already:'} {label(done.record)}"]
    if text is not None and done.changed:
        lines.append(f'was: "{gist(record)}"')
        lines.append(f'now: "{gist(done.record)}"')
    lines += [f'+ "{one}"' for one in done.added]
    lines += [f'- "{one}"' for one in done.removed]
    if done.missing:
        has = "; ".join(f'"{one}"' for one in record.observations[:10])
        lines += [f'not there, so not removed: "{one}". It has: {has}' for one in done.missing]
    if superseded_by and done.changed:
        lines.append(f"superseded by {mention(found(memory, superseded_by))}")
    if done.changed:
        lines.append("undo takes it back.")
    return Reply(text="\n".join(lines))


@tool("forget", "Forget", destroys=True, asks=True)
def forget(
    context: Context,
    ids: shapes.Ids | None = None,
    relations: list[shapes.NewRelation] | None = None,
    for_good: ForGood = False,
    confirm: shapes.Confirm = False,
    project: shapes.Project | None = None,
) -> Reply:
    """Delete memories or entities with their relations, or relations alone. undo brings them back, unless for_good."""
    memory = context.memory
    if not ids and not relations:
        raise Invalid("Nothing to forget was named", field="ids", hint="Give ids, or relations.")
    records = {record.uid: record for record in (found(memory, id) for id in ids or ())}
    if for_good:
        if relations:
            raise Invalid("for_good deletes memories, not relations alone", field="relations", hint="Give ids only.")
        shown = "\n".join(f"- {mention(record)}" for record in records.values())
        question = f"Delete for good, with all history, beyond undo?\n{shown}"
        if not confirm and context.confirm is not None:
            answered = context.confirm(question)
            if not answered:
                said = "declined" if answered is False else "did not answer"
                return Reply(text=f"Nothing was deleted: the user {said}.")
            confirm = True
        if not confirm:
            return Reply(text=f"Nothing is deleted yet. {question}\nAsk the user, then call again with confirm: true.")
        purged = memory.purge([record.name for record in records.values()])
        return Reply(text=f"Deleted for good: {purged:,}. Nothing of them is left in the store or its history.")
    answer = TextAnswer(_BUDGET)
    ends = [(one.from_, one.to, one.type) for one in relations or ()]
    gone = memory.forget_all([record.name for record in records.values()], ends, step=context.step)
    total = len(gone.records) + len(gone.relations)
    what = " and ".join(
        [
            *([count(len(gone.records), "memory", "memories")] if gone.records else []),
            *([count(len(gone.relations), "relation", "relations")] if gone.relations else []),
        ]
    )
    answer.force(f"Forgot {what}. undo brings it back.")
    for record in gone.records:
        answer.add(f"- {mention(record)}")
    missing = [one for one in ends if one not in {relation.ends for relation in gone.relations}]
    for source, target, type in missing:
        answer.add(f"not there: {source} -{type}-> {target}")
    if not total:
        return Reply(text="\n".join(str(answer).splitlines()[1:]) or "There was nothing to forget.")
    return Reply(text=str(answer))


@tool("undo", "Undo", destroys=True)
def undo(
    context: Context,
    change: Annotated[int, about("Number of one change.")] | None = None,
    since: Annotated[str, about("All changes since then.")] | None = None,
    session: Annotated[str, about("All changes to a conversation.")] | None = None,
    confirm: shapes.Confirm = False,
    project: shapes.Project | None = None,
) -> Reply:
    """Take back the last change, one by its number, or all since a time. Shows what it would do; confirm does it."""
    memory = context.memory
    if (change is not None) + bool(since) + bool(session) > 1:
        raise Invalid("Give one of change, since and session", field="change", hint="Or none: the last change.")
    planned = memory.undoable(
        change=change,
        since=at_time(since, "since") if since else None,
        session=legal_session(session) if session else None,
    )
    if not planned:
        return Reply(text="There is nothing to undo.")
    answer = TextAnswer(_BUDGET)
    numbers = [one.change.id for one in planned]
    if confirm:
        memory.undo_all(numbers)
        many = f"{len(numbers):,} changes" if len(numbers) > 1 else f"change {numbers[0]}"
        answer.force(f"Undone: {many}. undo with the number of an undo does it again.")
    else:
        again = (
            f"change: {numbers[0]}, confirm: true" if len(numbers) == 1 else "confirm: true beside the same arguments"
        )
        answer.force(f"Nothing is undone yet; call undo again with {again} to do this:")
    for one in planned:
        _describe(answer, one)
    if answer.left_out:
        answer.force(f"… and {answer.left_out:,} more lines")
    return Reply(text=str(answer))


def _describe(answer: TextAnswer, one: ChangeEffects) -> None:
    change = one.change
    answer.add(f"change {change.id}, {moment(change.at)[:16]} by {change.who}: {change.action}")
    for effect in one.effects:
        answer.add(f'  {_UNDONE[effect.how]} {short_id(effect.record)} "{gist(effect.record, 100)}"')
    if one.total > len(one.effects):
        answer.add(f"  and {one.total - len(one.effects):,} more memories")
