"""How far a call walks through the house: never farther than it does now."""

from __future__ import annotations

import pytest

from .walk import walk

# The most files, changes of file and depth of a warm call. Numbers here only fall.
_MOST = {"memory_search": (51, 345, 25), "search_nodes": (45, 295, 27), "open_nodes": (29, 85, 13)}


@pytest.mark.parametrize("tool", _MOST)
def test_a_call_walks_no_farther_than_it_did(tool: str) -> None:
    found = walk(tool)
    files, switches, depth = _MOST[tool]
    shown = f"{len(found.files)} files, {found.switches} switches, depth {found.depth}:\n" + "\n".join(found.files)
    assert len(found.files) <= files, shown
    assert found.switches <= switches, shown
    assert found.depth <= depth, shown
