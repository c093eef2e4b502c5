"""Form: what a text owes to the way it is laid out, and not to what it is about."""

from __future__ import annotations

import re

from polymnia.engine.items import DECISION

__all__ = ["spoken"]

_PART = re.compile(r"^ {0,3}#{2,6}[ \t]+.*\n?", re.MULTILINE)
# Headings of parts that a text of any subject may have.
_ANY = re.compile(
    r"^ {0,3}#{2,6}[ \t]+(?:overview|introduction|summary|background|context|notes?|details?|steps?|procedure|usage"
    r"|setup|requirements?|prerequisites|general|rules?|decisions?|rationale|reasons?|alternatives?(?: considered)?"
    r"|options?|impact|consequences?|stakeholders?|status|action items|actions|agenda|attendees|participants|to ?do"
    r"|next steps|open questions|references|see also|misc|faq|개요|소개|요약|배경|맥락|메모|참고|절차|단계"
    r"|방법|규칙|결정(?: ?사항)?|근거|이유|대안|영향|이해관계자|상태|할 ?일|안건|참석자|기타)[ \t:#]*$\n?",
    re.IGNORECASE | re.MULTILINE,
)


def spoken(text: str, kind: str) -> str:
    """A text without the headings that its form has; of a decision, without those of all its parts."""
    if "##" not in text:
        return text
    return (_PART if kind == DECISION else _ANY).sub("", text)
