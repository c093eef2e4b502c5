"""What is taken from the items of a file, and the account of what was done with each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Raw

from polymnia.engine.transfer.contents import Finding, Form, GraphFile, Link, Report, Section, Unread
from polymnia.engine.transfer.item import (
    ENCODER,
    MEMBERS,
    NAME_KEYS,
    SECTIONS,
    UNFIT,
    EntityItem,
    EntityLine,
    Listed,
    Place,
    RelationItem,
    RelationLine,
    What,
    has,
    has_ends,
    is_document,
    shape,
)
from polymnia.engine.transfer.mending import Mending
from polymnia.engine.transfer.wording import named, quoted, spot
from polymnia.errors import Invalid
from polymnia.models import EntityDraft, Limits, legal_name, legal_text

__all__ = ["Taking"]

# Deeper than this, a value could be read here and still be too deep for the next program that holds it.
_DEEPEST = 200
_LINE = msgspec.json.Decoder(EntityLine | RelationLine)
_SHAPES: dict[Place, msgspec.json.Decoder[Any]] = {
    "entities": msgspec.json.Decoder(EntityItem),
    "relations": msgspec.json.Decoder(RelationItem),
    "lines": _LINE,
    "any": _LINE,
}
_LIST = msgspec.json.Decoder(list[Raw])
_SPACE = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+')
_DEEP = f"It is nested more than {_DEEPEST} levels deep"
_ARTICLE = {"entity": "an entity", "relation": "a relation"}
_EXPECTED: dict[Place, What] = {"entities": "entity", "relations": "relation"}
_HOME: dict[What, Section] = {"entity": "entities", "relation": "relations"}
_TAGS: dict[str, What] = {"entity": "entity", "relation": "relation"}


class Taking:
    """Takes items one after the other and keeps account of what was done with each."""

    def __init__(self, form: Form, limits: Limits, *, wary: bool) -> None:
        self.form = form
        self._limits = limits
        self._wary = wary
        self._entities: list[EntityDraft] = []
        self._relations: list[Link] = []
        self._extra: dict[str, Any] = {}
        self._unread: list[Unread] = []
        self._repaired: list[Finding] = []
        self._refused: list[Finding] = []
        self._at: dict[str, int] = {}
        self._grown: dict[int, tuple[list[str], set[str]]] = {}
        self._words: dict[str, str] = {}

    def take(self, raw: bytes | memoryview, place: Place, where: str | int) -> bool:
        """Take one item; False when it was left unread. Raises Flaw when it is not JSON."""
        try:
            item = _SHAPES[place].decode(raw)
        except UNFIT:
            return self._look_closely(bytes(raw), place, where)
        if (self._wary or len(raw) > min(self._limits.name_bytes, self._limits.text_bytes)) and (
            why := self._illegal(item)
        ):
            return self._leave(bytes(raw), place, where, why)
        if isinstance(item, EntityItem):
            self._add_entity(item, {}, where, place)
        else:
            self._add_relation(item, {})
        return True

    def document(self, members: Mapping[str, bytes]) -> None:
        """Take a whole document, given as its top-level keys and the JSON under each."""
        for key, raw in members.items():
            if section := SECTIONS.get(key):
                self.section(section, raw)
            else:
                self.keep(key, raw)

    def section(self, section: Listed, raw: bytes) -> None:
        """Take what a document has under ``entities`` or ``relations``."""
        opening = bytes(memoryview(raw)[:1])
        if opening == b"[":
            for index, item in enumerate(_LIST.decode(raw)):
                self.take(item, section, index)
        elif opening == b"{":
            self.repair(section, "An object keyed by name, not a list; its members were taken as the list.")
            for key, item in MEMBERS.decode(raw).items():
                self.keyed(key, bytes(item), section, f"{section}[{quoted(key)}]")
        elif opening == b"n":
            self.repair(section, "It is null; read as an empty list.")
        else:
            self.take(raw, section, section)

    def keyed(self, key: str, raw: bytes, section: Listed, where: str) -> bool:
        """Take an item whose name, or number, is the key it stands under."""
        own = "name" if section == "entities" else "id"
        try:
            value = msgspec.json.decode(raw)
        except UNFIT:
            rest = b"," + raw[1:] if raw[:1] == b"{" else b',"observations":%b}' % raw
            return self.take(b'{"%b":%b%b' % (own.encode(), _ascii(key), rest), section, where)
        if section == "entities" and not isinstance(value, dict):
            value = {"observations": value}
        if isinstance(value, dict) and own not in value:
            rest = ENCODER.encode(value)[1:]
            raw = b'{"%b":%b%b%b' % (own.encode(), _ascii(key), b"," if value else b"", rest)
        return self.take(raw, section, where)

    def keep(self, key: str, raw: bytes) -> None:
        """Keep a foreign key of a document; lines have no place for one but a line of its own."""
        member = b"{%b:%b}" % (_ascii(key), raw)
        if self.form == "lines":
            self._leave(member, "lines", quoted(key), "It is no entity or relation")
            return
        try:
            value = msgspec.json.decode(member)
        except UNFIT:
            from polymnia.engine.transfer.broken_text import judge

            self._leave(member, "document", quoted(key), judge(member))
            return
        if _too_deep(value):
            self._leave(member, "document", quoted(key), _DEEP)
        else:
            self._extra.setdefault(key, value[key])

    def repair(self, where: str, why: str) -> None:
        """Note something that was put right."""
        self._repaired.append(Finding(where, why))

    def refuse(self, where: str, why: str) -> None:
        """Note something that could not be taken."""
        self._refused.append(Finding(where, why))

    def done(self) -> GraphFile:
        """Everything taken, with the account of it."""
        for at, (observations, _) in self._grown.items():
            first = self._entities[at]
            self._entities[at] = EntityDraft(first.name, first.kind, tuple(observations), first.extra)
        names = self._at
        return GraphFile(
            form=self.form,
            entities=self._entities,
            relations=self._relations,
            extra=self._extra,
            unread=self._unread,
            report=Report(
                entities=len(self._entities),
                relations=len(self._relations),
                observations=sum(len(e.observations) for e in self._entities),
                dangling=sum(link[0] not in names or link[1] not in names for link in self._relations),
                repaired=self._repaired,
                refused=self._refused,
            ),
        )

    def _look_closely(self, raw: bytes, place: Place, where: str | int) -> bool:
        raw = raw.strip(b" \t\r\n")
        if not raw and place == "lines":
            return True
        try:
            value = msgspec.json.decode(raw)
        except UNFIT:
            from polymnia.engine.transfer.broken_text import judge

            return self._leave(raw, place, where, judge(raw))
        if not isinstance(value, dict):
            return self._leave(raw, place, where, f"It is {named(value)}, not an object")
        if len(raw) > _DEEPEST and _too_deep(value):
            return self._leave(raw, place, where, _DEEP)
        return self._take_odd(value, raw, place, where)

    def _take_odd(self, value: dict[str, Any], raw: bytes, place: Place, where: str | int) -> bool:
        repairs: list[Finding] = []
        tag = value.get("type")
        what: What | None = _EXPECTED.get(place)
        if what is None:
            what = _TAGS.get(tag.lower()) if isinstance(tag, str) else None
            if what is not None:
                del value["type"]
                if tag != what:
                    repairs.append(Finding(spot(place, where, "type"), f"It is {quoted(tag)}; read as {what}."))
            elif is_document(value):
                self.repair(spot(place, where), "A whole document among the items; its members were taken.")
                self.document(MEMBERS.decode(raw))
                return True
            elif "type" in value and place == "lines":
                return self._leave(raw, place, where, f"Its type is {quoted(tag)}, not entity or relation")
            elif what := shape(value):
                if place == "lines":
                    repairs.append(Finding(spot(place, where), f"It has no type; read as {_ARTICLE[what]}."))
            elif place == "any" and has(value, NAME_KEYS):
                what = "entity"
            else:
                return self._leave(raw, place, where, "It is neither an entity nor a relation")
        fits = has_ends(value) if what == "relation" else has(value, NAME_KEYS)
        if not fits and (other := shape(value)):
            wrong = f"It is {_ARTICLE[other]} where {_ARTICLE[what]} should be; read as what it is."
            repairs.append(Finding(spot(place, where), wrong))
            what = other
        mending = Mending(value, place, where, repairs)
        item = mending.relation() if what == "relation" else mending.entity()
        unfit = item if isinstance(item, str) else self._illegal(item)
        if unfit or isinstance(item, str):
            home: Section = _HOME[what] if place == "any" else place
            return self._leave(raw, place, where, unfit or "", home)
        if self.form == "lines" and value.pop("type", what) != what:
            repairs.append(Finding(spot(place, where, "type"), "A line has no place for it; left out."))
        self._repaired += repairs
        if isinstance(item, EntityItem):
            self._add_entity(item, value, where, place)
        else:
            self._add_relation(item, value)
        return True

    def _add_entity(self, item: EntityItem, extra: dict[str, Any], where: str | int, place: Place) -> None:
        count = len(self._entities)
        at = self._at.setdefault(item.name, count)
        kind = self._words.setdefault(item.kind, item.kind)
        if at == count:
            self._entities.append(EntityDraft(item.name, kind, item.observations, extra))
            return
        first = self._entities[at]
        if at not in self._grown:
            self._grown[at] = (list(first.observations), set(first.observations))
        observations, known = self._grown[at]
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
        self.repair(spot(place, where), why)

    def _add_relation(self, item: RelationItem, extra: dict[str, Any]) -> None:
        # Names and types are few and repeat: holding each once keeps large graphs small.
        word = self._words.setdefault
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

    def _leave(
        self, raw: bytes, place: Place, where: str | int, why: str, home: Section | None = None
    ) -> Literal[False]:
        section: Section = home or ("entities" if place == "any" else place)
        self.refuse(spot(place, where), f"{why}; left in the file as it is.")
        self._unread.append(Unread(section, _SPACE.sub(r"\1", raw.decode())))
        return False


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _ascii(text: str) -> bytes:
    """The text in JSON, any half of a surrogate pair as the escape it was read from."""
    if _encodable(text):
        return ENCODER.encode(text)
    import json

    return json.dumps(text).encode()


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True
