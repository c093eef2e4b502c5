"""How a report names what is in a file: the place, the kind of a value, and the value itself."""

from __future__ import annotations

from polymnia.engine.transfer.item import ENCODER, Place

__all__ = ["named", "quoted", "spot", "text_of"]


def named(value: object) -> str:
    """What a JSON value is called in a sentence."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a number"


def quoted(value: object) -> str:
    """A value of the file as a sentence shows it: JSON, cut where it would be too long to read."""
    text = f'"{value}"' if isinstance(value, str) else text_of(value)
    text = text if len(text) <= 80 else f"{text[:76]}…{text[-1]}"
    return text.encode("utf-8", "backslashreplace").decode()


def text_of(value: object) -> str:
    """A text as it is, any other value as its JSON text."""
    return value if isinstance(value, str) else ENCODER.encode(value).decode()


def spot(place: Place, where: str | int, part: str = "") -> str:
    """Where an item is, or a part of it: by its line, or by its number in its list."""
    if isinstance(where, str):
        return f"{where}, {part}" if part else where
    if place == "lines":
        return f"line {where}, {part}" if part else f"line {where}"
    section = "" if place == "any" else place
    return f"{section}[{where}].{part}" if part else f"{section}[{where}]"
