"""Completeness words: what stands where something is still to be written, announced or asked, in English and Korean."""

from __future__ import annotations

import re

__all__ = ["ANNOUNCED", "BELOW", "BROKEN", "PLACEHOLDER", "SECTION"]

PLACEHOLDER = re.compile(
    r"\b(?:TO[D]O|TBD|TBA|FIX[M]E|X{3}|WIP)\b|(?<!\?)\?{3,}|\blorem ipsum\b"
    r"|\bto be (?:decided|determined|done|added|written|defined|confirmed|completed|filled in|announced)\b"
    r"|\b(?:coming soon|work in progress|not yet written|fill this in|placeholder)\b"
    r"|[<\[{](?:insert|your|enter|fill|add)\b[^<>\[\]{}\n]{0,40}[>\]}]|_{4,}"
    r"|미정(?![가-힣])|작성 ?(?:예정|중|필요)|추후 ?(?:작성|결정|기재|보완|추가|논의|업데이트)|(?:추가|보완|기재"
    r"|업데이트) ?예정"
    r"|내용 ?없음|확인 ?필요|채워 ?넣|○{2,}|(?<!\w)ㅇㅇ(?!\w)",
    re.IGNORECASE,
)
"""Marks of something that is still to be written or decided."""

ANNOUNCED = re.compile(
    r"(?:\bthe following\b[^.!?]{0,60}|\bas follows|(?:다음|아래)과 같(?:다|습니다|이|은)[^.!?]{0,20}"
    r"|아래와 같(?:다|습니다|이|은)[^.!?]{0,20})\s*[:：.]?\s*[*_]*$|[:：]\s*[*_]*$",
    re.IGNORECASE,
)
"""The end of a paragraph that announces what comes next."""

BELOW = re.compile(
    r"\b(?:see|as (?:shown|described|listed|explained)|described|listed|shown|given)\s+(?:in the (?:table|list"
    r"|figure|section) )?below\b"
    r"|\b(?:table|list|figure|section|example) below\b|아래(?:의)? ?(?:표|목록|그림|절|예시)?[를을에]? ?(?:참조"
    r"|참고|확인)|아래 (?:표|목록|그림|절)",
    re.IGNORECASE,
)
"""What points at something further down."""

SECTION = re.compile(
    r"\b(?:see|in|refer to)\s+(?:the\s+)?(?:section|chapter)\s+[\"“'‘*_]*([A-Z0-9][^\"”'’*_.,;)\n]{1,60})"
    r"|[\"“'‘]([^\"”'’\n]{2,40})[\"”'’]\s*(?:section|chapter|절|장|항목)"
)
"""What names a part of the text."""

BROKEN = re.compile(
    r"(?:,|;|\s[-–—]|\((?:[^()]{0,80})|\b(?:and|or|but|the|a|an|of|to|in|for|with|because|that|which|if|when|by"
    r"|from|is|are))\s*$"
    r"|(?:그리고|및|또는|하지만|그러나|왜냐하면|때문에|위해|위하여|[가-힣]지만|면서|으며|하며|[가-힣][을를]"
    r"|예를 들어)\s*$",
    re.IGNORECASE,
)
"""How a text ends that was broken off."""
