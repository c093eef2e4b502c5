"""Fixtures of the protocol's conformance suite: one of everything a server can answer. Served only when asked for."""

from polymnia.dialects.conformance.operations import registry

__all__ = ["registry"]
