"""Polymnia: one memory for AI agents, spoken in every dialect they already know."""

__version__ = "0.1.0"
