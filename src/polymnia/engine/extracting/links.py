"""Links: addresses of pages and of people in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["MAIL", "links", "mails"]

MAIL = re.compile(
    r"(?<![A-Za-z0-9.+%@_-])[A-Za-z0-9\u00c0-\u024f.+%_-]{1,64}@(?:[A-Za-z0-9\u00c0-\u024f-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9@])"
)
"""An e-mail address; a Korean particle may hang on it."""

_DENSE = "\u1100-\u11ff\u3041-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af"
# After a letter of the alphabet a Korean, Chinese or Japanese one begins the sentence again; after a slash it is
# part of a path.
_URL = re.compile(
    rf"\b(?:(?:https?|ftp)://|www\.(?=[\w-]+\.))[^\s<>\"'`|\\^{{}}，。、；（）「」『』{_DENSE}]+"
    rf"(?:(?<=[/=_%-])[{_DENSE}][^\s<>\"'`|\\^{{}}，。、；（）「」『』]*)?",
    re.IGNORECASE,
)
_OPENED = {")": "(", "]": "["}
_MOST = 500


def links(text: str, led: Iterable[str] = ()) -> list[str]:
    """The links of a text, each once and in its order: addresses in it, then ``led``, where its marked links lead."""
    found: dict[str, None] = {}
    if "://" in text or "www." in text.lower():
        for match in _URL.finditer(text):
            url = _trimmed(match.group())
            if len(url) > 8:
                found[url] = None
            if len(found) >= _MOST:
                break
    for target in led:
        if not target.startswith(("#", "mailto:", "javascript:", "data:", "tel:")):
            found[target] = None
    return list(found)[:_MOST]


def mails(text: str, led: Iterable[str] = ()) -> list[str]:
    """The e-mail addresses of a text, each once and in its order."""
    found: dict[str, None] = {}
    if "@" in text:
        for match in MAIL.finditer(text):
            found[match.group()] = None
    for target in led:
        if target.startswith("mailto:"):
            found[target[7:].split("?", 1)[0]] = None
    return list(found)[:_MOST]


def _trimmed(url: str) -> str:
    """An address without what ends the sentence it stands in."""
    while url:
        last = url[-1]
        if last in ".,;:!?*_~…'" or (last in _OPENED and url.count(last) > url.count(_OPENED[last])):
            url = url[:-1]
        else:
            break
    return url
