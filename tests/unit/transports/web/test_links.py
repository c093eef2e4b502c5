"""The connections between processes of several machines."""

from __future__ import annotations

import asyncio
import socket

import pytest

from polymnia.transports.web.links import connect


@pytest.mark.promise("network.machines")
@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_machine_that_is_gone_without_a_word_is_noticed_within_a_minute(host: str) -> None:
    async def options() -> tuple[int, int]:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host.strip("[]"), 0), family=family) as listener:
            link = await connect(f"{host}:{listener.getsockname()[1]}")
            made = link._writer.get_extra_info("socket")
            kept = made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            idle = getattr(socket, "TCP_KEEPIDLE", None) or socket.TCP_KEEPALIVE  # as macOS calls it
            seconds = made.getsockopt(socket.IPPROTO_TCP, idle)
            link.abort()
            return kept, seconds

    is_watched, seconds = asyncio.run(options())
    assert is_watched and seconds < 60
