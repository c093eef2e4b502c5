"""How filters are written in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.json import encode

from polymnia.storage.filters import Condition

_INDEXED = 200  # characters of a text that an index holds
_LONG = ("m.name", "m.kind", "m.scope", "d.tag", "t.tag")  # the columns whose index holds no more


class PostgresFilters:
    """The parts of filters that only PostgreSQL writes so."""

    tagged = "tag d JOIN memory m ON m.project = d.project AND m.id = d.memory"
    # Who stored a memory is who made the change whose rows it is among. Letters beyond ASCII are compared as they are.
    # JSON with an escaped NUL cannot be read here; such metadata has no speaker.
    who = r"""(
  position(?::text IN lower((SELECT c.who FROM change c WHERE c.project = m.project AND c.first < m.id & 4294967295
                             AND c.last >= m.id & 4294967295 ORDER BY c.first DESC LIMIT 1))) > 0
  OR position(?::text IN lower(CASE WHEN m.metadata LIKE '%"speaker"%' AND m.metadata IS JSON OBJECT
                                    AND m.metadata !~ '(^|[^\\])(\\\\)*\\u0000'
                                    THEN m.metadata::json ->> 'speaker' END COLLATE "C")) > 0
)"""
    listed_tags = """WITH tag (project, tag, memory) AS (
  SELECT m.project, t.value, m.id FROM memory m CROSS JOIN LATERAL tags_in(m.tags) AS t (value)
) """

    def among(self, numbers: Sequence[int], base: int) -> Condition:
        source = "unnest(?::bigint[]) AS j (value) JOIN memory m ON m.project = ? AND m.id = j.value"
        return source, ([base + number for number in numbers], base >> 32)

    def any_of(self, column: str, values: Sequence[str]) -> Condition:
        if column not in _LONG:
            return f"{column} = ANY(?::text[])", (list(values),)
        start = [value[:_INDEXED] for value in values]
        return f"left({column}, {_INDEXED}) = ANY(?::text[]) AND {column} = ANY(?::text[])", (start, list(values))

    def between(self, column: str, low: str, high: str) -> Condition:
        bounds = (low[:_INDEXED], high[:_INDEXED])
        return f"left({column}, {_INDEXED}) >= ? AND left({column}, {_INDEXED}) <= ?", bounds

    def metadata(self, key: str, value: Any) -> Condition:
        # Compared outside, value by value: only what has the key can pass.
        return "strpos(m.metadata, ?) > 0", (encode(key).decode() + ":",)


def passes(metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
    """Whether metadata has every key of the filters with an equal value, or a list that contains it."""
    return all(key in metadata and _equals_or_holds(metadata[key], value) for key, value in filters.items())


def _equals_or_holds(stored: Any, value: Any) -> bool:
    return _equal(stored, value) or (isinstance(stored, list) and any(_equal(one, value) for one in stored))


def _equal(stored: Any, value: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, true is no number, and the keys of an object have no order."""
    if isinstance(stored, bool) or isinstance(value, bool):
        return stored is value
    if isinstance(stored, dict) and isinstance(value, dict):
        return stored.keys() == value.keys() and all(_equal(stored[key], value[key]) for key in stored)
    if isinstance(stored, list) and isinstance(value, list):
        return len(stored) == len(value) and all(map(_equal, stored, value))
    return bool(stored == value)
