"""The poller of subscriptions: it asks a store again and again, unless the store tells of changes itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from polymnia.errors import Busy
from polymnia.transports import subscriptions
from polymnia.transports.subscriptions import Poller, Watch
from stdio_client import DEADLINE


class Watching:
    """A watch over a project, and when it was checked."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.checked = threading.Event()

    def concerns(self, projects: set[str]) -> bool:
        """Whether it is among them."""
        return self.project in projects

    def check(self) -> None:
        """Take note."""
        self.checked.set()


def joined(poller: Poller, *projects: str) -> list[Any]:
    """Watches over these projects, which the poller knows."""
    watches: list[Any] = [Watching(project) for project in projects]
    for watch in watches:
        poller.join(watch)
    return watches


@pytest.mark.promise("store.watch")
def test_a_store_that_cannot_tell_is_asked_again_and_again() -> None:
    poller = Poller(lambda changed: False)
    watches = joined(poller, "one", "two")
    for _ in range(2):
        for watch in watches:
            assert watch.checked.wait(DEADLINE)
            watch.checked.clear()
    for watch in watches:
        poller.leave(watch)


@pytest.mark.promise("store.watch")
def test_a_store_that_tells_has_the_project_checked_that_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_TOLD_SECONDS", DEADLINE)
    told: list[Callable[[str], None]] = []
    listening = threading.Event()

    def tell(changed: Callable[[str], None]) -> bool:
        told.append(changed)
        listening.set()
        return True

    poller = Poller(tell)
    one, two = joined(poller, "one", "two")
    assert listening.wait(DEADLINE)
    told[0]("two")
    assert two.checked.wait(DEADLINE)
    assert not one.checked.is_set()
    two.checked.clear()
    told[0]("one")
    assert one.checked.wait(DEADLINE)
    assert not two.checked.is_set()
    assert len(told) == 1


@pytest.mark.promise("store.watch")
def test_a_change_that_was_not_told_of_is_found_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_TOLD_SECONDS", 0.05)
    poller = Poller(lambda changed: True)
    (watch,) = joined(poller, "one")
    assert watch.checked.wait(DEADLINE)
    poller.leave(watch)


@pytest.mark.promise("store.watch")
def test_a_change_that_was_not_told_of_is_found_while_others_are_told_of_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subscriptions, "_TOLD_SECONDS", 0.05)
    told: list[Callable[[str], None]] = []

    def tell(changed: Callable[[str], None]) -> bool:
        told.append(changed)
        changed("busy")
        return True

    poller = Poller(tell)
    quiet, busy = joined(poller, "quiet", "busy")
    for _ in range(20):
        assert busy.checked.wait(DEADLINE)
        busy.checked.clear()
        told[0]("busy")
    poller.leave(busy)
    assert quiet.checked.is_set()
    poller.leave(quiet)


@pytest.mark.promise("store.watch")
def test_a_change_that_could_not_be_read_when_it_was_told_of_is_reported_later() -> None:
    stamps, texts = iter([1, 2, 2]), iter(["before", Busy("not now"), "after"])

    def resource(*_: object, **__: object) -> tuple[str, str]:
        text = next(texts)
        if isinstance(text, Busy):
            raise text
        return "text/plain", text

    memory: Any = SimpleNamespace(project="one", stamp=lambda: next(stamps))
    server = SimpleNamespace(poller=Poller(lambda changed: True), by_uri={}, resource=resource)
    log = SimpleNamespace(log=lambda *words: None)
    connection: Any = SimpleNamespace(base=memory, server=server, link=log, notify=None)
    server.poller.join = lambda watch: None
    reported: list[Any] = []
    watch = Watch(connection)
    watch.add(None, ["memory://tea"], lambda method, params: reported.append(params["uri"]))
    watch.check()
    assert not reported
    watch.check()
    assert reported == ["memory://tea"]
