"""Memory: the object through which the library, the CLI and every dialect use the engine."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from polymnia.engine.access import EVERYTHING, Grant
from polymnia.engine.analysis import AnalysisVerbs
from polymnia.engine.analysis.cache import ResultCache
from polymnia.engine.batches import BatchVerbs
from polymnia.engine.brief import BriefVerbs
from polymnia.engine.documents import DocumentVerbs
from polymnia.engine.graph import STRICT, Policy
from polymnia.engine.history import HistoryVerbs
from polymnia.engine.once import Once
from polymnia.engine.privacy.screening import Screen, screened
from polymnia.engine.recall import RecallVerbs
from polymnia.engine.scopes import ScopeVerbs
from polymnia.engine.search import LazySearch
from polymnia.engine.transfer import TransferVerbs
from polymnia.importing import importing
from polymnia.models import Author, Limits, closest, legal_project

if TYPE_CHECKING:
    from polymnia.engine.health.integrity import IntegrityReport
    from polymnia.engine.ports import Store
    from polymnia.engine.reads import ReadCounter
    from polymnia.engine.search.finder import Finder


class Memory(
    BatchVerbs, DocumentVerbs, AnalysisVerbs, ScopeVerbs, RecallVerbs, BriefVerbs, TransferVerbs, HistoryVerbs
):
    """One project of one store, and everything that can be done with it.

    Every method that changes something is atomic, and its change is on disk when it returns; if it raises a
    :class:`~polymnia.errors.Fault`, nothing has changed. Safe to use from several threads.

    ``policy`` says how methods behave where servers differ (see :class:`~polymnia.engine.graph.Policy`);
    ``who`` is recorded in the journal; ``exports`` is the folder archives are written to and read from.
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
        self._project = project if project is None else legal_project(project)
        self.author = who if isinstance(who, Author) else Author(who)
        self.policy = policy
        self.exports = exports
        self.once = once
        self.reads = reads
        self.cache = cache or ResultCache()
        self.grant = grant

    def stamp(self) -> int:
        """Return a number that changes with every change of the project, by any process."""
        return self.store.stamp(self.project)

    def nearest_project(self) -> str | None:
        """Return the project most likely intended by a missing one, of those the caller may see."""
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
        """Check the integrity of the project, a session or the whole store; with ``fix`` repair what can be."""
        with importing():
            from polymnia.engine.health.integrity import validate

        return validate(self, scope=scope, session=session, checks=checks, fix=fix, spots=spots)


def _plain_finder(store: Store) -> Finder:
    with importing():
        from polymnia.engine.search.finder import Finder

    return Finder(store)
