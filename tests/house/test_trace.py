"""The number of files, file switches and frames of a call must not grow."""

from __future__ import annotations

import pytest

from .trace import trace

# The maximum number of files, file switches and call depth of a warm call. They may only be lowered.
_LIMITS = {"memory_search": (30, 240, 25), "search_nodes": (28, 200, 25), "open_nodes": (21, 76, 13)}


@pytest.mark.parametrize("tool", _LIMITS)
def test_a_call_stays_within_its_limits(tool: str) -> None:
    files, switches, depth = _LIMITS[tool]
    # Background work is counted too, so the smallest of several traces is that of the call.
    traces = []
    for _ in range(10):
        found = trace(tool)
        traces.append(
            f"{len(found.files)} files, {found.switches} switches, depth {found.depth}: {', '.join(found.files)}"
        )
        if len(found.files) <= files and found.switches <= switches and found.depth <= depth:
            return
    raise AssertionError("\n".join(traces))
