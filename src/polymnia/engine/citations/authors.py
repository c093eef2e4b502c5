"""Authors: their names as metadata give them, in the terms of CSL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_MOST = 200
# Scripts whose names are written in one piece, family name first.
_WHOLE = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af\u3400-\u9fff\uf900-\ufaff\u3041-\u30ff\u3005]")
_HANGUL = re.compile(r"[\uac00-\ud7af]+")
_TWO_SYLLABLES = frozenset(("남궁", "황보", "제갈", "사공", "선우", "서문", "독고", "동방"))
_APART = re.compile(r"(?<!\s)\s*(?:;|；|、|\s(?:and|und|et|y|及)\s|\s&\s)\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<!\s)\s*[<(\[]?(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+[>)\]]?")
_ORGANISATION = re.compile(
    r"\b(?:inc|ltd|llc|llp|plc|gmbh|ag|corp|corporation|company|co|university|université|universität|universidad|"
    r"institute|institut|instituto|college|school|academy|team|group|board|ministry|department|dept|foundation|"
    r"committee|commission|council|association|society|agency|administration|bureau|office|authority|union|bank|"
    r"cent(?:er|re)|laborator(?:y|ies)|labs?|library|museum|project|consortium|organi[sz]ation|federation|"
    r"network|service|services|system|systems|engineering|research|studio|contributors|authors|developers)\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"(?:jr|sr)\.?|[ivx]{2,4}|ph\.?\s?d\.?|m\.?d\.?", re.IGNORECASE)
_PARTICLES = frozenset(
    "van von der den de del della di da do dos du la le ter ten zu zum zur af av bin ibn al el".split()
)

# A syllable as romanizations of Korean write it. A given name of two, such as Min-su, stands behind the family name.
_SYLLABLE = (
    "(?:kk|tt|pp|ss|jj|ch|sh|[bcdghjklmnprstvwy])?"
    "(?:yae|yeo|ya|ye|yo|yu|yi|wae|wa|weo|we|wi|wo|eo|eu|ui|ae|oe|oo|ee|ou|u[hn]?|a|e|i|o)(?:ng|[bdgklmnpt])?"
)
_TWO = re.compile(rf"{_SYLLABLE}-{_SYLLABLE}", re.IGNORECASE)
_ONE = re.compile(rf"{_SYLLABLE}(?:rk)?", re.IGNORECASE)
_SMALL = re.compile(r"[A-Z][a-z]+-[a-z]+")

_STRANGE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff]")
_OPENING = re.compile(r"""(?:(?<=^)|(?<=[\s(\[{“‘—–-]))(["'])(?=\S)""")
_TURNED = {'"': "“”", "'": "‘’"}


def unmarked(text: str) -> str:
    """A text of the user on one line, without what cannot be seen."""
    return " ".join(_STRANGE.sub(" ", text).split())


def curled(text: str) -> str:
    """A text with typographic quotation marks and apostrophes in place of those of a typewriter."""
    if '"' not in text and "'" not in text:
        return text
    text = _OPENING.sub(lambda found: _TURNED[found[1]][0], text)
    return text.replace('"', "”").replace("'", "’")


def authors(told: Any) -> list[dict[str, str]]:
    """The names of authors, given as a text, an object, or a list of them."""
    if isinstance(told, list | tuple):
        return [name for one in told[:_MOST] for name in _one(one)]
    if isinstance(told, str):
        return [name for part in _parted(_clean(told))[:_MOST] for name in _one(part)]
    return _one(told)


def _one(told: Any) -> list[dict[str, str]]:
    if isinstance(told, Mapping):
        return _object(told)
    text = _clean(told) if isinstance(told, str) else ""
    if not text:
        return []
    return [_person(text)]


def _clean(text: str) -> str:
    text = curled(unmarked(text))
    return _ADDRESS.sub("", text).strip(" ,;") or text


def _parted(text: str) -> list[str]:
    """Several names in one text. A comma parts them only where each side is a name by itself."""
    if _ORGANISATION.search(text) and not re.search("[;；]", text):
        return [text]
    parts = [part for part in _APART.split(text) if part]
    if len(parts) > 1:
        return [name for part in parts for name in (_commas(part) if _several(part) else [part])]
    return _commas(text) if _several(text) else [text]


def _commas(text: str) -> list[str]:
    return [part for part in (part.strip() for part in re.split("[,，]", text)) if part]


def _several(text: str) -> bool:
    """Whether the commas of a text stand between names, and not between the parts of one."""
    parts = _commas(text)
    if len(parts) < 2 or any(_SUFFIX.fullmatch(part) for part in parts[1:]):
        return False
    if all(_WHOLE.search(part) for part in parts):
        return not _is_inverted(parts)
    return all(" " in part and part.split()[0].lower() not in _PARTICLES for part in parts)


def _is_inverted(parts: list[str]) -> bool:
    """Whether two parts in Hangul, Han or kana are a family name and a given one."""
    if len(parts) != 2 or any(" " in part for part in parts):
        return False
    family, given = parts
    if _HANGUL.fullmatch(family):
        return len(family) == 1 or family in _TWO_SYLLABLES
    return len(family) < 3 and len(given) < 3


def _object(told: Mapping[str, Any]) -> list[dict[str, str]]:
    def text(*keys: str) -> str:
        return next((_clean(value) for key in keys if isinstance(value := told.get(key), str) and value.strip()), "")

    family, given = (
        text("family", "family_name", "last", "last_name", "surname"),
        text("given", "given_name", "first", "first_name"),
    )
    if family and given and not _WHOLE.search(family):
        made = _family(family) | {"given": given}
        return [made | {"suffix": text("suffix")} if text("suffix") else made]
    if family or given:
        return [{"literal": family + given}]
    if whole := text("literal", "organization", "organisation"):
        return [{"literal": whole}]
    whole = text("name", "display_name", "full_name", "username", "login")
    if not whole:
        return []
    kind = str(told.get("type", told.get("@type", ""))).lower()
    return [{"literal": whole}] if kind.startswith("org") else [_person(whole)]


def _person(text: str) -> dict[str, str]:
    parts = _commas(text)
    if _WHOLE.search(text):
        return {"literal": "".join(parts) if _is_inverted(parts) else text}
    if _ORGANISATION.search(text) or re.search(r"\d|[@/_:|]|\b(?:of|for|the)\b", text, re.IGNORECASE):
        return {"literal": text}
    suffix = ""
    if len(parts) > 1 and _SUFFIX.fullmatch(parts[-1]):
        suffix = parts.pop()
    if len(parts) == 2:
        made = _family(parts[0]) | {"given": parts[1]}
    elif len(parts) == 1 and len(words := parts[0].split()) > 1:
        if not suffix and len(words) > 2 and _SUFFIX.fullmatch(words[-1]):
            suffix = words.pop()
        if len(words) == 2 and not suffix and _family_first(*words):
            return {"family": words[0], "given": words[1]}
        # The family name begins at the first particle: Ludwig van Beethoven.
        at = next((i for i, word in enumerate(words[1:-1], 1) if word in _PARTICLES), len(words) - 1)
        made = _family(" ".join(words[at:])) | {"given": " ".join(words[:at])}
    else:
        return {"literal": text}
    return made | {"suffix": suffix} if suffix else made


def _family_first(first: str, last: str) -> bool:
    """Whether a name has the East Asian order: its second word is a given name of two syllables."""
    if _SMALL.fullmatch(last):
        return True  # a family name of two has two capitals: Smith-Jones
    return _TWO.fullmatch(last) is not None and _ONE.fullmatch(first) is not None


def _family(text: str) -> dict[str, str]:
    words = text.split()
    at = 0
    while at < len(words) - 1 and words[at] in _PARTICLES:
        at += 1
    made = {"family": " ".join(words[at:])}
    return made | {"non-dropping-particle": " ".join(words[:at])} if at else made
