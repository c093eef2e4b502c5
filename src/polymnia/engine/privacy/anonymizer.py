"""Anonymizes texts and values: each person gets the same placeholder throughout a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from polymnia.engine.privacy import secrets
from polymnia.engine.privacy.personal_data import Form, forms
from polymnia.engine.text.language import AMBIGUOUS_NAMES, STOPWORDS, detect_language, fold
from polymnia.engine.text.names import AFTER_NAME, KOREAN_TITLES, names
from polymnia.models import JsonObject

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TWO_OR_THREE = re.compile(
    r"[^\W\d_a-z][^\W\d_A-Z]+(?:['’-][^\W\d_]+)?(?: [^\W\d_a-z][^\W\d_]*[^\W\d_A-Z](?:['’-][^\W\d_]+)?){1,2}"
)
_SMALL = re.compile(r"(?<![\w'’-])[a-zß-öø-ÿ][^\W\d_]{2,30}")
_MAX_WORDS = 500_000
_JOINT = re.compile(r"[ \t\u00a0]{1,2}|[._+-]|\.[ ]|,[ ]?")
_ALNUM = re.compile(r"[^\W_]+")
_HANGUL = re.compile("[가-힣]+")
_EAST = re.compile("[\u3400-\u9fff\u3041-\u30ff々]+")
_AFTER = re.compile(rf"(?:{KOREAN_TITLES}|씨|님)?{AFTER_NAME}?(?![가-힣])")
_ORDINARY = AMBIGUOUS_NAMES | frozenset(word for words in STOPWORDS.values() for word in words)
_PEOPLE_KEYS = frozenset(
    """
    author authors owner owners assignee assignees stakeholder stakeholders participant participants attendee
    attendees person people user username user_name full_name fullname first_name last_name reviewer reviewers
    created_by updated_by createdby reporter customer contact manager speaker sender recipient 이름 성명 담당자
    작성자 참석자 고객 보고자 저자
    """.split()
)
_ID_KEYS = {"userid": "user", "sessionid": "session", "author_id": "user", "owner_id": "user"} | {
    f"{kind}_id": kind for kind in ("user", "session", "account", "customer", "client", "device", "employee")
}
_BIRTH_KEYS = frozenset({"birthday", "birthdate", "birth_date", "date_of_birth", "dob", "born", "생년월일", "생일"})
_GROUPS = frozenset(
    "team teams group department staff board customers users engineering sales support marketing everyone all".split()
)
_NAME_LIKE = re.compile(r"[^\W\d_][\w.'’-]*(?:[ \t][^\W\d_][\w.'’-]*){0,3}")

_LABELS = {
    "secret": "Secret {}",
    "mail": "mail{}@example.invalid",
    "user": "user-{}",
    "handle": "@user{}",
    "iban": "Account {}",
    "card": "Card {}",
    "ip": "IP address {}",
    "mac": "Device {}",
    "birth date": "Birth date {}",
    "address": "Address {}",
    "number": "Number {}",
    "phone": "Phone {}",
}
PERSON_KINDS = frozenset(("person", "people", "human", "contact", "user", "customer", "employee", "사람", "인물"))
"""Entity kinds whose names are people's names."""


class Anonymizer:
    """Replaces people, addresses, phone numbers, credentials and known ids, each with its own consistent placeholder.

    Placeholders are numbered in order of appearance. To replace a name in texts before the one that reveals it, pass
    all texts to :meth:`learn` first.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        """The number of replacements so far, by kind."""
        self._standins: dict[tuple[str, str], str] = {}
        self._numbers: dict[str, int] = {}
        self._ids: dict[str, str] = {}
        self._id_tails: dict[str, list[tuple[str, int]]] = {}
        self._people: dict[tuple[str, ...], str] = {}
        """The folded words of a name → its placeholder."""
        self._firsts: dict[str, int] = {}
        """The first word of each name → the length in words of the longest name that starts with it."""
        self._possible_names: dict[str, None] = {}
        self._ordinary: set[str] = set()
        """Words that occur in lower case somewhere, folded."""
        self._east: dict[str, str] = {}
        self._east_longest = 0

    def learn(self, text: str) -> None:
        """Collect the people named in a text."""
        language = detect_language(text)[1]
        for name in names(text, language):
            if name.kind == "person":
                self.meet(name.text)
            elif not name.kind and language != "german" and _TWO_OR_THREE.fullmatch(name.text):
                self._possible_names.setdefault(name.text)
        if len(self._ordinary) < _MAX_WORDS:
            self._ordinary.update(map(fold, _SMALL.findall(text)))

    def text(self, text: str) -> str:
        """Replace all personal data in a text."""
        self.learn(text)
        return self._replaced(text)

    def learn_value(self, value: Any, key: str = "") -> None:
        """Collect the people named in a JSON value, in its texts and under keys such as `author`."""
        if isinstance(value, str):
            self.learn(value)
            kind = _ID_KEYS.get(key)
            if kind and value:
                self.know(kind, value)
            elif key in _PEOPLE_KEYS and _NAME_LIKE.fullmatch(value) and not _GROUPS & set(fold(value).split()):
                self.meet(value)
        elif isinstance(value, Mapping):
            for name, inner in value.items():
                self.learn_value(inner, str(name).lower().replace("-", "_"))
        elif isinstance(value, list | tuple):
            for inner in value:
                self.learn_value(inner, key)

    def value(self, value: Any, key: str = "") -> Any:
        """Replace all personal data in a JSON value learned before, including its keys; the structure is preserved."""
        if isinstance(value, str):
            if key in _BIRTH_KEYS and any(map(str.isdigit, value)):
                return self._standin("birth date", value)
            return self._replaced(value)
        if isinstance(value, Mapping):
            result: JsonObject = {}
            for name, inner in value.items():
                shown = plain = self._replaced(str(name))
                count = 1
                while shown in result:
                    count += 1
                    shown = f"{plain} ({count})"
                result[shown] = self.value(inner, str(name).lower().replace("-", "_"))
            return result
        if isinstance(value, list | tuple):
            return [self.value(inner, key) for inner in value]
        if isinstance(value, int) and not isinstance(value, bool) and key in _ID_KEYS:
            return int(self._numbered(f"{_ID_KEYS[key]} number", str(value), "{}"))
        return value

    def know(self, kind: str, id: str) -> None:
        """Register an id to replace; one without a letter or digit is ignored."""
        runs = list(_ALNUM.finditer(id))
        if runs and id not in self._ids:
            self._ids[id] = self._numbered(kind, id, f"{kind}-{{}}")
            self._id_tails.setdefault(runs[-1].group(), []).append((id, len(id) - runs[-1].end()))

    def _numbered(self, kind: str, what: str, label: str) -> str:
        """The placeholder of a value: its label with a number, counted per kind."""
        known = self._standins.get((kind, what))
        if known is None:
            self._numbers[kind] = self._numbers.get(kind, 0) + 1
            known = self._standins[kind, what] = label.format(self._numbers[kind])
        return known

    def _add_possible_names(self) -> None:
        """Treat capitalized words as a name unless one of them occurs in lower case somewhere in the texts.

        It may name a person, a place or a product, so the placeholder is a neutral one.
        """
        for name in self._possible_names:
            words = tuple(fold(word) for word in _WORD.findall(name))
            if words not in self._people and not any(word in self._ordinary for word in words):
                self._add(words, self._numbered("name", " ".join(words), "Name {}"))
        self._possible_names.clear()

    def meet(self, name: str) -> None:
        """Register a person, by the full name and by each part that can be used for it."""
        name = " ".join(name.split())
        if _HANGUL.fullmatch(name) or _EAST.fullmatch(name):
            self._meet_east(name)
            return
        words = tuple(fold(word) for word in _WORD.findall(name))
        if not words or words in self._people:
            return
        known = self._people.get(words[:1]) if len(words) == 1 else None
        standin = known or self._numbered("person", " ".join(words), "Person {}")
        self._add(words, standin)
        for part in dict.fromkeys(words):
            if (
                len(words) > 1
                and len(part) > 2
                and part not in ("von", "van", "der", "den", "del", "della", "dos", "bin", "ibn", "the")
            ):
                self._add((part,), standin)
        if len(words) > 2:
            self._add((words[0], words[-1]), standin)

    def _add(self, words: tuple[str, ...], standin: str) -> None:
        self._people.setdefault(words, standin)
        self._firsts[words[0]] = max(len(words), self._firsts.get(words[0], 0))

    def _meet_east(self, name: str) -> None:
        if len(name) < 2 and not _HANGUL.fullmatch(name):
            return
        if name not in self._east:
            self._east[name] = self._numbered("person", name, "Person {}")
            if len(name) == 3 and _HANGUL.fullmatch(name):
                self._east.setdefault(name[1:], self._east[name])
            self._east_longest = max(self._east_longest, len(name))

    def _replaced(self, text: str) -> str:
        """Replace everything known; formatted data first, so that no name is replaced inside an address."""
        if self._possible_names:
            self._add_possible_names()
        found = [
            *(_secret(text, one) for one in secrets.found(text)),
            *forms(text),
            *self._ids_in(text),
        ]
        found.sort(key=lambda one: (one.start, -one.end, one.kind == "secret"))
        parts: list[str] = []
        end = 0
        for start, stop, kind, what in found:
            if start >= end:
                parts += (self._without_people(text[end:start]), self._standin(kind, what))
            end = max(end, stop)  # of two overlapping matches, nothing of the second may remain
        return "".join((*parts, self._without_people(text[end:])))

    def _standin(self, kind: str, what: str) -> str:
        self._count(kind)
        return self._ids[what] if kind == "id" else self._numbered(kind, what, _LABELS[kind])

    def _ids_in(self, text: str) -> list[Form]:
        """Find known ids, looked up by their last run of letters and digits, as there may be very many."""
        found: list[Form] = []
        for match in _ALNUM.finditer(text) if self._ids else ():
            for id, after in self._id_tails.get(match.group(), ()):
                end = match.end() + after
                start = end - len(id)
                if start >= 0 and text.startswith(id, start) and not (start and text[start - 1].isalnum()):
                    found.append(Form(start, end, "id", id))
        return found

    def _count(self, kind: str = "person") -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def _without_people(self, text: str) -> str:
        if self._firsts:
            text = self._without_words(text)
        if self._east:
            text = _HANGUL.sub(self._without_hangul, text) if _HANGUL.search(text) else text
            text = _EAST.sub(self._without_han, text)
        return text

    def _without_words(self, text: str) -> str:
        tokens = [(match.start(), match.end(), match.group()) for match in _WORD.finditer(text)]
        parts: list[str] = []
        end = at = 0
        while at < len(tokens):
            count, standin = self._named(text, tokens, at)
            if not count:
                at += 1
                continue
            start, stop = tokens[at][0], tokens[at + count - 1][1]
            last = tokens[at + count - 1][2]
            if last.endswith(("'s", "’s")):
                stop -= 2
            parts += (text[end:start], standin)
            self._count("name" if standin.startswith("Name") else "person")
            end = stop
            at += count
        return "".join((*parts, text[end:]))

    def _named(self, text: str, tokens: list[tuple[int, int, str]], at: int) -> tuple[int, str]:
        """The number of words of the longest known name that starts here, 0 if none, and its placeholder."""
        start, _, first = tokens[at]
        longest = self._firsts.get(_bare(first), 0)
        for count in range(min(longest, len(tokens) - at), 0, -1):
            run = tokens[at : at + count]
            standin = self._people.get(tuple(_bare(word) for _, _, word in run))
            if standin is None or not all(_JOINT.fullmatch(text, a[1], b[0]) for a, b in pairwise(run)):
                continue
            if count > 1 or first[0].isupper() or not first[0].islower():
                before = text[max(0, start - 8) : start].rstrip(" \t\"'“‘(")
                starts_sentence = not before or before[-1] in ".!?\n"
                if count == 1 and starts_sentence and fold(first) in STOPWORDS["english"] and first != first.upper():
                    return 0, ""  # "Will you ...": a stopword at the start of a sentence
                return count, standin
            if _bare(first) not in _ORDINARY:
                return count, standin
        return 0, ""

    def _without_hangul(self, match: re.Match[str]) -> str:
        run = match.group()
        for size in range(min(self._east_longest, len(run)), 0, -1):
            standin = self._east.get(run[:size])
            # Three syllables are enough for a name; two must be followed by a title or particle.
            if standin and (size > 2 or _AFTER.fullmatch(run, size)):
                self._count()
                return standin + run[size:]
        return run

    def _without_han(self, match: re.Match[str]) -> str:
        run = match.group()
        parts: list[str] = []
        at = 0
        while at < len(run):
            for size in range(min(self._east_longest, len(run) - at), 1, -1):
                if standin := self._east.get(run[at : at + size]):
                    parts.append(standin)
                    self._count()
                    at += size
                    break
            else:
                parts.append(run[at])
                at += 1
        return "".join(parts)


def _secret(text: str, one: secrets.Secret) -> Form:
    token = text[one.start : one.end]
    if one.kind == "credit_card":
        return Form(one.start, one.end, "card", re.sub(r"\D", "", token))
    return Form(one.start, one.end, "secret", token)


def _bare(word: str) -> str:
    return fold(word).removesuffix("'s").removesuffix("’s")
