"""Reading a call: its operation first, then the parameters of that operation; and the schema that shows them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from polymnia.engine.scopes import legal_session
from polymnia.errors import BadArguments, Invalid, UnknownOperation, Violation
from polymnia.models import legal_text
from polymnia.operation import Context, Reply, read, schema

__all__ = ["Given", "Verb", "heavy", "reader", "session_of", "taken", "which"]


_LONGEST = 4096


class Verb(Struct, frozen=True, kw_only=True):
    """One operation of a tool: what it takes, what it does, whether it belongs to a project, whether it is heavy."""

    params: type
    run: Callable[[Context, Any], Reply]
    help: str
    reads: bool = False
    project: bool = True
    heavy: bool = False


class Given(Struct, frozen=True):
    """A call that was read: the verb and its parameters."""

    name: str
    verb: Verb
    params: Any


class _Which(Struct):
    operation: Any = None
    session_id: Any = None


_which = msgspec.json.Decoder(_Which)


def reader(tool: str, verbs: Mapping[str, Verb]) -> Callable[[bytes], Given]:
    """Reads the calls of one tool."""
    decoders: dict[str, msgspec.json.Decoder[Any]] = {}  # made when an operation is first called

    def take(raw: bytes) -> Given:
        operation = read(tool, _Which, raw, _which).operation
        if operation is None:
            raise BadArguments(tool, [Violation("operation", f"one of {', '.join(verbs)}", "undefined")])
        verb = verbs.get(operation) if isinstance(operation, str) else None
        if verb is None:
            raise _unknown(tool, operation, verbs)
        if operation not in decoders:
            decoders[operation] = msgspec.json.Decoder(verb.params)
        given = read(operation, verb.params, raw, decoders[operation])
        if verb.project and given.project_id is None:
            raise BadArguments(operation, [Violation("project_id", "string", "undefined")])
        for field in ("project_id", "session_id", "user_id", "request_id"):
            if (text := getattr(given, field)) is not None:
                legal_text(text, field, _LONGEST)
        if given.project_id is not None and not given.project_id.strip():
            raise Invalid("project_id is empty", field="project_id", hint="Provide a valid project_id parameter.")
        if given.session_id is not None:
            given = msgspec.structs.replace(given, session_id=legal_session(given.session_id))
        return Given(operation, verb, given)

    return take


def which(raw: bytes) -> str:
    """The operation a call names; nothing where it names none."""
    try:
        operation = _which.decode(raw).operation
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return operation if isinstance(operation, str) else ""


def session_of(raw: bytes) -> str:
    """The session a call names; nothing where it names none."""
    try:
        session = _which.decode(raw).session_id
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return session.strip() if isinstance(session, str) else ""


def heavy(verbs: Mapping[str, Verb]) -> Callable[[bytes], bool]:
    """Tells whether a call of one tool is for a heavy operation."""

    def is_heavy(raw: bytes) -> bool:
        operation = which(raw)
        return operation in verbs and verbs[operation].heavy

    return is_heavy


def _unknown(tool: str, operation: Any, verbs: Mapping[str, Verb]) -> UnknownOperation:
    from difflib import get_close_matches

    near = get_close_matches(str(operation), verbs, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]}? {tool} has: {', '.join(verbs)}." if near else f"{tool} has: {', '.join(verbs)}."
    fault = UnknownOperation(f"Unknown operation: {str(operation)[:80]}", hint=hint)
    fault.details |= {"operation": str(operation)[:80], "operations": list(verbs), "closest": near[0] if near else None}
    return fault


def taken(verbs: Mapping[str, Verb]) -> dict[str, Any]:
    """One flat schema for all operations of a tool; each parameter says which of them take it."""
    properties: dict[str, Any] = {}
    users: dict[str, list[str]] = {}
    for name, verb in verbs.items():
        for key, value in schema(verb.params)["properties"].items():
            users.setdefault(key, []).append(name)
            properties[key] = _united(properties[key], value) if key in properties else value
    told = {}
    for key, value in properties.items():
        if key == "operation":
            told[key] = {"type": "string", "enum": list(verbs), "description": "Which operation."}
        elif len(users[key]) < len(verbs):
            text = f"{value.get('description', '')} ({', '.join(users[key])})".strip()
            told[key] = {**value, "description": text}
        else:
            told[key] = value
    return {"type": "object", "properties": told, "required": ["operation"]}


def _united(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A schema that allows what either allows, as far as objects and choices go."""
    if one.get("type") == other.get("type") == "object":
        mine, yours = one.get("properties", {}), other.get("properties", {})
        both = {key: _united(mine[key], yours[key]) if key in mine and key in yours else (mine | yours)[key]
                for key in {**mine, **yours}}  # fmt: skip
        united: dict[str, Any] = {"type": "object", "properties": both} if both else {"type": "object"}
        return {**united, **{k: v for k, v in one.items() if k == "description"}}
    if "enum" in one and "enum" in other:
        return {**one, "enum": list(dict.fromkeys((*one["enum"], *other["enum"])))}
    return one if one.get("type") == other.get("type") else {k: v for k, v in one.items() if k == "description"}
