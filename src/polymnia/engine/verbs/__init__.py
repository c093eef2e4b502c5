"""The verbs of memory, one noun a file. Memory is all of them together."""
