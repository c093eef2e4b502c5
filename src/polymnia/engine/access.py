"""Access control: which projects a caller may see and whether it may write, enforced around the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine.ports import Snapshot, Store, Transaction
from polymnia.errors import NotAllowed
from polymnia.models import Author, JsonObject

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Copied, Restored


class Grant(Struct, frozen=True):
    """What a caller may do: ``projects`` are those it may see (None: all), ``write`` whether it may change them."""

    projects: frozenset[str] | None = None
    write: bool = True

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
        return self._inner.write(project, who, action)

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
