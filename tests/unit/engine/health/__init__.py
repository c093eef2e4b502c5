"""The health of a server and its store."""
