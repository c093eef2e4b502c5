"""Index terms of texts, and what queries ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.text.words import groups, similar, terms


def finds(query: str, text: str) -> bool:
    """Whether every thing the query asks for is met by the text."""
    held = terms(text).counts
    asked = [group for group in groups(query) if not group.bonus]
    return bool(asked) and all(any(term in held for term, _ in group.alternatives) for group in asked)


def share(query: str, text: str) -> float:
    """The share of what a query asks for that a text meets, by weight."""
    held = terms(text).counts
    asked = [group.alternatives for group in groups(query) if not group.bonus]
    met = sum(max((weight for term, weight in forms if term in held), default=0.0) for forms in asked)
    return met / sum(forms[0][1] for forms in asked)


@each(
    ("query", "text"),
    [
        ("running shoes", "I run in an old shoe"),
        ("CAROLINE", "Caroline's new house"),
        ("Häuser", "Das Haus ist alt und die Tür ist neu"),
        ("das alte Haus", "In den alten Häusern wohnen viele Leute"),
        ("les chevaux noirs", "Il a vu un cheval noir dans la rue"),
        ("canciones", "Esta es la canción que me gusta"),
        ("книги", "Я читаю книгу о море"),
        ("हिन्दी", "यह हिन्दी में लिखा है"),
        ("κόσμος", "Καλημέρα κόσμε"),
        ("schon", "Das ist schön"),
        ("cafe", "We met at the café"),
        ("strasse", "Die Straße ist lang"),
        ("Øresund", "the Oresund bridge"),
        ("CPU", "Two CPUs and some URLs"),
        ("CPUs", "a CPU"),
        ("cpus", "Two CPUs and some URLs"),
        ("urls", "parseURLsOf a page"),
        ("XML server", "the XMLServer starts"),
    ],
)
def test_a_word_is_found_in_another_form(query: str, text: str) -> None:
    assert finds(query, text)


@each(
    "query",
    """ADR-016|adr016|ADR 16|user-profile-feature|userProfileFeature|user_profile_feature|profile|getUserName|user name|
src/engine/words.py|words.py|v1.2.3|bob@example.com|example.com|https://example.com/a/b|std::vector|C++|1,000|1000|
15th|O'Brien|Brien""".replace("\n", "").split("|"),
)
def test_an_identifier_is_found_whole_and_by_its_parts(query: str) -> None:
    text = (
        "See ADR-016 on user-profile-feature: getUserName in src/engine/words.py since v1.2.3, ask bob@example.com or "
        "read https://example.com/a/b. std::vector in C++ holds 1,000 of O'Brien, due March 15th"
    )
    held = terms(text).counts
    assert any(term in held for group in groups(query) for term, _ in group.alternatives)
    assert share(query, text) >= 0.5


def test_the_whole_of_an_identifier_is_a_bonus() -> None:
    whole = [group for group in groups("ADR-016") if group.bonus]
    assert [group.word for group in whole] == ["ADR-016"]
    assert whole[0].alternatives[0][0] in terms("as ADR-016 says").counts
    assert whole[0].alternatives[0][0] not in terms("ADR 017 and room 016").counts


@each(
    ("query", "text"),
    [
        ("회의", "서울에서 열린 국제회의에 참석했다"),
        ("서울특별시는", "서울특별시에서 열렸다"),
        ("집은", "우리는 집에서 쉬었다"),
        ("1989년에", "1989년의 일"),
        ("喜欢猫", "我很喜欢猫和狗"),
        ("猫", "小猫咪在睡觉"),
        ("谁买了车", "他昨天买一辆车"),
        ("東京タワー", "昨日は東京タワーへ行った"),
        ("5月", "2023年5月8日"),
        ("แมว", "ฉันรักแมวของฉัน"),
    ],
)
def test_scripts_without_spaces_are_found_by_pairs(query: str, text: str) -> None:
    assert share(query, text) >= 0.4
    assert share(query, "오늘 날씨가 좋다 今天天气 天気 อากาศ") < 0.3


def test_a_korean_ending_counts_less_than_the_root() -> None:
    weights = {term: weight for group in groups("임종석이") for term, weight in group.alternatives}
    assert weights["석이"] < weights["종석"] == weights["임종"]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("What did Caroline paint in the summer?", ["Caroline", "paint", "summer"]),
        ("When did we meet in May?", ["meet", "May"]),
        ("people in the US", ["people", "US"]),
        ("Wo ist der Schlüssel?", ["Schlüssel"]),
        ("¿Dónde está la llave?", ["llave"]),
        ("What's Bob's plan?", ["Bob", "plan"]),
    ],
)
def test_stop_words_are_not_asked_for(query: str, asked: list[str]) -> None:
    assert [group.word for group in groups(query) if not group.bonus] == asked


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert [group.word for group in groups("to be or not to be")] == ["to", "be", "or", "not"]


def test_stop_words_are_kept_in_texts() -> None:
    assert "the" in terms("The Who").counts


@pytest.mark.parametrize(
    "query", ["a AND b", '"rust" OR x*', "title:(foo", "NEAR(a b)", "-x ^y", "%_\\", "'; DROP TABLE"]
)
def test_nothing_in_a_query_is_syntax(query: str) -> None:
    assert all(group.alternatives for group in groups(query))


def test_the_speaker_of_a_text_counts_more_than_a_mention() -> None:
    assert terms("Caroline: I paint").counts["caroline"] > terms("Thanks, Caroline, I paint").counts["caroline"]


def test_the_length_of_a_text_is_its_words() -> None:
    assert terms("one two three").length == 3
    assert terms("").length == 0


def test_words_mean_the_same_in_any_normal_form() -> None:
    assert terms("cafe\u0301 ｆｕｌｌ") == terms("café full")
    assert terms("\u1112\u1161\u11ab\u1100\u1173\u11af") == terms("한글")


@given(st.text(max_size=300))
def test_any_text_has_terms_no_longer_than_64_and_finds_itself(text: str) -> None:
    held = terms(text).counts
    assert all(0 < len(term) <= 64 for term in held)
    for group in groups(text):
        assert group.alternatives
        assert all(0 < weight <= 1 for _, weight in group.alternatives)


@given(st.text(alphabet="abcXYZ019-_./:@'é한猫 ", max_size=80))
def test_a_text_without_label_meets_what_it_asks_for_itself(text: str) -> None:
    held = terms(text).counts
    for group in groups(text):
        assert any(term in held for term, _ in group.alternatives)


@pytest.mark.long
def test_a_very_long_token_is_read_in_linear_time() -> None:
    terms("a-" * 200_000)
    terms("://" * 200_000)
    groups("_" * 200_000 + "é")


@pytest.mark.parametrize(
    ("word", "term"),
    [("recieve", "receive"), ("kubernets", "kubernetes"), ("Carolien", "caroline"), ("colour", "color")],
)
def test_a_slip_of_the_pen_is_similar(word: str, term: str) -> None:
    assert similar(word, term) > 0.7


@pytest.mark.parametrize(("word", "term"), [("cat", "car"), ("house", "mouth"), ("ab", "abcdef"), ("summer", "winter")])
def test_another_word_is_not_similar(word: str, term: str) -> None:
    assert similar(word, term) == 0


def test_a_word_is_most_similar_to_itself() -> None:
    assert similar("Receive", "receive") == 1
