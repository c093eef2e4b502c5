"""The content dialect: tools that each offer several operations over documents and decisions of a project."""

from polymnia.dialects.content.operations import registry

__all__ = ["registry"]
