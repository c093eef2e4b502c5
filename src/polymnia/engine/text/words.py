"""Words: the index terms of a text, and what a query asks of them.

A text is indexed by each word as it is written (folded), by the stem of the word, and by the parts of an
identifier beside the whole. Scripts without spaces between words are indexed by pairs of characters. Nothing in a
query is syntax: it is read as any other text is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from polymnia.engine.text.language import DENSE, GRAMMAR, SHORT_NOUN, STOPWORDS, fold, language, plausible, stem

_LONGEST = 64
_REMEMBERED = 30_000  # analysed words kept for each language: the living vocabulary of a store, in a few megabytes
_STEM = 0.95  # what a word in another form counts, beside the word as it is typed
_FOREIGN = 0.8  # and a form by the rules of a language the query only might be in
_GRAMMAR = 0.3  # and a pair of characters that belongs to an ending and not to a root
_SYLLABLE = 0.4  # and a Korean noun of one syllable before another particle
_CHARACTER = 0.6  # and a Chinese character beside one that is grammar
_LABELLED = 3  # how often a word counts more in `Caroline: ...`, where it says of whom or what the text is

_MARK = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u0711-\u074a\u08d3-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f18-\u0f39\u0f71-\u0f84\u102b-\u103e"
    "\u1056-\u1074\u17b4-\u17d3\u17dd\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f"
)
_LETTER = rf"(?:[^\W_]|[{_MARK}])"
_TOKEN = re.compile(rf"{_LETTER}+(?:(?:://|::|[-_./:@\\'’]){_LETTER}+)*(?:\+\+|\#)?")
_TOKEN_ASCII = re.compile(r"[A-Za-z0-9]+(?:(?:://|::|[-_./:@\\'])[A-Za-z0-9]+)*(?:\+\+|#)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SEGMENT = re.compile(r"://|[/\\@:]+")
_PART = re.compile(r"[-_./:@\\'’+#]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_RUN = re.compile(f"[{DENSE}]+|[^{DENSE}]+")
_DENSE = re.compile(f"[{DENSE}]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_HAN = re.compile("[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u309f]")
_EMPTY = frozenset("的了吗嗎呢吧么麼是谁誰何哪什")
_ENDING = re.compile(f"[\u3041-\u309f]{{2}}|.*[{''.join(sorted(_EMPTY))}]")
_LABEL = re.compile(r"\s*([^\W\d_][\w .'’-]{0,30}):\s")
_CLUSTER = re.compile(rf"[^{_MARK}][{_MARK}]*|[{_MARK}]+")
_ORDINAL = re.compile(r"0*(\d+)(?:st|nd|rd|th)?$")


class Terms(NamedTuple):
    """The index terms of a text with their counts, and how many words it has."""

    counts: dict[str, int]
    length: int


class Group(NamedTuple):
    """One thing a query asks for: the word as typed, and the index terms that satisfy it with their weights.

    A bonus group adds to the score of a text that has it and is not missed in one that has not: the whole of an
    identifier beside its parts.
    """

    word: str
    alternatives: tuple[tuple[str, float], ...]
    bonus: bool = False


class _Word(NamedTuple):
    plain: tuple[str, ...]
    """Its words, with case and marks."""
    pairs: tuple[tuple[str, float], ...]
    """Pairs of dense characters, each with its share in the run it comes from."""
    extra: tuple[str, ...]
    """Further terms to find it by; in a query they count only as the whole of an identifier."""
    whole: tuple[str, ...]
    """The token or a part of it as one term."""


_indexed: dict[str | None, dict[str, tuple[int, tuple[str, ...]]]] = {}


def terms(text: str) -> Terms:
    """The index terms of a text."""
    tokens = _tokens(text)
    spoken = language(_heard(text))
    known = _indexed.setdefault(spoken, {})
    counts: dict[str, int] = {}
    length = 0
    for token in tokens:
        entry = known.get(token)
        if entry is None:
            entry = _index(token, spoken)
            if len(token) <= _LONGEST:
                if len(known) >= _REMEMBERED:
                    known.clear()
                known[token] = entry
        length += entry[0]
        for term in entry[1]:
            counts[term] = counts.get(term, 0) + 1
    label = _LABEL.match(text)
    if label:
        for token in _tokens(label[1]):
            for term in _index(token, spoken)[1]:
                counts[term] = counts.get(term, 0) + _LABELLED
    return Terms(counts, length)


def groups(query: str) -> list[Group]:
    """What a query asks for, in its order; without its stop words unless it has nothing else."""
    tokens = list(dict.fromkeys(_tokens(query)))
    spoken = language(_heard(query))
    asked = [token for at, token in enumerate(tokens) if not _is_stop(token, at, spoken, query)]
    found: dict[tuple[tuple[str, float], ...], Group] = {}
    for token in asked or tokens:
        for group in _ask(token, spoken):
            found.setdefault(group.alternatives, group)
    return list(found.values())


def _tokens(text: str) -> list[str]:
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return (_TOKEN_ASCII if text.isascii() else _TOKEN).findall(text)


def _heard(text: str) -> list[str]:
    """The words of a text, roughly: good enough to tell its language by."""
    return fold(text if len(text) < 4000 else text[:4000]).replace("'", " ").replace("’", " ").split()


def _index(token: str, spoken: str | None) -> tuple[int, tuple[str, ...]]:
    word = _take(token)
    found = [*word.whole, *word.extra, *(pair for pair, _ in word.pairs)]
    for plain in word.plain:
        exact = fold(plain)
        found.append(exact)
        rules = plausible(exact, spoken or "english")
        if rules and not any(c.isdigit() for c in exact):
            root = stem(plain.casefold(), rules[0])
            if root and root != exact:
                found.append(root)
    return len(word.plain) + len(word.pairs), tuple(term[:_LONGEST] for term in found if term)


def _take(token: str) -> _Word:
    plain: list[str] = []
    pairs: list[tuple[str, float]] = []
    extra: list[str] = []
    whole: list[str] = []
    token = token.removesuffix("'s").removesuffix("’s")
    segments = [segment for segment in _SEGMENT.split(token) if segment]
    if len(segments) > 1:
        whole.append(fold(token))
    for segment in segments:
        parts = [part for part in _PART.split(segment) if part]
        small = [piece for part in parts for piece in _CAMEL.split(part) if piece]
        if len(small) > 1 or len(segment) > sum(map(len, parts)):
            whole.append(_joined(segment))
        for piece in small:
            before = ""
            for run in _RUN.findall(piece):
                if not fold(run):
                    continue  # an accent with no letter under it
                if not _DENSE.match(run):
                    plain.append(run)
                    number = _ORDINAL.match(run)
                    if number and number[1] != run:
                        extra.append(number[1])
                elif before.isdigit():
                    pairs.append((before + run[0], 1.0))  # 1989년, 5月: a number with its unit
                    if len(run) > 2:
                        _pair(run[1:], pairs, extra)
                else:
                    _pair(run, pairs, extra)
                before = run
    return _Word(tuple(plain), tuple(pairs), tuple(extra), tuple(whole))


def _joined(segment: str) -> str:
    """An identifier as one term, the same for user-name, user_name and userName; signs between digits stay."""
    folded = fold(segment)
    if folded.endswith(("+", "#")) or "." in folded or not any(c.isalpha() for c in folded):
        return folded
    return re.sub(r"[-_'’]+", "", folded)


def _pair(run: str, pairs: list[tuple[str, float]], extra: list[str]) -> None:
    """Terms of a run of dense characters: its pairs, and what lets one character be found alone.

    The pairs of a run share its weight, or a long word would outweigh everything else that is asked.
    """
    clusters = _CLUSTER.findall(run)
    if len(clusters) == 1:
        pairs.append((run, 1.0))
        return
    share = (len(clusters) - 1) ** -0.5
    korean = _HANGUL.fullmatch(run) is not None
    root = len(GRAMMAR.sub("", run)) if korean else len(clusters)
    for at in range(len(clusters) - 1):
        pair = clusters[at] + clusters[at + 1]
        grammar = at + 2 > root or _ENDING.match(pair)
        pairs.append((pair, share * _GRAMMAR if grammar else share))
    if korean:
        extra.append(run[0])  # a noun of one syllable, whatever particle follows it
    else:
        extra += [c for c in run if _HAN.match(c)]


def _is_stop(token: str, at: int, spoken: str | None, query: str) -> bool:
    """Whether a word of a query says nothing: but May is a month and US a country in a query that has small letters."""
    folded, said = fold(token), token.casefold()
    if _HANGUL.fullmatch(token):
        return folded in STOPWORDS["korean"]
    if said != folded and len(folded) < 3:
        return False  # an accent makes another word of a short one: té is no te
    if folded not in STOPWORDS.get(spoken or "english", ()):
        head = re.split("['’]", folded)
        return len(head) > 1 and all(part in STOPWORDS.get(spoken or "english", ()) for part in head)
    if spoken == "english" and not query.isupper():
        return not (len(token) > 1 and token.isupper()) and not (at > 0 and token in {"May", "Will"})
    return True


def _ask(token: str, spoken: str | None) -> Iterator[Group]:
    word = _take(token)
    for plain in word.plain:
        yield Group(plain, tuple(_forms(plain, spoken).items()))
    for pair, share in word.pairs:
        yield Group(token, ((pair, share), *_alone(pair, token, len(word.pairs))))
    whole = [term[:_LONGEST] for term in word.whole if term]
    if whole and len(word.plain) + len(word.pairs) > 0:
        yield Group(token, tuple((term, 1.0) for term in dict.fromkeys(whole)), bonus=True)


def _alone(pair: str, token: str, pairs: int) -> tuple[tuple[str, float], ...]:
    """The one character of a pair that says something, when the other is grammar: 집은, 了车, を買."""
    if pair == token and SHORT_NOUN.match(pair):
        return ((pair[0], _SYLLABLE),)
    saying = [c for c in pair if _HAN.match(c) and c not in _EMPTY]
    if len(pair) == 2 and len(saying) == 1 and (set(pair) & _EMPTY or _KANA.search(pair)):
        return ((saying[0], _CHARACTER * pairs**-0.5),)
    return ()


def _forms(plain: str, spoken: str | None) -> dict[str, float]:
    exact = fold(plain)
    forms = {exact[:_LONGEST]: 1.0}
    if any(c.isdigit() for c in exact):
        number = _ORDINAL.match(exact)
        if number:
            forms.setdefault(number[1][:_LONGEST], 1.0)
        return forms
    for name in plausible(exact, spoken):
        root = stem(plain.casefold(), name)[:_LONGEST]
        if name in {"english", spoken}:
            forms.setdefault(root, _STEM)
        elif len(root) >= max(4, len(exact) // 2):
            forms.setdefault(root, _FOREIGN)
    return forms


def similar(word: str, term: str) -> float:
    """How alike a misspelt word and an index term are, 0 to 1; 0 when they differ by more than a slip or two.

    A slip is a letter too many, too few, wrong, or swapped with the next one. Short words allow one.
    """
    word = fold(word)
    allowed = 0 if len(word) < 4 else 1 if len(word) < 8 else 2
    if abs(len(word) - len(term)) > allowed:
        return 0.0
    # A slip breaks three pairs of letters at most; looking for them is quicker than counting slips.
    pairs = [word[i : i + 2] for i in range(len(word) - 1)]
    if sum(pair in term for pair in pairs) < len(pairs) - 3 * allowed:
        return 0.0
    slips = _slips(word, term, allowed)
    return 1 - slips / max(len(word), len(term)) if slips <= allowed else 0.0


def _slips(a: str, b: str, allowed: int) -> int:
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row, older = row, [i], before
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > allowed:
            return allowed + 1
        before = last
    return row[-1]
