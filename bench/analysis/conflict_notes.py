"""Everyday notes, two by two: pairs that cannot both hold, pairs that look so and can, and series of one form.

About three of ten pairs, by their text alone, are held out: no rule was set by looking at what became of them.
"""

from __future__ import annotations

from zlib import crc32

__all__ = ["CLASHING", "PEACEFUL", "SERIES", "held_out"]

_GIVEN = 11  # pairs that every build was to find
_TESTED = frozenset(
    {
        "The laptop belongs to Nadia.", "We use Slack.", "The house has a garden.", "Tom knows Latin.",
        "Day 3: we walked 14 km.", "Version 2.1 supports Windows.",
    }
)  # fmt: skip


def held_out(pair: tuple[str, str]) -> bool:
    """Whether a pair is kept for measuring; what was given, or is in a test, is not."""
    return crc32(pair[0].encode()) % 10 < 3 and pair not in CLASHING[:_GIVEN] and pair[0] not in _TESTED


def _pairs(text: str) -> list[tuple[str, str]]:
    rows = [line.strip().split(" / ") for line in text.strip().splitlines()]
    return [(one, other) for one, other in rows]


CLASHING = _pairs("""
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
    The choir rehearses on Tuesday evenings. / The choir rehearses on Thursday evenings.
    The rent of the studio is 900 euros. / The rent of the studio is 1100 euros.
    The vet said the dog must not eat chicken. / The vet said the dog may eat chicken.
    My locker code is 3391. / My locker code is 7720.
    The wedding is on 4 June 2027. / The wedding is on 11 June 2027.
    The library closes at six. / The library closes at eight.
    Grandma's house has a cellar. / Grandma's house has no cellar.
    The invoice template is stored in Dropbox. / The invoice template is stored in SharePoint.
    The heating is off in May. / The heating is on in May.
    Milo is allergic to peanuts. / Milo is not allergic to peanuts.
    The spare key is under the mat. / The spare key is in the shed.
    The bakery on Elm Street is closed on Mondays. / The bakery on Elm Street is open on Mondays.
    The API returns JSON by default. / The API returns XML by default.
    Passwords are hashed with bcrypt. / Passwords are hashed with argon2.
    The primary database is PostgreSQL. / The primary database is MySQL.
    Tests run in parallel. / Tests run one after another.
    The beta flag is required for uploads. / The beta flag is optional for uploads.
    Reviews need two approvals. / Reviews need one approval.
    The default branch is main. / The default branch is develop.
    Use tabs for indentation. / Use spaces for indentation.
    Do not store tokens in cookies. / Store tokens in cookies.
    Invoices are sent on the first of the month. / Invoices are sent on the last day of the month.
    The train to Basel leaves from platform 4. / The train to Basel leaves from platform 9.
    Jonas is married to Eva. / Jonas is married to Lena.
    The roof of the barn is made of slate. / The roof of the barn is made of tin.
    The capital of the fictional realm Arda is Belor. / The capital of the fictional realm Arda is Minas.
    The hero of the novel dies at the end. / The hero of the novel survives at the end.
    The kitchen tap is fixed. / The kitchen tap is broken.
    Yoga class is in the blue room. / Yoga class is in the green room.
    Sofia owns the summer cottage. / Peter owns the summer cottage.
    The laptop belongs to Nadia. / The laptop belongs to Viktor.
    The museum is free on Sundays. / The museum costs 8 euros on Sundays.
    The new intern is called Theo. / The new intern is called Felix.
    Water the orchid every week. / Water the orchid every month.
    Never prune the roses in autumn. / Prune the roses in autumn.
    The sourdough bakes at 230 degrees. / The sourdough bakes at 200 degrees.
    The car needs winter tyres from October. / The car does not need winter tyres.
    Our landlord lives in Graz. / Our landlord lives in Linz.
    The patient is diabetic. / The patient is not diabetic.
    The contract ends on 31 December 2026. / The contract ends on 30 June 2027.
    The ferry to the island takes 40 minutes. / The ferry to the island takes 90 minutes.
    Smoking is permitted on the balcony. / Smoking is prohibited on the balcony.
    The mail server is hosted in Frankfurt. / The mail server is hosted in Dublin.
    The project language is Rust. / The project language is Go.
    Logs must be kept for a year. / Logs must be deleted after a month.
    Paula reports to Henrik. / Paula reports to Mirjam.
    The café accepts cards. / The café does not accept cards.
    The tent is waterproof. / The tent is not waterproof.
    The bridge is open to trucks. / The bridge is closed to trucks.
    The pump is left of the boiler. / The pump is right of the boiler.
    The exam is oral. / The exam is written.
    Our team meets every Monday. / Our team meets every Wednesday.
    The speaker of the evening is Dr. Kaya. / The speaker of the evening is Dr. Brandt.
    The cat is male. / The cat is female.
    We ship to Norway. / We do not ship to Norway.
    결제팀장은 김민지이다. / 결제팀장은 박준호이다.
    서버는 데비안에서 실행된다. / 서버는 페도라에서 실행된다.
    사무실은 서울에 있다. / 사무실은 부산에 있다.
    우리 공급업체는 한빛이다. / 우리 공급업체는 대성이다.
    금요일에는 배포한다. / 금요일에는 배포하지 않는다.
    도서관은 일요일에 연다. / 도서관은 일요일에 열지 않는다.
    주차장은 무료이다. / 주차장은 유료이다.
    강아지에게 닭고기를 주세요. / 강아지에게 닭고기를 주지 마세요.
    여권은 서랍에 있다. / 여권은 금고에 있다.
    월세는 50만원이다. / 월세는 60만원이다.
    기본 언어는 영어이다. / 기본 언어는 한국어이다.
    합창 연습은 수요일이다. / 합창 연습은 목요일이다.
    이 약은 식전에 먹는다. / 이 약은 식후에 먹는다.
    민수는 땅콩 알레르기가 있다. / 민수는 땅콩 알레르기가 없다.
    수영장은 여름에 개방된다. / 수영장은 여름에 폐쇄된다.
    출장 경비는 월말에 정산한다. / 출장 경비는 분기마다 정산한다.
    백업은 매일 실행된다. / 백업은 매주 실행된다.
    테스트 서버는 켜져 있다. / 테스트 서버는 꺼져 있다.
    소라가 디자인팀을 이끈다. / 지훈이 디자인팀을 이끈다.
    이 문은 항상 잠근다. / 이 문은 잠그지 않는다.
    행사 장소는 코엑스이다. / 행사 장소는 벡스코이다.
    환불은 14일 이내에 가능하다. / 환불은 30일 이내에 가능하다.
    Lena's birthday is 3 April. / Lena's birthday is 13 April.
    Our wifi password is bluefish. / Our wifi password is redfox.
    Dad takes his pills before breakfast. / Dad takes his pills after breakfast.
    The nearest pharmacy is on Mill Road. / The nearest pharmacy is on Castle Street.
    The sprint review takes place on Wednesdays. / The sprint review takes place on Fridays.
    Feature branches are deleted after merging. / Feature branches are kept after merging.
    The retention period for logs is two weeks. / The retention period for logs is six weeks.
    Marco is the product owner for checkout. / Silvia is the product owner for checkout.
    The CI pipeline uses Node 18. / The CI pipeline uses Node 22.
    Errors are reported to Sentry. / Errors are reported to Rollbar.
    The company was founded in 1998. / The company was founded in 2001.
    The author of the letter is unknown. / The author of the letter is known.
    My passport expires in 2029. / My passport expires in 2031.
    The mushroom is edible. / The mushroom is poisonous.
    The lift goes up to the fifth floor. / The lift goes up to the seventh floor.
    Guests must check out by 10 am. / Guests must check out by noon.
    Pets are welcome in the cabin. / Pets are not welcome in the cabin.
    The warranty covers water damage. / The warranty does not cover water damage.
    The maximum group size is 12. / The maximum group size is 20.
    Rehearsal starts at half past six. / Rehearsal starts at seven.
    Karin is vegetarian. / Karin eats meat.
    The workshop is held in German. / The workshop is held in English.
    The bike lock combination is 4-7-1. / The bike lock combination is 9-2-5.
    The boiler was installed in 2015. / The boiler was installed in 2018.
    All endpoints require authentication. / Some endpoints do not require authentication.
    The window faces north. / The window faces south.
    Nina's blood type is A. / Nina's blood type is B.
    The staging database is refreshed daily. / The staging database is refreshed weekly.
    The package manager is npm. / The package manager is pnpm.
    Commit messages are written in English. / Commit messages are written in Korean.
    The office plant needs a lot of light. / The office plant needs little light.
    The gym is closed in August. / The gym is open in August.
    Oskar lives with his parents. / Oskar lives alone.
    Avoid caffeine after lunch. / Drink coffee after lunch.
    The train from Ulm arrives at 17:05. / The train from Ulm arrives at 17:35.
    Turn the compost every two weeks. / Never turn the compost.
    The director approved the budget. / The director rejected the budget.
    The cake contains nuts. / The cake contains no nuts.
    Visitors may park in the yard. / Visitors may not park in the yard.
    The goalkeeper is injured. / The goalkeeper is fit.
    회의실 예약은 총무팀이 담당한다. / 회의실 예약은 인사팀이 담당한다.
    점심시간은 12시부터이다. / 점심시간은 11시부터이다.
    와이파이 비밀번호는 바다이다. / 와이파이 비밀번호는 하늘이다.
    고객센터 전화번호는 1588이다. / 고객센터 전화번호는 1644이다.
    카페에서는 반려동물을 데려올 수 있다. / 카페에서는 반려동물을 데려올 수 없다.
    프로젝트 마감은 6월 3일이다. / 프로젝트 마감은 6월 10일이다.
    운영 서버는 우분투를 사용한다. / 운영 서버는 센토스를 사용한다.
    이 길은 일방통행이다. / 이 길은 일방통행이 아니다.
    로그는 30일 동안 보관한다. / 로그는 90일 동안 보관한다.
    유진은 채식주의자이다. / 유진은 채식주의자가 아니다.
    비상구는 왼쪽에 있다. / 비상구는 오른쪽에 있다.
    세미나는 온라인으로 진행된다. / 세미나는 오프라인으로 진행된다.
    코드 리뷰는 필수이다. / 코드 리뷰는 선택이다.
    배송비는 무료입니다. / 배송비는 3000원입니다.
    민호가 이 가게의 주인이다. / 태우가 이 가게의 주인이다.
    The parking permit costs 45 euros a year. / The parking permit costs 60 euros a year.
    Tove is our contact at the bank. / Ragnar is our contact at the bank.
    The printer uses black toner only. / The printer uses colour toner.
    Rent is due on the 1st. / Rent is due on the 5th.
    The swimming lesson is cancelled. / The swimming lesson takes place.
    Ella's teacher is Mrs. Novak. / Ella's teacher is Mr. Ferrari.
    The alarm code was changed to 5512. / The alarm code was changed to 9087.
    The load balancer listens on port 443. / The load balancer listens on port 8443.
    Dark mode is on by default. / Dark mode is off by default.
    The search index is rebuilt every night. / The search index is rebuilt every Sunday.
    Uploads are limited to 10 MB. / Uploads are limited to 25 MB.
    Anna's flight lands in Munich. / Anna's flight lands in Zurich.
    The gift is for Oma. / The gift is for Opa.
    Children under six travel free. / Children under six pay half price.
    The garden hose is 15 metres long. / The garden hose is 30 metres long.
    The chef is Italian. / The chef is French.
    Iris has two brothers. / Iris has three brothers.
    The meeting room is upstairs. / The meeting room is downstairs.
    The results are final. / The results are preliminary.
    Keep the medicine in the fridge. / Keep the medicine at room temperature.
    Run the migrations before the deployment. / Run the migrations after the deployment.
    The service is written in Kotlin. / The service is written in Scala.
    The file is read-only. / The file is writable.
    The battery lasts ten hours. / The battery lasts four hours.
    The grant was awarded to Lund. / The grant was awarded to Uppsala.
    Nobody has a key to the attic. / Everybody has a key to the attic.
    The river flows north. / The river flows south.
    The tenant pays for heating. / The landlord pays for heating.
    The store only takes cash. / The store only takes cards.
    Our hotel is the Bristol. / Our hotel is the Savoy.
    아이의 담임은 이 선생님이다. / 아이의 담임은 박 선생님이다.
    정원 호스의 길이는 15미터이다. / 정원 호스의 길이는 30미터이다.
    수영 강습은 취소되었다. / 수영 강습은 예정대로 열린다.
    업로드는 10MB로 제한된다. / 업로드는 25MB로 제한된다.
    다크 모드는 기본으로 켜져 있다. / 다크 모드는 기본으로 꺼져 있다.
    약은 냉장고에 보관한다. / 약은 상온에 보관한다.
    지수는 형제가 둘이다. / 지수는 형제가 셋이다.
    난방비는 집주인이 낸다. / 난방비는 세입자가 낸다.
    우리 호텔은 신라호텔이다. / 우리 호텔은 롯데호텔이다.
    이 파일은 수정할 수 있다. / 이 파일은 수정할 수 없다.
""")

PEACEFUL = _pairs("""
    We use Slack. / We use Zoom.
    Lea likes jazz. / Lea likes opera.
    The house has a garden. / The house has a garage.
    Tom knows Latin. / Tom knows Greek.
    Ann is a member of the board. / Bob is a member of the board.
    Ann works in the payments team. / Bob works in the payments team.
    The portal is fast. / The portal is reliable.
    Day 3: we walked 14 km. / Day 4: we walked 19 km.
    Invoice 104 was paid. / Invoice 105 was not paid.
    Chapter 3 is about rivers. / Chapter 4 is about lakes.
    Room 12 has a projector. / Room 14 has no projector.
    Version 2.1 supports Windows. / Version 2.2 does not support Windows.
    Item 7 is a hammer. / Item 8 is a saw.
    The measurement at 08:00 was 12 degrees. / The measurement at 14:00 was 19 degrees.
    Sold 14 loaves today. / Sold 19 loaves today.
    On Monday Kim ran 5 km. / On Tuesday Kim ran 8 km.
    The first chapter is short. / The last chapter is long.
    The front door is red. / The back door is green.
    The north tower is 40 m high. / The south tower is 35 m high.
    Emma visited Rome in 2019. / Emma visited Oslo in 2021.
    The menu has soup. / The menu has salad.
    The library has a copy of Dune. / The library has a copy of Emma.
    The importer is written in Python. / The exporter is written in Go.
    The old server ran Debian. / The new server runs Fedora.
    Use Redis for caching. / Use Kafka for events.
    Avoid sugar in the evening. / Drink water in the evening.
    Ben plays the cello. / Ben plays the flute.
    The meeting on Monday was about hiring. / The meeting on Tuesday was about pay.
    The child is three years old. / The child is happy.
    The shop sells bread. / The shop sells milk.
    If it rains, the picnic is cancelled. / The picnic is on Sunday.
    Is the museum closed? / The museum is open.
    The rent used to be 700 euros. / The rent is 850 euros.
    Maybe the concert is on Friday. / The concert is on Saturday.
    For example, the limit is 5. / The limit is 9.
    The bus leaves at 8. / The train leaves at 9.
    Peter's sister lives in Rome. / Peter's brother lives in Milan.
    The soup is hot. / The soup is spicy.
    Clara teaches maths. / Clara teaches physics.
    The team won on 3 May. / The team won on 10 May.
    The flight to Oslo takes 2 hours. / The flight to Rome takes 3 hours.
    Deploy the api with script A. / Deploy the web with script B.
    Standup notes 3 May: Ann is sick. / Standup notes 4 May: Ann is back.
    The red team scored 3 goals. / The blue team scored 5 goals.
    The package arrived on Monday. / The letter arrived on Tuesday.
    We support Chrome. / We support Firefox.
    The pool is open in summer. / The rink is open in winter.
    Paris is in France. / Paris is lovely.
    She bought apples. / She bought pears.
    The recipe needs flour. / The recipe needs eggs.
    The office is big. / The office is bright.
    Do not run with scissors. / Run with friends.
    Never share passwords. / Always share minutes.
    Marta speaks Polish. / Marta speaks Czech.
    Ticket 311 is open. / Ticket 312 is closed.
    The book is about whales. / The book is about the sea.
    Order #88 was shipped. / Order #89 was cancelled.
    Sprint 4 had 21 points. / Sprint 5 had 34 points.
    The temperature on 3 May was 14 degrees. / The temperature on 4 May was 17 degrees.
    The bakery sells rye bread. / The bakery sells white bread.
    Ida is a doctor. / Ida is a mother.
    The server in Oslo is down. / The server in Rome is up.
    Option A costs 40 euros. / Option B costs 60 euros.
    The first draft has 30 pages. / The second draft has 45 pages.
    I read a book about bees. / I read a book about wasps.
    The morning shift starts at 6. / The night shift starts at 22.
    The car is in the garage. / The bike is in the garage.
    The backup of the wiki took 4 minutes. / The backup of the shop took 9 minutes.
    The garden is large. / The garden is full of roses.
    우리는 슬랙을 쓴다. / 우리는 줌을 쓴다.
    지수는 재즈를 좋아한다. / 지수는 오페라를 좋아한다.
    3일차: 14km를 걸었다. / 4일차: 19km를 걸었다.
    3장은 강에 대한 내용이다. / 4장은 호수에 대한 내용이다.
    민지는 이사회 위원이다. / 준호는 이사회 위원이다.
    월요일에 5km를 달렸다. / 화요일에 8km를 달렸다.
    101호에는 프로젝터가 있다. / 102호에는 프로젝터가 없다.
    앞문은 빨간색이다. / 뒷문은 초록색이다.
    집에는 정원이 있다. / 집에는 차고가 있다.
    사무실은 넓다. / 사무실은 밝다.
    예전 수강료는 7만원이었다. / 수강료는 8만원이다.
    하은은 폴란드어를 한다. / 하은은 체코어를 한다.
    오늘 빵 14개를 팔았다. / 오늘 빵 19개를 팔았다.
    주문 88번은 발송되었다. / 주문 89번은 취소되었다.
    빨간 팀은 3골을 넣었다. / 파란 팀은 5골을 넣었다.
    비가 오면 소풍은 취소된다. / 소풍은 일요일이다.
    박물관은 닫혔나요? / 박물관은 열려 있다.
    수지는 의사이다. / 수지는 엄마이다.
    오전 근무는 6시에 시작한다. / 야간 근무는 22시에 시작한다.
    이 책은 고래에 대한 책이다. / 이 책은 바다에 대한 책이다.
    Lena's birthday is 3 April. / Otto's birthday is 13 April.
    The kitchen wifi password is bluefish. / The guest wifi password is redfox.
    Dad takes vitamin D. / Dad takes magnesium.
    The sprint review was on Wednesday. / The sprint planning was on Friday.
    Marco is a developer on checkout. / Silvia is a developer on checkout.
    Errors are reported to Sentry. / Metrics are reported to Grafana.
    The company was founded in 1998. / The company was sold in 2001.
    The window faces north. / The door faces south.
    The cake contains nuts. / The cake contains raisins.
    Hugo scored in the first half. / Hugo scored in the second half.
    We discussed pricing with Acme. / We discussed support with Acme.
    The gym has a sauna. / The gym has a pool.
    My aunt lives in Cork. / My uncle lives in Galway.
    The workshop in May is held in German. / The workshop in June is held in English.
    Lisa ran 10 km in 52 minutes on 3 May. / Lisa ran 10 km in 50 minutes on 9 May.
    Build 881 failed. / Build 882 passed.
    The blood pressure was 128 in the morning. / The blood pressure was 135 in the evening.
    Table 4 ordered fish. / Table 5 ordered steak.
    The red wine is from Chile. / The white wine is from Spain.
    Always test the importer. / Always test the exporter.
    Do not call Erik before nine. / Do not call Erik during dinner.
    The trail is steep. / The trail is scenic.
    Anton can swim. / Anton can dance.
    The museum shows paintings. / The museum shows sculptures.
    The guide recommends boots. / The guide recommends a hat.
    The lecture is interesting. / The lecture is long.
    Our cat sleeps on the sofa. / Our dog sleeps on the floor.
    The band played in Leeds on Friday. / The band played in York on Saturday.
    Release 3.1 fixes the login. / Release 3.2 fixes the export.
    The app is available on Android. / The app is available on iOS.
    Guests from Norway arrive on Monday. / Guests from Spain arrive on Tuesday.
    Nurse Abel works at night. / Nurse Berta works by day.
    The queue had 12 jobs at noon. / The queue had 30 jobs at six.
    Mia is tall. / Mia is clever.
    The form asks for the name. / The form asks for the address.
    If the alarm rings, leave the building. / Do not leave the building.
    회의록 3호는 예산에 대한 것이다. / 회의록 4호는 채용에 대한 것이다.
    민호는 축구를 한다. / 민호는 농구를 한다.
    카페에는 와이파이가 있다. / 카페에는 주차장이 있다.
    1층 화장실은 고장이다. / 2층 화장실은 정상이다.
    유진은 키가 크다. / 유진은 똑똑하다.
    서울 지점은 9시에 연다. / 부산 지점은 10시에 연다.
    빌드 881은 실패했다. / 빌드 882는 성공했다.
    이 앱은 안드로이드를 지원한다. / 이 앱은 윈도우를 지원한다.
    태우는 개발팀에서 일한다. / 민호는 개발팀에서 일한다.
    The parking permit costs 45 euros. / The fishing permit costs 60 euros.
    The printer uses black toner. / The printer uses thick paper.
    Anna's flight lands in Munich. / Ben's flight lands in Zurich.
    The river is wide. / The river is cold.
    The store takes cash. / The store takes cards.
    The tenant pays for heating. / The landlord pays for repairs.
    Iris has two brothers. / Iris has three cats.
    The gift for Oma is a scarf. / The gift for Opa is a book.
    The report is about sales. / The report is about marketing.
    The first meeting is upstairs. / The second meeting is downstairs.
    Walked 6,200 steps on Monday. / Walked 9,800 steps on Tuesday.
    The score after half-time was 1-0. / The score after the match was 2-1.
    Weight on 1 June: 71 kg. / Weight on 8 June: 70 kg.
    The blue folder is for invoices. / The green folder is for receipts.
    The chef likes garlic. / The chef likes basil.
    The service depends on Redis. / The service depends on Kafka.
    The village is small. / The village is quiet.
    Nora is friends with Liv. / Nora is friends with Sara.
    The conference is in Vienna in 2026. / The conference is in Madrid in 2027.
    Erik is learning Spanish. / Erik is learning piano.
    The film won an award in Berlin. / The film won an award in Cannes.
    Our shop delivers to Bonn. / Our shop delivers to Trier.
    The recipe serves four. / The recipe is vegan.
    Patch 1.0.3 was released on 2 May. / Patch 1.0.4 was released on 9 May.
    Max paid 12 euros for lunch on Monday. / Max paid 9 euros for lunch on Tuesday.
    지수는 형제가 둘이다. / 지수는 고양이가 셋이다.
    우리 가게는 본에 배달한다. / 우리 가게는 트리어에 배달한다.
    6월 1일 체중은 71kg이다. / 6월 8일 체중은 70kg이다.
    민수는 스페인어를 배운다. / 민수는 피아노를 배운다.
    파란 폴더는 청구서용이다. / 초록 폴더는 영수증용이다.
""")

SERIES = [
    [f"The ship number {n} moored at pier {n % 3} with {n + 5} sailors." for n in range(12)],
    [f"The baker used {n + 3} sacks of flour for rye loaf {n}." for n in range(12)],
    [f"Day {n}: the caravan walked {n * 7 % 11 + 9} miles." for n in range(1, 9)],
    [f"Takings at the stall were {n * 37 % 90 + 100} euros." for n in range(8)],
    [f"Invoice {n} was {'paid' if n % 3 else 'cancelled'}." for n in range(200, 212)],
    [f"The thermometer shows {n * 5 % 13 + 10} degrees." for n in range(8)],
    [f"Release v{n}.0 of the parser takes {n * 7 % 10 + 2} seconds." for n in range(1, 9)],
    [f"{n}번 배가 {n % 3 + 1}번 부두에 선원 {n + 5}명과 정박했다." for n in range(8)],
    [f"오늘 기온은 {n * 5 % 13 + 10}도였다." for n in range(8)],
    [f"{name} is a guard at the lighthouse." for name in ("Udo", "Ilse", "Karl", "Britta")],
    [f"The cellar holds {what}." for what in ("turnips", "cider", "barrels", "candles", "ropes")],
]
"""Notes of one form, of which none excludes another."""
