"""One entity or relation as a file has it: its keys, its shape when in good order, and what it is by its looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct, field

from polymnia.errors import BrokenFile

# Where an item was found decides what it must be; "any" is a list that says nothing about its members.
Place = Literal["entities", "relations", "lines", "document", "any"]
What = Literal["entity", "relation"]
Listed = Literal["entities", "relations"]
SECTIONS: dict[str, Listed] = {"entities": "entities", "relations": "relations"}

# The key of the file formats comes first, then the ones other programs and people write in its place.
NAME_KEYS = ("name", "entityName", "entity_name")
KIND_KEYS = ("entityType", "entity_type", "type", "kind")
OBSERVATION_KEYS = ("observations", "observation", "contents")
SOURCE_KEYS = ("from", "from_", "source", "fromEntity", "from_entity")
TARGET_KEYS = ("to", "to_", "target", "toEntity", "to_entity")
LINK_KEYS = ("relationType", "relation_type", "relationship", "relation", "type", "kind")

# An object by its keys, the JSON under each left as it is.
MEMBERS = msgspec.json.Decoder(dict[str, Raw])
ENCODER = msgspec.json.Encoder()
# What the decoder raises for bytes it does not take, be they JSON or not.
UNFIT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Flaw(BrokenFile):
    """Bytes that are not JSON: why, and at which of the bytes at hand. Only the whole file tells the line."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at


class EntityItem(Struct, forbid_unknown_fields=True):
    """An entity in good order. Whatever does not fit exactly is looked at closely."""

    name: str
    kind: str = field(name="entityType")
    observations: tuple[str, ...]


class RelationItem(Struct, forbid_unknown_fields=True):
    """A relation in good order. Whatever does not fit exactly is looked at closely."""

    source: str = field(name="from")
    target: str = field(name="to")
    type: str = field(name="relationType")


class EntityLine(EntityItem, tag_field="type", tag="entity"):
    """An entity on a line of its own."""


class RelationLine(RelationItem, tag_field="type", tag="relation"):
    """A relation on a line of its own."""


def shape(value: Mapping[str, Any]) -> What | None:
    """What an object is by the keys it has, when nothing else tells."""
    named = has(value, NAME_KEYS)
    if named and has(value, ("entityType", "entity_type", *OBSERVATION_KEYS)):
        return "entity"
    if has_ends(value):
        return "relation"
    return "entity" if named and has(value, KIND_KEYS) else None


def is_item(value: object, section: str | None, *, whole: bool = False) -> bool:
    """Whether an object is an item by its looks; as a whole one, a relation must have its type too."""
    if not isinstance(value, dict):
        return False
    tagged = section is None and value.get("type") in ("entity", "relation")
    if section is None and not tagged and shape(value) is None:
        return False
    if has(value, SOURCE_KEYS) and has(value, TARGET_KEYS):
        types = [key for key in LINK_KEYS if key != "type" or not tagged]
        return not whole or has(value, types)
    return has(value, NAME_KEYS)


def is_document(value: Mapping[str, Any]) -> bool:
    """Whether an object is a graph of its own."""
    return any(isinstance(value.get(key), (list, dict)) for key in SECTIONS)


def has(value: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Whether the object has one of the keys."""
    return any(key in value for key in keys)


def has_ends(value: Mapping[str, Any]) -> bool:
    """Whether the object has both a source and a target."""
    return has(value, SOURCE_KEYS) and has(value, TARGET_KEYS)
