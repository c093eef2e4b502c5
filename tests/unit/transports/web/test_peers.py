"""A process among others, with a shared state that fails when a test says so."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from polymnia.errors import Busy
from polymnia.transports.log import Log
from polymnia.transports.web import peers
from polymnia.transports.web.peers import Peers


class Sessions(list[Any]):
    """The sessions of the process."""

    ended = None


class Forgetful:
    """A shared state that was lost, and fails while the second session is held again."""

    secret = b"secret"

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.beats = iter([None, 1, 1])
        self.failures = iter([False, True])

    def join(self, _address: str) -> int:
        """Known again."""
        return 1

    def leave(self) -> None:
        """Gone."""

    def beat(self, _figures: bytes) -> int | None:
        """Forgotten at first."""
        count = next(self.beats, 0)
        if count == 0:
            self.left()
        return count

    def hold(self, id: str, _about: bytes) -> bool:
        """Fails once."""
        if next(self.failures, False):
            raise Busy("not now")
        self.held.add(id)
        return True

    def left(self) -> None:
        """Set by the test."""


@pytest.mark.promise("store.shared.lost")
def test_all_sessions_are_held_again_though_the_shared_state_fails_at_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "_BEAT_SECONDS", 0.0)
    connection = SimpleNamespace(altered=None)  # they last as long as their streams
    sessions = Sessions(SimpleNamespace(id=id, connection=connection, principal=None) for id in "abc")
    state: Any = SimpleNamespace(sessions=sessions, log=Log("emergency", "text"))
    shared: Any = Forgetful()
    one = Peers(shared, state, {})
    shared.left = one.leave
    asyncio.run(one.run())
    assert shared.held == {"a", "b", "c"}
