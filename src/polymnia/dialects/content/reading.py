"""Leads from analyzing.py to call.py until that module is one with the others."""

from __future__ import annotations

from typing import Any

from polymnia.dialects.content.call import ContentOperation

__all__ = ["Verb"]


def Verb(**fields: Any) -> ContentOperation:  # noqa: N802
    """An operation of memory_analyze."""
    from polymnia.dialects.content import analyzing_answers

    name = fields["params"].__doc__.strip(".")
    return ContentOperation(answer=analyzing_answers.ANSWERS[name], **fields)
