"""How the associative dialect words what goes wrong: a category, a sentence, and the data behind it."""

from __future__ import annotations

from polymnia import errors
from polymnia.dialects.shapes import inherited
from polymnia.errors import BadArguments, Fault, Violation
from polymnia.models import JsonObject
from polymnia.operation import Reply

CATEGORIES = inherited(
    {
        Fault: "STORAGE_ERROR",
        errors.Invalid: "VALIDATION_ERROR",
        errors.NotFound: "MEMORY_NOT_FOUND",
        errors.AlreadyExists: "VALIDATION_ERROR",
        errors.ManyTexts: "VALIDATION_ERROR",
        errors.Refused: "VALIDATION_ERROR",
        errors.NotAllowed: "STORAGE_ERROR",
        errors.OverQuota: "STORAGE_ERROR",
        errors.ExportFailed: "EXPORT_ERROR",
        errors.ImportFailed: "IMPORT_ERROR",
        errors.NoLibrary: "SEARCH_ERROR",
        errors.NoModel: "SEARCH_ERROR",
    }
)
"""The category of every fault."""

_FIND = "memory_search and memory_list_all show the ids there are."
_PASSING = (errors.Busy, errors.Interrupted, errors.NoSpace)  # what may be gone at the next try


def word(fault: Fault) -> Reply:
    """A fault as the dialect answers it."""
    category = CATEGORIES[type(fault)]
    message, data = _message(fault, category)
    return Reply(value={"success": False, "error": category, "message": message, "data": data}, is_error=True)


def _message(fault: Fault, category: str) -> tuple[str, JsonObject]:
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
    data: JsonObject = {key: value for key, value in fault.details.items() if value is not None}
    if category == "STORAGE_ERROR":
        data["retry_suggested"] = isinstance(fault, _PASSING)
    return f"{_sentence(fault.message)} {fault.hint}", data


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _misfit(one: Violation) -> str:
    if one.given == "undefined":
        return f"Required field '{one.path}' is missing"
    return str(one)
