"""What a knowledge-graph file holds, and the account of reading it."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from polymnia.models import EntityDraft

__all__ = ["Entity", "Finding", "Form", "GraphFile", "Link", "Report", "Section", "Unread"]

Form = Literal["document", "lines"]
Section = Literal["entities", "relations", "lines", "document"]
# (source, target, type, foreign keys): what a store takes to make a relation.
Link: TypeAlias = tuple[str, str, str, dict[str, Any]]


class Finding(Struct, frozen=True):
    """One thing the reader came upon: where it was, and in a sentence what it was and what was done."""

    where: str
    why: str


class Unread(Struct, frozen=True):
    """JSON no memory can be made of, on one line. A rewrite puts it back into its section.

    In the section "document" it is an object whose one member is a foreign key of the document itself,
    which no program in Python can hold as a value.
    """

    section: Section
    raw: str


class Report(Struct, frozen=True, kw_only=True):
    """What was taken from a file and what was not.

    ``dangling`` counts the relations, all of them taken, that name an entity the file does not have.
    """

    entities: int
    relations: int
    observations: int
    dangling: int
    repaired: list[Finding]
    refused: list[Finding]


class GraphFile(Struct, frozen=True, kw_only=True):
    """Everything a file holds. Names of entities are unique; relations repeat as often as in the file.

    ``extra`` has the foreign keys of a document, in their order.
    """

    form: Form
    entities: list[EntityDraft]
    relations: list[Link]
    extra: dict[str, Any]
    unread: list[Unread]
    report: Report


class Entity(Protocol):
    """What is written of an entity: a draft or a record, whichever is at hand."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def observations(self) -> tuple[str, ...]: ...
    @property
    def extra(self) -> dict[str, Any]: ...
