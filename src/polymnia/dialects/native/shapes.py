"""What the tools share: their parameters, the words models use instead of these, and how a function becomes a tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from polymnia.dialects.shapes import about, parameters
from polymnia.models import JsonObject, Note
from polymnia.operation import Context, Memory, Operation, Reply, schema
from polymnia.operation import read as read_arguments

Budget = Annotated[int, about("Tokens the answer may have.", ge=100, le=100_000)]
Time = Annotated[str, about("A date, a time, or words: last week.")]
Confirm = Annotated[bool, about("True does it; without it you see what would be done.")]
Ids = Annotated[list[str], about("Names, ids or beginnings of ids.")]
Project = str
Tags = list[str]


class ToolParameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a tool takes. Unknown parameters are refused; an optional one may be left out or be null."""


class NewMemory(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One memory of several."""

    text: str
    kind: str | None = None
    tags: Tags | None = None
    scope: str | None = None
    metadata: JsonObject | None = None
    supersedes: str | None = None


class NewEntity(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entity of several."""

    name: str
    kind: str | None = None
    observations: list[str] | None = None
    tags: Tags | None = None


class NewRelation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One relation of several."""

    from_: str = field(name="from")
    to: str
    type: str


class NewTurn(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One turn of a conversation."""

    role: str
    text: str
    at: str | None = None


# Models remember the parameters of other servers. Each of ours with the words they use for it; where two of ours have
# one word in common, the first that the tool has and the call does not give is meant.
_SYNONYMS = {
    "query": "question q search search_query queries text prompt topic keywords",
    "text": "content memory note message body value fact statement new_text new_content description memory_content",
    "kind": "type entityType entity_type category memory_type",
    "type": "relationType relation_type relation predicate label",
    "from": "source subject from_entity start",
    "to": "target object to_entity end",
    "tags": "tag labels keywords",
    "scope": "folder path namespace collection",
    "ids": "id memory_id memory_ids name names entityNames entities memories key uid path",
    "id": "memory_id name entity entityName key uid content_id ids old_text old_content",
    "add": "observations contents add_observations append",
    "remove": "delete deletions delete_observations remove_observations",
    "observations": "facts contents observation content text",
    "budget": "max_tokens token_budget tokens maxTokens",
    "limit": "n n_results top_k k max_results count size",
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

_YES, _NO = ("yes", "1"), ("no", "0")


def tool(name: str, title: str, **hints: Any) -> Callable[[Callable[..., Reply]], Operation]:
    """A function as a tool of this dialect: its signature has the parameters, its docstring explains it."""

    def made(run: Callable[..., Reply]) -> Operation:
        params = parameters(run, ToolParameters)
        decoder = msgspec.json.Decoder(params)

        def call(context: Context, given: Struct) -> Reply:
            arguments = {key: value for key, value in asdict(given).items() if value is not None}
            if project := arguments.pop("project", None):
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
            project="project" if "project" in params.__struct_fields__ else None,
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
        return _repair_list(expected.get("items", {}), value, path, repairs)
    if kind == "object" and (properties := expected.get("properties")):
        value = _unpacked(properties, _quoted(value, "{"), repairs)
        if isinstance(value, dict):
            return {key: _repair(properties.get(key, {}), one, key, repairs) for key, one in value.items()}
    elif kind == "string":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return _said(value)
    elif kind == "boolean" and (str(value).lower() in _YES or str(value).lower() in _NO):
        return str(value).lower() in _YES
    elif kind == "integer" and isinstance(value, str):
        number = value.strip().lower().removeprefix(path).lstrip(" #")
        return int(number) if re.fullmatch("[0-9]{1,15}", number) else value
    return value


def _repair_list(inner: JsonObject, value: Any, path: str, repairs: dict[str, None]) -> Any:
    value = _quoted(value, "[")
    if value is None:
        return None
    if isinstance(value, str) and path == "tags":
        value = [one for one in map(str.strip, value.split(",")) if one]
    if not isinstance(value, list):
        repairs[f"`{path}` as a list of one"] = None
        value = [value]
    if set(inner.get("required", ())) == {"from", "type", "to"}:
        value = [_relation(one) for one in value]
    return [_repair(inner, one, path, repairs) for one in value]


def _quoted(value: Any, opening: str) -> Any:
    """The JSON in a text that begins like it, or the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] == opening:
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            pass
    return value


def _unpacked(properties: JsonObject, value: Any, repairs: dict[str, None]) -> Any:
    """An object with the parameters it was meant to have."""
    if isinstance(value, str) and (only := next((one for one in ("text", "name") if one in properties), None)):
        return {only: value}
    if not isinstance(value, dict):
        return value
    for key in [one for one in value if one not in properties]:
        # What has a meaning of its own may be a text that is JSON.
        inside = value[key] if _meant(key, properties, value) else _quoted(value[key], "{")
        if isinstance(inside, dict) and not inside.keys() & value.keys():
            repairs[f"what is in `{key}` as parameters"] = None
            del value[key]
            value |= inside
    if (item := _item(properties, value)) is not None:
        name, fields = item
        repairs[f"{', '.join(map(repr, fields))} as one of `{name}`"] = None
        made = {key: value.pop(key) for key in fields}
        return {**value, name: [made]}
    for key in [one for one in value if one not in properties]:
        target = _meant(key, properties, value)
        if target is not None:
            repairs[f"`{key}` as `{target}`"] = None
            value[target] = value.pop(key)
    return value


def _item(properties: JsonObject, value: JsonObject) -> tuple[str, list[str]] | None:
    """The list of which an item was given in place of the arguments, and its fields: all that it requires is there."""
    for name, one in properties.items():
        inner = one.get("items", {})
        fields = inner.get("properties", {})
        required = set(inner.get("required", ())) - properties.keys()
        if name in value or not required & value.keys():
            continue
        read = {key: key if key in fields else _meant(key, fields, {}) for key in value}
        own = [key for key, target in read.items() if target is not None]
        if required <= {read[key] for key in own} and all(key in own or key in properties for key in value):
            return name, own
    return None


def _said(value: Any) -> Any:
    """The text in content parts as chat models write them, or the value itself."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    texts = [_part(one) for one in (value if isinstance(value, list) else [value])]
    return "\n".join(filter(None, texts)) if texts and None not in texts else value


def _part(value: Any) -> str | None:
    if not isinstance(value, dict) or not value.keys() <= {"type", "text", "content"}:
        return None
    text = value.get("text", value.get("content"))
    return text if isinstance(text, str) else None


def _relation(value: Any) -> Any:
    """A relation from a triple, or from a text with arrows as answers show it."""
    if isinstance(value, str):
        *left, target = value.replace("→", "->").split("->")
        if len(left) == 1:
            left = [one for one in left[0].rpartition(" -") if one != " -"]
        value = [one.strip(" -") for one in (*left, target)] if len(left) == 2 and all(left) else value
    if isinstance(value, list) and len(value) == 3:
        return dict(zip(("from", "type", "to"), value, strict=True))
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


def bare(tags: Iterable[str] | None) -> list[str]:
    """Tags without the # that answers show before each."""
    return [tag.removeprefix("#") for tag in tags or ()]


def empty_project(memory: Memory) -> str:
    """That nothing is stored yet; of a project that never was, with the one that may be meant."""
    near = memory.nearest_project() if not memory.stamp() else None
    meant = f"; did you mean the project {near!r}?" if near else "."
    return f"There are no memories in the project {memory.project!r} yet{meant}"
