"""What people and programs get wrong in an item, and the good item made of it."""

from __future__ import annotations

from typing import Any

from polymnia.engine.transfer.contents import Finding
from polymnia.engine.transfer.item import (
    KIND_KEYS,
    LINK_KEYS,
    NAME_KEYS,
    OBSERVATION_KEYS,
    SOURCE_KEYS,
    TARGET_KEYS,
    EntityItem,
    Place,
    RelationItem,
)
from polymnia.engine.transfer.wording import named, spot, text_of

__all__ = ["Mending"]


class Mending:
    """Makes a good item of an odd one. What stays behind in ``value`` are its foreign keys."""

    def __init__(self, value: dict[str, Any], place: Place, where: str | int, repairs: list[Finding]) -> None:
        self._value = value
        self._place = place
        self._where = where
        self._repairs = repairs

    def entity(self) -> EntityItem | str:
        """The entity, or why there is none."""
        name = self._text(NAME_KEYS)
        if name is None:
            return "It is an entity without a name"
        return EntityItem(name, self._word(KIND_KEYS), self._observations())

    def relation(self) -> RelationItem | str:
        """The relation, or why there is none."""
        source, target = self._text(SOURCE_KEYS), self._text(TARGET_KEYS)
        if source is None or target is None:
            return f"It is a relation without {'a source' if source is None else 'a target'}"
        return RelationItem(source, target, self._word(LINK_KEYS))

    def _text(self, keys: tuple[str, ...]) -> str | None:
        value = self._pop(keys)
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._repair(keys[0], f"It is the number {text_of(value)}; read as text.")
            return text_of(value)
        return None

    def _word(self, keys: tuple[str, ...]) -> str:
        value = self._pop(keys)
        if isinstance(value, str):
            return value
        if value is None:
            self._repair(keys[0], 'It is missing; read as "unknown".')
            return "unknown"
        self._repair(keys[0], f"It is {named(value)}; read as its JSON text.")
        return text_of(value)

    def _observations(self) -> tuple[str, ...]:
        value = self._pop(OBSERVATION_KEYS)
        if value is None:
            self._repair("observations", "There is no list of them; read as none.")
            return ()
        if not isinstance(value, list):
            self._repair("observations", f"It is {named(value)}, not a list; read as one observation.")
            return (text_of(value),)
        odd = [item for item in value if not isinstance(item, str)]
        if odd:
            kinds = " and ".join(dict.fromkeys(map(named, odd)))
            self._repair("observations", f"The list holds {kinds}; read as JSON text, null as nothing.")
        return tuple(text_of(item) for item in value if item is not None)

    def _pop(self, keys: tuple[str, ...]) -> Any:
        """The value under the first of the keys that has one; an empty key before it goes too."""
        for key in keys:
            if self._value.get(key) is not None:
                if key != keys[0]:
                    self._value.pop(keys[0], None)
                    self._repair(key, f"It stands for {keys[0]} and was read as that.")
                return self._value.pop(key)
        self._value.pop(keys[0], None)
        return None

    def _repair(self, part: str, why: str) -> None:
        self._repairs.append(Finding(spot(self._place, self._where, part), why))
