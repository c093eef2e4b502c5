"""An operation is data: the upper waist of the house, where any transport meets any dialect.

A dialect is a :class:`Registry`: operations, resources, prompts, and how it words a fault. A transport takes a registry
and a :class:`~polymnia.engine.memory.Memory` and needs to know nothing else. :func:`join` makes one of several.
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
from polymnia.schemas import JsonObject, exact, schema

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
    "as_object",
    "join",
    "read",
    "schema",
]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NULL = msgspec.Raw(b"null")


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
    content: Sequence[JsonObject] | None = None
    indent: int = 0
    notes: Sequence[Note] = ()
    next: str | None = None
    is_error: bool = False
    flat: bool = False
    refusal: tuple[int, str, JsonObject] | None = None


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
    takes: Callable[[], JsonObject] | None = None
    gives: Callable[[], JsonObject] | None = None
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
    render: Callable[[Context, dict[str, str]], str | list[JsonObject]]


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
        """The parameters of an operation, read from JSON; every violation at once when they do not fit.

        ``notes`` receives a note for each value that was read as something else than it looks like.
        """
        if operation.wrapped is not None:
            raw = _unwrapped(operation, operation.wrapped, raw)
        if operation.read is not None:
            return operation.read(raw, notes)
        decoder = self.decoders.get(operation.name)
        if decoder is None:
            decoder = self.decoders[operation.name] = msgspec.json.Decoder(operation.shape)
        return read(operation.name, decoder.type, raw, decoder, notes)


def read(name: str, params: type, raw: bytes, decoder: msgspec.json.Decoder[Any], notes: list[Note]) -> Any:
    """Parameters of one shape, read from JSON; every violation at once when they do not fit."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        from polymnia.schemas import read_leniently

        return read_leniently(name, params, raw, notes)


def as_object(raw: bytes) -> bytes:
    """Arguments as the JSON object they mean: nothing and null are an empty one, and some clients quote theirs."""
    if raw[:1] == b"{":
        return raw
    if raw in (b"", b"null"):
        return b"{}"
    try:
        text = msgspec.json.decode(raw, type=str).strip()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw
    return text.encode() if text[:1] == "{" else raw


def _unwrapped(operation: Operation, name: str, raw: bytes) -> bytes:
    """The content of the one parameter that may hold all others, or the parameters as they are without it."""
    if f'"{name}"'.encode() not in raw:
        return raw
    try:
        given = _OBJECT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw
    inner = bytes(given.pop(name, _NULL))
    if inner == b"null":
        return msgspec.json.encode(given)
    if beside := [key for key, value in given.items() if bytes(value) != b"null"]:
        expected = f"the only parameter, or absent: {', '.join(beside)} stands beside it"
        raise BadArguments(operation.name, [Violation(name, expected, "both")])
    return as_object(inner)


def join(name: str, first: Registry, *others: Registry) -> Registry:
    """Several dialects as one; every tool keeps the manners of its own.

    A tool that two of them have under one name is both: a call with ``operation`` is the later dialect's.
    """
    dialects = (first, *others)
    operations: dict[str, Operation] = {}
    for one in dialects:
        for tool in one.operations.values():
            own = tool if tool.word is not None else msgspec.structs.replace(tool, word=one.word)
            known = operations.get(tool.name)
            operations[tool.name] = own if known is None else _either(known, own)
    return Registry(
        name=name,
        instructions=" ".join(one.instructions for one in dialects),
        operations=operations,
        word=first.word,
        unknown=first.unknown,
        resources=[item for one in dialects for item in one.resources],
        templates=[item for one in dialects for item in one.templates],
        prompts=[item for one in dialects for item in one.prompts],
    )


def _either(plain: Operation, keyed: Operation) -> Operation:
    """Two tools of one name as one: a call that names an operation is for the second, any other for the first."""
    registry = Registry(name="", instructions="", operations={}, word=lambda fault: Reply(text=fault.message))

    def read(raw: bytes, notes: list[Note]) -> tuple[Operation, Any]:
        try:
            tool = keyed if "operation" in _OBJECT.decode(raw) else plain
        except (msgspec.DecodeError, UnicodeDecodeError):
            tool = plain
        try:
            return tool, registry.arguments(tool, raw, notes)
        except Fault as e:
            fault = _naming_operations(e, keyed) if tool is plain and isinstance(e, BadArguments) else e
            fault.word = tool.word
            raise fault from None

    def run(context: Context, given: tuple[Operation, Any]) -> Reply:
        tool, arguments = given
        try:
            return tool.run(context, arguments)
        except Fault as e:
            e.word = tool.word
            raise

    def takes() -> JsonObject:
        first, second = (schema(tool.shape) if tool.takes is None else tool.takes() for tool in (plain, keyed))
        properties = {**second["properties"], **first["properties"]}
        if plain.wrapped is not None:
            about = "The parameters without `operation` may come in this one instead."
            properties[plain.wrapped] = {"type": "object", "description": about}
        return {"type": "object", "properties": properties}

    def gives() -> JsonObject:
        return {"type": "object", "description": "As the operation, or the call without one, answers."}

    return msgspec.structs.replace(
        plain,
        help=f"{plain.help} With `operation`: {keyed.help}",
        run=run,
        reads=plain.reads and keyed.reads,
        destroys=plain.destroys or keyed.destroys,
        idempotent=False,
        wrapped=None,
        read=read,
        takes=takes,
        gives=gives,
        heavy=False,
        which=keyed.which,
        session=keyed.session,
        headers={},
        exact=False,
    )


def _naming_operations(fault: BadArguments, keyed: Operation) -> BadArguments:
    """A fault that says of the parameters only the other tool has which operations take them."""
    properties = {} if keyed.takes is None else keyed.takes()["properties"]
    expected = f"only with `operation`: {', '.join(properties.get('operation', {}).get('enum', ()))}"
    violations = [
        Violation(one.path, expected, "unknown", provided=one.provided)
        if one.given == "unknown" and one.path in properties
        else one
        for one in fault.violations
    ]
    return BadArguments(fault.operation, violations)
