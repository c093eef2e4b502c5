"""A coroutine runs as far as it gets without a task, and the rest of it in one; the head of an answer."""

from __future__ import annotations

import asyncio

import pytest

from polymnia.transports.web.connection import Eager, head, in_task


async def nothing_to_wait_for() -> str:
    return "done"


def test_what_never_waits_is_done_at_once_without_an_event_loop() -> None:
    begun = Eager(nothing_to_wait_for())
    assert begun.done
    assert begun.result == "done"


def test_an_error_before_the_first_wait_is_raised_at_once() -> None:
    async def fails() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        Eager(fails())


def test_the_rest_runs_in_a_task() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        there: asyncio.Future[str] = loop.create_future()
        ended: asyncio.Future[asyncio.Task[str]] = loop.create_future()
        order: list[str] = []

        async def waits() -> str:
            order.append("begun")
            found = await there
            order.append(found)
            await asyncio.sleep(0)
            return "ended"

        def begin() -> None:
            begun = Eager(waits())
            assert not begun.done
            assert order == ["begun"]
            ended.set_result(loop.create_task(begun.rest()))

        loop.call_soon(begin)
        task = await ended
        there.set_result("found")
        assert await task == "ended"
        assert order == ["begun", "found"]

    asyncio.run(main())


def test_cancelling_the_task_cancels_what_it_waits_for() -> None:
    async def main() -> None:
        cleaned: list[bool] = []

        async def waits() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append(True)

        task = asyncio.create_task(Eager(waits()).rest())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cleaned

    asyncio.run(main())


def test_who_needs_a_task_gets_one() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[asyncio.Task[bool]] = loop.create_future()

        async def needs() -> bool:
            before = asyncio.current_task()
            await in_task()
            async with asyncio.timeout(30):
                return before is None and asyncio.current_task() is not None

        loop.call_soon(lambda: ended.set_result(loop.create_task(Eager(needs()).rest())))
        assert await (await ended)

    asyncio.run(main())


def test_a_head_has_a_line_for_each_header() -> None:
    assert head(404, [(b"a", b"b"), (b"c", b"d")]) == b"HTTP/1.1 404 Not Found\r\na: b\r\nc: d\r\n\r\n"
    assert head(499, []) == b"HTTP/1.1 499 \r\n\r\n"


@pytest.mark.parametrize("value", [b"x\r\nSet-Cookie: y", b"x\ny", b"x\r\n\r\n<html>"])
def test_no_value_becomes_a_header_of_its_own(value: bytes) -> None:
    with pytest.raises(RuntimeError):
        head(200, [(b"x-request-id", value)])
