"""A project in someone's hands: what every verb of memory stands on, and the frame of a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from polymnia.engine.once import Once, Repeated
from polymnia.errors import Refused

if TYPE_CHECKING:
    from polymnia.engine.access import Grant
    from polymnia.engine.graph import Policy
    from polymnia.engine.ports import Store, Transaction
    from polymnia.engine.privacy.screening import Screen
    from polymnia.engine.reads import ReadCounter
    from polymnia.engine.search import LazySearch
    from polymnia.engine.search.neighbours import EmbeddedText
    from polymnia.models import Author, Limits

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
    _project: str | None

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

    def _count_reads(self, ids: Iterable[int], *, opened: bool) -> None:
        if self.reads is not None:
            self.reads.count(self.project, self.author.who, ids, opened=opened)

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
            if self.once is not None:
                try:
                    self.once.check(tx)
                except Repeated as repeated:
                    again: T = self.once.again(repeated, gives)
                    return again
            done = work(tx)
            changed = tx.changed
            if self.once is not None and done is not None:
                self.once.keep(tx, done)
        if changed:
            self.finding.noticed(self.project)
        return done

    def _put_vectors(self, tx: Transaction, said: EmbeddedText | None, memory: int, text: int) -> None:
        """Store what the models made of a text; ``memory`` and ``text`` are the numbers of the record and its text."""
        if said is not None:
            for channel in self.finding().channels:
                if channel.name in said.vectors:
                    dimensions = channel.embedder.dimensions
                    tx.put_vectors(channel.name, dimensions, said.kept(channel.name, memory, text))
