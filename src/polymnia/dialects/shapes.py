"""What all dialects share: descriptions of fields, parameters read from a signature, times, tables of faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, defstruct

from polymnia.engine.text.calendar import parse_time
from polymnia.errors import Fault, Invalid

T = TypeVar("T")


def about(text: str, **limits: Any) -> Meta:
    """The description of a parameter or field; ``default`` is what a schema shows as the default."""
    if "default" in limits:
        limits["extra_json_schema"] = {"default": limits.pop("default")}
    return Meta(description=text, **limits)


def or_null(kind: str, text: str) -> Meta:
    """The description of a field that is always there and may be null."""
    return Meta(description=text, extra_json_schema={"type": [kind, "null"]})


def parameters(
    run: Callable[..., Any],
    base: type[Struct],
    options: tuple[str, str] | None = None,
    more: Sequence[tuple[str, Any, Any]] = (),
) -> type[Struct]:
    """The parameters of a tool as a type, read from the signature of its function, without the first.

    One with a default may be left out or be null. Those after the ``*`` are the fields of a parameter ``options``,
    for which there are the name of its type and its description. ``more`` are fields that the function does not take.
    """
    names, count = run.__code__.co_varnames, run.__code__.co_argcount
    optional = dict(zip(names[count - len(run.__defaults__ or ()) : count], run.__defaults__ or (), strict=True))
    fields = _fields(run, names[1:count], optional)
    if options is not None:
        name, text = options
        keyed = names[count : count + run.__code__.co_kwonlyargcount]
        inner = defstruct(
            name,
            _fields(run, keyed, run.__kwdefaults__ or {}),
            module=run.__module__,
            namespace={"__doc__": f"Options of {run.__name__}."},
            frozen=True,
            forbid_unknown_fields=True,
        )
        fields.append(("options", Annotated[inner | None, about(text)], None))
    fields += more
    return defstruct(run.__name__, fields, bases=(base,), module=run.__module__, frozen=True, kw_only=True)


def _fields(run: Callable[..., Any], names: tuple[str, ...], optional: dict[str, Any]) -> list[Any]:
    kinds = run.__annotations__
    return [
        (name, kinds[name])
        if name not in optional
        else (name, kinds[name] if optional[name] is None else f"{kinds[name]} | None", None)
        for name in names
    ]


_UNITS = {"d": "day", "w": "week", "y": "year"}
_CLOCK = re.compile("[0-9][:T][0-9]")


_IN_FRONT = re.compile(r"(?i)(?:from|over|within|during|ab|von|desde|depuis|부터|까지)?[\W_]*")


def at_time(text: str, field: str, *, end: bool = False) -> int:
    """A time from a date, a time or words such as "last week": its beginning, or with ``end`` its end.

    Whatever was not read is refused: a time of day must not become its day, nor "not last week" last week.
    """
    import time

    from polymnia.engine.text.dates import find_time_range, time_passed

    stripped = text.strip()
    if re.fullmatch("[0-9]{10}|[0-9]{13}", stripped):  # seconds or milliseconds since 1970
        return int(stripped.ljust(16, "0"))
    if len(stripped) > 10:
        try:
            return parse_time(stripped, field)
        except Invalid:
            pass
    now = time.time_ns() // 1000
    ago = time_passed(stripped)
    if ago is not None and ago >= 0:
        return now - ago
    if days := re.fullmatch(r"(?i)P?([0-9]{1,4}) ?(day|week|month|year|[dwy])s?", stripped):
        stripped = f"{days[1]} {_UNITS.get(days[2].lower(), days[2])}s ago"
    stripped = re.sub(r"(?i)\bpast (?=(?:day|week|month|year)$)", "last ", stripped)
    found = None if ago is not None else find_time_range(stripped, now) or find_time_range(f"last {stripped}", now)
    if found is None or _CLOCK.search(stripped) or not _IN_FRONT.fullmatch(found.rest):
        raise Invalid(
            f"{field} is {text!r:.60}, which is no time",
            field=field,
            hint="Write it as 2026-05-31, 2026-05-31T14:00:00Z, 2 hours ago or last week.",
        )
    return found.end if end else found.start


def inherited(table: dict[type[Fault], T]) -> dict[type[Fault], T]:
    """A table with every fault there is; one that it does not name has what its parent has."""

    def below(kind: type[Fault]) -> Iterator[type[Fault]]:
        yield kind
        for child in kind.__subclasses__():
            yield from below(child)

    return {fault: next(table[one] for one in fault.__mro__ if one in table) for fault in below(Fault)}
