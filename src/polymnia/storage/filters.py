"""Compiles filters to SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from polymnia.models import DEFAULT_SCOPE, Filters, fold

FACETS = {
    "kinds": "facet_kinds",
    "content_types": "facet_content_types",
    "tags": "facet_tags",
    "scopes": "facet_scopes",
    "months": "facet_months",
}
"""The statement that counts each facet."""

Condition: TypeAlias = tuple[str, tuple[Any, ...]]
"""A part of a statement, and the values of its placeholders."""


class FilterSyntax(Protocol):
    """How an engine writes what is not the same in all of them."""

    def any_of(self, column: str, values: Sequence[str]) -> Condition:
        """The condition that a column has one of the values."""

    def between(self, column: str, low: str, high: str) -> Condition:
        """The condition that a column is from ``low`` to ``high``, perhaps a little outside; an index is used."""

    @property
    def tagged(self) -> str:
        """The memories m with their rows d in the table of tags, read in this order."""

    def among(self, numbers: Sequence[int], base: int) -> Condition:
        """The memories m with these numbers; the base is added to each to get its id."""

    @property
    def who(self) -> str:
        """The condition that the author or speaker of a memory m contains a text, given twice."""

    @property
    def listed_tags(self) -> str:
        """Prefixed to a statement, makes it read the tags of the memories themselves."""

    def metadata(self, key: str, value: Any) -> Condition:
        """The condition on one key of the metadata: equal to the value, or a list that contains it."""


def statement(
    syntax: FilterSyntax, filters: Filters, project: int, base: int, among: Sequence[int] | None, limit: int | None
) -> tuple[str, tuple[Any, ...]]:
    """The statement that selects the ids of the memories that pass, in no order, and its values.

    Its text consists of columns and operators only; whatever a caller wrote is a bound value.
    """
    conditions = list(_conditions(syntax, filters, project))
    values: tuple[Any, ...] = ()
    unique = ""
    if among is not None:
        source, values = syntax.among(among, base)
    elif filters.tags:
        # The most selective condition: only memories with one of the tags are read.
        source = syntax.tagged
        driving = filters.tags[:1] if filters.all_tags else filters.tags
        any_tag, tags = syntax.any_of("d.tag", driving)
        conditions.insert(0, (f"d.project = ? AND {any_tag}", (project, *tags)))
        unique = "DISTINCT " if len(driving) > 1 else ""
    else:
        source = "memory m"
        conditions.insert(0, ("m.project = ?", (project,)))
    text = f"SELECT {unique}m.id FROM {source}"
    if conditions:
        text += f" WHERE {' AND '.join(condition for condition, _ in conditions)}"
        values += tuple(value for _, some in conditions for value in some)
    return (text, values) if limit is None else (f"{text} LIMIT ?", (*values, limit))


def _conditions(syntax: FilterSyntax, filters: Filters, project: int) -> Iterator[Condition]:
    for column, any_of in (
        ("m.name", filters.names),
        ("m.kind", filters.kinds),
        ("m.content_type", filters.content_types),
        ("m.category", filters.categories),
    ):
        if any_of:
            yield syntax.any_of(column, any_of)
    if filters.tags:
        has = "EXISTS (SELECT 1 FROM tag t WHERE t.project = ? AND {which} AND t.memory = m.id)"
        for tags in [(tag,) for tag in dict.fromkeys(filters.tags)] if filters.all_tags else [filters.tags]:
            which, values = syntax.any_of("t.tag", tags)
            yield has.format(which=which), (project, *values)
    if filters.scope is not None:
        yield _scope(syntax, filters.scope, filters.scopes_below)
    if filters.session is not None:
        shared = "" if filters.only_session else " OR m.session IS NULL"
        yield f"(m.session = ?{shared})", (filters.session,)
    elif not filters.any_session:
        yield "m.session IS NULL", ()
    for condition, time in (
        ("m.created >= ?", filters.created_from),
        ("m.created < ?", filters.created_to),
        ("m.updated >= ?", filters.updated_from),
        ("m.updated < ?", filters.updated_to),
    ):
        if time is not None:
            yield condition, (time,)
    for key, value in filters.metadata.items():
        yield syntax.metadata(key, value)
    if filters.who is not None:
        yield syntax.who, (fold(filters.who),) * 2


def _scope(syntax: FilterSyntax, scope: str, below: bool) -> Condition:
    """Exactly a scope, or a scope with its subscopes. The default scope is stored as NULL."""
    if not below:
        return ("m.scope IS NULL", ()) if scope == DEFAULT_SCOPE else syntax.any_of("m.scope", [scope])
    # "0" follows "/": the range covers everything that starts with the scope and a slash, and little else.
    inside = "(m.scope = ? OR (m.scope >= ? AND m.scope < ?))"
    values = (scope, f"{scope}/", f"{scope}0")
    if f"{DEFAULT_SCOPE}/".startswith(f"{scope}/"):
        return f"(m.scope IS NULL OR {inside})", values
    near, bounds = syntax.between("m.scope", scope, f"{scope}0")
    return f"{near} AND {inside}", (*bounds, *values)
