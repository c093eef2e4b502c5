"""Compiles filters to SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from msgspec.json import encode

from polymnia.models import DEFAULT_SCOPE, Filters, fold

FACETS = {
    "kinds": "facet_kinds",
    "content_types": "facet_content_types",
    "tags": "facet_tags",
    "scopes": "facet_scopes",
    "months": "facet_months",
}
"""The statement that counts each facet."""

UNLISTED_TAGS = """WITH tag (project, tag, memory) AS (
  SELECT m.project, t.value, m.id FROM memory m, json_each(CASE WHEN json_valid(m.tags) THEN m.tags ELSE '[]' END) t
) """
"""Prefixed to a statement, makes it read the tags of the memories themselves, because the table of tags is damaged."""

# Who stored a memory is who made the change whose rows it is among; folding leaves letters beyond ASCII as they are.
_WHO = """(
  instr(lower((SELECT c.who FROM change c WHERE c.project = m.project AND c.first < m.id & 4294967295
               AND c.last >= m.id & 4294967295 ORDER BY c.first DESC LIMIT 1)), ?)
  OR instr(lower(CASE WHEN json_valid(m.metadata) THEN json_extract(m.metadata, '$.speaker') END), ?)
)"""
_ANY = "{column} IN (SELECT value FROM json_each(?))"
_Condition: TypeAlias = tuple[str, tuple[Any, ...]]
"""A part of a statement, and the values of its placeholders."""


def statement(
    filters: Filters, project: int, base: int, among: Sequence[int] | None, limit: int | None
) -> tuple[str, tuple[Any, ...]]:
    """The statement that selects the ids of the memories that pass, in no order, and its values.

    Its text consists of columns and operators only; whatever a caller wrote is a bound value.
    """
    conditions = list(_conditions(filters, project))
    values: tuple[Any, ...] = ()
    unique = ""
    if among is not None:
        source = "json_each(?) j CROSS JOIN memory m ON m.id = ? + j.value"
        values = (encode(list(among)).decode(), base)
    elif filters.tags:
        # The most selective condition: only memories with one of the tags are read.
        source = "tag d CROSS JOIN memory m ON m.id = d.memory"
        driving = filters.tags[:1] if filters.all_tags else filters.tags
        conditions.insert(0, (f"d.project = ? AND {_ANY.format(column='d.tag')}", (project, encode(driving).decode())))
        unique = "DISTINCT " if len(driving) > 1 else ""
    else:
        source = "memory m"
        conditions.insert(0, ("m.project = ?", (project,)))
    text = f"SELECT {unique}m.id FROM {source}"
    if conditions:
        text += f" WHERE {' AND '.join(condition for condition, _ in conditions)}"
        values += tuple(value for _, some in conditions for value in some)
    return (text, values) if limit is None else (f"{text} LIMIT ?", (*values, limit))


def _conditions(filters: Filters, project: int) -> Iterator[_Condition]:
    for column, any_of in (
        ("m.name", filters.names),
        ("m.kind", filters.kinds),
        ("m.content_type", filters.content_types),
        ("m.category", filters.categories),
    ):
        if any_of:
            yield _ANY.format(column=column), (encode(any_of).decode(),)
    if filters.tags:
        has = "EXISTS (SELECT 1 FROM tag t WHERE t.project = ? AND {which} AND t.memory = m.id)"
        if filters.all_tags:
            for tag in dict.fromkeys(filters.tags):
                yield has.format(which="t.tag = ?"), (project, tag)
        else:
            yield has.format(which=_ANY.format(column="t.tag")), (project, encode(filters.tags).decode())
    if filters.scope is not None:
        yield _scope(filters.scope, filters.scopes_below)
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
        yield _metadata(key, value)
    if filters.who is not None:
        yield _WHO, (fold(filters.who),) * 2


def _scope(scope: str, below: bool) -> _Condition:
    """Exactly a scope, or a scope with its subscopes. The default scope is stored as NULL."""
    if not below:
        return ("m.scope IS NULL", ()) if scope == DEFAULT_SCOPE else ("m.scope = ?", (scope,))
    # "0" follows "/": the range covers everything that starts with the scope and a slash, and little else.
    inside = "(m.scope = ? OR (m.scope >= ? AND m.scope < ?))"
    values = (scope, f"{scope}/", f"{scope}0")
    if f"{DEFAULT_SCOPE}/".startswith(f"{scope}/"):
        return f"(m.scope IS NULL OR {inside})", values
    return f"m.scope >= ? AND m.scope < ? AND {inside}", (scope, f"{scope}0", *values)


def _metadata(key: str, value: Any) -> _Condition:
    """One key of the metadata: equal to the value, or a list that contains it."""
    # Compared row by row: a JSON path cannot express a key with a quote.
    equal, values = _equals(value)
    # CASE keeps what is no list from being read as one, in whatever order SQLite evaluates conditions.
    parts = "json_each(CASE d.type WHEN 'array' THEN d.value ELSE '[]' END)"
    inside = f"EXISTS (SELECT 1 FROM {parts} e WHERE {equal.format('e')})"
    held = f"SELECT 1 FROM json_each(m.metadata) d WHERE d.key = ? AND ({equal.format('d')} OR {inside})"
    return f"EXISTS ({held})", (key, *values, *values)


def _equals(value: Any) -> _Condition:
    """A condition on a row of json_each: it equals the value. 1 and 1.0 are equal, and true is not a number."""
    if value is None:
        return "{0}.type = 'null'", ()
    if isinstance(value, bool):
        return "{0}.type = ?", ("true" if value else "false",)
    if isinstance(value, dict | list):
        # Compared as sets of leaves with their paths: the keys of an object have no order.
        leaves = "SELECT fullkey, replace(type, 'real', 'integer'), atom FROM json_tree({1})"
        there = leaves.replace("{1}", "CASE WHEN {0}.type IN ('object', 'array') THEN {0}.value ELSE '0' END")
        here, text = leaves.replace("{1}", "?"), encode(value).decode()
        return f"(NOT EXISTS ({there} EXCEPT {here}) AND NOT EXISTS ({here} EXCEPT {there}))", (text, text)
    if isinstance(value, str):
        return "({0}.type = 'text' AND {0}.value = ?)", (value,)
    fits = isinstance(value, float) or -(1 << 63) <= value < 1 << 63
    return "({0}.type IN ('integer', 'real') AND {0}.value = ?)", (value if fits else float(value),)
