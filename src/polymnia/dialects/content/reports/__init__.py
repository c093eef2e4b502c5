"""Reports: the sentences for what analyses find. The engine answers values; here they get their words.

Each area is a module with two tables: ``DESCRIPTIONS`` (name of a finding -> the words of its evidence and details;
``describe`` where one function does for all) and ``REMARKS`` (code of a remark, without the area it begins with -> its
sentence, or what makes one of its values). A module is loaded when its words are needed for the first time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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

_MODULES = {"topics": "graph", "connections": "graph"}  # areas whose words are in the module of another one
_FREE = ("conflicts", "quality")  # areas that describe what they find by one function instead of a table
_TITLE = 60  # characters of a title that is quoted


class Description(NamedTuple):
    """A finding in words: what it is, how it was measured, what to do about it."""

    summary: str
    explanation: str = ""
    recommendation: str | None = None


Words = Callable[[JsonObject, JsonObject], Description]


def describe(found: Any) -> Description:
    """The words of a finding: a ``Finding``, an ``InsightFinding``, a ``Clash``, or a ``Flaw`` of quality."""
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
    """The sentence of a remark. A remark may hold others among its values, such as one that it passes on."""
    area, _, code = one.code.partition(".")
    sentence: str | Callable[..., str] = _module(area).REMARKS[code]
    return sentence.format(**one.values) if isinstance(sentence, str) else sentence(**one.values)


def fields(found: Any) -> JsonObject:
    """A finding as fields with its words among them; what only the words needed is left out."""
    words = describe(found)
    values = {name: getattr(found, name) for name in found.__struct_fields__ if name not in ("details", "source")}
    told = {"type": found.type, "name": found.name, "summary": words.summary, "confidence": found.confidence}
    told |= values | {"summary": words.summary, "explanation": words.explanation}
    return told | {"recommendation": words.recommendation} if "actions" in values else told


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
    """A title in quotes, cut where it is long."""
    return f"“{title if len(title) <= _TITLE else title[:_TITLE].rstrip() + '…'}”"
