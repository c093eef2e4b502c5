"""What a check of integrity tells."""

from __future__ import annotations

from msgspec import Struct

from polymnia.engine.integrity.rules import Check, Severity

__all__ = ["Finding", "Looked", "Report"]


class Finding(Struct, frozen=True, kw_only=True):
    """Something that is wrong, or worth knowing.

    ``where`` names the first places, ``count`` counts all, ``left`` those that mending left. ``fixable`` says whether
    mending can do something about it, and ``how`` what that is, or what is left to people.
    """

    check: Check
    kind: str
    severity: Severity
    what: str
    count: int
    where: tuple[str, ...]
    project: str | None
    fixable: bool
    how: str
    left: int
    failed: str | None = None


class Looked(Struct, frozen=True, kw_only=True):
    """What was looked at: so many of so many, or the reason why not."""

    project: str | None
    what: str
    looked: int = 0
    of: int = 0
    why_not: str | None = None

    @property
    def whole(self) -> bool:
        """Whether everything was looked at."""
        return self.why_not is None and self.looked == self.of


class Report(Struct, frozen=True, kw_only=True):
    """The findings of the checks that ran, worst first, and what they looked at.

    ``changes`` has the change that mended each project's memories; undoing it takes that back.
    """

    scope: str
    checks: tuple[Check, ...]
    projects: int
    findings: list[Finding]
    looked: list[Looked]
    changes: dict[str, int] = {}

    @property
    def sound(self) -> bool:
        """Whether nothing is left that is an error or a warning."""
        return not any(one.left and one.severity != "info" for one in self.findings)

    def count(self, severity: Severity) -> int:
        """How many findings of a severity are left."""
        return sum(1 for one in self.findings if one.left and one.severity == severity)
