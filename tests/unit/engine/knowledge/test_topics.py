"""What a text says about itself: its keywords, its topics, and what kind of text it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form, each
from polymnia.engine.knowledge.topics import content_type, keywords, read, topics


@pytest.mark.parametrize(
    ("text", "telling", "empty"),
    [
        ("The compiler rejects the borrowed reference", {"compiler", "borrowed", "reference"}, {"the"}),
        ("Wir haben den Vertrag mit der Druckerei verlängert", {"vertrag", "druckerei", "verlängert"}, {"wir", "der"}),
        ("Le serveur tombe en panne chaque nuit", {"serveur", "panne", "nuit"}, {"le", "en"}),
        ("서버가 매일 밤 멈춘다", {"서버", "매일"}, {"서버가"}),
        (
            "네이버페이 환불과 카카오페이는 회의",
            {"네이버페이", "환불", "카카오페이", "회의"},
            {"네이버페", "카카오페이는"},
        ),
        ("データベースの移行が終わった", {"データベース", "移行"}, {"の"}),
        ("数据库的迁移完成了", {"数据库", "迁移完成"}, {"的"}),
        ("Сервер падает каждую ночь", {"сервер", "падает", "ночь"}, set()),
    ],
)
def test_keywords_are_the_words_that_say_something(text: str, telling: set[str], empty: set[str]):
    found = set(keywords(read(text)))
    assert telling <= found
    assert not empty & found


def test_words_the_scope_shares_come_first():
    filed = ["watering the orchids", "orchids want shade"]
    assert keywords(read("yesterday somebody mentioned orchids"), filed)[0] == "orchids"


def test_addresses_and_numbers_are_no_keywords():
    assert not {"https", "org", "2024"} & set(keywords(read("See https://example.org/a/b from 2024 about pruning")))


@settings(max_examples=by_form(40, 150), deadline=None)
@given(st.text(max_size=200))
def test_keywords_stand_in_the_text(text: str):
    assert all(word in text.lower() for word in keywords(read(text)))


def test_a_topic_below_another_gains_by_what_is_said_of_that():
    found = topics(read("Meeting: our daily standup"))
    assert [one.scope for one in found][:2] == ["work/meetings/standup", "work/meetings"]
    assert set(found[0].words) == {"standup", "meeting"}


def test_topics_know_other_forms_of_their_words():
    assert topics(read("Two customers wrote"))[0].scope == "work/customers"
    assert topics(read("Alle Rechnungen sind bezahlt und die Kunden sind zufrieden"))[0].scope == "work/customers"


@each(
    ("kind", "text"),
    [
        ("notes", "The release moves to May."),
        ("notes", "We asked why it fails. Nobody knew. It was late. The log says more."),
        ("notes", ""),
        ("notes", "Remember: the key is under the mat"),
        ("code", "def area(r):\n    return 3.14 * r * r"),
        ("code", "```sql\nselect name from birds\n```"),
        ("code", "const total = items.reduce((a, b) => a + b, 0);"),
        ("code", "SELECT name FROM birds WHERE wings = 2"),
        ("data", '{"name": "wren", "wings": 2}'),
        ("link", "https://example.org/birds"),
        ("link", "Good overview: https://example.org/birds/wren"),
        ("conversation", "Ana: ¿Vienes mañana?\nLuis: Sí, a las ocho.\nAna: Perfecto."),
        ("conversation", "user: how do I prune roses\nassistant: in March, above an eye"),
        ("list", "- flour\n- eggs\n- milk"),
        ("list", "1. 밀가루\n2. 달걀\n3. 우유"),
        ("plan", "- [ ] write to Ana\n- [x] buy stamps"),
        ("plan", "Next steps:\n- move the database\n- tell the customers"),
        ("question", "When do swallows leave?"),
        ("question", "제비는 언제 떠나요?"),
        ("question", "つばめはいつ去りますか？"),
        ("question", "متى تغادر السنونو؟"),
        ("question", "¿Cuándo se van las golondrinas?"),
    ],
)
def test_the_kind_of_a_text_shows_in_its_looks(kind: str, text: str):
    assert content_type(text) == kind


@pytest.mark.parametrize("text", ["[" * 4_000 + "]" * 4_000, "a = " + " " * 19_000 + "x", "?" * 20_000, "a:" * 9_000])
def test_no_text_is_too_odd_to_be_looked_at(text: str):
    assert content_type(text)


@settings(max_examples=by_form(40, 150), deadline=None)
@given(st.text(max_size=300))
def test_every_text_has_a_kind(text: str):
    assert content_type(text) in {"code", "conversation", "data", "link", "list", "notes", "plan", "question"}
