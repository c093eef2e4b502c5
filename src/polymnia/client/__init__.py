"""A client of memory servers: over WebSocket, HTTP or stdio, with and without asyncio.

>>> from polymnia.client import MCPMemoryClient
>>> client = MCPMemoryClient(endpoint="ws://localhost:9080/ws")
>>> client.memory_store(operation="store_content", project_id="my-project", content="Important information to remember")
>>> client.search_content("my-project", "important information", options={"limit": 5})

It imports nothing of the server.
"""

from __future__ import annotations

from polymnia.client import errors, operations
from polymnia.client.asynchronous import AsyncMCPMemoryClient
from polymnia.client.errors import *  # noqa: F403

# Not in __all__: `from polymnia.client import *` must not shadow asyncio's CancelledError.
from polymnia.client.errors import CancelledError as CancelledError
from polymnia.client.messages import Result
from polymnia.client.synchronous import MCPMemoryClient

__all__ = ["AsyncMCPMemoryClient", "MCPMemoryClient", "Result", "operations"]
__all__ += errors.__all__
