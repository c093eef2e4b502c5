"""Relationships between texts are told with their evidence, and none is told without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.knowledge.relationships import Candidate, found

_ISSUE = Candidate(id="content_a1", title="ISSUE-12: Login fails on Safari", text="The login page stays white.")
_DECISION = Candidate(id="content_b2", title="Decision: use PostgreSQL", text="We keep everything in one database.")
_PAPER = Candidate(id="content_p9", title="A paper", urls=("https://papers.example.org/p1",))
_DESIGN = Candidate(id="content_d4", title="결제 시스템 설계서", text="카드와 계좌 이체를 지원한다.")
_GUIDE = Candidate(id="content_g1", title="Gardening for everyone", text="How to grow roses.")
_ALL = [_ISSUE, _DECISION, _PAPER, _DESIGN, _GUIDE]

_SAID = [
    ("This change fixes ISSUE-12 for good.", "content_a1", "resolves"),
    ('It implements the decision "Decision: use PostgreSQL".', "content_b2", "implements"),
    ("The new cache led to ISSUE-12.", "content_a1", "causes"),
    ("This note describes content_b2.", "content_b2", "describes"),
    ("See content_b2 for the reasons.", "content_b2", "references"),
    ("According to https://papers.example.org/p1 it works.", "content_p9", "cites"),
    ("A chapter of Gardening for everyone.", "content_g1", "part_of"),
    ("As a follow-up to “Gardening for everyone” we look at lawns.", "content_g1", "follows"),
    ("이 코드는 결제 시스템 설계서를 구현했다.", "content_d4", "implements"),
    ("결제 시스템 설계서에 따르면 카드가 필요하다.", "content_d4", "cites"),
    ("결제 시스템 설계서의 후속 문서이다.", "content_d4", "follows"),
    ("결제 시스템 설계서의 일부이다.", "content_d4", "part_of"),
    ("결제 시스템 설계서를 참고하세요.", "content_d4", "references"),
    ("Als Fortsetzung von „Gardening for everyone“ geht es weiter.", "content_g1", "follows"),
    ("Siehe Gardening for everyone.", "content_g1", "references"),
    ("Según https://papers.example.org/p1 funciona.", "content_p9", "cites"),
    ("Es la continuación de Gardening for everyone.", "content_g1", "follows"),
    ("C'est la suite de Gardening for everyone.", "content_g1", "follows"),
    ("Selon https://papers.example.org/p1, oui.", "content_p9", "cites"),
]


@each(("text", "target", "type"), _SAID)
def test_what_a_text_says_of_one_it_names_is_the_type(text, target, type):
    (one,) = found(text, None, _ALL)
    assert (one.target, one.type) == (target, type)
    assert 0 < one.strength <= 1
    assert "“" in one.evidence


@pytest.mark.parametrize(
    "text",
    [
        "It does not fix ISSUE-12.",
        "This could have fixed ISSUE-12.",
        "Somebody asked whether it fixes ISSUE-12.",
        "What was fixed: ISSUE-12?",
    ],
)
def test_what_is_denied_or_left_open_is_a_reference_only(text):
    assert [one.type for one in found(text, None, [_ISSUE])] == ["references"]


@pytest.mark.parametrize(
    "text",
    [
        "Nothing of interest here.",
        "ISSUE-123 is another one.",
        "xcontent_a1 and content_a1x",
        "A paper about gardening",
        "",
    ],
)
def test_a_text_that_names_nothing_is_related_to_nothing(text):
    assert found(text, None, _ALL) == []


def _titled(*titles):
    return [Candidate(id=f"content_{at}", title=title) for at, title in enumerate(titles)]


@pytest.mark.parametrize(
    ("before", "title", "after"),
    [
        ("Garden guide, part 1", "Garden guide, part 2: Roses", "Garden guide, part 3"),
        ("Weekly notes 2024-04-24", "Weekly notes 2024-05-01", "Weekly notes 2024-05-08"),
        ("정원 가꾸기 1부", "정원 가꾸기 2부", "정원 가꾸기 3부"),
        ("회의록 2024년 5월 1일", "회의록 2024년 5월 8일", "회의록 2024년 6월 1일"),
        ("Garten, Teil 1", "Garten, Teil 2", "Garten, Teil 3"),
        ("Historia de Roma, parte I", "Historia de Roma, parte II", "Historia de Roma, parte III"),
        ("Le jardin (1/3)", "Le jardin (2/3)", "Le jardin (3/3)"),
        ("Release notes v1.9", "Release notes v1.10", "Release notes v1.11"),
        ("機械学習入門 第1章", "機械学習入門 第2章", "機械学習入門 第3章"),
    ],
)
def test_titles_of_one_series_follow_each_other(before, title, after):
    told = {one.type: one.target for one in found("words", title, _titled(before, after, "Something else, part 7"))}
    assert told == {"follows": "content_0", "precedes": "content_1"}


def test_only_the_nearest_members_of_a_series_are_told():
    told = found("words", "Garden guide, part 4", _titled("Garden guide, part 1", "Garden guide, part 3"))
    assert [(one.target, one.type) for one in told] == [("content_1", "follows")]


def test_numbers_that_count_nothing_make_no_series():
    assert found("words", "Windows 11", _titled("Windows 10")) == []
    assert found("words", "Part 2", _titled("Part 1")) == []


_LONG = (
    "The pump takes water from the old well behind the barn and lifts it into a wooden tank under the roof, from where"
    " it runs through thin pipes to the kitchen, the stable and the three long beds in which the beans are grown."
)


def test_a_text_that_holds_another_contains_it_and_the_other_is_part_of_it():
    whole = "First the history of the farm is told at length. " * 8 + _LONG + " Then come the fields and the road. " * 8
    small = Candidate(id="content_s", title="Water", text=_LONG)
    assert [(one.target, one.type) for one in found(whole, "Farm", [small])] == [("content_s", "contains")]
    large = Candidate(id="content_l", title="Farm", text=whole)
    assert [(one.target, one.type) for one in found(_LONG, "Water", [large])] == [("content_l", "part_of")]


def test_similar_is_what_the_caller_measured_to_be():
    near = Candidate(id="content_n", similarity=0.81)
    far = Candidate(id="content_f", similarity=0.2)
    (one,) = found("words", None, [near, far])
    assert (one.target, one.type, one.strength) == ("content_n", "similar_to", 0.81)


def test_rare_names_and_tags_in_common_relate_two_texts():
    text = "Yesterday we met Claudia Brandt at the Zentralwerk Institute."
    other = Candidate(id="content_o", text="Our contact is Claudia Brandt.", tags=("water",))
    (one,) = found(text, None, [other, Candidate(id="content_x", text="Nobody we know.")], tags=["water"])
    assert (one.target, one.type) == ("content_o", "related_to")
    assert "Claudia Brandt" in one.evidence
    assert "water" in one.evidence


def test_a_tag_that_everything_bears_relates_nothing():
    many = [Candidate(id=f"content_{at}", text="words", tags=("note", "draft")) for at in range(20)]
    assert found("other words", None, many, tags=["note", "draft"]) == []


@given(st.text(max_size=200), st.none() | st.text(max_size=30), st.lists(st.text(max_size=20), max_size=4))
def test_whatever_is_given_each_target_and_type_is_told_once(text, title, titles):
    told = found(text, title, _titled(*titles))
    assert len({(one.target, one.type) for one in told}) == len(told)
    assert all(0 < one.strength <= 1 and one.evidence for one in told)
