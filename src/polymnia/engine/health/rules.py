"""The rules of integrity, which are data (rules.toml), and what a check of integrity finds."""

from __future__ import annotations

import os
from typing import Literal, get_args

import msgspec
from msgspec import Struct

Check = Literal[
    "orphaned_relationships",
    "missing_embeddings",
    "data_consistency",
    "reference_integrity",
    "schema_compliance",
    "performance_issues",
]
CHECKS: tuple[Check, ...] = get_args(Check)

Severity = Literal["error", "warning", "info"]


class Rule(Struct, frozen=True):
    """What a kind of fact means. ``how`` is what a repair does, or what is left to people where ``by`` is nobody."""

    check: Check
    severity: Severity
    what: str
    how: str
    by: Literal["store", "change", "words", "models", "file", "nobody"] = "nobody"


def _read() -> dict[str, Rule]:
    with open(os.path.join(os.path.dirname(__file__), "rules.toml"), "rb") as file:
        return msgspec.toml.decode(file.read(), type=dict[str, Rule])


RULES = _read()
"""Every kind of fact there is."""


class IntegrityFinding(Struct, frozen=True, kw_only=True):
    """Something that is wrong, or worth knowing.

    ``where`` names the first places, ``count`` counts all, ``left`` those that a repair left. ``fixable`` says whether
    a repair can do something about it, and ``how`` what that is, or what is left to people.
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


class Examined(Struct, frozen=True, kw_only=True):
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


class IntegrityReport(Struct, frozen=True, kw_only=True):
    """The findings of the checks that ran, worst first, and what they looked at.

    ``changes`` has the change that repaired each project's memories; undoing it takes that back.
    """

    scope: str
    checks: tuple[Check, ...]
    projects: int
    findings: list[IntegrityFinding]
    looked: list[Examined]
    changes: dict[str, int] = {}

    @property
    def sound(self) -> bool:
        """Whether nothing is left that is an error or a warning."""
        return not any(one.left and one.severity != "info" for one in self.findings)

    def count(self, severity: Severity) -> int:
        """How many findings of a severity are left."""
        return sum(1 for one in self.findings if one.left and one.severity == severity)
