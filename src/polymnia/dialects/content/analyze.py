"""memory_analyze: patterns, quality, relationships, conflicts and insights, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct

from polymnia.dialects.content.analyze_answers import (
    AnalyzeQualityAnswer,
    ConflictType,
    DetectConflictsAnswer,
    DetectPatternsAnswer,
    FindContentRelationshipsAnswer,
    GenerateInsightsAnswer,
    InsightType,
    PatternType,
    QualityDimension,
)
from polymnia.dialects.content.call import ContentCall, Fields, OperationParameters, operation
from polymnia.dialects.content.findings import clash, compared, connection, fitting, insight, pattern, shown
from polymnia.dialects.content.reports import remark
from polymnia.dialects.content.shapes import DateRange, Item, Share, period
from polymnia.dialects.shapes import about, or_else
from polymnia.engine.content import RelationshipType
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, Violation
from polymnia.importing import importing
from polymnia.models import JsonObject

# How to hear of what did not fit into an answer.
_FEWER = "ask for this type alone, or about fewer items"
_SOME = "name some items, one type, or sensitivity low"


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


def _when(made: int, call: ContentCall) -> JsonObject:
    """When the result was made, and whether that was before this call."""
    return {"analyzed_at": moment(made), "cached": made < call.asked}


class PatternOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of detect_patterns."""

    min_confidence: Annotated[Share, about("Leave out what is less certain (default 0.5).")] | None = None
    include_explanations: Annotated[bool, about("How each was measured (default true).")] | None = None
    time_range: Annotated[DateRange | None, about("Only what was written or read in this time.")] = None


class DetectPatternsParameters(OperationParameters, frozen=True, kw_only=True):
    """detect_patterns."""

    scope: (
        Annotated[
            Literal["project", "session", "content"],
            about("Of what: session needs session_id, content needs content_id (default project)."),
        ]
        | None
    ) = None
    content_id: Item | None = None
    pattern_types: Annotated[list[PatternType], about("Only these (default all).")] | None = None
    options: Annotated[PatternOptions | None, about("Which patterns, and how to tell them.")] = None


@operation(DetectPatternsParameters, DetectPatternsAnswer, reads=True, heavy=True)
def detect_patterns(call: ContentCall, given: DetectPatternsParameters) -> Fields:
    """Look for patterns in a project: topics, usage, quality issues, relationships, rhythms in time, and who writes
    what. Each comes with its evidence.
    """
    options = given.options or PatternOptions()
    scope = or_else(given.scope, "content" if given.content_id is not None else "project")
    if scope == "content":
        _needs("detect_patterns", "content_id", given.content_id)
    elif given.content_id is not None:
        raise _no_use("content_id", scope, "content")
    if scope == "session":
        _needs("detect_patterns", "session_id", given.session_id)
    start, end = period(options.time_range, "options.time_range")
    types = _chosen(given.pattern_types, PatternType, "pattern_types")
    found, made = call.memory.patterns(
        types,
        session=given.session_id,
        only_session=scope == "session",
        id=given.content_id,
        start=start,
        end=end,
        step=call.step,
    )
    least = or_else(options.min_confidence, 0.5)
    left_out, looked = 0, {}
    certain: list[Any] = []
    notes: list[dict[str, str]] = []
    ids = call.memory.ids_shown({id for one in found.values() for p in one.patterns for id in p.members})
    for type, one in found.items():
        kept = [p for p in one.patterns if p.confidence >= least]
        left_out += len(one.patterns) - len(kept)
        certain += kept
        looked[type] = shown(one.looked_at)
        notes += [{"type": type, "note": remark(each)} for each in one.notes]
    explained = or_else(options.include_explanations, True)
    told, more = fitting([pattern(p, ids, explained=explained) for p in certain], _FEWER)
    notes += [{"type": type, "note": text} for type, text in more.items()]
    fields: JsonObject = {
        "scope": scope,
        "patterns": told,
        "counts": {type: sum(p.type == type for p in certain) for type in looked},
        "below_min_confidence": left_out,
        "looked_at": looked,
        "notes": notes,
    }
    return call.answer(_said(len(certain), "pattern"), **fields, **_when(made, call))


def _said(count: int, what: str) -> str:
    return f"Found {count or 'no'} {what}{'' if count == 1 else 's'}"


def _notes(found: Iterable[Any]) -> list[str]:
    return [remark(one) for one in found]


def _ids(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(dict.fromkeys(given))


class QualityOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of analyze_quality."""

    include_suggestions: Annotated[bool, about("What to mend, and where (default true).")] | None = None
    include_metrics: Annotated[bool, about("The figures behind each score (default false).")] | None = None
    benchmark_against: Annotated[list[str], about("Ids of items to compare it with.")] | None = None


class AnalyzeQualityParameters(OperationParameters, frozen=True, kw_only=True):
    """analyze_quality."""

    content_id: Item
    quality_dimensions: Annotated[list[QualityDimension], about("Only these (default all).")] | None = None
    options: Annotated[QualityOptions | None, about("What to answer besides the scores.")] = None


@operation(AnalyzeQualityParameters, AnalyzeQualityAnswer, reads=True, heavy=True)
def analyze_quality(call: ContentCall, given: AnalyzeQualityParameters) -> Fields:
    """Measure the quality of an item on up to eight dimensions, each from 0 to 1, and say what would improve it."""
    options = given.options or QualityOptions()
    dimensions = _chosen(given.quality_dimensions, QualityDimension, "quality_dimensions")
    against = _ids(options.benchmark_against) or ()
    if options.benchmark_against is not None and not against:
        raise Invalid(
            "options.benchmark_against is empty", field="options.benchmark_against", hint="Name items, or leave it out."
        )
    if given.content_id in against:
        raise Invalid(
            "options.benchmark_against names the item itself", field="options.benchmark_against", hint="Name others."
        )
    with_metrics = or_else(options.include_metrics, False)
    with importing():
        from polymnia.dialects.content.reports import quality as words

    found, made = call.memory.quality(
        given.content_id,
        dimensions=dimensions,
        suggestions=or_else(options.include_suggestions, True),
        metrics=with_metrics,
        against=against,
        session=given.session_id,
        step=call.step,
    )
    fields: JsonObject = {
        "content_id": given.content_id,
        "title": found.title,
        "overall_score": shown(found.score),
        "dimensions": {one.name: shown(words.dimension(one, metrics=with_metrics)) for one in found.dimensions},
    }
    if or_else(options.include_suggestions, True):
        fields["suggestions"] = [shown(words.suggestion(one)) for one in found.suggestions]
    if against:
        items = [compared(one) for one in found.compared]
        fields["benchmark"] = {"items": items, "standing": shown(found.standing)}
    fields |= {"looked_at": shown(found.looked_at), "notes": words.notes(found)}
    return call.answer(**fields, **_when(made, call))


class RelationshipOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of find_content_relationships."""

    include_strength: Annotated[bool, about("How strong each is (default true).")] | None = None
    include_context: Annotated[bool, about("Why each is drawn (default true).")] | None = None
    min_confidence: Annotated[Share, about("Leave out what is less certain (default 0).")] | None = None


class FindContentRelationshipsParameters(OperationParameters, frozen=True, kw_only=True):
    """find_content_relationships."""

    content_id: Item
    relationship_types: Annotated[list[RelationshipType], about("Only these (default all).")] | None = None
    max_depth: Annotated[int, about("How far to follow them (default 2).", ge=1, le=5)] | None = None
    limit: Annotated[int, about("Results (default 50).", ge=1, le=500)] | None = None
    options: Annotated[RelationshipOptions | None, about("Which relationships, and what of them.")] = None


@operation(FindContentRelationshipsParameters, FindContentRelationshipsAnswer, reads=True, heavy=True)
def find_content_relationships(call: ContentCall, given: FindContentRelationshipsParameters) -> Fields:
    """Find the items that one is related to: by stored relationships, followed over several steps, and by what the
    texts show.
    """
    options = given.options or RelationshipOptions()
    types = given.relationship_types
    chosen = None if types is None else _chosen(types, RelationshipType, "relationship_types")
    found, made = call.memory.connections(
        given.content_id,
        types=chosen,
        max_depth=or_else(given.max_depth, 2),
        limit=or_else(given.limit, 50),
        least=or_else(options.min_confidence, 0.0),
        session=given.session_id,
        step=call.step,
    )
    told = [
        connection(
            one, strength=or_else(options.include_strength, True), context=or_else(options.include_context, True)
        )
        for one in found.found
    ]
    return call.answer(
        _said(len(told), "relationship"),
        content_id=given.content_id,
        relationships=told,
        looked_at=shown(found.looked_at),
        notes=_notes(found.notes),
        **_when(made, call),
    )


class ConflictOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of detect_conflicts."""

    sensitivity: (
        Annotated[
            Literal["high", "medium", "low"],
            about("high tells what may be one, low what is one almost surely (default medium)."),
        ]
        | None
    ) = None
    include_resolution_suggestions: (
        Annotated[bool, about("What to do about each, as a call that does it (default true).")] | None
    ) = None


class DetectConflictsParameters(OperationParameters, frozen=True, kw_only=True):
    """detect_conflicts."""

    scope: (
        Annotated[
            Literal["project", "content_set"],
            about("All items, or those of content_ids (default: content_set where these are given)."),
        ]
        | None
    ) = None
    content_ids: Annotated[list[str], about("The items; a single one is compared with the whole project.")] | None = (
        None
    )
    conflict_types: Annotated[list[ConflictType], about("Only these (default all).")] | None = None
    options: Annotated[ConflictOptions | None, about("Which conflicts, and what of them.")] = None


@operation(DetectConflictsParameters, DetectConflictsAnswer, reads=True, heavy=True)
def detect_conflicts(call: ContentCall, given: DetectConflictsParameters) -> Fields:
    """Find statements that contradict each other, within one item or between several, and propose what to do about
    each.
    """
    options = given.options or ConflictOptions()
    ids = _set("detect_conflicts", given.scope, given.content_ids)
    types = _chosen(given.conflict_types, ConflictType, "conflict_types")
    found, made = call.memory.conflicts(
        types=types,
        ids=ids,
        sensitivity=or_else(options.sensitivity, "medium"),
        suggest=or_else(options.include_resolution_suggestions, True),
        session=given.session_id,
        step=call.step,
    )
    told, more = fitting([clash(one, given.project_id, given.session_id) for one in found.clashes], _SOME)
    return call.answer(
        _said(len(found.clashes), "conflict"),
        scope="project" if ids is None else "content_set",
        sensitivity=or_else(options.sensitivity, "medium"),
        conflicts=told,
        counts={type: sum(one.type == type for one in found.clashes) for type in types},
        looked_at=shown(found.looked_at),
        notes=[*_notes(found.notes), *(f"{type}: {text}" for type, text in more.items())],
        **_when(made, call),
    )


class InsightOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of generate_insights."""

    depth: (
        Annotated[
            Literal["surface", "deep", "comprehensive"],
            about("How much is looked at and told (default surface)."),
        ]
        | None
    ) = None
    include_recommendations: Annotated[bool, about("What to do about each (default true).")] | None = None
    time_horizon: (
        Annotated[
            Literal["short", "medium", "long"],
            about("The last and the next 7, 30 or 365 days (default medium)."),
        ]
        | None
    ) = None


class GenerateInsightsParameters(OperationParameters, frozen=True, kw_only=True):
    """generate_insights."""

    scope: (
        Annotated[
            Literal["project", "session", "content_set"],
            about("Of what: session needs session_id, content_set needs content_ids (default project)."),
        ]
        | None
    ) = None
    content_ids: Annotated[list[str], about("The items.")] | None = None
    insight_types: Annotated[list[InsightType], about("Only these (default all).")] | None = None
    options: Annotated[InsightOptions | None, about("How thorough, how far back, and with what.")] = None


@operation(GenerateInsightsParameters, GenerateInsightsAnswer, reads=True, heavy=True)
def generate_insights(call: ContentCall, given: GenerateInsightsParameters) -> Fields:
    """Draw conclusions from a project as a whole: gaps, trends, usage, what could be tidied up, and what belongs
    together. Each comes with its evidence and a recommendation.
    """
    options = given.options or InsightOptions()
    ids = _set("generate_insights", given.scope, given.content_ids)
    scope = or_else(given.scope, "project" if ids is None else "content_set")
    if scope == "session":
        _needs("generate_insights", "session_id", given.session_id)
    types = _chosen(given.insight_types, InsightType, "insight_types")
    recommend = or_else(options.include_recommendations, True)
    found, made = call.memory.insights(
        types=types,
        depth=or_else(options.depth, "surface"),
        horizon=or_else(options.time_horizon, "medium"),
        recommend=recommend,
        ids=ids,
        session=given.session_id,
        only_session=scope == "session",
        step=call.step,
    )
    shown_ids = call.memory.ids_shown({id for one in found.insights for id in one.members})
    told, more = fitting(
        [insight(one, shown_ids, given.project_id, given.session_id, recommend=recommend) for one in found.insights],
        _FEWER,
    )
    return call.answer(
        _said(len(found.insights), "insight"),
        scope=scope,
        insights=told,
        counts={type: sum(one.type == type for one in found.insights) for type in types},
        looked_at=shown(found.looked_at),
        notes=[*_notes(found.notes), *(f"{type}: {text}" for type, text in more.items())],
        **_when(made, call),
    )


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


OPERATIONS = {
    "detect_patterns": detect_patterns,
    "analyze_quality": analyze_quality,
    "find_content_relationships": find_content_relationships,
    "detect_conflicts": detect_conflicts,
    "generate_insights": generate_insights,
}
