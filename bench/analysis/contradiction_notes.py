"""Notes made by rule, in English and Korean: pairs of statements as people keep them, and whether they contradict.

The sets of inference are about pictures, books and medicine. What a memory holds is short and about settings, people,
days, prices and habits; these pairs teach the judge that a value of another subject is no contradiction.
"""

from __future__ import annotations

import random
from typing import NamedTuple

__all__ = ["Note", "notes"]


class Note(NamedTuple):
    """Two statements and whether they contradict each other."""

    a: str
    b: str
    conflict: bool


def _parts(text: str) -> list[str]:
    return text.split("|")


def _lines(text: str) -> list[str]:
    return text.split("/")


_EN_SUBJECTS = _parts(
    "the API timeout|the cache lifetime|the session limit|the retry delay|the connection timeout|the upload "
    "limit|the worker interval|the polling interval|the lock timeout|the token lifetime|the backup window|the queue "
    "delay"
)
_EN_SYSTEMS = _parts("billing|search|login|payment|reporting|mobile|email|staging|analytics|checkout|export|import")
_EN_UNITS = _parts("seconds|minutes|hours|days|retries|requests|megabytes")
_EN_PEOPLE = _parts(
    "Alice|Bob|Carol|David|Emma|Frank|Grace|Henry|Irene|Jack|Karen|Liam|Maria|Noah|Olivia|Peter|Sarah|Tom|Wendy|Victor"
)
_EN_SOLE = _parts(
    "leads the {x} team|is the owner of the {x} service|manages the {x} project|is the head of {x}|is in charge of "
    "{x}|is responsible for the {x} release|is the main contact for {x}|is the director of {x}"
)
_EN_SHARED = _parts(
    "works on the {x} team|likes the {x} page|tested the {x} service|joined the {x} call|reviewed the {x} "
    "change|attended the {x} meeting|knows the {x} code|has access to the {x} logs"
)
_EN_DAYS = _parts("Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday")
_EN_MONTHS = _parts("January|February|March|April|May|June|July|August|September|October|November|December")
_EN_EVENTS = _parts(
    "The {x} meeting is on {d}|The {x} review takes place on {d}|The {x} release is planned for {d}|The {x} deadline "
    "is {d}|The {x} demo was moved to {d}|We deploy {x} every {d}"
)
_EN_TOOLS = _parts(
    "PostgreSQL MySQL SQLite MongoDB|React Vue Svelte Angular|Python Go Rust Java|AWS Azure GCP|Slack Teams "
    "Discord|pytest unittest|Docker Podman|npm yarn pnpm|Redis Memcached|tabs spaces|Kafka RabbitMQ|Jira Linear"
)
_EN_SOLE_TOOL = _parts(
    "The {x} service runs on {t}|The default for the {x} project is {t}|The {x} backend is written in {t}|The main "
    "choice of the {x} team is {t}|{x} data is stored in {t}|The {x} team switched to {t}"
)
_EN_PLACES = _parts("Dublin|Frankfurt|Oslo|Vienna|Lisbon|Toronto|Chicago|Osaka|Madrid|Prague|Zurich|Austin")
_EN_PLACED = _parts(
    "The {x} server is hosted in {o}|{p} was born in {o}|The {x} conference takes place in {o}|{p} moved to {o}|The "
    "{x} warehouse stands in {o}|The new {x} printer is named {o}|The code name of the {x} release is {o}"
)
_EN_WENT = _parts("{p} travelled to {o} in {n}|{p} ran a marathon in {o} in {n}|{p} gave a talk in {o} in {n}")
_EN_FACTS = _parts(
    "The {x} page uses dark mode|The {x} server is encrypted|We run the {x} tests before every release|{p} eats "
    "meat|The {x} logs are kept for a year|{p} has a driving licence|The {x} endpoint requires a token|The {x} "
    "feature is enabled|{p} lives in Berlin|We deploy the {x} service on Fridays|{p} speaks French|The {x} report is "
    "public|{p} is allergic to nuts|The {x} database is backed up every night|{p} drinks coffee|The {x} form "
    "supports uploads"
)
_EN_DENIED = _parts(
    "The {x} page does not use dark mode|The {x} server is not encrypted|We never run the {x} tests before a "
    "release|{p} does not eat meat|The {x} logs are not kept for a year|{p} has no driving licence|The {x} endpoint "
    "does not require a token|The {x} feature is not enabled|{p} does not live in Berlin|Never deploy the {x} "
    "service on Fridays|{p} doesn't speak French|The {x} report is not public|{p} is not allergic to nuts|The {x} "
    "database is never backed up|{p} doesn't drink coffee|The {x} form does not support uploads"
)
_EN_OPPOSITE = _lines(
    "The {x} feature is enabled|The {x} feature is disabled/The {x} page is fast|The {x} page is slow/The {x} report "
    "is public|The {x} report is private/{p} accepted the {x} offer|{p} rejected the {x} offer/The {x} build "
    "passed|The {x} build failed/Sales of {x} increased in spring|Sales of {x} decreased in spring/{p} likes the {x} "
    "design|{p} hates the {x} design/The {x} job runs before the backup|The {x} job runs after the backup/The {x} "
    "door is open|The {x} door is closed/Always restart {x} after a change|Never restart {x} after a change/The {x} "
    "plan is cheap|The {x} plan is expensive/{p} is married|{p} is single/The {x} api is synchronous|The {x} api is "
    "asynchronous"
)
_EN_SAME = _lines(
    "The {x} feature is enabled|The {x} feature is turned on/The {x} server has {n} cores|There are {n} cores in the "
    "{x} server/{p} leads the {x} team|The {x} team is led by {p}/The {x} meeting is on {d}|We meet about {x} on "
    "{d}/{p} lives in Berlin|Berlin is where {p} lives/The {x} timeout is {n} seconds|Requests of {x} time out after "
    "{n} seconds/We use PostgreSQL for {x}|{x} data is in PostgreSQL/The {x} build failed|The build of {x} was not "
    "successful/{p} is a vegetarian|{p} does not eat meat/The {x} report is private|The {x} report is not public"
)
_EN_ADDED = _parts(
    " as agreed last week| because the old value caused errors| according to the handbook| for all customers| in the "
    "European region| since the last update| and this was tested twice|"
    " since 2021| in 3 of 5 regions| at 4 pm| on two machines"
)

_KO_SYSTEMS = _parts("결제|검색|로그인|정산|보고서|모바일|메일|스테이징|분석|주문|알림|배포")
_KO_SUBJECTS = _parts("시간 제한|캐시 유지 시간|재시도 간격|업로드 한도|세션 길이|백업 주기|토큰 유효 기간|대기 시간")
_KO_UNITS = _parts("초|분|시간|일|회|개")
_KO_PEOPLE = _parts("민수|지영|현우|수진|영호|미나|서준|하은|철수|영희|지훈|유리")
_KO_DAYS = _parts("월요일|화요일|수요일|목요일|금요일|토요일|일요일")
_KO_SOLE = _parts("{p}가 {x} 팀장이다|{x} 담당자는 {p}이다|{x} 프로젝트는 {p}가 맡고 있다|{x} 책임자는 {p}입니다")
_KO_SHARED = _parts(
    "{p}가 {x} 회의에 참석했다|{p}는 {x} 화면을 좋아한다|{p}가 {x} 코드를 검토했다|{p}는 {x} 팀에서 일한다"
)
_KO_EVENTS = _parts("{x} 회의는 {d}이다|{x} 배포는 {d}에 한다|{x} 마감일은 {d}입니다|{x} 발표는 {d}로 옮겼다")
_KO_PLACES = _parts("대전|대구|광주|인천|제주|수원|울산|강릉|청주|전주")
_KO_PLACED = _parts("{x} 서버는 {o}에 있다|{p}는 {o}에서 태어났다|{x} 창고는 {o}에 있다|{p}는 {o}로 이사했다")
_KO_DENIED = _lines(
    "{x} 서버는 암호화되어 있다|{x} 서버는 암호화되어 있지 않다/{p}는 고기를 먹는다|{p}는 고기를 먹지 않는다/{x} "
    "기능을 사용한다|{x} 기능을 사용하지 않는다/{p}는 서울에 산다|{p}는 서울에 살지 않는다/금요일에는 {x}를 "
    "배포한다|금요일에는 {x}를 배포하지 않는다/{x} 로그는 저장된다|{x} 로그는 저장되지 않는다/{p}는 운전면허가 "
    "있다|{p}는 운전면허가 없다/{x} 보고서는 공개다|{x} 보고서는 공개가 아니다/{p}는 커피를 마신다|{p}는 커피를 안 "
    "마신다/{x} 화면은 다크 모드를 지원한다|{x} 화면은 다크 모드를 지원하지 않는다"
)
_KO_OPPOSITE = _lines(
    "{x} 기능은 활성화되어 있다|{x} 기능은 비활성화되어 있다/{x} 매출이 증가했다|{x} 매출이 감소했다/{x} 테스트가 "
    "성공했다|{x} 테스트가 실패했다/{p}는 {x} 제안을 승인했다|{p}는 {x} 제안을 거부했다/{p}는 {x} 디자인을 "
    "좋아한다|{p}는 {x} 디자인을 싫어한다/{x} 작업은 백업 전에 실행한다|{x} 작업은 백업 후에 실행한다/{x} 요청은 "
    "항상 허용한다|{x} 요청은 절대 허용하지 않는다/{x} 비용이 높다|{x} 비용이 낮다"
)
_KO_SAME = _lines(
    "{x} 기능은 활성화되어 있다|{x} 기능이 켜져 있다/{p}가 {x} 팀장이다|{x} 팀을 이끄는 사람은 {p}다/{x} 회의는 "
    "{d}이다|{d}에 {x} 회의가 있다/{x} 시간 제한은 {n}초이다|{x} 요청은 {n}초 뒤에 끊긴다/{p}는 서울에 산다|{p}의 "
    "집은 서울에 있다/{p}는 채식주의자다|{p}는 고기를 먹지 않는다/{x} 보고서는 비공개다|{x} 보고서는 공개되지 않았다"
)
_KO_ADDED = _parts("지난주에 합의한 대로 |새 규정에 따라 |모든 고객에게 |테스트 결과 ")
_NUMBERS = (2, 3, 5, 7, 8, 10, 12, 15, 20, 24, 30, 45, 60, 90, 100, 120, 200, 256, 300, 365, 500, 512, 1000, 5000)


def notes(count: int, seed: int = 6) -> list[Note]:
    """So many pairs, a third of them contradictions, without repetition; the same for the same seed."""
    draw = random.Random(seed)
    wanted = {True: count // 3, False: count - count // 3}
    found: dict[tuple[str, str], Note] = {}
    makers = (_english, _korean)
    while sum(wanted.values()):
        for a, b, conflict in makers[draw.random() < 0.4](draw):
            if draw.random() < 0.5:
                a, b = b, a
            if wanted[conflict] and a != b and (a, b) not in found:
                found[a, b] = Note(a, b, conflict)
                wanted[conflict] -= 1
    return list(found.values())


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _english(draw: random.Random) -> list[tuple[str, str, bool]]:
    x, z = draw.sample(_EN_SYSTEMS, 2)
    p, q = draw.sample(_EN_PEOPLE, 2)
    d, e = draw.sample(_EN_DAYS if draw.random() < 0.6 else [f"{m} {draw.randint(1, 28)}" for m in _EN_MONTHS], 2)
    n, m = draw.sample(_NUMBERS, 2)
    s, r = draw.sample(_EN_SUBJECTS, 2)
    unit = draw.choice(_EN_UNITS)
    match draw.randint(-1, 7):
        case -1:
            line, other = draw.sample(_EN_PLACED, 2)
            o, w = draw.sample(_EN_PLACES, 2)
            if draw.random() < 0.3:
                went = draw.choice(_EN_WENT)
                some = [went.format(p=p, o=place, n=2010 + draw.randint(0, 14)) for place in (o, w)]
                return [(some[0], some[1], False), (f"{p} enjoys {x}", f"{p} enjoys {z}", False)]
            first = line.format(x=x, p=p, o=o)
            found = [(first, line.format(x=x, p=p, o=w), True), (first, line.format(x=z, p=q, o=w), False)]
            return [
                *found,
                (first, other.format(x=z, p=q, o=o), False),
                (first, f"{first}{draw.choice(_EN_ADDED)}", False),
            ]
        case 0:
            of = f" of the {x} service" if draw.random() < 0.5 else ""
            other = of.replace(x, z)
            first = _upper(f"{s}{of} is {n} {unit}")
            verb = draw.choice(("is", "was set to", "should be", "must be"))
            found = [
                (first, _upper(f"{s}{of} {verb} {m} {unit}"), True),
                (first, _upper(f"{r}{of} is {m} {unit}"), False),
            ]
            found += [(first, _upper(f"{s}{other} is {m} {unit}"), False)] if of else []
            found += [(first, _upper(f"{s}{of} {verb} {n} {unit}"), False)]
            return [*found, (first, f"{first}{draw.choice(_EN_ADDED)}", False)]
        case 1:
            sole, shared = draw.choice(_EN_SOLE), draw.choice(_EN_SHARED)
            first = f"{p} {sole.format(x=x)}"
            found = [(first, f"{q} {sole.format(x=x)}", True), (first, f"{q} {sole.format(x=z)}", False)]
            found += [(f"{p} {shared.format(x=x)}", f"{q} {shared.format(x=x)}", False)]
            return [*found, (first, f"{q} {shared.format(x=x)}", False)]
        case 2:
            event, other = draw.sample(_EN_EVENTS, 2)
            first = event.format(x=x, d=d)
            found = [(first, event.format(x=x, d=e), True), (first, event.format(x=z, d=e), False)]
            return [*found, (first, other.format(x=z, d=d), False)]
        case 3:
            tools = draw.choice(_EN_TOOLS).split()
            t, u = draw.sample(tools, 2)
            line = draw.choice(_EN_SOLE_TOOL)
            first = _upper(line.format(x=x, t=t))
            also = (f"{p} knows {t}", f"{p} also knows {u}", False)
            return [(first, _upper(line.format(x=x, t=u)), True), (first, _upper(line.format(x=z, t=u)), False), also]
        case 4 | 5:
            at = draw.randrange(len(_EN_FACTS))
            first, denied = _EN_FACTS[at].format(x=x, p=p), _EN_DENIED[at].format(x=x, p=p)
            other = _EN_DENIED[at].format(x=z, p=q)
            third = draw.choice(_EN_DENIED[:at] + _EN_DENIED[at + 1 :]).format(x=x, p=p)
            added = f"{denied}{draw.choice(_EN_ADDED)}"
            return [(first, denied, True), (first, other, False), (first, third, False), (denied, added, False)]
        case 6:
            one, two = draw.choice(_EN_OPPOSITE).split("|")
            first = _upper(one.format(x=x, p=p))
            return [(first, _upper(two.format(x=x, p=p)), True), (first, _upper(two.format(x=z, p=q)), False)]
        case _:
            one, two = draw.choice(_EN_SAME).split("|")
            return [(_upper(one.format(x=x, p=p, d=d, n=n)), _upper(two.format(x=x, p=p, d=d, n=n)), False)]


def _korean(draw: random.Random) -> list[tuple[str, str, bool]]:
    x, z = draw.sample(_KO_SYSTEMS, 2)
    p, q = draw.sample(_KO_PEOPLE, 2)
    d, e = draw.sample(_KO_DAYS, 2)
    n, m = draw.sample(_NUMBERS, 2)
    s, r = draw.sample(_KO_SUBJECTS, 2)
    unit = draw.choice(_KO_UNITS)
    match draw.randint(-1, 5):
        case -1:
            line, o, w = draw.choice(_KO_PLACED), *draw.sample(_KO_PLACES, 2)
            if draw.random() < 0.3:
                return [
                    (f"{p}는 {o} 여행을 즐긴다", f"{p}는 {w} 여행을 즐긴다", False),
                    (f"{p}는 {x}을 배웠다", f"{p}는 {z}을 배웠다", False),
                ]
            first = line.format(x=x, p=p, o=o)
            return [(first, line.format(x=x, p=p, o=w), True), (first, line.format(x=z, p=q, o=w), False)]
        case 0:
            end = draw.choice(("이다", "입니다", "로 정했다"))
            first = f"{x} {s}은 {n}{unit}이다"
            found = [(first, f"{x} {s}은 {m}{unit}{end}", True), (first, f"{z} {s}은 {m}{unit}{end}", False)]
            found += [(first, f"{x} {r}은 {m}{unit}{end}", False), (first, f"{x} {s}은 {n}{unit}{end}", False)]
            return [*found, (first, draw.choice(_KO_ADDED) + first, False)]
        case 1:
            sole, shared = draw.choice(_KO_SOLE), draw.choice(_KO_SHARED)
            first = sole.format(x=x, p=p)
            found = [(first, sole.format(x=x, p=q), True), (first, sole.format(x=z, p=q), False)]
            return [*found, (shared.format(x=x, p=p), shared.format(x=x, p=q), False)]
        case 2:
            event, other = draw.sample(_KO_EVENTS, 2)
            first = event.format(x=x, d=d)
            found = [(first, event.format(x=x, d=e), True), (first, event.format(x=z, d=e), False)]
            return [*found, (first, other.format(x=z, d=d), False)]
        case 3 | 4:
            one, two = draw.choice(_KO_DENIED if draw.random() < 0.6 else _KO_OPPOSITE).split("|")
            first = one.format(x=x, p=p)
            found = [(first, two.format(x=x, p=p), True), (first, two.format(x=z, p=q), False)]
            return [*found, (two.format(x=x, p=p), draw.choice(_KO_ADDED) + two.format(x=x, p=p), False)]
        case _:
            one, two = draw.choice(_KO_SAME).split("|")
            return [(one.format(x=x, p=p, d=d, n=n), two.format(x=x, p=p, d=d, n=n), False)]
