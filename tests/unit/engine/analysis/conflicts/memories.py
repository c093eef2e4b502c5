"""What an assistant remembers of a team and of a person, two by two: what cannot both hold, and what may.

They were written before the rules that read them, and parted by their text alone: the rules were set by those that are
not held out. ``BEYOND`` needs to know more of the world than is known here.
"""

from __future__ import annotations

__all__ = ["BEYOND", "CLASHING", "HELD_CLASHING", "HELD_PEACEFUL", "PEACEFUL"]


def _pairs(text: str) -> list[tuple[str, str]]:
    rows = [line.strip().split(" / ") for line in text.strip().splitlines()]
    return [(one, other) for one, other in rows]


CLASHING = _pairs("""
    The web app uses React. / The web app uses Vue.
    The billing service uses Oracle. / The billing service uses MariaDB.
    The repo uses npm. / The repo uses yarn.
    CI runs on Jenkins. / CI runs on GitHub Actions.
    The user lives in Hamburg. / The user lives in Cologne.
    The endpoint is synchronous. / The endpoint is asynchronous.
    The cluster is single-tenant. / The cluster is multi-tenant.
    The dashboard is read-only. / The dashboard is editable.
    Sarah owns the onboarding flow. / Tom owns the onboarding flow.
    The owner of the search module is Priya. / The owner of the search module is Diego.
    Priya is on call this week. / Diego is on call this week.
    The service requires Python 3.9. / The service requires Python 3.12.
    We are on Kubernetes 1.27. / We are on Kubernetes 1.30.
    The app targets Node 18. / The app targets Node 20.
    The minimum supported version is iOS 15. / The minimum supported version is iOS 17.
    Sessions expire after 2 hours. / Sessions expire after 90 minutes.
    The budget for the fair is 12k euros. / The budget for the fair is 15,000 euros.
    The user works at Siemens. / The user works at Bosch.
    The user speaks no French. / The user speaks French fluently.
    The release is planned for 12 March. / The release is planned for 2 April.
    Staging is deployed from the main branch. / Staging is deployed from the develop branch.
    We moved the database to Aurora. / The database is hosted on Heroku.
    We use Terraform instead of Pulumi. / We use Pulumi.
    Logging is done with structlog. / Logging is done with loguru.
    The frontend is written in TypeScript. / The frontend is written in plain JavaScript.
    The license is MIT. / The license is GPL.
    The cache is warm after deployment. / The cache is cold after deployment.
    Write tests before the code. / Write tests after the code.
    Use snake_case for columns. / Use camelCase for columns.
    Always answer in English. / Always answer in German.
    Do not use emojis in answers. / Use emojis in answers.
    The rate limit is 100 requests per minute. / The rate limit is 60 requests per minute.
    The model was trained on 10 million rows. / The model was trained on 12 million rows.
    The backup runs at midnight. / The backup runs at noon.
    The user's favourite colour is blue. / The user's favourite colour is green.
    The user dislikes coffee. / The user likes coffee.
    Emma is taller than Noah. / Noah is taller than Emma.
    The customer pays monthly. / The customer pays yearly.
    The data is stored in Frankfurt. / The data is stored in Virginia.
    Images are served from S3. / Images are served from Cloudflare R2.
    The queue is backed by RabbitMQ. / The queue is backed by Kafka.
    The mobile app is built with Flutter. / The mobile app is built with React Native.
    The flight departs at 7:40. / The flight departs at 9:15.
    The hotel includes breakfast. / The hotel does not include breakfast.
    The project is funded until 2027. / The project is funded until 2029.
    Comments are moderated. / Comments are not moderated.
    The wiki is written in English. / The wiki is written in French.
    The alpha test failed. / The alpha test passed.
    백엔드는 장고를 사용한다. / 백엔드는 스프링을 사용한다.
    배포는 젠킨스로 한다. / 배포는 깃허브 액션으로 한다.
    이 서비스는 레디스를 사용한다. / 이 서비스는 레디스를 사용하지 않는다.
    결제 모듈은 지민이 담당한다. / 결제 모듈은 현우가 담당한다.
    결제 모듈 담당자는 지민이다. / 결제 모듈 담당자는 현우이다.
    검색 기능은 수진이 맡고 있다. / 검색 기능은 도윤이 맡고 있다.
    사용자는 다크 모드를 선호한다. / 사용자는 라이트 모드를 선호한다.
    세션은 2시간 후 만료된다. / 세션은 30분 후 만료된다.
    예산은 300만 원이다. / 예산은 500만 원이다.
    예산은 3천만 원이다. / 예산은 5천만 원이다.
    업로드 한도는 1GB이다. / 업로드 한도는 500MB이다.
    회의는 오후 3시에 시작한다. / 회의는 오후 4시에 시작한다.
    본사는 판교에 있다. / 본사는 강남에 있다.
    서버는 AWS에서 운영한다. / 서버는 GCP에서 운영한다.
    출시일은 5월 3일이다. / 출시일은 6월 10일이다.
    테스트는 pytest로 작성한다. / 테스트는 unittest로 작성한다.
    파이썬 버전은 3.9이다. / 파이썬 버전은 3.12이다.
    우리는 파이썬 3.9를 쓴다. / 우리는 파이썬 3.12를 쓴다.
    서윤이가 프론트엔드를 담당한다. / 민재가 프론트엔드를 담당한다.
    고객은 월간 요금제를 쓴다. / 고객은 연간 요금제를 쓴다.
""")

BEYOND = _pairs("""
    The user is vegan. / The user eats cheese and eggs.
    All timestamps are stored in UTC. / All timestamps are stored in local time.
    Pull requests are squashed. / Pull requests are merged without squashing.
    The design is minimalist. / The design is playful.
    마이그레이션은 끝났다. / 마이그레이션은 아직 진행 중이다.
""")

PEACEFUL = _pairs("""
    The web app uses React. / The web app uses Tailwind.
    We use Python for scripts. / We use Go for services.
    The billing service uses PostgreSQL. / The search service uses MySQL.
    We have an office in Berlin. / We have an office in Munich.
    The user likes hiking. / The user likes swimming.
    The design is minimalist. / The design is responsive.
    Sarah owns the onboarding flow. / Tom owns the billing flow.
    Sarah reviewed the onboarding flow. / Tom reviewed the onboarding flow.
    Sessions expire after 2 hours. / Sessions expire after 120 minutes.
    The budget for the fair is 12k euros. / The budget for the fair is 12,000 euros.
    The trial lasts two weeks. / The trial lasts 14 days.
    The distance is 1.5 km. / The distance is 1500 m.
    The interval is 500 ms. / The interval is 0.5 seconds.
    The parcel weighs 2 kg. / The parcel weighs 2000 g.
    Retention is one year. / Retention is 12 months.
    The user works at Siemens. / The user works on turbines.
    The user worked at Siemens. / The user works at Bosch.
    The user has a dog. / The user has a cat.
    Staging is deployed from the develop branch. / Production is deployed from the main branch.
    The database was hosted on Heroku. / The database is hosted on Aurora.
    The frontend is written in TypeScript. / The backend is written in Rust.
    The package is available on PyPI. / The package is available on conda-forge.
    The service exposes REST. / The service exposes gRPC.
    The library works with SQLite. / The library works with DuckDB.
    Write tests before the code. / Write docs after the code.
    Use snake_case for columns. / Use camelCase for JSON fields.
    Always answer in English. / Always answer in full sentences.
    The backup of the wiki runs daily. / The backup of the database runs hourly.
    Emma is taller than Noah. / Emma is older than Noah.
    Customer A pays monthly. / Customer B pays yearly.
    The data is stored in Frankfurt. / The data is encrypted at rest.
    Images are served from S3. / Videos are served from Mux.
    The queue feeds the mailer. / The queue feeds the indexer.
    Marta talked to Jens. / Marta talked to Olga.
    The hotel includes breakfast. / The hotel includes parking.
    The first alpha test failed. / The second alpha test passed.
    The build failed on Monday. / The build passed on Tuesday.
    Alice joined in March. / Bob joined in April.
    The library supports dark mode. / The library supports light mode.
    The store sells bread. / The store sells milk.
    The API returns JSON. / The API returns errors.
    The service depends on Postgres. / The service depends on Redis.
    The user reads science fiction. / The user reads history.
    The team meets on Monday. / The team eats on Monday.
    Fixed the login bug. / Fixed the export bug.
    The login page is slow. / The export page is fast.
    We decided to hire a designer. / We decided to hire a tester.
    Nina studied physics. / Nina studied music.
    The sprint goal is search. / The sprint goal for June is export.
    Sprint 14: velocity was 32 points. / Sprint 15: velocity was 28 points.
    Server alpha has 16 GB of memory. / Server beta has 32 GB of memory.
    백엔드는 장고를 사용한다. / 프론트엔드는 리액트를 사용한다.
    우리 팀은 지라를 쓴다. / 우리 팀은 컨플루언스를 쓴다.
    사용자는 차를 좋아한다. / 사용자는 커피를 좋아한다.
    결제 모듈은 지민이 담당한다. / 검색 모듈은 현우가 담당한다.
    세션은 2시간 후 만료된다. / 세션은 120분 후 만료된다.
    예산은 300만 원이다. / 예산은 3,000,000원이다.
    예산은 3천만 원이다. / 예산은 30,000,000원이다.
    업로드 한도는 1GB이다. / 업로드 한도는 1024MB이다.
    거리는 1.5km이다. / 거리는 1500m이다.
    회의는 오후 3시에 시작한다. / 회의는 본관에서 열린다.
    사용자는 기타를 친다. / 사용자는 피아노를 친다.
    스프린트 14의 속도는 32점이다. / 스프린트 15의 속도는 28점이다.
    지난주 당번은 지민이었다. / 이번 주 당번은 현우이다.
    로그는 서울에 저장한다. / 로그는 압축해서 저장한다.
    테스트는 pytest로 작성한다. / 문서는 sphinx로 작성한다.
    개발 서버는 서울에 있다. / 운영 서버는 부산에 있다.
""")

HELD_CLASHING = _pairs("""
    The project uses PostgreSQL. / The project uses MySQL.
    Our backend uses Django. / Our backend uses FastAPI.
    We use PostgreSQL as our main database. / We use MongoDB as our main database.
    The team uses Jira for tickets. / The team uses Linear for tickets.
    The office is in Berlin. / The office is in Munich.
    The user prefers dark mode. / The user prefers light mode.
    User prefers tabs over spaces. / User prefers spaces over tabs.
    The user prefers short answers. / The user prefers detailed answers.
    I prefer window seats. / I prefer aisle seats.
    The API is public. / The API is internal.
    The repository is private. / The repository is open source.
    The feature is experimental. / The feature is stable.
    The upload limit is 1 GB. / The upload limit is 500 MB.
    Tokens are valid for one day. / Tokens are valid for 12 hours.
    The user's favorite editor is Vim. / The user's favorite editor is VS Code.
    My sister's name is Julia. / My sister's name is Laura.
    The user has two children. / The user has three children.
    The user's timezone is CET. / The user's timezone is PST.
    The user is married. / The user is single.
    User has a dog. / User has no pets.
    My car is a Volvo. / My car is a Toyota.
    The meeting is at 3 pm. / The meeting is at 4 pm.
    We switched from REST to GraphQL. / The API is REST.
    The app now uses Redux. / The app uses MobX.
    We no longer support Internet Explorer. / We support Internet Explorer.
    Authentication uses JWT. / Authentication uses session cookies.
    Authentication is handled by Auth0. / Authentication is handled by Keycloak.
    Emails are sent through SendGrid. / Emails are sent through Mailgun.
    The default locale is en-US. / The default locale is de-DE.
    Primary keys are UUIDs. / Primary keys are integers.
    The project is licensed under Apache 2.0. / The project is licensed under MIT.
    The migration is finished. / The migration is still in progress.
    The contract with Acme is signed. / The contract with Acme is not signed yet.
    Deploys need approval from QA. / Deploys need no approval.
    Code reviews are mandatory. / Code reviews are optional.
    Squash commits before merging. / Do not squash commits before merging.
    The password policy requires 8 characters. / The password policy requires 12 characters.
    The backup runs daily. / The backup runs hourly.
    The user is left-handed. / The user is right-handed.
    The user is afraid of flying. / The user loves flying.
    The beta launched before the summit. / The beta launched after the summit.
    The intern starts on Monday. / The intern starts on Thursday.
    The kickoff is in room Galileo. / The kickoff is in room Newton.
    The customer is on the Pro plan. / The customer is on the Enterprise plan.
    The subscription costs $20 a month. / The subscription costs $25 a month.
    The search is powered by Elasticsearch. / The search is powered by Meilisearch.
    The bot replies in formal tone. / The bot replies in casual tone.
    Marta reports to Jens. / Marta reports to Olga.
    The CTO is Ms. Lindqvist. / The CTO is Mr. Abara.
    The gym membership ends in May. / The gym membership ends in September.
    The dog's name is Rex. / The dog's name is Bruno.
    The site is live. / The site is not live yet.
    우리 팀은 PostgreSQL을 쓴다. / 우리 팀은 MySQL을 쓴다.
    이 프로젝트는 리액트를 사용한다. / 이 프로젝트는 뷰를 사용한다.
    사용자는 짧은 답변을 선호한다. / 사용자는 자세한 답변을 선호한다.
    사용자는 서울에 산다. / 사용자는 부산에 산다.
    사용자는 커피를 좋아한다. / 사용자는 커피를 싫어한다.
    사용자는 커피를 마신다. / 사용자는 커피를 마시지 않는다.
    API는 공개되어 있다. / API는 내부용이다.
    이 저장소는 공개이다. / 이 저장소는 비공개이다.
    테스트 코드를 먼저 작성한다. / 테스트 코드를 나중에 작성한다.
    커밋 메시지는 한국어로 쓴다. / 커밋 메시지는 영어로 쓴다.
    이모지를 사용하세요. / 이모지를 사용하지 마세요.
    이 기능은 안정 버전이다. / 이 기능은 실험 버전이다.
    캐시 기간은 1일이다. / 캐시 기간은 12시간이다.
""")

HELD_PEACEFUL = _pairs("""
    The project uses PostgreSQL. / The project uses Redis.
    Our backend uses Django. / Our backend uses Celery.
    The team uses Jira for tickets. / The team uses Confluence for docs.
    CI runs on GitHub Actions. / CI runs on every push.
    The user likes tea. / The user likes coffee.
    The user has lived in Hamburg. / The user has lived in Cologne.
    The user prefers dark mode. / The user prefers short answers.
    The user prefers tea in the morning. / The user prefers wine in the evening.
    The user prefers Python for scripting. / The user prefers Rust for systems work.
    I prefer window seats on long flights. / I prefer aisle seats on short flights.
    The API is public. / The API is fast.
    The API is public. / The API is versioned.
    The admin API is internal. / The partner API is public.
    The feature is experimental. / The feature is popular.
    Sarah works on onboarding. / Tom works on onboarding.
    Priya was on call last week. / Diego is on call this week.
    The service supports Python 3.9. / The service supports Python 3.12.
    Version 1.27 was installed in May. / Version 1.30 was installed in June.
    The upload limit is 1 GB. / The upload limit is 1024 MB.
    Tokens are valid for one day. / Tokens are valid for 24 hours.
    The discount is 50%. / The discount is half.
    My sister's name is Julia. / My brother's name is Max.
    The user has two children. / The user has two dogs.
    The user speaks French. / The user speaks German.
    The user is married. / The user is Swedish.
    The user owns a Volvo. / The user owns a Toyota.
    The meeting with Ada is at 3 pm. / The meeting with Ben is at 4 pm.
    We used to use Pulumi. / We use Terraform.
    We support Firefox. / We support Chrome.
    We considered MongoDB. / We use PostgreSQL.
    Emails are sent through SendGrid. / SMS are sent through Twilio.
    The parser is written in Rust. / The parser is tested in CI.
    The app runs on Linux. / The app runs on macOS.
    Deploys need approval from QA. / Deploys need a changelog.
    Answer in German if the question is in German. / Answer in English.
    Do not use emojis in commits. / Use emojis in chat.
    The backup runs daily. / The backup runs in Frankfurt.
    The user plays guitar. / The user plays chess.
    The user is learning Japanese. / The user is learning Rust.
    The basic plan costs $20 a month. / The pro plan costs $25 a month.
    Marta reports to Jens. / Olga reports to Jens.
    The dog's name is Rex. / The cat's name is Bruno.
    The build is green. / The logo is red.
    The report covers 2024. / The report covers France.
    The team visited Lisbon. / The team visited Porto.
    Our customers are in Spain. / Our customers are in Portugal.
    We have customers in Spain. / We have customers in Portugal.
    The invoice went to Acme. / The invoice went to accounting.
    The API returns 404 for missing users. / The API returns 409 for duplicates.
    The user's favorite food is pizza. / The user's favorite drink is tea.
    Use pytest for tests. / Use ruff for linting.
    Standup notes: Ann works on search. / Standup notes: Ben works on export.
    The 10:00 meeting is about hiring. / The 14:00 meeting is about budget.
    The user bought a lamp for 40 euros. / The user bought a desk for 200 euros.
    The app has 12 screens. / The app has 40 icons.
    우리 팀은 PostgreSQL을 쓴다. / 우리 팀은 레디스를 쓴다.
    사용자는 등산을 좋아한다. / 사용자는 수영을 좋아한다.
    지민은 결제 모듈을 담당한다. / 지민은 검색 모듈을 담당한다.
    지민은 백엔드에서 일한다. / 현우는 백엔드에서 일한다.
    캐시 기간은 1일이다. / 캐시 기간은 24시간이다.
    사무실이 서울에 있다. / 지사가 부산에 있다.
    이 라이브러리는 리눅스를 지원한다. / 이 라이브러리는 윈도우를 지원한다.
    이 저장소는 공개이다. / 이 저장소는 크다.
    예전에는 MySQL을 썼다. / 우리는 PostgreSQL을 쓴다.
    사용자는 고양이를 키운다. / 사용자는 강아지를 키운다.
""")
