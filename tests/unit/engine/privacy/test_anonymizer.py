"""Nothing personal is left, and the same person is the same stand-in everywhere in one run."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.privacy.anonymizer import Anonymizer

_FIRST = st.sampled_from(["Ann", "Robert", "Claudia", "Priya", "Hiroshi", "Fatima", "Olga", "José", "Zoë", "Lars"])
_LAST = st.sampled_from(["Lee", "Okafor", "Lindqvist", "Marchetti", "Tanaka", "Oyelaran", "Brandt", "Castellanos"])
_KOREAN = st.sampled_from(["김민수", "이지영", "박서준", "최유리", "정다은", "강호동", "윤성호"])
_MAILS = st.from_regex(r"[a-z]{3,8}\.[a-z]{3,8}@[a-z]{4,9}\.(?:com|co\.kr|de)", fullmatch=True)
_PHONES = st.one_of(
    st.from_regex(r"010-[2-9][0-9]{3}-[0-9]{4}", fullmatch=True),
    st.from_regex(r"\+49 30 [0-9]{7}", fullmatch=True),
    st.from_regex(r"\([2-9][0-9]{2}\) [2-9][0-9]{2}-[0-9]{4}", fullmatch=True),
)
_IDS = st.from_regex(r"(?:user|u|sess)[-_][a-z0-9]{6,12}", fullmatch=True)


def test_one_person_has_one_stand_in_also_in_parts_and_in_other_case():
    shown = Anonymizer().text("Ann Lee met Bob Miller. Ann's idea was good, said Lee. ANN LEE and ann lee agreed.")
    assert shown == "Person 1 met Person 2. Person 1's idea was good, said Person 1. Person 1 and Person 1 agreed."


def test_a_korean_name_goes_with_its_particles_kept():
    shown = Anonymizer().text("김민수 대표가 왔다. 민수 씨는 웃었다. 우리는 김민수에게 전화했다.")
    assert shown == "Person 1 대표가 왔다. Person 1 씨는 웃었다. 우리는 Person 1에게 전화했다."


def test_japanese_and_chinese_names_are_told_by_their_titles():
    assert Anonymizer().text("田中さんは元気です。田中も来ます。") == "Person 1さんは元気です。Person 1も来ます。"
    assert "王小明" not in Anonymizer().text("王小明先生说，王小明会来。")


def test_mails_phones_keys_and_known_ids_are_replaced_each_time_by_the_same():
    text = (
        "u-42 wrote ann.lee@acme.io and ANN.LEE@acme.io, +49 30 1234567, 010-1234-5678, password=hunter2; u-42, u-421"
    )
    one = Anonymizer()
    one.know("user", "u-42")
    shown = one.text(text)
    assert shown == (
        "user-1 wrote mail1@example.invalid and mail1@example.invalid, Phone 1, Phone 2, password=Secret 1; user-1,"
        " u-421"
    )


def test_numbers_that_are_no_phone_numbers_stay():
    text = "On 2024-05-03 at 10:00 we sold 1,234,567 of version 1.2.3 for 99.50; see RFC 2616 and 127.0.0.1."
    assert Anonymizer().text(text) == text


def test_small_words_that_are_also_names_stay_words():
    shown = Anonymizer().text("Mark Twain left. Please mark the page. Will Smith came. Will you come? I will.")
    assert shown == "Person 1 left. Please mark the page. Person 2 came. Will you come? I will."


def test_a_value_keeps_its_structure():
    value = {
        "author": "Zorg Blatt",
        "user_id": "u77",
        "count": 5,
        "done": True,
        "none": None,
        "notes": ["Zorg likes it", {"by": "u77"}],
        "stakeholders": ["Engineering team", "김민수"],
    }
    one = Anonymizer()
    one.learn_value(value)
    assert one.value(value) == {
        "author": "Person 1",
        "user_id": "user-1",
        "count": 5,
        "done": True,
        "none": None,
        "notes": ["Person 1 likes it", {"by": "user-1"}],
        "stakeholders": ["Engineering team", "Person 2"],
    }


def test_two_keys_of_one_person_are_both_kept():
    one = Anonymizer()
    one.meet("Ann Lee")
    shown = one.value({"Ann": 1, "Lee": 2})
    assert sorted(shown.values()) == [1, 2]


def test_a_name_learned_from_a_later_text_is_replaced_in_an_earlier_one():
    one = Anonymizer()
    texts = ["zorblatt called.", "Dr. Zorblatt called again."]
    for text in texts:
        one.learn(text)
    assert [one.text(text) for text in texts] == ["Person 1 called.", "Dr. Person 1 called again."]


def test_the_same_input_gives_the_same_output():
    texts = ["Ann Lee and Bob Miller", "Bob Miller and 김민수 씨"]
    first, second = Anonymizer(), Anonymizer()
    assert [first.text(text) for text in texts] == [second.text(text) for text in texts]


@pytest.mark.long
@given(first=_FIRST, last=_LAST, korean=_KOREAN, mail=_MAILS, phone=_PHONES, user=_IDS, rest=st.text(max_size=60))
def test_nothing_of_the_original_is_left(first, last, korean, mail, phone, user, rest):
    secret = "hunter" + "2x9"
    value = {
        "text": f"{first} {last} wrote. {korean} 씨가 답했다. Mail {mail}, call {phone}, password={secret} for {user}.",
        "more": [f"Yesterday {first} met {last}.", f"{korean}에게", f"see {user}: {mail} / {phone}", f" {rest} "],
    }
    one = Anonymizer()
    one.know("user", user)
    one.learn_value(value)
    shown = json.dumps(one.value(value), ensure_ascii=False)
    kept = shown.replace(json.dumps(rest, ensure_ascii=False)[1:-1], "")
    for original in (f"{first} {last}", korean, mail, phone, secret, user):
        assert original not in kept


@pytest.mark.parametrize("text", ["", " ", "…", "@", "김", "A.", "\n\n"])
def test_texts_with_nobody_in_them_stay(text):
    assert Anonymizer().text(text) == text


def test_somebody_named_late_in_a_long_text_is_replaced_too():
    text = "Ann Lee came. " * 6000 + "Then Olga Brandt came."
    assert "Olga" not in Anonymizer().text(text)
