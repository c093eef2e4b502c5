"""Near-duplicates: what counts as the same text, and what never does."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.duplicates import conflict, is_duplicate, judged, least

NEAR = 0.97  # what a model says of texts that differ in a word
texts = st.text(alphabet="ab 1.,?'-Ä가는漢かがنлнеnot\n", max_size=40)

REWORDED = [
    ("The meeting is on Monday at 10", "Meeting: Monday, 10:00"),
    ("The user prefers dark mode", "User prefers dark mode."),
    ("Deploys happen every Friday at 5pm", "Every Friday at 17:00 deploys happen"),
    ("My favourite colour is green", "my favorite color is green!"),
    ("Anna's birthday is on 3 March", "Anna has her birthday on March 3rd"),
    ("The release is on 2026-03-05", "The release is on March 5, 2026"),
    ("The price is $1,200.00", "The price is 1200 dollars"),
    ("She doesn't eat meat", "She does not eat meat"),
    ("The cat sleeps on the sofa", "The cat is sleeping on the couch"),
    ("Tom and Sarah are coming", "Sarah and Tom are coming"),
    ("The dog was bitten by the cat", "The cat bit the dog"),
    ("We eat at noon", "At noon we eat"),
    ("Two servers are down", "2 servers are down"),
    ("The comittee met", "The committee met"),
    ("회의는 월요일 오전 10시에 있습니다", "월요일 오전 10시에 회의가 있다"),
    ("사용자는 커피를 좋아한다", "사용자는 커피를 좋아합니다."),
    ("남자가 기타를 친다", "한 남자가 기타를 치고 있다"),
    ("我喜欢喝咖啡。", "我喜欢喝咖啡"),
    ("私はコーヒーが好きです。", "私はコーヒーが好きだ"),
    ("Das Treffen ist am Montag um 10 Uhr", "Am Montag um 10 ist das Treffen"),
    ("La réunion est lundi à 10 h", "La réunion a lieu lundi à 10h"),
    ("La reunión es el lunes a las 10", "El lunes a las 10 es la reunión"),
    ("Совещание в понедельник в 10 часов", "В понедельник в 10 часов совещание"),
    ("الاجتماع يوم الاثنين الساعة ١٠", "الاجتماع يوم الاثنين الساعة 10"),
]

CHANGED = {
    "number": [
        ("The meeting is on Monday at 10", "The meeting is on Monday at 11"),
        ("Meeting at 10:00", "Meeting at 10:30"),
        ("Meeting at 3 pm", "Meeting at 3 am"),
        ("Use Python 3.10", "Use Python 3.1"),
        ("Version 2.3.1 is stable", "Version 2.3.2 is stable"),
        ("The temperature is -5 degrees", "The temperature is 5 degrees"),
        ("Rome won 3-1", "Rome won 1-3"),
        ("Three people came", "Four people came"),
        ("The server has memory", "The server has 64 memory"),
        ("방이 3개 있다", "방이 4개 있다"),
        ("الاجتماع الساعة 10", "الاجتماع الساعة 11"),
    ],
    "date": [
        ("The meeting is on Monday", "The meeting is on Tuesday"),
        ("It starts in June", "It starts in July"),
        ("She arrives today", "She arrives tomorrow"),
        ("회의는 월요일입니다", "회의는 화요일입니다"),
        ("会议在星期一", "会议在星期二"),
        ("会議は月曜日です", "会議は火曜日です"),
        ("Das Treffen ist am Montag", "Das Treffen ist am Dienstag"),
        ("Встреча в понедельник", "Встреча во вторник"),
    ],
    "identifier": [
        ("Open ticket ABC-123", "Open ticket ABC-124"),
        ("Write to anna@example.com", "Write to anne@example.com"),
        ("The file is src/main.py", "The file is src/test.py"),
        ("call get_user first", "call set_user first"),
        ("call getUser first", "call setUser first"),
        ("C++ is used", "C is used"),
        ("C# is used", "C is used"),
        ("x = 5", "x != 5"),
        ("keep x < 5", "keep x > 5"),
    ],
    "negat": [
        ("The user likes tea", "The user does not like tea"),
        ("The user likes tea", "The user doesn't like tea"),
        ("She came with a key", "She came without a key"),
        ("나는 안 간다", "나는 간다"),
        ("사용자는 커피를 좋아한다", "사용자는 커피를 좋아하지 않는다"),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("他没来", "他来了"),
        ("彼は来ました", "彼は来ませんでした"),
        ("Er mag Kaffee", "Er mag keinen Kaffee"),
        ("J'aime le café", "Je n'aime pas le café"),
        ("Me gusta el café", "No me gusta el café"),
        ("Я люблю кофе", "Я не люблю кофе"),
        ("أحب القهوة", "لا أحب القهوة"),
        ("Tôi thích cà phê", "Tôi không thích cà phê"),
        ("ฉันชอบกาแฟ", "ฉันไม่ชอบกาแฟ"),
    ],
    "name": [
        ("Yesterday we met Anna", "Yesterday we met Bella"),
        ("We flew to Rome", "We flew to Oslo"),
        ("I spoke to the director", "I spoke to the director Mirabel"),
    ],
    "opposite": [
        ("Sales rose by 5%", "Sales fell by 5%"),
        ("Take the pill before lunch", "Take the pill after lunch"),
        ("The service is enabled", "The service is disabled"),
        ("The exit is possible", "The exit is impossible"),
        ("The server is down", "The server was down"),
        ("All tests pass", "Some tests pass"),
        ("가격이 상승했다", "가격이 하락했다"),
        ("소년이 달린다", "소녀가 달린다"),
        ("Die Tür ist offen", "Die Tür ist geschlossen"),
        ("Las ventas subieron más", "Las ventas subieron menos"),
    ],
    "another word": [
        ("The user likes tea", "The user likes coffee"),
        ("The distance is 5 km", "The distance is 5 miles"),
        ("feeling 😀", "feeling 😢"),
        ("Give the dog this", "Give the dog meat"),
        ("사용자는 커피를 좋아한다", "사용자는 녹차를 좋아한다"),
        ("我喜欢咖啡", "我喜欢茶"),
        ("私はコーヒーが好きです", "私は紅茶が好きです"),
        ("J'aime le café", "J'aime le thé"),
        ("Я люблю кофе", "Я люблю чай"),
        ("أحب القهوة", "أحب الشاي"),
    ],
    "changed places": [
        ("Germany beat France", "France beat Germany"),
        ("Tom owes Anna 20 euros", "Anna owes Tom 20 euros"),
        ("A flight from Paris to Rome", "A flight from Rome to Paris"),
        ("철수가 영희에게 책을 줬다", "영희가 철수에게 책을 줬다"),
        ("猫追狗", "狗追猫"),
        ("猫が犬を追いかけた", "犬が猫を追いかけた"),
        ("Der Hund beißt den Mann", "Der Mann beißt den Hund"),
    ],
    "unit": [("It costs $5", "It costs €5"), ("It grew by 5%", "It grew by 5")],
    "only one of them says": [
        ("Only admins can delete", "Admins can delete"),
        ("彼は医者です", "彼女は医者です"),
        ("", "Remember the milk"),
    ],
    "persons": [("My car is red", "Your car is red"), ("He likes tea", "She likes tea")],
    "question": [("Is the server down?", "The server is down.")],
    "another time": [("I live in Paris", "I lived in Paris")],
    "says more": [("The build is slow", "The build is slow since the linker cache disappeared")],
}


@pytest.mark.parametrize(("a", "b"), REWORDED)
def test_a_rewording_is_a_duplicate(a: str, b: str) -> None:
    assert conflict(a, b) is None
    assert is_duplicate(a, b, NEAR, 0.95)


@pytest.mark.parametrize(("reason", "a", "b"), [(why, *pair) for why, pairs in CHANGED.items() for pair in pairs])
def test_a_text_with_one_thing_changed_is_never_a_duplicate_and_the_reason_is_said(reason: str, a: str, b: str) -> None:
    said = conflict(a, b)
    assert said is not None
    assert reason in said
    assert not is_duplicate(a, b, 0.999, 0.0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Dark mode, please!", "dark   mode please"),
        ("caf\u00e9 open", unicodedata.normalize("NFD", "café open")),
        ("ＡＢＣ １２３", "abc 123"),
        ("He said “no”", 'he said "no"'),
        ("soft\u00adware", "software"),
    ],
)
def test_case_white_space_punctuation_and_unicode_form_never_matter(a: str, b: str) -> None:
    assert is_duplicate(a, b, 0.0, 1.0)


@pytest.mark.parametrize(("a", "b"), [("It costs 1.5", "It costs 15"), ("He left", "He left?"), ("up 5", "up -5")])
def test_punctuation_matters_where_it_changes_a_number_or_asks(a: str, b: str) -> None:
    assert not is_duplicate(a, b, 0.999, 0.9)


def test_texts_of_the_same_words_need_less_similarity_than_texts_of_other_words() -> None:
    same = judged("A boy takes a test at school", "The boy is at school taking a test", 0.8, 0.95)
    other = judged("A boy takes a test at school", "Some young pupil sits an exam in class", 0.8, 0.95)
    assert same.duplicate
    assert not other.duplicate
    assert other.score < same.score


def test_a_verdict_says_what_is_missing() -> None:
    verdict = judged("A young child rides a horse", "A child rides a horse", 0.8, 0.95)
    assert verdict.reason == "not alike enough"
    assert judged("A young child rides a horse", "A child rides a horse", 0.8, 0.8).duplicate


def test_a_threshold_of_one_takes_only_the_same_text() -> None:
    assert is_duplicate("Anna likes tea.", "anna likes tea", 0.9, 1.0)
    assert not is_duplicate("Anna likes tea", "Anna is liking tea", 0.99, 1.0)


@pytest.mark.parametrize("threshold", [0.92, 0.95, 0.99])
def test_below_the_least_similarity_no_rewording_is_a_duplicate(threshold: float) -> None:
    pair = ("A boy takes a test at school", "The boy is at school taking a test")
    assert is_duplicate(*pair, least(threshold) + 1e-6, threshold)
    assert not is_duplicate(*pair, least(threshold) - 1e-6, threshold)


def test_long_texts_are_compared_by_what_differs() -> None:
    paragraph = "The billing service keeps its ledger in a database and sends a summary to Anna at 10 every day. "
    long = paragraph * 2000
    assert is_duplicate(long, long.replace(". ", ".\n"), 0.99, 0.95)
    assert "number" in (conflict(long, long + "The port is 8080.") or "")
    assert "another word" in (conflict(long + "The cat slept.", long + "The dog slept.") or "")
    assert not is_duplicate(long, long[::-1], 0.99, 0.95)


@given(texts, texts)
def test_neither_text_comes_first(a: str, b: str) -> None:
    assert judged(a, b, NEAR, 0.95).duplicate == judged(b, a, NEAR, 0.95).duplicate
    assert judged(a, b, NEAR, 0.95).score == pytest.approx(judged(b, a, NEAR, 0.95).score)
    assert (conflict(a, b) is None) == (conflict(b, a) is None)


@given(texts)
def test_a_text_is_a_duplicate_of_itself(text: str) -> None:
    assert conflict(text, text) is None
    assert is_duplicate(text, text, 1.0, 1.0)


@given(texts, texts, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_lower_threshold_or_a_higher_similarity_never_merges_less(
    a: str, b: str, similarity: float, threshold: float, less: float
) -> None:
    if is_duplicate(a, b, similarity, threshold):
        assert is_duplicate(a, b, similarity, threshold * less)
        assert is_duplicate(a, b, max(similarity, less), threshold)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_judged(a: str, b: str) -> None:
    verdict = judged(a, b, 0.9, 0.95)
    assert 0 <= verdict.score <= 1
    assert verdict.duplicate == (verdict.reason is None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run the tool with -x", "Run the tool with --x"),
        ("First a && b", "First a || b"),
        ("The total is a + b", "The total is a - b"),
        ("She got grade A+", "She got grade A-"),
        ("The path is a//b", "The path is a/../b"),
        ("Delete /cache/* every night", "Delete /cache every night"),
        ("The pattern is ^a.*b$", "The pattern is ^a.+b$"),
    ],
)
def test_a_mark_that_decides_in_a_command_or_formula_keeps_two_texts_apart(one: str, other: str) -> None:
    assert not is_duplicate(one, other, 0.99, 0.95)
    assert not is_duplicate(other, one, 0.99, 0.95)
