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
from polymnia.engine.condition.counters import Counters
from polymnia.engine.memory import Memory
from polymnia.errors import BadArguments, BadText, Fault, Violation
from polymnia.models import Note

__all__ = [
    "EVERYTHING",
    "Context",
    "Counters",
    "Grant",
    "Memory",
    "Operation",
    "Prompt",
    "PromptArgument",
    "Registry",
    "Reply",
    "Resource",
    "Template",
    "beside",
    "read",
    "schema",
]


class Context(Struct):
    """What an operation is given besides its parameters."""

    memory: Memory
    step: Callable[[int, int], None] | None = None
    require_session: bool = False
    secrets: str = "flag"
    counters: Counters | None = None
    version: str = ""
    log: Callable[[str, str], None] | None = None  # tells the operator: how important, and what
    tell: Callable[[str, str], None] | None = None  # tells the client the same way, if it wants to hear it
    local: bool = True  # whether the caller is on this machine for sure, and may know where files lie
    changed: Callable[[str], None] | None = None  # tells all clients that a list (tools, prompts, resources) changed

    def place(self, path: str) -> str:
        """A file as the caller is told of it: its path, or over the network its name."""
        return path if self.local else path.replace("\\", "/").rpartition("/")[2]


class Reply(Struct, frozen=True, kw_only=True):
    """An answer, before any transport has shaped it.

    ``value`` is the JSON value a client reads as text; ``text`` stands in its place where a dialect answers
    with a sentence, and ``content`` where it answers with blocks of the protocol: images, sounds, resources.
    ``structured`` is the object it becomes as structured content; with ``flat`` its fields stand in
    the result itself too. ``refusal`` is a code, a message and data: the call fails as a request, not as a tool.
    """

    value: Any = None
    structured: Any = None
    text: str | None = None
    content: Sequence[dict[str, Any]] | None = None
    indent: int = 0
    notes: Sequence[Note] = ()
    notes_in_text: bool = True
    next: str | None = None
    is_error: bool = False
    flat: bool = False
    refusal: tuple[int, str, dict[str, Any]] | None = None


class Operation(Struct, frozen=True, kw_only=True):
    """One thing a client can ask for: data in, data out; no try, no logging, no transport.

    ``wrapped`` names a parameter that may hold all others. ``word`` says how a fault of this one is answered where
    several dialects stand side by side. Where the parameters are of several shapes, ``read`` reads them from JSON, and
    ``takes`` and ``gives`` are the schemas to publish; one without ``output`` answers nothing structured. ``heavy``
    says whether it takes much of a server, for all calls or by their arguments. ``headers`` names the parameters that
    clients repeat in a header, for proxies to route by, and that header.
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
    read: Callable[[bytes], Any] | None = None
    takes: Callable[[], dict[str, Any]] | None = None
    gives: Callable[[], dict[str, Any]] | None = None
    heavy: Callable[[bytes], bool] | bool = False
    which: Callable[[bytes], str] | None = None
    headers: dict[str, str] = {}

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

    def arguments(self, operation: Operation, raw: bytes) -> Any:
        """The parameters of an operation, read from JSON; every misfit at once when they do not fit."""
        if operation.wrapped is not None:
            raw = _unwrapped(operation, operation.wrapped, raw)
        if operation.read is not None:
            return operation.read(raw)
        decoder = self.decoders.get(operation.name)
        if decoder is None:
            decoder = self.decoders[operation.name] = msgspec.json.Decoder(operation.params)
        return read(operation.name, operation.params, raw, decoder)


def read(name: str, params: type, raw: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Parameters of one shape, read from JSON; every misfit at once when they do not fit."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _looked_at_closely(name, params, raw)


def beside(name: str, first: Registry, *others: Registry) -> Registry:
    """Dialects side by side: every tool keeps the manners of its own; what else they offer is offered by all.

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
    decoders: dict[str, msgspec.json.Decoder[Any]] = {}
    registry = Registry(name="", instructions="", operations={}, word=plain.word or _nothing, decoders=decoders)

    def chosen(raw: bytes) -> Operation:
        try:
            return keyed if "operation" in _OBJECT.decode(raw) else plain
        except (msgspec.DecodeError, UnicodeDecodeError):
            return plain

    def take(raw: bytes) -> tuple[Operation, Any]:
        tool = chosen(raw)
        try:
            return tool, registry.arguments(tool, raw)
        except Fault as e:
            e.word = tool.word
            raise

    def run(context: Context, given: tuple[Operation, Any]) -> Reply:
        tool, arguments = given
        try:
            return tool.run(context, arguments)
        except Fault as e:
            e.word = tool.word
            raise

    def takes() -> dict[str, Any]:
        mine, yours = (schema(t.params) if t.takes is None else t.takes() for t in (plain, keyed))
        properties = {**yours["properties"], **mine["properties"]}
        if plain.wrapped is not None:
            about = "The parameters without `operation` may come in this one instead."
            properties[plain.wrapped] = {"type": "object", "description": about}
        return {"type": "object", "properties": properties}

    def gives() -> dict[str, Any]:
        return {"type": "object", "description": "As the operation, or the call without one, answers."}

    return Operation(
        name=plain.name, title=plain.title, help=f"{plain.help} With `operation`: {keyed.help}", params=plain.params,
        run=run, output=plain.output, reads=plain.reads and keyed.reads, destroys=plain.destroys or keyed.destroys,
        read=take, takes=takes, gives=gives, word=plain.word, which=keyed.which,
    )  # fmt: skip


def _nothing(fault: Fault) -> Reply:
    return Reply(text=fault.message, is_error=True)


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


_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _looked_at_closely(name: str, params: type, raw: bytes) -> Any:
    """Parameters the fast decoder refused: every misfit, or, where 1.0 stands for 1, the parameters after all."""
    import json

    try:
        value = json.loads(raw, parse_int=_integer, parse_float=_number)
    except (ValueError, RecursionError):
        raise BadArguments(name, [Violation("", "JSON in UTF-8", "something else")]) from None
    if (found := _lone_surrogate(value, "")) is not None:
        raise BadText(found[0], f"a lone surrogate (U+{found[1]:04X})")
    misfits: list[Violation] = []
    _compare(schema(params), value, "", misfits)
    if misfits:
        raise BadArguments(name, misfits)
    try:
        return msgspec.convert(value, params)
    except msgspec.ValidationError as e:
        raise BadArguments(name, [Violation("", "what the schema says", str(e))]) from None


def _integer(digits: str) -> float:
    return int(digits) if len(digits) < 300 else float("inf")


def _number(digits: str) -> float:
    number = float(digits)
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _lone_surrogate(value: Any, path: str) -> tuple[str, int] | None:
    if isinstance(value, str):
        at = next((c for c in value if "\ud800" <= c <= "\udfff"), None)
        return None if at is None else (path or "the arguments", ord(at))
    inner: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        inner = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    return next((found for where, item in inner if (found := _lone_surrogate(item, where))), None)


_TYPES = {"string": str, "array": list, "object": dict, "boolean": bool}


def _given(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return next(name for name, kind in _TYPES.items() if isinstance(value, kind))


def _quoted(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, str) else _given(value)


def _compare(expected: dict[str, Any], value: Any, path: str, misfits: list[Violation]) -> None:
    """Every place where a value does not fit a schema of ours, in the order of the schema."""
    kind = expected.get("type")
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            misfits.append(Violation(path, "number", _given(value)))
        elif kind == "integer" and not (isinstance(value, int) or value.is_integer()):
            misfits.append(Violation(path, "int", "number"))
        elif not expected.get("minimum", value) <= value <= expected.get("maximum", value):
            least, most = expected.get("minimum", -1), expected.get("maximum", 1 << 63)
            given = str(value) if abs(value) < 1e18 else "a larger one"
            misfits.append(Violation(path, f"a number from {least} to {most}", given, (least, most)))
        return
    if kind in _TYPES and not isinstance(value, _TYPES[kind]):
        misfits.append(Violation(path, kind, _given(value)))
        return
    if kind == "string" and not expected.get("minLength", 0) <= len(value) <= expected.get("maxLength", len(value)):
        least, most = expected.get("minLength", 0), expected.get("maxLength")
        length = f"at least {least} characters long" if most is None else f"{least} to {most} characters long"
        misfits.append(Violation(path, length, f"{len(value)}"))
        return
    if "enum" in expected and value not in expected["enum"]:
        misfits.append(Violation(path, "one of " + ", ".join(map(str, expected["enum"])), _quoted(value)))
        return
    if kind == "array":
        for i, item in enumerate(value):
            _compare(expected.get("items", {}), item, f"{path}[{i}]", misfits)
    elif kind == "object":
        required = expected.get("required", ())
        for key, inner in expected.get("properties", {}).items():
            where = f"{path}.{key}" if path else key
            if key not in value:
                if key in required:
                    misfits.append(Violation(where, inner.get("type", "value"), "undefined"))
            elif value[key] is not None or key in required:
                _compare(inner, value[key], where, misfits)
        if expected.get("additionalProperties") is False:
            names = ", ".join(expected.get("properties", {}))
            for key in value:
                if key not in expected.get("properties", {}):
                    misfits.append(Violation(f"{path}.{key}" if path else key, f"one of: {names}", "unknown"))


_schemas: dict[type, dict[str, Any]] = {}


def schema(kind: type) -> dict[str, Any]:
    """The JSON Schema of a type as one flat object: no references, no titles, null only where it tells something."""
    if kind not in _schemas:
        (top,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
        for part in parts.values():
            part.pop("description", None)  # a docstring is for the reader of the code
        _schemas[kind] = _plain(top, parts)
    return _schemas[kind]


def _plain(node: Any, parts: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(parts[node["$ref"]], parts)
    if "anyOf" in node:
        kept = [item for item in node["anyOf"] if item != {"type": "null"}]
        if len(kept) == 1:
            rest = {key: item for key, item in node.items() if key != "anyOf" and (key, item) != ("default", None)}
            return {**_plain(kept[0], parts), **rest}
    return {
        key: {name: _plain(item, parts) for name, item in value.items()}
        if key == "properties"
        else _plain(value, parts)
        for key, value in node.items()
        if key != "title"
    }
