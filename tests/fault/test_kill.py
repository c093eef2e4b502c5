"""Killed at any moment: what was acknowledged is there, and what was not is there whole or not at all."""

from __future__ import annotations

import json
import random
import subprocess
import time
from contextlib import suppress
from itertools import count

import pytest

from form import by_form
from stdio_client import Place, Server, entity

from .integrity import is_sound

_ROUNDS = by_form(8, 20)
_SENT = 150


def _load(server: Server, numbers: count[int]) -> dict[int, str]:
    """Send many writes without waiting for any of them; gives the name that each request makes."""
    names = [f"memory {next(numbers)}" for _ in range(_SENT)]
    return {
        server.begin_call("create_entities", {"entities": [entity(name, "a"), entity(name + "'", "b")]}): name
        for name in names
    }


def _wait_for(server: Server, some: list[int]) -> None:
    server.wait_for(lambda: all(server.answered(call) for call in some), f"{len(some)} answers")


def _spin(seconds: float) -> None:
    """Let a moment pass that is too short for the operating system's clock to cut off."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _acknowledged(server: Server, sent: dict[int, str]) -> list[str]:
    kept = []
    for call, name in sent.items():
        if server.answered(call):
            result = server.answer(call)["result"]
            assert not result.get("isError"), result
            kept.append(name)
    return kept


def test_every_acknowledged_write_survives_being_killed(place: Place) -> None:
    chance = random.Random(20)
    numbers = count()
    kept: list[str] = []
    for _ in range(_ROUNDS):
        writers = [place.serve("official") for _ in range(2)]
        sent = [_load(writer, numbers) for writer in writers]
        _wait_for(writers[0], list(sent[0])[: chance.randrange(1, 60)])
        _spin(chance.uniform(0, 0.004))
        for writer in writers:
            writer.process.kill()
        for writer, each in zip(writers, sent, strict=True):
            writer.kill()
            kept += _acknowledged(writer, each)

    last = place.serve("official")
    names = set(last.names())
    assert not [name for name in kept if name not in names]
    assert not [name for name in names if not {name.rstrip("'"), name.rstrip("'") + "'"} <= names]
    assert not last.call("create_entities", entities=[entity("after all")]).failed
    assert len(kept) > _ROUNDS
    last.close_input()
    last.exit_code()
    assert is_sound(place.store)


@pytest.mark.long
def test_a_store_whose_making_was_cut_short_is_made_by_the_next_process(place: Place) -> None:
    chance = random.Random(3)
    for number in range(8):
        store = place.folder / f"{number}.db"
        makers = [place.start("--dialect", "official", "--store", str(store)) for _ in range(2)]
        calls = [maker.begin_call("create_entities", {"entities": [entity("first")]}) for maker in makers]
        with suppress(subprocess.TimeoutExpired):
            makers[0].process.wait(chance.uniform(0.04, 0.25))
        for maker in makers:
            maker.process.kill()
        for maker in makers:
            maker.kill()
        next_one = place.serve("official", "--store", str(store))
        if any(maker.answered(call) for maker, call in zip(makers, calls, strict=True)):
            assert next_one.names() == ["first"]
        assert not next_one.call("create_entities", entities=[entity("second")]).failed
        assert "second" in next_one.names()
        next_one.kill()


def test_every_acknowledged_write_is_in_the_file_after_being_killed(place: Place) -> None:
    chance = random.Random(8)
    numbers = count()
    kept: list[str] = []
    file = place.folder / "memory.jsonl"
    for _ in range(6):
        writer = place.serve("official", "--file", str(file))
        sent = _load(writer, numbers)
        _wait_for(writer, list(sent)[: chance.randrange(1, 30)])
        _spin(chance.uniform(0, 0.004))
        writer.kill()
        kept += _acknowledged(writer, sent)
        names = {json.loads(line)["name"] for line in file.read_text().splitlines()}
        assert not [name for name in kept if not {name, name + "'"} <= names]
    assert sorted(place.serve("official", "--file", str(file)).names()) == sorted(names)
