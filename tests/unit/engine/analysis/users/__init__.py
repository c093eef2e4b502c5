"""Tests of what is found about users."""
