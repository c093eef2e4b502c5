"""Facts in Korean: subject, relation and value by particles and by the verb at the end."""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts.said import Said

__all__ = ["korean"]

_NEWS = re.compile(r"(?<![가-힣])(?:이제는?|현재는?|지금은?|앞으로는?|요즘은?|항상|주로|이미)\s+")
_TOPIC = re.compile(r"^(?P<subject>[^,.]{1,30}?)(?:은|는)\s+(?=\S)")
_WE = re.compile(r"^(?:우리|저희|우리 팀|저희 팀|우리 회사|저희 회사)$")
_VALUE = r"(?<![^\s,.])(?P<value>[^\s,.]+(?: [^\s,.]+)?)"
_INSTEAD = re.compile(
    r"(?<![^\s,.])(?:(?P<gone>[^\s,.]+(?: [^\s,.]+)?)\s+대신(?:에)?\s+|(?P<less>[^\s,.]+(?: [^\s,.]+)?)보다\s+)"
)
_CHANGED = re.compile(
    r"(?:(?P<gone>[^\s,.]+(?: [^\s,.]+)?)에서\s+)?" + _VALUE + r"(?<!으)(?:으로|로)\s+"
    r"(?P<how>이사|이전|옮겼|옮김|옮긴|이직|바꿨|바꾸었|바뀌었|바뀜|전환|변경|교체)"
)
_USES = (
    r"(?:을|를)\s+(?:더\s+)?(?:쓴다|씁니다|써요|쓰고 있|사용(?:한다|합니다|해요|하고 있| 중)|이용(?:한다|합니다)"
    r"|도입했|채택했)"
)
_WORKS = r"(?:에서|에)\s+(?:근무|재직|일한다|일합니다|다닌다|다닙니다|다니고)"
_MEANS = r"(?<!으)(?:으로|로)\s+(?:작성|배포|관리|빌드|개발|운영|구축|한다|합니다|진행|쓴다|씁니다|적는다)"
_VERBS = {
    "use": re.compile(_VALUE + _USES),
    "prefer": re.compile(_VALUE + r"(?:을|를)\s+(?:더\s+|훨씬\s+)?선호"),
    "home": re.compile(_VALUE + r"에(?:서)?\s+(?:산다|삽니다|살고|살아|거주)"),
    "place": re.compile(_VALUE + r"에\s+(?:있다|있습니다|있음|위치)"),
    "work": re.compile(r"(?<![^\s,.])(?!(?:집|회사|재택|사무실|카페|[^\s,.]*팀)에)" + _VALUE + _WORKS),
    "owner": re.compile(_VALUE + r"(?:이|가)\s+(?:담당|맡|책임|관리|소유|이끈|이끌)"),
    "means": re.compile(_VALUE + _MEANS),
}
_OWNER = re.compile(
    r"^" + _VALUE + r"(?:이|가)\s+(?P<subject>[^,.]{1,20}?)(?:을|를)\s+(?:담당|맡|책임|관리|소유|이끈|이끌)"
)
_OWNED = re.compile(
    r"^(?P<subject>[^,.]{1,20}?)(?:의)?\s(?:담당자|책임자|소유자|팀장)(?:은|는)\s+"
    + _VALUE
    + r"(?:이다|입니다|임|이에요|예요)"
)
_WAYS = {
    "이사": ("home",), "이직": ("work",), "이전": ("place",), "옮겼": ("home", "place", "use"),
    "옮김": ("place", "use"), "옮긴": ("place", "use"),
}  # fmt: skip


def korean(text: str) -> list[Said]:
    """What a Korean statement says of its subject; nothing where it denies."""
    if re.search(r"지 (?:않|마|말|못)|없|아니|안 ", text):
        return []
    text = _NEWS.sub("", text)
    if owned := (_OWNED.match(text) or _OWNER.match(text)):
        return [Said(owned["subject"], "owner", owned["value"], "")]
    topic = _TOPIC.match(text)
    subject = topic["subject"] if topic else "we"
    subject = "we" if _WE.match(subject) else subject
    rest = text[topic.end() :] if topic else text
    instead = _INSTEAD.search(rest)
    gone = (instead["gone"] or instead["less"]) if instead else None
    after = rest[instead.end() :] if instead else rest
    if changed := _CHANGED.match(after):
        ways = _WAYS.get(changed["how"], ("use", "means", "prefer"))
        gone = gone or changed["gone"]
        if "요일" in changed["value"]:
            return []
        return [Said(subject, way, changed["value"], "", event=True) for way in ways] + (
            [Said(subject, way, gone, "", True) for way in ways] if gone else []
        )
    for relation, verb in _VERBS.items():
        found = verb.match(after)
        if found and (topic or gone):
            said = [Said(subject, relation, found["value"], "")]
            return [*said, *([Said(subject, relation, gone, "", True)] if gone else [])]
    return []
