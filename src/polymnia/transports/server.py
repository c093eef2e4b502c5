"""One server: what all clients of a process share, whatever transport they come by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from polymnia.errors import Fault, NotFound
from polymnia.operation import Context, Counters, Memory, Registry
from polymnia.transports.errors import INVALID_PARAMS, NO_SUCH_RESOURCE, RpcError
from polymnia.transports.watch import Audience, Rounds

__all__ = ["Server"]


class Server:
    """What all connections of one process share: the memory, the dialect and its descriptions."""

    def __init__(
        self,
        memory: Memory,
        registry: Registry,
        *,
        version: str,
        max_nesting: int = 100,
        require_session: bool = False,
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        self.memory = memory
        self.hidden = hidden or {}  # folders that clients are not told, and what they are told instead
        self.counters = Counters()
        self.require_session = require_session
        self.registry = registry
        self.info = {"name": "polymnia", "title": "Polymnia", "version": version}
        self.max_nesting = max_nesting
        self._tools: Raw | None = None
        self.by_uri = {resource.uri: resource for resource in registry.resources}
        self.prompts = {prompt.name: prompt for prompt in registry.prompts}
        self.audience = Audience()
        self.rounds = Rounds()

    def hide(self, fault: Fault, said: bytes = b"{}") -> Fault:
        """A fault that does not tell where the files of this server lie.

        What a client said itself, in the arguments ``said``, is told as it said it: nobody learns that they guessed
        a folder right.
        """
        texts = [fault.message, fault.hint, *(value for value in fault.details.values() if isinstance(value, str))]
        if not any(folder in text for folder in self.hidden for text in texts):
            return fault
        own = _texts(said)
        fault.message = self._hidden(fault.message, own)
        fault.hint = self._hidden(fault.hint, own)
        for name, value in fault.details.items():
            if isinstance(value, str) and value not in own:
                fault.details[name] = self._hidden(value, own)
        return fault

    def _hidden(self, text: str, own: set[str]) -> str:
        """A text without our folders but where it quotes the client."""
        quoted = {f"{one!r:.200}" for one in own} | {repr(one) for one in own}
        kept = [quote for quote in quoted if quote in text and any(folder in quote for folder in self.hidden)]
        parts = [text]
        for quote in sorted(kept, key=len, reverse=True):
            parts = [part for one in parts for part in ([one] if one in kept else _around(one, quote))]
        for folder, instead in self.hidden.items():
            parts = [part if part in kept else part.replace(folder, instead) for part in parts]
        return "".join(parts)

    def tools(self) -> Raw:
        """The descriptions of the tools as JSON: as they were made beforehand, else made when a client first asks."""
        if self._tools is None:
            if self.registry.listing is None:
                from polymnia.transports.describing import described

                self._tools = Raw(described(self.registry))
            else:
                with open(self.registry.listing, "rb") as file:
                    self._tools = Raw(file.read())
        return self._tools

    def capabilities(self) -> dict[str, Any]:
        """What this server can do."""
        offered: dict[str, Any] = {"tools": {}}
        if self.registry.resources or self.registry.templates:
            offered["resources"] = {"subscribe": True}
        if self.registry.prompts:
            offered["prompts"] = {}
        for name in self.registry.changing:
            offered[name]["listChanged"] = True
        offered["completions"] = {}
        offered["logging"] = {}
        return offered

    def changed(self, name: str) -> None:
        """One of the lists has changed: whoever wants to hear of it does."""
        self._tools = None
        self.by_uri = {resource.uri: resource for resource in self.registry.resources}
        self.prompts = {prompt.name: prompt for prompt in self.registry.prompts}
        self.audience.hear(name)

    def check_address(self, uri: str, modern: bool) -> None:
        """Refuse an address nothing can ever be found at. A memory may be waited for before it exists."""
        if uri not in self.by_uri and all(t.named(uri) is None for t in self.registry.templates):
            raise _no_resource(uri, modern)

    def resource(self, uri: str, context: Context, modern: bool) -> tuple[str, str | bytes]:
        """Type and content of a resource."""
        resource = self.by_uri.get(uri)
        if resource is not None:
            return resource.mime, resource.read(context)
        for template in self.registry.templates:
            named = template.named(uri)
            if named is not None:
                from urllib.parse import unquote

                try:
                    return template.mime, template.read(context, unquote(named, errors="strict"))
                except (NotFound, UnicodeDecodeError):
                    break
        raise _no_resource(uri, modern)


def _texts(said: bytes) -> set[str]:
    """Every text in some JSON; of what is none, none."""
    found: set[str] = set()
    try:
        left = [msgspec.json.decode(said)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        return found
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.add(one)
        elif isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one
    return found


def _around(text: str, quote: str) -> list[str]:
    """A text in parts, of which every other one is the quote."""
    first, *others = text.split(quote)
    return [first, *(part for other in others for part in (quote, other))]


def _no_resource(uri: str, modern: bool) -> RpcError:
    return RpcError(INVALID_PARAMS if modern else NO_SUCH_RESOURCE, f"Resource not found: {uri}", {"uri": uri})
