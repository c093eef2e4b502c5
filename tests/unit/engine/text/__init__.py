"""Reading texts."""
