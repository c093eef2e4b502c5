"""Sentences of which no two are about the same thing, in two languages."""

from __future__ import annotations

__all__ = ["UNRELATED"]

UNRELATED = tuple(
    line.strip()
    for line in """
    The gateway does not retry failed payments.
    Anna is allergic to hazelnuts.
    Sourdough needs twelve hours to rise.
    The ferry to Naxos leaves at seven in the morning.
    Nobody has found the missing invoice yet.
    Our landlord raised the rent by four percent.
    A violin has four strings.
    The build fails when the cache is cold.
    Penguins cannot fly.
    The museum is closed on Tuesdays.
    My grandmother never learned to drive.
    Photosynthesis turns light into sugar.
    The board rejected the merger.
    This camera has no viewfinder.
    We always deploy from the main branch.
    Basil dies at the first frost.
    The defendant was acquitted in 1998.
    Marathon runners should not drink too little.
    The lease of the warehouse ends in March.
    Copper conducts better than iron.
    Tomas plays the trumpet in a wedding band.
    No passwords are kept in the repository.
    The second act of the opera is the longest.
    Rain delayed the harvest by two weeks.
    The clinic accepts patients without an appointment.
    Her thesis is about medieval trade routes.
    Chess was added to the curriculum.
    The elevator is out of order.
    Do not water the cactus in winter.
    The satellite lost contact with the ground station.
    Most of the volunteers are students.
    Whales sleep with half of their brain.
    The printer on the third floor is out of toner.
    Lisbon was rebuilt after an earthquake.
    The novel has no chapters.
    Ticket prices went down last season.
    결제 서버는 자정에 재시작하지 않는다.
    민수는 매운 음식을 먹지 못한다.
    도서관은 월요일에 문을 닫는다.
    고양이는 하루에 열여섯 시간을 잔다.
    새 아파트에는 엘리베이터가 없다.
    김치는 겨울이 오기 전에 담근다.
    회의록은 금요일까지 제출해야 한다.
    그 배우는 인터뷰를 하지 않는다.
    한강의 수위가 2미터 올랐다.
    할머니는 텃밭에서 고추를 기르신다.
    기차표는 이미 매진되었다.
    우리 팀은 스크럼을 사용한다.
    달에는 공기가 없다.
    이 책은 절판되었다.
    지하철 9호선은 급행열차를 운행한다.
    의사는 커피를 줄이라고 했다.
    백업은 아무도 확인하지 않았다.
    그 소설은 열두 개 언어로 번역되었다.
    수영장은 공사 중이다.
    참치는 멈추지 않고 헤엄친다.
    신입 사원은 다음 주에 입사한다.
    건조기는 양모 옷에 사용하면 안 된다.
    피아노는 조율이 필요하다.
    도쿄 지사의 임대 계약이 끝났다.
    """.strip().splitlines()
)
