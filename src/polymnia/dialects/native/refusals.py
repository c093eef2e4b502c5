"""How the native dialect words what goes wrong: what, why, and what to do, in one short text."""

from __future__ import annotations

from polymnia import errors
from polymnia.dialects.shapes import inherited
from polymnia.errors import BadArguments, Fault
from polymnia.operation import Reply

_MOST = 5  # violations that are worded

HINTS: dict[type[Fault], str | None] = inherited(
    {
        Fault: None,
        errors.ManyTexts: "Give `add` and `remove` instead of `text`: whole observations, word for word.",
        errors.Conflict: "Undo the later changes first; undo with `since` takes back several at once.",
        errors.Unavailable: None,
    }
)
"""What to do about a fault, by its kind; None where the fault itself says it."""


def word(fault: Fault) -> Reply:
    """A fault as the dialect answers it: a sentence on what is wrong, then what to do."""
    if isinstance(fault, BadArguments):
        wrong = [str(one) for one in fault.violations[:_MOST]]
        more = len(fault.violations) - len(wrong)
        text = "; ".join(wrong) + (f"; and {more} more" if more else "")
        return Reply(text=f"Error: {text}. Nothing was done; correct it and call again.", is_error=True)
    text = fault.message if fault.message.endswith((".", "!", "?", "…")) else f"{fault.message}."
    return Reply(text=f"Error: {text} {HINTS[type(fault)] or fault.hint}".rstrip(), is_error=True)
