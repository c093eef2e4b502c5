"""A server whose dialect has three more tools, all of which ask their client something: run as `polymnia` is."""

from __future__ import annotations

import sys
from typing import Any

from msgspec import Struct

from polymnia import app
from polymnia.models import EntityDraft
from polymnia.operation import Context, Operation, Registry, Reply

__all__ = ["add_tools", "install"]


class Named(Struct):
    """What the user is asked about."""

    name: str


class Text(Struct):
    """What the client's model is asked."""

    text: str


class Said(Struct):
    """What the client said."""

    answer: Any


def said(answer: Any) -> Reply:
    """A tool's answer."""
    return Reply(value={"answer": answer}, structured={"answer": answer})


def keep(context: Context, given: Named) -> Reply:
    """A write that needs the user's consent."""
    if context.confirm is None:
        return said("cannot ask")
    consent = context.confirm(f"Keep {given.name}?")
    if consent:
        context.memory.create_entities([EntityDraft(given.name, "thing", ("x",))])
    return said(consent)


def shorten(context: Context, given: Text) -> Reply:
    """A read that the client's model helps with."""
    return said("cannot ask" if context.sample is None else context.sample("Be brief.", given.text, 50))


def keep_short(context: Context, given: Text) -> Reply:
    """A write that asks three times, each question made of the answer before."""
    assert context.sample is not None
    assert context.confirm is not None
    name = context.sample("Name it.", given.text, 5)
    consents = [context.confirm(f"Keep {name}?"), context.confirm(f"Keep {name} for ever?")]
    if name and all(consents):
        context.memory.create_entities([EntityDraft(name, "thing", ("x",))])
    return said([name, *consents])


def add_tools(registry: Registry) -> Registry:
    """The dialect with the tools added."""
    for tool, params, reads in ((keep, Named, False), (shorten, Text, True), (keep_short, Text, False)):
        about: Any = {"params": params, "title": tool.__name__, "help": tool.__doc__, "output": Said, "reads": reads}
        registry.operations[tool.__name__] = Operation(name=tool.__name__, run=tool, asks=True, **about)
    registry.listing = None
    return registry


def install() -> None:
    """Every server that this process starts has the tools."""
    before = app.registry
    app.registry = lambda chosen: add_tools(before(chosen))


if __name__ == "__main__":
    from polymnia.cli import main

    install()
    sys.exit(main())
