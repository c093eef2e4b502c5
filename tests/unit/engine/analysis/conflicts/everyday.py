"""Everyday notes, two by two: what cannot both hold, what may, and series of one form."""

from __future__ import annotations

__all__ = ["CLASHING", "PEACEFUL", "SERIES", "UNSURE", "pairs"]


def pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of a text, one a line, with a stroke between the two."""
    rows = [line.strip().split(" / ") for line in text.strip().splitlines()]
    return [(one, other) for one, other in rows]


CLASHING = pairs("""
    Ann leads the payments team. / Bob leads the payments team since June 2026.
    We deploy on Fridays. / Never deploy on Fridays.
    회의는 월요일 오전 10시이다. / 회의는 화요일 오전 10시이다.
    Always lock the harbour gate after sunset. / Never lock the harbour gate after sunset.
    Since 1 March 2025 the harbour fee is 20 euros. / Since 1 May 2026 the harbour fee is 30 euros.
    The depot is in Lisbon. / The depot is in Porto.
    The harbour is deep. / The harbour is shallow.
    The archive server runs Debian. / The archive server runs Fedora.
    Our supplier is Meyer. / Our supplier is Schmidt.
    Fishing is allowed at the quay. / Fishing is forbidden at the quay.
    The north buoy is red. / The north buoy is green.
    The staging cluster runs on Hetzner. / The staging cluster runs on Azure.
    Clara is the treasurer of the choir. / Martin is the treasurer of the choir.
    The spare key is under the mat. / The spare key is in the shed.
    Passwords are hashed with bcrypt. / Passwords are hashed with argon2.
    Use tabs for indentation. / Use spaces for indentation.
    The laptop belongs to Nadia. / The laptop belongs to Viktor.
    The staging database is refreshed daily. / The staging database is refreshed weekly.
    Dad takes his pills before breakfast. / Dad takes his pills after breakfast.
    We ship to Norway. / We do not ship to Norway.
    우리 공급업체는 한빛이다. / 우리 공급업체는 대성이다.
    주차장은 무료이다. / 주차장은 유료이다.
    여권은 서랍에 있다. / 여권은 금고에 있다.
    소라가 디자인팀을 이끈다. / 지훈이 디자인팀을 이끈다.
    강아지에게 닭고기를 주세요. / 강아지에게 닭고기를 주지 마세요.
    백업은 매일 실행된다. / 백업은 매주 실행된다.
    환불은 14일 이내에 가능하다. / 환불은 30일 이내에 가능하다.
    세미나는 온라인으로 진행된다. / 세미나는 오프라인으로 진행된다.
    유진은 채식주의자이다. / 유진은 채식주의자가 아니다.
""")

# Whether both hold depends on what the words mean: told to those who want to hear of everything.
UNSURE = pairs("""
    The mushroom is edible. / The mushroom is poisonous.
    The goalkeeper is injured. / The goalkeeper is fit.
    사무실은 넓다. / 사무실은 밝다.
""")

PEACEFUL = pairs("""
    We use Slack. / We use Zoom.
    Lea likes jazz. / Lea likes opera.
    The house has a garden. / The house has a garage.
    Tom knows Latin. / Tom knows Greek.
    Ann is a member of the board. / Bob is a member of the board.
    Ida works in the kitchen. / Max works in the kitchen.
    Day 3: we walked 14 km. / Day 4: we walked 19 km.
    Invoice 104 was paid. / Invoice 105 was not paid.
    Chapter 3 is about rivers. / Chapter 4 is about lakes.
    Room 12 has a projector. / Room 14 has no projector.
    Version 2.1 supports Windows. / Version 2.2 does not support Windows.
    The measurement at 08:00 was 12 degrees. / The measurement at 14:00 was 19 degrees.
    The blood pressure was 128 in the morning. / The blood pressure was 135 in the evening.
    Emma visited Rome in 2019. / Emma visited Oslo in 2021.
    The front door is red. / The back door is green.
    Order #88 was shipped. / Order #89 was cancelled.
    Ida is a doctor. / Ida is a mother.
    The server in Oslo is down. / The server in Rome is up.
    Dad takes vitamin D. / Dad takes magnesium.
    The team won on 3 May. / The team won on 10 May.
    우리는 슬랙을 쓴다. / 우리는 줌을 쓴다.
    지수는 재즈를 좋아한다. / 지수는 오페라를 좋아한다.
    3일차: 14km를 걸었다. / 4일차: 19km를 걸었다.
    민지는 이사회 위원이다. / 준호는 이사회 위원이다.
    카페에는 와이파이가 있다. / 카페에는 주차장이 있다.
    빌드 881은 실패했다. / 빌드 882는 성공했다.
    주문 88번은 발송되었다. / 주문 89번은 취소되었다.
""")

SERIES = [
    [f"The ship number {n} moored at pier {n % 3} with {n + 5} sailors." for n in range(12)],
    [f"The baker used {n + 3} sacks of flour for rye loaf {n}." for n in range(12)],
    [f"Day {n}: the caravan walked {n * 7 % 11 + 9} miles." for n in range(1, 9)],
    [f"Takings at the stall were {n * 37 % 90 + 100} euros." for n in range(3)],
    [f"Invoice {n} was {'paid' if n % 3 else 'cancelled'}." for n in range(200, 212)],
    [f"The thermometer shows {n * 5 % 13 + 10} degrees." for n in range(8)],
    [f"The water level of the dam is {n * 5 % 13 + 10} metres." for n in range(8)],
    [f"Release v{n}.0 of the parser takes {n * 7 % 10 + 2} seconds." for n in range(1, 9)],
    [f"{n}번 배가 {n % 3 + 1}번 부두에 선원 {n + 5}명과 정박했다." for n in range(8)],
    [f"오늘 기온은 {n * 5 % 13 + 10}도였다." for n in range(8)],
    [f"{name} is a guard at the lighthouse." for name in ("Udo", "Ilse", "Karl", "Britta")],
    [f"The cellar holds {what}." for what in ("turnips", "cider", "barrels", "candles", "ropes")],
]
