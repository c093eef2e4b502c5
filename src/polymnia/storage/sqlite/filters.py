"""How filters are written in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.json import encode

from polymnia.storage.filters import Condition


class SqliteFilters:
    """The parts of filters that only SQLite writes so."""

    tagged = "tag d CROSS JOIN memory m ON m.id = d.memory"
    # Who stored a memory is who made the change whose rows it is among. Letters beyond ASCII are compared as they are.
    who = """(
  instr(lower((SELECT c.who FROM change c WHERE c.project = m.project AND c.first < m.id & 4294967295
               AND c.last >= m.id & 4294967295 ORDER BY c.first DESC LIMIT 1)), ?)
  OR instr(lower(CASE WHEN json_valid(m.metadata) THEN json_extract(m.metadata, '$.speaker') END), ?)
)"""
    listed_tags = """WITH tag (project, tag, memory) AS (
  SELECT m.project, t.value, m.id FROM memory m, json_each(CASE WHEN json_valid(m.tags) THEN m.tags ELSE '[]' END) t
) """

    def among(self, numbers: Sequence[int], base: int) -> Condition:
        return "json_each(?) j CROSS JOIN memory m ON m.id = ? + j.value", (encode(list(numbers)).decode(), base)

    def any_of(self, column: str, values: Sequence[str]) -> Condition:
        return f"{column} IN (SELECT value FROM json_each(?))", (encode(list(values)).decode(),)

    def between(self, column: str, low: str, high: str) -> Condition:
        return f"{column} >= ? AND {column} < ?", (low, high)

    def metadata(self, key: str, value: Any) -> Condition:
        """One key of the metadata: equal to the value, or a list that contains it."""
        # Compared row by row: a JSON path cannot express a key with a quote.
        equal, values = _equals(value)
        # CASE keeps what is no list from being read as one, in whatever order SQLite evaluates conditions.
        parts = "json_each(CASE d.type WHEN 'array' THEN d.value ELSE '[]' END)"
        inside = f"EXISTS (SELECT 1 FROM {parts} e WHERE {equal.format('e')})"
        held = f"SELECT 1 FROM json_each(m.metadata) d WHERE d.key = ? AND ({equal.format('d')} OR {inside})"
        return f"EXISTS ({held})", (key, *values, *values)


def _equals(value: Any) -> Condition:
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
