"""The data model, and the rules for which text is legal and when two texts are the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from polymnia.errors import BadText, Invalid, OverLimit

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""

Origin = Literal["manual", "auto"]

DEFAULT_SCOPE = "user/default"
"""The path of memories that were given no other scope. Their ``scope`` is None."""

# Values that exist by the hundred thousand are not tracked by the garbage collector (gc=False): they form no
# cycles, and traversing them would cost more than creating them.


class Record(Struct, frozen=True, kw_only=True, gc=False):
    """One memory. Its name is unique within its project; its observations are in the order they were added.

    A graph entity is a record whose author chose the name; a document or note is a record whose name is its
    id and whose single observation is its content. Times are microseconds since 1970, UTC.
    """

    id: int
    uid: str
    name: str
    kind: str
    observations: tuple[str, ...] = ()
    scope: str | None = None
    session: str | None = None
    category: str | None = None
    content_type: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)
    created: int = 0
    updated: int = 0
    version: int = 1

    @property
    def path(self) -> str:
        """The path of its scope."""
        return DEFAULT_SCOPE if self.scope is None else self.scope


class Relation(Struct, frozen=True, kw_only=True, gc=False):
    """A directed, typed link between two names of one project. No record need exist at either end."""

    id: int
    source: str
    target: str
    type: str
    strength: float | None = None
    context: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)
    origin: Origin = "manual"
    created: int = 0

    @property
    def uid(self) -> str:
        """The relation's public id."""
        return f"relation_{self.id:x}"

    @property
    def ends(self) -> tuple[str, str, str]:
        """The identity of a relation: source, target and type."""
        return (self.source, self.target, self.type)


class EntityDraft(Struct, frozen=True, gc=False):
    """The input for a new record: the store adds id, times and version."""

    name: str
    kind: str
    observations: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=dict)
    scope: str | None = None
    session: str | None = None
    category: str | None = None
    content_type: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    uid: str | None = None  # set, with times and version, for a record from elsewhere
    created: int | None = None
    updated: int | None = None
    version: int = 1


class RelationDraft(Struct, frozen=True, gc=False):
    """The input for a new relation with more than its ends: strength, context, metadata and origin."""

    source: str
    target: str
    type: str
    strength: float | None = None
    context: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)
    origin: Origin = "manual"
    created: int | None = None


class Session(Struct, frozen=True, gc=False):
    """A period of work whose memories are stored, and may be removed, together. Times as in a record."""

    name: str
    created: int
    used: int
    memories: int = 0


class Text(Struct, frozen=True, kw_only=True, gc=False):
    """One searchable text: an observation with the head of its memory, or the head alone (``body`` is None).

    ``bare`` marks the head of a memory without observations.
    """

    id: int
    memory: int
    name: str
    kind: str
    body: str | None
    session: str | None
    created: int
    tags: tuple[str, ...] = ()
    category: str | None = None
    summary: str | None = None
    bare: bool = False
    scope: str | None = None


class Passage(Struct, frozen=True, gc=False):
    """A part of a text in the word index. All numbers, so that a million of them fit into memory.

    ``embeds`` is whether it gets a vector, ``weight`` its weight in ranking in percent.
    """

    text: int
    memory: int
    part: int
    terms: dict[str, int]
    length: int
    thread: int = 0
    day: int = 0
    script: int = 0
    embeds: bool = True
    weight: int = 100


class Note(Struct, frozen=True):
    """Something worth reporting that did not stop the call, such as a look-alike name."""

    code: str
    text: str


class Remark(Struct, frozen=True):
    """A note as the engine reports it: a code, and the values of its sentence. Dialects put it into words.

    The code of an analysis begins with the area whose words it has, as in ``activity.no_changes``. A value may be a
    remark that is passed on.
    """

    code: str
    values: JsonObject = field(default_factory=dict)


class Filters(Struct, frozen=True, kw_only=True):
    """The conditions a memory must meet to be found. All that are set must hold; a list matches any of its values.

    ``scope`` is exactly that scope, or with ``scopes_below`` that scope and everything below it. ``session`` selects
    its memories and those of no session, or with ``only_session`` its own alone; without a session, only memories of
    no session match unless ``any_session``. ``who`` is part of the name of whoever stored it, or of its speaker,
    whatever the case. Times are microseconds since 1970, UTC, the end excluded.
    """

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    all_tags: bool = False
    scope: str | None = None
    scopes_below: bool = False
    session: str | None = None
    any_session: bool = True
    only_session: bool = False
    created_from: int | None = None
    created_to: int | None = None
    updated_from: int | None = None
    updated_to: int | None = None
    metadata: JsonObject = field(default_factory=dict)
    who: str | None = None

    @property
    def empty(self) -> bool:
        """Whether no condition is set, so that everything passes."""
        return self == _EVERYTHING


_EVERYTHING = Filters()


class Graph(Struct, frozen=True):
    """Records and the relations among them, both in creation order.

    ``next`` is the cursor of the next page, or None on the last one.
    """

    records: list[Record]
    relations: list[Relation]
    next: str | None = None
    notes: list[Remark] = []


class Author(Struct, frozen=True):
    """Who makes a change, and through what.

    ``account`` is the authenticated key or OAuth user, None if the server requires none; ``user`` is its name, or the
    user the caller claims to act for. The library sets a user only.
    """

    user: str | None = None
    account: str | None = None
    client: str | None = None
    dialect: str | None = None
    tool: str | None = None

    @property
    def who(self) -> str:
        """The author in one line, as shown in histories and analyses."""
        client = f"{self.client} ({self.dialect})" if self.client and self.dialect else self.client
        return f"{self.user} via {client}" if self.user and client else self.user or client or "unknown"


class Change(Struct, frozen=True, kw_only=True):
    """One entry of the journal: a whole call, applied and undone as a unit.

    ``who`` is its author in one line; ``account``, ``client``, ``dialect`` and ``tool`` are as in :class:`Author`,
    None if unknown.
    """

    id: int
    at: int
    who: str
    action: str
    undoes: int | None = None
    undone_by: int | None = None
    account: str | None = None
    client: str | None = None
    dialect: str | None = None
    tool: str | None = None


class Touch(Struct, frozen=True, gc=False):
    """One effect of a change on one memory. ``memory`` is its id, ``at`` a time in microseconds, ``action`` the call.

    ``how`` is ``made``, ``changed``, ``deleted`` or ``restored``; a memory changes when its texts or its head do, not
    when a relation of it does. ``session`` is the session the memory belongs to, or last belonged to.
    """

    memory: int
    at: int
    who: str
    action: str
    how: str
    session: str | None = None


class RelationTouch(Struct, frozen=True, gc=False):
    """One effect of a change on one relation: ``how`` is ``made``, ``deleted`` or ``restored``; the ends are names."""

    how: str
    source: str
    target: str
    type: str
    origin: Origin = "manual"


class Seen(Struct, frozen=True, gc=False):
    """How often a user read one memory within an hour: opened it by name or id, or found it by a search.

    ``hour`` is the start of the hour, in microseconds.
    """

    memory: int
    hour: int
    who: str
    opened: int
    found: int


class Event(Struct, frozen=True, kw_only=True):
    """What one change did to one memory: the content of a line of its history."""

    change: Change
    version: int | None
    created: bool = False
    deleted: bool = False
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    unrelated: tuple[str, ...] = ()
    changed: JsonObject = field(default_factory=dict)


def new_id() -> str:
    """Return a new public id: a random UUID, so that its first eight characters identify it.

    It starts with a letter, so that YAML and spreadsheets do not read its beginning as a number.
    """
    number = int.from_bytes(os.urandom(16), "big")
    number = number & ~(0xF << 76) & ~(0x3 << 62) | 0x4 << 76 | 0x2 << 62
    h = f"{number:032x}"
    return f"{'abcdef'[int(h[0], 16) % 6]}{h[1:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


# ── legal text, and comparing texts and names ─────────────────────────────────────────────────────────


def closest(name: str, names: Iterable[str]) -> str | None:
    """The existing name most likely intended by a missing one; None if none is close."""
    from difflib import get_close_matches

    plain = {one.casefold(): one for one in names}
    found = get_close_matches(name[:200].casefold(), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


class Limits(Struct, frozen=True):
    """Sizes no caller reaches by accident. A call that exceeds one of them is refused as a whole."""

    text_bytes: int = 5 * 1024 * 1024
    name_bytes: int = 64 * 1024
    batch: int = 10_000
    import_bytes: int = 2 * 1024 * 1024 * 1024
    inline_bytes: int = 4 * 1024 * 1024  # of an archive sent within a message


def legal_text(text: str, where: str, limit: int, setting: str = "max_text_bytes") -> str:
    """Return the text if it may be stored: any Unicode except NUL and lone surrogates, within the limit."""
    if not isinstance(text, str):
        raise Invalid(f"{where} must be a text, not {type(text).__name__}", field=where)
    if "\0" in text:
        raise BadText(where, "a NUL character (U+0000)")
    try:
        # A character takes at most four bytes, so short texts need not be encoded to be measured.
        if len(text) * 4 > limit and (size := len(text.encode())) > limit:
            raise OverLimit(where, size, "bytes", limit, setting)
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError as e:
        raise BadText(where, f"a lone surrogate (U+{ord(text[e.start]):04X})") from None
    return text


SHORTEST_ID = 8
"""Characters of the beginning of an id that may stand for it, and of an id that are searched for."""


def legal_name(text: str, where: str, limits: Limits) -> str:
    """Like legal_text, with the limit for names, which are indexed whole."""
    if limits.text_bytes < limits.name_bytes:
        return legal_text(text, where, limits.text_bytes)
    return legal_text(text, where, limits.name_bytes, "max_name_bytes")


def legal_project(name: str) -> str:
    """Return the name of a project if it may be one."""
    if len(name) > _PROJECT:
        raise Invalid(f"The project's name has {len(name)} characters, over {_PROJECT}", field="project")
    return legal_text(name, "project", 4 * _PROJECT)


_PROJECT = 200  # characters


def fold(text: str) -> str:
    """The form of a text for case-insensitive comparison.

    Case folding is Unicode's, so "STRASSE" finds "Straße". A text not in composed form (NFC) has both
    forms, separated by NUL, which no text may contain, so that it is found either way.
    """
    return "\0".join(folded_forms(text))


def folded_forms(text: str) -> tuple[str, ...]:
    """The folded forms of a text: composed, and as written if that differs."""
    if text.isascii():
        return (text.lower(),)
    from unicodedata import is_normalized, normalize

    if is_normalized("NFC", text):
        return (text.casefold(),)
    return (normalize("NFC", text).casefold(), text.casefold())


# Characters easily mistaken for a Latin one, each followed by what it looks like.
_HOMOGLYPHS = (
    "аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl кk мm тt вb нh "  # Cyrillic, folded to lower case
    "αa εe ηn ιi κk νv οo ρp τt υu χx ωw γy "  # Greek
    "օo սu ոn հh ցg ıi ɑa ɡg ‐- ‑- ‒- –- —- −- ’' ‘' ´' `'"
)
_looks: dict[int, str | None] = {}


def skeleton(name: str) -> str:
    """What a name looks like: two names with the same skeleton are easily confused.

    Case, width, invisible characters, runs of white space and letters that look like Latin ones are normalised.
    """
    if name.isascii() and name.isprintable():
        return " ".join(name.lower().split()) if " " in name else name.lower()
    from unicodedata import category, normalize

    if not _looks:
        _looks.update((ord(pair[0]), pair[1]) for pair in _HOMOGLYPHS.split())
    spaced = "".join(" " if c.isspace() else c for c in name)
    shown = normalize("NFKC", normalize("NFKC", spaced).casefold()).translate(_looks)
    return " ".join("".join(c for c in shown if category(c) not in ("Cf", "Mn", "Cc")).split())


# ── the same text ─────────────────────────────────────────────────────────────────────────────────────
#
# Only differences that provably carry no meaning are normalised. Anything not listed here makes two texts different:
# a word, its position, a number, a sign, the case of a letter. Storing a text twice costs a line; dropping one that
# said something else loses it.

_LONG = 20_000  # characters; in longer texts only the ends and the line breaks are normalised
# Layout and quotes may carry meaning in code: brackets, back quotes, operators, indentation, calls, quoted blanks.
# Texts with any of these are left as they are. Patterns are compiled on first use, not at startup.
_CODE = r"[`{}\[\]<>=\\|\t]|(?<=\w)\(|[\"'“”‘’]\s*[\"'“”‘’]|\n |\A [^\n]*\n"
_IDENTIFIER = r"[_/@#]|[.:]\w|[a-z][A-Z]"
_TYPOGRAPHY = str.maketrans(
    {"“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "‑": "-"} | dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")
)
_CONTRACTED = r"\b(\w+)n't\b|(?<=[A-Za-z])'(re|ve|ll|m)\b"
_ENDINGS = {"re": " are", "ve": " have", "ll": " will", "m": " am"}
_IRREGULAR = {"ca": "cannot", "wo": "will not", "sha": "shall not"}
_FIRST = r"([^\W\d_])([^\W\d_]+) "
_LAST = r"\W?[^\W_]+(?:['-][^\W_]+)*"


def normal(text: str) -> str:
    """The normal form of a text, which it shares with all texts that say exactly the same.

    Normalised in every text: Unicode composition (NFC), line breaks, white space at the ends. In prose also: runs of
    white space, typographic quotes, invisible characters, contractions, a final full stop, and the capital of an
    ordinary first word.
    """
    if text.isascii():
        shown = text
    else:
        from unicodedata import normalize

        shown = normalize("NFC", text)
    shown = shown.replace("\r\n", "\n").rstrip().lstrip("\n\ufeff")
    if len(text) > _LONG or re.search(_CODE, shown):
        return shown
    if not shown.isascii():
        shown = shown.translate(_TYPOGRAPHY)
    if "'" in shown:
        shown = re.sub(_CONTRACTED, _written_out, shown)
    shown = " ".join(shown.split())
    if shown.endswith((".", "。")) and re.fullmatch(_LAST, shown[:-1].rpartition(" ")[2]):
        shown = shown[:-1]
    first = re.match(_FIRST, shown)
    if first is not None and first[1].isupper() and first[2].islower() and not re.search(_IDENTIFIER, shown):
        shown = first[1].lower() + shown[1:]
    return shown


def _written_out(found: re.Match[str]) -> str:
    verb, ending = found.groups()
    if verb is None:
        return _ENDINGS[ending]
    irregular = _IRREGULAR.get(verb[0].lower() + verb[1:])
    return f"{verb} not" if irregular is None else verb[0] + irregular[1:]
