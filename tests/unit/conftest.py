"""Examples are drawn the same way on every machine and in every run, and no slow machine fails one."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("polymnia", derandomize=True, database=None, deadline=None)
settings.load_profile("polymnia")
