"""The associative dialect: thirteen tools over memories, their scopes and what links them."""

from polymnia.dialects.associative.operations import registry

__all__ = ["registry"]
