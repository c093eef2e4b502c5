"""Names: what tells a group of texts from others, as people write it."""

from __future__ import annotations

from polymnia.engine.analysis.topics import distinctive_terms
from polymnia.engine.analysis.topics.names import WordReader

from .planted import ENGLISH, KOREAN


def test_each_group_is_named_by_what_it_is_about() -> None:
    for topic, terms in zip(ENGLISH, distinctive_terms(list(ENGLISH.values())), strict=True):
        assert 2 <= len(terms) <= 4
        assert any(topic in term for term in terms), terms


def test_korean_names_have_no_particles() -> None:
    for topic, terms in zip(KOREAN, distinctive_terms(list(KOREAN.values())), strict=True):
        assert topic in terms
        assert not any(term.endswith(("를", "을", "에서", "으로")) for term in terms)


def test_words_are_shown_as_written_and_not_as_stems() -> None:
    groups = [
        ["replies from Berlin", "all replies were read"],
        ["the batteries are empty", "new batteries came"],
    ]
    first, second = distinctive_terms(groups)
    assert "replies" in first
    assert "batteries" in second


def test_the_usual_case_is_kept() -> None:
    terms = distinctive_terms([["GraphQL server is slow", "our GraphQL schema"], ["walk the dog", "the dog barks"]])[0]
    assert terms[0] == "GraphQL"


def test_a_phrase_stands_where_it_tells_more() -> None:
    groups = [
        ["the exchange rate was bad", "which exchange rate applies", "exchange rate of today"],
        ["the card was lost", "a lost card", "card lost in the bus"],
    ]
    assert "exchange rate" in distinctive_terms(groups)[0]


def test_no_stop_words_and_no_numbers() -> None:
    terms = distinctive_terms(
        [["what is the 2024 of it", "and the 2024 of the tulips", "tulips are what it is"], ["a b"]]
    )
    assert terms[0] == ["tulips"]


def test_what_is_common_in_the_background_tells_nothing() -> None:
    group = ["report on otters", "report about otters", "otters report"]
    assert distinctive_terms([group], ["report on tides"] * 20)[0][0] == "otters"


def test_nothing_to_name() -> None:
    assert distinctive_terms([]) == []
    assert distinctive_terms([[], ["", "the of"]]) == [[], []]


def test_other_scripts_are_named_too() -> None:
    groups = [["東京の天気は晴れ", "大阪の天気は雨"], ["сервер базы данных", "новый сервер"]]
    first, second = distinctive_terms(groups)
    assert "天気" in first
    assert "сервер" in second


def test_a_particle_is_told_from_a_noun_by_what_else_is_written() -> None:
    texts = ["민주주의 역사", "민주주의 토론", "고양이가 잔다", "고양이 사료", "요금이 올랐다", "학교에서 결제를"]
    reader = WordReader(texts)
    found = [word[1] for text in texts for word in reader.read(text) if word]
    assert {"민주주의", "고양이", "요금", "학교", "결제"} <= set(found)
    assert not {"민주주", "고양", "요금이", "결제를"} & set(found)
