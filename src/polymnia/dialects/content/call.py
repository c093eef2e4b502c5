"""One call of the content dialect: which operation it names, whose it is, and how it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import asdict, replace

from polymnia.dialects.budget import FIELDS, fitted
from polymnia.dialects.shapes import about, parameters
from polymnia.engine.once import Once, Repeated
from polymnia.engine.scopes import legal_session
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, NotFound, Refused, UnknownOperation, Violation
from polymnia.models import JsonObject, legal_text
from polymnia.operation import Context, Memory, Note, Reply, read

Fields = JsonObject

_LONGEST = 4096
# What is kept of an answer for a request that comes again: nothing of the content, which must be gone when it is.
_KEPT_FIELDS = (
    "success message timestamp duration content_id decision_id relationship_id version created_at updated_at created "
    "deleted hard relationships_deleted references_preserved source format imported_count updated_count skipped_count "
    "relationship_count"
)
_KEPT = frozenset(_KEPT_FIELDS.split())


class OperationParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every operation may be given."""

    operation: Annotated[str, about("Which operation.")]
    project_id: Annotated[str, about("The project: any name of yours.", min_length=1, max_length=200)] | None = None
    session_id: (
        Annotated[str, about("Also see and write this session's data.", min_length=1, max_length=100)] | None
    ) = None
    user_id: Annotated[str, about("Who asks; kept in the history.", min_length=1, max_length=200)] | None = None
    request_id: (
        Annotated[str, about("Your id of the request; a retry is not done twice.", min_length=1, max_length=200)] | None
    ) = None


_COMMON = frozenset((*OperationParameters.__struct_fields__, "max_tokens", "cursor"))
# What a long answer may be continued by, and what is of no use in part.
_LISTS = (
    "results versions patterns relationships conflicts insights issues content.history content.relationships "
    "suggestions"
).split()
_WHOLE = ("data",)


class ContentOperation(Struct, frozen=True, kw_only=True):
    """One operation of a tool: what it takes and answers, whether it belongs to a project and is heavy.

    One that reads, or whose answer may be ``long``, takes a budget of tokens.
    """

    params: type
    run: Callable[..., Fields]
    help: str
    answer: type
    reads: bool = False
    project: bool = True
    heavy: bool = False
    long: bool = False


def operation(
    answer: type, options: tuple[str, str] | None = None, **hints: bool
) -> Callable[[Callable[..., Fields]], ContentOperation]:
    """A function as an operation: its signature has the parameters, its docstring explains it."""

    def made(run: Callable[..., Fields]) -> ContentOperation:
        help = " ".join((run.__doc__ or "").split())
        more = FIELDS if hints.get("reads") or hints.get("long") else ()
        params = parameters(run, OperationParameters, options, more)
        return ContentOperation(params=params, run=run, help=help, answer=answer, **hints)

    return made


Operations: TypeAlias = Mapping[str, ContentOperation]


def by_name(*operations: ContentOperation) -> Operations:
    """The operations of a tool by their names."""
    return {one.run.__name__: one for one in operations}


class Invocation(Struct, frozen=True):
    """A call that was read: its operation and the parameters of that one."""

    operation: ContentOperation
    params: Any


class _Which(Struct):
    operation: Any = None
    session_id: Any = None


_which = msgspec.json.Decoder(_Which)


def named(raw: bytes, field: str) -> str:
    """The operation or the session a call names; nothing where it names none."""
    try:
        value = getattr(_which.decode(raw), field)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return value.strip() if isinstance(value, str) else ""


def reader(tool: str, operations: Callable[[], Operations]) -> Callable[[bytes, list[Note]], Invocation]:
    """Reads the calls of one tool: the operation first, then the parameters of that one."""
    decoders: dict[str, msgspec.json.Decoder[Any]] = {}  # made when an operation is first called

    def take(raw: bytes, notes: list[Note]) -> Invocation:
        known = operations()
        name = read(tool, _Which, raw, _which, notes).operation
        if name is None:
            raise BadArguments(tool, [Violation("operation", f"one of {', '.join(known)}", "undefined")])
        chosen = known.get(name) if isinstance(name, str) else None
        if chosen is None:
            raise _unknown(tool, str(name), known)
        if name not in decoders:
            decoders[name] = msgspec.json.Decoder(chosen.params)
        params: OperationParameters = read(name, chosen.params, raw, decoders[name], notes)
        if chosen.project and params.project_id is None:
            raise BadArguments(name, [Violation("project_id", "string", "undefined")])
        return Invocation(chosen, _checked(params))

    return take


def _checked(params: OperationParameters) -> OperationParameters:
    """The parameters that every operation has, as they may be."""
    for field in ("project_id", "session_id", "user_id", "request_id"):
        if (text := getattr(params, field)) is not None:
            legal_text(text, field, _LONGEST)
    if params.project_id is not None and not params.project_id.strip():
        raise Invalid("project_id is empty", field="project_id", hint="Provide a valid project_id parameter.")
    return params if params.session_id is None else replace(params, session_id=legal_session(params.session_id))


def _unknown(tool: str, name: str, operations: Operations) -> UnknownOperation:
    from difflib import get_close_matches

    near = get_close_matches(name, operations, n=1, cutoff=0.4)
    meant = f"Did you mean {near[0]}? " if near else ""
    hint = f"{meant}{tool} has: {', '.join(operations)}."
    fault = UnknownOperation(f"Unknown operation: {name[:80]}", hint=hint)
    fault.details |= {"operation": name[:80], "operations": list(operations), "closest": near[0] if near else None}
    return fault


def _arguments(params: OperationParameters) -> Fields:
    """What the function of an operation is called with: its options with the rest, and what is null by its default."""
    own = {key: value for key, value in asdict(params).items() if key not in _COMMON}
    if (options := own.pop("options", None)) is not None:
        own |= asdict(options)
    return {key: value for key, value in own.items() if value is not None}


class ContentCall:
    """One call in progress: the memory of its project, in the name of its user."""

    def __init__(self, context: Context, params: OperationParameters) -> None:
        self.started = time.perf_counter()
        self.called_at = time.time_ns() // 1000
        if params.request_id is None and context.request_id is not None:
            params = replace(params, request_id=context.request_id)
        self.params = params
        self.context = context
        self.project, self.session, self.step = params.project_id, params.session_id, context.step
        self.wrote = False
        author = context.memory.author
        self._author = author if params.user_id is None else replace(author, user=params.user_id)
        self.memory: Memory = context.memory.acting(self._author, project=params.project_id)
        if context.log is not None and params.request_id is not None:
            context.log("info", f"{params.operation}: request {params.request_id!r}")

    def answer(self, message: str | None = None, **fields: Any) -> Fields:
        """An answer of success, with its time and how long it took."""
        took = f"{(time.perf_counter() - self.started) * 1000:.0f}ms"
        first = {"success": True} if message is None else {"success": True, "message": message}
        return {**first, "timestamp": moment(time.time_ns() // 1000), "duration": took, **fields}

    def check_session(self) -> None:
        """Refuse to write without a session where the server wants one."""
        if self.context.require_session and self.session is None:
            raise Refused(
                "This server writes only within a session: session_id is missing",
                hint="Give a session_id, or start the server without --require-session.",
            )

    def writing(self, answer: Callable[[Any], Fields]) -> Memory:
        """The memory to write to. What is answered to a request_id is answered again when that comes again."""
        self.check_session()
        self.wrote = True
        if self.params.request_id is None:
            return self.memory
        from hashlib import sha256

        request: Fields = msgspec.to_builtins(self.params)
        request.pop("user_id", None)

        def kept(done: Any) -> str:
            return encode({key: value for key, value in answer(done).items() if key in _KEPT}).decode()

        once = Once(self.params.request_id, sha256(encode(request)).hexdigest(), kept)
        return self.memory.acting(self._author, project=self.project, once=once)

    def unknown_project(self, *, nearest_only: bool = False) -> str | None:
        """That the project of the call is not there, as a sentence; None where it is, or where none has such a name."""
        if self.project is None or self.memory.stamp():
            return None
        near = self.memory.nearest_project()
        if near is None and nearest_only:
            return None
        meant = f"; did you mean {near!r}?" if near else "."
        return f"There is no project {self.project!r} yet, so it has no content{meant}"


def respond(context: Context, invocation: Invocation) -> Reply:
    """The answer to a call, with its request_id; a call that was done before is answered as it was then."""
    call = ContentCall(context, invocation.params)
    session, request = call.session, call.params.request_id
    try:
        answer = invocation.operation.run(call, **_arguments(invocation.params))
    except Repeated as again:
        answer = decode(again.answer) | {"repeated": True}
        if "version" in answer and isinstance(id := answer.get("content_id"), str):  # the answer of one that was stored
            with suppress(NotFound):
                answer["metadata"] = call.memory.item(id, session=session).metadata
    except NotFound as e:
        e.details.setdefault("project", call.project)
        e.details.setdefault("near", call.memory.nearest_id(e.names[0], session=session))
        e.details.setdefault("no_project", call.unknown_project(nearest_only=True))
        raise
    exists = call.wrote or answer.get("content_id") or answer.get("results")  # the project, that is
    if not exists and (unknown := call.unknown_project()) is not None:
        typed = "patterns" in answer  # of detect_patterns, whose notes have a type
        answer["notes"] = [{"type": "project", "note": unknown} if typed else unknown, *answer.get("notes", [])]
    if request is not None:
        answer["request_id"] = request
    notes = [Note("note", text) for text in answer.get("notes", ()) if isinstance(text, str)]
    reply = Reply(value=answer, structured=answer, flat=True, notes=notes)
    most, cursor = (getattr(invocation.params, name, None) for name in ("max_tokens", "cursor"))
    return fitted(reply, most or context.budget, lists=_LISTS, whole=_WHOLE, cursor=cursor)
