"""A project in CSV: one row per item, then one row per relationship, distinguished by the column ``record``.

Texts, times and numbers are written verbatim; tags, metadata, history and embeddings as JSON; fields without a column
of their own in the column ``other``. Items and relationships are preserved completely; only the file has no head.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

from msgspec.json import encode

from polymnia.engine.transfer.formats.json_records import parse_record
from polymnia.engine.transfer.formats.project import ITEM, RELATIONSHIP, unfolded
from polymnia.engine.transfer.formats.records import (
    Broken,
    FileLimits,
    Item,
    JsonObject,
    Source,
    cannot_read,
    check_count,
)
from polymnia.errors import Invalid

_FIELDS = {"items": ITEM, "relationships": RELATIONSHIP}
_SECTIONS = {"item": "items", "relationship": "relationships"}
COLUMNS = ("record", *dict.fromkeys(ITEM + RELATIONSHIP), "other")
# The types that a JSON column holds; all other columns hold text.
_JSON: dict[str, tuple[type, ...]] = {
    "tags": (list,),
    "metadata": (dict,),
    "history": (list,),
    "embeddings": (dict,),
    "version": (int,),
    "strength": (int, float),
    "other": (dict,),
}
_ALIASES = {"text": "content", "body": "content", "id": "content_id", "name": "title", "mime_type": "content_type"}
# Characters that start a formula in a spreadsheet, in half and full width, and the mark for a text cell. A cell that
# starts with any of them, the mark included, is prefixed with the mark, so that the prefix can be removed again.
_MARK = "'"
_FORMULA = "=+-@\t\r\n＝＋－＠"
_TO_MARK = re.compile(f"[{re.escape(_FORMULA)}{_MARK}]")
_MARKED = re.compile(f"{_MARK}(?=[{re.escape(_FORMULA)}{_MARK}]|$)")
_TO_QUOTE = re.compile('[",\r\n;\t]|^ | $')
_QUOTED = re.compile(rb'"[^"]*"')  # a cell with doubled quotes matches several times
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def csv_pieces(items: Iterable[JsonObject], relationships: Iterable[JsonObject]) -> Iterator[bytes]:
    """Write the rows, starting with the column names."""
    yield _row(COLUMNS)
    for item in items:
        yield _record_row("item", ITEM, item)
    for relationship in relationships:
        yield _record_row("relationship", RELATIONSHIP, relationship)


def _record_row(record: str, fields: tuple[str, ...], row: Mapping[str, Any]) -> bytes:
    cells: dict[str, str] = {"record": record}
    other = {}
    for field, value in row.items():
        kinds = _JSON.get(field, (str,))
        if field not in fields or type(value) not in kinds:
            other[field] = value
        else:
            cells[field] = value if kinds == (str,) else encode(value).decode()
    if other:
        cells["other"] = encode(other).decode()
    return _row([cells.get(column) for column in COLUMNS])


def _row(cells: Iterable[str | None]) -> bytes:
    return (",".join(map(_cell, cells)) + "\r\n").encode()


def _cell(text: str | None) -> str:
    """Format a cell. None is an empty cell; an empty text is a lone mark."""
    if text is None:
        return ""
    if not text or _TO_MARK.match(text):
        text = _MARK + text
    return '"' + text.replace('"', '""') + '"' if _TO_QUOTE.search(text) else text


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────


class _Row(NamedTuple):
    """The cells of one row, None for empty ones, and the line it starts on; ``flaw`` is the error, if any."""

    cells: list[str | None]
    line: int
    flaw: str | None


def read_csv(source: Source, limits: FileLimits) -> Iterator[Item]:
    """Read the items and relationships of a file. Custom columns become metadata."""
    rows = _rows(source, limits)
    first = next(rows, None)
    if first is None:
        raise cannot_read("it is empty")
    columns = [_column(name) for name in first.cells]
    known = {name for name in columns if name}
    if first.flaw or len(known) < len([name for name in columns if name]):
        raise cannot_read(first.flaw or "two columns have the same name", where="line 1")
    if "content" not in known and not {"content_id", "source_id"} & known:
        raise cannot_read("its first row names no column content (or text, or body), nor content_id", where="line 1")
    counts = dict.fromkeys(_FIELDS, 0)
    for cells, line, flaw in rows:
        check_count(sum(counts.values()) + 1, limits)
        if flaw is None and len(cells) > len(columns) and any(cells[len(columns) :]):
            flaw = f"it has {len(cells)} cells, but there are {len(columns)} columns"
        row = {name: cell for name, cell in zip(columns, cells, strict=False) if name and cell is not None}
        section = _section(row)
        if section is None:
            section, flaw = "items", flaw or f"record is {row['record']!r:.40}, not item or relationship"
        row.pop("record", None)
        value = flaw or _record(row, _FIELDS[section], limits)
        yield Item(section, counts[section], Broken(value, line) if isinstance(value, str) else value)
        counts[section] += 1


def is_table(data: bytes) -> bool:
    """Whether a file is a table with a content column whose second row has as many cells as the first."""
    try:
        first, second = islice(_rows(Source(BytesIO(data), len(data)), FileLimits()), 2)
    except (Invalid, ValueError):  # in another encoding, or with fewer than two rows
        return False
    return len(first.cells) == len(second.cells) and has_content(first.cells)


def has_content(columns: Iterable[str | None]) -> bool:
    """Whether a table with these columns has one for contents."""
    return "content" in map(_column, columns)


def _rows(source: Source, limits: FileLimits) -> Iterator[_Row]:
    """The rows of a file; the delimiter (comma, semicolon, tab or bar) is detected from the first row."""
    first = _QUOTED.sub(b"", source.peek(64 * 1024)).split(b"\n", 1)[0].decode("latin-1")
    delimiter = max(",;\t|", key=first.count)
    # The limit is global to the process, and 128 KiB per cell by default.
    csv.field_size_limit(max(limits.record, csv.field_size_limit()))
    lines = (
        line.decode("utf-8", "surrogateescape")
        for ended in source.lines(limits.record)
        for line in ended.splitlines(keepends=True)  # a carriage return ends a line too
    )
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        flaw: str | None = None
        cells: list[str] = []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as e:
            if "unexpected end of data" in str(e):
                raise cannot_read(f"a cell that begins on line {line:,} has no closing quotation mark") from None
            if "field larger" in str(e):
                raise cannot_read(
                    f"a cell has more than {limits.record:,} bytes, which is the limit", where=f"line {line:,}"
                ) from None
            flaw = "something follows a quotation mark that closes a cell"
        if bad := _NOT_UTF8.search("".join(cells)):
            flaw = flaw or f"it holds a byte that is not UTF-8 (0x{ord(bad[0]) - 0xDC00:02X})"
        if flaw or any(cells):  # spreadsheets write rows that are empty
            yield _Row([_text(cell) for cell in cells], line, flaw)


def _text(cell: str) -> str | None:
    return _MARKED.sub("", cell, count=1) if cell.startswith(_MARK) else cell or None


def _column(name: str | None) -> str | None:
    """Normalize a column name to a field name: ``Content Type`` is ``content_type``."""
    if name is None:
        return None
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    plain = _ALIASES.get(plain, plain)
    return plain if plain in COLUMNS else name.strip()


def _section(row: Mapping[str, str]) -> str | None:
    if "record" in row:
        return _SECTIONS.get(row["record"].strip().lower())
    return "relationships" if "source_id" in row and "content" not in row else "items"


def _record(row: dict[str, str], fields: tuple[str, ...], limits: FileLimits) -> JsonObject | str:
    values = JsonObject(row)
    for column, kinds in _JSON.items():
        cell = row.get(column)
        if cell is None or (column == "tags" and not cell.lstrip().startswith("[")):
            continue
        value = parse_record(b'{"cell":%b}' % cell.encode(), limits)
        if isinstance(value, str):
            return f"{column}: {value}"
        if len(value) != 1 or type(value["cell"]) not in kinds:
            return f"{column} is {cell!r:.40}, which is not what this column holds"
        values[column] = value["cell"]
    return unfolded(values, fields)
