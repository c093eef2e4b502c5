"""Streams keep what a client may come back for, and never more than so much."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, MutableMapping
from typing import Any

from polymnia.transports.web.streams import Outbox, StoredBytes, begin, follow

MIB = 1024 * 1024


def kept(outbox: Outbox, since: int = 0) -> list[int]:
    """The numbers of the events that can be read after one."""

    def walk() -> Iterator[int]:
        at = since
        while (event := outbox.after(at)) is not None:
            at = event[0]
            yield at

    return list(walk())


def test_events_are_numbered_and_read_in_order() -> None:
    outbox = Outbox("1")
    for said in (b"a", b"b", b"c"):
        outbox.put(said)
    assert kept(outbox) == [1, 2, 3]
    assert kept(outbox, 2) == [3]
    assert outbox.after(1) == (2, b"b")
    assert outbox.after(3) is None


def test_what_was_sent_is_kept_for_a_while() -> None:
    outbox = Outbox("1")
    for number in range(1, 2001):
        outbox.put(b"x")
        outbox.mark_sent(number)
    assert kept(outbox)[-1] == 2000
    assert 100 <= len(kept(outbox)) <= 1000


def test_what_was_not_sent_yet_is_kept_longer_but_not_without_end() -> None:
    outbox = Outbox("1")
    for _ in range(1000):
        outbox.put(b"x")
    assert len(kept(outbox)) == 1000
    for _ in range(100_000):
        outbox.put(b"x")
    assert len(kept(outbox)) < 10_000


def test_a_large_answer_does_not_push_out_what_was_told_before_it() -> None:
    outbox = Outbox("1")
    outbox.put(b"progress")
    outbox.put(bytes(8 * MIB))
    assert kept(outbox) == [1, 2]


def test_a_stream_nobody_can_come_back_to_keeps_nothing_it_has_sent() -> None:
    outbox = Outbox()
    for number in range(1, 101):
        outbox.put(bytes(MIB))
        outbox.mark_sent(number)
    assert outbox.bytes <= MIB


def test_where_all_streams_together_hold_too_much_each_keeps_little() -> None:
    stored = StoredBytes(MIB)
    outboxes = [Outbox(str(name), stored) for name in range(100)]
    for _ in range(100):
        for outbox in outboxes:
            outbox.put(bytes(1024))
    assert stored.bytes < 20 * MIB
    assert sum(outbox.bytes for outbox in outboxes) == stored.bytes
    for outbox in outboxes:
        outbox.close()
    assert stored.bytes == 0


def test_who_comes_back_takes_the_stream_over() -> None:
    async def main() -> None:
        outbox = Outbox("1")
        outbox.put(b'"first"')
        said: list[list[bytes]] = [[], []]

        def sender(at: int) -> Any:
            async def send(event: MutableMapping[str, Any]) -> None:
                said[at].append(event.get("body", b""))

            return send

        gone = [asyncio.get_running_loop().create_future() for _ in range(2)]
        await begin(sender(0), [], outbox, primed=True)
        old = asyncio.ensure_future(follow(outbox, 0, gone[0], sender(0)))
        while not outbox.sent:
            await asyncio.sleep(0)
        new = asyncio.ensure_future(follow(outbox, outbox.sent, gone[1], sender(1)))
        assert await old is False
        outbox.put(b'"second"')
        outbox.end()
        assert await new is True
        assert b"".join(said[0]) == b'id: 1-0\nretry: 1000\ndata: \n\nid: 1-1\nevent: message\ndata: "first"\n\n'
        assert b"".join(said[1]) == b'id: 1-2\nevent: message\ndata: "second"\n\n'

    asyncio.run(main())
