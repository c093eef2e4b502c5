"""What the operations of memory_analyze answer, field by field."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from polymnia.dialects.content.analyzing_parameters import ConflictType, InsightType, PatternType
from polymnia.dialects.content.answers import Answer, Notes, Object

__all__ = [
    "ANSWERS", "AnalysisAnswer", "AnalyzeQualityAnswer", "Conflict", "ConflictLook", "ConflictResolution",
    "ConflictStatement", "DetectConflictsAnswer", "DetectPatternsAnswer", "FindContentRelationshipsAnswer",
    "FoundRelationship", "GenerateInsightsAnswer", "Insight", "Pattern", "PatternNote", "QualityBenchmark",
    "QualityComparison", "QualityDimensionScore", "QualityLook", "QualityMetric", "QualityRank", "QualitySuggestion",
    "RelationshipLook", "RelationshipStep", "ToolCall", "UnavailableAnalysis",
]  # fmt: skip

Direction = Literal["outgoing", "incoming"]
Score = Annotated[float | None, Meta(description="The score, from 0 to 1; null where it cannot be told.")]


class AnalysisAnswer(Answer):
    """What every analysis answers."""

    analyzed_at: Annotated[str, Meta(description="When the analysis was made: UTC, ISO 8601.")]
    cached: Annotated[bool, Meta(description="Whether it was made before this call, and the data has not changed.")]


class ToolCall(TypedDict):
    """A call of a tool that can be made as it stands."""

    tool: Annotated[str, Meta(description="The name of the tool.")]
    arguments: Annotated[Object, Meta(description="Its arguments.")]


class Pattern(TypedDict):
    """Something that holds in a project."""

    type: Annotated[PatternType, Meta(description="The type of the pattern.")]
    name: Annotated[str, Meta(description="What kind of finding it is, for example cluster, hub or burst.")]
    summary: Annotated[str, Meta(description="The finding, as a sentence.")]
    confidence: Annotated[float, Meta(description="How often a finding like this one is right, from 0 to 1.")]
    evidence: Annotated[
        Object, Meta(description="What it rests on: counts, dates, ids, sentences; the names differ by kind.")
    ]
    content_ids: Annotated[list[str], Meta(description="The items it is about, most telling first; not all of many.")]
    content_count: Annotated[int, Meta(description="How many items it is about.")]
    explanation: NotRequired[
        Annotated[str, Meta(description="How it was measured; unless options.include_explanations is false.")]
    ]


class PatternNote(TypedDict):
    """A remark on one type of pattern."""

    type: Annotated[str, Meta(description="The type of pattern, or project for a remark on the project.")]
    note: Annotated[str, Meta(description="The remark, as a sentence.")]


class UnavailableAnalysis(TypedDict):
    """A type of pattern that this server cannot look for."""

    type: Annotated[PatternType, Meta(description="The type of pattern.")]
    reason: Annotated[str, Meta(description="Why not.")]
    solution: Annotated[str, Meta(description="What would make it available.")]


class DetectPatternsAnswer(AnalysisAnswer):
    """The patterns that were found, most certain first."""

    message: Annotated[str, Meta(description="What was found, as a sentence.")]
    scope: Annotated[Literal["project", "session", "content"], Meta(description="What was looked at.")]
    patterns: Annotated[list[Pattern], Meta(description="The patterns, type by type, the most certain of each first.")]
    counts: Annotated[dict[str, int], Meta(description="How many patterns of each type were found.")]
    below_min_confidence: Annotated[
        int, Meta(description="How many were left out because they are less certain than options.min_confidence.")
    ]
    looked_at: Annotated[
        dict[str, Object], Meta(description="What was looked at, in figures, by type; the names differ by type.")
    ]
    notes: Annotated[list[PatternNote], Meta(description="What could not be told, and why.")]
    unavailable: NotRequired[
        Annotated[list[UnavailableAnalysis], Meta(description="Types that need a library this server does not have.")]
    ]


class QualityMetric(TypedDict):
    """One measure of one dimension."""

    value: Annotated[float, Meta(description="What was measured.")]
    score: Annotated[float, Meta(description="The score it gives, from 0 to 1.")]
    weight: Annotated[float, Meta(description="How much it counts in the dimension.")]
    measured_against: Annotated[str, Meta(description="What it was measured against.")]
    quotes: NotRequired[Annotated[list[str], Meta(description="The passages that lowered it.")]]


class QualityDimensionScore(TypedDict):
    """The score of one dimension of quality."""

    score: Score
    note: NotRequired[Annotated[str, Meta(description="Why it cannot be told, where the score is null.")]]
    metrics: NotRequired[
        Annotated[dict[str, QualityMetric], Meta(description="Its measures by name; with options.include_metrics.")]
    ]


class QualitySuggestion(TypedDict):
    """One way to improve an item."""

    dimension: Annotated[str, Meta(description="The dimension it improves.")]
    metric: Annotated[str, Meta(description="The measure it improves.")]
    quote: Annotated[str, Meta(description="The passage it is about, as it is written.")]
    problem: Annotated[str, Meta(description="What is wrong with it.")]
    advice: Annotated[str, Meta(description="What to do.")]
    dimension_gain: Annotated[float, Meta(description="By how much the score of the dimension would rise.")]
    gain: Annotated[float, Meta(description="By how much the overall score would rise.")]


class QualityComparison(TypedDict):
    """Another item by the same measures."""

    content_id: Annotated[str, Meta(description="The other item.")]
    title: Annotated[str, Meta(description="Its title.")]
    score: Score
    dimensions: Annotated[dict[str, float | None], Meta(description="Its scores by dimension; null where unknown.")]
    differences: Annotated[
        dict[str, float | None], Meta(description="How much better (+) or worse (-) this item is, by dimension.")
    ]


class QualityRank(TypedDict):
    """Where an item stands among those it is compared with."""

    rank: Annotated[int, Meta(description="Its rank; 1 is the best.")]
    of: Annotated[int, Meta(description="How many items are ranked, this one included.")]
    percentile: Annotated[float, Meta(description="The share of the others it is better than, from 0 to 1.")]
    mean_of_others: Annotated[float, Meta(description="The mean score of the others.")]


class QualityBenchmark(TypedDict):
    """How an item compares with others."""

    items: Annotated[list[QualityComparison], Meta(description="The items it was compared with.")]
    standing: Annotated[
        dict[str, QualityRank], Meta(description="Where it stands, by dimension, and overall under that name.")
    ]


class QualityLook(TypedDict):
    """What was measured."""

    characters: Annotated[int, Meta(description="The length of the text.")]
    words: Annotated[int, Meta(description="Its words.")]
    sentences: Annotated[int, Meta(description="Its sentences.")]
    headings: Annotated[int, Meta(description="Its headings.")]
    language: Annotated[str | None, Meta(description="Its language, as a code; null where that cannot be told.")]
    contents_compared_with: Annotated[int, Meta(description="How many other items it was compared with.")]


class AnalyzeQualityAnswer(AnalysisAnswer):
    """The quality of the item as scores from 0 to 1, and what would improve it."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    title: Annotated[str, Meta(description="Its title.")]
    overall_score: Annotated[
        float | None, Meta(description="The mean of the dimensions, from 0 to 1; null where none can be told.")
    ]
    dimensions: Annotated[
        dict[str, QualityDimensionScore], Meta(description="The score of each dimension asked for, by name.")
    ]
    suggestions: NotRequired[
        Annotated[
            list[QualitySuggestion],
            Meta(description="What would improve it, most useful first; unless options.include_suggestions is false."),
        ]
    ]
    benchmark: NotRequired[
        Annotated[QualityBenchmark, Meta(description="How it compares; with options.benchmark_against.")]
    ]
    looked_at: Annotated[QualityLook, Meta(description="What was measured.")]
    notes: Notes


class RelationshipStep(TypedDict):
    """One step of the path between two items."""

    start: Annotated[str, Meta(description="The item it starts at.")]
    type: Annotated[str, Meta(description="The type of the relationship.")]
    direction: Annotated[Direction, Meta(description="Whether it is followed along its direction or against it.")]
    end: Annotated[str, Meta(description="The item it leads to.")]
    strength: NotRequired[Annotated[float | None, Meta(description="How strong it is, from 0 to 1; null if unknown.")]]


class FoundRelationship(TypedDict):
    """An item that the item asked about is related to, and how."""

    content_id: Annotated[str, Meta(description="The other item.")]
    title: Annotated[str, Meta(description="Its title.")]
    type: Annotated[str, Meta(description="The type of the last relationship of the path.")]
    direction: Annotated[Direction, Meta(description="The direction of the last relationship of the path.")]
    origin: Annotated[
        Literal["manual", "auto", "discovered"],
        Meta(description="manual: made by a caller; auto: stored by the server; discovered: found just now."),
    ]
    strength: NotRequired[
        Annotated[
            float | None,
            Meta(description="How strong the path is, from 0 to 1; unless options.include_strength is false."),
        ]
    ]
    confidence: Annotated[float, Meta(description="How certain the path is, from 0 to 1.")]
    context: NotRequired[
        Annotated[
            str | None, Meta(description="Why it is related, where known; unless options.include_context is false.")
        ]
    ]
    depth: Annotated[int, Meta(description="How many steps the path has.")]
    path: Annotated[list[RelationshipStep], Meta(description="The strongest path to it.")]


class RelationshipLook(TypedDict):
    """What was searched."""

    relations: Annotated[int, Meta(description="How many relationships were followed.")]
    depth: Annotated[int, Meta(description="How many steps they were followed.")]
    stored: Annotated[int, Meta(description="How many items were reached by stored relationships.")]
    candidates: Annotated[int, Meta(description="How many items nearby were compared.")]
    discovered: Annotated[int, Meta(description="How many of them turned out to be related.")]


class FindContentRelationshipsAnswer(AnalysisAnswer):
    """The items it is related to, strongest first."""

    message: Annotated[str, Meta(description="What was found, as a sentence.")]
    content_id: Annotated[str, Meta(description="The id of the item.")]
    relationships: Annotated[list[FoundRelationship], Meta(description="The related items, strongest first.")]
    looked_at: Annotated[RelationshipLook, Meta(description="What was searched.")]
    notes: Notes


class ConflictStatement(TypedDict):
    """One of two statements that contradict each other."""

    content_id: Annotated[str, Meta(description="The item it is from.")]
    title: Annotated[str, Meta(description="The title of that item.")]
    sentence: NotRequired[Annotated[str, Meta(description="The sentence as it is written. Else relation is given.")]]
    relation: NotRequired[Annotated[str, Meta(description="A relationship, as a sentence. Else sentence is given.")]]
    said_at: Annotated[str, Meta(description="When it was said: UTC, ISO 8601.")]
    dated_by: Annotated[
        Literal["the sentence", "the relationship", "the last change of the item"],
        Meta(description="What said_at was taken from."),
    ]


class ConflictResolution(TypedDict):
    """What can be done about a conflict."""

    action: Annotated[
        Literal["keep_newest", "keep_both_with_dates", "ask"],
        Meta(description="What to do; ask: only a person can tell, and why is the question."),
    ]
    why: Annotated[str, Meta(description="Why that, as a sentence.")]
    call: NotRequired[Annotated[ToolCall, Meta(description="The call that does it.")]]
    then: NotRequired[Annotated[ToolCall, Meta(description="The call to make after it.")]]


class Conflict(TypedDict):
    """Two statements that cannot both be true."""

    type: Annotated[ConflictType, Meta(description="The type of the conflict.")]
    subtype: Annotated[str, Meta(description="What exactly is in conflict, for example a number or a date.")]
    statements: Annotated[list[ConflictStatement], Meta(description="The two statements.")]
    differs: Annotated[str, Meta(description="What differs between them.")]
    newer: Annotated[str | None, Meta(description="The id of the item that said it later; null where neither did.")]
    confidence: Annotated[float, Meta(description="How often a conflict like this one is real, from 0 to 1.")]
    explanation: Annotated[str, Meta(description="Why they are in conflict, as a sentence.")]
    resolution: NotRequired[
        Annotated[
            ConflictResolution,
            Meta(description="What to do about it; unless options.include_resolution_suggestions is false."),
        ]
    ]


class ConflictLook(TypedDict):
    """What was compared."""

    items: Annotated[int, Meta(description="How many items were read.")]
    statements: Annotated[int, Meta(description="How many statements they have.")]
    pairs_found: Annotated[int, Meta(description="How many pairs of statements are about the same.")]
    pairs_compared: Annotated[int, Meta(description="How many of these pairs were compared.")]


class DetectConflictsAnswer(AnalysisAnswer):
    """The conflicts that were found, most certain first."""

    message: Annotated[str, Meta(description="What was found, as a sentence.")]
    scope: Annotated[Literal["project", "content_set"], Meta(description="What was looked at.")]
    sensitivity: Annotated[Literal["high", "medium", "low"], Meta(description="The sensitivity in force.")]
    conflicts: Annotated[list[Conflict], Meta(description="The conflicts, most certain first.")]
    counts: Annotated[dict[str, int], Meta(description="How many conflicts of each type were found.")]
    looked_at: Annotated[ConflictLook, Meta(description="What was compared.")]
    notes: Notes


class Insight(TypedDict):
    """Something that follows from what a project holds."""

    type: Annotated[InsightType, Meta(description="The type of the insight.")]
    name: Annotated[str, Meta(description="What kind of insight it is.")]
    summary: Annotated[str, Meta(description="The insight, as a sentence.")]
    confidence: Annotated[float, Meta(description="How often an insight like this one is right, from 0 to 1.")]
    evidence: Annotated[
        Object, Meta(description="What it rests on: counts, dates, ids, sentences; the names differ by kind.")
    ]
    content_ids: Annotated[list[str], Meta(description="The items it is about, most telling first; not all of many.")]
    content_count: Annotated[int, Meta(description="How many items it is about.")]
    explanation: Annotated[str, Meta(description="How it was measured.")]
    recommendation: NotRequired[
        Annotated[
            str | None,
            Meta(description="What to do about it; unless options.include_recommendations is false."),
        ]
    ]
    calls: NotRequired[Annotated[list[ToolCall], Meta(description="Calls that do it, as they stand.")]]
    drafts: NotRequired[
        Annotated[list[ToolCall], Meta(description="Calls that do it once you have filled in what is marked …")]
    ]


class GenerateInsightsAnswer(AnalysisAnswer):
    """The insights, strongest first, each with what it rests on and what to do."""

    message: Annotated[str, Meta(description="What was found, as a sentence.")]
    scope: Annotated[Literal["project", "session", "content_set"], Meta(description="What was looked at.")]
    insights: Annotated[list[Insight], Meta(description="The insights, type by type, the strongest of each first.")]
    counts: Annotated[dict[str, int], Meta(description="How many insights of each type were found.")]
    looked_at: Annotated[
        Object, Meta(description="What was looked at, in figures: in all, and under its name for each type.")
    ]
    notes: Notes


ANSWERS: dict[str, type] = {
    "detect_patterns": DetectPatternsAnswer,
    "analyze_quality": AnalyzeQualityAnswer,
    "find_content_relationships": FindContentRelationshipsAnswer,
    "detect_conflicts": DetectConflictsAnswer,
    "generate_insights": GenerateInsightsAnswer,
}
"""The answer of each operation of memory_analyze."""
