"""The server: what all clients of a process share, whatever their transport."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw
from msgspec.json import encode

from polymnia.errors import Fault, NotFound
from polymnia.operation import Author, Context, Counters, Memory, Operation, Registry, schema
from polymnia.schemas import JsonObject
from polymnia.transports.errors import INVALID_PARAMS, NO_SUCH_RESOURCE, RpcError
from polymnia.transports.subscriptions import ListSubscribers, Poller

if TYPE_CHECKING:
    from polymnia.transports.rpc import Request


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
        self.memories: dict[tuple[Author, str | None], Memory] = {}  # the same memory, by author and writing tool
        self.hidden = hidden or {}  # folders that clients must not see, and what they see instead
        self.counters = Counters()
        self.log_call: Callable[[Request, float], None] | None = None  # and how long it took
        self.require_session = require_session
        self.registry = registry
        self.info = {"name": "polymnia", "title": "Polymnia", "version": version}
        self.max_nesting = max_nesting
        self._tools: Raw | None = None
        self.by_uri = {resource.uri: resource for resource in registry.resources}
        self.prompts = {prompt.name: prompt for prompt in registry.prompts}
        self.secret = os.urandom(32)  # signs what only this server must have written
        self.subscribers = ListSubscribers()
        self.poller = Poller(memory.store.watch)

    def redact(self, fault: Fault, arguments: bytes) -> Fault:
        """A fault without the folders of this server's files.

        What a client wrote in its arguments is quoted unchanged: nobody learns that they guessed a folder.
        """
        texts = [fault.message, fault.hint, *(value for value in fault.details.values() if isinstance(value, str))]
        if not any(folder in text for folder in self.hidden for text in texts):
            return fault
        import re

        known_texts = _texts(arguments)
        quotes = {f"{one!r:.200}" for one in known_texts} | {repr(one) for one in known_texts}
        known = sorted(quotes, key=len, reverse=True) + list(self.hidden)
        either = re.compile("|".join(map(re.escape, known)))

        def hidden(text: str) -> str:
            return either.sub(lambda found: found[0] if found[0] in quotes else self.hidden[found[0]], text)

        fault.message, fault.hint = hidden(fault.message), hidden(fault.hint)
        for name, value in fault.details.items():
            if isinstance(value, str) and value not in known_texts:
                fault.details[name] = hidden(value)
        return fault

    def tools(self) -> Raw:
        """The tool descriptions as JSON: read from a prepared file, or made on the first request."""
        if self._tools is None:
            if self.registry.listing is None:
                self._tools = Raw(describe(self.registry))
            else:
                with open(self.registry.listing, "rb") as file:
                    self._tools = Raw(file.read())
        return self._tools

    def capabilities(self) -> JsonObject:
        """The capabilities of this server."""
        offered: JsonObject = {"tools": {}}
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
        """One of the lists has changed: notify its subscribers."""
        self._tools = None
        self.by_uri = {resource.uri: resource for resource in self.registry.resources}
        self.prompts = {prompt.name: prompt for prompt in self.registry.prompts}
        self.subscribers.notify(name)

    def check_address(self, uri: str, modern: bool) -> None:
        """Refuse an address that no resource can have. A memory may be subscribed to before it exists."""
        if uri not in self.by_uri and all(t.named(uri) is None for t in self.registry.templates):
            raise _no_resource(uri, modern)

    def resource(self, uri: str, context: Context, modern: bool) -> tuple[str, str | bytes]:
        """MIME type and content of a resource."""
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


def _texts(arguments: bytes) -> set[str]:
    """Every string in a JSON value; none if it is not valid JSON."""
    found: set[str] = set()
    try:
        left = [msgspec.json.decode(arguments)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        return found
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.add(one)
        elif isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one
    return found


def _no_resource(uri: str, modern: bool) -> RpcError:
    return RpcError(INVALID_PARAMS if modern else NO_SUCH_RESOURCE, f"Resource not found: {uri}", {"uri": uri})


def describe(registry: Registry) -> bytes:
    """The descriptions of all tools of a dialect as JSON."""
    described = [_description(tool, structured=registry.structured) for tool in registry.operations.values()]
    return encode(described if registry.rewrite is None else [registry.rewrite(one) for one in described])


def _description(tool: Operation, *, structured: bool) -> JsonObject:
    given = None
    if structured:
        given = tool.gives() if tool.gives is not None else schema(tool.output) if tool.output is not None else None
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.help,
        "inputSchema": _input_schema(tool),
        **({} if given is None else {"outputSchema": _without_descriptions(given)}),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }


def _input_schema(tool: Operation) -> JsonObject:
    """The parameters of a tool. That they may come wrapped in one is of no use to a model."""
    plain = schema(tool.shape) if tool.takes is None else tool.takes()
    if tool.headers:
        marked = {name: {**plain["properties"][name], "x-mcp-header": header} for name, header in tool.headers.items()}
        plain = {**plain, "properties": {**plain["properties"], **marked}}
    return {key: value for key, value in plain.items() if tool.wrapped is None or key != "additionalProperties"}


def _without_descriptions(given: Any, *, named: bool = False) -> Any:
    """A schema without field descriptions, which would triple the list of tools; the reference pages have them.

    ``named``: the keys are the names of fields.
    """
    if isinstance(given, list):
        return [_without_descriptions(one) for one in given]
    if not isinstance(given, dict):
        return given
    return {
        key: _without_descriptions(value, named=not named and key in ("properties", "$defs"))
        for key, value in given.items()
        if named or key != "description"
    }
