"""Arguments as they were probably meant: models send the parameters, and the shapes, of servers they know."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from polymnia.models import JsonObject, Note

__all__ = ["parameter_of", "repaired"]

# Each parameter of ours with the words that models use for it; where two of ours have one word in common, the first
# that the tool has and the call does not give is meant.
_SYNONYMS = {
    "query": "question q search search_query queries text prompt topic keywords name entity entityName",
    "text": "content memory note message body value fact statement new_text new_content description memory_content "
    "data parts new new_value",
    "kind": "type entityType entity_type category memory_type",
    "type": "relationType relation_type relation relationship predicate label",
    "from": "source subject from_entity start entity1 head",
    "to": "target object to_entity end entity2 tail",
    "tags": "tag labels keywords",
    "scope": "folder path namespace collection",
    "ids": "id memory_id memory_ids name names entity entityName entityNames entities memories key uid path text "
    "content",
    "id": "memory_id name entity entityName key uid content_id ids old_text old_content old old_value",
    "add": "observations contents add_observations append",
    "remove": "delete deletions delete_observations remove_observations",
    "observations": "facts contents observation content text description details properties attributes",
    "budget": "max_tokens token_budget tokens maxTokens",
    "limit": "n n_results top_k k max_results count size",
    "since": "after from start start_date from_date created_after timeframe",
    "until": "before to end end_date to_date created_before",
    "as_of": "at date when",
    "conversation": "messages turns exchange dialogue chat conversations contents",
    "memories": "items notes contents facts statements texts",
    "role": "speaker who author name from",
    "at": "time timestamp date created_at",
    "who": "author user speaker by",
    "for_good": "permanent permanently hard purge",
    "confirm": "confirmed sure force yes",
    "change": "change_id id number",
    "session": "session_id conversation_id id",
    "project": "project_id workspace",
    "name": "entity entityName title",
    "supersedes": "replaces",
    "superseded_by": "replaced_by",
}
_SHOWING = ("dry_run", "preview")  # true is `confirm: false`; false says nothing
_JOINED = {"scope": "/", "query": " "}  # parameters of which a list of texts is one text
_YES, _NO = ("yes", "1"), ("no", "0")
_ABSENT = ("none", "null", "n/a", "undefined")
_LAST = ("last", "latest", "newest", "previous")  # the change that undo takes back where none is named
# Parameters whose texts may be any: there, "None" is what it says.
_NAMES = ("text", "query", "name", "id", "ids", "observations", "add", "remove", "from", "to", "type", "role")
_TURN = {"role", "text"}
# What programs write beside what was said.
_MACHINE = frozenset(
    "annotations audio finish_reason function_call id index refusal tool_call_id tool_calls type".split()
)
_USERS = ("user", "human")
_ROLES = (*_USERS, "assistant", "ai", "bot", "model", "system", "agent", "사용자", "어시스턴트", "나", "너")
_SPOKEN = re.compile(r"\s*([^\s:：][^:：\n]{0,40})[:：](?:\s+(.*)|$)")  # a line of a transcript
_RELATION = {"from", "to", "type"}


def repaired(expected: JsonObject, raw: bytes, notes: list[Note]) -> bytes:
    """Arguments as JSON, in the shape that is expected as far as they can be; what was read otherwise is noted."""
    try:
        repairs: dict[str, None] = {}
        value = _value(expected, msgspec.json.decode(raw), "", repairs)
        if repairs:
            notes.append(Note("repaired", f"Read as it was meant: {', '.join(list(repairs)[:5])}."))
        return msgspec.json.encode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return raw


def parameter_of(tool: JsonObject, key: str) -> str | None:
    """The parameter of a tool that a key stands for; None where it stands for none."""
    return key if key in tool["properties"] else _parameter(key, tool["properties"], {})


def _value(expected: JsonObject, value: Any, path: str, repairs: dict[str, None]) -> Any:
    kind = expected.get("type")
    if kind == "array":
        return _list(expected.get("items", {}), value, path, repairs)
    if kind == "object" and (properties := expected.get("properties")):
        value = _unpacked(properties, _quoted(value, "{"), repairs)
        if not isinstance(value, dict):
            return value
        return {
            key: _value(properties.get(key, {}), one, key, repairs)
            for key, one in value.items()
            if not _absent(key, one, repairs)
        }
    if kind == "string":
        return _text(value, path)
    if isinstance(value, list) and len(value) == 1 and kind in ("boolean", "integer", "number"):
        value = value[0]
    if kind == "boolean" and str(value).lower() in (*_YES, *_NO):
        return str(value).lower() in _YES
    if kind == "integer" and isinstance(value, str):
        number = value.strip().lower().removeprefix(path).lstrip(" #")
        value = int(number) if re.fullmatch("[0-9]{1,15}", number) else value
    most = expected.get("maximum")
    if most is not None and isinstance(value, int | float) and not isinstance(value, bool) and value > most:
        repairs[f"`{path}` {value:,} as {most:,}, the most there is"] = None
        return most
    return value


def _absent(key: str, value: Any, repairs: dict[str, None]) -> bool:
    """Whether a text says that there is nothing, where a name or a time should be."""
    absent = (*_ABSENT, *_LAST) if key == "change" else _ABSENT
    if key in _NAMES or not isinstance(value, str) or value.strip().lower() not in absent:
        return key == "cursor" and value == ""
    repairs[f"`{key}` {value!r} as not given"] = None
    return True


def _text(value: Any, path: str) -> Any:
    """A text from a number, from content parts as chat models write them, or from an object that holds nothing else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and path in _JOINED and all(isinstance(one, str) for one in value):
        return _JOINED[path].join(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    texts = [_part(one) for one in (value if isinstance(value, list) else [value])]
    return "\n".join(filter(None, texts)) if texts and None not in texts else value


def _part(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if len(value) == 1:
        text = next(iter(value.values()))
    elif value.keys() <= {"type", "text", "content"} or str(value.get("type")).endswith("text"):
        text = value.get("text", value.get("content"))
    else:
        return None
    return text if isinstance(text, str) else None


def _list(inner: JsonObject, value: Any, path: str, repairs: dict[str, None]) -> Any:
    value = _quoted(value, "[")
    if value is None:
        return None
    if isinstance(value, dict) and value.keys() == {"$in"}:
        value = value["$in"]
    if isinstance(value, str) and path == "tags":
        value = [one for one in map(str.strip, re.split("[,;]", value)) if one]
    if isinstance(value, dict):
        value = _keyed(inner, value, path, repairs)
    if not isinstance(value, list):
        repairs[f"`{path}` as a list of one"] = None
        value = [value]
    required = set(inner.get("required", ()))
    if required == _RELATION:
        value = [_relation(one) for one in value]
    elif required == _TURN:
        value = [turn for one in value for turn in _turns(inner["properties"], one, repairs)]
    return [_value(inner, one, path, repairs) for one in value if not _absent(path, one, repairs)]


def _keyed(inner: JsonObject, value: JsonObject, path: str, repairs: dict[str, None]) -> Any:
    """The items of an object that was given in place of a list: by number, or by the name of each; else the object."""
    fields = inner.get("properties", {})
    if not fields:
        if len(value) > 1 or path == "observations":
            repairs[f"each of `{path}` as a text"] = None
            return [f"{key}: {one}" for key, one in value.items()]
        return value
    if any(key in fields or _parameter(key, fields, {}) for key in value):
        return value
    if all(key.isdecimal() for key in value):
        repairs[f"`{path}` as a list"] = None
        return list(value.values())
    if "name" in fields and all(isinstance(one, dict | list) for one in value.values()):
        repairs[f"the keys of `{path}` as names"] = None
        return [
            {"name": key, **(one if isinstance(one, dict) else {"observations": one})} for key, one in value.items()
        ]
    return value


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
    value = _opened(properties, value, repairs)
    if (item := _item(properties, value)) is not None:
        name, fields = item
        repairs[f"{', '.join(map(repr, fields))} as one of `{name}`"] = None
        made = {key: value.pop(key) for key in fields}
        return {**value, name: [made]}
    for key in [one for one in value if one not in properties]:
        if key in _SHOWING and "confirm" in properties and isinstance(value[key], bool):
            repairs[f"`{key}` true as `confirm` false"] = None
            if value.pop(key):
                value["confirm"] = False
            continue
        target = _parameter(key, properties, value)
        if target is not None:
            repairs[f"`{key}` as `{target}`"] = None
            value[target] = value.pop(key)
    return value


def _opened(properties: JsonObject, value: JsonObject, repairs: dict[str, None]) -> JsonObject:
    """An object with what others in it hold, where these only wrap parameters."""
    for key in list(value):
        inside, meant = value[key], key if key in properties else _parameter(key, properties, value)
        if meant is None:
            inside = _quoted(inside, "{")
        target = {} if meant is None else properties[meant]
        fields = target.get("items", {}).get("properties")
        if isinstance(inside, list) and len(inside) == 1 and fields is None and key != meant:
            inside = inside[0] if _known(properties, inside[0]) else None
        elif fields is not None:  # a conversation that is an object has its turns inside, beside its name
            listed = (
                [one for one in inside if _parameter(one, {str(meant): target}, {})] if isinstance(inside, dict) else []
            )
            inside = inside if len(listed) == 1 and isinstance(inside[listed[0]], list) else None
        elif key == meant or target.get("type") == "array":
            continue
        if isinstance(inside, dict) and meant == "remove":  # what it lists is not to be added
            inside = {meant if _parameter(one, properties, {}) == "add" else one: all for one, all in inside.items()}
            value.pop(key)
        if isinstance(inside, dict) and not inside.keys() & value.keys():
            repairs[f"what is in `{key}` as parameters"] = None
            value.pop(key, None)
            value |= inside
    return value


def _known(properties: JsonObject, value: Any) -> bool:
    return isinstance(value, dict) and all(key in properties or _parameter(key, properties, {}) for key in value)


def _item(properties: JsonObject, value: JsonObject) -> tuple[str, list[str]] | None:
    """The list of which an item was given in place of the arguments, and its fields: all that it requires is there."""
    for name, one in properties.items():
        inner = one.get("items", {})
        fields = inner.get("properties", {})
        required = set(inner.get("required", ())) - properties.keys()
        if name in value or not required & value.keys():
            continue
        read = {key: key if key in fields else _parameter(key, fields, {}) for key in value}
        own = [key for key, target in read.items() if target is not None]
        if required <= {read[key] for key in own} and all(key in own or key in properties for key in value):
            return name, own
    return None


def _turns(fields: JsonObject, value: Any, repairs: dict[str, None]) -> list[Any]:
    """The turns in what was given for one: a transcript, a pair, an object with each role as a key, or a turn."""
    if isinstance(value, str):
        return _transcript(value, repairs) or [value]
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value):
        return [dict(zip(("role", "text"), value, strict=True))]
    if not isinstance(value, dict):
        return [value]
    named = any(key in fields or _parameter(key, fields, {}) for key in value)
    if not named and all(isinstance(one, str) for one in value.values()):
        return [{"role": role, "text": text} for role, text in value.items()]
    turn = {key: one for key, one in value.items() if key not in _MACHINE}
    without = len(turn) < len(value)
    if str(turn.get("role")).lower() in _USERS and isinstance(turn.get("name"), str):
        turn["role"] = turn.pop("name")
    said = next((key for key in turn if key == "text" or _parameter(key, {"text": {}}, {})), "text")
    if isinstance(parts := turn.get(said), list):  # pictures, calls of tools and what these answered are no text
        turn[said] = [
            one for one in parts if not (isinstance(one, dict) and "type" in one and _part(one) is None)
        ] or ""
        without = without or len(turn[said]) < len(parts)
    if without:
        repairs["turns without what programs write beside the text"] = None
    return [{**turn, said: "" if turn.get(said) is None else turn[said]}]


def _transcript(text: str, repairs: dict[str, None]) -> list[Any]:
    """The turns of a text whose lines say who speaks; a line that does not belongs to the turn above it."""
    lines = [(_SPOKEN.match(line), line) for line in text.strip().splitlines()]
    speakers = [found[1] for found, _ in lines if found]
    if not lines or lines[0][0] is None:
        return []
    known = {one for one in speakers if speakers.count(one) > 1 or one.lower() in _ROLES or len(speakers) == len(lines)}
    turns: list[Any] = []
    for found, line in lines:
        if found and found[1] in (speakers[0], *known):
            turns.append({"role": found[1], "text": found[2] or ""})
        else:
            turns[-1]["text"] = f"{turns[-1]['text']}\n{line}".strip()
    repairs["a transcript as turns"] = None
    return turns


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


def _parameter(key: str, properties: JsonObject, given: JsonObject) -> str | None:
    """The parameter that a key stands for: by its letters, by a word for it, or by the shape of what it holds."""
    plain = key.replace("-", "_")
    folded = {one.replace("_", "").lower(): one for one in properties}
    own = folded.get(plain.replace("_", "").lower())
    if own is not None and own not in given:
        return own
    words = [one for one, said in _SYNONYMS.items() if plain in said.split() and one in properties and one not in given]
    return _fitting(properties, given.get(key), words) or (words[0] if words else None)


def _fitting(properties: JsonObject, value: Any, among: list[str]) -> str | None:
    """The list, of those ``among`` or else of all, whose items have the fields of the value's."""
    if not isinstance(value, list) or not value:
        return None
    for name in among or properties:
        inner = properties[name].get("items", {})
        fields, required = inner.get("properties", {}), set(inner.get("required", ()))
        if required and all(_known(fields, one) for one in value):
            read = [{key if key in fields else _parameter(key, fields, {}) for key in one} for one in value]
            if all(required <= one for one in read):
                return name
    return None
