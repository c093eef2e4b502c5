"""The embedded store, where it is more than any store."""
