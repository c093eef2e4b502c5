"""Actions: sentences that tell somebody to do something, who and when, in English and Korean."""

from __future__ import annotations

import re

from polymnia.engine.analysis.quality.calendar import days

__all__ = ["ACTION_KINDS", "STEPS", "TASKS", "commands", "is_step", "means", "started", "vague_step", "when", "who"]

_WORDS = (
    "add ask assign avoid back begin book build buy call cancel change check choose clean click close collect "
    "commit compare "
    "compile complete configure confirm connect contact copy create decide define delete deploy describe design "
    "disable "
    "discuss document download draft edit email enable ensure enter estimate export file fill find finish fix follow "
    "generate get give go hire implement import include inform insert inspect install invite keep launch list "
    "load look "
    "make mark measure meet merge migrate monitor move name notify open order pack pay pick plan prepare press "
    "print publish "
    "pull push put read rebuild record reduce release reload remove rename repeat replace report request reset "
    "resolve restart restore retry return review revert rewrite roll rotate run save schedule select send set "
    "share ship show "
    "sign sort specify start stop store submit switch sync talk tell test track train translate try turn type "
    "uninstall "
    "update upgrade upload use validate verify visit wait watch write"
)
_VERBS = _WORDS.split()
_BASE = frozenset(_VERBS)
_FORMS = {
    form: "a verb in -ing"
    for verb in _VERBS
    for form in (verb + "ing", verb.removesuffix("e") + "ing", verb + verb[-1] + "ing")
}
_FORMS |= {form: "a verb in -ed" for verb in _VERBS for form in (verb + "ed", verb + "d", verb + verb[-1] + "ed")}
_FORMS |= {form: "a verb in -s" for verb in _VERBS for form in (verb + "s", verb + "es")}
_FORMS |= dict.fromkeys(_BASE, "a command")
for _noun in ("meeting", "building", "training", "setting"):
    del _FORMS[_noun]  # things more often than deeds

_LEAD = re.compile(
    r"^\W*(?:(?:please|then|now|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|always|never|also|do not"
    r"|don['’]t)[, ]+)*",
    re.I,
)
_OBLIGED = re.compile(
    r"\b(?:must|need(?:s)? to|ha(?:s|ve) to|should|shall|will|is to|are to|agreed to|promised to|going to"
    r"|responsible for|todo|action)\b",
    re.IGNORECASE,
)
_KOREAN = re.compile(
    r"(?:하세요|하십시오|십시오|세요|하시오|해야 ?(?:한다|합니다|함|해요)|해야 ?(?:된다|됩니다|됨)|할 것|하기"
    r"|하자|합시다|바랍니다|부탁드립니다|예정(?:이다|입니다)?"
    r"|하기로 (?:했다|했습니다|함|결정)|하겠습니다|하겠다|필요(?:하다|합니다|함)|할게요|맡는다|맡습니다|담당한다"
    r"|담당합니다)[.!]?\s*(?:\([^)]*\))?\s*$"
)
_KOREAN_LISTED = re.compile(r"[가-힣]{2}(?:한다|합니다)[.!]?\s*(?:\([^()]*\)\s*)?$")  # in running text it only tells
_HEADED = re.compile(
    r"^\W*(?:\w+\s+)?(?:next steps?|action items?|actions|to-?dos?|(?:open )?tasks|follow[- ]?ups?)\W*$"
    r"|^\W*(?:[가-힣]+\s)?(?:할 ?일|다음 ?단계|액션 ?아이템|후속 ?조치|후속 ?작업)(?:\s?목록)?\W*$",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"@\w+|\b(?:owner|assignee|responsible|assigned to|lead)\b\s*[:=]?\s*\w|\b(?:by"
    r"|for)\s+[A-Z][a-z]+(?!\w)(?!\s+\d)|^\W*[A-Z][a-z]+(?:\s[A-Z][a-z]+)?\s+"
    r"(?:will|must|should|shall|needs|has|is to|agreed|promised|takes|owns|reviews|writes|sends|checks|prepares)\b"
    r"|\b(?:I|we|you|he|she|they)\s+(?:will|must|should|shall|need|have to|agreed|promised)\b|\([A-Z][a-z]+\)"
    r"|^\W*\*{0,2}[A-Z][a-z]+\*{0,2}:\s"
    r"|담당(?:자)?\s*[:은는이]?\s*[가-힣]{2,4}|[가-힣]{2,4}(?:님|씨|팀|매니저|책임)(?:이|가|은|는|에게|께서)?"
    r"|^\W*[가-힣]{3}(?:이|가|은|는) "
)
_DAYS_AND_MONTHS = (
    "January February March April May June July August September October November December "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
)
_CALENDAR_NAMES = frozenset(_DAYS_AND_MONTHS.split())
_WHEN = re.compile(
    r"\b(?:today|tonight|tomorrow|immediately|(?:next|this) (?:week|month|quarter|sprint|year)|(?:end of|eod|eow)\b|"
    r"(?:by|on|before|until|next|this) (?:the )?(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?"
    r"|sun)(?:day)?\b|within \d+|in \d+ (?:hours?|days?|weeks?|months?)|"
    r"(?:every|each) \w+|daily|weekly|monthly|Q[1-4]\b|\d{1,2}:\d\d|\d{1,2}\s?[ap]m)\b"
    r"|오늘|내일|모레|이번 ?주|다음 ?주|이번 ?달|다음 ?달|월말|주말|분기|[월화수목금토일]요일|\d일 ?(?:까지"
    r"|이내|내)|\d{1,2}월|매주|매일|매월|까지|즉시",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"`[^`]+`|https?://\S+|\[[^\[\]]+\]\([^()]+\)|(?:^|\s)(?:\$|>)\s\S|[\w.-]/[\w./-]|\w\.(?:py|js|ts"
    r"|md|json|ya?ml|toml|sh|sql|txt|csv|html|go|rs|java|conf|ini|log)\b|\"[^\"]{2,}\"|“[^“”]{2,}”"
    r"|\b\d+(?:\.\d+)?\b|[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\b"
)
_VAGUE = re.compile(
    r"\b(?:consider|look (?:in)?to|think about|investigate|explore|try to|see if|figure out|maybe|at some point"
    r"|eventually|soon"
    r"|if possible|when (?:there is )?time|someone|somebody|somehow|as needed)\b"
    r"|검토|고민|알아보|생각해|가능하면|시간 ?(?:나면|되면)|언젠가|나중에|추후|적절히|잘 ",
    re.IGNORECASE,
)

ACTION_KINDS = re.compile(
    r"decision|task|to-?do|plan|action|issue|bug|ticket|meeting|minutes|procedure|runbook|playbook|guide|how-?to"
    r"|instruction"
    r"|checklist|recipe|incident|postmortem|retro|roadmap|policy|회의|결정|할 ?일|계획|절차|가이드|지침"
    r"|체크리스트|업무|조치|요청",
    re.IGNORECASE,
)
"""Kinds and tags of contents that are there to be acted on."""
TASKS = re.compile(
    r"decision|task|to-?do|plan|action|issue|bug|ticket|meeting|minutes|incident|postmortem|retro|roadmap|회의"
    r"|결정|할 ?일|계획|업무|조치|요청",
    re.IGNORECASE,
)
"""Those of them in which somebody has to do it by some time; in a guide it is the reader, whenever."""
STEPS = _HEADED
"""Headings under which steps stand."""


def started(text: str) -> str | None:
    """In which form of a verb a step begins; None where it begins with no verb that is known."""
    words = re.findall(r"[A-Za-z]+", _LEAD.sub("", text)[:40])
    return _FORMS.get(words[0].lower()) if words else None


def is_step(text: str, language: str | None, listed: bool) -> bool:
    """Whether a sentence tells somebody to do something; an item of a list may be shorter."""
    if language == "ko":
        return _KOREAN.search(text) is not None or (listed and _KOREAN_LISTED.search(text) is not None)
    words = re.findall(r"[A-Za-z]+", _LEAD.sub("", text)[:40])
    if words and words[0].lower() in _BASE and (listed or len(words) > 1):
        return not re.search(r"\?\s*$", text)
    return _OBLIGED.search(text) is not None and (listed or who(text))


def who(text: str) -> bool:
    """Whether a sentence says who acts."""
    return any(not set(re.findall(r"[A-Z][a-z]+", match[0])) & _CALENDAR_NAMES for match in _WHO.finditer(text))


def when(text: str) -> bool:
    """Whether a sentence says until when, or when."""
    return _WHEN.search(text) is not None or bool(days(text))


def means(text: str) -> bool:
    """Whether a step names something to act on: a command, a file, a link, a number, a thing by its name."""
    return _MEANS.search(text) is not None


def vague_step(text: str) -> str | None:
    """The words that leave a step open."""
    match = _VAGUE.search(text)
    return match[0].strip() if match else None


def commands(code: str) -> bool:
    """Whether a block of code can be run by a reader."""
    return bool(code.strip())
