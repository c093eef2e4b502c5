"""Projects in which it is known what clashes: notes of a small company in two languages, and what was planted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from polymnia import EntityDraft, Filters, Memory
from polymnia.engine.analysis.actions import Action, AddObservations, Delete, DeleteObservations, Update
from polymnia.engine.analysis.conflicts import Clashes, conflicts
from polymnia.engine.analysis.material import Material
from polymnia.engine.search import Analysis
from polymnia.engine.search import Finding as Search
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

from ...search.toys import Toy

__all__ = ["DAY", "INNOCENT", "NOW", "PLANTED", "Desk", "Planted", "shuffled"]

T = TypeVar("T")

DAY = 86_400_000_000
NOW = 1_750_000_000_000_000

FACT, TIME, ADVICE, LOGIC = (
    "factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts",
)  # fmt: skip


class Planted(NamedTuple):
    """Two statements that clash, and as what they are to be reported; ``action`` is what may be done about it."""

    type: str
    subtype: str
    a: str
    b: str
    action: str = "keep_newest"


# The second of each was stored later.
PLANTED = [
    Planted(
        FACT,
        "number",
        "The upload limit of the archive service is 20 MB.",
        "The archive service has an upload limit of 50 MB.",
    ),
    Planted(
        FACT, "negation", "The billing service stores card numbers.", "The billing service does not store card numbers."
    ),
    Planted(FACT, "number", "결제 서버의 포트는 8080이다.", "결제 서버의 포트는 9090이다."),
    Planted(
        FACT, "negation", "모바일 앱은 오프라인 모드를 지원합니다.", "모바일 앱은 오프라인 모드를 지원하지 않습니다."
    ),
    Planted(
        FACT,
        "date",
        "The deadline for the Helios proposal is 14 March 2025.",
        "The deadline for the Helios proposal is 28 March 2025.",
    ),
    Planted(TIME, "superseded", "The gateway timeout is 30 seconds.", "The gateway timeout is now 10 seconds."),
    Planted(TIME, "superseded", "백업 보관 기간은 30일이다.", "백업 보관 기간은 이제 90일이다."),
    Planted(
        TIME, "superseded", "The nightly report is sent to Marcus.", "The nightly report is no longer sent to Marcus."
    ),
    Planted(
        TIME,
        "impossible_order",
        "The Orion migration started on 2025-05-12.",
        "The Orion migration finished on 2025-04-02.",
        "ask",
    ),
    Planted(
        ADVICE,
        "do_and_do_not",
        "Always squash commits before merging to main.",
        "Never squash commits before merging to main.",
    ),
    Planted(
        ADVICE, "do_and_do_not", "운영 데이터베이스에 직접 접속하세요.", "운영 데이터베이스에 직접 접속하지 마세요."
    ),
    Planted(
        ADVICE, "do_and_do_not", "Use feature flags for risky releases.", "Avoid feature flags for risky releases."
    ),
    Planted(LOGIC, "exclusive_states", "Ticket HEL-204 is open.", "Ticket HEL-204 is closed."),
    Planted(
        LOGIC, "exclusive_states", "다크 모드 플래그는 활성화 상태입니다.", "다크 모드 플래그는 비활성화 상태입니다."
    ),
]

# The same sentences about other things: in this order of subjects nothing clashes.
OTHERS = {
    "archive service": "ledger service", "billing service": "catalogue service", "결제 서버": "재고 서버",
    "모바일 앱": "데스크톱 앱", "Helios": "Vega", "gateway timeout": "proxy timeout", "백업": "계약서",
    "nightly report": "quarterly report", "Orion": "Lyra", "squash commits": "squash tags",
    "운영 데이터베이스": "운영 대시보드", "risky releases": "security fixes", "HEL-204": "HEL-205",
    "다크 모드": "베타 모드",
}  # fmt: skip


def shuffled() -> list[str]:
    """The second sentence of each planted pair, about something else."""
    found = []
    for _, _, _, text, _ in PLANTED:
        for one, other in OTHERS.items():
            text = text.replace(one, other)
        found.append(text)
    return found


# Notes among which nothing clashes, though much of it looks alike.
INNOCENT = """
The search service listens on port 7001.
The mail service listens on port 7002.
The image service listens on port 7003.
The upload limit of the avatar service is 2 MB.
The upload limit of the video service is 500 MB.
The staging gateway timeout is 60 seconds.
The worker queue timeout is 45 seconds.
Priya works at the Lisbon office.
Marcus works at the Berlin office.
Ines works at the Oslo office.
Priya likes green tea.
Priya likes oat milk.
Marcus plays the cello.
Ines does not drink coffee.
Marcus drinks coffee every morning.
The deadline for the Nova proposal is 2 April 2025.
The deadline for the Atlas proposal is 9 May 2025.
We met the Helios team on 3 February 2025.
We met the Helios team on 10 February 2025.
Standup on Monday covered the release plan.
Standup on Tuesday covered the release plan and two incidents.
The first incident lasted 12 minutes.
The second incident lasted 47 minutes.
Deployed version 2.3.1 of the portal on 4 January 2025.
Deployed version 2.4.0 of the portal on 18 January 2025.
The retry limit used to be 3, now it is 5.
If the cache is cold, the first request takes 4 seconds.
Is the gateway timeout 20 seconds?
Maybe the gateway timeout should be 5 seconds.
The portal is written in TypeScript.
The scheduler is written in Go.
The importer is written in Python.
The portal is fast.
The portal has a dark theme.
Ticket HEL-198 is closed.
Ticket HEL-201 is open.
Ticket HEL-207 is open.
The export flag is enabled in staging.
The import flag is disabled in production.
Always write a changelog entry for user-facing changes.
Never commit secrets to the repository.
Use snake case for database columns.
Use camel case for JSON fields.
Avoid force pushes on shared branches.
Prefer small pull requests.
Do not deploy on public holidays.
Deploy the portal with the release script.
Rotate the signing keys every 90 days.
Rotate the API tokens every 30 days.
The backup of the wiki runs at 02:00.
The backup of the database runs at 03:30.
The office in Lisbon opens at 9 am.
The office in Berlin opens at 8 am.
The Atlas project started on 2024-09-02.
The Atlas project finished on 2025-02-14.
The Nova project started on 2025-01-07.
Customer Brandt pays 400 euros a month.
Customer Okafor pays 650 euros a month.
Customer Lindqvist has 12 seats.
Customer Brandt has 30 seats.
The onboarding guide has four chapters.
The security guide has nine chapters.
Chapter two of the onboarding guide explains accounts.
The test suite takes 6 minutes.
The lint step takes 40 seconds.
The portal supports Firefox and Chrome.
The portal supports Safari since version 2.2.
The mobile app supports Android 12 and later.
The CLI does not support Windows XP.
Logs are kept for 14 days.
Metrics are kept for 13 months.
Traces are kept for 3 days.
The main branch is protected.
The docs branch is not protected.
The wiki is public.
The handbook is private.
Our lawyer is Ms. Duarte.
Our accountant is Mr. Falk.
The kitchen on the second floor has a new oven.
The meeting room Elba seats 8 people.
The meeting room Tiber seats 14 people.
Elba has a whiteboard.
Tiber has no whiteboard.
The parcel from Porto arrived on Wednesday.
The parcel from Ghent arrived on Friday.
The printer on floor three is broken.
The printer on floor one works again.
Helios wants a demo in April.
Nova wants a demo in June.
The contract with Helios runs for 24 months.
The contract with Nova runs for 12 months.
검색 서버의 포트는 7070이다.
알림 서버의 포트는 7171이다.
민지는 서울 사무실에서 근무한다.
준호는 부산 사무실에서 근무한다.
민지는 고양이를 키운다.
준호는 커피를 마시지 않는다.
민지는 커피를 좋아한다.
로그 보관 기간은 14일이다.
영수증 보관 기간은 5년이다.
웹 앱은 오프라인 모드를 지원하지 않습니다.
모바일 앱은 지문 인식을 지원합니다.
관리자 페이지는 영어를 지원합니다.
월요일 회의에서 예산을 논의했다.
화요일 회의에서 채용을 논의했다.
테스트 데이터베이스에 직접 접속해도 된다.
비밀번호를 저장소에 올리지 마세요.
배포 전에 변경 기록을 작성하세요.
커밋 메시지는 영어로 작성하세요.
실험 기능 플래그는 비활성화 상태입니다.
알림 플래그는 활성화 상태입니다.
겨울 행사는 2024년 12월 3일에 열렸다.
봄 행사는 2025년 4월 8일에 열렸다.
1회의실에는 8명이 앉을 수 있다.
2회의실에는 20명이 앉을 수 있다.
만약 서버가 멈추면 당직자에게 전화한다.
예전에는 점심시간이 12시였다.
점심시간은 11시 30분이다.
""".strip().splitlines()


class Desk:
    """A store of one project, and questions to it."""

    def __init__(self, path: Path, *, meaning: bool = True) -> None:
        self._made = 0
        store = SqliteStore(str(path / "memory.db"), analyst=Analysis())
        embedders = [Toy()] if meaning else []
        self.memory = Memory(store, finding=Search(lambda: Finder(store, embedders=embedders)))

    def note(self, text: str, day: float = 0, **more: Any) -> str:
        """Store a note as it would have been so many days after the first; answers its id."""
        at = NOW - 300 * DAY + round(day * DAY)
        self._made += 1
        uid = f"content_{self._made:012x}"
        self.memory.create_entities(
            [EntityDraft(uid, more.pop("kind", "content"), (text,), uid=uid, created=at, updated=at, **more)]
        )
        return uid

    def notes(self, texts: list[str], day: int = 0) -> list[str]:
        return [self.note(text, day) for text in texts]

    def entity(self, name: str, *observations: str, day: int = 0) -> None:
        at = NOW - 300 * DAY + day * DAY
        self.memory.create_entities([EntityDraft(name, "thing", observations, created=at, updated=at)])

    def apply(self, steps: tuple[Action, ...]) -> None:
        """Do what was suggested."""
        assert steps
        for step in steps:
            self._do(step)

    def _do(self, step: Action) -> None:
        match step:
            case Update():
                self.memory.update_item(step.id, text=step.content, metadata=step.metadata)
            case Delete():
                self.memory.delete_item(step.id)
            case DeleteObservations():
                self.memory.delete_observations([(step.name, list(step.texts))])
            case AddObservations():
                self.memory.add_observations([(step.name, list(step.texts))])
            case _:
                raise AssertionError(step)

    def read(self, ask: Callable[[Material], T], **wanted: Any) -> T:
        finder = self.memory.finding()
        finder.reindex(self.memory.project, lambda *_: None)
        return finder.look(self.memory.project, lambda look: ask(Material(look, wanted=Filters(**wanted), now=NOW)))

    def conflicts(self, *ids: str, **asked: Any) -> Clashes:
        """What is found in the project, or among some items."""
        wanted = asked.pop("wanted", {})

        def ask(material: Material) -> Clashes:
            among = list(material.snapshot.ids_of(ids).values()) if ids else None
            return conflicts(material, among=among, **asked)

        return self.read(ask, **wanted)
