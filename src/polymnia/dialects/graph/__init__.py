"""The graph dialects: nine tools, four manners."""

from polymnia.dialects.graph.operations import registry

__all__ = ["registry"]
