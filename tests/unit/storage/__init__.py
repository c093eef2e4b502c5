"""How memories are kept."""
