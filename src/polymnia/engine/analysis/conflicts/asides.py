"""Asides: what a sentence says beside its fact: why, on whose word, after what, and what stands in brackets.

"Logs are kept for 90 days, because the auditors asked" says of logs what "logs are kept for 90 days" says. What narrows
a fact is no aside: if, unless, when, only, in staging, after six.
"""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts.cues import advice

__all__ = ["core"]

_EVENT = (
    r"incident|outage|audit|meeting|review|retro\w*|discussion|talks?|feedback|complaints?|calls?|workshop|vote"
    r"|decision|reorg\w*|merger|post-?mortem|accident|breach|leak|attack|failure|crash|inspection|request|bug|update"
)
_REASON = (
    r"because|since (?=\w+ (?:is|are|was|were|has|had|left|asked|wanted)\b)|due to|thanks to|owing to|given|according"
    r" to|(?:as )?per (?:the|our|its|his|her)|as (?:agreed|discussed|decided|requested|planned|announced|mentioned)"
    r"|following (?:the|our|an?)|in response to|in light of|at the request of|on request of"
    r"|for \w+(?: \w+)? reasons?"
)
_OPENING = re.compile(
    rf"^\W*(?:(?:{_REASON}|since (?:the|our|an?|last|this)|for the record|as a reminder|as of today|just to be clear)\b"
    r"[^,:;]{0,60},\s+"
    r"|(?:note|fyi|update|reminder|correction|decision|decided|agreed|heads[- ]up|important|news|reminder to"
    r" all)\s?:\s+"
    r"|(?:please )?note that\s+|(?:we|they|the team) (?:have )?(?:agreed|decided) that\s+)",
    re.IGNORECASE,
)
_AFTER = re.compile(  # up to a comma, or to where the subject begins
    rf"^\W*(?:after|since|following) (?:the|our|an?|last|this|that|yesterday['’]s|today['’]s)"
    rf"(?: [\w'’#-]+){{0,3}}? (?:{_EVENT})\b(?:[^,:;]{{0,40}},\s+|[^,:;]{{0,40}}?\s(?=(?:the|our|all|every)\s))",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^[^:]{12,80}[a-z]: (?=(?:the|our) \w+(?: \w+){2,})", re.IGNORECASE)  # Check that it answers: the …
_CLOSING = re.compile(
    rf"(?<=\w),?\s+(?:[-–—]\s+)?(?:(?:{_REASON}|so that|in order to|so (?:we|they|the team)|to (?:comply|save"
    rf"|avoid|reduce|meet|keep up) |(?:after|following) (?:the|our|last)(?: [\w'’-]+){{0,3}}? (?:{_EVENT}))\b)"
    r"[^?]*?(?=[.!]*$)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(?<!\s)\s*\(([^()]{3,80})\)")
# What stands in brackets and narrows, dates or measures: it is no aside.
_NARROWS = re.compile(
    r"(?:in|on|at|for|with|without|only|except|excluding|including|incl|not|from|to|until|till|since|as of|before|after"
    r"|was|were|formerly|previously|updated|effective|if|when|unless|per|by|staging|production|prod|dev|test)\b|.*\d"
    r"|.*(?:까지|부터|기준|이전|제외|포함|만$|전용)|~",
    re.IGNORECASE,
)
_HANGUL = re.compile("[가-힣]")
_KOREAN = re.compile(
    r"^\W*(?=\w)(?:[^,.]{2,30}?(?:에 따라|때문에|[으]?로 인해|결정한 대로|합의한 대로|논의한 대로|요청으로"
    r"|(?:회의|사고|장애|감사) (?:이후|후)),?\s+|(?:참고로|알림|공지|정정|결정)\s?[:,]\s*)"
)
_REST = re.compile(
    r"; (?:only|so|that|this|see|it|they|everything else|nothing else|the rest)\b.*?(?=[.!]*$)", re.IGNORECASE
)
_LONGEST = 300  # characters: a longer sentence says more than one thing
# With what an opening begins, and what a closing has: most statements have neither, and this is asked of each.
_FIRST = frozenset(
    """because since due thanks owing given according per as following in at on for just note fyi update reminder
    correction decision decided agreed heads heads-up important news after we they the please""".split()  # noqa: SIM905
)
_SIGNS = (
    "because", " since ", "due to", "thanks to", "owing to", " given ", "according to", " per the", " per our",
    " as per", " as agreed", " as d", " as requested", " as planned", " as announced", " as mentioned", "following ",
    "response to", "light of", "request of", "reason", "so that", " so we", " so the", "in order to", " to comply",
    " to save", " to avoid", " to reduce", " to meet", " to keep up", " after the", " after our", " after last",
)  # fmt: skip


def core(text: str) -> str:
    """A statement without what it says beside its fact; the whole of it where little else would be left."""
    if len(text) > _LONGEST:
        return text
    bare = text
    if "(" in bare:
        bare = _BRACKETS.sub(_unbracketed, bare)
    if not bare.isascii() and _HANGUL.search(bare):
        bare = _KOREAN.sub("", bare)
    if "; " in bare:
        bare = _REST.sub("", bare)
    if bare.partition(" ")[0].rstrip(":,").lower() in _FIRST:
        bare = _opened(bare)
    for sign in _SIGNS:
        if sign in bare:
            found = _CLOSING.search(bare)
            bare = bare[: found.start()] + bare[found.end() :] if found else bare
            break
    if ": " in bare:
        bare = _LEAD.sub("", bare)
    return bare if bare == text or len(bare.split()) > 2 else text


def _opened(text: str) -> str:
    for opening in (_OPENING, _AFTER):
        if (found := opening.match(text)) and not (opening is _AFTER and advice(text[found.end() :])):
            return text[found.end() :]
    return text


def _unbracketed(match: re.Match[str]) -> str:
    inner = match[1].strip()
    return match[0] if " " not in inner or _NARROWS.match(inner) else ""
