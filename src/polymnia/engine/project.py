"""One project of a store, as one author sees it: the base of all verbs, and how a change is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from polymnia.engine.access import Grant, Guarded
from polymnia.engine.once import Answered
from polymnia.engine.privacy.screening import Screen, screened
from polymnia.errors import Interrupted, NotAllowed, Refused
from polymnia.models import Author, legal_project

if TYPE_CHECKING:
    from polymnia.engine.graph import Policy
    from polymnia.engine.once import Once
    from polymnia.engine.ports import Store, Transaction
    from polymnia.engine.reads import ReadCounter
    from polymnia.engine.search import LazySearch
    from polymnia.engine.search.neighbours import EmbeddedText
    from polymnia.models import Limits

T = TypeVar("T")
Step = Callable[[int, int], None]
"""Called with the number of finished items and the total; may raise to cancel."""

_LONG = 200_000  # characters of a change that a store indexes within the change
_PAUSES = (0.0, 0.05, 0.2, 0.5)  # seconds before an interrupted change is made again


class Project:
    """One project of one store, for one author."""

    store: Store
    finding: LazySearch
    author: Author
    policy: Policy
    limits: Limits
    exports: str
    once: Once | None
    reads: ReadCounter | None
    grant: Grant
    screen: Screen
    unscreened: Store
    _project: str | None
    _begin: Callable[[], None] | None = None
    made: list[int] | None = None
    """The numbers of the changes that were made, for a memory of one call."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write pending read counts, and close the search and the store."""
        if self.reads is not None:
            self.reads.close()
        self.finding.close()
        self.store.close()

    @property
    def project(self) -> str:
        """The name of the project; raises Refused if the key opens several and the call names none."""
        if self._project is None:
            projects = sorted(self.grant.projects or ())
            raise Refused(
                f"This key opens several projects ({', '.join(map(repr, projects))}), and the call names none of them",
                hint="Name one: as project_id where the tool has it, or in the address: /mcp?project=NAME.",
                projects=projects,
            )
        return self._project

    @property
    def own_project(self) -> str | None:
        """The name of the project; None if the key opens several."""
        return self._project

    @property
    def who(self) -> str:
        """The author of changes, as text."""
        return self.author.who

    def limited(self, grant: Grant, project: str | None = None) -> Self:
        """The same memory, limited to what a grant allows.

        ``project`` defaults to the only one the grant covers; if there are several, every verb requires one.
        """
        if grant.projects is not None and not grant.projects:
            raise NotAllowed("This key opens no project", hint="Ask for a key that opens one.")
        if project is None and grant.projects is None:
            project = self.project
        elif project is None and grant.projects is not None and len(grant.projects) == 1:
            (project,) = grant.projects
        return self._as(store=Guarded(self.unscreened, grant), project=project, who=self.author, grant=grant)

    def for_one_call(self, *, writes: bool = True, begin: Callable[[], None] | None = None) -> Self:
        """The same memory for one call, which collects the changes it makes and notes about credentials in its texts.

        ``begin`` is called when a change is about to be made, and may raise to cancel it.
        """
        if not writes and self.screen.manner == "flag":
            return self  # nothing will be screened
        other = self._as(
            project=self._project, who=self.author, once=self.once, screen=Screen(self.screen.manner, self.limits)
        )
        other._begin = begin
        other.made = []
        return other

    def once_for(self, id: str, request: bytes) -> Self:
        """The same memory for one request, which is executed once: a retry with the same id returns the same result.

        The same id with another ``request`` is refused.
        """
        once = Answered(id, self._project.encode() + request if self._project else request)
        return self._as(project=self._project, who=self.author, once=once)

    def acting(
        self, who: Author | str, policy: Policy | None = None, *, project: str | None = None, once: Once | None = None
    ) -> Self:
        """The same memory for another author, optionally with another policy or project.

        With ``once`` a change is made at most once per request.
        """
        return self._as(project=self._project if project is None else project, who=who, policy=policy, once=once)

    def _as(
        self,
        *,
        project: str | None,
        who: Author | str,
        store: Store | None = None,
        policy: Policy | None = None,
        once: Once | None = None,
        grant: Grant | None = None,
        screen: Screen | None = None,
    ) -> Self:
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__
        other._project = project
        other.author = who if isinstance(who, Author) else Author(who)
        other.once = once
        other.policy = policy or self.policy
        other.grant = grant or self.grant
        other.screen = screen or self.screen
        other.unscreened = store or self.unscreened
        other.store = screened(other.unscreened, other.screen)
        if project is not None:
            legal_project(project)
            other.grant.check(project)  # a search does not go through the guarded store
        other.screen.names(user_id=other.author.user, project_id=project)
        return other

    def _count_reads(self, ids: Iterable[int], *, opened: bool) -> None:
        if self.reads is not None:
            self.reads.count(self.project, self.author.who, ids, opened=opened)

    def _check_once(self) -> None:
        """Stop a request that was executed before, ahead of looking up memories that may have been deleted since."""
        if self.once is not None:
            with self.store.read(self.project) as snapshot:
                self.once.done(snapshot, Any)

    def _write(
        self,
        action: str,
        work: Callable[[Transaction], T],
        step: Step | None = None,
        texts: Iterable[str] = (),
        *,
        gives: Any = Any,
    ) -> T:
        """Make one change. ``texts`` are those it writes: long ones are analysed before the write lock is acquired.

        ``gives`` is the type of the result, to decode it for a retry. If the store is interrupted, ``work`` runs again
        in a new transaction; what the first one did is gone.
        """
        written = list(texts)
        is_long = sum(map(len, written)) > _LONG
        with self.finding.read_ahead(written) if is_long else nullcontext():
            for pause in (*_PAUSES, None):
                try:
                    with self.store.write(self.project, self.author, action) as tx:
                        if self._begin is not None:
                            self._begin()  # the last chance to cancel
                        if step is not None:
                            step(0, 0)
                        if self.once is not None and (before := self.once.done(tx, gives)) is not None:
                            return cast(T, before)
                        done = work(tx)
                        changed = tx.changed
                        number = tx.number() if changed and self.made is not None else None
                        if self.once is not None and done is not None:
                            self.once.keep(tx, done)
                    break
                except Interrupted:
                    if pause is None:
                        raise
                    time.sleep(pause)
        if self.made is not None and number is not None:
            self.made.append(number)
        if changed:
            self.finding.notify(self.project)
        return done

    def _read_again(self, work: Callable[[], T]) -> T:
        """Read after a change was made: if the store is interrupted, once more, so that the change is reported."""
        try:
            return work()
        except Interrupted:
            return work()

    def _put_vectors(self, tx: Transaction, embedded: EmbeddedText | None, memory: int, text: int) -> None:
        """Store the vectors of a text; ``memory`` and ``text`` are the numbers of the record and its text."""
        if embedded is not None:
            for channel in self.finding().channels:
                if channel.name in embedded.vectors:
                    dimensions = channel.embedder.dimensions
                    tx.put_vectors(channel.name, dimensions, embedded.packed(channel.name, memory, text))
