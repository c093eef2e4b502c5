"""Findings as the answers of memory_analyze: plain data, and actions as tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from msgspec import Struct, json

from polymnia.dialects.content.reports import describe, remark
from polymnia.engine.analysis import actions
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

_MEMBERS = 50  # ids shown of one pattern, beside their number
_PLACES = 4


def named(record: Record) -> JsonObject:
    """An item by its id and title."""
    return {"content_id": record.uid, "title": title_of(record)}


def shown(value: Any) -> Any:
    """Values of the engine as plain data; numbers with four places."""
    if isinstance(value, Record):
        return named(value)
    if isinstance(value, Remark):
        return remark(value)
    if isinstance(value, Struct):
        return {name: shown(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(key): shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [shown(one) for one in value]
    if isinstance(value, float):
        return round(value, _PLACES)
    return value


def pattern(found: Any, ids: Mapping[int, str], *, explained: bool) -> JsonObject:
    """A pattern with its description and the public ids of its members."""
    members = [ids[id] for id in found.members if id in ids]
    words = describe(found)
    fields: JsonObject = {
        "type": found.type,
        "name": found.name,
        "summary": words.summary,
        "confidence": round(found.confidence, _PLACES),
        "evidence": shown(found.evidence),
        "content_ids": members[:_MEMBERS],
        "content_count": len(members),
    }
    if explained:
        fields["explanation"] = words.explanation
    return fields


def insight(
    found: Any, ids: Mapping[int, str], project: str | None, session: str | None, *, recommend: bool
) -> JsonObject:
    """An insight and, with ``recommend``, what to do about it: in words, as calls, and as drafts in which ``…`` is left
    to write."""
    fields = pattern(found, ids, explained=True)
    if recommend:
        fields["recommendation"] = describe(found).recommendation
        for name, draft in (("calls", False), ("drafts", True)):
            if steps := [call(one, project, session) for one in found.actions if one.draft is draft]:
                fields[name] = steps
    return fields


def compared(found: Any) -> JsonObject:
    """Another item by the same measures."""
    fields: JsonObject = shown(found)
    return {"content_id": fields.pop("id"), **fields}


def connection(found: Any, *, strength: bool, context: bool) -> JsonObject:
    """A connection of an item: a relationship, or a path of them."""
    fields: JsonObject = shown(found)
    target = fields.pop("target")
    fields = {"content_id": target["content_id"], "title": target["title"], **fields}
    if not strength:
        fields.pop("strength", None)
        fields["path"] = [{key: value for key, value in one.items() if key != "strength"} for one in fields["path"]]
    if not context:
        fields.pop("context", None)
    return fields


def clash(found: Any, project: str | None, session: str | None) -> JsonObject:
    """Two statements that cannot both hold, and how to resolve it."""
    with importing():
        from polymnia.dialects.content.reports import conflicts

    fields: JsonObject = {
        "type": found.type,
        "subtype": found.subtype,
        "statements": [_side(found.left), _side(found.right)],
        "differs": found.differs,
        "newer": {"left": found.left.record.uid, "right": found.right.record.uid}.get(found.newer),
        "confidence": shown(found.confidence),
        "explanation": conflicts.explanation(found),
    }
    if found.resolution is not None:
        fields["resolution"] = {"action": found.resolution.action, "why": conflicts.why(found)}
        for name, step in zip(("call", "then"), found.resolution.steps, strict=False):
            fields["resolution"][name] = call(step, project, session)
    return fields


def _side(found: Any) -> JsonObject:
    changed = "the sentence" if found.dated else "the last change of the item"
    dated_by = "the relationship" if found.drawn else changed
    return named(found.record) | {found.kind: found.sentence, "said_at": moment(found.at), "dated_by": dated_by}


ROOM = 64_000
"""Bytes of findings in one answer: about sixteen thousand tokens of English, more of Korean."""

_NAMED = (25, 10)  # members that each finding names if more would not fit


def fitting(found: Sequence[JsonObject], how: str) -> tuple[list[JsonObject], dict[str, str]]:
    """The findings that fit into an answer, in order, and a note for each type with findings that do not.

    First all findings name fewer of their members. Every type has the same room, and what one does not need is shared
    by the others. ``how`` says how to get the rest.
    """
    for most in _NAMED:
        if sum(len(json.encode(one)) for one in found) <= ROOM:
            break
        found = [one | {"content_ids": one["content_ids"][:most]} if "content_ids" in one else one for one in found]
    sizes: dict[str, list[int]] = {}
    for one in found:
        sizes.setdefault(one["type"], []).append(len(json.encode(one)))
    room = _shared({type: sum(some) for type, some in sizes.items()})
    counts = {type: _fitting_first(some, room[type]) for type, some in sizes.items()}
    left = dict(counts)
    fit: list[JsonObject] = []
    for one in found:
        left[one["type"]] -= 1
        if left[one["type"]] >= 0:
            fit.append(one)
    notes = {
        type: f"{len(some) - counts[type]:,} more were found that do not fit into one answer; {how}."
        for type, some in sizes.items()
        if counts[type] < len(some)
    }
    return fit, notes


def _shared(needed: dict[str, int]) -> dict[str, int]:
    """The room of each type: what it needs, or an even share of what smaller ones leave."""
    left, given = ROOM, {}
    for at, (type, size) in enumerate(sorted(needed.items(), key=lambda one: one[1])):
        given[type] = min(size, left // (len(needed) - at))
        left -= given[type]
    return given


def _fitting_first(sizes: Sequence[int], room: int) -> int:
    """How many of the first findings fit; at least one."""
    count = 0
    for size in sizes:
        if room < size and count:
            break
        room -= size
        count += 1
    return count


def call(action: actions.Action, project: str | None, session: str | None) -> JsonObject:
    """The tool call that does what an action says, for the project and session of the caller."""

    def made(tool: str, operation: str, **arguments: Any) -> JsonObject:
        whose = {"project_id": project} | ({} if session is None else {"session_id": session})
        return _named(tool, operation=operation, **whose, **arguments)

    match action:
        case actions.StoreItem(content=content, title=title, tags=tags):
            about = {"tags": list(tags), "metadata": None if title is None else {"title": title}}
            return made("memory_store", "store_content", content=content, **_given(about))
        case actions.Update(id=id, content=content, summary=summary, tags=labels, metadata=metadata):
            updates: JsonObject = {"content": content, "summary": summary, "metadata": metadata}
            if labels is not None:
                updates["tags"] = list(labels)
            updates = {key: value for key, value in updates.items() if value is not None}
            return made("memory_store", "update_content", content_id=id, updates=updates)
        case actions.Delete(id=id):
            return made("memory_store", "delete_content", content_id=id)
        case actions.Relate(source=source, target=target, type=type_, reason=reason):
            more = {} if reason is None else {"context": describe(reason).summary}
            return made("memory_store", "create_relationship", source_id=source, target_id=target, type=type_, **more)
        case actions.Show(id=id):
            return made("memory_retrieve", "get_content", content_id=id, include_history=True)
        case actions.ShowHistory(id=id):
            return made("memory_retrieve", "get_content_history", content_id=id, include_diffs=True)
        case actions.CheckQuality(id=id):
            return made("memory_analyze", "analyze_quality", content_id=id)
        case actions.CheckConflicts(ids=ids, sensitivity=sensitivity):
            options = {"sensitivity": sensitivity}
            return made("memory_analyze", "detect_conflicts", content_ids=list(ids), options=options)
        case actions.CleanSessions(days=days):
            return _named("session_manage", action="cleanup", max_age_days=days)
        case actions.CreateEntity(name=name):
            entity = {"name": name, "entityType": actions.UNWRITTEN, "observations": [actions.UNWRITTEN]}
            return _named("create_entities", entities=[entity])
        case actions.AddObservations(name=name, texts=texts):
            return _named("add_observations", observations=[{"entityName": name, "contents": list(texts)}])
        case actions.DeleteObservations(name=name, texts=texts):
            return _named("delete_observations", deletions=[{"entityName": name, "observations": list(texts)}])
        case actions.DeleteRelations(relations=relations):
            ends = [{"from": source, "to": target, "relationType": kind} for source, target, kind in relations]
            return _named("delete_relations", relations=ends)
    assert_never(action)


def _named(tool: str, **arguments: Any) -> JsonObject:
    return {"tool": tool, "arguments": arguments}


def _given(arguments: JsonObject) -> JsonObject:
    return {key: value for key, value in arguments.items() if value}
