"""One server: what all clients of a process share, whatever transport they come by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
        secrets: str = "flag",
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        self.memory = memory
        self.hidden = hidden or {}  # folders that clients are not told, and what they are told instead
        self.counters = Counters()
        self.require_session = require_session
        self.secrets = secrets
        self.registry = registry
        self.info = {"name": "polymnia", "title": "Polymnia", "version": version}
        self.max_nesting = max_nesting
        self._tools: Raw | None = None
        self.by_uri = {resource.uri: resource for resource in registry.resources}
        self.prompts = {prompt.name: prompt for prompt in registry.prompts}
        self.audience = Audience()
        self.rounds = Rounds()

    def hide(self, fault: Fault) -> Fault:
        """A fault that does not tell where the files of this server lie."""
        for folder, instead in self.hidden.items():
            fault.message = fault.message.replace(folder, instead)
            fault.hint = fault.hint.replace(folder, instead)
            for name, value in fault.details.items():
                if isinstance(value, str):
                    fault.details[name] = value.replace(folder, instead)
        return fault

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


def _no_resource(uri: str, modern: bool) -> RpcError:
    return RpcError(INVALID_PARAMS if modern else NO_SUCH_RESOURCE, f"Resource not found: {uri}", {"uri": uri})
