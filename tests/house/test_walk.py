"""How far a call walks through the house: never farther than it does now."""

from __future__ import annotations

import pytest

from .walk import walk

# The most files, changes of file and depth of a warm call. Numbers here only fall.
_MOST = {"memory_search": (31, 250, 25), "search_nodes": (30, 205, 26), "open_nodes": (23, 82, 13)}


@pytest.mark.parametrize("tool", _MOST)
def test_a_call_walks_no_farther_than_it_did(tool: str) -> None:
    files, switches, depth = _MOST[tool]
    # What happens to run beside the call is counted with it and only adds: the shortest of three walks is the call's.
    walks = []
    for _ in range(3):
        found = walk(tool)
        walks.append(
            f"{len(found.files)} files, {found.switches} switches, depth {found.depth}: {', '.join(found.files)}"
        )
        if len(found.files) <= files and found.switches <= switches and found.depth <= depth:
            return
    raise AssertionError("\n".join(walks))
