"""Personal forms: what has a grammar or a check digit is found by it, and only then."""

from __future__ import annotations

import time

import pytest

from form import each
from polymnia.engine.privacy.anonymizer import Anonymizer
from polymnia.engine.privacy.personal_data import forms


def _found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in forms(text)]


@each(
    ("text", "kind", "what"),
    [
        ("to GB29 NWBK 6016 1331 9268 19 today", "iban", "GB29 NWBK 6016 1331 9268 19"),
        ("계좌 DE89370400440532013000으로", "iban", "DE89370400440532013000"),
        ("from 203.0.113.9에서", "ip", "203.0.113.9"),
        ("at 2001:db8::8a2e:370:7334,", "ip", "2001:db8::8a2e:370:7334"),
        ("MAC 00-1B-44-11-3A-B7", "mac", "00-1B-44-11-3A-B7"),
        ("ask @night.owl_7, please", "handle", "@night.owl_7"),
        ("ftp://ann:pw@files.example/x", "user", "ann:pw"),
        ("born on 3rd of May 1981 in", "birth date", "3rd of May 1981"),
        ("née le 2 mai 1971", "birth date", "2 mai 1971"),
        ("1990년 3월 2일생", "birth date", "1990년 3월 2일"),
        ("am 14.02.1990 geboren", "birth date", "14.02.1990"),
        ("at 12 Birch Hill Road, Leeds, LS1 4AP today", "address", "12 Birch Hill Road, Leeds, LS1 4AP"),
        ("in der Lindenstraße 12, 10969 Berlin", "address", "Lindenstraße 12, 10969 Berlin"),
        ("서울특별시 마포구 양화로 45에", "address", "서울특별시 마포구 양화로 45"),
    ],
)
def test_what_has_a_form_is_found(text: str, kind: str, what: str) -> None:
    assert (kind, what) in _found(text)


@pytest.mark.parametrize(
    "text",
    [
        "GB29 NWBK 6016 1331 9268 18",  # the check digits do not fit
        "order 4539 1488 0343 6466",
        "version 10.4.2.1 and v1.2.3.4",
        "127.0.0.1 and 0.0.0.0 and 999.1.1.1",
        "std::vector at 12:30:45",
        "npm install @types/node",
        "The report of 3 May 1981 says so",
        "매출은 전년 대비 3으로 늘었다",
        "Room 12 is free",
    ],
)
def test_what_only_looks_so_stays(text: str) -> None:
    assert _found(text) == []


def test_a_district_or_a_station_is_no_person() -> None:
    text = "강남구와 노원구는 Victoria Station, Charlotte Street 근처가 아니다"
    veil = Anonymizer()
    assert veil.text(text) == text
    assert veil.counts == {}


def test_a_card_is_one_however_it_is_written() -> None:
    veil = Anonymizer()
    assert veil.text("card 4539-1488-0343-6467, that is 4539148803436467") == "card Card 1, that is Card 1"
    assert veil.counts == {"card": 2}


def test_what_was_replaced_is_counted_by_kind_and_one_thing_keeps_its_stand_in() -> None:
    veil = Anonymizer()
    text = veil.text("Ann Lee (ann@x.example) met Ann Lee at 203.0.113.9; see 203.0.113.9")
    assert text == "Person 1 (mail1@example.invalid) met Person 1 at IP address 1; see IP address 1"
    assert veil.counts == {"person": 2, "mail": 1, "ip": 2}


def test_two_capitalized_words_are_a_name_unless_one_is_an_ordinary_word() -> None:
    veil = Anonymizer()
    texts = ["We asked Thessaly Brannock about Blue Harbor", "The harbor is blue"]
    for text in texts:
        veil.learn(text)
    assert veil.value(texts[0]) == "We asked Name 1 about Blue Harbor"


@pytest.mark.long
@pytest.mark.parametrize(
    "shape",
    ["A", "a-", "A-", "1", "1.", "a:", "@a", "@1.", "가", "A b ", "Aa ", "12 Aa ", "0-", "1 ", "born ", "一", "AB12"],
)
def test_a_long_text_takes_time_in_proportion(shape: str) -> None:
    def taken(size: int) -> float:
        text = shape * (size // len(shape))
        began = time.process_time()
        for _ in forms(text):
            pass
        return time.process_time() - began

    taken(10_000)
    assert taken(400_000) < 20 * max(taken(40_000), 0.05)
