"""Access control: which projects a caller may see, whether it may write, and how much, enforced around the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine.ports import Snapshot, Store, Transaction
from polymnia.errors import NotAllowed, OverQuota
from polymnia.models import Author, JsonObject

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Copied, Restored


class Quota(Struct, frozen=True):
    """How much a project may hold: memories, and texts (memories and observations together); None is no limit.

    ``raised_by`` says how each limit is raised, in a sentence with a place for its name.
    """

    memories: int | None = None
    texts: int | None = None
    raised_by: str = "polymnia serve --max-project-{what} N"

    @contextmanager
    def kept(self, project: str, change: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        """A change that is rolled back if it makes a project larger than it may be.

        The store keeps the number of texts, and there are no more memories than texts: mostly nothing is counted.
        """
        with change as tx:
            counted = self.memories is not None and tx.size() > self.memories
            before = tx.size(), _memories(tx) if counted else 0
            yield tx
            if self.texts is not None and before[0] < tx.size() > self.texts:
                raise self._exceeded("texts", project, tx.size(), self.texts)
            if self.memories is not None and tx.size() > self.memories:
                memories = _memories(tx)
                if memories > max(self.memories, before[1]):
                    raise self._exceeded("memories", project, memories, self.memories)

    def _exceeded(self, what: str, project: str, size: int, limit: int) -> OverQuota:
        named = "memories" if what == "memories" else "texts (memories and observations)"
        return OverQuota(
            f"The project {project!r} may hold {limit:,} {named}, and would have {size:,}; nothing was changed",
            hint="Delete what is no longer needed, or ask whoever runs the server to raise the limit: "
            + self.raised_by.format(what=what),
            what=what,
            limit=limit,
            size=size,
        )


def _memories(tx: Transaction) -> int:
    return sum(count for _, count in tx.scopes())


class Grant(Struct, frozen=True):
    """What a caller may do: ``projects`` are those it may see (None: all), ``write`` whether it may change them.

    With a ``quota`` it makes no project larger than that.
    """

    projects: frozenset[str] | None = None
    write: bool = True
    quota: Quota | None = None

    def sees(self, project: str) -> bool:
        """Whether the caller may see the project."""
        return self.projects is None or project in self.projects

    def check(self, project: str) -> None:
        """Refuse a project the caller may not see; the error does not reveal whether it exists."""
        if not self.sees(project):
            raise NotAllowed(
                f"This key does not open the project {project!r}",
                hint="Name a project the key was made for, or ask whoever made it for one that opens this project.",
            )

    def check_write(self, left: str = "nothing was changed") -> None:
        """Refuse a read-only caller; ``left`` says what was not done."""
        if not self.write:
            hint = "Use a key that was made with --access write."
            raise NotAllowed(f"This key may read but not write; {left}", hint=hint)

    def folder(self, exports: str, project: str) -> str:
        """The folder a project's files are written to and read from; a limited caller gets one per project."""
        if self.projects is None:
            return exports
        from hashlib import sha256

        return os.path.join(exports, "projects", sha256(project.encode()).hexdigest()[:24])


EVERYTHING = Grant()


class Guarded:
    """A store limited to what a grant allows."""

    def __init__(self, inner: Store, grant: Grant) -> None:
        self._inner = inner
        self._grant = grant

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        self._grant.check(project)
        return self._inner.read(project)

    def write(self, project: str, who: Author | str, action: str) -> AbstractContextManager[Transaction]:
        self._grant.check(project)
        self._grant.check_write()
        change = self._inner.write(project, who, action)
        return change if self._grant.quota is None else self._grant.quota.kept(project, change)

    def stamp(self, project: str) -> int:
        self._grant.check(project)
        return self._inner.stamp(project)

    def watch(self, changed: Callable[[str], None]) -> bool:
        return self._inner.watch(lambda project: changed(project) if self._grant.sees(project) else None)

    def projects(self) -> list[str]:
        return [name for name in self._inner.projects() if self._grant.sees(name)]

    def about(self) -> JsonObject:
        return self._inner.about()

    def check(self, project: str | None, request: CheckRequest) -> CheckResult:
        self._all(project)
        return self._inner.check(project, request)

    def repair(self, tx: Transaction | None, kinds: Collection[str], request: CheckRequest) -> dict[str, int]:
        if tx is None:
            self._all(None)
            self._grant.check_write("nothing was mended")
        return self._inner.repair(tx, kinds, request)

    def back_up(self, path: str, *, overwrite: bool = False) -> Copied:
        self._all(None)
        return self._inner.back_up(path, overwrite=overwrite)

    def restore(self, path: str) -> Restored:
        self._all(None)
        self._grant.check_write("nothing was restored")
        return self._inner.restore(path)

    def identity(self) -> object:
        return self._inner.identity()

    def close(self) -> None:
        """Do nothing: others use the same store."""

    def _all(self, project: str | None) -> None:
        if project is not None:
            self._grant.check(project)
        elif self._grant.projects is not None:
            raise NotAllowed(
                "This key opens some projects only, and this concerns all of them",
                hint="Ask about one project, or use a key that opens all of them.",
            )


class Metered(Guarded):
    """A store of which no project grows beyond a quota, whoever writes."""

    def __init__(self, inner: Store, quota: Quota) -> None:
        super().__init__(inner, Grant(quota=quota))

    def close(self) -> None:
        """Close the store."""
        self._inner.close()
