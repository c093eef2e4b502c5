"""How the associative dialect words what goes wrong: a category, a sentence, and the data behind it."""

from __future__ import annotations

from typing import Any

from polymnia import errors
from polymnia.errors import BadArguments, Fault, NoModel, Violation
from polymnia.models import Note
from polymnia.operation import Memory, Reply

__all__ = ["CATEGORIES", "meaning_or_fault", "unknown_scope", "word"]

CATEGORIES: dict[type[Fault], str] = {
    Fault: "STORAGE_ERROR",
    errors.Invalid: "VALIDATION_ERROR",
    errors.BadArguments: "VALIDATION_ERROR",
    errors.BadText: "VALIDATION_ERROR",
    errors.EmptyList: "VALIDATION_ERROR",
    errors.OverLimit: "VALIDATION_ERROR",
    errors.UnknownOperation: "VALIDATION_ERROR",
    errors.NotFound: "MEMORY_NOT_FOUND",
    errors.AlreadyExists: "VALIDATION_ERROR",
    errors.MissingEnds: "MEMORY_NOT_FOUND",
    errors.ManyTexts: "VALIDATION_ERROR",
    errors.Conflict: "STORAGE_ERROR",
    errors.Cancelled: "STORAGE_ERROR",
    errors.Refused: "VALIDATION_ERROR",
    errors.NotAllowed: "STORAGE_ERROR",
    errors.ExportFailed: "EXPORT_ERROR",
    errors.ImportFailed: "IMPORT_ERROR",
    errors.Unavailable: "STORAGE_ERROR",
    errors.Busy: "STORAGE_ERROR",
    errors.TooNew: "STORAGE_ERROR",
    errors.NotAStore: "STORAGE_ERROR",
    errors.Damaged: "STORAGE_ERROR",
    errors.BrokenFile: "STORAGE_ERROR",
    errors.NoLibrary: "SEARCH_ERROR",
    errors.NoModel: "SEARCH_ERROR",
    errors.NoSpace: "STORAGE_ERROR",
    errors.Forbidden: "STORAGE_ERROR",
}
"""Every fault has a category; a test holds the table complete."""

_FIND = "memory_search and memory_list_all show the ids there are."
_PASSING = (errors.Busy, errors.NoSpace)  # what may be gone at the next try


def word(fault: Fault) -> Reply:
    """A fault as the dialect answers it."""
    category = CATEGORIES[type(fault)]
    message, data = _told(fault, category)
    return Reply(value={"success": False, "error": category, "message": message, "data": data}, is_error=True)


def meaning_or_fault(memory: Memory) -> None:
    """A search whose model is broken is no search by meaning, and must not look like one."""
    if (fault := memory.finding().broken()) is not None:
        raise NoModel(
            f"Search by meaning failed: {fault.message}",
            hint=f"{fault.hint} Nothing is lost. To search by words alone, start with --embedder none.",
        )


def unknown_scope(memory: Memory, scope: str) -> Note:
    """A scope in which nothing was found, because there is no such scope."""
    near = memory.nearest_scope(scope)
    what_to_do = "scope_list shows what there is." if near is None else f"did you mean {near!r}?"
    return Note("no_scope", f"There is no scope {scope!r}; {what_to_do}")


def _told(fault: Fault, category: str) -> tuple[str, dict[str, Any]]:
    if isinstance(fault, BadArguments):
        message = "; ".join(map(_misfit, fault.violations))
        missing = all(one.given == "undefined" for one in fault.violations)
        return message, {} if missing else {"fields": [one.path for one in fault.violations]}
    if isinstance(fault, errors.NotFound):
        if fault.message.startswith("Memory"):
            return f"Memory with ID '{fault.names[0]}' not found", {"memory_id": fault.names[0], "hint": _FIND}
        return f"{fault.message}. {fault.hint}", {"names": fault.names}
    if isinstance(fault, errors.ImportFailed):
        return f"{fault.message}. {fault.hint}", {"validation_errors": fault.problems}
    data: dict[str, Any] = {key: value for key, value in fault.details.items() if value is not None}
    if category == "STORAGE_ERROR":
        data["retry_suggested"] = isinstance(fault, _PASSING)
    return f"{_sentence(fault.message)} {fault.hint}", data


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _misfit(one: Violation) -> str:
    if one.given == "undefined":
        return f"Required field '{one.path}' is missing"
    return str(one)
