"""A project in CSV: one row an item, then one row a relationship, told apart by the column ``record``.

Texts, times and numbers stand as they are; tags, metadata, history and embeddings as JSON; what has no column of its
own in the column ``other``. So nothing of an item or relationship is lost; only the head of the file has no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import islice
from typing import Any

from msgspec.json import Encoder

from polymnia.engine.transfer.archive_item import ArchiveLimits, Broken, cannot_read
from polymnia.engine.transfer.archive_json_record import careful
from polymnia.engine.transfer.archive_legal import flaw
from polymnia.engine.transfer.archive_source import Source
from polymnia.engine.transfer.project_csv_rows import read_rows, row
from polymnia.engine.transfer.project_item import (
    ITEM,
    RELATIONSHIP,
    ProjectItem,
    ProjectSection,
    ordered,
    unfolded,
)
from polymnia.errors import Invalid

__all__ = ["COLUMNS", "csv_pieces", "is_table", "read_csv_project"]

_BOM = b"\xef\xbb\xbf"
_RECORD = {"item": "items", "relationship": "relationships"}
_FIELDS: dict[ProjectSection, tuple[str, ...]] = {"items": ITEM, "relationships": RELATIONSHIP}
COLUMNS = ("record", *dict.fromkeys(ITEM + RELATIONSHIP), "other")
# The types whose values a column holds as JSON; all other columns hold text.
_JSON: dict[str, tuple[type, ...]] = {
    "tags": (list,), "metadata": (dict,), "history": (list,), "embeddings": (dict,), "version": (int,),
    "strength": (int, float), "other": (dict,),
}  # fmt: skip
_LIKE_JSON = {"tags": "[", "metadata": "{", "history": "[", "embeddings": "{", "other": "{"}
_ALIASES = {"text": "content", "body": "content", "id": "content_id", "name": "title", "mime_type": "content_type"}
_encode = Encoder().encode


def csv_pieces(
    items: Iterable[dict[str, Any]], relationships: Iterable[dict[str, Any]], *, bom: bool
) -> Iterator[bytes]:
    """The rows. A byte order mark tells a spreadsheet that the file is UTF-8; without it Excel garbles it."""
    yield (_BOM if bom else b"") + row(COLUMNS)
    for item in items:
        yield _row("item", ITEM, item)
    for relationship in relationships:
        yield _row("relationship", RELATIONSHIP, relationship)


def _row(record: str, fields: tuple[str, ...], told: Mapping[str, Any]) -> bytes:
    cells: dict[str, str] = {"record": record}
    other = {}
    for field, value in told.items():
        kinds = _JSON.get(field, (str,))
        if field not in fields or type(value) not in kinds:
            other[field] = value
        else:
            cells[field] = value if kinds == (str,) else _encode(value).decode()
    if other:
        cells["other"] = _encode(other).decode()
    return row([cells.get(column) for column in COLUMNS])


def read_csv_project(source: Source, limits: ArchiveLimits) -> Iterator[ProjectItem]:
    """The items and relationships of a file. A column with a name of its author's own is metadata."""
    rows = read_rows(source, limits)
    first = next(rows, None)
    if first is None:
        raise cannot_read("it is empty")
    columns = [_named(name) for name in first.cells]
    known = {name for name in columns if name}
    if first.wrong or len(known) < len([name for name in columns if name]):
        raise cannot_read(first.wrong or "two columns have the same name", where="line 1")
    if "content" not in known and not {"content_id", "source_id"} & known:
        raise cannot_read("its first row names no column content (or text, or body), nor content_id", where="line 1")
    counts: dict[ProjectSection, int] = {"items": 0, "relationships": 0}
    for cells, line, wrong in rows:
        if sum(counts.values()) >= limits.items:
            raise cannot_read(f"it has more than {limits.items:,} records, which is the limit")
        if wrong is None and len(cells) > len(columns) and any(cells[len(columns) :]):
            wrong = f"it has {len(cells)} cells, but there are {len(columns)} columns"
        told = {name: cell for name, cell in zip(columns, cells, strict=False) if name and cell is not None}
        section = _section(told)
        if section is None:
            section, wrong = "items", wrong or f"record is {told['record']!r:.40}, not item or relationship"
        told.pop("record", None)
        value = wrong or _record(told, section, limits)
        yield ProjectItem(section, counts[section], Broken(value, line) if isinstance(value, str) else value)
        counts[section] += 1


def is_table(data: bytes) -> bool:
    """Whether a file is a table of contents: its first row names their column, and the next one fits."""
    try:
        first, second = islice(read_rows(Source(BytesIO(data), len(data)), ArchiveLimits()), 2)
    except (Invalid, ValueError):  # in another encoding, or with less than two rows
        return False
    return 1 < len(first.cells) == len(second.cells) and "content" in map(_named, first.cells)


def _named(name: str | None) -> str | None:
    """The name of a column as fields are named: ``Content Type`` is ``content_type``."""
    if name is None:
        return None
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    plain = _ALIASES.get(plain, plain)
    return plain if plain in COLUMNS else name.strip()


def _section(told: Mapping[str, str]) -> ProjectSection | None:
    if "record" in told:
        return _RECORD.get(told["record"].strip().lower())  # type: ignore[return-value]
    return "relationships" if "source_id" in told and "content" not in told else "items"


def _record(told: dict[str, str], section: ProjectSection, limits: ArchiveLimits) -> dict[str, Any] | str:
    fields, read = _FIELDS[section], dict[str, Any](told)
    for column in _JSON:
        if (cell := told.get(column)) is None:
            continue
        if column == "tags" and not cell.lstrip().startswith(_LIKE_JSON[column]):
            continue
        try:
            value = careful(b'{"cell":%b}' % cell.encode(), limits)
        except RecursionError:
            return f"{column} is nested too deeply"
        if isinstance(value, str):
            return f"{column}: {value}"
        if len(value) != 1 or type(value["cell"]) not in _JSON[column]:
            return f"{column} is {cell!r:.40}, which is not what this column holds"
        read[column] = value["cell"]
    made = unfolded(read, fields)
    if isinstance(made, str):
        return made
    return flaw(made, limits) or ordered(made, fields)
