"""Leads from analyzing.py to shapes.py until that module is one with the others."""

from polymnia.dialects.content.shapes import period

__all__ = ["period"]
