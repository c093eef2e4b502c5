"""Benches of the analyses."""
