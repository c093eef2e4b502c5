"""The knowledge-graph files people have: reading all of one, and writing it so that their tools agree.

Two forms exist. A *document* is ``{"entities": [...], "relations": [...]}`` over many lines; *lines* is one
``{"type": "entity" | "relation", ...}`` a line. The name of a file does not tell them apart, for the npm
server has put lines into files called memory.json: the content decides.

:func:`read` takes a file that is JSON and raises BrokenFile for one that is not; :func:`recover` takes what
can be read of any bytes at all. Both mend what people and programs get wrong and say so in the report.
What has no place in a memory is kept as it is, and :func:`write` puts it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from polymnia.errors import BrokenFile, Invalid
from polymnia.models import EntityDraft, Limits, legal_name, legal_text

__all__ = [
    "Entity",
    "Finding",
    "Form",
    "GraphFile",
    "Link",
    "Report",
    "Section",
    "Unread",
    "detect",
    "read",
    "recover",
    "write",
]

Form = Literal["document", "lines"]
Section = Literal["entities", "relations", "lines", "document"]
# Where an item was found decides what it must be; "any" is a list that says nothing about its members.
Place = Literal["entities", "relations", "lines", "document", "any"]
# (source, target, type, foreign keys): what a store takes to make a relation.
Link: TypeAlias = tuple[str, str, str, dict[str, Any]]

# Deeper than this, a value could be read here and still be too deep for the next program that holds it.
DEEPEST = 200
CHUNK = 64 * 1024

What = Literal["entity", "relation"]
Listed = Literal["entities", "relations"]
SECTIONS: dict[str, Listed] = {"entities": "entities", "relations": "relations"}

NAME_KEYS = ("name", "entityName", "entity_name")
KIND_KEYS = ("entityType", "entity_type", "type", "kind")
OBSERVATION_KEYS = ("observations", "observation", "contents")
SOURCE_KEYS = ("from", "from_", "source", "fromEntity", "from_entity")
TARGET_KEYS = ("to", "to_", "target", "toEntity", "to_entity")
LINK_KEYS = ("relationType", "relation_type", "relationship", "relation", "type", "kind")


class Finding(Struct, frozen=True):
    """One thing the reader came upon: where it was, and in a sentence what it was and what was done."""

    where: str
    why: str


class Unread(Struct, frozen=True):
    """JSON no memory can be made of, on one line. A rewrite puts it back into its section.

    In the section "document" it is an object whose one member is a foreign key of the document itself,
    which no program in Python can hold as a value.
    """

    section: Section
    raw: str


class Report(Struct, frozen=True, kw_only=True):
    """What was taken from a file and what was not.

    ``dangling`` counts the relations, all of them taken, that name an entity the file does not have.
    """

    entities: int
    relations: int
    observations: int
    dangling: int
    repaired: list[Finding]
    refused: list[Finding]


class GraphFile(Struct, frozen=True, kw_only=True):
    """Everything a file holds. Names of entities are unique; relations repeat as often as in the file.

    ``extra`` has the foreign keys of a document, in their order.
    """

    form: Form
    entities: list[EntityDraft]
    relations: list[Link]
    extra: dict[str, Any]
    unread: list[Unread]
    report: Report


class Entity(Protocol):
    """What is written of an entity: a draft or a record, whichever is at hand."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def observations(self) -> tuple[str, ...]: ...
    @property
    def extra(self) -> dict[str, Any]: ...


class Flaw(BrokenFile):
    """Bytes that are not JSON: why, and at which of the bytes at hand. Only the whole file tells the line."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at


# The shapes of an item in good order. Whatever does not fit its shape exactly is looked at closely.
class _Entity(Struct, forbid_unknown_fields=True):
    name: str
    kind: str = field(name="entityType")
    observations: tuple[str, ...]


class _Relation(Struct, forbid_unknown_fields=True):
    source: str = field(name="from")
    target: str = field(name="to")
    type: str = field(name="relationType")


class _EntityLine(_Entity, tag_field="type", tag="entity"):
    pass


class _RelationLine(_Relation, tag_field="type", tag="relation"):
    pass


_LINE = msgspec.json.Decoder(_EntityLine | _RelationLine)
_SHAPES: dict[Place, msgspec.json.Decoder[Any]] = {
    "entities": msgspec.json.Decoder(_Entity),
    "relations": msgspec.json.Decoder(_Relation),
    "lines": _LINE,
    "any": _LINE,
}
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_LIST = msgspec.json.Decoder(list[Raw])
_ENCODER = msgspec.json.Encoder()
# What the decoder raises for bytes it does not take, be they JSON or not.
_UNFIT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


_DOCUMENT_START = re.compile(rb'\{\s*"(?:entities|relations)"\s*:')
_LINE_START = re.compile(rb'\{\s*"type"\s*:\s*"(?:entity|relation)"')
_SIGN = re.compile(
    rb'(?P<section>"(?:entities|relations)"\s*:\s*[\[{])'
    rb'|^[ \t]*\{[ \t]*"type"[ \t]*:[ \t]*"(?:entity|relation)"',
    re.MULTILINE,
)
_SPACE = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\r\n]+')
_INK = re.compile(rb"[^ \t\r\n]")
_DEEP = f"It is nested more than {DEEPEST} levels deep"
_ARTICLE = {"entity": "an entity", "relation": "a relation"}
_EXPECTED: dict[Place, What] = {"entities": "entity", "relations": "relation"}
_HOME: dict[What, Section] = {"entity": "entities", "relation": "relations"}
_TAGS: dict[str, What] = {"entity": "entity", "relation": "relation"}


def detect(data: bytes, path: str) -> Form:
    """Which form the bytes are in; an empty or new file gets the form its extension promises."""
    data, _, _ = _decoded(data)
    start = len(data) - len(data.lstrip(b" \t\r\n\0"))
    if start == len(data):
        return _promised(path)
    if _LINE_START.match(data, start):
        return "lines"
    if data[start] == ord("[") or _DOCUMENT_START.match(data, start):
        return "document"
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    try:
        first = msgspec.json.decode(memoryview(data)[start:end])
    except _UNFIT:
        # Spread over several lines, or damaged: what shows first of either form decides.
        sign = _SIGN.search(data, start)
        if sign is None:
            return _promised(path)
        return "document" if sign["section"] else "lines"
    if isinstance(first, dict):
        if is_document(first):
            return "document"
        if shape(first) or _INK.search(data, end):
            return "lines"
    return _promised(path)


def read(data: bytes, path: str, *, limits: Limits | None = None) -> GraphFile:
    """Take everything from a file that is JSON; BrokenFile says at which line and byte one is not.

    Items over the limits are left unread, so that one giant never keeps the rest of a file out.
    """
    form = detect(data, path)
    data, skipped, mark = _decoded(data)
    taking = Taking(form, limits or Limits(), wary=b"\\u0000" in data)
    if mark:
        taking.repair("line 1", mark)
    try:
        if form == "lines":
            _read_lines(data, taking)
        else:
            _read_document(data, taking)
    except Flaw as flaw:
        line, byte = data.count(b"\n", 0, flaw.at) + 1, flaw.at + skipped
        message = f"Failed to parse storage file: Invalid JSON at line {line}, byte {byte}: {flaw.message}"
        raise BrokenFile(message, path=path, line=line, byte=byte) from None
    return taking.done()


def recover(data: bytes, path: str, *, limits: Limits | None = None) -> GraphFile:
    """Take whatever can be read of the bytes, whole or damaged. Never raises for what they hold."""
    try:
        return read(data, path, limits=limits)
    except BrokenFile:
        # What was taken so far goes with the exception: a large file is not held twice.
        pass
    from polymnia.engine.transfer.recovery import salvage

    form = detect(data, path)
    data, skipped, mark = _decoded(data)
    # BrokenFile text can hold a bare NUL, which is no JSON and so goes unseen by the search for escapes.
    taking = Taking(form, limits or Limits(), wary=True)
    if mark:
        taking.repair("line 1", mark)
    salvage(data, taking, skipped)
    return taking.done()


def write(
    form: Form,
    entities: Iterable[Entity],
    relations: Iterable[Link],
    *,
    extra: Mapping[str, Any] | None = None,
    unread: Sequence[Unread] = (),
) -> Iterator[bytes]:
    """The file in pieces, letter by letter as ``JSON.stringify`` makes it; holds one piece at a time.

    Lines have no place for the foreign keys of a document: they leave ``extra`` out.
    """
    if form == "lines":
        return _pieces(_lines(entities, relations, unread))
    return _pieces(_document(entities, relations, extra or {}, unread))


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
        except _UNFIT:
            return self._look_closely(bytes(raw), place, where)
        if (self._wary or len(raw) > min(self._limits.name_bytes, self._limits.text_bytes)) and (
            why := self._illegal(item)
        ):
            return self._leave(bytes(raw), place, where, why)
        if isinstance(item, _Entity):
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
            for key, item in _MEMBERS.decode(raw).items():
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
        except _UNFIT:
            rest = b"," + raw[1:] if raw[:1] == b"{" else b',"observations":%b}' % raw
            return self.take(b'{"%b":%b%b' % (own.encode(), _ascii(key), rest), section, where)
        if section == "entities" and not isinstance(value, dict):
            value = {"observations": value}
        if isinstance(value, dict) and own not in value:
            rest = _ENCODER.encode(value)[1:]
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
        except _UNFIT:
            from polymnia.engine.transfer.recovery import judge

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
        except _UNFIT:
            from polymnia.engine.transfer.recovery import judge

            return self._leave(raw, place, where, judge(raw))
        if not isinstance(value, dict):
            return self._leave(raw, place, where, f"It is {named(value)}, not an object")
        if len(raw) > DEEPEST and _too_deep(value):
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
                    repairs.append(Finding(_spot(place, where, "type"), f"It is {quoted(tag)}; read as {what}."))
            elif is_document(value):
                self.repair(_spot(place, where), "A whole document among the items; its members were taken.")
                self.document(_MEMBERS.decode(raw))
                return True
            elif "type" in value and place == "lines":
                return self._leave(raw, place, where, f"Its type is {quoted(tag)}, not entity or relation")
            elif what := shape(value):
                if place == "lines":
                    repairs.append(Finding(_spot(place, where), f"It has no type; read as {_ARTICLE[what]}."))
            elif place == "any" and has(value, NAME_KEYS):
                what = "entity"
            else:
                return self._leave(raw, place, where, "It is neither an entity nor a relation")
        fits = _has_ends(value) if what == "relation" else has(value, NAME_KEYS)
        if not fits and (other := shape(value)):
            wrong = f"It is {_ARTICLE[other]} where {_ARTICLE[what]} should be; read as what it is."
            repairs.append(Finding(_spot(place, where), wrong))
            what = other
        mending = _Mending(value, place, where, repairs)
        item = mending.relation() if what == "relation" else mending.entity()
        unfit = item if isinstance(item, str) else self._illegal(item)
        if unfit or isinstance(item, str):
            home: Section = _HOME[what] if place == "any" else place
            return self._leave(raw, place, where, unfit or "", home)
        if self.form == "lines" and value.pop("type", what) != what:
            repairs.append(Finding(_spot(place, where, "type"), "A line has no place for it; left out."))
        self._repaired += repairs
        if isinstance(item, _Entity):
            self._add_entity(item, value, where, place)
        else:
            self._add_relation(item, value)
        return True

    def _add_entity(self, item: _Entity, extra: dict[str, Any], where: str | int, place: Place) -> None:
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
        self.repair(_spot(place, where), why)

    def _add_relation(self, item: _Relation, extra: dict[str, Any]) -> None:
        # Names and types are few and repeat: holding each once keeps large graphs small.
        word = self._words.setdefault
        at = self._at
        source = self._entities[at[item.source]].name if item.source in at else word(item.source, item.source)
        target = self._entities[at[item.target]].name if item.target in at else word(item.target, item.target)
        self._relations.append((source, target, word(item.type, item.type), extra))

    def _illegal(self, item: _Entity | _Relation) -> str | None:
        try:
            if isinstance(item, _Entity):
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
        self.refuse(_spot(place, where), f"{why}; left in the file as it is.")
        self._unread.append(Unread(section, _SPACE.sub(r"\1", raw.decode())))
        return False


class _Mending:
    """Makes a good item of an odd one. What stays behind in ``value`` are its foreign keys."""

    def __init__(self, value: dict[str, Any], place: Place, where: str | int, repairs: list[Finding]) -> None:
        self._value = value
        self._place = place
        self._where = where
        self._repairs = repairs

    def entity(self) -> _Entity | str:
        """The entity, or why there is none."""
        name = self._text(NAME_KEYS)
        if name is None:
            return "It is an entity without a name"
        return _Entity(name, self._word(KIND_KEYS), self._observations())

    def relation(self) -> _Relation | str:
        """The relation, or why there is none."""
        source, target = self._text(SOURCE_KEYS), self._text(TARGET_KEYS)
        if source is None or target is None:
            return f"It is a relation without {'a source' if source is None else 'a target'}"
        return _Relation(source, target, self._word(LINK_KEYS))

    def _text(self, keys: tuple[str, ...]) -> str | None:
        value = self._pop(keys)
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._repair(keys[0], f"It is the number {_text(value)}; read as text.")
            return _text(value)
        return None

    def _word(self, keys: tuple[str, ...]) -> str:
        value = self._pop(keys)
        if isinstance(value, str):
            return value
        if value is None:
            self._repair(keys[0], 'It is missing; read as "unknown".')
            return "unknown"
        self._repair(keys[0], f"It is {named(value)}; read as its JSON text.")
        return _text(value)

    def _observations(self) -> tuple[str, ...]:
        value = self._pop(OBSERVATION_KEYS)
        if value is None:
            self._repair("observations", "There is no list of them; read as none.")
            return ()
        if not isinstance(value, list):
            self._repair("observations", f"It is {named(value)}, not a list; read as one observation.")
            return (_text(value),)
        odd = [item for item in value if not isinstance(item, str)]
        if odd:
            kinds = " and ".join(dict.fromkeys(map(named, odd)))
            self._repair("observations", f"The list holds {kinds}; read as JSON text, null as nothing.")
        return tuple(_text(item) for item in value if item is not None)

    def _pop(self, keys: tuple[str, ...]) -> Any:
        """The value under the first of the keys that has one; an empty key before it goes too."""
        for key in keys:
            if self._value.get(key) is not None:
                if key != keys[0]:
                    self._value.pop(keys[0], None)
                    self._repair(key, f"It stands for {keys[0]} and was read as that.")
                return self._value.pop(key)
        self._value.pop(keys[0], None)
        return None

    def _repair(self, part: str, why: str) -> None:
        self._repairs.append(Finding(_spot(self._place, self._where, part), why))


def shape(value: Mapping[str, Any]) -> What | None:
    """What an object is by the keys it has, when nothing else tells."""
    named = has(value, NAME_KEYS)
    if named and has(value, ("entityType", "entity_type", *OBSERVATION_KEYS)):
        return "entity"
    if _has_ends(value):
        return "relation"
    return "entity" if named and has(value, KIND_KEYS) else None


def is_document(value: Mapping[str, Any]) -> bool:
    """Whether an object is a graph of its own."""
    return any(isinstance(value.get(key), (list, dict)) for key in SECTIONS)


def has(value: Mapping[str, Any], keys: Iterable[str]) -> bool:
    """Whether the object has one of the keys."""
    return any(key in value for key in keys)


def _has_ends(value: Mapping[str, Any]) -> bool:
    return has(value, SOURCE_KEYS) and has(value, TARGET_KEYS)


def named(value: object) -> str:
    """What a JSON value is called in a sentence."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a number"


def quoted(value: object) -> str:
    """A value of the file as a sentence shows it: JSON, cut where it would be too long to read."""
    text = f'"{value}"' if isinstance(value, str) else _text(value)
    text = text if len(text) <= 80 else f"{text[:76]}…{text[-1]}"
    return text.encode("utf-8", "backslashreplace").decode()


def _text(value: object) -> str:
    return value if isinstance(value, str) else _ENCODER.encode(value).decode()


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _ascii(text: str) -> bytes:
    """The text in JSON, any half of a surrogate pair as the escape it was read from."""
    if _encodable(text):
        return _ENCODER.encode(text)
    import json

    return json.dumps(text).encode()


def _spot(place: Place, where: str | int, part: str = "") -> str:
    if isinstance(where, str):
        return f"{where}, {part}" if part else where
    if place == "lines":
        return f"line {where}, {part}" if part else f"line {where}"
    section = "" if place == "any" else place
    return f"{section}[{where}].{part}" if part else f"{section}[{where}]"


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for parent in level
            if isinstance(parent, (dict, list))
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True


def _promised(path: str) -> Form:
    return "lines" if path.lower().endswith((".jsonl", ".ndjson")) else "document"


def _decoded(data: bytes) -> tuple[bytes, int, str | None]:
    """The bytes as UTF-8 without a mark, how many bytes the mark had, and a sentence about it if any."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:], 3, "The file began with a byte order mark; it was left out."
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
        return text.encode(), 0, "The file was in UTF-16; it was read as UTF-8."
    return data, 0, None


def _read_lines(data: bytes, taking: Taking) -> None:
    view = memoryview(data)
    start = number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        try:
            taking.take(view[start:end], "lines", number)
        except Flaw as flaw:
            indent = end - start - len(data[start:end].lstrip(b" \t\r\n"))
            raise Flaw(start + indent + flaw.at, flaw.message) from None
        start = end + 1


def _read_document(data: bytes, taking: Taking) -> None:
    if not _INK.search(data):
        return
    try:
        value = msgspec.json.decode(data, type=dict[str, Raw] | list[Raw] | str | float | bool | None)
    except _UNFIT:
        from polymnia.engine.transfer.recovery import judge, outline

        judge(data)
        outline(data.decode(), taking)
        return
    try:
        if isinstance(value, dict):
            if not value.keys() & SECTIONS and shape(value):
                taking.take(data, "any", "the file")
                return
            if value and not value.keys() & SECTIONS:
                taking.refuse("the file", "It has neither entities nor relations; its keys are kept.")
            taking.document(value)
        elif isinstance(value, list):
            taking.repair("the file", "It is a bare list; its items were taken as entities and relations.")
            for index, item in enumerate(value):
                taking.take(item, "any", index)
        elif value is None:
            taking.repair("the file", "It is null; read as an empty graph.")
        else:
            taking.take(data, "entities", "the file")
    except (Flaw, UnicodeDecodeError):
        from polymnia.engine.transfer.recovery import judge

        # An item that is not UTF-8: only the whole file tells at which byte.
        judge(data)
        raise


def _lines(entities: Iterable[Entity], relations: Iterable[Link], unread: Sequence[Unread]) -> Iterator[bytes]:
    separator = b""
    for e in entities:
        yield separator + _with(_EntityLine(e.name, e.kind, e.observations), e.extra)
        separator = b"\n"
    for source, target, type_, extra in relations:
        yield separator + _with(_RelationLine(source, target, type_), extra)
        separator = b"\n"
    for left in unread:
        yield separator + left.raw.encode()
        separator = b"\n"


def _document(
    entities: Iterable[Entity],
    relations: Iterable[Link],
    extra: Mapping[str, Any],
    unread: Sequence[Unread],
) -> Iterator[bytes]:
    yield b'{\n  "entities": '
    items = (_with(_Entity(e.name, e.kind, e.observations), e.extra) for e in entities)
    yield from _members(items, [left for left in unread if left.section in ("entities", "lines")])
    yield b',\n  "relations": '
    items = (_with(_Relation(source, target, type_), more) for source, target, type_, more in relations)
    yield from _members(items, [left for left in unread if left.section == "relations"])
    for key, value in extra.items():
        if key not in SECTIONS:
            yield b",\n  %b: %b" % (_ENCODER.encode(key), _indented(_ENCODER.encode(value), b"\n  "))
    for left in unread:
        if left.section == "document":
            yield b",\n  " + _indented(left.raw.encode(), b"\n")[1:-1].strip()
    yield b"\n}"


def _members(items: Iterable[bytes], unread: Sequence[Unread]) -> Iterator[bytes]:
    opening = b"["
    for item in items:
        yield opening + b"\n    " + _indented(item, b"\n    ")
        opening = b","
    for left in unread:
        yield opening + b"\n    " + _indented(left.raw.encode(), b"\n    ")
        opening = b","
    yield b"[]" if opening == b"[" else b"\n  ]"


def _with(item: Struct, extra: Mapping[str, Any]) -> bytes:
    """The item as JSON, its foreign keys after its own; a foreign key never hides one of its own."""
    encoded = _ENCODER.encode(item)
    if extra:
        own = _MEMBERS.decode(encoded)
        if more := {key: value for key, value in extra.items() if key not in own}:
            return encoded[:-1] + b"," + _ENCODER.encode(more)[1:]
    return encoded


def _indented(encoded: bytes, margin: bytes) -> bytes:
    try:
        return msgspec.json.format(encoded, indent=2).replace(b"\n", margin)
    except _UNFIT:
        # Half a surrogate pair, or nested too deeply to be laid out: it stays on one line.
        return encoded


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    gathered: list[bytes] = []
    size = 0
    for part in parts:
        gathered.append(part)
        size += len(part)
        if size >= CHUNK:
            yield b"".join(gathered)
            gathered.clear()
            size = 0
    if gathered:
        yield b"".join(gathered)
