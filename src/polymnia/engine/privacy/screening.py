"""Screening: everything that is about to be written is looked through for credentials, whichever way it came.

It stands between the verbs and the store: whatever writes a text passes it, so no tool, command or import can go around
it. What was stored before is left alone, and an undo brings back what was there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import asdict, replace

from polymnia.engine.content import check_room
from polymnia.engine.ports import Store, Transaction
from polymnia.errors import OverLimit, Refused
from polymnia.importing import importing
from polymnia.models import Author, EntityDraft, JsonObject, Limits, Note, Record, Relation, RelationDraft

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest

_MOST = 100  # findings that are reported
_BETWEEN = "\n\0\n"  # no text has a NUL, and no pattern reaches across it


class Screen:
    """What happens to credentials: ``manner`` is flag (they are reported), redact (they are masked) or refuse.

    ``found`` are the findings since this screen was made; a server makes one for every call.
    """

    def __init__(self, manner: str = "flag", limits: Limits | None = None) -> None:
        self.manner = manner
        self.limits = limits or Limits()
        self.found: list[JsonObject] = []
        self._seen: dict[str, str] = {}  # texts that were looked through, and what they became

    def forget(self) -> None:
        """A change is over: its texts need not be known any more."""
        self._seen.clear()

    def notes(self) -> list[Note]:
        """What was found, in words."""
        if not self.found:
            return []
        fields = ", ".join(dict.fromkeys(f"{one['field']} ({one['kind']})" for one in self.found))
        done = "masked before it was stored" if self.manner == "redact" else "stored as it is"
        return [Note("possible_credentials", f"What looks like a credential was {done}: {fields}.")]

    def text(self, text: str, field: str) -> str:
        """A text as it may be stored."""
        if text in self._seen:
            return self._seen[text]
        with importing():
            from polymnia.engine.privacy import secrets

        found = secrets.found(text)
        if found and self.manner == "refuse":
            kinds = ", ".join(dict.fromkeys(one.kind for one in found))
            raise Refused(
                f"{field} looks as if it held a credential ({kinds})",
                hint="Take it out, or start the server with --secrets flag or redact.",
            )
        for one in found[: _MOST - len(self.found)]:
            finding = {"field": field, "kind": one.kind, "start": one.start, "end": one.end, "shown": one.shown}
            self.found.append(finding)
        self._seen[text] = secrets.masked(text) if found and self.manner == "redact" else text
        return self._seen[text]

    def name(self, name: str, field: str) -> str:
        """A name as it may be stored. It is never masked: others would not find what they named."""
        if self.text(name, field) != name:
            raise Refused(
                f"{field} looks as if it held a credential, and a name cannot be masked",
                hint="Choose another name, or start the server with --secrets flag.",
            )
        return name

    def names(self, **names: str | None) -> None:
        """Refuse names kept beside the memories (of a project, of whoever calls), unless they are only reported."""
        if self.manner != "flag":
            for field, name in names.items():
                if name is not None:
                    self.name(name, field)

    def value(self, value: Any, field: str) -> Any:
        """The same for whatever JSON holds, keys included."""
        if isinstance(value, dict):
            check_room(value, self.limits)
        return self._looked_at(value, field)

    def _looked_at(self, value: Any, field: str) -> Any:
        if isinstance(value, str):
            return self.text(value, field)
        if isinstance(value, dict):
            self._count(value.values(), field)
            return {
                (shown := self.text(key, f"{field} key") if isinstance(key, str) else key): self._looked_at(
                    inner, f"{field}.{shown}"
                )
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            self._count(value, field)
            return type(value)(self._looked_at(inner, f"{field}[{i}]") for i, inner in enumerate(value))
        return value

    def _count(self, values: Collection[Any], field: str) -> None:
        """Refuse more than one call may bring: each text is looked through, so a million of them would take minutes."""
        texts = sum(isinstance(value, str | dict | list) for value in values)
        if texts > self.limits.batch:
            raise OverLimit(field, texts, "items", self.limits.batch, "max_batch")

    def drafts(self, drafts: Sequence[EntityDraft]) -> list[EntityDraft]:
        """Memories as they may be stored."""
        if self._clear(text for one in drafts for text in _texts(one)):
            return list(drafts)
        return [self._draft(one) for one in drafts]

    def _draft(self, one: EntityDraft) -> EntityDraft:
        is_content = one.name == one.uid
        if not is_content:
            self.name(one.name, "name")
        for path, field in ((one.scope, "scope"), (one.session, "session")):
            if path is not None:
                self.name(path, field)
        observed = tuple(
            self.text(text, "content" if is_content else f"{one.name}: observations[{at}]")
            for at, text in enumerate(one.observations)
        )
        fields = ("extra", "category", "summary", "tags", "metadata")
        rest = {field: self._looked_at(getattr(one, field), field) for field in fields}
        return replace(one, kind=self.text(one.kind, "type"), observations=observed, **rest)

    def observations(self, items: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, Sequence[str]]]:
        """Observations to add, each item with what they are added to, as they may be stored."""
        if self._clear(text for _, texts in items for text in texts):
            return list(items)
        return [
            (name, [self.text(text, f"{name}: observations[{at}]") for at, text in enumerate(texts)])
            for name, texts in items
        ]

    def relations(self, drafts: Sequence[RelationDraft]) -> Sequence[RelationDraft]:
        """Relations as they may be stored."""
        if self._clear(text for one in drafts for text in _texts_in(asdict(one))):
            return drafts
        return [self._relation(one) for one in drafts]

    def _relation(self, one: RelationDraft) -> RelationDraft:
        self.name(one.source, "from")
        self.name(one.target, "to")
        rest = {field: self._looked_at(getattr(one, field), field) for field in ("context", "metadata", "extra")}
        return replace(one, type=self.text(one.type, "relationType"), **rest)

    def know(self, record: Record) -> None:
        """What a memory says already may stay as it is."""
        for text in _texts(record):
            self._seen.setdefault(text, text)

    def _clear(self, texts: Iterable[str]) -> bool:
        """Whether nothing is found in any of many texts: one look at all of them costs little more than at one."""
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        if new:
            with importing():
                from polymnia.engine.privacy import secrets

            if secrets.found(_BETWEEN.join(new)):
                return False
            self._seen.update(zip(new, new, strict=True))
        return all(self._seen[text] == text for text in new)


def _texts(one: EntityDraft | Record) -> Iterator[str]:
    """Every text of a memory."""
    yield from (text for text in (one.name, one.kind, one.scope, one.session, one.category, one.summary) if text)
    yield from one.observations
    yield from one.tags
    yield from _texts_in(one.metadata)
    yield from _texts_in(one.extra)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)


def screened(store: Store, screen: Screen) -> Store:
    """A store whose writes are screened."""
    return cast(Store, _ScreenedStore(store, screen))


class _ScreenedStore:
    """Hands out screened transactions; everything else is the store's own."""

    def __init__(self, inner: Store, screen: Screen) -> None:
        self._inner = inner
        self._screen = screen
        self.read = inner.read

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def write(self, project: str, who: Author | str, action: str) -> Iterator[Transaction]:
        try:
            self._screen.names(project=project)
            with self._inner.write(project, who, action) as tx:
                yield cast(Transaction, Screened(tx, self._screen))
        finally:
            self._screen.forget()

    def mend(self, tx: Transaction | None, kinds: Collection[str], asked: CheckRequest) -> dict[str, int]:
        return self._inner.mend(tx.inner if isinstance(tx, Screened) else tx, kinds, asked)


class Screened:
    """A transaction whose new texts are screened; everything else is the transaction's own.

    A test holds that each of its primitives is either here or brings no text.
    """

    def __init__(self, inner: Transaction, screen: Screen) -> None:
        self.inner = inner
        self._screen = screen

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def _know(self, id: int) -> None:
        """What a memory says already may stay as it is."""
        for old in self.inner.load([id]):
            self._screen.know(old)

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        """Store new records."""
        return self.inner.add_records(self._screen.drafts(drafts))

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        """Give a record a new kind and new observations."""
        self._know(id)
        (screened,) = self._screen.drafts([draft])
        return self.inner.replace_record(id, screened)

    def add_observations(self, additions: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Append observations to records."""
        texts = self._screen.observations([("", texts) for _, texts in additions])
        self.inner.add_observations([(id, more) for (id, _), (_, more) in zip(additions, texts, strict=True)])

    def add_relations(self, relations: Iterable[tuple[str, str, str, JsonObject]]) -> list[Relation]:
        """Store relations given as (source, target, type, extra keys)."""
        screened = self._screen.relations([RelationDraft(s, t, k, extra=extra) for s, t, k, extra in relations])
        return self.inner.add_relations((one.source, one.target, one.type, one.extra) for one in screened)

    def relate(self, drafts: Iterable[RelationDraft]) -> list[Relation]:
        """Store relations that carry more than their ends."""
        return self.inner.relate(self._screen.relations(list(drafts)))

    def set_extra(self, id: int, extra: JsonObject) -> None:
        """Replace the foreign keys a record carries."""
        self._know(id)
        self.inner.set_extra(id, self._screen.value(extra, "extra"))

    def revise(self, id: int, changes: Mapping[str, Any]) -> bool:
        """Give a record other values in some of its columns."""
        self._know(id)
        screened: JsonObject = {}
        for column, value in changes.items():
            if column in ("scope", "session"):
                screened[column] = value if value is None else self._screen.name(value, column)
            else:
                screened[column] = self._screen.value(value, column)
        return self.inner.revise(id, screened)

    def add_session(self, name: str) -> None:
        """Begin a session."""
        self.inner.add_session(self._screen.name(name, "session_id"))
