"""memory_analyze: patterns, quality, relationships, conflicts and insights, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal, get_args

from polymnia.dialects.content import analyze_answers as answers
from polymnia.dialects.content import shapes
from polymnia.dialects.content.call import ContentCall, Fields, by_name, operation
from polymnia.dialects.content.findings import clash, compared, connection, fitting, insight, pattern, shown
from polymnia.dialects.content.reports import remark
from polymnia.dialects.shapes import about
from polymnia.engine.content import RelationshipType
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, Violation
from polymnia.importing import importing
from polymnia.models import JsonObject

PatternScope = Annotated[
    Literal["project", "session", "content"],
    about("Of what: session needs session_id, content needs content_id (default project)."),
]
ConflictScope = Annotated[
    Literal["project", "content_set"],
    about("All items, or those of content_ids (default: content_set where these are given)."),
]
InsightScope = Annotated[
    Literal["project", "session", "content_set"],
    about("Of what: session needs session_id, content_set needs content_ids (default project)."),
]
ConflictItems = Annotated[list[str], about("The items; a single one is compared with the whole project.")]
Sensitivity = Annotated[
    Literal["high", "medium", "low"],
    about("high tells what may be one, low what is one almost surely (default medium)."),
]
Suggest = Annotated[bool, about("What to do about each, as a call that does it (default true).")]
Depth = Literal["surface", "deep", "comprehensive"]
Horizon = Literal["short", "medium", "long"]

_analysis = partial(operation, reads=True, heavy=True)

# How to get what did not fit into an answer.
_FEWER = "ask for this type alone, or about fewer items"
_SOME = "name some items, one type, or sensitivity low"


def _chosen(names: list[Any] | None, every: Any, where: str) -> tuple[str, ...]:
    """The given types, each once; all if none is given."""
    if names is not None and not names:
        raise Invalid(
            f"{where} is empty", field=where, hint=f"Name one of {', '.join(get_args(every))}, or leave it out."
        )
    return tuple(dict.fromkeys(get_args(every) if names is None else names))


def _needs(operation: str, field: str, value: Any) -> None:
    if value is None:
        raise BadArguments(operation, [Violation(field, "string", "undefined")])


def _no_use(field: str, scope: str, other: str) -> Invalid:
    return Invalid(
        f"{field} has no meaning with scope {scope}", field=field, hint=f"Use scope {other}, or leave it out."
    )


def _when(made: int, call: ContentCall) -> JsonObject:
    """When the result was computed, and whether that was before this call."""
    return {"analyzed_at": moment(made), "cached": made < call.called_at}


@_analysis(answers.DetectPatternsAnswer, ("PatternOptions", "Which patterns, and how to tell them."))
def detect_patterns(
    call: ContentCall,
    scope: PatternScope | None = None,
    content_id: shapes.Item | None = None,
    pattern_types: Annotated[list[answers.PatternType], about("Only these (default all).")] | None = None,
    *,
    min_confidence: Annotated[shapes.Share, about("Leave out what is less certain (default 0.5).")] = 0.5,
    include_explanations: Annotated[bool, about("How each was measured (default true).")] = True,
    time_range: Annotated[shapes.DateRange | None, about("Only what was written or read in this time.")] = None,
) -> Fields:
    """Look for patterns in a project: topics, usage, quality issues, relationships, rhythms in time, and who writes
    what. Each comes with its evidence.
    """
    scope = scope or ("content" if content_id is not None else "project")
    if scope == "content":
        _needs("detect_patterns", "content_id", content_id)
    elif content_id is not None:
        raise _no_use("content_id", scope, "content")
    if scope == "session":
        _needs("detect_patterns", "session_id", call.session)
    start, end = shapes.period(time_range, "options.time_range")
    found, made = call.memory.patterns(
        _chosen(pattern_types, answers.PatternType, "pattern_types"),
        session=call.session,
        only_session=scope == "session",
        id=content_id,
        start=start,
        end=end,
        step=call.step,
    )
    ids = call.memory.ids_shown({id for one in found.values() for p in one.patterns for id in p.members})
    certain = [p for one in found.values() for p in one.patterns if p.confidence >= min_confidence]
    fitted, more = fitting([pattern(p, ids, explained=include_explanations) for p in certain], _FEWER)
    remarks = [(type, remark(each)) for type, one in found.items() for each in one.notes]
    return call.answer(
        _message(len(certain), "pattern"),
        scope=scope,
        patterns=fitted,
        counts={type: sum(p.type == type for p in certain) for type in found},
        below_min_confidence=sum(len(one.patterns) for one in found.values()) - len(certain),
        looked_at={type: shown(one.looked_at) for type, one in found.items()},
        notes=[{"type": type, "note": text} for type, text in (*remarks, *more.items())],
        **_when(made, call),
    )


def _message(count: int, what: str) -> str:
    return f"Found {count or 'no'} {what}{'' if count == 1 else 's'}"


def _notes(found: Iterable[Any]) -> list[str]:
    return [remark(one) for one in found]


def _ids(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(dict.fromkeys(names))


@_analysis(answers.AnalyzeQualityAnswer, ("QualityOptions", "What to answer besides the scores."))
def analyze_quality(
    call: ContentCall,
    content_id: shapes.Item,
    quality_dimensions: Annotated[list[answers.QualityDimension], about("Only these (default all).")] | None = None,
    *,
    include_suggestions: Annotated[bool, about("What to mend, and where (default true).")] = True,
    include_metrics: Annotated[bool, about("The figures behind each score (default false).")] = False,
    benchmark_against: Annotated[list[str], about("Ids of items to compare it with.")] | None = None,
) -> Fields:
    """Measure the quality of an item on up to eight dimensions, each from 0 to 1, and say what would improve it."""
    dimensions = _chosen(quality_dimensions, answers.QualityDimension, "quality_dimensions")
    against, where = _ids(benchmark_against) or (), "options.benchmark_against"
    if benchmark_against is not None and not against:
        raise Invalid(f"{where} is empty", field=where, hint="Name items, or leave it out.")
    if content_id in against:
        raise Invalid(f"{where} names the item itself", field=where, hint="Name others.")
    with importing():
        from polymnia.dialects.content.reports import quality as words

    found, made = call.memory.quality(
        content_id,
        dimensions=dimensions,
        suggestions=include_suggestions,
        metrics=include_metrics,
        against=against,
        session=call.session,
        step=call.step,
    )
    fields: JsonObject = {
        "content_id": content_id,
        "title": found.title,
        "overall_score": shown(found.score),
        "dimensions": {one.name: shown(words.dimension(one, metrics=include_metrics)) for one in found.dimensions},
    }
    if include_suggestions:
        fields["suggestions"] = [shown(words.suggestion(one)) for one in found.suggestions]
    if against:
        items = [compared(one) for one in found.compared]
        fields["benchmark"] = {"items": items, "standing": shown(found.standing)}
    fields |= {"looked_at": shown(found.looked_at), "notes": words.notes(found)}
    return call.answer(**fields, **_when(made, call))


@_analysis(answers.FindContentRelationshipsAnswer, ("RelationshipOptions", "Which relationships, and what of them."))
def find_content_relationships(
    call: ContentCall,
    content_id: shapes.Item,
    relationship_types: Annotated[list[RelationshipType], about("Only these (default all).")] | None = None,
    max_depth: Annotated[int, about("How far to follow them (default 2).", ge=1, le=5)] = 2,
    limit: Annotated[int, about("Results (default 50).", ge=1, le=500)] = 50,
    *,
    include_strength: Annotated[bool, about("How strong each is (default true).")] = True,
    include_context: Annotated[bool, about("Why each is drawn (default true).")] = True,
    min_confidence: Annotated[shapes.Share, about("Leave out what is less certain (default 0).")] = 0.0,
) -> Fields:
    """Find the items that one is related to: by stored relationships, followed over several steps, and by what the
    texts show.
    """
    chosen = _chosen(relationship_types, RelationshipType, "relationship_types")
    found, made = call.memory.connections(
        content_id,
        types=None if relationship_types is None else chosen,
        max_depth=max_depth,
        limit=limit,
        least=min_confidence,
        session=call.session,
        step=call.step,
    )
    return call.answer(
        _message(len(found.found), "relationship"),
        content_id=content_id,
        relationships=[connection(one, strength=include_strength, context=include_context) for one in found.found],
        looked_at=shown(found.looked_at),
        notes=_notes(found.notes),
        **_when(made, call),
    )


@_analysis(answers.DetectConflictsAnswer, ("ConflictOptions", "Which conflicts, and what of them."))
def detect_conflicts(
    call: ContentCall,
    scope: ConflictScope | None = None,
    content_ids: ConflictItems | None = None,
    conflict_types: Annotated[list[answers.ConflictType], about("Only these (default all).")] | None = None,
    *,
    sensitivity: Sensitivity = "medium",
    include_resolution_suggestions: Suggest = True,
) -> Fields:
    """Find statements that contradict each other, within one item or between several, and propose what to do about
    each.
    """
    ids = _set("detect_conflicts", scope, content_ids)
    types = _chosen(conflict_types, answers.ConflictType, "conflict_types")
    found, made = call.memory.conflicts(
        types=types,
        ids=ids,
        sensitivity=sensitivity,
        suggest=include_resolution_suggestions,
        session=call.session,
        step=call.step,
    )
    fitted, more = fitting([clash(one, call.project, call.session) for one in found.clashes], _SOME)
    return call.answer(
        _message(len(found.clashes), "conflict"),
        scope="project" if ids is None else "content_set",
        sensitivity=sensitivity,
        conflicts=fitted,
        counts={type: sum(one.type == type for one in found.clashes) for type in types},
        looked_at=shown(found.looked_at),
        notes=[*_notes(found.notes), *(f"{type}: {text}" for type, text in more.items())],
        **_when(made, call),
    )


@_analysis(answers.GenerateInsightsAnswer, ("InsightOptions", "How thorough, how far back, and with what."))
def generate_insights(
    call: ContentCall,
    scope: InsightScope | None = None,
    content_ids: Annotated[list[str], about("The items.")] | None = None,
    insight_types: Annotated[list[answers.InsightType], about("Only these (default all).")] | None = None,
    *,
    depth: Annotated[Depth, about("How much is looked at and told (default surface).")] = "surface",
    include_recommendations: Annotated[bool, about("What to do about each (default true).")] = True,
    time_horizon: Annotated[Horizon, about("The last and the next 7, 30 or 365 days (default medium).")] = "medium",
) -> Fields:
    """Draw conclusions from a project as a whole: gaps, trends, usage, what could be tidied up, and what belongs
    together. Each comes with its evidence and a recommendation.
    """
    ids = _set("generate_insights", scope, content_ids)
    scope = scope or ("project" if ids is None else "content_set")
    if scope == "session":
        _needs("generate_insights", "session_id", call.session)
    types = _chosen(insight_types, answers.InsightType, "insight_types")
    found, made = call.memory.insights(
        types=types,
        depth=depth,
        horizon=time_horizon,
        recommend=include_recommendations,
        ids=ids,
        session=call.session,
        only_session=scope == "session",
        step=call.step,
    )
    names = call.memory.ids_shown({id for one in found.insights for id in one.members})
    fitted, more = fitting(
        [insight(one, names, call.project, call.session, recommend=include_recommendations) for one in found.insights],
        _FEWER,
    )
    return call.answer(
        _message(len(found.insights), "insight"),
        scope=scope,
        insights=fitted,
        counts={type: sum(one.type == type for one in found.insights) for type in types},
        looked_at=shown(found.looked_at),
        notes=[*_notes(found.notes), *(f"{type}: {text}" for type, text in more.items())],
        **_when(made, call),
    )


def _set(operation: str, scope: str | None, names: list[str] | None) -> tuple[str, ...] | None:
    """The ids of a content set, if the call names one."""
    if names is not None and not names:
        raise Invalid("content_ids is empty", field="content_ids", hint="Name at least one item, or leave it out.")
    if scope == "content_set":
        if names is None:
            raise BadArguments(operation, [Violation("content_ids", "array", "undefined")])
    elif scope is not None and names is not None:
        raise _no_use("content_ids", scope, "content_set")
    return _ids(names)


OPERATIONS = by_name(detect_patterns, analyze_quality, find_content_relationships, detect_conflicts, generate_insights)
