"""Cues: the small words that say how a statement is meant: as advice, as news, as past, as a mere thought."""

from __future__ import annotations

import re
from functools import cache

__all__ = [
    "CHANGED", "IDIOMS", "WILL", "advice", "claims", "has_subject", "is_equation", "is_led", "is_loose", "is_past",
    "is_single", "is_told", "label", "restated", "state", "stating",
]  # fmt: skip

WILL = (
    "use|prefer|enable|disable|keep|write|run|add|store|deploy|put|set|call|choose|pick|make|create|install|commit"
    "|merge|push|test|check|validate|log|cache|encrypt|rotate|restart|update|upgrade|follow|ask|send|save|take|drink"
    "|eat|wear|book|buy|turn|start|return|throw|raise|wrap|name|format|indent|document|review|squash|rebase|pin|skip"
)
"""Verbs that advise where a statement begins with one."""

_DO = re.compile(
    rf"^(?:please |always |do )*(?:{WILL}|ensure|be sure)\b(?! (?:is|are|was|were|has|of)\b)|^(?:please )?always [a-z]"
    r"|\b(?:should|must|shall|ought to|have to|has to|needs? to|always (?:use|prefer)|prefer to)\b(?! (?:not|never)\b)"
    r"|\b(?:we|you|teams?) (?:always )?(?:prefer|recommend)\b|(?<!not )\b(?:is|are) (?:strongly |highly )?"
    r"(?:recommended|required|encouraged|preferred|best practice)\b|^recommend(?:ed|ation)?:"
    r"|하세요|하십시오|쓰세요|해야|써야|되어야|할 것(?:\.|$)|권장(?:한다|합니다|된다|됩니다|됨)"
    r"|추천(?:한다|합니다)|바랍니다|합시다|주세요|하자(?:\.|$)|좋습니다(?:\.|$)|원칙(?:이다|입니다|으로)",
    re.IGNORECASE,
)
_DONT = re.compile(
    r"^(?:please )?(?:never|don['’]?t|do not|avoid|stop|refrain|no more)\b"
    r"(?! (?:forget|hesitate|be afraid|worry|mind|give up|quit|stop|miss|\w+ed)\b)"
    r"|\b(?:should|must|shall|ought)(?:n['’]t| not| never)\b|\b(?:should|must) (?:be avoided|avoid|stop)\b"
    r"|\b(?:is|are) (?:strongly |highly )?(?:not recommended|discouraged|forbidden|prohibited|banned|not allowed"
    r"|deprecated)\b|\bnot recommended\b|\b(?:we|you) (?:should )?(?:avoid|advise against)\b"
    r"|지 (?:마|말)|금지|피하|삼가|(?:해서는|하면|쓰면|써서는) 안|지 않아야|지 않는 것|권장하지 않|추천하지 않|비추천",
    re.IGNORECASE,
)
CHANGED = re.compile(
    r"\b(?:now|as of|effective|from now on|moved|relocated|took over|changed|switched|migrated|instead|no longer"
    r"|any ?more|replaced"
    r"|updated to|renamed|became|since (?=\w* ?\d)|superseded|nowadays|currently|raised|lowered|reduced"
    r"|increased|extended|postponed|these days)\b"
    r"|이제|더 ?이상|변경|바뀌|바뀐|바꿨|바꾸|옮겼|옮긴|이전했|이전하였|전환|부터는?(?: |$)"
    r"|대신|교체|현재|새로|수정되|올렸|낮췄|인상|인하"
    r"|\b(?:jetzt|nunmehr|nicht mehr|ahora|ya no|désormais|maintenant|теперь|больше не)\b",
    re.IGNORECASE,
)
"""What says that something is otherwise than it was."""

_PAST = re.compile(
    r"\b(?:used to|formerly|previously|originally|in the past|back then|at the time|old (?:value|default|limit)"
    r"|historically|once was|had been|up to then)\b|\((?:until|till|before|was|were|formerly|previously|이전|~)"
    r"|\bwas\b[^.]{0,60}\b(?:until|before)\b"
    r"|^\W*before (?:the|our|that|this)\b[^,]{2,40}, (?:[\w'’-]+ ){1,4}?(?:was|were|had|[a-z]+ed)\b"
    r"|(?<!funded )(?<!valid )(?<!open )(?<!planned )(?<!booked )(?<!supported )(?<!guaranteed )(?<!runs )(?<!lasts )"
    r"\buntil (?:19|20)\d\d|\b(?:outdated|superseded|obsolete)\b[:\])]"
    r"|예전|이전에는|과거에|원래|한때|지난번|당시|까지(?:는|만)? ?(?:였|이었|했)|\([^)]{0,20}까지\)|이었었|였었",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:was|were|had|did|went|saw|ran|met|ate|won|lost|sold|bought|took|gave|made|came|today|yesterday|tonight)\b"
    r"|^\W*(?:\w+ ){1,5}?(?<!is )(?<!are )(?<!be )(?<!been )(?<!get )[a-z]{2,}ed\b"
    r"|[았었였했갔왔됐렸졌쳤꼈웠][다습어네지음]|오늘|어제",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"^\W*(?:if|suppose|imagine|assuming|what if|unless|let's|let us|maybe|perhaps|e\.g|for (?:example|instance)"
    r"|options?)\b"
    r"|\b(?:might|maybe|perhaps|could be|could have|would be|would have|possibly|probably|we propose"
    r"|hypothetical|considering|whether|either|i think|i guess|not sure|i wish|i hope|rather|feel like"
    r"|expected to|planned to|in case)\b"
    r"|만약|만일|[이라다]라?면 |수도 있|아마|혹시|예를 들|지도 모|일까|제안|가정|고려 중|검토 중|것 같",
    re.IGNORECASE,
)
# A question that is not marked as one, as people type it.
_ASKS = re.compile(
    r"\W*(?:(?:please )?(?:can|could|would|will|do|does|did|is|are|am|was|were|should|may) (?:i|you|we|it|there|my|your"
    r"|he|she|they|this|that|any\w*|some\w*)\b|(?:what|how|when|where|why|who|which)(?:['’]s| (?:is|are|was|were|do"
    r"|does|did|can|should|would|will|could|much|many|often|far))\b)",
    re.IGNORECASE,
)
_LED = re.compile(
    r"^\W*(?:it|its|it's|he|his|she|her|they|their|this|that|these|those|there|here|which|such|also|then)\b"
    r"|^\W*(?:그는|그녀는|그가|그녀가|그들은|이는|이것은|그것은|이것|그것|여기|거기|이를|이후|또한|그리고|그래서"
    r"|그러나|하지만)",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"^(?:We|They|Our \w+) [a-z]{2,}\b|^[A-Z][a-z]{2,}(?<!ing)(?<!ed) (?:the|your|all|our) [a-z]+"
    r"|\b(?:is|are|was|were|be|been|has|have|had|will|would|can|cannot|do|does|did|should|must|shall|may|needs?|got"
    r"|took"
    r"|went|gave|made|came|ran|met|won|lost|left|paid|sold|bought|kept|held|began|became|grew|fell|rose|led|sent"
    r"|built)\b"
    r"|n['’]t\b|\w['’](?:s|re|ve|ll|m)\b|^\W*[A-Za-z][\w'’.-]*(?: [\w'’.-]+){0,6}? [a-z]{2,}(?:s|ed)\b(?=[ .,])"
    r"|^[^:=]{2,60}[:=] \S|(?:다|요|음|임|함|됨|오|것|라|까|자|죠)[.。]?\W*$|[^\x00-\u024f\uac00-\ud7af]"
)
_SUBJECT = re.compile(r"\W*(?:The|Our|All|Every|Each) \w")
_LABEL = re.compile(r"\W*(\w[^:=.]{0,39}?)\W*[:=]\W")
IDIOMS = re.compile(
    r"(?:n['’]t|not|never|no|nothing)\b (?:agree more|wait to|forget to|hesitate|be afraid|worry|mind|only|problem"
    r"|doubt|wonder|better than|matter|longer than|more than|less than|just|to mention|necessarily)|can['’]t wait"
    r"|수밖에 없|지 않을 수 없|뿐만? 아니|없이는|문제 ?없|상관 ?없|다름 ?없|틀림 ?없|[지잖]않[아나]요",
    re.IGNORECASE,
)
"""Denials that deny nothing."""

_GIVEN_UP = re.compile(r"\b(?:(?:has |have )?(?:stopped|quit|given up|gave up))(?= \w+ing\b)", re.IGNORECASE)

# What has one value at a time: who has another one now has no longer the one before.
_SINGLE = re.compile(
    r"^(?:the|our|its|my|his|her|their)\b[^.]{2,60}?\b(?:of|for|in|on|at)\b[^.]{1,40}?\b(?:is|are|was|=)\b"
    r"|^[^.]{2,40}['’]s [\w -]{2,40}?\b(?:is|are|was|=)\b|^(?:the )?(?:default|current|main|official|maximum"
    r"|minimum)\b"
    r"|^[^\W\d][\w '/-]{1,40}(?:: | = )|^\S{1,20} ?: "
    r"|\b(?:lives?|works?|based|located|situated|hosted|employed|headquartered|stationed|enrolled)"
    r" (?:in|at|on|for|as|with)\b"
    r"|\b(?:owned|led|maintained|managed|headed|chaired|run|written|built|founded|developed|powered|signed|approved"
    r"|assigned|deployed|stored|reports?|belongs?|married|engaged|defaults?|listens?|expires?|starts?|ends?|closes?"
    r"|opens?"
    r"|runs?|resets?|rotates?|happens?|scheduled|moved|switched|migrated|changed|named|called|born|costs?|takes place)"
    r" (?:by|to|on|in|at|from|every|after|for)\b|\b(?:costs?|weighs?|measures?)\b"
    r"|[가-힣](?:은|는|이|가) .*(?:이다|입니다|이며|임|이에요|예요)[.。]?$"
    r"|(?:에서|에) (?:근무|거주|산다|삽니다|살고)|[가-힣] ?: ",
    re.IGNORECASE,
)
_COPULA = re.compile(r"\b(?:is|are|was|were)\b(?! (?:\w+ly )?(?:also|one of|among|an?\b|in\b|very))", re.IGNORECASE)

# A line for each matter, its sides between bars.
_STATES = """
open opened reopened|closed resolved shut
enabled active activated on|disabled inactive deactivated off
done complete completed finished shipped|pending unfinished incomplete todo planned
online up running live|offline down stopped
approved accepted|rejected declined refused
locked|unlocked
alive|dead
published released|draft unpublished unreleased
mandatory required|optional
available|unavailable
public|private
passing green|failing red broken
supported|unsupported discontinued
encrypted|unencrypted
paid|unpaid
allowed permitted legal|forbidden prohibited banned illegal disallowed
fixed repaired working|broken defective
full|empty
won|lost
활성 활성화 켜져|비활성 비활성화 꺼져
완료 완료됨 끝났|미완료 대기 보류 진행중 작업중
열려 열림 오픈|닫혀 닫힘 종료
공개|비공개
승인|반려 거절 거부
필수|선택
가능|불가능 불가
지원|미지원
합격|불합격
"""
_ENGLISH = re.compile(
    r"(?:\b(?:is|are|remains?|stays?|has been|have been|status:?|state:?|got|was|stands)|[:=])\s+"
    r"(?:(?:now|still|currently|already|fully|marked|set to|again|turned|switched)\s+)*(not started|in progress"
    r"|[a-z]+)"
    r"(?=[\s.,;!)]|$)",
    re.IGNORECASE,
)
_KOREAN = re.compile(r"([가-힣]{2,4}?)(?:되어|돼|된|됨)? ?(?:있|상태|다\b|이다|입니다|되었|됐|했|함|임|합니다|한다)")
_UNDERWAY = re.compile(r"(진행|작업) 중")
_ALSO = {"not started": "pending", "in progress": "pending"}


def stating() -> frozenset[str]:
    """Every word for a state, and those that begin one."""
    return frozenset((*_places(), "started", "progress"))


@cache
def _places() -> dict[str, tuple[int, int]]:
    """Each word for a state with its matter and its side there."""
    return {
        word: (line, side)
        for line, entry in enumerate(_STATES.strip().split("\n"))
        for side, words in enumerate(entry.split("|"))
        for word in words.split()
    }


def advice(text: str) -> int:
    """1 where a statement tells to do something, -1 where it tells not to, 0 where it tells neither."""
    if _DONT.search(text):
        return -1
    return 1 if _DO.search(text) else 0


def claims(text: str) -> bool:
    """Whether a sentence says something of something: no question, exclamation, list of ingredients or mere label."""
    if _ASKS.match(text):
        return False
    bare = text.rstrip("*_ \n\t\"'”’)")
    if bare.endswith((":", "…")) or text.startswith(("[", "(", "!")):
        return False
    if bare.endswith("!") and not advice(text):
        return False
    return _PREDICATE.search(text) is not None or advice(text) != 0


def has_subject(text: str) -> bool:
    """Whether a statement begins with what it is about, and says something of it."""
    return _SUBJECT.match(text) is not None and _PREDICATE.search(text) is not None


def label(text: str) -> str:
    """What stands before the colon of a statement that is a label and a value; empty for any other."""
    found = _LABEL.match(text)
    return found[1] if found else ""


def is_past(text: str) -> bool:
    """Whether a statement tells how something was."""
    return _PAST.search(text) is not None


def is_told(text: str) -> bool:
    """Whether a statement tells what happened, rather than how something is."""
    return _TOLD.search(text) is not None


def is_loose(text: str) -> bool:
    """Whether a statement only supposes what it says."""
    return _LOOSE.search(text) is not None


def is_led(text: str) -> bool:
    """Whether the subject of a statement is in the sentence before."""
    return _LED.search(text) is not None


def is_equation(text: str) -> bool:
    """Whether a statement says that something is something."""
    return _COPULA.search(text) is not None


def is_single(text: str) -> bool:
    """Whether what a statement says of its subject can be said in one way only at a time."""
    return _SINGLE.search(text) is not None


def restated(text: str) -> str:
    """A statement that something was given up as what it says of now: that it is done no longer."""
    may = "ing" in text and ("topped" in text or "uit" in text or " up " in text)  # most statements have none of it
    return _GIVEN_UP.sub("no longer", text) if may else text


def state(text: str) -> tuple[int, int] | None:
    """The state a statement says its subject is in: the matter and the side of it."""
    table = _places()
    found = None
    for match in _ENGLISH.finditer(text):
        word = match[1].lower()
        found = table.get(_ALSO.get(word, word), found)
    if found is None and not text.isascii():
        for match in _KOREAN.finditer(_UNDERWAY.sub(r"\1중", text)):
            found = table.get(match[1], found)
    return found
