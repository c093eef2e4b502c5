"""The tools, each a table of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from polymnia.dialects.content import analyzing, retrieving, storing, system
from polymnia.dialects.content.reading import Given, Verb, heavy, reader, session_of, taken, which
from polymnia.dialects.content.resources import RESOURCES, TEMPLATES
from polymnia.dialects.content.wording import word
from polymnia.operation import Context, Operation, Registry, Reply

__all__ = ["TOOLS", "answers", "registry"]

_INSTRUCTIONS = (
    "A lasting memory of documents and decisions, kept apart by project_id. Every tool offers several operations: name "
    "one in `operation`. Store what should outlive this conversation, search before you answer from assumption. With a "
    "session_id you also see and write that session's data."
)

TOOLS: dict[str, tuple[str, str, Mapping[str, Verb]]] = {
    "memory_store": (
        "Store Memory",
        "Store, change and relate items of a project: store_content, update_content, delete_content, store_decision, "
        "create_relationship.",
        storing.VERBS,
    ),
    "memory_retrieve": (
        "Retrieve Memory",
        "Find and read items of a project: search_content, get_content, find_similar_content, get_content_history.",
        retrieving.VERBS,
    ),
    "memory_analyze": (
        "Analyze Memory",
        "Analyze items of a project: detect_patterns, analyze_quality, find_content_relationships, detect_conflicts, "
        "generate_insights. Changes nothing.",
        analyzing.VERBS,
    ),
    "memory_system": (
        "Memory System",
        "Check the server, move data in and out, cite items: check_system_health, export_project_data, "
        "import_project_data, validate_data_integrity, generate_citation.",
        system.VERBS,
    ),
}


class _Answer(Struct):
    success: bool
    timestamp: str
    duration: str


def registry() -> Registry:
    """The content dialect."""
    return Registry(
        name="content",
        instructions=_INSTRUCTIONS,
        operations={name: _tool(name, *told) for name, told in TOOLS.items()},
        word=word,
        resources=RESOURCES,
        templates=TEMPLATES,
    )


def answers() -> dict[str, type]:
    """The type of each operation's answer. No server needs them, so none imports them at its start."""
    from polymnia.dialects.content import analyzing_answers, system_answers
    from polymnia.dialects.content import answers as plain

    return plain.ANSWERS | analyzing_answers.ANSWERS | system_answers.ANSWERS


def _tool(name: str, title: str, help: str, verbs: Mapping[str, Verb]) -> Operation:
    def run(context: Context, given: Given) -> Reply:
        return given.verb.run(context, given.params)

    def takes() -> dict[str, Any]:
        return taken(verbs)

    reads = all(verb.reads for verb in verbs.values())
    return Operation(
        name=name, title=title, help=help, params=Given, run=run, output=_Answer, reads=reads, idempotent=reads,
        destroys=not reads, read=reader(name, verbs), takes=takes, heavy=heavy(verbs), which=which, session=session_of,
    )  # fmt: skip
