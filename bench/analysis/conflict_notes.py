"""Everyday notes, two by two: pairs that cannot both hold, pairs that look so and can, and series of one form.

They are those of the tests and many more. About three of ten pairs, by their text alone, are held out: no rule was set
by looking at what became of them.
"""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from zlib import crc32

from bench.peer import ROOT

__all__ = ["CLASHING", "PEACEFUL", "SERIES", "held_out"]


def _notes_of_the_tests() -> ModuleType:
    """What the tests hold; by its path, since the tests are no package to import from."""
    path = os.path.join(ROOT, "tests", "unit", "engine", "analysis", "conflicts", "everyday.py")
    spec = spec_from_file_location("everyday", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_TESTED = _notes_of_the_tests()


def held_out(pair: tuple[str, str]) -> bool:
    """Whether a pair is kept for measuring; what is in a test is not."""
    return crc32(pair[0].encode()) % 10 < 3 and pair not in (*_TESTED.CLASHING, *_TESTED.UNSURE, *_TESTED.PEACEFUL)


CLASHING: list[tuple[str, str]] = _TESTED.CLASHING + _TESTED.pairs("""
    The mushroom is edible. / The mushroom is poisonous.
    The goalkeeper is injured. / The goalkeeper is fit.
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
    The bakery on Elm Street is closed on Mondays. / The bakery on Elm Street is open on Mondays.
    The API returns JSON by default. / The API returns XML by default.
    The primary database is PostgreSQL. / The primary database is MySQL.
    Tests run in parallel. / Tests run one after another.
    The beta flag is required for uploads. / The beta flag is optional for uploads.
    Reviews need two approvals. / Reviews need one approval.
    The default branch is main. / The default branch is develop.
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
    결제팀장은 김민지이다. / 결제팀장은 박준호이다.
    서버는 데비안에서 실행된다. / 서버는 페도라에서 실행된다.
    사무실은 서울에 있다. / 사무실은 부산에 있다.
    금요일에는 배포한다. / 금요일에는 배포하지 않는다.
    도서관은 일요일에 연다. / 도서관은 일요일에 열지 않는다.
    월세는 50만원이다. / 월세는 60만원이다.
    기본 언어는 영어이다. / 기본 언어는 한국어이다.
    합창 연습은 수요일이다. / 합창 연습은 목요일이다.
    이 약은 식전에 먹는다. / 이 약은 식후에 먹는다.
    민수는 땅콩 알레르기가 있다. / 민수는 땅콩 알레르기가 없다.
    수영장은 여름에 개방된다. / 수영장은 여름에 폐쇄된다.
    출장 경비는 월말에 정산한다. / 출장 경비는 분기마다 정산한다.
    테스트 서버는 켜져 있다. / 테스트 서버는 꺼져 있다.
    이 문은 항상 잠근다. / 이 문은 잠그지 않는다.
    행사 장소는 코엑스이다. / 행사 장소는 벡스코이다.
    Lena's birthday is 3 April. / Lena's birthday is 13 April.
    Our wifi password is bluefish. / Our wifi password is redfox.
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
    회의실 예약은 총무팀이 담당한다. / 회의실 예약은 인사팀이 담당한다.
    점심시간은 12시부터이다. / 점심시간은 11시부터이다.
    와이파이 비밀번호는 바다이다. / 와이파이 비밀번호는 하늘이다.
    고객센터 전화번호는 1588이다. / 고객센터 전화번호는 1644이다.
    카페에서는 반려동물을 데려올 수 있다. / 카페에서는 반려동물을 데려올 수 없다.
    프로젝트 마감은 6월 3일이다. / 프로젝트 마감은 6월 10일이다.
    운영 서버는 우분투를 사용한다. / 운영 서버는 센토스를 사용한다.
    이 길은 일방통행이다. / 이 길은 일방통행이 아니다.
    로그는 30일 동안 보관한다. / 로그는 90일 동안 보관한다.
    비상구는 왼쪽에 있다. / 비상구는 오른쪽에 있다.
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

PEACEFUL: list[tuple[str, str]] = _TESTED.PEACEFUL + _TESTED.pairs("""
    사무실은 넓다. / 사무실은 밝다.
    Ann works in the payments team. / Bob works in the payments team.
    The portal is fast. / The portal is reliable.
    Item 7 is a hammer. / Item 8 is a saw.
    Sold 14 loaves today. / Sold 19 loaves today.
    On Monday Kim ran 5 km. / On Tuesday Kim ran 8 km.
    The first chapter is short. / The last chapter is long.
    The north tower is 40 m high. / The south tower is 35 m high.
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
    Sprint 4 had 21 points. / Sprint 5 had 34 points.
    The temperature on 3 May was 14 degrees. / The temperature on 4 May was 17 degrees.
    The bakery sells rye bread. / The bakery sells white bread.
    Option A costs 40 euros. / Option B costs 60 euros.
    The first draft has 30 pages. / The second draft has 45 pages.
    I read a book about bees. / I read a book about wasps.
    The morning shift starts at 6. / The night shift starts at 22.
    The car is in the garage. / The bike is in the garage.
    The backup of the wiki took 4 minutes. / The backup of the shop took 9 minutes.
    The garden is large. / The garden is full of roses.
    3장은 강에 대한 내용이다. / 4장은 호수에 대한 내용이다.
    월요일에 5km를 달렸다. / 화요일에 8km를 달렸다.
    101호에는 프로젝터가 있다. / 102호에는 프로젝터가 없다.
    앞문은 빨간색이다. / 뒷문은 초록색이다.
    집에는 정원이 있다. / 집에는 차고가 있다.
    예전 수강료는 7만원이었다. / 수강료는 8만원이다.
    하은은 폴란드어를 한다. / 하은은 체코어를 한다.
    오늘 빵 14개를 팔았다. / 오늘 빵 19개를 팔았다.
    빨간 팀은 3골을 넣었다. / 파란 팀은 5골을 넣었다.
    비가 오면 소풍은 취소된다. / 소풍은 일요일이다.
    박물관은 닫혔나요? / 박물관은 열려 있다.
    수지는 의사이다. / 수지는 엄마이다.
    오전 근무는 6시에 시작한다. / 야간 근무는 22시에 시작한다.
    이 책은 고래에 대한 책이다. / 이 책은 바다에 대한 책이다.
    Lena's birthday is 3 April. / Otto's birthday is 13 April.
    The kitchen wifi password is bluefish. / The guest wifi password is redfox.
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
    1층 화장실은 고장이다. / 2층 화장실은 정상이다.
    유진은 키가 크다. / 유진은 똑똑하다.
    서울 지점은 9시에 연다. / 부산 지점은 10시에 연다.
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

SERIES: list[list[str]] = [
    *_TESTED.SERIES,
    [f"Takings at the stall were {n * 37 % 90 + 100} euros." for n in range(3, 8)],
]
"""Notes of one form, of which none excludes another."""
