"""Calls of the native tools in terms of other servers, each to the nearest tool there, with the same slips."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Call", "reference", "service"]

Call = tuple[str, dict[str, Any]]

_WRAPPERS = ("request", "input", "params", "arguments")
_TALK = ("conversation", "messages")
_NOTE = ("text", "content", "memory")
_PLAIN = ("kind", "type", "tags", "scope", "session", "project", "supersedes", "entities", "relations", "memories")
_BARE: tuple[Any, ...] = (None, "", [])


def reference(tool: str, given: dict[str, Any], stored: dict[str, str]) -> list[Call] | None:
    """A call as calls of the reference server; ``stored`` has the text of each note, by the name it was given."""
    if (wrapped := _wrapped(given)) is not None:
        key, inside, quoted = wrapped
        calls = reference(tool, inside, stored)
        return None if calls is None else [(name, _wrap(key, one, quoted)) for name, one in calls]
    if tool == "remember":
        return _remember(given, stored)
    if tool == "recall":
        if all(one in _BARE for one in given.values()) and "query" not in given:
            return [("read_graph", {})]
        return [("search_nodes", given)]
    if tool == "read":
        return [("open_nodes", _renamed(given, ids="names"))]
    if tool == "revise":
        return _revise(given, stored)
    if tool == "forget":
        if "relations" in given:
            return [("delete_relations", {"relations": _each(given["relations"], type="relationType")})]
        return [("delete_entities", _renamed(given, ids="entityNames"))]
    return None


def _remember(given: dict[str, Any], stored: dict[str, str]) -> list[Call]:
    """What a call stores, as one call for each kind of thing; relations come after what they join."""
    calls: list[Call] = []
    if given.get("entities") not in _BARE:
        entities = _each(given["entities"], kind="entityType")
        for one in entities if isinstance(entities, list) else ():
            if isinstance(one, dict):
                one.setdefault("entityType", "thing")
                one.setdefault("observations", [])
        calls.append(("create_entities", {"entities": entities}))
    if given.get("memories") not in _BARE:
        notes = given["memories"]
        if isinstance(notes, list) and all(isinstance(one, dict) for one in notes):
            notes = [_note(one, stored) for one in notes]
        calls.append(("create_entities", {"entities": notes}))
    if any(key in given for key in _NOTE):
        calls.append(("create_entities", {"entities": [_note(given, stored)]}))
    if given.get("relations") not in _BARE:
        calls.append(("create_relations", {"relations": _each(given["relations"], type="relationType")}))
    return calls or [("create_entities", given)]


def _note(given: dict[str, Any], stored: dict[str, str]) -> dict[str, Any]:
    """A text as an entity: the text under its right key becomes its observation, under any other it stays there."""
    name = f"note {len(stored) + 1}"
    note: dict[str, Any] = {"name": name, "entityType": given.get("kind") or "note"}
    for key, value in given.items():
        if key == "text":
            note["observations"] = [value] if isinstance(value, str) else value
            stored[name] = str(value)
        elif key not in _PLAIN and value not in _BARE:
            note[key] = value
    return note


def _revise(given: dict[str, Any], stored: dict[str, str]) -> list[Call] | None:
    if given.keys() & {"name", "kind", "entity_type"}:
        return None
    if "observations" in given:
        return [("add_observations", given)]
    item = _renamed(given, id="entityName", add="contents")
    if isinstance(item.get("text"), str):
        item["contents"] = [item.pop("text")]
    calls: list[Call] = []
    if "remove" in item or "deletions" in item:
        gone = {key: value for key, value in item.items() if key != "contents"}
        calls.append(("delete_observations", {"deletions": [_renamed(gone, remove="observations")]}))
        item = {key: value for key, value in item.items() if key not in ("remove", "deletions")}
        if "contents" not in item:
            return calls
    elif (old := stored.get(str(given.get("id")))) is not None and "text" in given:
        calls.append(("delete_observations", {"deletions": [{"entityName": given["id"], "observations": [old]}]}))
    return [*calls, ("add_observations", {"observations": [item]})]


def service(tool: str, given: dict[str, Any]) -> list[Call] | None:
    """A call as calls of mcp-memory-service."""
    if (wrapped := _wrapped(given)) is not None:
        key, inside, quoted = wrapped
        calls = service(tool, inside)
        return None if calls is None else [(name, _wrap(key, one, quoted)) for name, one in calls]
    if tool == "remember":
        if any(given.get(key) not in _BARE for key in _TALK):
            return [("memory_store_session", _renamed(given, conversation="turns"))]
        if any(given.get(key) not in _BARE for key in ("entities", "relations", "memories")):
            return None
        if given.get("supersedes"):
            updates = {"content": given["text"]}
            hash = given["supersedes"]
            return [("memory_update", {"content_hash": hash, "updates": updates, "versioned": True})]
        note = {key: value for key, value in given.items() if key not in (*_PLAIN, *_TALK)}
        about = _renamed({key: given[key] for key in ("tags", "kind", "type") if given.get(key)}, kind="type")
        metadata = {**(note.pop("metadata", None) or {}), **about}
        return [("memory_store", _swapped(note) | ({"metadata": metadata} if metadata else {}))]
    if tool == "recall":
        return [_search(given)]
    if tool == "revise":
        return [("memory_update", _update(given))]
    if tool == "forget":
        ids = given.get("ids")
        only = ids[0] if isinstance(ids, list) and len(ids) == 1 else ids or ""
        return [("memory_delete", {"content_hash": only} if "ids" in given else given)]
    return None


def _search(given: dict[str, Any]) -> Call:
    if kind := given.get("kind") or given.get("category"):
        return "memory_list", {"memory_type": kind}
    asked = {key: value for key, value in given.items() if key not in ("since", "until")}
    since, until = given.get("since"), given.get("until")
    return "memory_search", asked | {k: v for k, v in (("after", since), ("before", until)) if v is not None}


def _update(given: dict[str, Any]) -> dict[str, Any]:
    given = _renamed(_swapped(given), id="content_hash", replaced_by="superseded_by")
    updates = {key: given.pop(key) for key in ("content", "text", "tags") if key in given}
    if "updates" not in given and updates:
        given["updates"] = updates
    return given | ({} if "tags" in updates else {"versioned": True})


def _wrapped(given: dict[str, Any]) -> tuple[str, dict[str, Any], bool] | None:
    """The key that holds all arguments, what is in it, and whether that is quoted."""
    if len(given) != 1 or (key := next(iter(given))) not in _WRAPPERS:
        return None
    inside = given[key]
    return (key, json.loads(inside), True) if isinstance(inside, str) else (key, inside, False)


def _wrap(key: str, given: dict[str, Any], quoted: bool) -> dict[str, Any]:
    return {key: json.dumps(given, ensure_ascii=False) if quoted else given}


def _renamed(given: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in given.items()}


def _swapped(given: dict[str, Any]) -> dict[str, Any]:
    """Its word for a text is ours for a slip, and the other way round."""
    return _renamed(given, text="content", content="text")


def _each(given: Any, **names: str) -> Any:
    one = [given] if isinstance(given, dict) else given
    if not isinstance(one, list):
        return given
    renamed = [_renamed(item, **names) if isinstance(item, dict) else item for item in one]
    return renamed[0] if isinstance(given, dict) else renamed
