"""Begun: a coroutine that has run as far as it gets without waiting.

One that never waits needs no task, and no turn of the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

__all__ = ["Begun", "in_task"]

T = TypeVar("T")


class Begun(Generic[T]):
    """Runs a coroutine up to where it first waits. Awaiting it runs the rest.

    ``result`` is there when it is done.
    """

    __slots__ = ("_coroutine", "_waits", "done", "result")

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self.done = False
        try:
            self._waits = coroutine.send(None)
        except StopIteration as e:
            self.result: T = e.value
            self.done = True

    def __await__(self) -> Generator[Any, Any, T]:
        if self.done:
            return self.result
        coroutine, waits = self._coroutine, self._waits
        while True:
            thrown: BaseException | None = None
            try:
                given = yield waits
            except BaseException as e:
                thrown = e
            try:
                waits = coroutine.send(given) if thrown is None else coroutine.throw(thrown)
            except StopIteration as e:
                result: T = e.value
                return result

    async def rest(self) -> T:
        """What is left of it, for a task."""
        return await self


async def in_task() -> None:
    """Go on inside a task: timeouts, and whoever wants to end what runs here, need one."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)
