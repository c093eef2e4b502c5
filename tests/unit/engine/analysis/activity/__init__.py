"""Tests of what is found about time, use and users."""
