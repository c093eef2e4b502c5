"""What the operations of memory_analyze take, as the seed lists it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from polymnia.dialects.content.parameters import DateRange, Item, Share, Standard
from polymnia.engine.items import RelationshipType

__all__ = [
    "AnalyzeQuality", "ConflictOptions", "ConflictType", "DetectConflicts", "DetectPatterns", "FindRelationships",
    "GenerateInsights", "InsightOptions", "InsightType", "PatternOptions", "PatternType", "QualityDimension",
    "QualityOptions", "RelationshipOptions",
]  # fmt: skip

PatternType = Literal[
    "topic_clusters", "usage_patterns", "quality_issues", "relationship_patterns", "temporal_patterns", "user_patterns"
]
QualityDimension = Literal[
    "clarity", "completeness", "accuracy", "relevance", "structure", "consistency", "readability", "actionability"
]
ConflictType = Literal["factual_conflicts", "recommendation_conflicts", "temporal_conflicts", "logical_conflicts"]
InsightType = Literal[
    "content_gaps", "usage_insights", "trend_analysis", "efficiency_opportunities", "knowledge_synthesis"
]


class PatternOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of detect_patterns."""

    min_confidence: Annotated[Share, Meta(description="Leave out what is less certain (default 0.5).")] | None = None
    include_explanations: Annotated[bool, Meta(description="How each was measured (default true).")] | None = None
    time_range: Annotated[DateRange | None, Meta(description="Only what was written or read in this time.")] = None


class DetectPatterns(Standard, frozen=True, kw_only=True):
    """detect_patterns."""

    scope: (
        Annotated[
            Literal["project", "session", "content"],
            Meta(description="Of what: session needs session_id, content needs content_id (default project)."),
        ]
        | None
    ) = None
    content_id: Item | None = None
    pattern_types: Annotated[list[PatternType], Meta(description="Only these (default all).")] | None = None
    options: Annotated[PatternOptions | None, Meta(description="Which patterns, and how to tell them.")] = None


class QualityOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of analyze_quality."""

    include_suggestions: Annotated[bool, Meta(description="What to mend, and where (default true).")] | None = None
    include_metrics: Annotated[bool, Meta(description="The figures behind each score (default false).")] | None = None
    benchmark_against: Annotated[list[str], Meta(description="Ids of items to compare it with.")] | None = None


class AnalyzeQuality(Standard, frozen=True, kw_only=True):
    """analyze_quality."""

    content_id: Item
    quality_dimensions: Annotated[list[QualityDimension], Meta(description="Only these (default all).")] | None = None
    options: Annotated[QualityOptions | None, Meta(description="What to answer besides the scores.")] = None


class RelationshipOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of find_content_relationships."""

    include_strength: Annotated[bool, Meta(description="How strong each is (default true).")] | None = None
    include_context: Annotated[bool, Meta(description="Why each is drawn (default true).")] | None = None
    min_confidence: Annotated[Share, Meta(description="Leave out what is less certain (default 0).")] | None = None


class FindRelationships(Standard, frozen=True, kw_only=True):
    """find_content_relationships."""

    content_id: Item
    relationship_types: Annotated[list[RelationshipType], Meta(description="Only these (default all).")] | None = None
    max_depth: Annotated[int, Meta(ge=1, le=5, description="How far to follow them (default 2).")] | None = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Results (default 50).")] | None = None
    options: Annotated[RelationshipOptions | None, Meta(description="Which relationships, and what of them.")] = None


class ConflictOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of detect_conflicts."""

    sensitivity: (
        Annotated[
            Literal["high", "medium", "low"],
            Meta(description="high tells what may be one, low what is one almost surely (default medium)."),
        ]
        | None
    ) = None
    include_resolution_suggestions: (
        Annotated[bool, Meta(description="What to do about each, as a call that does it (default true).")] | None
    ) = None


class DetectConflicts(Standard, frozen=True, kw_only=True):
    """detect_conflicts."""

    scope: (
        Annotated[
            Literal["project", "content_set"],
            Meta(description="All items, or those of content_ids (default: content_set where these are given)."),
        ]
        | None
    ) = None
    content_ids: (
        Annotated[list[str], Meta(description="The items; a single one is compared with the whole project.")] | None
    ) = None
    conflict_types: Annotated[list[ConflictType], Meta(description="Only these (default all).")] | None = None
    options: Annotated[ConflictOptions | None, Meta(description="Which conflicts, and what of them.")] = None


class InsightOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of generate_insights."""

    depth: (
        Annotated[
            Literal["surface", "deep", "comprehensive"],
            Meta(description="How much is looked at and told (default surface)."),
        ]
        | None
    ) = None
    include_recommendations: Annotated[bool, Meta(description="What to do about each (default true).")] | None = None
    time_horizon: (
        Annotated[
            Literal["short", "medium", "long"],
            Meta(description="The last and the next 7, 30 or 365 days (default medium)."),
        ]
        | None
    ) = None


class GenerateInsights(Standard, frozen=True, kw_only=True):
    """generate_insights."""

    scope: (
        Annotated[
            Literal["project", "session", "content_set"],
            Meta(description="Of what: session needs session_id, content_set needs content_ids (default project)."),
        ]
        | None
    ) = None
    content_ids: Annotated[list[str], Meta(description="The items.")] | None = None
    insight_types: Annotated[list[InsightType], Meta(description="Only these (default all).")] | None = None
    options: Annotated[InsightOptions | None, Meta(description="How thorough, how far back, and with what.")] = None
