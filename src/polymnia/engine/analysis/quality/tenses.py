"""Tenses: whether a sentence tells of what has been, or of what is to come, in English and Korean."""

from __future__ import annotations

import re

__all__ = ["AHEAD", "PAST"]

PAST = re.compile(
    r"\b(?<!\bbe )(?<!\bto )(?:was|were|did|had|has been|have been|went|came|took|made|began|started|finished"
    r"|shipped|launched|released|met"
    r"|happened|decided|signed|ended|completed|published|announced|moved|merged|deployed|failed|arrived|died|left|saw"
    r"|bought|sold|visited|talked|said|told|got|gave|found|kept|held|ran|wrote|sent|won|lost|joined|opened|closed|done"
    r"|resolved|cancel+ed)\b|\[[xX]\]"
    r"|[가-힣](?:했|었|았|였|됐|렸|졌|갔|왔)(?:다|습니다|어요|음|던)|나왔다|완료|취소|끝났",
    re.IGNORECASE,
)
"""Words of a sentence about what has been."""
AHEAD = re.compile(
    r"\b(?:will|shall|going to|due|deadline|until|by|no later than|scheduled|plan(?:s|ned)?|upcoming|expires?"
    r"|expect(?:s|ed)?"
    r"|should|would|must|target|goal|(?:starts?|begins?|launch(?:es)?) on)\b"
    r"|예정|계획|까지|할 것|하기로|마감|기한|목표|만료",
    re.IGNORECASE,
)
"""Words of a sentence about what is to come."""
