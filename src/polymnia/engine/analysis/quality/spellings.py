"""Spellings: the ways in which texts write one term: joined, hyphened, apart, with which capitals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable

from msgspec import Struct, field

from polymnia.engine.analysis.quality.clarity_words import KNOWN
from polymnia.engine.analysis.quality.consistency_words import APART
from polymnia.engine.analysis.quality.sheet import said

__all__ = ["Spelling", "counted", "spellings"]

_TOKEN = re.compile(r"[^\W_]+(?:[-][^\W_]+)*")
_CODE = re.compile(r"`[^`\n]*`|https?://\S+|(?<!\S)\S+@\S+|(?<![\w.\\-])[\w.\\-]+/[\w./\\-]+|(?<!\w)\w+\.\w+")
_SHORTEST = 5  # letters of a term that may be written apart
_MOST = 200_000  # characters of a text, as of the one that is judged
_LEAD = 40  # characters before a word in which the end of a sentence is looked for
_HANGUL = re.compile("[\uac00-\ud7af]")
_PARTICLE = re.compile("(?<=..)(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|과|와|의|에|도|만|로)$")
_INNER = re.compile(r"[a-z0-9][A-Z]|^[A-Z]{2,}[a-z]|^[A-Z]{2,}$")


class Spelling(Struct):
    """One term: how often it is written in each way."""

    forms: Counter[str] = field(default_factory=Counter)

    def ordered(self) -> list[str]:
        """Its forms, the most used first."""
        return sorted(self.forms, key=lambda form: (-self.forms[form], form))


def spellings(prose: Iterable[str], also: Container[str] = ()) -> dict[str, Spelling]:
    """The terms of a text that have hyphens, capitals inside or more than one form, by what they have in common.

    ``also`` are terms that are told in any form.
    """
    forms: dict[str, Counter[str]] = {}
    cases: dict[str, Counter[str]] = {}
    pairs: dict[str, Counter[str]] = {}
    for text in prose:
        text = _CODE.sub(" . ", said(text))
        before, end = "", -2
        for at, match in enumerate(_TOKEN.finditer(text)):
            word = match[0]
            if _HANGUL.search(word):
                word = _PARTICLE.sub("", word)
            key = word.replace("-", "").casefold()
            if key.isdigit():
                before = ""
                continue
            forms.setdefault(key, Counter())[word.casefold()] += 1
            start = match.start()
            lead = text[max(0, start - _LEAD) : start].rstrip(" \"'“‘(*_")
            opens = at == 0 or lead.endswith((".", "!", "?", ":", "…"))
            if not opens or _INNER.search(word):
                cases.setdefault(word.casefold(), Counter())[word] += 1
            if before and text[end:start] == " " and not before.isdigit() and not word.isdigit():
                pair = f"{before.casefold()} {word.casefold()}"
                if len(key) + len(before) >= _SHORTEST and min(len(key), len(before)) > 1 and pair not in APART:
                    pairs.setdefault(before.replace("-", "").casefold() + key, Counter())[pair] += 1
            before, end = match[0], match.end()
    found: dict[str, Spelling] = {}
    for key, counts in forms.items():
        joined = Counter(counts)
        whole = len(key) >= (4 if _HANGUL.search(key) else _SHORTEST)
        if key in pairs and whole:
            joined.update(pairs[key])
        if key not in joined:
            # Two words that modify a third are hyphened, and alone they are not: that is no other spelling.
            joined = Counter({form: n for form, n in joined.items() if " " not in form})
        if len(joined) > 1 or key in also or any("-" in form for form in joined):
            found[key] = Spelling(joined)
    for key, counts in cases.items():
        told = key in also or any(_INNER.search(form) for form in counts)
        if told and len(key) > 2 and "-" not in key:
            # Capitals all through are an emphasis, unless they are those of a known name.
            cased = Counter({form: n for form, n in counts.items() if not form.isupper() or _is_name(form)})
            if cased and (key not in found or len(found[key].forms) < 2):
                found[key] = Spelling(cased)
    return found


def _is_name(word: str) -> bool:
    return word in KNOWN


def counted(texts: Iterable[str]) -> dict[str, Counter[str]]:
    """How often each form of a term is written in some texts, each up to a length: more would tell nothing new."""
    total: dict[str, Counter[str]] = {}
    for text in texts:
        for key, one in spellings(text[:_MOST].splitlines()).items():
            total.setdefault(key, Counter()).update(one.forms)
    return total
