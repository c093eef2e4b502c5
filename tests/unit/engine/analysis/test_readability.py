"""Readability: the same thing said harder scores lower, in every language that has a measure."""

from __future__ import annotations

import pytest

from form import each
from polymnia.engine.analysis.readability import readability, syllables

PAIRS = {
    "en": (
        "The boat left late. It was dark. The sea was calm and we saw the light of the town.",
        "Notwithstanding the considerably delayed departure of the vessel, atmospheric conditions remained favourable, "
        "permitting passengers unobstructed observation of municipal illumination across the tranquil waters.",
    ),
    "ko": (
        "배가 늦게 떠났다. 밤은 어두웠다. 바다는 조용했다. 우리는 마을의 불빛을 보았다.",
        "선박의 출항이 상당히 지연되었음에도 불구하고 기상 조건의 안정성으로 인하여 승객들은 해상에서 도시 "
        "조명을 지속적으로 관측할 수 있었으며, "
        "이는 관광 산업의 활성화에 긍정적 영향을 미칠 것으로 전망된다.",
    ),
    "de": (
        "Das Boot fuhr spät ab. Es war schon dunkel. Das Meer war still, und wir sahen das Licht der Stadt.",
        "Ungeachtet der beträchtlichen Verspätung der Abfahrt ermöglichten die außergewöhnlich vorteilhaften "
        "Witterungsverhältnisse den Passagieren eine uneingeschränkte Beobachtung der städtischen "
        "Beleuchtungseinrichtungen.",
    ),
    "fr": (
        "Le bateau est parti tard. La nuit est noire. La mer est calme et nous avons vu la ville.",
        "Nonobstant le retard considérable de l'embarcation, les conditions météorologiques particulièrement "
        "favorables "
        "autorisaient les passagers à une observation ininterrompue des illuminations municipales.",
    ),
    "es": (
        "El barco salió tarde. La noche era negra. El mar estaba en calma y vimos la luz de la ciudad.",
        "No obstante el considerable retraso de la embarcación, las condiciones meteorológicas extraordinariamente "
        "favorables permitieron a los pasajeros la observación ininterrumpida de las iluminaciones municipales.",
    ),
    "it": (
        "La barca è partita tardi. La notte era nera. Il mare era calmo e noi abbiamo visto la città.",
        "Nonostante il considerevole ritardo dell'imbarcazione, le condizioni meteorologiche particolarmente "
        "favorevoli "
        "consentivano ai passeggeri un'osservazione ininterrotta delle illuminazioni municipali della località.",
    ),
    "ru": (
        "Лодка ушла поздно. Ночь была тёмной. Море было тихим, и мы видели свет города.",
        "Несмотря на значительную задержку отправления судна, исключительно благоприятные метеорологические условия "
        "предоставляли пассажирам возможность беспрепятственного наблюдения за муниципальным освещением.",
    ),
    "sv": (
        "Båten gick sent. Det var mörkt och vi såg inte land. Havet var lugnt och vi var glada.",
        "Trots den betydande förseningen möjliggjorde exceptionellt gynnsamma väderförhållanden för passagerarna en "
        "oavbruten observation av kommunens belysningsanläggningar längs den vidsträckta kustremsan.",
    ),
}


@pytest.mark.parametrize("language", PAIRS)
def test_the_harder_text_scores_lower(language: str) -> None:
    easy, hard = readability(PAIRS[language][0]), readability(PAIRS[language][1], language)
    assert easy.language == hard.language == language
    assert easy.score is not None and hard.score is not None
    assert 0.0 <= hard.score < easy.score - 0.2 and easy.score <= 1.0
    assert easy.method and easy.metrics.keys() == hard.metrics.keys()


def test_length_alone_changes_little() -> None:
    text = PAIRS["en"][0]
    once, often = readability(text).score, readability("\n".join([text] * 12)).score
    assert once is not None and often is not None
    assert abs(once - often) < 0.12


def test_each_measure_alone_makes_a_text_harder() -> None:
    plain = "The old man took the bus to the town and he sat by the door. " * 6
    score = readability(plain).score
    assert score is not None
    for harder in (
        plain.replace(" and he sat", ", and, when the bus was full and all the seats were gone at last, he sat"),
        plain.replace("old", "elderly").replace("bus", "conveyance").replace("town", "municipality"),
        plain.replace(". The", ", and the"),
    ):
        found = readability(harder).score
        assert found is not None and found < score


def test_a_heading_is_no_sentence() -> None:
    text = "We went to the sea with all of our friends and stayed there for a week.\nIt was warm and we swam every day."
    headed = "The sea\n" + text.replace("\n", "\nThe week\n")
    assert readability(text).metrics["words_per_sentence"] == readability(headed).metrics["words_per_sentence"]


@pytest.mark.parametrize("text", ["", "  ", "ok", "one two", "안녕"])
def test_too_little_has_no_score_and_says_so(text: str) -> None:
    found = readability(text)
    assert found.score is None and found.note


@pytest.mark.parametrize(
    "text", ["これは日本語の文章です。とても短いです。", "这是一个中文句子。它很短。", "นี่คือประโยคภาษาไทยสั้นๆ ครับ"]
)
def test_where_nothing_is_known_it_says_so(text: str) -> None:
    found = readability(text)
    assert found.score is None and found.note == "unknown_language"


def test_the_grade_is_that_of_flesch_and_kincaid() -> None:
    easy, hard = (readability(text) for text in PAIRS["en"])
    assert easy.grade is not None and hard.grade is not None
    assert easy.grade < 4 < 15 < hard.grade
    assert readability(PAIRS["ko"][0]).grade is None


@each(
    ("word", "language", "count"),
    [
        ("cat", "en", 1),
        ("table", "en", 2),
        ("make", "en", 1),
        ("wanted", "en", 2),
        ("walked", "en", 1),
        ("houses", "en", 2),
        ("idea", "en", 3),
        ("beautiful", "en", 3),
        ("organisation", "en", 5),
        ("Haus", "de", 1),
        ("Straße", "de", 2),
        ("Beleuchtung", "de", 3),
        ("ciudad", "es", 2),
        ("река", "ru", 2),
        ("maison", "fr", 2),
        ("città", "it", 2),
    ],
)
def test_syllables(word: str, language: str, count: int) -> None:
    assert syllables(word, language) == count
