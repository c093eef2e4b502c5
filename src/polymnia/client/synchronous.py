"""The client for programs without asyncio: the same client, run by a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from ssl import SSLContext
from types import TracebackType
from typing import Any, TypeVar

from polymnia.client.asynchronous import AsyncMCPMemoryClient, Changed, Progress
from polymnia.client.errors import ConnectionFailedError
from polymnia.client.messages import Result
from polymnia.client.operations import Operations

__all__ = ["MCPMemoryClient"]

T = TypeVar("T")


class MCPMemoryClient(Operations):
    """A client of a memory server. Takes what :class:`~polymnia.client.AsyncMCPMemoryClient` takes.

    It may be used from several threads. Callbacks are called one after another on a thread of their own, and may use
    the client. ``close()``, or ``with``, lets go of the connection.
    """

    def __init__(
        self,
        endpoint: str = "ws://127.0.0.1:9080/ws",
        api_key: str | None = None,
        *,
        timeout: float | None = 30.0,
        command: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
        ssl: SSLContext | None = None,
        client_name: str = "polymnia-python",
    ) -> None:
        self._client = AsyncMCPMemoryClient(
            endpoint, api_key, timeout=timeout, command=command, headers=headers, ssl=ssl, client_name=client_name
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._callbacks: Any = None
        self._wrapped: dict[tuple[str, Changed], Changed] = {}
        self._starting = threading.Lock()

    @property
    def timeout(self) -> float | None:
        """Seconds a call may take, all retries included."""
        return self._client.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        """Give calls another time."""
        self._client.timeout = seconds

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> Result:
        """Call any tool by its name; the answer as the protocol has it is in ``raw``.

        Raises ToolError where the tool answers that it failed.
        """
        progress = None if on_progress is None else self._later(on_progress)
        return self._run(self._client.call_tool(name, arguments, timeout=timeout, on_progress=progress))

    def request(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Send any request of the protocol; answers its result."""
        return self._run(self._client.request(method, params, timeout=timeout))

    def list_tools(self) -> list[dict[str, Any]]:
        """The tools the server has, with their schemas."""
        return self._run(self._client.list_tools())

    def read_resource(self, uri: str, *, timeout: float | None = None) -> str:
        """A resource as text; ``uri`` may be the name of a memory."""
        return self._run(self._client.read_resource(uri, timeout=timeout))

    def ping(self, *, timeout: float | None = None) -> None:
        """Ask whether the server is there."""
        self._run(self._client.ping(timeout=timeout))

    def subscribe(self, memory: str, callback: Changed, *, timeout: float | None = None) -> None:
        """Hear of changes to a memory (its name) or to any resource (its address), whoever makes them.

        The subscription outlives a lost connection. After one ``callback`` is called once, because a change may have
        been missed.
        """
        wrapped = self._wrapped[memory, callback] = self._later(callback)
        self._run(self._client.subscribe(memory, wrapped, timeout=timeout))

    def unsubscribe(self, memory: str, callback: Changed | None = None, *, timeout: float | None = None) -> None:
        """Hear no more of it; without ``callback``, nobody does."""
        wrapped = None if callback is None else self._wrapped.pop((memory, callback), None)
        self._run(self._client.unsubscribe(memory, wrapped, timeout=timeout))

    def close(self) -> None:
        """Disconnect. Calls that are under way fail."""
        with self._starting:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
            self._client.is_closed = True
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._client.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        if self._callbacks is not None:
            self._callbacks.shutdown(wait=False)

    def __enter__(self) -> MCPMemoryClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, tool: str, arguments: dict[str, Any], timeout: float | None, on_progress: Progress | None) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        return self.call_tool(tool, given, timeout=timeout, on_progress=on_progress).value

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            loop = self._loop or self._started()
        except ConnectionFailedError:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupt withdraws the call; what has ended is past that
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._client.is_closed:
                raise ConnectionFailedError("The client was closed")
            if self._loop is None:
                self._loop = loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_turn, args=(loop,), name="polymnia-client", daemon=True)
                self._thread.start()
            return self._loop

    def _later(self, callback: Callable[..., object]) -> Callable[..., object]:
        """The same callback, called on the thread of the callbacks."""
        if self._callbacks is None:
            from concurrent.futures import ThreadPoolExecutor

            self._callbacks = ThreadPoolExecutor(1, "polymnia-callbacks")

        def call(*told: object) -> None:
            self._callbacks.submit(callback, *told)

        return call


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()
