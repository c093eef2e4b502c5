"""What the tools share: their parameters, the words models use instead of these, and how a function becomes a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from polymnia.dialects.shapes import about, parameters
from polymnia.engine.text.calendar import parse_time
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Note
from polymnia.operation import Context, Memory, Operation, Reply, schema
from polymnia.operation import read as read_arguments

Budget = Annotated[int, about("Tokens the answer may have.", ge=50, le=100_000)]
Time = Annotated[str, about("A date, a time, or words: last week.")]
Confirm = Annotated[bool, about("True does it; without it you see what would be done.")]
Ids = Annotated[list[str], about("Names, ids or beginnings of ids.")]
Project = str
Tags = list[str]


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a tool takes. Unknown parameters are refused; an optional one may be left out or be null."""


class MemoryItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One memory of several."""

    text: str
    kind: str | None = None
    tags: Tags | None = None
    scope: str | None = None
    metadata: JsonObject | None = None
    supersedes: str | None = None


class EntityItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entity of several."""

    name: str
    kind: str | None = None
    observations: list[str] | None = None
    tags: Tags | None = None


class RelationItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One relation of several."""

    from_: str = field(name="from")
    to: str
    type: str


class TurnItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One turn of a conversation."""

    role: str
    text: str
    at: str | None = None


# Models remember the parameters of other servers. Each of ours with the words they use for it; where two of ours have
# one word in common, the first that the tool has and the call does not give is meant.
_SYNONYMS = {
    "text": "content memory note message body value fact statement new_text new_content description memory_content",
    "kind": "type entityType entity_type category memory_type",
    "type": "relationType relation_type relation predicate label",
    "from": "source subject from_entity start",
    "to": "target object to_entity end",
    "tags": "tag labels keywords",
    "scope": "folder path namespace collection",
    "query": "question q search text prompt topic",
    "ids": "id memory_id memory_ids name names entityNames entities memories key uid path",
    "id": "memory_id name entity entityName key uid content_id ids",
    "add": "observations contents add_observations append",
    "remove": "delete delete_observations remove_observations",
    "observations": "facts contents observation content text",
    "budget": "max_tokens token_budget tokens maxTokens",
    "limit": "n top_k k max_results count size",
    "since": "after from start start_date from_date created_after",
    "until": "before to end end_date to_date created_before",
    "as_of": "at date when",
    "conversation": "messages turns exchange dialogue chat",
    "role": "speaker who author name",
    "at": "time timestamp date created_at",
    "who": "author user speaker by",
    "for_good": "permanent permanently hard purge",
    "confirm": "confirmed sure force yes",
    "change": "change_id id number",
    "session": "session_id conversation_id",
    "project": "project_id workspace",
    "memories": "items notes contents",
    "name": "entity entityName title",
    "supersedes": "replaces",
    "superseded_by": "replaced_by",
}


def tool(name: str, title: str, **hints: Any) -> Callable[[Callable[..., Reply]], Operation]:
    """A function as a tool of this dialect: its signature has the parameters, its docstring explains it."""

    def made(run: Callable[..., Reply]) -> Operation:
        params = parameters(run, Parameters)
        decoder = msgspec.json.Decoder(params)

        def call(context: Context, given: Struct) -> Reply:
            arguments = {key: value for key, value in asdict(given).items() if value is not None}
            if (project := arguments.pop("project", None)) is not None:
                memory = context.memory.acting(context.memory.author, project=project)
                context = replace(context, memory=memory)
            return run(context, **arguments)

        def read(raw: bytes, notes: list[Note]) -> Any:
            try:
                return decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return read_arguments(name, params, _repaired(schema(params), raw, notes), decoder, notes)

        return Operation(
            name=name,
            title=title,
            params=params,
            run=call,
            read=read,
            takes=lambda: _published(schema(params)),
            output=None,
            help=" ".join((run.__doc__ or "").split()),
            wrapped="request",
            **hints,
        )

    return made


def _published(given: Any) -> Any:
    """A schema as short as a model can do with."""
    if isinstance(given, list):
        return [_published(one) for one in given]
    if not isinstance(given, dict):
        return given
    return {
        key: _published(value)
        for key, value in given.items()
        if key not in ("additionalProperties", "minimum", "maximum")
    }


def _repaired(expected: JsonObject, raw: bytes, notes: list[Note]) -> bytes:
    """Arguments as they were probably meant: known synonyms renamed, one thing in place of a list of it wrapped."""
    try:
        value = msgspec.json.decode(raw)
        repairs: dict[str, None] = {}
        value = _repair(expected, value, "", repairs)
        if repairs:
            notes.append(Note("repaired", f"Read as it was meant: {', '.join(list(repairs)[:5])}."))
        return msgspec.json.encode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return raw


def _repair(expected: JsonObject, value: Any, path: str, repairs: dict[str, None]) -> Any:
    kind = expected.get("type")
    if kind == "array":
        if isinstance(value, str) and value.lstrip()[:1] == "[":
            try:
                value = msgspec.json.decode(value)
            except msgspec.DecodeError:
                return value
        if value is not None and not isinstance(value, list):
            repairs[f"`{path}` as a list of one"] = None
            value = [value]
        inner = expected.get("items", {})
        return [_repair(inner, one, path, repairs) for one in value] if isinstance(value, list) else value
    if kind == "object":
        properties = expected.get("properties", {})
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            try:
                value = msgspec.json.decode(value)
            except msgspec.DecodeError:
                return value
        if isinstance(value, str) and (only := next((one for one in ("text", "name") if one in properties), None)):
            value = {only: value}
        if isinstance(value, dict) and properties:
            for key in [one for one in value if one not in properties]:
                target = _meant(key, properties, value)
                if target is not None:
                    repairs[f"`{key}` as `{target}`"] = None
                    value[target] = value.pop(key)
            return {key: _repair(properties.get(key, {}), one, key, repairs) for key, one in value.items()}
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == "string" and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    return value


def _meant(key: str, properties: JsonObject, given: JsonObject) -> str | None:
    plain = key.replace("-", "_")
    folded = {one.replace("_", "").lower(): one for one in properties}
    own = folded.get(plain.replace("_", "").lower())
    if own is not None and own not in given:
        return own
    return next(
        (one for one, words in _SYNONYMS.items() if plain in words.split() and one in properties and one not in given),
        None,
    )


def at_time(text: str, field: str, *, end: bool = False) -> int:
    """A time from a date, a time or words such as "last week": its beginning, or with ``end`` its end."""
    import time

    from polymnia.engine.text.dates import find_time_range

    stripped = text.strip()
    if len(stripped) > 10:
        try:
            return parse_time(stripped, field)
        except Invalid:
            pass
    found = find_time_range(stripped, time.time_ns() // 1000)
    if found is None:
        raise Invalid(
            f"{field} is {text!r:.60}, which is no time", field=field, hint="Write it as 2026-05-31, or last week."
        )
    return found.end if end else found.start


def empty_project(memory: Memory) -> str:
    """That nothing is stored yet; of a project that never was, with the one that may be meant."""
    near = memory.nearest_project() if not memory.stamp() else None
    meant = f"; did you mean the project {near!r}?" if near else "."
    return f"There are no memories in the project {memory.project!r} yet{meant}"
