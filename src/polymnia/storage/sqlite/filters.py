"""Filters as a statement: which memories may be found at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.json import encode

from polymnia.models import DEFAULT_SCOPE, Filters

FACETS = {
    "kinds": "facet_kinds",
    "content_types": "facet_content_types",
    "tags": "facet_tags",
    "scopes": "facet_scopes",
    "months": "facet_months",
}
"""What is counted, and the statement that counts it."""

UNLISTED_TAGS = """WITH tag (project, tag, memory) AS (
  SELECT m.project, t.value, m.id FROM memory m, json_each(CASE WHEN json_valid(m.tags) THEN m.tags ELSE '[]' END) t
) """
"""Stands before a statement that is to read the tags of the memories themselves, because their list is damaged."""

_ANY = "{column} IN (SELECT value FROM json_each(?))"


def statement(
    wanted: Filters, project: int, base: int, among: Sequence[int] | None, limit: int | None
) -> tuple[str, tuple[Any, ...]]:
    """The statement that gives the ids of the memories that pass, in no order, and its values.

    Only columns and operators of this module stand in the text; whatever a caller wrote is a value.
    """
    conditions, values = _conditions(wanted, project)
    unique = ""
    if among is not None:
        source = "json_each(?) j CROSS JOIN memory m ON m.id = ? + j.value"
        values = [encode(list(among)).decode(), base, *values]
    elif wanted.tags:
        # The rarest way in: only memories with one of the tags are looked at.
        source = "tag d CROSS JOIN memory m ON m.id = d.memory"
        driving = wanted.tags[:1] if wanted.all_tags else wanted.tags
        conditions = ["d.project = ?", _ANY.format(column="d.tag"), *conditions]
        values = [project, encode(driving).decode(), *values]
        unique = "DISTINCT " if len(driving) > 1 else ""
    else:
        source = "memory m"
        conditions = ["m.project = ?", *conditions]
        values = [project, *values]
    text = f"SELECT {unique}m.id FROM {source}"
    if conditions:
        text += f" WHERE {' AND '.join(conditions)}"
    if limit is not None:
        text += " LIMIT ?"
        values.append(limit)
    return text, tuple(values)


def _conditions(wanted: Filters, project: int) -> tuple[list[str], list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        conditions.append(condition)
        values.extend(given)

    for column, any_of in (
        ("m.name", wanted.names),
        ("m.kind", wanted.kinds),
        ("m.content_type", wanted.content_types),
        ("m.category", wanted.categories),
    ):
        if any_of:
            add(_ANY.format(column=column), encode(any_of).decode())
    if wanted.tags:
        has = "EXISTS (SELECT 1 FROM tag t WHERE t.project = ? AND {which} AND t.memory = m.id)"
        if wanted.all_tags:
            for tag in dict.fromkeys(wanted.tags):
                add(has.format(which="t.tag = ?"), project, tag)
        else:
            add(has.format(which=_ANY.format(column="t.tag")), project, encode(wanted.tags).decode())
    if wanted.scope is not None:
        _scope(add, wanted)
    if wanted.session is not None and wanted.only_session:
        add("m.session = ?", wanted.session)
    elif wanted.session is not None:
        add("(m.session = ? OR m.session IS NULL)", wanted.session)
    elif not wanted.any_session:
        add("m.session IS NULL")
    for condition, time in (
        ("m.created >= ?", wanted.created_from),
        ("m.created < ?", wanted.created_to),
        ("m.updated >= ?", wanted.updated_from),
        ("m.updated < ?", wanted.updated_to),
    ):
        if time is not None:
            add(condition, time)
    for key, value in wanted.metadata.items():
        _metadata(add, key, value)
    return conditions, values


def _scope(add: Any, wanted: Filters) -> None:
    """Exactly a scope, or all of it from there down. The default scope has no path of its own."""
    scope = wanted.scope
    if not wanted.scopes_below:
        add("m.scope IS NULL") if scope == DEFAULT_SCOPE else add("m.scope = ?", scope)
        return
    # "0" follows "/": the range holds all that starts with the scope and a slash, and little else.
    inside = "(m.scope = ? OR (m.scope >= ? AND m.scope < ?))"
    given = (scope, f"{scope}/", f"{scope}0")
    if scope == DEFAULT_SCOPE or DEFAULT_SCOPE.startswith(f"{scope}/"):
        add(f"(m.scope IS NULL OR {inside})", *given)
    else:
        add("m.scope >= ?", scope)
        add("m.scope < ?", given[2])
        add(inside, *given)


def _metadata(add: Any, key: str, value: Any) -> None:
    """One key of the metadata: equal to the value, or a list that holds it."""
    # Looked up row by row: a path cannot name a key with a quote.
    equal, given = _equals(value)
    # The cases keep what is no list, or no JSON, from being read as such, in whatever order conditions are tried.
    parts = "json_each(CASE d.type WHEN 'array' THEN d.value ELSE '[]' END)"
    inside = f"EXISTS (SELECT 1 FROM {parts} e WHERE {equal.format('e')})"
    held = f"SELECT 1 FROM json_each(m.metadata) d WHERE d.key = ? AND ({equal.format('d')} OR {inside})"
    add(f"EXISTS ({held})", key, *given, *given)


def _equals(value: Any) -> tuple[str, tuple[Any, ...]]:
    """A condition on a row of json_each: its value is this one. 1 and 1.0 are one number, true is none."""
    if value is None:
        return "{0}.type = 'null'", ()
    if isinstance(value, bool):
        return "{0}.type = ?", ("true" if value else "false",)
    if isinstance(value, dict | list):
        # As sets of leaves with their paths: the keys of an object have no order.
        leaves = "SELECT fullkey, replace(type, 'real', 'integer'), atom FROM json_tree({1})"
        held = leaves.replace("{1}", "CASE WHEN {0}.type IN ('object', 'array') THEN {0}.value ELSE '0' END")
        asked, given = leaves.replace("{1}", "?"), encode(value).decode()
        return f"(NOT EXISTS ({held} EXCEPT {asked}) AND NOT EXISTS ({asked} EXCEPT {held}))", (given, given)
    if isinstance(value, str):
        return "({0}.type = 'text' AND {0}.value = ?)", (value,)
    fits = isinstance(value, float) or -(1 << 63) <= value < 1 << 63
    return "({0}.type IN ('integer', 'real') AND {0}.value = ?)", (value if fits else float(value),)
