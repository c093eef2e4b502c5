"""The protocol's own conformance suite, run against a real server."""
