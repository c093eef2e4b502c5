"""Screening: checks everything that is written for credentials.

It sits between the verbs and the store, so no tool, command or import can bypass it. Texts stored earlier are not
checked, and an undo restores them unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import asdict, replace

from polymnia.engine.content import check_room
from polymnia.engine.ports import Store, Transaction
from polymnia.errors import Interrupted, OverLimit, Refused
from polymnia.importing import importing
from polymnia.models import Author, EntityDraft, JsonObject, Limits, Record, Relation, RelationDraft

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest

_MAX_FINDINGS = 100
_BETWEEN = "\n\0\n"  # no text contains a NUL, and no pattern matches across it


class Screen:
    """Handles credentials: ``manner`` is flag (report them), redact (mask them) or refuse.

    ``found`` has the findings since this screen was created; a server creates one per call.
    """

    def __init__(self, manner: str = "flag", limits: Limits | None = None) -> None:
        self.manner = manner
        self.limits = limits or Limits()
        self.found: list[JsonObject] = []
        self._seen: dict[str, str] = {}  # text → its screened form

    def forget(self) -> None:
        """Drop the cached texts at the end of a change."""
        self._seen.clear()

    def text(self, text: str, field: str) -> str:
        """Screen a text and return it as it may be stored."""
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
        for one in found[: _MAX_FINDINGS - len(self.found)]:
            finding = {"field": field, "kind": one.kind, "start": one.start, "end": one.end, "shown": one.shown}
            self.found.append(finding)
        self._seen[text] = secrets.masked(text) if found and self.manner == "redact" else text
        return self._seen[text]

    def name(self, name: str, field: str) -> str:
        """Screen a name. It is never masked but refused, because a masked name could not be looked up."""
        if self.text(name, field) != name:
            raise Refused(
                f"{field} looks as if it held a credential, and a name cannot be masked",
                hint="Choose another name, or start the server with --secrets flag.",
            )
        return name

    def names(self, **names: str | None) -> None:
        """Screen names stored outside the memories (of the project, of the caller), unless ``manner`` is flag."""
        if self.manner != "flag":
            for field, name in names.items():
                if name is not None:
                    self.name(name, field)

    def value(self, value: Any, field: str) -> Any:
        """Screen a JSON value, including its keys."""
        if isinstance(value, dict):
            check_room(value, self.limits)
        return self._screened(value, field)

    def _screened(self, value: Any, field: str) -> Any:
        if isinstance(value, str):
            return self.text(value, field)
        if isinstance(value, dict):
            self._count(value.values(), field)
            return {
                (shown := self.text(key, f"{field} key") if isinstance(key, str) else key): self._screened(
                    inner, f"{field}.{shown}"
                )
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            self._count(value, field)
            return type(value)(self._screened(inner, f"{field}[{i}]") for i, inner in enumerate(value))
        return value

    def _count(self, values: Collection[Any], field: str) -> None:
        """Refuse more items than the batch limit: screening a million texts would take minutes."""
        texts = sum(isinstance(value, str | dict | list) for value in values)
        if texts > self.limits.batch:
            raise OverLimit(field, texts, "items", self.limits.batch, "max_batch")

    def drafts(self, drafts: Sequence[EntityDraft]) -> list[EntityDraft]:
        """Screen memories."""
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
        rest = {field: self._screened(getattr(one, field), field) for field in fields}
        return replace(one, kind=self.text(one.kind, "type"), observations=observed, **rest)

    def observations(self, items: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, Sequence[str]]]:
        """Screen observations to add, each item with the name they are added to."""
        if self._clear(text for _, texts in items for text in texts):
            return list(items)
        return [
            (name, [self.text(text, f"{name}: observations[{at}]") for at, text in enumerate(texts)])
            for name, texts in items
        ]

    def relations(self, drafts: Sequence[RelationDraft]) -> Sequence[RelationDraft]:
        """Screen relations."""
        if self._clear(text for one in drafts for text in _texts_in(asdict(one))):
            return drafts
        return [self._relation(one) for one in drafts]

    def _relation(self, one: RelationDraft) -> RelationDraft:
        self.name(one.source, "from")
        self.name(one.target, "to")
        rest = {field: self._screened(getattr(one, field), field) for field in ("context", "metadata", "extra")}
        return replace(one, type=self.text(one.type, "relationType"), **rest)

    def know(self, record: Record) -> None:
        """Accept the texts that a memory already has."""
        for text in _texts(record):
            self._seen.setdefault(text, text)

    def _clear(self, texts: Iterable[str]) -> bool:
        """Whether none of the texts has a finding; screening them joined costs little more than screening one."""
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        if new:
            with importing():
                from polymnia.engine.privacy import secrets

            if secrets.found(_BETWEEN.join(new)):
                return False
            self._seen.update(zip(new, new, strict=True))
        return all(self._seen[text] == text for text in new)


def _texts(one: EntityDraft | Record) -> Iterator[str]:
    """All texts of a memory."""
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
    """Wrap a store so that its writes are screened."""
    return cast(Store, _ScreenedStore(store, screen))


class _ScreenedStore:
    """Opens screened transactions; everything else is delegated to the store."""

    def __init__(self, inner: Store, screen: Screen) -> None:
        self._inner = inner
        self._screen = screen
        self.read = inner.read

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def write(self, project: str, who: Author | str, action: str) -> Iterator[Transaction]:
        again = False
        try:
            self._screen.names(project=project)
            with self._inner.write(project, who, action) as tx:
                yield cast(Transaction, Screened(tx, self._screen))
        except Interrupted:
            again = True  # the same texts come once more, and are not reported once more
            raise
        finally:
            if not again:
                self._screen.forget()

    def repair(self, tx: Transaction | None, kinds: Collection[str], asked: CheckRequest) -> dict[str, int]:
        return self._inner.repair(tx.inner if isinstance(tx, Screened) else tx, kinds, asked)


class Screened:
    """A transaction that screens new texts; everything else is delegated.

    A test checks that every primitive is either overridden here or takes no text.
    """

    def __init__(self, inner: Transaction, screen: Screen) -> None:
        self.inner = inner
        self._screen = screen

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def _know(self, id: int) -> None:
        """Accept the texts that a memory already has."""
        for old in self.inner.load([id]):
            self._screen.know(old)

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        """Store new records."""
        return self.inner.add_records(self._screen.drafts(drafts))

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        """Replace a record's kind and observations."""
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
        """Store relations with all their fields."""
        return self.inner.relate(self._screen.relations(list(drafts)))

    def set_extra(self, id: int, extra: JsonObject) -> None:
        """Replace the foreign keys of a record."""
        self._know(id)
        self.inner.set_extra(id, self._screen.value(extra, "extra"))

    def revise(self, id: int, changes: Mapping[str, Any]) -> bool:
        """Update some columns of a record."""
        self._know(id)
        screened: JsonObject = {}
        for column, value in changes.items():
            if column in ("scope", "session"):
                screened[column] = value if value is None else self._screen.name(value, column)
            else:
                screened[column] = self._screen.value(value, column)
        return self.inner.revise(id, screened)

    def add_session(self, name: str) -> None:
        """Start a session."""
        self.inner.add_session(self._screen.name(name, "session_id"))
