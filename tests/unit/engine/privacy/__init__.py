"""Privacy: credentials and people."""
