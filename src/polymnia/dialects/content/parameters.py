"""Leads from analyzing.py to shapes.py until that module is one with the others."""

from polymnia.dialects.content.call import OperationParameters as Standard
from polymnia.dialects.content.shapes import DateRange, Item, Share

__all__ = ["DateRange", "Item", "Share", "Standard"]
