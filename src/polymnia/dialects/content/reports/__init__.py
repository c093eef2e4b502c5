"""Reports: the sentences for the findings of analyses, which are values in the engine.

Each area is a module with two tables: ``DESCRIPTIONS`` (a function of evidence and details for each name of a finding;
or one function ``describe`` for all) and ``REMARKS`` (a sentence, or a function of its values, for each code without
its area). A module is loaded when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from polymnia.dialects.notes import reasons, sentence
from polymnia.importing import load
from polymnia.models import JsonObject

_AREAS = {
    "temporal_patterns": "activity",
    "usage_patterns": "activity",
    "user_patterns": "activity",
    "relationship_patterns": "graph",
    "topic_clusters": "graph",
    "quality_issues": "issues",
    "content_gaps": "insights",
    "usage_insights": "insights",
    "trend_analysis": "insights",
    "efficiency_opportunities": "insights",
    "knowledge_synthesis": "insights",
    "factual_conflicts": "conflicts",
    "temporal_conflicts": "conflicts",
    "recommendation_conflicts": "conflicts",
    "logical_conflicts": "conflicts",
}
"""The module of each type of finding."""

_MODULES = {"topics": "graph", "connections": "graph"}  # areas in the module of another one
_FREE = ("conflicts", "quality")  # areas with one function instead of a table
_TITLE = 60  # characters quoted of a title


class Description(NamedTuple):
    """A finding in words: a summary, how it was measured, and what to do about it."""

    summary: str
    explanation: str = ""
    recommendation: str | None = None


Words = Callable[[JsonObject, JsonObject], Description]


def describe(found: Any) -> Description:
    """The description of a ``Finding``, an ``InsightFinding``, a ``Clash``, a ``Flaw`` of quality, or a ``Hit``."""
    if hasattr(found, "why"):
        return Description(reasons(found.why))
    if (source := getattr(found, "source", None)) is not None:
        return describe(source)._replace(recommendation=_module("insights").advice(found))
    area = _AREAS[found.type] if hasattr(found, "type") else "quality"
    words = _module(area)
    if area in _FREE:
        free: Description = words.describe(found)
        return free
    described: Description = words.DESCRIPTIONS[found.name](found.evidence, found.details)
    return described


def remark(one: Any) -> str:
    """The sentence of a remark of an analysis, or of a note of a search. A remark may hold others among its values."""
    area, dot, code = one.code.partition(".")
    if not dot:
        return sentence(one)
    words: str | Callable[..., str] = _module(area).REMARKS[code]
    return words.format(**one.values) if isinstance(words, str) else words(**one.values)


def fields(found: Any) -> JsonObject:
    """A finding with its description as fields, without the values that only the description needs."""
    words = describe(found)
    values = {name: getattr(found, name) for name in found.__struct_fields__ if name not in ("details", "source")}
    result = {"type": found.type, "name": found.name, "summary": words.summary, "confidence": found.confidence}
    result |= values | {"summary": words.summary, "explanation": words.explanation}
    return result | {"recommendation": words.recommendation} if "actions" in values else result


def _module(area: str) -> Any:
    return load(f"{__name__}.{_MODULES.get(area, area)}")


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 change, 2 changes."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def memories_are(count: int) -> str:
    """The beginning of a sentence on so many memories."""
    return "1 memory is" if count == 1 else f"{count:,} memories are"


def day(moment: str) -> str:
    """The day of a moment in RFC 3339."""
    return moment[:10]


def quoted(title: str) -> str:
    """A title in quotes, shortened if it is long."""
    return f"“{title if len(title) <= _TITLE else title[:_TITLE].rstrip() + '…'}”"
