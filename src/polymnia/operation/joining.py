"""Dialects side by side: many registries as one."""

from __future__ import annotations

from typing import Any

import msgspec

from polymnia.errors import BadArguments, Fault, Violation
from polymnia.models import Note
from polymnia.operation import Context, Operation, Registry, Reply, schema

__all__ = ["beside"]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


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
    registry = Registry(name="", instructions="", operations={}, word=plain.word or _as_it_says, decoders=decoders)

    def chosen(raw: bytes) -> Operation:
        try:
            return keyed if "operation" in _OBJECT.decode(raw) else plain
        except (msgspec.DecodeError, UnicodeDecodeError):
            return plain

    def take(raw: bytes, notes: list[Note]) -> tuple[Operation, Any]:
        tool = chosen(raw)
        try:
            return tool, registry.arguments(tool, raw, notes)
        except Fault as e:
            if tool is plain and isinstance(e, BadArguments):
                e = _of_the_other(e, keyed)
            e.word = tool.word
            raise e from None

    def run(context: Context, given: tuple[Operation, Any]) -> Reply:
        tool, arguments = given
        try:
            return tool.run(context, arguments)
        except Fault as e:
            e.word = tool.word
            raise

    def takes() -> dict[str, Any]:
        mine, yours = (schema(t.shape) if t.takes is None else t.takes() for t in (plain, keyed))
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
        read=take, takes=takes, gives=gives, word=plain.word, which=keyed.which, session=keyed.session,
    )  # fmt: skip


def _of_the_other(fault: BadArguments, keyed: Operation) -> BadArguments:
    """A fault that also says of which parameters the other tool knows, and how that one is called."""
    theirs = {} if keyed.takes is None else keyed.takes()["properties"]
    names = ", ".join(theirs.get("operation", {}).get("enum", ()))
    told = [
        Violation(one.path, f"only with `operation`: {names}", "unknown", provided=one.provided)
        if one.given == "unknown" and one.path in theirs
        else one
        for one in fault.violations
    ]
    return BadArguments(fault.operation, told)


def _as_it_says(fault: Fault) -> Reply:
    return Reply(text=fault.message, is_error=True)
