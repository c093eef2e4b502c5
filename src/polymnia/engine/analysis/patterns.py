"""Patterns: the six kinds of them, each found by a package of its own."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.engine.analysis.findings import Found
from polymnia.engine.analysis.material import Material
from polymnia.importing import importing

__all__ = ["PATTERNS", "WHOLE", "detect"]


def _topics(material: Material) -> Found:
    with importing():
        from polymnia.engine.analysis.topics import topic_clusters

    return topic_clusters(material)


def _usage(material: Material) -> Found:
    with importing():
        from polymnia.engine.analysis.usage import usage_patterns

    return usage_patterns(material)


def _issues(material: Material) -> Found:
    with importing():
        from polymnia.engine.analysis.issues import quality_issues

    return quality_issues(material)


def _relationships(material: Material) -> Found:
    with importing():
        from polymnia.engine.analysis.graphs import relationship_patterns

    return relationship_patterns(material)


def _temporal(material: Material) -> Found:
    with importing():
        from polymnia.engine.analysis.temporal import temporal_patterns

    return temporal_patterns(material)


def _users(material: Material) -> Found:
    with importing():
        from polymnia.engine.analysis.users import user_patterns

    return user_patterns(material)


PATTERNS: dict[str, Callable[[Material], Found]] = {
    "topic_clusters": _topics,
    "usage_patterns": _usage,
    "quality_issues": _issues,
    "relationship_patterns": _relationships,
    "temporal_patterns": _temporal,
    "user_patterns": _users,
}
WHOLE = frozenset(("topic_clusters", "quality_issues", "usage_patterns", "user_patterns"))
"""Those that are found in the whole project even when they are asked of one memory, and then looked through for it."""


def detect(material: Material, type: str) -> Found:
    """The patterns of one type."""
    return PATTERNS[type](material)
