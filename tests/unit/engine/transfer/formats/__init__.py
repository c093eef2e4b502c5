"""Unit tests of the file formats."""
