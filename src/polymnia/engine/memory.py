"""Memory: the one object everything above holds."""

from __future__ import annotations

from types import TracebackType

from polymnia.engine.access import Grant, Guarded
from polymnia.engine.graph import Policy
from polymnia.engine.once import Answered, Once
from polymnia.engine.ports import Store
from polymnia.engine.privacy.screening import Screen
from polymnia.engine.verbs.analysis import AnalysisVerbs
from polymnia.engine.verbs.graph import GraphVerbs
from polymnia.engine.verbs.history import HistoryVerbs
from polymnia.engine.verbs.memories import MemoryVerbs
from polymnia.engine.verbs.scopes import ScopeVerbs
from polymnia.engine.verbs.search import SearchVerbs
from polymnia.engine.verbs.transfer import TransferVerbs
from polymnia.errors import NotAllowed
from polymnia.models import Author


class Memory(GraphVerbs, MemoryVerbs, AnalysisVerbs, ScopeVerbs, SearchVerbs, TransferVerbs, HistoryVerbs):
    """One project of one store, with the verbs of memory.

    Every verb that changes something is atomic and on disk when it returns; when it raises a
    :class:`~polymnia.errors.Fault`, nothing was changed. Safe to use from several threads.

    ``policy`` says how the verbs behave where servers differ (see :class:`~polymnia.engine.graph.Policy`);
    ``who`` is written to the journal; ``exports`` is the folder archives are written to and read from.
    """

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
