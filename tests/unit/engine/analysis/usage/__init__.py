"""Tests of what is found about usage."""
