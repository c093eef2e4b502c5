"""The two servers that are compared: ours in the official dialect, and the reference."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import npm_peer

from .calls import Call
from .wire import Wire

__all__ = ["Official", "plain", "polymnia", "reference"]

Message = dict[str, Any]


class Official:
    """A server of the official dialect, ours or the reference, that can forget everything."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def answer(self, call: Call) -> Message:
        """What the server says to the call, without what may differ."""
        tool, arguments = call
        params: Message = {"name": tool}
        if arguments is not None:
            params["arguments"] = arguments
        return plain(self.wire.request("tools/call", params))

    def graph(self) -> Message:
        """Everything there is."""
        return self.answer(("read_graph", {}))

    def forget(self) -> None:
        """Delete every memory and relation by the tools themselves: much faster than a new process."""
        graph = self.graph()["structuredContent"]
        names = [entity["name"] for entity in graph["entities"]]
        self.answer(("delete_entities", {"entityNames": names}))
        self.answer(("delete_relations", {"relations": graph["relations"]}))
        assert self.graph()["structuredContent"] == {"entities": [], "relations": []}


def reference(file: Path) -> Official:
    """The pinned server from npm, keeping its graph in the file."""
    return Official(Wire(npm_peer.command(), npm_peer.environment(file)))


def polymnia(*options: str | Path) -> Official:
    """Our server, started with these options and no settings from the outside."""
    command = [sys.executable, "-m", "polymnia", "stdio", "--dialect", "official", *map(str, options)]
    env = {key: value for key, value in os.environ.items() if not key.startswith(("POLYMNIA_", "MEMORY_"))}
    return Official(Wire(command, {**env, "POLYMNIA_EMBEDDER": "none"}))


def plain(message: Message) -> Message:
    """An answer without its envelope and without ``_meta``, where our notes travel."""
    if "error" in message:
        return {"error code": message["error"]["code"]}
    told = {key: value for key, value in message["result"].items() if key != "_meta"}
    if told.get("isError") is False:
        del told["isError"]
    return told
