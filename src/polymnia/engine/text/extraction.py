"""Extraction: what a text says of itself, so that it can be filed, found and judged by it; its most telling words."""

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

_READ = 12_000  # characters: what a text is about shows by then
_MOST = 12
TOKEN = re.compile(r"[^\W_]+(?:['’_-][^\W_]+)*(?:\+\+|\#)?|[.!?;:,()\[\]\n\"“”|]")
URL = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}", re.IGNORECASE)
_DENSE = re.compile(f"[{DENSE}]")
_RUN = re.compile(f"[{DENSE}]+|[^{DENSE}]+")
_VERB = re.compile(
    "(?:하다|했다|한다|하는|하고|하여|해서|된다|되는|됐다|있다|있는|없다|없는|같은|위해|대한|통해|대해|따라|입니다|합니다|니다"
    "|어요|아요|세요|었다|았다|였다)$"
)
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_PHRASE = 1.6
_CASED = 1.35  # an identifier, an acronym, a name inside a sentence
_LED = 1.5  # what stands in a heading
_LONG = 0.05


class _Seen(Struct):
    """A word in all its forms: how often, since when, and how it is written."""

    first: int
    count: int = 0
    forms: dict[str, int] = field(default_factory=dict)


def telling(text: str, spoken: str | None, heads: Iterable[str] = (), most: int = _MOST) -> list[str]:
    """The most telling words and phrases, as they stand in the text; those of its headings (``heads``) tell more."""
    head = URL.sub(" . ", text[:_READ])
    stops = STOPWORDS["english"] | STOPWORDS.get(spoken or "english", frozenset())
    seen: dict[str, _Seen] = {}
    phrases: dict[tuple[str, ...], int] = {}
    run: list[str] = []
    known: dict[str, list[tuple[str, str]]] = {}
    at = 0
    for at, token in enumerate(TOKEN.findall(head)):
        words = known.get(token)
        if words is None:
            words = known[token] = pieces(token, stops, spoken)
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
            run.clear()  # what a particle ends is no part of a phrase that goes on
    led = {root for one in heads for token in TOKEN.findall(one) for root, _ in pieces(token, stops, spoken)}
    scores = _scores(seen, led, at + 1)
    for phrase, count in phrases.items():
        if count > 1:
            least = min(scores.get(word, 1.0) for word in phrase)
            scores[" ".join(phrase)] = least * _PHRASE * min(count, 6) ** 0.4
    return _chosen(scores, " ".join(head.split()).lower(), most)


def _scores(seen: dict[str, _Seen], led: set[str], length: int) -> dict[str, float]:
    scores: dict[str, float] = {}
    for root, one in seen.items():
        word = max(one.forms, key=one.forms.__getitem__) if len(one.forms) > 1 else next(iter(one.forms))
        score = min(one.count, 12) ** 0.6 * (1 + _LONG * min(len(word), 12)) * (1.2 - 0.4 * one.first / length)
        named = word[:1].isupper() and len(one.forms) == 1 and one.count > 1
        if named or word[1:] != word[1:].lower() or not word.isalpha():
            score *= _CASED
        scores[word] = max(scores.get(word, 0.0), score * (_LED if root in led else 1.0))
    return scores


def _chosen(scores: dict[str, float], small: str, most: int) -> list[str]:
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: (-scores[one], one)):
        low = word.lower()
        if any(low in other.lower() or other.lower() in low for other in chosen) or low not in small:
            continue
        chosen.append(word)
        if len(chosen) == most:
            break
    return chosen


def pieces(token: str, stops: frozenset[str], spoken: str | None) -> list[tuple[str, str]]:
    """The content words of a token: what to know each by, and the word as it stands."""
    if not token[0].isalnum():
        return []
    if not _DENSE.search(token):
        return _spelled(token.removesuffix("'s").removesuffix("’s"), stops, spoken)
    found: list[tuple[str, str]] = []
    for run in _RUN.findall(token):
        if HANGUL.search(run):
            root = noun(run)
            if len(root) > 1 and root not in STOPWORDS["korean"] and root not in GENERAL and not _VERB.search(run):
                found.append((root, root))
        elif _DENSE.search(run):
            found += [(piece, piece) for piece in _CUT.split(run) if 2 <= len(piece) <= 6]
        elif len(run) > 1 and not run.isdigit():
            found += _spelled(run, stops, spoken)
    return found


def _spelled(word: str, stops: frozenset[str], spoken: str | None) -> list[tuple[str, str]]:
    folded = fold(word)
    if len(word) < 3 - word.isupper() or folded in stops or folded in GENERAL or "'" in word or "’" in word:
        return []
    if any(c.isdigit() for c in word):
        return [] if word[0].isdigit() else [(folded, word)]
    rules = plausible(folded, spoken or "english")
    return [(stem(word.casefold(), rules[0]) if rules else folded, word)]


_NAMED = 30_000  # characters in which names are looked for
_DATED = 20_000  # and dates, which are dearer to find
_MOST_NAMES = 100
_MOST_HEADINGS = 200
_MOST_DATES = 50


class Counts(Struct, frozen=True, kw_only=True):
    """How much of everything a text has.

    Characters and lines are those of the text as it stands, everything else is of what a reader sees. Korean words are
    counted by their spaces; each Chinese or Japanese character is a word, as word processors have it; in scripts
    that part their words by nothing, five letters are one.
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
    """What a text says of itself. What cannot be told is absent; nothing here is guessed from outside the text."""

    counts: Counts
    reading_seconds: int
    """At the pace of a silent reader: see :mod:`polymnia.engine.text.sentences`."""
    language: str | None = None
    """ISO 639-1."""
    title: str | None = None
    headings: list[Heading] = []
    keywords: list[str] = []
    """The most telling words and phrases, as they stand in the text, the most telling first."""
    names: list[str] = []
    """Everybody and everything the text calls by name, in its order."""
    people: list[str] = []
    """Those of the names that are certainly a person's."""
    organisations: list[str] = []
    dates: list[str] = []
    """ISO 8601: a day, a month or a year; `--05-08` where no year is said."""
    links: list[str] = []
    mails: list[str] = []
    code_languages: list[str] = []
    has_tasks: bool = False
    has_tables: bool = False


def extract(text: str, content_type: str | None = None) -> Extracted:
    """Read a text and tell what can be told of it.

    Counts and links are those of the whole text; names those of its first 30,000
    characters, dates of its first 20,000 and keywords of its first 12,000.
    """
    read = document(text, content_type)
    prose = read.prose
    code, language = detect_language(prose)
    said = distinct(names(_sentences(read)[:_NAMED], language), _MOST_NAMES)
    words, seconds = count_words(prose)
    for _, program in read.code:
        more = count_words(program)
        words, seconds = words + more.words, seconds + more.seconds
    return Extracted(
        counts=Counts(
            characters=len(text),
            words=words,
            sentences=sum(count_sentences(said) for kind, said in read.blocks if kind in ("p", "li")),
            lines=text.count("\n") + (not text.endswith("\n")) if text else 0,
            paragraphs=len(read.blocks) if read.paragraphs is None else read.paragraphs,
            code_blocks=sum(bool(program) for _, program in read.code),
            tasks=read.tasks,
            tasks_done=read.tasks_done,
        ),
        reading_seconds=max(1, round(seconds)) if words else 0,
        language=code,
        title=read.title,
        headings=read.headings[:_MOST_HEADINGS],
        keywords=telling(prose, language, [heading.text for heading in read.headings[:50]]),
        names=[name.text for name in said],
        people=[name.text for name in said if name.kind == "person"],
        organisations=[name.text for name in said if name.kind == "organisation"],
        dates=_dates(prose),
        links=links(prose, read.targets),
        mails=mails(prose, read.targets),
        code_languages=_languages(read),
        has_tasks=read.tasks > 0,
        has_tables=read.tables,
    )


def _sentences(read: Document) -> str:
    """The blocks in which a capital tells something: in a heading every word may have one."""
    return "\n".join(text for kind, text in read.blocks if kind != "h")


def _dates(prose: str) -> list[str]:
    """The dates of a text, without the months and years that only are a part of them."""
    said = [term[1:] for term in find_dates(prose[:_DATED])]
    return [one for one in said if not any(other.startswith(f"{one}-") for other in said)][:_MOST_DATES]


def _languages(read: Document) -> list[str]:
    found: dict[str, None] = {}
    for label, program in read.code:
        name = of_label(label) if label else of_code(program)
        if name:
            found[name] = None
    return list(found)
