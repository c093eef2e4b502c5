"""No room: a write that cannot be kept is an error that says so, and everything else goes on."""

from __future__ import annotations

import re

import pytest

from form import mostly_long
from stdio_client import Place, entity

from .constraint import constrained, no_file_over
from .integrity import is_sound

_BIG = "long " * 600_000
_SAYS_SO = re.compile(r"\b(space|disk)\b")


@pytest.mark.long
@pytest.mark.parametrize("dialect", mostly_long(["strict", "simple", "bilingual", "official"]))
def test_a_write_without_room_is_refused_and_the_store_stays_whole(place: Place, dialect: str) -> None:
    first = place.serve(dialect)
    first.call("create_entities", entities=[entity("before", "small")])
    first.close_input()
    first.exit_code()

    with constrained(place.folder, no_file_over(2 << 20)):
        server = place.serve(dialect)
    refusal = server.refused("create_entities", entities=[entity("big", _BIG), entity("with it", "small")])
    assert _SAYS_SO.search(refusal.text), refusal.text
    assert server.names() == ["before"]
    assert not server.call("create_entities", entities=[entity("after", "small")]).failed
    assert server.names() == ["before", "after"]
    server.close_input()
    assert server.exit_code() == 0
    assert is_sound(place.store)


def test_a_store_that_finds_no_room_to_begin_with_says_so_and_can_begin_later(place: Place) -> None:
    with constrained(place.folder, no_file_over(8 << 10)):
        cramped = place.serve("strict")
    refusal = cramped.refused("create_entities", entities=[entity("first", "small")])
    assert _SAYS_SO.search(refusal.text), refusal.text
    cramped.close_input()
    cramped.exit_code()

    roomy = place.serve("strict")
    assert not roomy.call("create_entities", entities=[entity("first", "small")]).failed
    assert roomy.names() == ["first"]


@pytest.mark.long
def test_a_file_without_room_to_be_rewritten_stays_as_it_was(place: Place) -> None:
    file = place.folder / "memory.jsonl"
    with constrained(place.folder, no_file_over(1 << 20)):
        server = place.serve("official", "--file", str(file))
    server.call("create_entities", entities=[entity("before", "small")])
    written = file.read_bytes()
    beside = {path.name for path in place.folder.iterdir()}

    refusal = server.refused("create_entities", entities=[entity("big", _BIG)])
    assert _SAYS_SO.search(refusal.text), refusal.text
    assert file.read_bytes() == written
    assert {path.name for path in place.folder.iterdir()} <= beside
    assert server.names() == ["before"]
    assert not server.call("create_entities", entities=[entity("after", "small")]).failed
    assert b'"after"' in file.read_bytes()
