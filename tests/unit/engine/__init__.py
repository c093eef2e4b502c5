"""The rules of memory."""
