"""Contradiction: statements that cannot both hold are told from those that can."""

from __future__ import annotations

from math import isfinite, log

import numpy as np
import pytest
from polymnia.engine.analysis.contradiction import PRIOR, THRESHOLD, judge, probability
from polymnia.engine.analysis.contradiction.features import NAMES, row, setting
from polymnia.engine.analysis.contradiction.model import TOLD, grown, shipped
from polymnia.engine.analysis.contradiction.statement import statement

from polymnia import embedding

from .everyday import CONFLICTS, PEACE

PAIRS = [*CONFLICTS, *PEACE]
TRUTH = [True] * len(CONFLICTS) + [False] * len(PEACE)


@pytest.fixture(scope="module")
def vectors():
    use = embedding.choose("use")[0]
    return use.embed([a for a, _ in PAIRS]), use.embed([b for _, b in PAIRS])


def _right(found) -> float:
    return sum((one.score >= THRESHOLD) == truth for one, truth in zip(found, TRUTH, strict=True)) / len(TRUTH)


def test_the_list_is_long_and_balanced():
    assert len(PAIRS) >= 60
    assert 0.4 < len(CONFLICTS) / len(PAIRS) < 0.6
    assert len(set(PAIRS)) == len(PAIRS)


def test_everyday_notes_are_judged_right_with_vectors(vectors):
    assert _right(judge(PAIRS, vectors, model="use-multilingual-3")) >= 0.9


def test_everyday_notes_are_judged_right_by_words_alone():
    assert _right(judge(PAIRS, None)) >= 0.9


def test_few_alarms_on_everyday_notes_are_false(vectors):
    found = judge(PAIRS, vectors)
    alarms = [truth for one, truth in zip(found, TRUTH, strict=True) if one.score >= 0]
    assert sum(alarms) / len(alarms) >= 0.9


def test_scenes_that_exclude_each_other_are_told_from_scenes_that_follow():
    use = embedding.choose("use")[0]
    first = "A man in a blue shirt is sleeping on a bench in the park"
    others = ["A man is running a marathon", "Somebody is resting outdoors", "Somebody is not resting outdoors"]
    pairs = [(first, other) for other in others]
    excluded, follows, denied = judge(pairs, (use.embed([first] * len(others)), use.embed(others)))
    assert min(excluded.score, denied.score) > THRESHOLD > follows.score


def test_vectors_alone_make_no_pair_surer_than_even(vectors):
    by_words, found = judge(PAIRS, None), judge(PAIRS, vectors)
    assert all(one.score <= max(0.0, words.score) for one, words in zip(found, by_words, strict=True))


def test_statements_of_different_pairs_do_not_contradict(vectors):
    left, right = vectors
    shift = 7
    mixed = [(a, PAIRS[(at + shift) % len(PAIRS)][1]) for at, (a, _) in enumerate(PAIRS)]
    found = judge(mixed, (left, np.roll(right, -shift, axis=0)))
    assert sum(one.score >= 0 for one in found) <= 0.05 * len(mixed)


@pytest.mark.parametrize(
    ("a", "b", "kind", "differs"),
    [
        ("The API timeout is 30 seconds", "The API timeout is 10 seconds", "number", "30 seconds and 10 seconds"),
        ("회의는 월요일이다", "회의는 화요일이다", "date", "월요일이다 and 화요일이다"),
        ("Deploy on Fridays", "Never deploy on Fridays", "negation", "only one is negated"),
        ("Sales rose in spring", "Sales fell in spring", "antonym", "opposite words: rose and fell"),
        ("Today Alice leads the team", "Today Bob leads the team", "name", "Alice and Bob"),
        ("The shirt is green", "The shirt is purple", "value", "green and purple"),
    ],
)
def test_what_differs_is_told_in_words(a, b, kind, differs):
    (found,) = judge([(a, b)], None)
    assert (found.kind, found.differs) == (kind, differs)


def test_a_statement_does_not_contradict_itself():
    for text in ("The build never fails", "배포는 금요일에 하지 않는다", "", "42"):
        (found,) = judge([(text, text)], None)
        assert probability(found.score) < 0.001
        assert found.kind == "meaning"


@pytest.mark.parametrize(
    "pair", [("", ""), ("", "a b"), ("?!", "..."), ("ไม่ดี", "ดี"), ("不行", "行"), ("не", "да"), ("😀", "x")]
)
def test_nothing_breaks_on_what_has_no_words(pair):
    (found,) = judge([pair], (np.zeros((1, 512), np.float32), np.zeros((1, 512), np.float32)))
    assert isfinite(found.score)
    assert found.differs


def test_no_pairs_no_judgements():
    assert judge([], None) == []


def test_unknown_vectors_and_other_models_leave_it_to_the_words(vectors):
    by_words = judge(PAIRS, None)
    zeros = np.zeros_like(vectors[0])
    assert judge(PAIRS, (zeros, vectors[1])) == by_words
    assert judge(PAIRS, vectors, model="some-other-model") == by_words
    assert judge(PAIRS, (np.ones((len(PAIRS), 3)), np.ones((len(PAIRS), 3)))) == by_words
    assert judge(PAIRS, vectors) != by_words


def test_a_pair_is_judged_alike_alone_and_among_others(vectors):
    together = judge(PAIRS, vectors)
    for at in (0, 20, 40, 60):
        (alone,) = judge([PAIRS[at]], (vectors[0][at : at + 1], vectors[1][at : at + 1]))
        assert alone.score == pytest.approx(together[at].score, abs=1e-3)


def test_a_prior_moves_the_odds_and_nothing_else():
    assert probability(0.0) == pytest.approx(0.5)
    assert probability(log(2), PRIOR) == pytest.approx(2 / 3)
    assert probability(0.0, 0.01) == pytest.approx(2 / 101)  # odds of 1:1 at 1:2 are odds of 2:99 at 1:99
    assert probability(-2000.0) == 0.0
    assert probability(2000.0) == 1.0


def test_words_under_a_negation_are_known():
    said = statement("The cat does not sleep here, the dog barks", "english")
    assert {token.said: token.denied for token in said.tokens} == {
        "cat": False,
        "sleep": True,
        "dog": False,
        "barks": False,
    }
    korean = statement("민수는 커피를 마시지 않는다", "korean")
    assert korean.denials == 1
    assert any(token.denied for token in korean.tokens)


def test_features_have_names_and_the_setting_says_who_denies():
    plain, denied = statement("It works", "english"), statement("It does not work", "english")
    assert len(row(plain, denied)) == len(NAMES) == len(set(NAMES))
    assert [setting(plain, plain), setting(plain, denied), setting(denied, plain), setting(denied, denied)] == [
        0,
        1,
        2,
        3,
    ]


def test_trees_are_walked_to_their_leaves():
    nodes = np.array([[0, 1, 2], [-1, 0, 0], [1, 3, 4], [-1, 0, 0], [-1, 0, 0]], np.int32)
    splits = np.array([0.5, 10.0, 2.0, 20.0, 30.0], np.float32)
    rows = np.array([[0.5, 9.0], [1.0, 2.0], [1.0, 3.0]], np.float32)
    assert grown(rows, np.array([0], np.int32), nodes, splits).tolist() == [10.0, 20.0, 30.0]


def test_the_trees_read_as_many_features_as_there_are():
    arrays = shipped().arrays
    assert arrays["words_nodes"][:, 0].max() < len(NAMES)
    assert arrays["vectors_nodes"][:, 0].max() < len(NAMES) + TOLD
