"""memory_analyze: patterns, quality, relationships, conflicts and insights, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from polymnia.dialects.content import analyzing_parameters as parameters
from polymnia.dialects.content.analyzing_results import (
    clash,
    compared,
    connection,
    insight,
    pattern,
    shown,
)
from polymnia.dialects.content.analyzing_room import fitting
from polymnia.dialects.content.asking import Asking, replied
from polymnia.dialects.content.reading import Verb
from polymnia.dialects.content.reports import remark
from polymnia.dialects.content.results import answer
from polymnia.dialects.content.retrieving import period
from polymnia.engine.items import RelationshipType
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, NoLibrary, Violation
from polymnia.importing import importing
from polymnia.operation import Context, Reply

__all__ = ["VERBS"]

# How to hear of what did not fit into an answer.
_FEWER = "ask for this type alone, or about fewer items"
_SOME = "name some items, one type, or sensitivity low"


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _chosen(given: list[Any] | None, every: Any, where: str) -> tuple[str, ...]:
    """The types asked for, each once; all where none is named."""
    if given is not None and not given:
        raise Invalid(
            f"{where} is empty", field=where, hint=f"Name one of {', '.join(get_args(every))}, or leave it out."
        )
    return tuple(dict.fromkeys(get_args(every) if given is None else given))


def _needs(operation: str, field: str, value: Any) -> None:
    if value is None:
        raise BadArguments(operation, [Violation(field, "string", "undefined")])


def _no_use(field: str, scope: str, other: str) -> Invalid:
    return Invalid(
        f"{field} has no meaning with scope {scope}", field=field, hint=f"Use scope {other}, or leave it out."
    )


def _when(made: int, asking: Asking) -> dict[str, Any]:
    """When the result was made, and whether that was before this call."""
    return {"analyzed_at": moment(made), "cached": made < asking.asked}


def _patterns(context: Context, given: parameters.DetectPatterns) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.PatternOptions()
    scope = _or(given.scope, "content" if given.content_id is not None else "project")
    if scope == "content":
        _needs("detect_patterns", "content_id", given.content_id)
    elif given.content_id is not None:
        raise _no_use("content_id", scope, "content")
    if scope == "session":
        _needs("detect_patterns", "session_id", given.session_id)
    start, end = period(options.time_range, "options.time_range")
    types = _chosen(given.pattern_types, parameters.PatternType, "pattern_types")

    def work() -> dict[str, Any]:
        found, made = asking.memory.patterns(
            types, session=given.session_id, only_session=scope == "session", id=given.content_id, start=start, end=end,
            step=asking.step,
        )  # fmt: skip
        missing = {type: one for type, one in found.items() if isinstance(one, NoLibrary)}
        if missing and (given.pattern_types is not None or len(missing) == len(found)):
            raise next(iter(missing.values()))
        least = _or(options.min_confidence, 0.5)
        left_out, looked = 0, {}
        certain: list[Any] = []
        notes: list[dict[str, str]] = []
        ids = asking.memory.ids_shown(
            {id for one in found.values() if not isinstance(one, NoLibrary) for p in one.patterns for id in p.members}
        )
        for type, one in found.items():
            if isinstance(one, NoLibrary):
                continue
            kept = [p for p in one.patterns if p.confidence >= least]
            left_out += len(one.patterns) - len(kept)
            certain += kept
            looked[type] = shown(one.looked_at)
            notes += [{"type": type, "note": remark(each)} for each in one.notes]
        explained = _or(options.include_explanations, True)
        told, more = fitting([pattern(p, ids, explained=explained) for p in certain], _FEWER)
        notes += [{"type": type, "note": text} for type, text in more.items()]
        fields: dict[str, Any] = {
            "scope": scope,
            "patterns": told,
            "counts": {type: sum(p.type == type for p in certain) for type in looked},
            "below_min_confidence": left_out,
            "looked_at": looked,
            "notes": notes,
        }
        if missing:
            fields["unavailable"] = [
                {"type": type, "reason": one.message, "solution": one.hint} for type, one in missing.items()
            ]
        return answer(asking.begun, _said(len(certain), "pattern"), **fields, **_when(made, asking))

    return replied(asking, work)


def _said(count: int, what: str) -> str:
    return f"Found {count or 'no'} {what}{'' if count == 1 else 's'}"


def _notes(found: Iterable[Any]) -> list[str]:
    return [remark(one) for one in found]


def _ids(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(dict.fromkeys(given))


def _quality(context: Context, given: parameters.AnalyzeQuality) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.QualityOptions()
    dimensions = _chosen(given.quality_dimensions, parameters.QualityDimension, "quality_dimensions")
    against = _ids(options.benchmark_against) or ()
    if options.benchmark_against is not None and not against:
        raise Invalid(
            "options.benchmark_against is empty", field="options.benchmark_against", hint="Name items, or leave it out."
        )
    if given.content_id in against:
        raise Invalid(
            "options.benchmark_against names the item itself", field="options.benchmark_against", hint="Name others."
        )
    with_metrics = _or(options.include_metrics, False)

    def work() -> dict[str, Any]:
        with importing():
            from polymnia.dialects.content.reports import quality as words

        found, made = asking.memory.quality(
            given.content_id, dimensions=dimensions, suggestions=_or(options.include_suggestions, True),
            metrics=with_metrics, against=against, session=given.session_id, step=asking.step,
        )  # fmt: skip
        fields: dict[str, Any] = {
            "content_id": given.content_id,
            "title": found.title,
            "overall_score": shown(found.score),
            "dimensions": {one.name: shown(words.dimension(one, metrics=with_metrics)) for one in found.dimensions},
        }
        if _or(options.include_suggestions, True):
            fields["suggestions"] = [shown(words.suggestion(one)) for one in found.suggestions]
        if against:
            items = [compared(one) for one in found.compared]
            fields["benchmark"] = {"items": items, "standing": shown(found.standing)}
        fields |= {"looked_at": shown(found.looked_at), "notes": words.notes(found)}
        return answer(asking.begun, **fields, **_when(made, asking))

    return replied(asking, work)


def _relationships(context: Context, given: parameters.FindRelationships) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.RelationshipOptions()
    types = given.relationship_types
    chosen = None if types is None else _chosen(types, RelationshipType, "relationship_types")

    def work() -> dict[str, Any]:
        found, made = asking.memory.connections(
            given.content_id, types=chosen, max_depth=_or(given.max_depth, 2), limit=_or(given.limit, 50),
            least=_or(options.min_confidence, 0.0), session=given.session_id, step=asking.step,
        )  # fmt: skip
        told = [
            connection(one, strength=_or(options.include_strength, True), context=_or(options.include_context, True))
            for one in found.found
        ]
        return answer(
            asking.begun,
            _said(len(told), "relationship"),
            content_id=given.content_id,
            relationships=told,
            looked_at=shown(found.looked_at),
            notes=_notes(found.notes),
            **_when(made, asking),
        )

    return replied(asking, work)


def _conflicts(context: Context, given: parameters.DetectConflicts) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.ConflictOptions()
    ids = _set("detect_conflicts", given.scope, given.content_ids)
    types = _chosen(given.conflict_types, parameters.ConflictType, "conflict_types")

    def work() -> dict[str, Any]:
        found, made = asking.memory.conflicts(
            types=types, ids=ids, sensitivity=_or(options.sensitivity, "medium"),
            suggest=_or(options.include_resolution_suggestions, True), session=given.session_id, step=asking.step,
        )  # fmt: skip
        told, more = fitting([clash(one, given.project_id, given.session_id) for one in found.clashes], _SOME)
        return answer(
            asking.begun,
            _said(len(found.clashes), "conflict"),
            scope="project" if ids is None else "content_set",
            sensitivity=_or(options.sensitivity, "medium"),
            conflicts=told,
            counts={type: sum(one.type == type for one in found.clashes) for type in types},
            looked_at=shown(found.looked_at),
            notes=[*_notes(found.notes), *(f"{type}: {text}" for type, text in more.items())],
            **_when(made, asking),
        )

    return replied(asking, work)


def _insights(context: Context, given: parameters.GenerateInsights) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.InsightOptions()
    ids = _set("generate_insights", given.scope, given.content_ids)
    scope = _or(given.scope, "project" if ids is None else "content_set")
    if scope == "session":
        _needs("generate_insights", "session_id", given.session_id)
    types = _chosen(given.insight_types, parameters.InsightType, "insight_types")
    recommend = _or(options.include_recommendations, True)

    def work() -> dict[str, Any]:
        found, made = asking.memory.insights(
            types=types, depth=_or(options.depth, "surface"), horizon=_or(options.time_horizon, "medium"),
            recommend=recommend, ids=ids, session=given.session_id, only_session=scope == "session", step=asking.step,
        )  # fmt: skip
        shown_ids = asking.memory.ids_shown({id for one in found.insights for id in one.members})
        told, more = fitting(
            [
                insight(one, shown_ids, given.project_id, given.session_id, recommend=recommend)
                for one in found.insights
            ],
            _FEWER,
        )
        return answer(
            asking.begun,
            _said(len(found.insights), "insight"),
            scope=scope,
            insights=told,
            counts={type: sum(one.type == type for one in found.insights) for type in types},
            looked_at=shown(found.looked_at),
            notes=[*_notes(found.notes), *(f"{type}: {text}" for type, text in more.items())],
            **_when(made, asking),
        )

    return replied(asking, work)


def _set(operation: str, scope: str | None, given: list[str] | None) -> tuple[str, ...] | None:
    """The ids of a content set, if that is what the call is about."""
    if given is not None and not given:
        raise Invalid("content_ids is empty", field="content_ids", hint="Name at least one item, or leave it out.")
    if scope == "content_set":
        if given is None:
            raise BadArguments(operation, [Violation("content_ids", "array", "undefined")])
    elif scope is not None and given is not None:
        raise _no_use("content_ids", scope, "content_set")
    return _ids(given)


VERBS = {
    "detect_patterns": Verb(
        params=parameters.DetectPatterns,
        run=_patterns,
        help="Look for patterns in a project: topics, usage, quality issues, relationships, rhythms in time, and "
        "who writes what. Each comes with its evidence.",
        reads=True,
        heavy=True,
    ),
    "analyze_quality": Verb(
        params=parameters.AnalyzeQuality,
        run=_quality,
        help="Measure the quality of an item on up to eight dimensions, each from 0 to 1, and say what would "
        "improve it.",
        reads=True,
        heavy=True,
    ),
    "find_content_relationships": Verb(
        params=parameters.FindRelationships,
        run=_relationships,
        help="Find the items that one is related to: by stored relationships, followed over several steps, and "
        "by what the texts show.",
        reads=True,
        heavy=True,
    ),
    "detect_conflicts": Verb(
        params=parameters.DetectConflicts,
        run=_conflicts,
        help="Find statements that contradict each other, within one item or between several, and propose what "
        "to do about each.",
        reads=True,
        heavy=True,
    ),
    "generate_insights": Verb(
        params=parameters.GenerateInsights,
        run=_insights,
        help="Draw conclusions from a project as a whole: gaps, trends, usage, what could be tidied up, and what "
        "belongs together. Each comes with its evidence and a recommendation.",
        reads=True,
        heavy=True,
    ),
}
