"""Examples are drawn the same way on every machine and in every run, and no slow machine fails one."""

from __future__ import annotations

from hypothesis import settings

from form import by_form

settings.register_profile("polymnia", max_examples=by_form(40, 100), derandomize=True, database=None, deadline=None)
settings.load_profile("polymnia")
