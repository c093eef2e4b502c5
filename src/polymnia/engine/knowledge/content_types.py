"""Content types: what a text is by its own looks, whatever language it is in."""

from __future__ import annotations

import re

from polymnia.engine.text.document import blocks
from polymnia.engine.text.sentences import sentences

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
    said = [one for line in text.splitlines() for one in sentences(line)]
    asked = sum(_ASKS.search(one) is not None for one in said)
    return asked > 0 and (asked * 2 > len(said) or (len(said) <= 3 and _ASKS.search(text) is not None))
