"""Polymnia: one memory for AI agents, spoken in every dialect they already know.

>>> from polymnia import EntityDraft, connect
>>> memory = connect("notes.db")
>>> memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])

Everything but the faults is imported on first use, so that a server can respond before its libraries are loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymnia import errors
from polymnia.errors import *  # noqa: F403

if TYPE_CHECKING:
    from polymnia.app import connect
    from polymnia.dialects.content.reports import describe, remark
    from polymnia.engine.content import Moved, Remembered, Revised
    from polymnia.engine.graph import Added, Created, Deleted, Policy, Related
    from polymnia.engine.knowledge.associations import Association, Discovery
    from polymnia.engine.knowledge.suggestions import Suggestion
    from polymnia.engine.memory import Memory
    from polymnia.engine.scopes import Cleaned, Scope
    from polymnia.engine.search.results import Found, Fragment, Hit, Plan, Turn, Why
    from polymnia.engine.transfer.archives import Exported, ImportedMemories
    from polymnia.models import Change, EntityDraft, Event, Filters, Graph, Note, Record, Relation, Session

__version__ = "0.1.0"

__all__ = ["__version__", "connect", "Memory"]
# values
__all__ += ["EntityDraft", "Record", "Relation", "Graph", "Change", "Event", "Note", "Policy", "Filters", "Session"]
# results of the verbs, and descriptions of analysis findings
__all__ += ["Created", "Related", "Added", "Deleted", "Found", "Hit", "Why", "Fragment", "Turn", "Plan", "Remembered"]
__all__ += ["Revised", "Moved", "Association", "Discovery", "Scope", "Suggestion", "Cleaned", "Exported"]
__all__ += ["ImportedMemories", "describe", "remark"]
__all__ += errors.__all__

_MODULES = {
    "app": "connect",
    "dialects.content.reports": "describe remark",
    "engine.content": "Remembered Revised Moved",
    "engine.graph": "Created Related Added Deleted Policy",
    "engine.knowledge.associations": "Association Discovery",
    "engine.knowledge.suggestions": "Suggestion",
    "engine.memory": "Memory",
    "engine.scopes": "Cleaned Scope",
    "engine.search.results": "Found Hit Why Fragment Plan Turn",
    "engine.transfer.archives": "Exported ImportedMemories",
    "models": "EntityDraft Filters Record Relation Graph Change Event Note Session",
}


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _MODULES.items() if name in names.split()), None)
    if module is None:
        raise AttributeError(f"module 'polymnia' has no attribute {name!r}")
    from polymnia.importing import load

    value = globals()[name] = getattr(load(f"polymnia.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
