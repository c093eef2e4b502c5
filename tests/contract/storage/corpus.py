"""A seeded corpus of short texts in many scripts, queries into it, and the plain truth about what holds what."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from unicodedata import normalize

from polymnia.models import EntityDraft

__all__ = ["Truth", "drafts", "forms", "queries", "text"]

# Few letters of each script, so that texts share much and nearly every query has many almost-matches.
_SCRIPTS = (
    "abcABC xyz",
    "éÉèñÑüÜåÅçÇ e",
    "ßẞSsﬁﬀfi ſ",
    "İIıi istanbul",
    "αΑβσςΣΐ άΆ",
    "абвАБВ йЙёЁ",
    "가각간갇서울한국 인증",
    "あいアイ がガｶﾞ日本語",
    "漢字汉字中文 𠀀𠀁",
    "ابتث لا ًٌ",
    "אבגד ִֵ",
    "कखग िीु क्ष",
    "กขค ่้ ำ",
    "😀😁👩‍👩‍👧🇰🇷 ❤️",
    "%_\"'\\*()^:-+ ",
    "\x01\x02\t\n 0123",
    "ＡＢａｂ ①②",
    "ǅǆǄ ŉ ᾳᾼ",
)


def text(random: Random, longest: int = 14) -> str:
    """One short text, mostly in one script, sometimes not in composed form."""
    letters = random.choice(_SCRIPTS) + (random.choice(_SCRIPTS) if random.random() < 0.3 else "")
    made = "".join(random.choice(letters) for _ in range(random.randint(0, longest)))
    how = random.random()
    return normalize("NFD", made) if how < 0.25 else normalize("NFC", made) if how < 0.5 else made


def drafts(random: Random, count: int, start: int = 0) -> list[EntityDraft]:
    """That many records, each with a name of its own."""
    return [
        EntityDraft(
            f"{text(random)}#{number:x}",
            text(random, 6),
            tuple(text(random, random.choice((3, 14, 40))) for _ in range(random.randint(0, 3))),
        )
        for number in range(start, start + count)
    ]


def forms(text: str) -> tuple[str, ...]:
    """The forms in which a text is compared: case folded, composed and as it stands."""
    return tuple(dict.fromkeys((normalize("NFC", text).casefold(), text.casefold())))


def queries(random: Random, count: int, texts: Iterable[str]) -> list[str]:
    """Parts of the texts, of one, two, three and more characters, in other guises; and some that are nowhere."""
    pool = [one for one in texts if one]
    asked = [
        "",
        "\x01",
        "ss",
        "SS",
        "ß",
        "i",
        "İ",
        "fi",
        "e\u0301",
        "é",
        "\u0301",
        "가",
        "\u1100",
        "%",
        '"',
        "\\",
        "no such text",
    ]
    for number in range(count - len(asked)):
        if number % 10 == 0:
            asked.append(text(random, 5))
            continue
        held = random.choice(pool)
        size = (1, 2, 3, random.randint(4, 30))[number % 4]
        start = random.randint(0, max(0, len(held) - size))
        part = held[start : start + size]
        guise = random.randrange(6)
        if guise == 1:
            part = part.swapcase()
        elif guise == 2:
            part = part.upper()
        elif guise == 3:
            part = normalize("NFD", part)
        elif guise == 4:
            part = normalize("NFC", part)
        asked.append(part)
    return asked


class Truth:
    """What each record holds, kept in the plainest way there is."""

    def __init__(self) -> None:
        self._held: dict[int, list[str]] = {}

    def set(self, id: int, name: str, kind: str, observations: Iterable[str]) -> None:
        """Remember the texts of a record."""
        self._held[id] = [form for text in (name, kind, *observations) for form in forms(text)]

    def forget(self, id: int) -> None:
        """The record is gone."""
        del self._held[id]

    def containing(self, query: str) -> list[int]:
        """The ids of the records that hold the query, in ascending order."""
        wanted = forms(query)
        return sorted(id for id, texts in self._held.items() if any(form in text for text in texts for form in wanted))
