"""Memory: the one object everything above holds."""

from __future__ import annotations

from collections.abc import Collection
from types import TracebackType
from typing import TYPE_CHECKING, Any

from polymnia.engine.access import EVERYTHING, Grant, Guarded
from polymnia.engine.analysis.cache import ResultCache
from polymnia.engine.analysis.verbs import AnalysisVerbs
from polymnia.engine.documents import DocumentVerbs
from polymnia.engine.graph import STRICT, GraphVerbs, Policy
from polymnia.engine.history import HistoryVerbs
from polymnia.engine.memories import MemoryVerbs
from polymnia.engine.once import Answered, Once
from polymnia.engine.privacy.screening import Screen, screened
from polymnia.engine.scopes import ScopeVerbs
from polymnia.engine.search import LazySearch
from polymnia.engine.search.verbs import SearchVerbs
from polymnia.engine.transfer.verbs import TransferVerbs
from polymnia.errors import NotAllowed
from polymnia.importing import importing
from polymnia.models import Author, Limits, closest

if TYPE_CHECKING:
    from polymnia.engine.health.rules import IntegrityReport
    from polymnia.engine.ports import Store
    from polymnia.engine.reads import ReadCounter
    from polymnia.engine.search.finder import Finder


class Memory(
    GraphVerbs, MemoryVerbs, DocumentVerbs, AnalysisVerbs, ScopeVerbs, SearchVerbs, TransferVerbs, HistoryVerbs
):
    """One project of one store, with the verbs of memory.

    Every verb that changes something is atomic and on disk when it returns; when it raises a
    :class:`~polymnia.errors.Fault`, nothing was changed. Safe to use from several threads.

    ``policy`` says how the verbs behave where servers differ (see :class:`~polymnia.engine.graph.Policy`);
    ``who`` is written to the journal; ``exports`` is the folder archives are written to and read from.
    """

    def __init__(
        self,
        store: Store,
        *,
        project: str | None = "default",
        who: Author | str = "library",
        policy: Policy = STRICT,
        limits: Limits | None = None,
        finding: LazySearch | None = None,
        exports: str = "exports",
        once: Once | None = None,
        reads: ReadCounter | None = None,
        cache: ResultCache | None = None,
        grant: Grant = EVERYTHING,
        screen: Screen | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.screen = screen or Screen(limits=self.limits)
        self.unscreened = store
        self.store = screened(store, self.screen)
        self.finding = finding or LazySearch(lambda: _plain_finder(store))
        self._project = project
        self.author = who if isinstance(who, Author) else Author(who)
        self.policy = policy
        self.exports = exports
        self.once = once
        self.reads = reads
        self.cache = cache or ResultCache()
        self.grant = grant

    def __enter__(self) -> Memory:
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

    def stamp(self) -> int:
        """A number that changes whenever anyone has changed the project."""
        return self.store.stamp(self.project)

    def nearest_project(self) -> str | None:
        """The project that was probably meant by one that is not there, of those the caller may see."""
        return closest(self.project, self.store.projects())

    def validate(
        self,
        *,
        scope: Any = "project",
        session: str | None = None,
        checks: Collection[str] | None = None,
        fix: bool = False,
        spots: int = 100,
    ) -> IntegrityReport:
        """Check the integrity of the project, a session or the whole store; with ``fix`` mend what can be."""
        with importing():
            from polymnia.engine.health.integrity import validate

        return validate(self, scope=scope, session=session, checks=checks, fix=fix, spots=spots)

    def limited(self, grant: Grant, project: str | None = None) -> Memory:
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

    def for_one_call(self, *, writes: bool = True) -> Memory:
        """The same memory for one call of a client, which is told what was found in the texts it brought."""
        if not writes and self.screen.manner == "flag":
            return self  # nothing will be screened
        return self._as(
            project=self._project, who=self.author, once=self.once, screen=Screen(self.screen.manner, self.limits)
        )

    def once_for(self, id: str, request: bytes) -> Memory:
        """The same memory for one request: when its id comes again, its change is not made again.

        The verb then answers what it answered before; with another ``request`` it is refused.
        """
        once = Answered(id, self._project.encode() + request if self._project else request)
        return self._as(project=self._project, who=self.author, once=once)

    def acting(
        self, who: Author | str, policy: Policy | None = None, *, project: str | None = None, once: Once | None = None
    ) -> Memory:
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
    ) -> Memory:
        grant = grant or self.grant
        if project is not None:
            grant.check(project)  # whoever searches does so past the door of the store
        (screen or self.screen).names(user_id=who if isinstance(who, str) else who.user, project_id=project)
        return Memory(
            store or self.unscreened,
            project=project,
            who=who,
            policy=policy or self.policy,
            limits=self.limits,
            finding=self.finding,
            exports=self.exports,
            once=once,
            reads=self.reads,
            cache=self.cache,
            grant=grant,
            screen=screen or self.screen,
        )


def _plain_finder(store: Store) -> Finder:
    with importing():
        from polymnia.engine.search.finder import Finder

    return Finder(store)
