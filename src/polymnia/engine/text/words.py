"""Words: the index terms of a text, and those a query looks for.

A text is indexed by each word (folded), its stem, and the parts of an identifier as well as the whole. Scripts without
spaces between words are indexed by character pairs. A query has no syntax: it is parsed like any other text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from polymnia.engine.text.language import DENSE, GRAMMAR, SHORT_NOUN, STOPWORDS, fold, language, plausible, stem

_MAX_LENGTH = 64
_CACHED = 30_000  # analysed words per language: the active vocabulary of a store, in a few megabytes
_STEM = 0.95  # the weight of another form of a word, relative to the word as typed
_FOREIGN = 0.8  # of a form by the rules of a language the query may be in
_GRAMMAR = 0.3  # of a character pair that belongs to an ending
_SYLLABLE = 0.4  # of a Korean noun of one syllable with another particle
_CHARACTER = 0.6  # of a Chinese character next to a grammatical one
_LABELLED = 3  # how many more times a word counts in a label such as `Caroline: ...`

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
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_ACRONYMS = re.compile("([A-Z]{2,})s")  # CPUs, whose plural no stemmer knows without its capitals
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
    """The index terms of a text with their counts, and its number of words."""

    counts: dict[str, int]
    length: int


class Group(NamedTuple):
    """One word of a query: as typed, and the index terms that match it with their weights.

    A bonus group only raises the score of a text that has it: the whole of an identifier in addition to its parts.
    """

    word: str
    alternatives: tuple[tuple[str, float], ...]
    bonus: bool = False


class _Word(NamedTuple):
    plain: tuple[str, ...]
    """Its words, with case and accents."""
    pairs: tuple[tuple[str, float], ...]
    """Character pairs of dense scripts, each with its share of its run."""
    extra: tuple[str, ...]
    """Additional index terms, not used in queries."""
    whole: tuple[str, ...]
    """The token or a part of it as one term."""


_indexed: dict[str | None, dict[str, tuple[int, tuple[str, ...]]]] = {}


def terms(text: str) -> Terms:
    """The index terms of a text."""
    tokens = _tokens(text)
    lang = language(_rough_words(text))
    known = _indexed.setdefault(lang, {})
    counts: dict[str, int] = {}
    length = 0
    for token in tokens:
        entry = known.get(token)
        if entry is None:
            entry = _index(token, lang)
            if len(token) <= _MAX_LENGTH:
                if len(known) >= _CACHED:
                    known.clear()
                known[token] = entry
        length += entry[0]
        for term in entry[1]:
            counts[term] = counts.get(term, 0) + 1
    label = _LABEL.match(text)
    if label:
        for token in _tokens(label[1]):
            for term in _index(token, lang)[1]:
                counts[term] = counts.get(term, 0) + _LABELLED
    return Terms(counts, length)


def groups(query: str) -> list[Group]:
    """The groups of a query, in order, without stop words unless it has nothing else."""
    tokens = list(dict.fromkeys(_tokens(query)))
    lang = language(_rough_words(query))
    content = [token for at, token in enumerate(tokens) if not _is_stop(token, at, lang, query)]
    found: dict[tuple[tuple[str, float], ...], Group] = {}
    for token in content or tokens:
        for group in _groups(token, lang):
            found.setdefault(group.alternatives, group)
    return list(found.values())


def _tokens(text: str) -> list[str]:
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return (_TOKEN_ASCII if text.isascii() else _TOKEN).findall(text)


def _rough_words(text: str) -> list[str]:
    """The words of a text, roughly: good enough to detect its language."""
    return fold(text if len(text) < 4000 else text[:4000]).replace("'", " ").replace("’", " ").split()


def _index(token: str, lang: str | None) -> tuple[int, tuple[str, ...]]:
    word = _analysed(token)
    found = [*word.whole, *word.extra, *(pair for pair, _ in word.pairs)]
    for plain in word.plain:
        exact = fold(plain)
        found.append(exact)
        rules = plausible(exact, lang or "english")
        if rules and not any(c.isdigit() for c in exact):
            root = stem(plain.casefold(), rules[0])
            if root and root != exact:
                found.append(root)
    return len(word.plain) + len(word.pairs), tuple(term[:_MAX_LENGTH] for term in found if term)


def _analysed(token: str) -> _Word:
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
            if plural := _ACRONYMS.fullmatch(piece):
                extra.append(fold(piece))
                piece = plural[1]
            for run in _RUN.findall(piece):
                if not run.isascii() and not fold(run):
                    continue  # an accent without a letter
                if not _DENSE.match(run):
                    plain.append(run)
                    number = _ORDINAL.match(run)
                    if number and number[1] != run:
                        extra.append(number[1])
                elif before.isdigit():
                    pairs.append((before + run[0], 1.0))  # 1989년, 5月: a number with its unit
                    if len(run) > 2:
                        _add_pairs(run[1:], pairs, extra)
                else:
                    _add_pairs(run, pairs, extra)
                before = run
    return _Word(tuple(plain), tuple(pairs), tuple(extra), tuple(whole))


def _joined(segment: str) -> str:
    """An identifier as one term, the same for user-name, user_name and userName; between digits signs are kept."""
    folded = fold(segment)
    if folded.endswith(("+", "#")) or "." in folded or not any(c.isalpha() for c in folded):
        return folded
    return re.sub(r"[-_'’]+", "", folded)


def _add_pairs(run: str, pairs: list[tuple[str, float]], extra: list[str]) -> None:
    """Add the terms of a run of dense characters: its pairs, and single characters that can be searched for.

    The pairs of a run share its weight, or a long word would outweigh the rest of a query.
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


def _is_stop(token: str, at: int, lang: str | None, query: str) -> bool:
    """Whether a word of a query is a stop word; in a query with lower case, May is a month and US a country."""
    folded = fold(token)
    if _HANGUL.fullmatch(token):
        return folded in STOPWORDS["korean"]
    if token.casefold() != folded and len(folded) < 3:
        return False  # a short word with an accent is a different one: té, te
    if folded not in STOPWORDS.get(lang or "english", ()):
        head = re.split("['’]", folded)
        return len(head) > 1 and all(part in STOPWORDS.get(lang or "english", ()) for part in head)
    if lang == "english" and not query.isupper():
        return not (len(token) > 1 and token.isupper()) and not (at > 0 and token in {"May", "Will"})
    return True


def _groups(token: str, lang: str | None) -> Iterator[Group]:
    word = _analysed(token)
    for plain in word.plain:
        yield Group(plain, tuple(_forms(plain, lang).items()))
    for pair, share in word.pairs:
        yield Group(token, ((pair, share), *_content_character(pair, token, len(word.pairs))))
    whole = [term[:_MAX_LENGTH] for term in word.whole if term]
    if whole and len(word.plain) + len(word.pairs) > 0:
        yield Group(token, tuple((term, 1.0) for term in dict.fromkeys(whole)), bonus=True)


def _content_character(pair: str, token: str, pairs: int) -> tuple[tuple[str, float], ...]:
    """The content character of a pair whose other one is grammatical: 집은, 了车, を買."""
    if pair == token and SHORT_NOUN.match(pair):
        return ((pair[0], _SYLLABLE),)
    content = [c for c in pair if _HAN.match(c) and c not in _EMPTY]
    if len(pair) == 2 and len(content) == 1 and (set(pair) & _EMPTY or _KANA.search(pair)):
        return ((content[0], _CHARACTER * pairs**-0.5),)
    return ()


def _forms(plain: str, lang: str | None) -> dict[str, float]:
    exact = fold(plain)
    forms = {exact[:_MAX_LENGTH]: 1.0}
    if any(c.isdigit() for c in exact):
        number = _ORDINAL.match(exact)
        if number:
            forms.setdefault(number[1][:_MAX_LENGTH], 1.0)
        return forms
    for name in plausible(exact, lang):
        root = stem(plain.casefold(), name)[:_MAX_LENGTH]
        if name in {"english", lang}:
            forms.setdefault(root, _STEM)
        elif len(root) >= max(4, len(exact) // 2):
            forms.setdefault(root, _FOREIGN)
    return forms


def similar(word: str, term: str) -> float:
    """The similarity of a misspelt word and an index term, 0 to 1; 0 if they differ by more than one or two edits.

    An edit is an added, missing or wrong letter, or two swapped ones. Short words allow one.
    """
    word = fold(word)
    allowed = 0 if len(word) < 4 else 1 if len(word) < 8 else 2
    if abs(len(word) - len(term)) > allowed:
        return 0.0
    # An edit breaks at most three letter pairs; comparing those is faster than computing the distance.
    pairs = [word[i : i + 2] for i in range(len(word) - 1)]
    if sum(pair in term for pair in pairs) < len(pairs) - 3 * allowed:
        return 0.0
    edits = _edits(word, term, allowed)
    return 1 - edits / max(len(word), len(term)) if edits <= allowed else 0.0


def _edits(a: str, b: str, allowed: int) -> int:
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
