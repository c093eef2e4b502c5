"""Topics: what a text is, by its looks, and what it is about: its keywords in any language, well-known topics."""

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
"""So many characters tell what a text is about; more only cost time."""

_MOST = 8  # keywords
_COMPARED = 500  # so many characters of each memory of the scope are looked at for shared words
_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_DENSE = re.compile(f"[{DENSE}]")
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_HAN_LONGEST = 8
_KNOWN = 10.0
_SHARED = 2.0  # what a word gains that every memory of the suggested scope has
_MARKED = 0.5  # what an identifier, an acronym or a name inside a sentence gains
_LONG = 0.04  # what each letter adds: long words are rarer
_EARLY = 0.3


class Reading(NamedTuple):
    """The beginning of a text, what a query of it would ask for, and its index terms. It is read once for all."""

    text: str
    groups: list[Group]
    """Without what counts as a bonus only."""
    terms: frozenset[str]


class Topic(NamedTuple):
    """A scope that words of a text point to, the category they mean, and those words as they stand in the text."""

    scope: str
    category: str
    words: tuple[str, ...]


def read(text: str) -> Reading:
    """Read the beginning of a text."""
    head = text[:READ]
    return Reading(head, [group for group in groups(head) if not group.bonus], frozenset(terms(head).counts))


def words_of(text: str) -> list[str]:
    """The index terms of the beginning of a text, in order."""
    return list(terms(text[:READ]).counts)


def keywords(reading: Reading, scope_texts: Sequence[str] = (), known: Sequence[str] = ()) -> tuple[str, ...]:
    """The most telling words of a text, as they stand in it but in small letters.

    ``scope_texts`` are memories of the scope it probably belongs to: a word they share tells more. ``known`` are
    words that are telling for sure; those that stand in the text come first.
    """
    small = _ADDRESS.sub(" ", reading.text).lower()
    shared = [terms(one[:_COMPARED]).counts for one in scope_texts]
    scores = {word: _KNOWN for word in known if word in small}
    words = [(word, forms) for word, forms in _words(reading).items() if word.lower() in small]
    for at, (word, forms) in enumerate(words):
        lower = word.lower()
        common = sum(any(form in one for form in forms) for one in shared) / len(shared) if shared else 0.0
        score = 1.0 + _SHARED * common + _LONG * min(len(word), 12) + _EARLY * (1 - at / len(words))
        if word[1:] != word[1:].lower() or any(c.isdigit() for c in word):
            score += _MARKED
        score *= min(3, small.count(lower)) ** 0.5
        scores[lower] = max(score, scores.get(lower, 0.0))
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: -scores[one]):
        if not any(word in other for other in chosen):
            chosen.append(word)
            if len(chosen) == _MOST:
                break
    return tuple(chosen)


def _words(reading: Reading) -> dict[str, set[str]]:
    """The content words of a text, as they are written, with the index terms to know them by.

    Those of scripts without spaces are cut out as well as can be told.
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
    """The topics a text mentions: those with most of its words first, of equals the most specific, then the earliest.

    What is said of a topic is said of those below it too, when they are mentioned at all.
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
    """For each topic its scope, its category, the index terms of its words, and those looked for as they stand."""
    made = []
    for topic, words in sections("topics.txt").items():
        scope, category = topic.split()
        spaced = [frozenset(_whole(word)) for word in words.split() if not _DENSE.search(word)]
        made.append((scope, category, spaced, [fold(word) for word in words.split() if _DENSE.search(word)]))
    return made


def _whole(word: str) -> set[str]:
    """The terms to know a word by; of one with a hyphen only the whole, or any part of it would do."""
    asked = groups(word)
    return {term for group in asked if group.bonus == (len(asked) > 1) for term, _ in group.alternatives}


# ── what a text is, by its own looks, whatever language it is in ─────────────────────────────────────────────

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
_LOOKED_AT = 8000
_WIDE = re.compile(r"[^\S\n]{9,}")  # long gaps say nothing, and would make some of the rules above slow


def content_type(text: str) -> str:
    """One of code, data, link, conversation, plan, list, question, notes."""
    text = _WIDE.sub(" " * 8, text[:_LOOKED_AT]).strip()
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
        # A note may quote a line of code and stay a note.
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
    # Two who speak in turn; a table of facts has a new head in each line.
    return len(turns) > len(who) or all(turn.casefold() in _SPEAKERS for turn in turns)


def _listed(lines: list[str]) -> bool:
    items = sum(_BULLET.match(line) is not None for line in lines)
    return items >= 2 and items * 2 > len(lines)


def _is_question(text: str) -> bool:
    parts = [one for line in text.splitlines() for one in sentences(line)]
    asked = sum(_ASKS.search(one) is not None for one in parts)
    return asked > 0 and (asked * 2 > len(parts) or (len(parts) <= 3 and _ASKS.search(text) is not None))
