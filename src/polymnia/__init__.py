"""Polymnia: one memory for AI agents, spoken in every dialect they already know.

>>> from polymnia import EntityDraft, connect
>>> memory = connect("notes.db")
>>> memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])

Everything below is imported when it is first used: a server must answer before a library is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from polymnia.errors import (
        AlreadyExists,
        BadArguments,
        BadText,
        BrokenFile,
        Busy,
        Cancelled,
        Conflict,
        Damaged,
        EmptyList,
        ExportFailed,
        Fault,
        Forbidden,
        ImportFailed,
        Invalid,
        ManyTexts,
        MissingEnds,
        NoLibrary,
        NoModel,
        NoSpace,
        NotAllowed,
        NotAStore,
        NotFound,
        OverLimit,
        Refused,
        TooNew,
        Unavailable,
        UnknownOperation,
    )
    from polymnia.models import Change, EntityDraft, Event, Filters, Graph, Note, Record, Relation, Session

__version__ = "0.1.0"

__all__ = [
    "connect",
    "Memory",
    # values
    "EntityDraft",
    "Record",
    "Relation",
    "Graph",
    "Change",
    "Event",
    "Note",
    "Policy",
    "Filters",
    "Session",
    # what the verbs answer
    "Created",
    "Related",
    "Added",
    "Deleted",
    "Found",
    "Hit",
    "Why",
    "Fragment",
    "Turn",
    "Plan",
    "Remembered",
    "Revised",
    "Moved",
    "Association",
    "Discovery",
    "Scope",
    "Suggestion",
    "Cleaned",
    "Exported",
    "ImportedMemories",
    # what analyses found, in words
    "describe",
    "remark",
    # faults
    "Fault",
    "Invalid",
    "BadArguments",
    "BadText",
    "EmptyList",
    "OverLimit",
    "UnknownOperation",
    "NotFound",
    "AlreadyExists",
    "MissingEnds",
    "ManyTexts",
    "Conflict",
    "Cancelled",
    "Refused",
    "ExportFailed",
    "ImportFailed",
    "Unavailable",
    "Busy",
    "TooNew",
    "NotAStore",
    "NotAllowed",
    "Damaged",
    "BrokenFile",
    "NoLibrary",
    "NoModel",
    "NoSpace",
    "Forbidden",
    "__version__",
]

_HOMES = {
    "connect": "app",
    "Memory": "engine.memory",
    **dict.fromkeys(("Created", "Related", "Added", "Deleted", "Policy"), "engine.graph"),
    **dict.fromkeys(("Found", "Hit", "Why", "Fragment", "Plan", "Turn"), "engine.search.results"),
    **dict.fromkeys(("Remembered", "Revised", "Moved"), "engine.content"),
    **dict.fromkeys(("Association", "Discovery"), "engine.knowledge.associations"),
    **dict.fromkeys(("describe", "remark"), "dialects.content.reports"),
    "Scope": "engine.scopes",
    "Suggestion": "engine.knowledge.suggestions",
    "Cleaned": "engine.scopes",
    "Exported": "engine.transfer.archives",
    "ImportedMemories": "engine.transfer.archives",
    **dict.fromkeys(
        ("EntityDraft", "Filters", "Record", "Relation", "Graph", "Change", "Event", "Note", "Session"), "models"
    ),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'polymnia' has no attribute {name!r}")
    from polymnia.importing import load

    value = getattr(load(f"polymnia.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
