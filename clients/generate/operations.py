"""What the clients are generated from: every operation of the server with its schemas, as one JSON document.

``types`` has every part of parameters and answers that is an object or one of several words, by its name;
``{"$ref": "#/types/Name"}`` stands for one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from polymnia import __version__, app
from polymnia.dialects.content import TOOLS
from polymnia.operation import Operation
from polymnia.schemas import components

__all__ = ["ALIASES", "ENUMS", "MAX_TOKENS_KEY", "META_KEY", "NAMES", "document", "text"]

META_KEY = "polymnia/requestId"
"""Where the id of a write goes in ``_meta`` when the operation has no parameter for it."""

MAX_TOKENS_KEY = "polymnia/maxTokens"
"""Where a call says in ``_meta`` how many tokens its answer may have: 0, as programs want all of it."""

ALIASES = {"memory_store": "store_memory"}
"""A tool that is called with and without an operation: the name of the typed method for the call without one."""

NAMES = {
    "CreatedId": "CreatedEntity",
    "Link": "Relation",
    "LinkedMemory": "Association",
    "ListedScope": "Scope",
    "Observed": "Observation",
    "ReportedConflict": "Conflict",
    "Unobserved": "Deletion",
}
"""What a part of the server is called in the clients, where its own name says too little beside all the others."""

ENUMS = {
    "ArchiveFormat": "json yaml",
    "CitationStyle": "apa chicago harvard ieee mla",
    "ConflictScope": "content_set project",
    "ConflictType": "factual_conflicts logical_conflicts recommendation_conflicts temporal_conflicts",
    "ContentFormat": "full minimal summary",
    "HealthStatus": "degraded healthy unhealthy",
    "ImportMergeStrategy": "merge replace skip_existing",
    "InsightDepth": "comprehensive deep surface",
    "InsightScope": "content_set project session",
    "InsightType": "content_gaps efficiency_opportunities knowledge_synthesis trend_analysis usage_insights",
    "IntegrityCheck": "data_consistency missing_embeddings orphaned_relationships performance_issues "
    "reference_integrity schema_compliance",
    "IntegrityScope": "project session system",
    "MemoryMergeStrategy": "create_versions merge_metadata overwrite skip_duplicates",
    "PatternScope": "content project session",
    "PatternType": "quality_issues relationship_patterns temporal_patterns topic_clusters usage_patterns user_patterns",
    "ProjectFormat": "csv json markdown zip",
    "QualityDimension": "accuracy actionability clarity completeness consistency readability relevance structure",
    "QueryType": "hybrid keyword semantic",
    "RelationshipDirection": "incoming outgoing",
    "RelationshipOrigin": "auto discovered manual",
    "RelationshipType": "causes cites contains describes follows implements part_of precedes references related_to "
    "resolves similar_to",
    "ResolutionAction": "ask keep_both_with_dates keep_newest",
    "Sensitivity": "high low medium",
    "SessionAction": "cleanup create list",
    "Severity": "error info warning",
    "SimilarityMethod": "cosine euclidean manhattan",
    "SortBy": "date relevance title",
    "SortOrder": "asc desc",
    "StatementDate": "the_last_change_of_the_item the_relationship the_sentence",
    "SystemComponent": "ai_service cache database vector_store",
    "TimeHorizon": "long medium short",
}
"""The name of each set of words that a value is one of."""

_ENUM_NAMES = {frozenset(words.split()): name for name, words in ENUMS.items()}
_EVERYWHERE = ("next_cursor", "notes", "message", "repeated", "request_id", "success", "timestamp", "duration")
Schema = dict[str, Any]


def document() -> dict[str, Any]:
    """Every tool as ``tools/list`` publishes it, and every operation with parameters and an answer of its own."""
    from polymnia.transports.server import describe

    registry = app.dialect(app.settings({"dialect": "all"}, {}))
    registry.rewrite = None  # programmers read more than models
    plain = _associative() | _graph()
    tools = json.loads(describe(registry))
    types = _Types()
    operations = []
    for tool in tools:
        name = tool["name"]
        if name in plain:
            operations.append(_of_tool(name, plain[name], types))
        if name in TOOLS:
            operations += _of_operations(name, types)
    return {
        "version": __version__,
        "request_id_meta": META_KEY,
        "max_tokens_meta": MAX_TOKENS_KEY,
        "tools": [
            {
                "name": tool["name"],
                "title": tool["title"],
                "description": tool["description"],
                "write": not tool["annotations"]["readOnlyHint"],
                "parameters": tool["inputSchema"],
                "operations": [one["name"] for one in operations if one["tool"] == tool["name"]],
            }
            for tool in tools
        ],
        "operations": operations,
        "types": dict(sorted(types.found.items())),
    }


def text() -> str:
    """The document as it is written to the file."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


class _Types:
    """The parts of parameters and answers, each under one name."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}

    def of(self, kind: type) -> Schema:
        """The schema of a type; its parts are among the others."""
        (top,), parts = components([kind])
        whole: Schema = self._renamed(parts[top["$ref"]])
        for name, part in parts.items():
            if name != top["$ref"]:
                self._add(NAMES.get(name, name), self._renamed(part))
        return whole

    def _renamed(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._renamed(one) for one in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("enum"), list):
            return self._enum(node)
        told = {key: self._renamed(value) for key, value in node.items()}
        if isinstance(name := told.get("$ref"), str):
            told["$ref"] = f"#/types/{NAMES.get(name, name)}"
        return told

    def _enum(self, node: Schema) -> Schema:
        words = frozenset(one.replace(" ", "_") for one in node["enum"])
        if words not in _ENUM_NAMES:
            raise ValueError(f"{sorted(words)} have no name: give them one in {__name__}.ENUMS")
        name = _ENUM_NAMES[words]
        self._add(name, {"type": "string", "enum": node["enum"]})
        return {"$ref": f"#/types/{name}", **{key: value for key, value in node.items() if key not in ("enum", "type")}}

    def _add(self, name: str, part: Schema) -> None:
        if self.found.setdefault(name, part) != part:
            raise ValueError(f"two different types would be called {name}: give one another name in {__name__}.NAMES")


def _graph() -> dict[str, Operation]:
    from polymnia.dialects.graph import registry

    return registry(str(app.settings({"dialect": "all"}, {}).graph)).operations


def _associative() -> dict[str, Operation]:
    from polymnia.dialects.associative import registry

    return registry().operations


def _of_tool(name: str, tool: Operation, types: _Types) -> dict[str, Any]:
    if tool.output is None:
        raise ValueError(f"{name} has no type for its answer")
    return {
        "tool": name,
        "operation": None,
        "name": ALIASES.get(name, name),
        "title": tool.title,
        "description": tool.help,
        "write": not tool.reads,
        "idempotent": tool.reads or tool.idempotent,
        "request_id": None if tool.reads else "meta",
        "parameters": _taken(types.of(tool.params)),
        "answer": _answered(types.of(tool.output)),
    }


def _of_operations(name: str, types: _Types) -> list[dict[str, Any]]:
    return [
        {
            "tool": name,
            "operation": operation,
            "name": operation,
            "title": operation.replace("_", " ").title(),
            "description": one.help,
            "write": not one.reads,
            "idempotent": one.reads,
            "request_id": None if one.reads else "argument",
            "parameters": _taken(types.of(one.params), ("project_id",) if one.project else ()),
            "answer": _answered(types.of(one.answer)),
        }
        for operation, one in TOOLS[name].operations().items()
    ]


def _taken(whole: Schema, needed: tuple[str, ...] = ()) -> Schema:
    """What a method takes: which operation it is, the method says itself."""
    required = [*needed, *(key for key in whole.get("required", ()) if key != "operation")]
    properties = {key: _undefaulted(value) for key, value in whole["properties"].items() if key != "operation"}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _answered(whole: Schema) -> Schema:
    """What an operation answers, its own fields before those that all have. It may have more fields one day."""
    ordered = sorted(whole["properties"], key=lambda key: _EVERYWHERE.index(key) if key in _EVERYWHERE else -1)
    properties = {key: _without_default(whole["properties"][key]) for key in ordered}
    return {**whole, "properties": properties}


def _undefaulted(one: Schema) -> Schema:
    return {key: value for key, value in one.items() if (key, value) != ("default", None)}


def _without_default(one: Mapping[str, Any]) -> Schema:
    return {key: value for key, value in one.items() if key != "default"}
