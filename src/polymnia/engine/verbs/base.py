"""What every verb stands on: a store, a project, a name for the journal, and the frame of a change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from polymnia.engine.access import EVERYTHING, Grant
from polymnia.engine.analysis.cache import ResultCache
from polymnia.engine.content import as_draft
from polymnia.engine.graph import STRICT, Policy, Step
from polymnia.engine.once import Once, Repeated
from polymnia.engine.ports import Store, Transaction
from polymnia.engine.privacy.screening import Screen, screened
from polymnia.engine.reads import ReadCounter
from polymnia.engine.search import LazySearch
from polymnia.errors import Refused
from polymnia.importing import importing
from polymnia.models import Author, Limits, Record, closest

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Finder
    from polymnia.engine.search.neighbours import EmbeddedText
    from polymnia.engine.transfer.folder import Folder

T = TypeVar("T")
_MUCH = 200_000  # characters of a change; a store indexes so many at once, in the change itself

_NOWHERE = "\0"  # a name that no project can have


class Verbs:
    """One project of one store, in someone's hands."""

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

    @property
    def project(self) -> str:
        """The project at hand; refused where several may be meant and none is named."""
        if self._project is None:
            names = ", ".join(map(repr, sorted(self.grant.projects or ())))
            raise Refused(
                f"This key opens several projects ({names}), and the call names none of them",
                hint="Name one: as project_id where the tool has it, or in the address: /mcp?project=NAME.",
                projects=sorted(self.grant.projects or ()),
            )
        return self._project

    @property
    def who(self) -> str:
        """The author of what is changed here, in one line."""
        return self.author.who

    def _read_by(self, ids: Iterable[int], *, opened: bool) -> None:
        """Count what was read, where reads are counted."""
        if self.reads is not None:
            self.reads.count(self.project, self.who, ids, opened=opened)

    def folder(self) -> Folder:
        """The folder of the files that are written and read here."""
        from polymnia.engine.transfer.folder import Folder

        shown = None if self.grant.projects is None else "the export folder of this project"
        return Folder(self.grant.folder(self.exports, self.project), shown)

    def stamp(self) -> int:
        """A number that changes whenever anyone has changed the project."""
        return self.store.stamp(self.project)

    def nearest_project(self) -> str | None:
        """The project that was probably meant by one that is not there, of those the caller may see."""
        return closest(self.project, self.store.projects())

    def try_search(self) -> None:
        """Search where there is nothing, by way of everything that searches use. Raises what keeps them from working.

        Costs the same whatever is stored.
        """
        from polymnia.engine.search.results import Query, ResultPage

        self.finding().search(_NOWHERE, Query(text="ready"), ResultPage(limit=1))

    def _check_once(self) -> None:
        """Stop a request that was done before, ahead of looking for things that may be gone since."""
        if self.once is not None:
            with self.store.read(self.project) as snapshot:
                self.once.check(snapshot)

    def _write(
        self,
        action: str,
        work: Callable[[Transaction], T],
        step: Step | None = None,
        texts: Iterable[str] = (),
        *,
        gives: Any = Any,
    ) -> T:
        """Do one change. ``texts`` are those it writes: much text is read for the index before anybody has to wait.

        ``gives`` is the type of what it answers, for requests that come again.
        """
        written = list(texts)
        if sum(map(len, written)) > _MUCH:
            with importing():
                from polymnia.engine.search.passages import read_ahead

            with read_ahead(written, time.time_ns() // 1000):
                return self._written(action, work, step, gives)
        return self._written(action, work, step, gives)

    def _written(self, action: str, work: Callable[[Transaction], T], step: Step | None, gives: Any) -> T:
        with self.store.write(self.project, self.author, action) as tx:
            if step is not None:
                step(0, 0)  # the turn has come; the last moment to call it off
            if self.once is not None:
                try:
                    self.once.check(tx)
                except Repeated as repeated:
                    told: T = self.once.again(repeated, gives)
                    return told
            done = work(tx)
            changed = tx.changed
            if self.once is not None and done is not None:
                self.once.keep(tx, done)
        if changed:
            self.finding.noticed(self.project)
        return done

    def _screened(self, record: Record) -> Record:
        """A memory to be, without the credentials that may not be stored: nothing is to be made of those."""
        (draft,) = self.screen.drafts([as_draft(record)])
        return replace(
            record, kind=draft.kind, observations=draft.observations, category=draft.category, summary=draft.summary,
            tags=draft.tags, metadata=draft.metadata,
        )  # fmt: skip

    def _keep_vectors(self, tx: Transaction, said: EmbeddedText | None, memory: int, text: int) -> None:
        """Keep what the models made of a text; ``memory`` and ``text`` are the numbers of the record and its text."""
        if said is not None:
            for channel in self.finding().channels:
                if channel.name in said.vectors:
                    dimensions = channel.embedder.dimensions
                    tx.put_vectors(channel.name, dimensions, said.kept(channel.name, memory, text))


def _plain_finder(store: Store) -> Finder:
    with importing():
        from polymnia.engine.search.finder import Finder

    return Finder(store)


def listed(names: Iterable[str]) -> list[str]:
    """Names as a list; one name is a list of one."""
    return [names] if isinstance(names, str) else list(names)
