"""Every operation of every dialect, taken from the registries, with arguments that fit: a new one is added here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from polymnia import app
from polymnia.dialects.content import TOOLS

__all__ = ["GRAPH", "SEED", "Asked", "operations"]

_ENTITY = {"name": "new", "entityType": "thing", "observations": ["first"]}
_LINK = {"from": "Ann", "to": "Bea", "relationType": "knows"}
SEED = [{"name": name, "entityType": "person", "observations": ["likes tea"]} for name in ("Ann", "Bea")]
"""What is there before: two entities."""
GRAPH: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [_ENTITY]},
    "create_relations": {"relations": [_LINK]},
    "add_observations": {"observations": [{"entityName": "Ann", "contents": ["drinks it"]}]},
    "delete_entities": {"entityNames": ["Ann"]},
    "delete_observations": {"deletions": [{"entityName": "Ann", "observations": ["likes tea"]}]},
    "delete_relations": {"relations": [_LINK]},
    "read_graph": {},
    "search_nodes": {"query": "tea"},
    "open_nodes": {"names": ["Ann"]},
}
CHATGPT: dict[str, dict[str, Any]] = {"search": {"query": "tea"}, "fetch": {"id": "{id}"}}
NATIVE: dict[str, dict[str, Any]] = {
    "remember": {"text": "A memory that is new."},
    "recall": {"query": "tea"},
    "read": {"ids": ["Ann"]},
    "revise": {"id": "Ann", "add": ["drinks it"]},
    "forget": {"ids": ["Ann"]},
    "undo": {"confirm": True},
    "brief": {},
}
ASSOCIATIVE: dict[str, dict[str, Any]] = {
    "memory_store": {"content": "A memory that is new."},
    "memory_search": {"query": "tea"},
    "memory_get": {"memory_id": "{id}"},
    "memory_update": {"memory_id": "{id}", "content": "Another text."},
    "memory_delete": {"memory_id": "{id}"},
    "memory_discover_associations": {"memory_id": "{id}"},
    "scope_list": {},
    "scope_suggest": {"content": "tea"},
    "memory_move": {"target_scope": "work", "memory_ids": ["{id}"]},
    "memory_list_all": {},
    "memory_export": {"file_path": "all.json"},
    "memory_import": {"import_data": "{archive}"},
    "session_manage": {"action": "create", "session_id": "s1"},
}
CONTENT: dict[str, dict[str, Any]] = {
    "store_content": {"content": "A content that is new."},
    "update_content": {"content_id": "{id}", "updates": {"content": "Another text."}},
    "delete_content": {"content_id": "{id}"},
    "store_decision": {"title": "Tea", "context": "thirst", "decision": "green", "rationale": "taste"},
    "create_relationship": {"source_id": "{id}", "target_id": "{other}", "type": "related_to"},
    "search_content": {"query": "tea"},
    "get_content": {"content_id": "{id}"},
    "find_similar_content": {"content_id": "{id}"},
    "get_content_history": {"content_id": "{id}"},
    "detect_patterns": {},
    "analyze_quality": {"content_id": "{id}"},
    "find_content_relationships": {"content_id": "{id}"},
    "detect_conflicts": {},
    "generate_insights": {},
    "check_system_health": {},
    "export_project_data": {"format": "json"},
    "import_project_data": {"source": "data", "format": "json", "data": "{project}"},
    "validate_data_integrity": {"options": {"fix_issues": True}},
    "generate_citation": {"content_id": "{id}"},
}


class Asked(NamedTuple):
    """One operation: its tool, what it is given, whether it writes, and whether a call names its project."""

    name: str
    tool: str
    arguments: dict[str, Any]
    writes: bool
    named: bool


def operations(dialect: str) -> Iterator[Asked]:
    """Every operation of a dialect."""
    found = app.dialect(app.settings({"dialect": dialect}, {}))
    for tool in found.operations.values():
        if (given := (GRAPH | CHATGPT | NATIVE).get(tool.name)) is not None:
            yield Asked(tool.name, tool.name, given, not tool.reads, False)
        elif tool.name not in TOOLS or (tool.name in ASSOCIATIVE and dialect != "content"):
            yield Asked(tool.name, tool.name, ASSOCIATIVE[tool.name], not tool.reads, False)
        if tool.name in TOOLS and dialect in ("all", "content"):
            for name, verb in TOOLS[tool.name].operations().items():
                given = {"operation": name, "project_id": "default", **CONTENT[name]}
                yield Asked(name, tool.name, given, not verb.reads, True)
