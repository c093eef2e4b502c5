"""What the shapes of all dialects are made with: a description for each parameter and each field."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Meta

T = TypeVar("T")


def about(text: str, **limits: Any) -> Meta:
    """The description of a parameter or field; ``default`` is what a schema shows as the default."""
    if "default" in limits:
        limits["extra_json_schema"] = {"default": limits.pop("default")}
    return Meta(description=text, **limits)


def or_null(kind: str, text: str) -> Meta:
    """The description of a field that is always there and may be null."""
    return Meta(description=text, extra_json_schema={"type": [kind, "null"]})


def or_else(value: T | None, default: T) -> T:
    """A parameter, or what leaving it out means."""
    return default if value is None else value
