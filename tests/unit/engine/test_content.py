"""Cursors: opaque to a client, exact to us, and never trusted."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from math import isfinite
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia import EntityDraft, connect
from polymnia.engine.content import MOST, cursor, page_size, position
from polymnia.errors import Invalid


@given(st.sampled_from(["graph", "nodes", "matches"]), st.integers(0, 1 << 62))
def test_a_cursor_leads_back_to_its_place(kind: str, id: int) -> None:
    assert position(kind, cursor(kind, id)) == (id,)


@given(st.integers(0, 1), st.floats(-100, 100), st.integers(0, 1 << 62))
def test_a_cursor_of_a_search_leads_back_to_its_place(tier: int, score: float, id: int) -> None:
    place = position("search", cursor("search", tier, score, id))
    assert place == (tier, score, id)
    assert [type(part) for part in place] == [int, float, int]


@given(st.integers(0, 1 << 62))
def test_a_cursor_can_travel_anywhere(id: int) -> None:
    assert cursor("graph", id).replace("-", "").replace("_", "").isalnum()


def test_without_a_cursor_a_listing_starts_at_its_beginning() -> None:
    assert position("graph", None) == ()


def test_the_cursor_of_another_listing_is_refused() -> None:
    with pytest.raises(Invalid, match="does not belong to this listing") as refused:
        position("graph", cursor("nodes", 5))
    assert refused.value.details["field"] == "cursor"


@given(st.text())
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        position("graph", text)


@given(st.binary(max_size=60))
def test_whatever_a_forged_cursor_holds_it_is_refused_or_a_place_there_could_be(data: bytes) -> None:
    forged = urlsafe_b64encode(b"graph:" + data).decode()
    try:
        place = position("graph", forged)
    except Invalid:
        return
    assert all(isfinite(part) for part in place)


_FORGED = [
    "1:2",
    "1e999",
    "-1e999",
    "99999999999999999999999",
    "1.5",
    "-5",
    "nan",
    "0x10",
    "",
    ":",
    "1_0",
    " 1",
    "9" * 5000,
]


@pytest.mark.parametrize("place", _FORGED, ids=lambda place: place[:20])
def test_a_forged_cursor_is_refused_or_leads_somewhere_in_every_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with connect(tmp_path / "memory.db") as memory, connect(tmp_path / "memory.db", graph="simple") as simple:
        memory.create_entities([EntityDraft("a", "k", ("text",)), EntityDraft("b", "k", ("text",))])
        for kind, listing in {
            "graph": lambda forged: memory.read_graph(cursor=forged, limit=1),
            "search": lambda forged: memory.search_nodes("text", cursor=forged, limit=1),
            "nodes": lambda forged: memory.open_nodes(["a", "b"], cursor=forged, limit=1),
            "matches": lambda forged: simple.search_nodes("text", cursor=forged, limit=1),
        }.items():
            try:
                listing(urlsafe_b64encode(f"{kind}:{place}".encode()).decode())
            except Invalid as refused:
                assert "cursor" in refused.message


def test_a_page_is_as_large_as_asked_for_and_never_larger_than_the_largest() -> None:
    assert page_size(None) == MOST
    assert page_size(1) == 1
    assert page_size(MOST) == MOST
    for wrong in (0, -1, MOST + 1):
        with pytest.raises(Invalid):
            page_size(wrong)
