"""The content dialect: four tools that each offer several operations over documents and decisions of a project."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from msgspec import Struct

from polymnia.dialects.content.call import Invocation, Operations, named, reader, respond
from polymnia.dialects.content.refusals import RESOURCES, TEMPLATES, word
from polymnia.importing import importing, load
from polymnia.models import JsonObject
from polymnia.operation import Operation, Registry

_INSTRUCTIONS = (
    "A lasting memory of documents and decisions, kept apart by project_id. Every tool offers several operations: name "
    "one in `operation`. Store what should outlive this conversation, search before you answer from assumption. With a "
    "session_id you also see and write that session's data."
)


class Tool(NamedTuple):
    """A tool. Its operations are loaded with its first call: no server needs them at its start."""

    title: str
    help: str
    module: str
    reads: bool = False

    def operations(self) -> Operations:
        """Its operations by name."""
        found: Operations = load(f"{__name__}.{self.module}").OPERATIONS
        return found


TOOLS = {
    "memory_store": Tool(
        "Store Memory",
        "Store, change and relate items of a project: store_content, update_content, delete_content, store_decision, "
        "create_relationship.",
        "store",
    ),
    "memory_retrieve": Tool(
        "Retrieve Memory",
        "Find and read items of a project: search_content, get_content, find_similar_content, get_content_history.",
        "retrieve",
        reads=True,
    ),
    "memory_analyze": Tool(
        "Analyze Memory",
        "Analyze items of a project: detect_patterns, analyze_quality, find_content_relationships, detect_conflicts, "
        "generate_insights. Changes nothing.",
        "analyze",
        reads=True,
    ),
    "memory_system": Tool(
        "Memory System",
        "Check the server, move data in and out, cite items: check_system_health, export_project_data, "
        "import_project_data, validate_data_integrity, generate_citation.",
        "system",
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
        operations={name: _operation(name, tool) for name, tool in TOOLS.items()},
        word=word,
        resources=RESOURCES,
        templates=TEMPLATES,
    )


def _operation(name: str, tool: Tool) -> Operation:
    def heavy(raw: bytes) -> bool:
        operation = tool.operations().get(named(raw, "operation"))
        return operation is not None and operation.heavy

    def which(raw: bytes) -> str:
        operation = named(raw, "operation")
        return operation if operation in tool.operations() else ""

    def takes() -> JsonObject:
        with importing():
            from polymnia.dialects.content.shapes import united
        return united(tool.operations())

    return Operation(
        name=name,
        title=tool.title,
        help=tool.help,
        params=Invocation,
        run=respond,
        output=_Answer,
        reads=tool.reads,
        idempotent=tool.reads,
        destroys=not tool.reads,
        read=reader(name, tool.operations),
        takes=takes,
        heavy=heavy,
        which=which,
        session=partial(named, field="session_id"),
        project="project_id",
    )
