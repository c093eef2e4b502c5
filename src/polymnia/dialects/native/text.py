"""Answers as text for a model: one line for a memory, and no more lines than a budget of tokens has room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from polymnia.engine.batches import SUPERSEDED
from polymnia.engine.content import content
from polymnia.engine.text.calendar import moment
from polymnia.models import Change, Record, Relation, RelationTouch

_ID = 13  # characters of an id that are shown: enough to be unique, and to find the memory by
_GIST = 160  # characters of a memory that is only mentioned
_NAME = 200  # characters up to which a memory is called by its name
_TAGS = 12  # tags that are shown
_LITTLE = 10  # tokens of a text that are worth showing
_LONGEST = 16  # characters that no token has, but in white space


def short_id(record: Record) -> str:
    """What a model calls a memory by: the name of an entity, unless that is very long, or the beginning of the id."""
    return record.name if record.name != record.uid and len(record.name) <= _NAME else _short(record.uid)


def _short(uid: str) -> str:
    return uid.removeprefix("content_")[:_ID]


def day(microseconds: int) -> str:
    """The day of a time."""
    return moment(microseconds)[:10]


def minute(microseconds: int) -> str:
    """A time to the minute, with its zone: whoever reads it may live in another one."""
    return f"{moment(microseconds)[:16]}Z"


def gist(record: Record, most: int = _GIST) -> str:
    """The beginning of a memory in one line."""
    return shortened(content(record), most)


def shortened(text: str, most: int = _GIST) -> str:
    """The beginning of a text in one line."""
    text = " ".join(text[: most * 4].split())
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


def mention(record: Record) -> str:
    """A memory beside another one: its id, its day and what it says in short."""
    return f'{short_id(record)} ({day(record.created)}) "{gist(record)}"'


def label(record: Record, *more: str) -> str:
    """The head of a memory: id, kind, day, scope, tags and whatever else is known of it."""
    parts = [shortened(record.kind, _NAME), day(record.created)]
    if record.scope is not None:
        parts.append(record.scope)
    if record.tags:
        others = f" and {len(record.tags) - _TAGS:,} more tags" if len(record.tags) > _TAGS else ""
        parts.append(" ".join(f"#{shortened(tag, _NAME)}" for tag in record.tags[:_TAGS]) + others)
    return f"{short_id(record)} [{' · '.join([*parts, *more])}]"


def arrow(one: Relation | RelationTouch) -> str:
    """A relation in a few words."""
    return f"{one.source} -{one.type}-> {one.target}"


def differences(before: Record, after: Record) -> list[str]:
    """What differs between two states of a memory, each in a few words."""
    was, now = before.observations, after.observations
    if len(was) == len(now) == 1 and was != now:
        found = [f'"{gist(before, 80)}" -> "{gist(after, 80)}"']
    else:
        found = [f'- "{shortened(one)}"' for one in was if one not in now] + [
            f'+ "{shortened(one)}"' for one in now if one not in was
        ]
    for field in ("kind", "scope", "tags"):
        one, other = getattr(before, field), getattr(after, field)
        if one != other:
            found.append(f"{field}: {_shown(one)} -> {_shown(other)}")
    for key in dict.fromkeys((*before.metadata, *after.metadata)):
        one, other = before.metadata.get(key), after.metadata.get(key)
        if key == SUPERSEDED and one != other:
            found.append(f"superseded by {_short(str(other))}" if other else "superseded no more")
        elif one != other:
            found.append(f"{key}: {_shown(one)} -> {_shown(other)}")
    return found


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(f"#{tag}" for tag in value) or "none"
    return "none" if value is None else f"{value!s:.80}"


def count(number: int, one: str, many: str) -> str:
    """A number of things in words."""
    return f"{number:,} {one if number == 1 else many}"


def stored_by(change: Change | None) -> str:
    """Who stored a memory, where that is known."""
    return "" if change is None else f"by {change.who}"


def tokens(text: str, accents: bool | None = None) -> int:
    """About how many tokens a text has; ``accents`` is whether that which it is a part of has accents."""
    from polymnia.engine.text.tokens import tokens

    return tokens(text, accents) + 1  # and the line break


def trimmed(text: str, most: int) -> str:
    """The beginning of a text in about so many tokens, and a little of it in any case."""
    from polymnia.engine.text.tokens import trimmed

    return trimmed(text, max(_LITTLE, most))


class TextAnswer:
    """Lines that are added while there is room for them. A line that has none is counted, and nothing is cut in it."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._used = 0
        self._accents = False  # whether any line has accents: then all are counted as a language that has them
        self._lines: list[str] = []
        self.left_out = 0

    def add(self, line: str, reserve: int = 0) -> bool:
        """Add a line if it fits and leaves ``reserve`` tokens; whether it did."""
        used, accents = self._read(line)
        if used + self.size(line, accents) + reserve > self._budget:
            self.left_out += 1
            return False
        self.force(line)
        return True

    def force(self, line: str) -> None:
        """Add a line whatever room there is: what an answer cannot be understood without."""
        used, self._accents = self._read(line)
        self._used = used + tokens(line, self._accents)
        self._lines.append(line)

    def begin(self, line: str, reserve: int) -> str:
        """Add as much of a line as leaves ``reserve`` tokens, of the first a little in any case; what was added."""
        from polymnia.engine.text.tokens import trimmed

        used, accents = self._read(line)
        room = self._budget - reserve - used - 1
        if room < _LITTLE and self._lines:
            return ""
        part = trimmed(line, max(_LITTLE, room), accents)
        self.force(part)
        return part

    def size(self, line: str, accents: bool | None = None) -> int:
        """The tokens of a line; of one that is far too long, only that it is."""
        head = line[: self._budget * _LONGEST]
        size = tokens(head, accents)
        return size if len(head) == len(line) or size > self._budget else tokens(line, accents)

    def _read(self, line: str) -> tuple[int, bool]:
        """How many tokens the lines there are have beside another one, and whether there are accents then."""
        from polymnia.engine.text.tokens import accented

        accents = self._accents or accented(line)
        return self._used if accents == self._accents else sum(tokens(one, True) for one in self._lines), accents

    def rest(self, lines: Iterable[str], more: Callable[[int], str], reserve: int = 30) -> None:
        """Add the lines that fit, and then how many did not."""
        given = list(lines)
        for at, line in enumerate(given):
            if not self.add(line, reserve):
                self.force(more(len(given) - at))
                return

    def section(self, title: str, lines: Sequence[str], most: int | None, reserve: int) -> int:
        """Add a title and the lines below it that fit, at most so many, and how many do not; return those that do."""
        if not lines or sum(map(tokens, (title, lines[0]))) + reserve > self.room:
            self.left_out += len(lines)
            return 0
        self.add(title)
        shown = 0
        for line in lines[:most]:
            if not self.add(line, reserve):
                break
            shown += 1
        if shown < len(lines):
            self.left_out += len(lines) - shown - (1 if shown < len(lines[:most]) else 0)
            self.force(f"- … {len(lines) - shown:,} more")
        return shown

    @property
    def room(self) -> int:
        """The tokens that are left."""
        return self._budget - self._used

    def __str__(self) -> str:
        return "\n".join(self._lines)
