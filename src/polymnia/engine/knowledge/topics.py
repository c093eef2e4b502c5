"""Topics: the type of a text, by its form, and what it is about: keywords in any language, and well-known topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from polymnia.engine.text.document import blocks
from polymnia.engine.text.language import DENSE, HANGUL, STOPWORDS, fold, noun, sections
from polymnia.engine.text.sentences import sentences
from polymnia.engine.text.words import Group, groups, terms

READ = 1000
"""The characters of a text that are read to find its topics; more would only cost time."""

_MAX_KEYWORDS = 8
_COMPARED = 500  # characters of each memory of the scope that are searched for shared words
_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_DENSE = re.compile(f"[{DENSE}]")
# Japanese writes grammar in hiragana; in Chinese these characters separate words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_HAN_LONGEST = 8
_KNOWN = 10.0
_SHARED = 2.0  # the bonus of a word that every memory of the suggested scope has
_MARKED = 0.5  # the bonus of an identifier, an acronym or a name inside a sentence
_LONG = 0.04  # the bonus of each letter: long words are rarer
_EARLY = 0.3


class Reading(NamedTuple):
    """The beginning of a text, its query groups and its index terms, so that it is analysed only once."""

    text: str
    groups: list[Group]
    """Without the groups that only count as a bonus."""
    terms: frozenset[str]


class Topic(NamedTuple):
    """A scope suggested by words of a text, its category, and those words as written in the text."""

    scope: str
    category: str
    words: tuple[str, ...]


def read(text: str) -> Reading:
    """Analyse the beginning of a text."""
    head = text[:READ]
    return Reading(head, [group for group in groups(head) if not group.bonus], frozenset(terms(head).counts))


def words_of(text: str) -> list[str]:
    """The index terms of the beginning of a text, in order."""
    return list(terms(text[:READ]).counts)


def keywords(reading: Reading, scope_texts: Sequence[str] = (), known: Sequence[str] = ()) -> tuple[str, ...]:
    """The most distinctive words of a text, as written in it but in lower case.

    ``scope_texts`` are memories of its likely scope: a word they share scores higher. ``known`` are words known to be
    distinctive; those that occur in the text come first.
    """
    lower_text = _ADDRESS.sub(" ", reading.text).lower()
    shared = [terms(one[:_COMPARED]).counts for one in scope_texts]
    scores = {word: _KNOWN for word in known if word in lower_text}
    words = [(word, forms) for word, forms in _words(reading).items() if word.lower() in lower_text]
    for at, (word, forms) in enumerate(words):
        lower = word.lower()
        common = sum(any(form in one for form in forms) for one in shared) / len(shared) if shared else 0.0
        score = 1.0 + _SHARED * common + _LONG * min(len(word), 12) + _EARLY * (1 - at / len(words))
        if word[1:] != word[1:].lower() or any(c.isdigit() for c in word):
            score += _MARKED
        score *= min(3, lower_text.count(lower)) ** 0.5
        scores[lower] = max(score, scores.get(lower, 0.0))
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: -scores[one]):
        if not any(word in other for other in chosen):
            chosen.append(word)
            if len(chosen) == _MAX_KEYWORDS:
                break
    return tuple(chosen)


def _words(reading: Reading) -> dict[str, set[str]]:
    """The content words of a text, as written, with their index terms.

    Words of scripts without spaces are segmented heuristically.
    """
    found: dict[str, set[str]] = {}
    for group in reading.groups:
        forms = {form for form, _ in group.alternatives}
        for word in _cut(group.word):
            if len(word) > 1 and not word.isdigit():
                found.setdefault(word, set()).update(forms)
    return found


def _cut(word: str) -> list[str]:
    if not _DENSE.search(word):
        return [word]
    if HANGUL.search(word):
        root = noun(word)
        return [] if fold(root) in STOPWORDS["korean"] else [root]
    return [piece for piece in _CUT.split(word) if len(piece) <= _HAN_LONGEST]


def topics(reading: Reading) -> list[Topic]:
    """The topics a text mentions: those with the most words first, then the most specific, then the earliest.

    The words of a topic also count for the topics below it that are mentioned themselves.
    """
    folded = fold(reading.text)
    written = {term: group.word for group in reversed(reading.groups) for term, _ in group.alternatives}
    found: dict[str, Topic] = {}
    for scope, category, spaced, dense in _forms():
        words: dict[str, None] = {}
        for form in spaced:
            hits = [written[term] for term in form & reading.terms if term in written]
            if hits:
                words.setdefault(min(hits, key=lambda hit: (len(hit), hit)).lower())
        for word in dense:
            if word in folded:
                words.setdefault(word)
        if words:
            found[scope] = Topic(scope, category, tuple(words))
    for scope, topic in found.items():
        above = found.get(scope.rpartition("/")[0])
        if above:
            found[scope] = topic._replace(words=tuple(dict.fromkeys(topic.words + above.words)))
    return sorted(found.values(), key=lambda one: (-len(one.words), -one.scope.count("/"), _first(one, folded)))


def _first(topic: Topic, folded: str) -> int:
    return min(folded.find(fold(word)) % (len(folded) + 1) for word in topic.words)


@cache
def _forms() -> list[tuple[str, str, list[frozenset[str]], list[str]]]:
    """For each topic its scope, its category, the index terms of its words, and the words matched as substrings."""
    forms = []
    for topic, words in sections("topics.txt").items():
        scope, category = topic.split()
        spaced = [frozenset(_whole(word)) for word in words.split() if not _DENSE.search(word)]
        forms.append((scope, category, spaced, [fold(word) for word in words.split() if _DENSE.search(word)]))
    return forms


def _whole(word: str) -> set[str]:
    """The index terms of a word; of a hyphenated one only those of the whole, or any part would match."""
    found = groups(word)
    return {term for group in found if group.bonus == (len(found) > 1) for term, _ in group.alternatives}


# ── the type of a text, by its form, in any language ─────────────────────────────────────────────────────────

_URL = re.compile(r"(?:https?://|ftp://|www\.)\S+", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*+•‣·▪–—]\s+|\(?\d{1,3}[.)、]\s*|[a-zA-Z][.)]\s+|\[[ xX✓]?\]\s*|[☐☑✓✔]\s*)\S")
_CHECKBOX = re.compile(r"^[ \t]*(?:[-*+]\s+)?(?:\[[ xX✓]?\]|[☐☑])\s*\S", re.MULTILINE)
_TURN = re.compile(r"\s*(?:\[[^\]\n]{1,30}\]\s*)?([^\W\d_][\w .'’-]{0,30}?)\s*[:：]\s*\S")
_ASKS = re.compile("[?？؟;՞]\\s*[\"'”’»)]*\\s*$")
_CODE = (
    re.compile(r"^\s*(?:def|class|async def)\s+\w+.*:\s*$"),
    re.compile(r"^\s*(?:from\s+[\w.]+\s+)?import\s+[\w.{}*, ]+(?:\s+from\s+['\"].+)?;?\s*$"),
    re.compile(r"^\s*(?:export\s+|public\s+|private\s+|static\s+)*(?:function|fn|func|void|int|var|let|const)\s+[\w<>\[\]]+.*[({=;]"),
    re.compile(r"^\s*(?:return\b.*;|[{}\])]+[;,]?|#include\s*<.+>|package\s+[\w.]+;?|use\s+[\w:]+;)\s*$"),
    re.compile(r"^\s*(?:SELECT\b.+\bFROM\b|INSERT\s+INTO\b|UPDATE\s+\w+\s+SET\b|CREATE\s+(?:TABLE|VIEW)\b)", re.I),
    re.compile(r"^\s*(?:\$|>>>|#!)\s?\S"),
    re.compile(r"^\s*(?:git|docker|kubectl|npm|pip|curl|sudo|cargo|make)\s+[\w-]+(?:\s+\S*[-/.=@]\S*)+"),
    re.compile(r"^\s*[\w.\[\]'\"]+\s*(?:[-+*/|&]?=|:=)\s*[^=].*[()\[\]{};]\s*$"),
    re.compile(r"^\s*(?:if|for|while|switch|catch)\s*\(.*\)\s*\{?\s*$|^\s*(?:if|elif|for|while|with|try|except|else)\b.*:\s*$"),
    re.compile(r"^\s*[\w.]+\(.*\)\s*;?\s*$"),
    re.compile(r"^\s*</?[a-zA-Z][\w-]*(?:\s[^<>]*)?>"),
)  # fmt: skip
_DATA = re.compile(r"\s*[\[{].*[\]}]\s*$", re.DOTALL)
_PLAN = re.compile(
    r"\b(?:to-?do|roadmap|next steps?|action items?|milestones?|agenda|plans?|planned|schedule"
    r"|fahrplan|nächste schritte|aufgaben|geplant|feuille de route|prochaines étapes|à faire"
    r"|próximos pasos|hoja de ruta|tareas|próximos passos|tarefas|prossimi passi|da fare|volgende stappen"
    r"|план|задачи|следующие шаги)\b|할 ?일|계획|일정|로드맵|予定|計画|次のステップ|计划|計劃|待办|下一步|خطة|المهام",
    re.IGNORECASE,
)
_SPEAKERS = frozenset(
    """
    user assistant human ai system me you q a bot agent customer ich du yo tú moi toi я ты 나 너 我 你
    """.split()
)
_EXAMINED = 8000
_WIDE = re.compile(r"[^\S\n]{9,}")  # long gaps carry no meaning and would make some of the rules above slow


def content_type(text: str) -> str:
    """One of code, data, link, conversation, plan, list, question, notes."""
    text = _WIDE.sub(" " * 8, text[:_EXAMINED]).strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return "notes"
    for found, kind in (
        (_is_data(text), "data"),
        (_is_code(text, lines), "code"),
        (_is_link(text), "link"),
        (_CHECKBOX.search(text) is not None and _listed(lines), "plan"),
        (_is_conversation(lines), "conversation"),
        (_listed(lines), "plan" if _PLAN.search(lines[0]) else "list"),
        (_is_question(text), "question"),
        (_PLAN.match(text) is not None, "plan"),
    ):
        if found:
            return kind
    return "notes"


def _is_data(text: str) -> bool:
    if _DATA.match(text) is None:
        return False
    import json

    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_code(text: str, lines: list[str]) -> bool:
    fenced = [block for block in blocks(text) if block.kind == "code" and block.done]
    if fenced:
        # A note that quotes a line of code is still a note.
        return sum(block.end - block.start for block in fenced) * 2 >= len(text)
    like = sum(any(rule.match(line) for rule in _CODE) for line in lines)
    return like * 2 >= len(lines)


def _is_link(text: str) -> bool:
    found = _URL.findall(text)
    rest = _URL.sub(" ", text)
    return bool(found) and len(rest.split()) <= 8 * len(found) and len(rest) <= 2 * sum(map(len, found)) + 40


def _is_conversation(lines: list[str]) -> bool:
    turns = [turn[1] for line in lines if (turn := _TURN.match(line))]
    who = set(turns)
    if len(turns) < 2 or len(turns) * 2 <= len(lines) or not 2 <= len(who) <= max(2, len(turns) // 2 + 1):
        return False
    # Speakers take turns; a table of facts has a new head in each line.
    return len(turns) > len(who) or all(turn.casefold() in _SPEAKERS for turn in turns)


def _listed(lines: list[str]) -> bool:
    items = sum(_BULLET.match(line) is not None for line in lines)
    return items >= 2 and items * 2 > len(lines)


def _is_question(text: str) -> bool:
    parts = [one for line in text.splitlines() for one in sentences(line)]
    questions = sum(_ASKS.search(one) is not None for one in parts)
    return questions > 0 and (questions * 2 > len(parts) or (len(parts) <= 3 and _ASKS.search(text) is not None))
