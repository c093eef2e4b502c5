"""Extraction: the metadata of a text, such as its title, language, names, dates and key phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct, field

from polymnia.engine.text.code import of_code, of_label
from polymnia.engine.text.dates import find_dates
from polymnia.engine.text.document import Document, Heading, document, links, mails
from polymnia.engine.text.language import (
    DENSE,
    GENERAL,
    HANGUL,
    STOPWORDS,
    detect_language,
    fold,
    noun,
    plausible,
    stem,
)
from polymnia.engine.text.names import distinct, names
from polymnia.engine.text.sentences import count_sentences, count_words

__all__ = ["Counts", "Extracted", "Heading", "extract"]

_READ = 12_000  # characters that are read for key phrases
_LIMIT = 12
TOKEN = re.compile(r"[^\W_]+(?:['’_-][^\W_]+)*(?:\+\+|\#)?|[.!?;:,()\[\]\n\"“”|]")
URL = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}", re.IGNORECASE)
_DENSE = re.compile(f"[{DENSE}]")
_RUN = re.compile(f"[{DENSE}]+|[^{DENSE}]+")
_VERB = re.compile(
    "(?:하다|했다|한다|하는|하고|하여|해서|된다|되는|됐다|있다|있는|없다|없는|같은|위해|대한|통해|대해|따라|입니다|합니다|니다"
    "|어요|아요|세요|었다|았다|였다)$"
)
# Japanese writes grammar in hiragana; in Chinese these characters separate words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_PHRASE = 1.6
_CASED = 1.35  # an identifier, an acronym, a name inside a sentence
_IN_HEADING = 1.5
_LONG = 0.05


class _Seen(Struct):
    """A word in all its forms: its first position, its count, and the count of each form."""

    first: int
    count: int = 0
    forms: dict[str, int] = field(default_factory=dict)


def key_phrases(text: str, language: str | None, headings: Iterable[str] = (), limit: int = _LIMIT) -> list[str]:
    """The most distinctive words and phrases of a text, as written; those in its headings have more weight."""
    head = URL.sub(" . ", text[:_READ])
    stops = STOPWORDS["english"] | STOPWORDS.get(language or "english", frozenset())
    seen: dict[str, _Seen] = {}
    phrases: dict[tuple[str, ...], int] = {}
    run: list[str] = []
    known: dict[str, list[tuple[str, str]]] = {}
    at = 0
    for at, token in enumerate(TOKEN.findall(head)):
        words = known.get(token)
        if words is None:
            words = known[token] = pieces(token, stops, language)
        for root, word in words:
            one = seen.get(root)
            if one is None:
                one = seen[root] = _Seen(at)
            one.count += 1
            one.forms[word] = one.forms.get(word, 0) + 1
        if len(words) == 1:
            run.append(words[0][1])
            for size in (2, 3):
                if len(run) >= size:
                    phrase = tuple(run[-size:])
                    phrases[phrase] = phrases.get(phrase, 0) + 1
        if len(words) != 1 or words[0][1] != token:
            run.clear()  # a particle ends a phrase
    in_headings = {
        root for one in headings for token in TOKEN.findall(one) for root, _ in pieces(token, stops, language)
    }
    scores = _scores(seen, in_headings, at + 1)
    for phrase, count in phrases.items():
        if count > 1:
            least = min(scores.get(word, 1.0) for word in phrase)
            scores[" ".join(phrase)] = least * _PHRASE * min(count, 6) ** 0.4
    return _chosen(scores, " ".join(head.split()).lower(), limit)


def _scores(seen: dict[str, _Seen], in_headings: set[str], length: int) -> dict[str, float]:
    scores: dict[str, float] = {}
    for root, one in seen.items():
        word = max(one.forms, key=one.forms.__getitem__) if len(one.forms) > 1 else next(iter(one.forms))
        score = min(one.count, 12) ** 0.6 * (1 + _LONG * min(len(word), 12)) * (1.2 - 0.4 * one.first / length)
        named = word[:1].isupper() and len(one.forms) == 1 and one.count > 1
        if named or word[1:] != word[1:].lower() or not word.isalpha():
            score *= _CASED
        scores[word] = max(scores.get(word, 0.0), score * (_IN_HEADING if root in in_headings else 1.0))
    return scores


def _chosen(scores: dict[str, float], text: str, limit: int) -> list[str]:
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: (-scores[one], one)):
        low = word.lower()
        if any(low in other.lower() or other.lower() in low for other in chosen) or low not in text:
            continue
        chosen.append(word)
        if len(chosen) == limit:
            break
    return chosen


def pieces(token: str, stops: frozenset[str], language: str | None) -> list[tuple[str, str]]:
    """The content words of a token: the stem and the word of each."""
    if not token[0].isalnum():
        return []
    if not _DENSE.search(token):
        return _spelled(token.removesuffix("'s").removesuffix("’s"), stops, language)
    found: list[tuple[str, str]] = []
    for run in _RUN.findall(token):
        if HANGUL.search(run):
            root = noun(run)
            if len(root) > 1 and root not in STOPWORDS["korean"] and root not in GENERAL and not _VERB.search(run):
                found.append((root, root))
        elif _DENSE.search(run):
            found += [(piece, piece) for piece in _CUT.split(run) if 2 <= len(piece) <= 6]
        elif len(run) > 1 and not run.isdigit():
            found += _spelled(run, stops, language)
    return found


def _spelled(word: str, stops: frozenset[str], language: str | None) -> list[tuple[str, str]]:
    folded = fold(word)
    if len(word) < 3 - word.isupper() or folded in stops or folded in GENERAL or "'" in word or "’" in word:
        return []
    if any(c.isdigit() for c in word):
        return [] if word[0].isdigit() else [(folded, word)]
    rules = plausible(folded, language or "english")
    return [(stem(word.casefold(), rules[0]) if rules else folded, word)]


_NAMED = 30_000  # characters that are searched for names
_DATED = 20_000  # and for dates, which takes longer
_MAX_NAMES = 100
_MAX_HEADINGS = 200
_MAX_DATES = 50


class Counts(Struct, frozen=True, kw_only=True):
    """The counts of a text.

    Characters and lines are counted in the raw text, everything else in the visible one. Korean words are separated by
    spaces; each Chinese or Japanese character is a word, as in word processors; in other scripts without spaces, five
    letters are one.
    """

    characters: int
    words: int
    sentences: int
    lines: int
    paragraphs: int
    code_blocks: int = 0
    tasks: int = 0
    tasks_done: int = 0


class Extracted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The metadata of a text; whatever cannot be determined from the text is left out."""

    counts: Counts
    reading_seconds: int
    """See :mod:`polymnia.engine.text.sentences`."""
    language: str | None = None
    """ISO 639-1."""
    title: str | None = None
    headings: list[Heading] = []
    keywords: list[str] = []
    """The most distinctive words and phrases, as written, most distinctive first."""
    names: list[str] = []
    """All names in the text, in order."""
    people: list[str] = []
    """The names that are certainly a person's."""
    organisations: list[str] = []
    dates: list[str] = []
    """ISO 8601: a day, a month or a year; `--05-08` without a year."""
    links: list[str] = []
    mails: list[str] = []
    code_languages: list[str] = []
    has_tasks: bool = False
    has_tables: bool = False


def extract(text: str, content_type: str | None = None) -> Extracted:
    """Extract the metadata of a text.

    Counts and links cover the whole text, names its first 30,000 characters, dates its first 20,000 and keywords its
    first 12,000.
    """
    read = document(text, content_type)
    prose = read.prose
    code, language = detect_language(prose)
    # In a heading every word may be capitalized.
    running = "\n".join(text for kind, text in read.blocks if kind != "h")
    named = distinct(names(running[:_NAMED], language), _MAX_NAMES)
    words, seconds = count_words(prose)
    for _, program in read.code:
        more = count_words(program)
        words, seconds = words + more.words, seconds + more.seconds
    return Extracted(
        counts=Counts(
            characters=len(text),
            words=words,
            sentences=sum(count_sentences(block) for kind, block in read.blocks if kind in ("p", "li")),
            lines=text.count("\n") + (not text.endswith("\n")) if text else 0,
            paragraphs=len(read.blocks) if read.paragraphs is None else read.paragraphs,
            code_blocks=sum(bool(program) for _, program in read.code),
            tasks=read.tasks,
            tasks_done=read.tasks_done,
        ),
        reading_seconds=max(1, round(seconds)) if words else 0,
        language=code,
        title=read.title,
        headings=read.headings[:_MAX_HEADINGS],
        keywords=key_phrases(prose, language, [heading.text for heading in read.headings[:50]]),
        names=[name.text for name in named],
        people=[name.text for name in named if name.kind == "person"],
        organisations=[name.text for name in named if name.kind == "organisation"],
        dates=_dates(prose),
        links=links(prose, read.targets),
        mails=mails(prose, read.targets),
        code_languages=_languages(read),
        has_tasks=read.tasks > 0,
        has_tables=read.tables,
    )


def _dates(prose: str) -> list[str]:
    """The dates of a text, without months and years that are part of another one."""
    found = [term[1:] for term in find_dates(prose[:_DATED])]
    return [one for one in found if not any(other.startswith(f"{one}-") for other in found)][:_MAX_DATES]


def _languages(read: Document) -> list[str]:
    found = (of_label(label) if label else of_code(program) for label, program in read.code)
    return list(dict.fromkeys(filter(None, found)))
