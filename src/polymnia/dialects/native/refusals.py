"""How the native dialect words what goes wrong: what, why, and what to do, in one short text."""

from __future__ import annotations

from polymnia.errors import BadArguments, Conflict, Fault, Invalid, ManyTexts
from polymnia.operation import Reply

_MOST = 5  # violations that are worded
_LONGEST = 2_000  # characters of a message
_COMMAND = "`polymnia "  # what a hint names that only somebody at a terminal can do
_MANY_OBSERVATIONS = "{name!r} has {observations} observations, and text would replace all of them"
_MANY_TEXTS = "Give `add` and `remove` instead of `text`: whole observations, word for word."
_CURSOR = "Give the cursor of the answer before unchanged, beside the same arguments, or leave it out."
_CHANGES = "recall with changed_since lists the changes and their numbers."
_LATER = "Undo those first, or all together with `since`."


def word(fault: Fault) -> Reply:
    """A fault as the dialect answers it: a sentence on what is wrong, then what to do."""
    if isinstance(fault, BadArguments):
        wrong = [str(one) for one in fault.violations[:_MOST]]
        more = len(fault.violations) - len(wrong)
        text = _cut("; ".join(wrong)) + (f"; and {more} more" if more else "")
        return Reply(text=f"Error: {text}. Nothing was done; correct it and call again.", is_error=True)
    message = _MANY_OBSERVATIONS.format(**fault.details) if isinstance(fault, ManyTexts) else fault.message
    message = message.replace("].relationType ", "].type ")  # as the parameter is called here
    message = _cut(message)
    text = message if message.endswith((".", "!", "?", "…")) else f"{message}."
    return Reply(text=f"Error: {text} {_cut(_hint(fault))}".rstrip(), is_error=True)


def _cut(text: str) -> str:
    """A text that may quote what was given, which may be of any length."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _hint(fault: Fault) -> str:
    if isinstance(fault, ManyTexts):
        return _MANY_TEXTS
    if fault.details.get("field") == "cursor" and isinstance(fault, Invalid):
        return _CURSOR
    if isinstance(fault, Conflict) and fault.hint == Conflict.hint:
        return _LATER
    return _CHANGES if _COMMAND in fault.hint else fault.hint
