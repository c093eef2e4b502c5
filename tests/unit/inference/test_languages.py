"""Which embedder is asked about a text, by its letters and small words."""

from __future__ import annotations

import pytest

from form import each
from polymnia.inference.built_in import is_english, is_multilingual

_KNOWN_TO_USE = [
    "The children are playing football in the park.",
    "Die Kinder spielen Fußball im Park und wir sehen zu.",
    "Les enfants jouent au football dans le parc.",
    "Los niños juegan al fútbol en el parque.",
    "I bambini giocano a calcio nel parco.",
    "As crianças estão jogando futebol no parque.",
    "De kinderen spelen voetbal in het park.",
    "Dzieci grają w piłkę nożną w parku.",
    "Çocuklar parkta futbol oynuyor.",
    "Дети играют в футбол в парке.",
    "الأطفال يلعبون كرة القدم في الحديقة.",
    "เด็กๆ กำลังเล่นฟุตบอลในสวนสาธารณะ",
    "孩子们在公园里踢足球。",
    "子どもたちは公園でサッカーをしています。",
    "아이들이 공원에서 축구를 하고 있다.",
    "Anak-anak bermain sepak bola di taman.",
]
_UNKNOWN_TO_USE = [
    "बच्चे पार्क में फुटबॉल खेल रहे हैं।",
    "Τα παιδιά παίζουν ποδόσφαιρο στο πάρκο.",
    "הילדים משחקים כדורגל בפארק.",
    "ბავშვები პარკში ფეხბურთს თამაშობენ.",
    "குழந்தைகள் பூங்காவில் கால்பந்து விளையாடுகிறார்கள்.",
    "کودکان در پارک فوتبال بازی می‌کنند.",
    "بچے پارک میں فٹ بال کھیل رہے ہیں۔",
    "Bọn trẻ đang chơi bóng đá trong công viên.",
    "Hän unohti salasanansa, mutta minä olen täällä.",
    "Alisahau nenosiri lake na hawezi kuingia kwa sasa.",
    "Vlak do města měl dvě hodiny zpoždění.",
    "Az orvos új gyógyszert írt fel, és nem kell fizetni.",
    "Jag såg att det var på bordet och inte under.",
]


@each("text", _KNOWN_TO_USE)
def test_use_knows(text: str) -> None:
    assert is_multilingual(text)


@each("text", _UNKNOWN_TO_USE)
def test_use_does_not_know(text: str) -> None:
    assert not is_multilingual(text)


@pytest.mark.parametrize(
    "text",
    ["", "42", "ADR-016", "Caroline", "getUserName", "😀", "invoice from Dvořák about the new piano", "pay rent"],
)
def test_without_a_sign_a_text_is_taken_for_known(text: str) -> None:
    assert is_multilingual(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where did I put the keys?",
        "the café was closed",
        "ADR-016",
        "",
        "our naïve Bayes filter in São Paulo",
        "pay rent",
    ],
)
def test_english_is_english(text: str) -> None:
    assert is_english(text)


@each("text", [*_KNOWN_TO_USE[1:], *_UNKNOWN_TO_USE])
def test_nothing_but_english_is_english(text: str) -> None:
    assert not is_english(text)
