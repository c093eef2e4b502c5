"""Tests of what is found about temporal."""
