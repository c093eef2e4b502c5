"""What the operations of memory_analyze answer, field by field."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from polymnia.dialects.content.shapes import Answer, Notes, Object
from polymnia.dialects.shapes import about

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

Direction = Literal["outgoing", "incoming"]
Score = Annotated[float | None, about("The score, from 0 to 1; null where it cannot be told.")]


class AnalysisAnswer(Answer):
    """What every analysis answers."""

    analyzed_at: Annotated[str, about("When the analysis was made: UTC, ISO 8601.")]
    cached: Annotated[bool, about("Whether it was made before this call, and the data has not changed.")]


class ToolCall(TypedDict):
    """A call of a tool that can be made as it stands."""

    tool: Annotated[str, about("The name of the tool.")]
    arguments: Annotated[Object, about("Its arguments.")]


class Pattern(TypedDict):
    """Something that holds in a project."""

    type: Annotated[PatternType, about("The type of the pattern.")]
    name: Annotated[str, about("What kind of finding it is, for example cluster, hub or burst.")]
    summary: Annotated[str, about("The finding, as a sentence.")]
    confidence: Annotated[float, about("How often a finding like this one is right, from 0 to 1.")]
    evidence: Annotated[Object, about("What it rests on: counts, dates, ids, sentences; the names differ by kind.")]
    content_ids: Annotated[list[str], about("The items it is about, most telling first; not all of many.")]
    content_count: Annotated[int, about("How many items it is about.")]
    explanation: NotRequired[
        Annotated[str, about("How it was measured; unless options.include_explanations is false.")]
    ]


class PatternNote(TypedDict):
    """A remark on one type of pattern."""

    type: Annotated[str, about("The type of pattern, or project for a remark on the project.")]
    note: Annotated[str, about("The remark, as a sentence.")]


class DetectPatternsAnswer(AnalysisAnswer):
    """The patterns that were found, most certain first."""

    message: Annotated[str, about("What was found, as a sentence.")]
    scope: Annotated[Literal["project", "session", "content"], about("What was looked at.")]
    patterns: Annotated[list[Pattern], about("The patterns, type by type, the most certain of each first.")]
    counts: Annotated[dict[str, int], about("How many patterns of each type were found.")]
    below_min_confidence: Annotated[
        int, about("How many were left out because they are less certain than options.min_confidence.")
    ]
    looked_at: Annotated[dict[str, Object], about("What was looked at, in figures, by type; the names differ by type.")]
    notes: Annotated[list[PatternNote], about("What could not be told, and why.")]


class QualityMetric(TypedDict):
    """One measure of one dimension."""

    value: Annotated[float, about("What was measured.")]
    score: Annotated[float, about("The score it gives, from 0 to 1.")]
    weight: Annotated[float, about("How much it counts in the dimension.")]
    measured_against: Annotated[str, about("What it was measured against.")]
    quotes: NotRequired[Annotated[list[str], about("The passages that lowered it.")]]


class QualityDimensionScore(TypedDict):
    """The score of one dimension of quality."""

    score: Score
    note: NotRequired[Annotated[str, about("Why it cannot be told, where the score is null.")]]
    metrics: NotRequired[
        Annotated[dict[str, QualityMetric], about("Its measures by name; with options.include_metrics.")]
    ]


class QualitySuggestion(TypedDict):
    """One way to improve an item."""

    dimension: Annotated[str, about("The dimension it improves.")]
    metric: Annotated[str, about("The measure it improves.")]
    quote: Annotated[str, about("The passage it is about, as it is written.")]
    problem: Annotated[str, about("What is wrong with it.")]
    advice: Annotated[str, about("What to do.")]
    dimension_gain: Annotated[float, about("By how much the score of the dimension would rise.")]
    gain: Annotated[float, about("By how much the overall score would rise.")]


class QualityComparison(TypedDict):
    """Another item by the same measures."""

    content_id: Annotated[str, about("The other item.")]
    title: Annotated[str, about("Its title.")]
    score: Score
    dimensions: Annotated[dict[str, float | None], about("Its scores by dimension; null where unknown.")]
    differences: Annotated[
        dict[str, float | None], about("How much better (+) or worse (-) this item is, by dimension.")
    ]


class QualityRank(TypedDict):
    """Where an item stands among those it is compared with."""

    rank: Annotated[int, about("Its rank; 1 is the best.")]
    of: Annotated[int, about("How many items are ranked, this one included.")]
    percentile: Annotated[float, about("The share of the others it is better than, from 0 to 1.")]
    mean_of_others: Annotated[float, about("The mean score of the others.")]


class QualityBenchmark(TypedDict):
    """How an item compares with others."""

    items: Annotated[list[QualityComparison], about("The items it was compared with.")]
    standing: Annotated[dict[str, QualityRank], about("Where it stands, by dimension, and overall under that name.")]


class QualityLook(TypedDict):
    """What was measured."""

    characters: Annotated[int, about("The length of the text.")]
    words: Annotated[int, about("Its words.")]
    sentences: Annotated[int, about("Its sentences.")]
    headings: Annotated[int, about("Its headings.")]
    language: Annotated[str | None, about("Its language, as a code; null where that cannot be told.")]
    contents_compared_with: Annotated[int, about("How many other items it was compared with.")]


class AnalyzeQualityAnswer(AnalysisAnswer):
    """The quality of the item as scores from 0 to 1, and what would improve it."""

    content_id: Annotated[str, about("The id of the item.")]
    title: Annotated[str, about("Its title.")]
    overall_score: Annotated[
        float | None, about("The mean of the dimensions, from 0 to 1; null where none can be told.")
    ]
    dimensions: Annotated[dict[str, QualityDimensionScore], about("The score of each dimension asked for, by name.")]
    suggestions: NotRequired[
        Annotated[
            list[QualitySuggestion],
            about("What would improve it, most useful first; unless options.include_suggestions is false."),
        ]
    ]
    benchmark: NotRequired[Annotated[QualityBenchmark, about("How it compares; with options.benchmark_against.")]]
    looked_at: Annotated[QualityLook, about("What was measured.")]
    notes: Notes


class RelationshipStep(TypedDict):
    """One step of the path between two items."""

    start: Annotated[str, about("The item it starts at.")]
    type: Annotated[str, about("The type of the relationship.")]
    direction: Annotated[Direction, about("Whether it is followed along its direction or against it.")]
    end: Annotated[str, about("The item it leads to.")]
    strength: NotRequired[Annotated[float | None, about("How strong it is, from 0 to 1; null if unknown.")]]


class FoundRelationship(TypedDict):
    """An item that the item asked about is related to, and how."""

    content_id: Annotated[str, about("The other item.")]
    title: Annotated[str, about("Its title.")]
    type: Annotated[str, about("The type of the last relationship of the path.")]
    direction: Annotated[Direction, about("The direction of the last relationship of the path.")]
    origin: Annotated[
        Literal["manual", "auto", "discovered"],
        about("manual: made by a caller; auto: stored by the server; discovered: found just now."),
    ]
    strength: NotRequired[
        Annotated[float | None, about("How strong the path is, from 0 to 1; unless options.include_strength is false.")]
    ]
    confidence: Annotated[float, about("How certain the path is, from 0 to 1.")]
    context: NotRequired[
        Annotated[str | None, about("Why it is related, where known; unless options.include_context is false.")]
    ]
    depth: Annotated[int, about("How many steps the path has.")]
    path: Annotated[list[RelationshipStep], about("The strongest path to it.")]


class RelationshipLook(TypedDict):
    """What was searched."""

    relations: Annotated[int, about("How many relationships were followed.")]
    depth: Annotated[int, about("How many steps they were followed.")]
    stored: Annotated[int, about("How many items were reached by stored relationships.")]
    candidates: Annotated[int, about("How many items nearby were compared.")]
    discovered: Annotated[int, about("How many of them turned out to be related.")]


class FindContentRelationshipsAnswer(AnalysisAnswer):
    """The items it is related to, strongest first."""

    message: Annotated[str, about("What was found, as a sentence.")]
    content_id: Annotated[str, about("The id of the item.")]
    relationships: Annotated[list[FoundRelationship], about("The related items, strongest first.")]
    looked_at: Annotated[RelationshipLook, about("What was searched.")]
    notes: Notes


class ConflictStatement(TypedDict):
    """One of two statements that contradict each other."""

    content_id: Annotated[str, about("The item it is from.")]
    title: Annotated[str, about("The title of that item.")]
    sentence: NotRequired[Annotated[str, about("The sentence as it is written. Else relation is given.")]]
    relation: NotRequired[Annotated[str, about("A relationship, as a sentence. Else sentence is given.")]]
    said_at: Annotated[str, about("When it was said: UTC, ISO 8601.")]
    dated_by: Annotated[
        Literal["the sentence", "the relationship", "the last change of the item"],
        about("What said_at was taken from."),
    ]


class ConflictResolution(TypedDict):
    """What can be done about a conflict."""

    action: Annotated[
        Literal["keep_newest", "keep_both_with_dates", "ask"],
        about("What to do; ask: only a person can tell, and why is the question."),
    ]
    why: Annotated[str, about("Why that, as a sentence.")]
    call: NotRequired[Annotated[ToolCall, about("The call that does it.")]]
    then: NotRequired[Annotated[ToolCall, about("The call to make after it.")]]


class ReportedConflict(TypedDict):
    """Two statements that cannot both be true."""

    type: Annotated[ConflictType, about("The type of the conflict.")]
    subtype: Annotated[str, about("What exactly is in conflict, for example a number or a date.")]
    statements: Annotated[list[ConflictStatement], about("The two statements.")]
    differs: Annotated[str, about("What differs between them.")]
    newer: Annotated[str | None, about("The id of the item that said it later; null where neither did.")]
    confidence: Annotated[float, about("How often a conflict like this one is real, from 0 to 1.")]
    explanation: Annotated[str, about("Why they are in conflict, as a sentence.")]
    resolution: NotRequired[
        Annotated[
            ConflictResolution, about("What to do about it; unless options.include_resolution_suggestions is false.")
        ]
    ]


class ConflictLook(TypedDict):
    """What was compared."""

    items: Annotated[int, about("How many items were read.")]
    statements: Annotated[int, about("How many statements they have.")]
    pairs_found: Annotated[int, about("How many pairs of statements are about the same.")]
    pairs_compared: Annotated[int, about("How many of these pairs were compared.")]


class DetectConflictsAnswer(AnalysisAnswer):
    """The conflicts that were found, most certain first."""

    message: Annotated[str, about("What was found, as a sentence.")]
    scope: Annotated[Literal["project", "content_set"], about("What was looked at.")]
    sensitivity: Annotated[Literal["high", "medium", "low"], about("The sensitivity in force.")]
    conflicts: Annotated[list[ReportedConflict], about("The conflicts, most certain first.")]
    counts: Annotated[dict[str, int], about("How many conflicts of each type were found.")]
    looked_at: Annotated[ConflictLook, about("What was compared.")]
    notes: Notes


class Insight(TypedDict):
    """Something that follows from what a project holds."""

    type: Annotated[InsightType, about("The type of the insight.")]
    name: Annotated[str, about("What kind of insight it is.")]
    summary: Annotated[str, about("The insight, as a sentence.")]
    confidence: Annotated[float, about("How often an insight like this one is right, from 0 to 1.")]
    evidence: Annotated[Object, about("What it rests on: counts, dates, ids, sentences; the names differ by kind.")]
    content_ids: Annotated[list[str], about("The items it is about, most telling first; not all of many.")]
    content_count: Annotated[int, about("How many items it is about.")]
    explanation: Annotated[str, about("How it was measured.")]
    recommendation: NotRequired[
        Annotated[str | None, about("What to do about it; unless options.include_recommendations is false.")]
    ]
    calls: NotRequired[Annotated[list[ToolCall], about("Calls that do it, as they stand.")]]
    drafts: NotRequired[Annotated[list[ToolCall], about("Calls that do it once you have filled in what is marked …")]]


class GenerateInsightsAnswer(AnalysisAnswer):
    """The insights, strongest first, each with what it rests on and what to do."""

    message: Annotated[str, about("What was found, as a sentence.")]
    scope: Annotated[Literal["project", "session", "content_set"], about("What was looked at.")]
    insights: Annotated[list[Insight], about("The insights, type by type, the strongest of each first.")]
    counts: Annotated[dict[str, int], about("How many insights of each type were found.")]
    looked_at: Annotated[Object, about("What was looked at, in figures: in all, and under its name for each type.")]
    notes: Notes
