"""What the tools share: their parameters, the words models use instead of these, and how a function becomes a tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from polymnia.dialects.native.text import count
from polymnia.dialects.shapes import about, parameters
from polymnia.errors import BadArguments, Violation
from polymnia.models import JsonObject, Note
from polymnia.operation import Context, Memory, Operation, Reply, credential_notes, schema
from polymnia.operation import read as read_arguments

_LEAST, _MOST = 100, 100_000
Budget = Annotated[int, about("Tokens the answer may have.", ge=_LEAST, le=_MOST)]
Time = Annotated[str, about("Stored or said since: a date, or words: last week.")]
Confirm = Annotated[bool, about("True does it; without it you see what would be done.")]
Ids = Annotated[list[str], about("Names, ids or beginnings of ids.")]
Project = str
Tags = list[str]
_TAKE: dict[str, type] = {}  # each tool with the type of its parameters
_ALIKE = 0.7  # how like a parameter a name must be to be taken for a slip
_EXPECTED = {
    ("undo", "change", "string"): "a number, which `history` of read and `changed_since` of recall show",
    ("recall", "session", "unknown"): "but `scope` session/NAME finds its turns, and read shows all of them",
}  # what to give instead, where the schema alone does not tell
_READING = ("read", "recall", "revise", "forget", "undo", "remember", "brief")  # whom an unknown parameter is for
_MAYBE_ABSENT = re.compile(rb'"(?:none|null|n/a|undefined|)"', re.IGNORECASE)  # texts that may stand for nothing


class ToolParameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a tool takes. Unknown parameters are refused; an optional one may be left out or be null."""


class NewMemory(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One memory of several."""

    text: str
    kind: str | None = None
    tags: Tags | None = None
    scope: str | None = None
    metadata: JsonObject | None = None
    supersedes: str | None = None


class NewEntity(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entity of several."""

    name: str
    kind: str | None = None
    observations: list[str] | None = None
    tags: Tags | None = None
    scope: str | None = None


class NewRelation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One relation of several."""

    from_: str = field(name="from")
    to: str
    type: str


class NewTurn(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One turn of a conversation."""

    role: str
    text: str
    at: str | None = None


def tool(name: str, title: str, **hints: Any) -> Callable[[Callable[..., Reply]], Operation]:
    """A function as a tool of this dialect: its signature has the parameters, its docstring explains it."""

    def made(run: Callable[..., Reply]) -> Operation:
        params = parameters(run, ToolParameters)
        decoder = msgspec.json.Decoder(params)

        def call(context: Context, given: Struct) -> Reply:
            arguments = {key: value for key, value in asdict(given).items() if value is not None}
            if context.budget is not None and "budget" in params.__struct_fields__:  # as the request says for itself
                arguments.setdefault("budget", min(max(context.budget, _LEAST), _MOST))
            if project := arguments.get("project"):
                memory = context.memory.acting(context.memory.author, project=project)
                context = replace(context, memory=memory)
            reply = run(context, **arguments)
            if reply.text and (told := credential_notes(context.memory.screen)):  # which a model finds nowhere else
                reply = replace(reply, text=f"{reply.text}\nNote: {told[0].text.partition(':')[0]}.")
            return reply

        def read(raw: bytes, notes: list[Note]) -> Any:
            if not _MAYBE_ABSENT.search(raw):
                try:
                    return decoder.decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    pass
            from polymnia.dialects.native.repairs import repaired

            try:
                return read_arguments(name, params, repaired(schema(params), raw, notes), decoder, notes)
            except BadArguments as e:
                raise BadArguments(name, [_placed(name, one) for one in e.violations]) from None

        _TAKE[name] = params
        return Operation(
            name=name,
            title=title,
            params=params,
            run=call,
            read=read,
            takes=lambda: _published(schema(params)),
            output=None,
            help=" ".join((run.__doc__ or "").split()),
            wrapped="request",
            project="project" if "project" in params.__struct_fields__ else None,
            **hints,
        )

    return made


def _placed(tool: str, wrong: Violation) -> Violation:
    """A violation; of a parameter that is unknown here, with the tools that take it, or where else it may go."""
    if (expected := _EXPECTED.get((tool, wrong.path, wrong.given))) is not None:
        return Violation(wrong.path, expected, wrong.given, provided=wrong.provided)
    if wrong.given != "unknown":
        return wrong
    from difflib import SequenceMatcher

    from polymnia.dialects.native.repairs import parameter_of

    key = wrong.path.rpartition(".")[2]
    near = wrong.near
    if near and near not in key and SequenceMatcher(None, near, key).ratio() < _ALIKE:
        near = None
    others = [one for one in _TAKE if one != tool and parameter_of(schema(_TAKE[one]), wrong.path)]
    taken = [] if near else sorted(others, key=_READING.index)[:2]
    expected = wrong.expected
    if taken:
        expected = f"{' and '.join(taken)} {'take' if len(taken) > 1 else 'takes'} that; here {expected}"
    if "metadata" in wrong.expected:
        expected += "; whatever else is known goes into metadata"
    return Violation(wrong.path, expected, wrong.given, provided=wrong.provided, of=wrong.of, near=near)


def _published(given: Any) -> Any:
    """A schema as short as a model can do with."""
    if isinstance(given, list):
        return [_published(one) for one in given]
    if not isinstance(given, dict):
        return given
    return {
        key: _published(value)
        for key, value in given.items()
        if key not in ("additionalProperties", "minimum", "maximum")
    }


def path(scope: str) -> str:
    """A scope as it is stored: without slashes at its ends, whatever slashes it was written with."""
    return scope.replace("\\", "/").removesuffix("/*").strip("/")


def bare(tags: Iterable[str] | None) -> list[str]:
    """Tags without the # that answers show before each."""
    return [tag.removeprefix("#") for tag in tags or ()]


def empty_project(memory: Memory) -> str:
    """That nothing is stored yet; of a project that never was, with the one that may be meant."""
    if relations := memory.count()[1]:
        what = count(relations, "relation", "relations")
        return (
            f"There are no memories in the project {memory.project!r}, only {what}; read with a name shows those of it."
        )
    if memory.stamp():
        return f"There are no memories in the project {memory.project!r} any more; recall with changed_since tells why."
    near = memory.nearest_project()
    meant = f"; did you mean the project {near!r}?" if near else "."
    return f"There are no memories in the project {memory.project!r} yet{meant}"
