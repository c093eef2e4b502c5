"""A project in someone's hands: what every verb of memory stands on, and the frame of a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from polymnia.engine.access import Grant, Guarded
from polymnia.engine.once import Answered
from polymnia.engine.privacy.screening import Screen, screened
from polymnia.errors import NotAllowed, Refused
from polymnia.models import Author

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
"""Called with how many of how many items are done; may raise to call the whole thing off."""

_MUCH = 200_000  # characters of a change; a store indexes so many at once, in the change itself


class Project:
    """One project of one store, in someone's hands."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store's files."""
        if self.reads is not None:
            self.reads.close()
        self.finding.close()
        self.store.close()

    @property
    def project(self) -> str:
        """The project at hand; refused where several may be meant and none is named."""
        if self._project is None:
            projects = sorted(self.grant.projects or ())
            raise Refused(
                f"This key opens several projects ({', '.join(map(repr, projects))}), and the call names none of them",
                hint="Name one: as project_id where the tool has it, or in the address: /mcp?project=NAME.",
                projects=projects,
            )
        return self._project

    @property
    def who(self) -> str:
        """The author of what is changed here, in one line."""
        return self.author.who

    def limited(self, grant: Grant, project: str | None = None) -> Self:
        """The same memory for somebody who may see some projects only, or may not change anything.

        Without ``project`` theirs is the only one they see; where they see several, every verb asks for one.
        """
        if grant.projects is not None and not grant.projects:
            raise NotAllowed("This key opens no project", hint="Ask for a key that opens one.")
        if project is None and grant.projects is None:
            project = self.project
        elif project is None and grant.projects is not None and len(grant.projects) == 1:
            (project,) = grant.projects
        return self._as(store=Guarded(self.unscreened, grant), project=project, who=self.author, grant=grant)

    def for_one_call(self, *, writes: bool = True) -> Self:
        """The same memory for one call of a client, which gets notes about what was found in the texts it brought."""
        if not writes and self.screen.manner == "flag":
            return self  # nothing will be screened
        return self._as(
            project=self._project, who=self.author, once=self.once, screen=Screen(self.screen.manner, self.limits)
        )

    def once_for(self, id: str, request: bytes) -> Self:
        """The same memory for one request: when its id comes again, its change is not made again.

        The verb then answers what it answered before; with another ``request`` it is refused.
        """
        once = Answered(id, self._project.encode() + request if self._project else request)
        return self._as(project=self._project, who=self.author, once=once)

    def acting(
        self, who: Author | str, policy: Policy | None = None, *, project: str | None = None, once: Once | None = None
    ) -> Self:
        """The same memory in someone else's hands: another name in the journal, perhaps another policy or project.

        With ``once`` a change is made at most once for the request it stands for.
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
            other.grant.check(project)  # whoever searches does so past the door of the store
        other.screen.names(user_id=other.author.user, project_id=project)
        return other

    def _count_reads(self, ids: Iterable[int], *, opened: bool) -> None:
        if self.reads is not None:
            self.reads.count(self.project, self.author.who, ids, opened=opened)

    def _check_once(self) -> None:
        """Stop a request that was done before, ahead of looking for things that may be gone since."""
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
        """Make one change. ``texts`` are those it writes: much text is read for the index before anybody has to wait.

        ``gives`` is the type of what it answers, for requests that come again.
        """
        written = list(texts)
        much = sum(map(len, written)) > _MUCH
        with (
            self.finding.read_ahead(written) if much else nullcontext(),
            self.store.write(self.project, self.author, action) as tx,
        ):
            if step is not None:
                step(0, 0)  # the turn has come; the last moment to call it off
            if self.once is not None and (again := self.once.done(tx, gives)) is not None:
                before: T = again
                return before
            done = work(tx)
            changed = tx.changed
            if self.once is not None and done is not None:
                self.once.keep(tx, done)
        if changed:
            self.finding.notify(self.project)
        return done

    def _put_vectors(self, tx: Transaction, embedded: EmbeddedText | None, memory: int, text: int) -> None:
        """Store what the models made of a text; ``memory`` and ``text`` are the numbers of the record and its text."""
        if embedded is not None:
            for channel in self.finding().channels:
                if channel.name in embedded.vectors:
                    dimensions = channel.embedder.dimensions
                    tx.put_vectors(channel.name, dimensions, embedded.packed(channel.name, memory, text))
