"""The tools of `all` described for a model that must choose between 25 of them: short, and which one for what.

What its own dialect says of a parameter is left away; the texts here stand where a name does not speak for itself.
"""

from __future__ import annotations

import re
from typing import Any

from polymnia.models import JsonObject

_KEPT = ("type", "enum", "items", "properties", "required", "maximum", "default", "x-mcp-header")
_DEFAULT = re.compile(r"\(default (\w+(?:\.\d+)?)\)")  # as the content dialect writes it


def rewritten(described: JsonObject) -> JsonObject:
    """A tool's description in the words of this module, with its schema as lean as it can be."""
    name = described["name"]
    schema = _lean(described["inputSchema"])
    for path, text in TEXTS.get(name, {}).items():
        part = schema
        for key in path.split("."):
            part = part.get("items", part)["properties"][key]
        part["description"] = text
    if "operation" in schema["properties"]:
        about = described["inputSchema"]["properties"]["operation"]["description"]
        schema["properties"]["operation"]["description"] = about
    hints = {key: value for key, value in described["annotations"].items() if key != "title"}
    help = HELPS.get(name, described["description"])
    return {**described, "description": help, "inputSchema": schema, "annotations": hints}


def _lean(schema: JsonObject) -> JsonObject:
    """A schema without what a model need not read: descriptions, lengths, the bounds of a share, what is empty."""
    kept: dict[str, Any] = {}
    for key in _KEPT:
        value = schema.get(key, _default(schema) if key == "default" else None)
        if value is None or value is False or value == [] or (key == "maximum" and value == 1):
            continue
        if key == "properties":
            value = {name: _lean(part) for name, part in value.items()}
        kept[key] = _lean(value) if key == "items" else value
    return kept


def _default(schema: JsonObject) -> Any:
    """The default that is written in the description; None where there is none that fits the type."""
    found = _DEFAULT.search(schema.get("description", ""))
    if found is None:
        return None
    kind, text = schema.get("type"), found[1]
    if kind in ("integer", "number"):
        return int(text) if text.isdigit() else float(text)
    return text == "true" if kind == "boolean" else text if text in schema.get("enum", ()) else None


HELPS = {
    "memory_store": "Keep a text as a memory: everyday facts, decisions, preferences. One that says the same is not "
    "stored twice. With `operation`: keep, change and relate documents of a project.",
    "memory_search": "Find memories by meaning and words, in any language: the first tool to ask. Best first, "
    "similarity_score from 0 to 1.",
    "memory_get": "Read one memory whole, with its links.",
    "memory_update": "Change a memory. Only what you give changes; its history keeps the version before.",
    "memory_delete": "Delete a memory for good, with history and links. Cannot be undone.",
    "memory_discover_associations": "Find what has to do with one memory: similar, linked, same tags, names or time.",
    "scope_list": "Show the tree of scopes, the folders of memories, with counts.",
    "scope_suggest": "Tell which scope a text belongs in.",
    "memory_move": "File memories in another scope, or rename a scope with all below it (source_scope).",
    "memory_list_all": "Browse all memories, newest first.",
    "memory_export": "Write memories to a file of the export folder, or without file_path answer them as data.",
    "memory_import": "Take in exported memories, from a file of the export folder or as data. By default nothing "
    "unless every record is sound.",
    "session_manage": "Temporary memories in the scope session/<id>: create a session, list all, clean up old ones.",
    "memory_retrieve": "Documents of a project (see memory_store with `operation`): search, read, compare, history.",
    "memory_analyze": "Look over the documents of a project: patterns, quality of one, relationships, contradictions, "
    "insights.",
    "memory_system": "Health of the server; export, import and check a project; cite a document.",
}
"""What a tool is for, where its own dialect does not say it in a world of 25 tools."""

TEXTS: dict[str, dict[str, str]] = {
    "create_entities": {"entities.observations": "One fact each."},
    "create_relations": {"relations.relationType": "In active voice: works_for."},
    "add_observations": {"observations.contents": "One fact each."},
    "delete_observations": {"deletions.observations": "Word for word."},
    "memory_store": {
        "project_id": "Any name of yours.",
        "request_id": "A retry with it is not done twice.",
        "scope": "Like work/projects/api.",
        "category": "Like decision or meeting.",
        "similarity_threshold": "From here on a text is named as nearly the same.",
        "request": "May hold the parameters, without operation.",
        "options.restore": "Bring a deleted item back; updates is {} then.",
        "options.hard": "Leave nothing of it, for good.",
        "updates.tags": "Replace all others.",
        "updates.metadata": "Keys to add or change.",
    },
    "memory_search": {"similarity_threshold": "Leave out what scores less."},
    "memory_update": {"tags": "All of them.", "category": '"" takes it away.', "metadata": "All of it."},
    "memory_move": {"memory_ids": "Unless source_scope is given."},
    "session_manage": {"max_age_days": "cleanup: unused for longer."},
    "memory_retrieve": {
        "content": "Or give content_id.",
        "filters.date_range": "ISO dates of storing.",
    },
    "memory_analyze": {
        "scope": "session needs session_id, content content_id, content_set content_ids.",
        "options.time_horizon": "The last and next 7, 30 or 365 days.",
    },
    "memory_system": {
        "source": "A file of the export folder; with data, what to call it.",
        "options.fix_issues": "Mend what can be mended.",
    },
}
"""What a parameter means, where its name does not say it; items of a list by the name of the list."""
