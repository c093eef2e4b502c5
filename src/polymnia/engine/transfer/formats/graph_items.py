"""The entities and relations of a graph file: their keys, and how each is read.

An irregular item is repaired if its meaning is clear, and otherwise left unread; the report notes either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from polymnia.engine.transfer.formats.records import JsonObject
from polymnia.errors import BrokenFile, Invalid
from polymnia.models import EntityDraft, Limits, legal_name, legal_text

GraphForm = Literal["document", "lines"]
Section = Literal["entities", "relations", "lines", "document"]
# (source, target, type, foreign keys), as a store adds relations.
Link: TypeAlias = tuple[str, str, str, JsonObject]
# Where an item was found determines its kind; "any" is a list of both kinds.
Place = Literal["entities", "relations", "lines", "document", "any"]
What = Literal["entity", "relation"]
Listed = Literal["entities", "relations"]
SECTIONS: dict[str, Listed] = {"entities": "entities", "relations": "relations"}

# The standard key comes first, then the alternatives that other programs and people write.
NAME_KEYS = ("name", "entityName", "entity_name")
KIND_KEYS = ("entityType", "entity_type", "type", "kind")
OBSERVATION_KEYS = ("observations", "observation", "contents")
SOURCE_KEYS = ("from", "from_", "source", "fromEntity", "from_entity")
TARGET_KEYS = ("to", "to_", "target", "toEntity", "to_entity")
LINK_KEYS = ("relationType", "relation_type", "relationship", "relation", "type", "kind")
ITEM_KEYS = {*NAME_KEYS, *KIND_KEYS, *OBSERVATION_KEYS, *SOURCE_KEYS, *TARGET_KEYS, *LINK_KEYS}

_MEMBERS = msgspec.json.Decoder(dict[str, Raw] | list[Raw])
ENCODER = msgspec.json.Encoder()
# What the decoder raises for bytes that do not fit, whether they are JSON or not.
UNFIT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

# A deeper value could be read here but not by other programs.
_MAX_DEPTH = 200
_SPACE = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+')
_DEEP = f"It is nested more than {_MAX_DEPTH} levels deep"
_ARTICLE = {"entity": "an entity", "relation": "a relation"}
_EXPECTED: dict[Place, What] = {"entities": "entity", "relations": "relation"}
_HOME: dict[What, Section] = {"entity": "entities", "relation": "relations"}
_TAGS: dict[str, What] = {"entity": "entity", "relation": "relation"}


class GraphNote(Struct, frozen=True):
    """One irregularity: where it is, and a sentence about what it is and what was done."""

    where: str
    why: str


class UnreadItem(Struct, frozen=True):
    """JSON that cannot become a memory, on one line. Rewriting the file puts it back into its section.

    In the section "document" it is an object whose single member is a foreign key of the document itself, with a value
    that Python cannot represent.
    """

    section: Section
    raw: str


class GraphReport(Struct, frozen=True, kw_only=True):
    """What was read from a file and what was not.

    ``dangling`` counts the relations that name an entity the file does not have; they are read all the same.
    """

    entities: int
    relations: int
    observations: int
    dangling: int
    repaired: list[GraphNote]
    refused: list[GraphNote]


class GraphFile(Struct, frozen=True, kw_only=True):
    """The content of a file. Names of entities are unique; relations repeat as often as in the file.

    ``extra`` has the foreign keys of a document, in order.
    """

    form: GraphForm
    entities: list[EntityDraft]
    relations: list[Link]
    extra: JsonObject
    unread: list[UnreadItem]
    report: GraphReport


class NotJson(BrokenFile):
    """Bytes that are not JSON: the reason, and the offset of the error in these bytes."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at


class EntityItem(Struct, forbid_unknown_fields=True):
    """A regular entity."""

    name: str
    kind: str = field(name="entityType")
    observations: tuple[str, ...]


class RelationItem(Struct, forbid_unknown_fields=True):
    """A regular relation."""

    source: str = field(name="from")
    target: str = field(name="to")
    type: str = field(name="relationType")


class EntityLine(EntityItem, tag_field="type", tag="entity"):
    """An entity on a line of its own."""


class RelationLine(RelationItem, tag_field="type", tag="relation"):
    """A relation on a line of its own."""


_LINE = msgspec.json.Decoder(EntityLine | RelationLine)
_SHAPES: dict[Place, msgspec.json.Decoder[Any]] = {
    "entities": msgspec.json.Decoder(EntityItem),
    "relations": msgspec.json.Decoder(RelationItem),
    "lines": _LINE,
    "any": _LINE,
}


def members(raw: bytes) -> Iterable[tuple[Any, Raw | bytes]]:
    """The members of an object by key, or of a list by index, each as raw JSON."""
    try:
        value = _MEMBERS.decode(raw)
    except UNFIT:
        from polymnia.engine.transfer.formats.graph_recovery import split

        return split(bytes(raw))
    return value.items() if isinstance(value, dict) else enumerate(value)


def shape(value: Mapping[str, Any]) -> What | None:
    """The kind of an object, judging by its keys alone."""
    named = has(value, NAME_KEYS)
    if named and has(value, ("entityType", "entity_type", *OBSERVATION_KEYS)):
        return "entity"
    if has_ends(value):
        return "relation"
    return "entity" if named and has(value, KIND_KEYS) else None


def is_item(value: object, section: str | None, *, whole: bool = False) -> bool:
    """Whether an object looks like an item; if it must be ``whole``, a relation needs its type too."""
    if not isinstance(value, dict):
        return False
    tagged = section is None and value.get("type") in ("entity", "relation")
    if section is None and not tagged and shape(value) is None:
        return False
    if has_ends(value):
        types = [key for key in LINK_KEYS if key != "type" or not tagged]
        return not whole or has(value, types)
    return has(value, NAME_KEYS)


def is_lone_item(value: Mapping[str, Any]) -> bool:
    """Whether a single object is an entity or a relation; a name alone is not enough, as many things have one."""
    if value.get("type") in ("entity", "relation"):
        return True
    if has_ends(value):
        return has(value, LINK_KEYS)
    if not has(value, NAME_KEYS):
        return False
    if has(value, ("entityType", "entity_type", *OBSERVATION_KEYS)):
        return True
    return has(value, KIND_KEYS) and value.keys() <= {*NAME_KEYS, *KIND_KEYS, *OBSERVATION_KEYS}


def is_document(value: Mapping[str, Any]) -> bool:
    """Whether an object is a graph of its own."""
    return any(isinstance(value.get(key), (list, dict)) for key in SECTIONS)


def has(value: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Whether the object has one of the keys."""
    return any(key in value for key in keys)


def has_ends(value: Mapping[str, Any]) -> bool:
    """Whether the object has both a source and a target."""
    return has(value, SOURCE_KEYS) and has(value, TARGET_KEYS)


class GraphBuilder:
    """Collects items one by one and reports what was done with each."""

    def __init__(self, form: GraphForm, limits: Limits, *, check_all: bool) -> None:
        self.form = form
        self._limits = limits
        self._check_all = check_all
        self._entities: list[EntityDraft] = []
        self._relations: list[Link] = []
        self._extra: JsonObject = {}
        self._unread: list[UnreadItem] = []
        self._repaired: list[GraphNote] = []
        self._refused: list[GraphNote] = []
        self._at: dict[str, int] = {}
        self._merged: dict[int, tuple[list[str], set[str]]] = {}
        self._interned: dict[str, str] = {}

    def take(self, raw: bytes | memoryview, place: Place, where: str | int) -> bool:
        """Add one item; returns False if it was left unread. Raises NotJson if it is not JSON."""
        try:
            item = _SHAPES[place].decode(raw)
        except UNFIT:
            return self._take_irregular(bytes(raw), place, where)
        if (self._check_all or len(raw) > min(self._limits.name_bytes, self._limits.text_bytes)) and (
            why := self._illegal(item)
        ):
            return self._leave_unread(bytes(raw), place, where, why)
        if isinstance(item, EntityItem):
            self._add_entity(item, {}, where, place)
        else:
            self._add_relation(item, {})
        return True

    def document(self, content: Iterable[tuple[str, Raw | bytes]]) -> None:
        """Add a whole document, given as its top-level keys and the JSON of each."""
        for key, raw in content:
            if section := SECTIONS.get(key):
                self.section(section, bytes(raw))
            else:
                self.keep(key, bytes(raw))

    def section(self, section: Listed, raw: bytes) -> None:
        """Add the value of ``entities`` or ``relations`` in a document."""
        opening = raw[:1]
        if opening == b"[":
            for index, item in members(raw):
                self.take(item, section, index)
        elif opening == b"{":
            self.repair(section, "An object keyed by name, not a list; its members were taken as the list.")
            for key, item in members(raw):
                self.keyed(key, bytes(item), section, f"{section}[{quoted(key)}]")
        elif opening == b"n":
            self.repair(section, "It is null; read as an empty list.")
        else:
            self.take(raw, section, section)

    def keyed(self, key: str, raw: bytes, section: Listed, where: str) -> bool:
        """Add an item whose name or id is its key in an object, unless it has its own."""
        if raw[:1] == b"{":
            own = b"name" if section == "entities" else b"id"
            rest = raw[1:].lstrip(b" \t\r\n")
            raw = b'{"%b":%b%b%b' % (own, _ascii(key), b"" if rest[:1] == b"}" else b",", rest)
        elif section == "entities":
            raw = b'{"name":%b,"observations":%b}' % (_ascii(key), raw)
        return self.take(raw, section, where)

    def keep(self, key: str, raw: bytes) -> None:
        """Preserve a foreign key of a document; in the lines form it becomes a line."""
        member = b"{%b:%b}" % (_ascii(key), raw)
        if self.form == "lines":
            self._leave_unread(member, "lines", quoted(key), "It is no entity or relation")
            return
        try:
            value = msgspec.json.decode(member)
        except UNFIT:
            from polymnia.engine.transfer.formats.graph_recovery import diagnose

            self._leave_unread(member, "document", quoted(key), diagnose(member))
            return
        if _too_deep(value):
            self._leave_unread(member, "document", quoted(key), _DEEP)
        else:
            self._extra.setdefault(key, value[key])

    def repair(self, where: str, why: str) -> None:
        """Report a repair."""
        self._repaired.append(GraphNote(where, why))

    def refuse(self, where: str, why: str) -> None:
        """Report something that could not be read."""
        self._refused.append(GraphNote(where, why))

    def done(self) -> GraphFile:
        """The content read, with the report."""
        for at, (observations, _) in self._merged.items():
            first = self._entities[at]
            self._entities[at] = EntityDraft(first.name, first.kind, tuple(observations), first.extra)
        names = self._at
        return GraphFile(
            form=self.form,
            entities=self._entities,
            relations=self._relations,
            extra=self._extra,
            unread=self._unread,
            report=GraphReport(
                entities=len(self._entities),
                relations=len(self._relations),
                observations=sum(len(e.observations) for e in self._entities),
                dangling=sum(link[0] not in names or link[1] not in names for link in self._relations),
                repaired=self._repaired,
                refused=self._refused,
            ),
        )

    def _take_irregular(self, raw: bytes, place: Place, where: str | int) -> bool:
        raw = raw.strip(b" \t\r\n")
        if not raw and place == "lines":
            return True
        try:
            value = msgspec.json.decode(raw)
        except UNFIT:
            from polymnia.engine.transfer.formats.graph_recovery import diagnose

            return self._leave_unread(raw, place, where, diagnose(raw))
        if not isinstance(value, dict):
            return self._leave_unread(raw, place, where, f"It is {_named(value)}, not an object")
        if len(raw) > _MAX_DEPTH and _too_deep(value):
            return self._leave_unread(raw, place, where, _DEEP)
        return self._take_object(value, raw, place, where)

    def _take_object(self, value: JsonObject, raw: bytes, place: Place, where: str | int) -> bool:
        repairs: list[GraphNote] = []
        tag = value.get("type")
        what: What | None = _EXPECTED.get(place)
        if what is None:
            what = _TAGS.get(tag.lower()) if isinstance(tag, str) else None
            if what is not None:
                del value["type"]
                if tag != what:
                    repairs.append(GraphNote(_spot(place, where, "type"), f"It is {quoted(tag)}; read as {what}."))
            elif is_document(value):
                self.repair(_spot(place, where), "A whole document among the items; its members were taken.")
                self.document(members(raw))
                return True
            elif "type" in value and place == "lines":
                return self._leave_unread(raw, place, where, f"Its type is {quoted(tag)}, not entity or relation")
            elif what := shape(value):
                if place == "lines":
                    repairs.append(GraphNote(_spot(place, where), f"It has no type; read as {_ARTICLE[what]}."))
            elif place == "any" and has(value, NAME_KEYS):
                what = "entity"
            else:
                return self._leave_unread(raw, place, where, "It is neither an entity nor a relation")
        fits = has_ends(value) if what == "relation" else has(value, NAME_KEYS)
        if not fits and (other := shape(value)):
            wrong = f"It is {_ARTICLE[other]} where {_ARTICLE[what]} should be; read as what it is."
            repairs.append(GraphNote(_spot(place, where), wrong))
            what = other

        def note(part: str, why: str) -> None:
            repairs.append(GraphNote(_spot(place, where, part), why))

        item = (_pop_relation if what == "relation" else _pop_entity)(value, note)
        unfit = item if isinstance(item, str) else self._illegal(item)
        if unfit or isinstance(item, str):
            home: Section = _HOME[what] if place == "any" else place
            return self._leave_unread(raw, place, where, unfit or "", home)
        if self.form == "lines" and value.pop("type", what) != what:
            repairs.append(GraphNote(_spot(place, where, "type"), "A line has no place for it; left out."))
        self._repaired += repairs
        if isinstance(item, EntityItem):
            self._add_entity(item, value, where, place)
        else:
            self._add_relation(item, value)
        return True

    def _add_entity(self, item: EntityItem, extra: JsonObject, where: str | int, place: Place) -> None:
        count = len(self._entities)
        at = self._at.setdefault(item.name, count)
        kind = self._interned.setdefault(item.kind, item.kind)
        if at == count:
            self._entities.append(EntityDraft(item.name, kind, item.observations, extra))
            return
        first = self._entities[at]
        if at not in self._merged:
            self._merged[at] = (list(first.observations), set(first.observations))
        observations, known = self._merged[at]
        before = len(observations)
        for text in item.observations:
            if text not in known:
                known.add(text)
                observations.append(text)
        for key, value in extra.items():
            first.extra.setdefault(key, value)
        added = len(observations) - before
        why = f"It repeats the name {quoted(item.name)}; merged with the first, adding {added} of its texts."
        if kind != first.kind:
            why += f" The type is still {quoted(first.kind)}, not {quoted(kind)}."
        self.repair(_spot(place, where), why)

    def _add_relation(self, item: RelationItem, extra: JsonObject) -> None:
        # Names and types repeat: sharing one string for each saves memory in large graphs.
        word = self._interned.setdefault
        at = self._at
        source = self._entities[at[item.source]].name if item.source in at else word(item.source, item.source)
        target = self._entities[at[item.target]].name if item.target in at else word(item.target, item.target)
        self._relations.append((source, target, word(item.type, item.type), extra))

    def _illegal(self, item: EntityItem | RelationItem) -> str | None:
        try:
            if isinstance(item, EntityItem):
                legal_name(item.name, "name", self._limits)
                legal_name(item.kind, "entityType", self._limits)
                for index, text in enumerate(item.observations):
                    legal_text(text, f"observations[{index}]", self._limits.text_bytes)
            else:
                legal_name(item.source, "from", self._limits)
                legal_name(item.target, "to", self._limits)
                legal_name(item.type, "relationType", self._limits)
        except Invalid as fault:
            return fault.message
        return None

    def _leave_unread(
        self, raw: bytes, place: Place, where: str | int, why: str, home: Section | None = None
    ) -> Literal[False]:
        section: Section = home or ("entities" if place == "any" else place)
        self.refuse(_spot(place, where), f"{why}; left in the file as it is.")
        self._unread.append(UnreadItem(section, _SPACE.sub(r"\1", raw.decode())))
        return False


def _ascii(text: str) -> bytes:
    """The text as JSON, with a lone surrogate as the escape it was read from."""
    try:
        return ENCODER.encode(text)
    except UnicodeEncodeError:
        import json

        return json.dumps(text).encode()


def _too_deep(value: object, levels: int = _MAX_DEPTH) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inner, list) and (not levels or any(_too_deep(one, levels - 1) for one in inner))


# ── irregular ─────────────────────────────────────────────────────────────────────────────────────────────
# Keys that are read are removed from the item: what remains are its foreign keys. ``note`` reports the repair of a key.


def _pop_entity(value: JsonObject, note: Callable[[str, str], None]) -> EntityItem | str:
    """The entity, or the reason there is none."""
    name = _pop_name(value, NAME_KEYS, note)
    if name is None:
        return "It is an entity without a name"
    return EntityItem(name, _pop_kind(value, KIND_KEYS, note), _pop_observations(value, note))


def _pop_relation(value: JsonObject, note: Callable[[str, str], None]) -> RelationItem | str:
    """The relation, or the reason there is none."""
    source, target = _pop_name(value, SOURCE_KEYS, note), _pop_name(value, TARGET_KEYS, note)
    if source is None or target is None:
        return f"It is a relation without {'a source' if source is None else 'a target'}"
    return RelationItem(source, target, _pop_kind(value, LINK_KEYS, note))


def _pop_name(item: JsonObject, keys: tuple[str, ...], note: Callable[[str, str], None]) -> str | None:
    value = _pop(item, keys, note)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        note(keys[0], f"It is the number {_text_of(value)}; read as text.")
        return _text_of(value)
    return value if isinstance(value, str) else None


def _pop_kind(item: JsonObject, keys: tuple[str, ...], note: Callable[[str, str], None]) -> str:
    value = _pop(item, keys, note)
    if value is None:
        note(keys[0], 'It is missing; read as "unknown".')
        return "unknown"
    if not isinstance(value, str):
        note(keys[0], f"It is {_named(value)}; read as its JSON text.")
    return _text_of(value)


def _pop_observations(item: JsonObject, note: Callable[[str, str], None]) -> tuple[str, ...]:
    value = _pop(item, OBSERVATION_KEYS, note)
    if value is None:
        note("observations", "There is no list of them; read as none.")
        return ()
    if not isinstance(value, list):
        note("observations", f"It is {_named(value)}, not a list; read as one observation.")
        return (_text_of(value),)
    if odd := [one for one in value if not isinstance(one, str)]:
        kinds = " and ".join(dict.fromkeys(map(_named, odd)))
        note("observations", f"The list holds {kinds}; read as JSON text, null as nothing.")
    return tuple(_text_of(one) for one in value if one is not None)


def _pop(item: JsonObject, keys: tuple[str, ...], note: Callable[[str, str], None]) -> Any:
    """Remove the first of the keys that has a value, and an empty standard key; returns the value."""
    found = next((key for key in keys if item.get(key) is not None), keys[0])
    if found != keys[0]:
        item.pop(keys[0], None)
        note(found, f"It stands for {keys[0]} and was read as that.")
    return item.pop(found, None)


def _named(value: object) -> str:
    """The kind of a JSON value, for a sentence."""
    if value is None or isinstance(value, bool):
        return _text_of(value)
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a number"


def quoted(value: object) -> str:
    """A value for use in a sentence: JSON, truncated."""
    text = f'"{value}"' if isinstance(value, str) else _text_of(value)
    text = text if len(text) <= 80 else f"{text[:76]}…{text[-1]}"
    return text.encode("utf-8", "backslashreplace").decode()


def _text_of(value: object) -> str:
    """A text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else ENCODER.encode(value).decode()


def _spot(place: Place, where: str | int, part: str = "") -> str:
    """The position of an item or of a part of it: its line, or its index in its list."""
    if isinstance(where, str):
        return f"{where}, {part}" if part else where
    if place == "lines":
        return f"line {where}, {part}" if part else f"line {where}"
    section = "" if place == "any" else place
    return f"{section}[{where}].{part}" if part else f"{section}[{where}]"
