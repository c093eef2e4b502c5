"""An operation is data: the upper waist of the house, where any transport meets any dialect.

A dialect is a :class:`Registry`: operations, resources, prompts, and how it words a fault. A transport takes
a registry and a :class:`~polymnia.engine.memory.Memory` and needs to know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from polymnia.engine.access import EVERYTHING, Grant
from polymnia.engine.health.counters import Counters
from polymnia.engine.memory import Memory
from polymnia.errors import BadArguments, Fault, Violation
from polymnia.models import Author, Note
from polymnia.operation.schemas import exact, schema

__all__ = [
    "EVERYTHING",
    "Author",
    "Context",
    "Counters",
    "Grant",
    "Memory",
    "Note",
    "Operation",
    "Prompt",
    "PromptArgument",
    "Registry",
    "Reply",
    "Resource",
    "Template",
    "read",
    "schema",
    "told",
]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Context(Struct):
    """What an operation is given besides its parameters."""

    memory: Memory
    step: Callable[[int, int], None] | None = None
    require_session: bool = False
    counters: Counters | None = None
    version: str = ""
    log: Callable[[str, str], None] | None = None  # tells the operator: how important, and what
    tell: Callable[[str, str], None] | None = None  # tells the client the same way, if it wants to hear it
    local: bool = True  # whether the caller is on this machine for sure, and may know where files lie
    changed: Callable[[str], None] | None = None  # tells all clients that a list (tools, prompts, resources) changed
    request_id: str | None = None  # of the request itself, for operations that have no parameter for it

    def place(self, path: str) -> str:
        """A file as the caller is told of it: its path, or over the network its name."""
        return path if self.local else path.replace("\\", "/").rpartition("/")[2]


class Reply(Struct, frozen=True, kw_only=True):
    """An answer, before any transport has shaped it.

    ``value`` is the JSON value a client reads as text; ``text`` stands in its place where a dialect answers
    with a sentence, and ``content`` where it answers with blocks of the protocol: images, sounds, resources.
    ``structured`` is the object it becomes as structured content; with ``flat`` its fields stand in
    the result itself too. ``notes`` go into ``_meta``; one that a model must read is a field of the answer too, where
    the dialect has room for it. ``refusal`` is a code, a message and data: the call fails as a request, not as a tool.
    """

    value: Any = None
    structured: Any = None
    text: str | None = None
    content: Sequence[dict[str, Any]] | None = None
    indent: int = 0
    notes: Sequence[Note] = ()
    next: str | None = None
    is_error: bool = False
    flat: bool = False
    refusal: tuple[int, str, dict[str, Any]] | None = None


def told(reply: Reply, context: Context) -> Reply:
    """An answer with a note on the credentials that were in what the call wrote, unless it has one."""
    notes = [note for note in context.memory.screen.notes() if note.code not in {one.code for one in reply.notes}]
    return msgspec.structs.replace(reply, notes=[*reply.notes, *notes]) if notes else reply


class Operation(Struct, frozen=True, kw_only=True):
    """One thing a client can ask for: data in, data out; no try, no logging, no transport.

    ``wrapped`` names a parameter that may hold all others. ``word`` says how a fault of this one is answered where
    several dialects stand side by side. Where the parameters are of several shapes, ``read`` reads them from JSON, and
    ``takes`` and ``gives`` are the schemas to publish; one without ``output`` answers nothing structured. ``heavy``
    says whether it takes much of a server, for all calls or by their arguments; ``session`` reads from the arguments
    the session of the memory a call is of. ``headers`` names the parameters that
    clients repeat in a header, for proxies to route by, and that header. An ``exact`` one refuses
    parameters it does not know, although their type would not.
    """

    name: str
    params: type
    run: Callable[[Context, Any], Reply]
    title: str
    help: str
    output: type | None
    reads: bool = False
    destroys: bool = False
    idempotent: bool = False
    wrapped: str | None = None
    word: Callable[[Fault], Reply] | None = None
    read: Callable[[bytes, list[Note]], Any] | None = None
    takes: Callable[[], dict[str, Any]] | None = None
    gives: Callable[[], dict[str, Any]] | None = None
    heavy: Callable[[bytes], bool] | bool = False
    which: Callable[[bytes], str] | None = None
    session: Callable[[bytes], str] | None = None
    headers: dict[str, str] = {}
    exact: bool = False

    @property
    def shape(self) -> type:
        """The type its parameters are read as."""
        return exact(self.params) if self.exact else self.params

    def label(self, raw: bytes) -> str:
        """What calls like this one are called when they are compared: the tool, and which of its operations."""
        return self.name if self.which is None else f"{self.name} {self.which(raw)}"

    def is_heavy(self, raw: bytes) -> bool:
        """Whether a call with these arguments is one of those that servers allow few of."""
        return self.heavy if isinstance(self.heavy, bool) else self.heavy(raw)


class Resource(Struct, frozen=True, kw_only=True):
    """Something a client can read by its address."""

    uri: str
    name: str
    title: str
    help: str
    mime: str
    read: Callable[[Context], str | bytes]


class Template(Struct, frozen=True, kw_only=True):
    """A family of resources whose addresses have a name in them, at the end or before ``suffix``."""

    prefix: str
    variable: str
    name: str
    title: str
    help: str
    mime: str
    read: Callable[[Context, str], str]
    complete: Callable[[Context, str], list[str]]  # 101 values tell a client that there are more than 100
    suffix: str = ""

    @property
    def pattern(self) -> str:
        """Its addresses as the protocol writes them."""
        return f"{self.prefix}{{{self.variable}}}{self.suffix}"

    def named(self, uri: str) -> str | None:
        """What stands in an address in place of the variable; None where the address is of another family."""
        if len(uri) < len(self.prefix) + len(self.suffix):
            return None
        if not (uri.startswith(self.prefix) and uri.endswith(self.suffix)):
            return None
        return uri[len(self.prefix) : len(uri) - len(self.suffix)]


class PromptArgument(Struct, frozen=True, kw_only=True):
    """What a prompt can be told."""

    name: str
    help: str
    required: bool = False
    complete: Callable[[Context, str], list[str]] | None = None


class Prompt(Struct, frozen=True, kw_only=True):
    """A message a user can start from, filled from memory: a text, or messages of the protocol."""

    name: str
    title: str
    help: str
    arguments: Sequence[PromptArgument]
    render: Callable[[Context, dict[str, str]], str | list[dict[str, Any]]]


class Registry(Struct, kw_only=True):
    """A dialect: everything it offers, and how it words what goes wrong.

    ``listing`` is the path of a file with the descriptions of its tools, made beforehand: making schemas takes longer
    than a client should wait for its first list. ``changing`` names the lists that may change while it is served.
    """

    name: str
    instructions: str
    operations: dict[str, Operation]
    word: Callable[[Fault], Reply]
    unknown: Callable[[str], Reply] | None = None
    resources: Sequence[Resource] = ()
    templates: Sequence[Template] = ()
    prompts: Sequence[Prompt] = ()
    decoders: dict[str, msgspec.json.Decoder[Any]] = field(default_factory=dict)
    listing: str | None = None
    changing: Sequence[str] = ()

    def arguments(self, operation: Operation, raw: bytes, notes: list[Note]) -> Any:
        """The parameters of an operation, read from JSON; every misfit at once when they do not fit.

        ``notes`` is told of what was read as something else than it looks like.
        """
        if operation.wrapped is not None:
            raw = _unwrapped(operation, operation.wrapped, raw)
        if operation.read is not None:
            return operation.read(raw, notes)
        decoder = self.decoders.get(operation.name)
        if decoder is None:
            decoder = self.decoders[operation.name] = msgspec.json.Decoder(operation.shape)
        return read(operation.name, operation.shape, raw, decoder, notes)


def read(name: str, params: type, raw: bytes, decoder: msgspec.json.Decoder[Any], notes: list[Note]) -> Any:
    """Parameters of one shape, read from JSON; every misfit at once when they do not fit."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        from polymnia.operation.misfits import looked_at_closely

        return looked_at_closely(name, params, raw, notes)


def _unwrapped(operation: Operation, name: str, raw: bytes) -> bytes:
    """What stands in the one parameter that holds all others, or the parameters as they are if it is not given."""
    if f'"{name}"'.encode() not in raw:
        return raw
    try:
        given = _OBJECT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw
    inner = given.pop(name, None)
    if inner is None or bytes(inner) == b"null":
        return msgspec.json.encode(given)
    if beside := [key for key, value in given.items() if bytes(value) != b"null"]:
        expected = f"the only parameter, or absent: {', '.join(beside)} stands beside it"
        raise BadArguments(operation.name, [Violation(name, expected, "both")])
    held = bytes(inner)
    return msgspec.json.decode(held, type=str).encode() if held[:1] == b'"' else held  # some clients quote it
