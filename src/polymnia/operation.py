"""Operations as data: the interface between the transports and the dialects.

A dialect is a :class:`Registry`: operations, resources, prompts, and the wording of faults. A transport takes a
registry and a :class:`~polymnia.engine.memory.Memory` and nothing else. :func:`join` combines several dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, field

from polymnia.engine.access import EVERYTHING, Grant, Quota
from polymnia.engine.health.counters import SECONDS, CallFigures, Counters
from polymnia.engine.memory import Memory
from polymnia.engine.privacy.screening import Screen
from polymnia.errors import BadArguments, Fault, Violation
from polymnia.models import Author, Note
from polymnia.schemas import JsonObject, exact, schema

__all__ = [
    "EVERYTHING",
    "SECONDS",
    "Author",
    "CallFigures",
    "Context",
    "Counters",
    "Download",
    "Grant",
    "Memory",
    "Note",
    "Operation",
    "Prompt",
    "PromptArgument",
    "Quota",
    "Registry",
    "Reply",
    "Resource",
    "Template",
    "as_object",
    "credential_notes",
    "join",
    "read",
    "schema",
    "unwrapped",
]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NULL = msgspec.Raw(b"null")


class Context(Struct):
    """What an operation receives besides its parameters.

    ``confirm`` asks the user a yes-or-no question: True for yes, False for no or if the user declines to answer, None
    without an answer. ``sample`` has the client's own model respond to a system prompt and a text with at most so many
    tokens; None without a response. Either is there only if the operation ``asks``, the client offers it and the
    transport can carry the question. Ask before writing, never inside a transaction: while a call waits, other calls
    of its client overtake it, and in the stateless era it starts over with the answer.
    """

    memory: Memory
    step: Callable[[int, int], None] | None = None
    require_session: bool = False
    counters: Counters | None = None
    version: str = ""
    log: Callable[[str, str], None] | None = None  # logs for the operator: level and text
    log_to_client: Callable[[str, str], None] | None = None  # the same for the client, if it subscribed to that level
    local: bool = True  # whether the caller is certainly on this machine, and may see file paths
    changed: Callable[[str], None] | None = None  # notifies all clients that a list (tools, prompts, resources) changed
    request_id: str | None = None  # of the request itself, for operations without a parameter for it
    confirm: Callable[[str], bool | None] | None = None
    sample: Callable[[str, str, int], str | None] | None = None
    budget: int | None = None  # tokens an answer may have if the call does not say
    manages: bool = False  # whether the caller may list, create and revoke keys
    key: str = ""  # the id of the caller's key, empty without one

    def place(self, path: str) -> str:
        """A file as shown to the caller: its path, or over the network just its name."""
        return path if self.local else path.replace("\\", "/").rpartition("/")[2]


class Download(Struct, frozen=True):
    """A file as an answer: its name, its MIME type, and what writes it to a stream."""

    name: str
    mime: str
    write: Callable[[BinaryIO], None]


class Reply(Struct, frozen=True, kw_only=True):
    """The result of an operation, before a transport formats it.

    ``value`` is the JSON value a client reads as text; ``text`` replaces it if a dialect answers with a sentence,
    ``content`` if it answers with content blocks of the protocol: images, audio, resources. ``structured`` is the
    structured content; with ``flat`` its fields are copied into the result itself. ``notes`` go into ``_meta``; one
    that a model must read is also a field of the answer, if the dialect has one for it, else the ``remark``, a text
    that follows the answer. ``refusal`` is a code, a message and data: the call fails as a request, not as a tool.
    ``download`` is a file instead of a value.
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
    remark: str | None = None
    refusal: tuple[int, str, JsonObject] | None = None
    download: Download | None = None


class Operation(Struct, frozen=True, kw_only=True):
    """A tool that clients can call: data in, data out; no try, no logging, no transport.

    ``wrapped`` names a parameter that may contain all others. ``word`` formats this tool's faults where several
    dialects are offered together. If the parameters have several shapes, ``read`` decodes them from JSON, and ``takes``
    and ``gives`` return the schemas to publish; without ``output`` there is no structured content. ``heavy`` says
    whether calls are expensive, always or depending on the arguments; ``which`` returns the operation named in the
    arguments if there is one of that name, ``session`` the memory session; ``project`` is the parameter that names the
    project. ``headers`` maps parameters to the headers in which clients repeat them,
    for proxies to route by. ``exact`` refuses unknown parameters even if their type would accept them. ``asks`` says
    that calls may ask the client something (:class:`Context`).
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
    project: str | None = None
    headers: dict[str, str] = {}
    exact: bool = False
    asks: bool = False

    @property
    def shape(self) -> type:
        """The type its parameters are decoded to."""
        return exact(self.params) if self.exact else self.params

    def label(self, raw: bytes) -> str:
        """The name under which calls are counted: the tool, and which of its operations."""
        return self.name if self.which is None else f"{self.name} {self.which(raw)}"

    def is_heavy(self, raw: bytes) -> bool:
        """Whether a call with these arguments falls under the rate limit for heavy calls."""
        return self.heavy if isinstance(self.heavy, bool) else self.heavy(raw)


class Resource(Struct, frozen=True, kw_only=True):
    """Something a client can read by its URI."""

    uri: str
    name: str
    title: str
    help: str
    mime: str
    read: Callable[[Context], str | bytes]


class Template(Struct, frozen=True, kw_only=True):
    """A family of resources whose URIs contain a name, at the end or before ``suffix``."""

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
        """The URI template as the protocol writes it."""
        return f"{self.prefix}{{{self.variable}}}{self.suffix}"

    def named(self, uri: str) -> str | None:
        """The value of the variable in a URI; None if the URI does not match."""
        if len(uri) < len(self.prefix) + len(self.suffix):
            return None
        if not (uri.startswith(self.prefix) and uri.endswith(self.suffix)):
            return None
        return uri[len(self.prefix) : len(uri) - len(self.suffix)]


class PromptArgument(Struct, frozen=True, kw_only=True):
    """An argument of a prompt."""

    name: str
    help: str
    required: bool = False
    complete: Callable[[Context, str], list[str]] | None = None


class Prompt(Struct, frozen=True, kw_only=True):
    """A prompt template filled from memory; renders a text, or messages of the protocol."""

    name: str
    title: str
    help: str
    arguments: Sequence[PromptArgument]
    render: Callable[[Context, dict[str, str]], str | list[JsonObject]]


class Registry(Struct, kw_only=True):
    """A dialect: everything it offers, and its wording of faults.

    ``listing`` is the path of a prebuilt file with its tool descriptions: building schemas takes longer than a client
    should wait for its first list. ``changing`` names the lists that may change while the server runs. ``welcome`` adds
    to the instructions what a memory holds when a client connects. Without ``structured`` an answer is sent once, as
    text, and tools have no output schemas. ``budget`` is how many tokens an answer may have if the call does not say;
    ``rewrite`` makes a tool's description shorter.
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
    structured: bool = True
    budget: int | None = None
    rewrite: Callable[[JsonObject], JsonObject] | None = None
    welcome: Callable[[Memory], str] | None = None

    def introduce(self, memory: Memory) -> str:
        """The instructions for a client that connects to a memory."""
        if self.welcome is None:
            return self.instructions
        try:
            return f"{self.instructions}\n\n{self.welcome(memory)}"
        except Fault:  # the first call says what is wrong with the store
            return self.instructions

    def arguments(self, operation: Operation, raw: bytes, notes: list[Note]) -> Any:
        """Decode the parameters of an operation from JSON; if they do not fit, raise every violation at once.

        A note is appended to ``notes`` if values were not read literally.
        """
        if operation.wrapped is not None:
            raw = unwrapped(operation, operation.wrapped, raw)
        if operation.read is not None:
            return operation.read(raw, notes)
        decoder = self.decoders.get(operation.name)
        if decoder is None:
            decoder = self.decoders[operation.name] = msgspec.json.Decoder(operation.shape)
        return read(operation.name, decoder.type, raw, decoder, notes)


def read(name: str, params: type, raw: bytes, decoder: msgspec.json.Decoder[Any], notes: list[Note]) -> Any:
    """Decode parameters of one shape from JSON; if they do not fit, raise every violation at once."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        from polymnia.schemas import read_leniently

        return read_leniently(name, params, raw, notes)


def credential_notes(screen: Screen) -> list[Note]:
    """A note on the credentials found in what was written; none if there were none."""
    if not screen.found:
        return []
    fields = ", ".join(dict.fromkeys(f"{one['field']} ({one['kind']})" for one in screen.found))
    done = "masked before it was stored" if screen.manner == "redact" else "stored as it is"
    return [Note("possible_credentials", f"What looks like a credential was {done}: {fields}.")]


def as_object(raw: bytes) -> bytes:
    """Normalise arguments to a JSON object: missing and null become an empty one, and a quoted one is unquoted."""
    if raw[:1] == b"{":
        return raw
    if raw in (b"", b"null"):
        return b"{}"
    try:
        text = msgspec.json.decode(raw, type=str).strip()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw
    return text.encode() if text[:1] == "{" else raw


def unwrapped(operation: Operation, name: str, raw: bytes) -> bytes:
    """The content of the parameter that may contain all others, or the parameters unchanged if it is absent."""
    if f'"{name}"'.encode() not in raw:
        return raw
    try:
        arguments = _OBJECT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw
    inner = bytes(arguments.pop(name, _NULL))
    if inner == b"null":
        return msgspec.json.encode(arguments)
    if others := [key for key, value in arguments.items() if bytes(value) != b"null"]:
        expected = f"the only parameter, or absent: {', '.join(others)} stands beside it"
        raise BadArguments(operation.name, [Violation(name, expected, "both")])
    return as_object(inner)


def join(name: str, instructions: str, first: Registry, *others: Registry) -> Registry:
    """Combine several dialects; every tool retains the behaviour of its own dialect.

    If two dialects have a tool of the same name, calls with ``operation`` go to the later dialect's.
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
        instructions=instructions,
        operations=operations,
        word=first.word,
        unknown=first.unknown,
        resources=[item for one in dialects for item in one.resources],
        templates=[item for one in dialects for item in one.templates],
        prompts=[item for one in dialects for item in one.prompts],
    )


def _either(plain: Operation, keyed: Operation) -> Operation:
    """Merge two tools of the same name: calls with ``operation`` go to the second, all others to the first."""
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

    def run(context: Context, params: tuple[Operation, Any]) -> Reply:
        tool, arguments = params
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
        project=keyed.project,
        headers={},
        exact=False,
        asks=plain.asks or keyed.asks,
    )


def _naming_operations(fault: BadArguments, keyed: Operation) -> BadArguments:
    """The same fault, but parameters only ``keyed`` has are reported with the operations that accept them."""
    properties = {} if keyed.takes is None else keyed.takes()["properties"]
    expected = f"only with `operation`: {', '.join(properties.get('operation', {}).get('enum', ()))}"
    violations = [
        Violation(one.path, expected, "unknown", provided=one.provided)
        if one.given == "unknown" and one.path in properties
        else one
        for one in fault.violations
    ]
    return BadArguments(fault.operation, violations)
