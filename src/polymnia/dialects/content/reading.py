"""Reading a call: its operation first, then the parameters of that operation; and the schema that shows them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from polymnia.engine.scopes import legal_session
from polymnia.errors import BadArguments, Invalid, UnknownOperation, Violation
from polymnia.models import legal_text
from polymnia.operation import Context, Note, Reply, read, schema

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


def reader(tool: str, verbs: Mapping[str, Verb]) -> Callable[[bytes, list[Note]], Given]:
    """Reads the calls of one tool."""
    decoders: dict[str, msgspec.json.Decoder[Any]] = {}  # made when an operation is first called

    def take(raw: bytes, notes: list[Note]) -> Given:
        operation = read(tool, _Which, raw, _which, notes).operation
        if operation is None:
            raise BadArguments(tool, [Violation("operation", f"one of {', '.join(verbs)}", "undefined")])
        verb = verbs.get(operation) if isinstance(operation, str) else None
        if verb is None:
            raise _unknown(tool, operation, verbs)
        if operation not in decoders:
            decoders[operation] = msgspec.json.Decoder(verb.params)
        given = read(operation, verb.params, raw, decoders[operation], notes)
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
    """One flat schema for all operations of a tool.

    Each parameter says which operations need it and which take it, and its limits where they differ.
    """
    properties: dict[str, Any] = {}
    needed: dict[str, list[str]] = {}
    users: dict[str, list[str]] = {}
    limits: dict[str, dict[str, list[str]]] = {}
    inside: dict[tuple[str, str], list[str]] = {}
    for name, verb in verbs.items():
        own = schema(verb.params)
        required = {*own.get("required", ()), *(("project_id",) if verb.project else ())}
        for key, value in own["properties"].items():
            (needed if key in required else users).setdefault(key, []).append(name)
            limits.setdefault(key, {}).setdefault(_limits(value), []).append(name)
            for one in value.get("properties", ()):
                inside.setdefault((key, one), []).append(name)
            properties[key] = _united(properties[key], value) if key in properties else value
    told: dict[str, dict[str, Any]] = {}
    for key, value in properties.items():
        if key == "operation":
            needs = "; ".join(f"{name}: {', '.join(_needs(verb))}" for name, verb in verbs.items())
            told[key] = {"type": "string", "enum": list(verbs), "description": f"Which operation. Each needs: {needs}."}
            continue
        parts = [value.get("description", "")]
        if key in needed:
            parts.append("Required." if len(needed[key]) == len(verbs) else f"Required by {', '.join(needed[key])}.")
        if key in users and (key in needed or len(users[key]) < len(verbs)):
            parts.append(f"Optional for {', '.join(users[key])}.")
        if len(limits[key]) > 1:
            parts += [f"{text} for {', '.join(names)}." for text, names in limits[key].items() if text]
        told[key] = {**value, "description": " ".join(filter(None, parts))}
        takers = len(needed.get(key, ())) + len(users.get(key, ()))
        if "properties" in value:
            told[key]["properties"] = {
                one: shape
                if len(inside[key, one]) == takers
                else {**shape, "description": f"{shape.get('description', '')} ({', '.join(inside[key, one])})".strip()}
                for one, shape in value["properties"].items()
            }
    return {"type": "object", "properties": told, "required": ["operation"]}


def _needs(verb: Verb) -> list[str]:
    """The parameters an operation cannot do without."""
    needed = [key for key in schema(verb.params).get("required", ()) if key != "operation"]
    return (["project_id", *needed] if verb.project else needed) or ["nothing else"]


def _limits(one: dict[str, Any]) -> str:
    """The limits and the default of a number in words."""
    if one.get("type") not in ("integer", "number"):
        return ""
    least, most, default = one.get("minimum"), one.get("maximum"), one.get("default")
    text = f"{least} to {most}" if None not in (least, most) else ""
    return text if default is None else f"{text} (default {default})"


def _united(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A schema that allows what either allows, and says what holds for both."""
    if one.get("type") != other.get("type"):
        return {k: v for k, v in one.items() if k == "description"}
    united = {key: value for key, value in one.items() if other.get(key) == value or key in ("type", "description")}
    if one.get("type") == "object":
        mine, yours = one.get("properties", {}), other.get("properties", {})
        both = {key: _united(mine[key], yours[key]) if key in mine and key in yours else (mine | yours)[key]
                for key in {**mine, **yours}}  # fmt: skip
        return {**united, "properties": both} if both else united
    if "enum" in one and "enum" in other:
        united["enum"] = list(dict.fromkeys((*one["enum"], *other["enum"])))
    for limit, wider in (("minimum", min), ("maximum", max), ("minLength", min), ("maxLength", max)):
        if limit in one and limit in other:
            united[limit] = wider(one[limit], other[limit])
    return united
