"""The arithmetic of scores."""

from __future__ import annotations

import numpy as np
import pytest

from polymnia.engine.search import index, lanes, ranking


def links(count: int) -> np.ndarray:
    """Links of turns that all follow each other in one conversation."""
    found = -np.ones((count, 2 * lanes.REACH), dtype=np.int64)
    for at in range(count):
        for step in range(1, lanes.REACH + 1):
            for column, other in ((2 * step - 2, at - step), (2 * step - 1, at + step)):
                if 0 <= other < count:
                    found[at, column] = other
    return found


def test_a_rare_word_weighs_more_than_a_frequent_one_and_none_weighs_less_than_nothing() -> None:
    weights = [lanes.idf(holding, 100) for holding in (0, 1, 10, 100)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_a_word_said_once_in_a_text_of_mean_length_is_worth_one() -> None:
    assert lanes.saturation(np.array([1.0]), index.norm(np.array([10.0]), 10.0)) == pytest.approx([1.0])


def test_a_repeated_word_is_worth_more_but_never_much_more() -> None:
    worth = lanes.saturation(np.array([1.0, 2.0, 100.0]), index.norm(np.array([10.0] * 3), 10.0))
    assert worth[0] < worth[1] < worth[2] < 1 + index.K1


def test_an_empty_store_divides_by_nothing() -> None:
    assert lanes.saturation(np.array([]), index.norm(np.array([]), 0.0)).size == 0
    assert list(lanes.words_score(np.zeros(2), 0.0)) == [0, 0]


def test_a_text_that_says_all_words_scores_about_one() -> None:
    assert lanes.words_score(np.array([5.0, 9.0, 0.0]), 5.0) == pytest.approx([1.0, 1.2, 0.0])


def test_unrelated_meanings_score_nothing() -> None:
    assert ranking.meaning_score(np.array([0.048, 1.0, -1.0]), 0.048) == pytest.approx([0.0, 1.0, -0.2])


def test_words_count_less_in_a_text_of_many_passages() -> None:
    score = ranking.fuse(np.array([1.0] * 3), np.zeros(3), parts=np.array([1, 4, 1000]), coverage=0.0)
    assert score[0] > score[1] > score[2] == pytest.approx(ranking.WEAK.least)


def test_words_count_more_where_some_text_says_most_of_the_query() -> None:
    words, meaning = np.array([0.6, 0.3]), np.array([0.3, 0.9])
    by_meaning, by_words = ranking.fuse(words, meaning, coverage=0.3), ranking.fuse(words, meaning, coverage=0.9)
    assert by_meaning[0] < by_meaning[1]
    assert by_words[0] > by_words[1]


def test_a_text_in_another_script_is_judged_by_its_meaning() -> None:
    words, meaning = np.zeros(2), np.array([0.8, 0.8])
    own, foreign = ranking.fuse(words, meaning, foreign=np.array([False, True]))
    assert foreign > 1.3 * own


def test_a_text_in_another_script_does_not_bury_one_that_says_the_words() -> None:
    own, foreign = ranking.fuse(np.array([0.7, 0.0]), np.array([0.3, 0.45]), foreign=np.array([False, True]))
    assert own > foreign


def test_a_word_said_by_a_neighbour_counts_in_part() -> None:
    held = np.zeros((2, 7))
    held[0, 3] = 1.0
    held[1, 2] = 1.0
    found = ranking.borrow(held, links(7))
    assert found[0, 3] == 1.0
    assert 0 < found[0, 5] < found[0, 4] < 1
    assert found.sum(axis=0).argmax() in {2, 3}
    assert held.sum() == 2, "the input stays as it was"


def test_a_turn_that_says_the_word_itself_gains_nothing_from_its_neighbour() -> None:
    held = np.ones((1, 3))
    assert ranking.borrow(held, links(3)) == pytest.approx(held)


def test_neighbours_lend_score_both_ways_and_keep_their_own() -> None:
    found = ranking.lend(np.array([0.0, 0.0, 1.0, 0.0, 0.0, -0.2]), links(6))
    assert found[2] == 1.0
    assert found[1] == found[3] > found[0] == found[4] > 0
    assert found[5] == -0.2


def test_a_turn_without_neighbours_is_left_alone() -> None:
    alone = -np.ones((2, 2 * lanes.REACH), dtype=np.int64)
    assert ranking.lend(np.array([0.5, 0.4]), alone) == pytest.approx([0.5, 0.4])


def test_a_reranker_moves_what_it_is_sure_of() -> None:
    for strong in (True, False):
        found = ranking.reranked(np.array([0.5, 0.45]), np.array([-8.0, 6.0]), np.array([strong, strong]))
        assert found[1] > found[0]


def test_a_reranker_has_less_to_say_of_a_text_it_has_read_in_part() -> None:
    scores, logits, strong = np.array([0.5, 0.5, 0.5]), np.array([4.0, 4.0, 4.0]), np.array([True, True, True])
    short, page, book = ranking.reranked(scores, logits, strong, lengths=np.array([100, 3_000, 300_000]))
    assert short > page > book
    assert short == pytest.approx(ranking.reranked(scores, logits, strong)[0])


def test_shown_scores_keep_their_order_and_stay_below_one() -> None:
    scores = ranking.probability(np.linspace(-0.5, 3.0, 50))
    assert scores.min() == 0
    assert scores.max() <= 1
    assert np.all(np.diff(scores) >= 0)


def test_a_text_in_another_script_that_was_read_again_has_the_same_chance_on_every_curve() -> None:
    nowhere, logits = np.zeros(3, bool), np.array([2.0, -1.0, -4.0])
    chances = []
    for curve in (ranking.WEAK.curve, ranking.STRONG.curve):
        scores = ranking.rescaled(np.array([0.6, 0.5, 0.3]), ranking.WEAK.curve, curve)
        chances.append(ranking.probability(ranking.reranked(scores, logits, nowhere, curve, ~nowhere), curve))
    assert chances[1] == pytest.approx(chances[0])


def test_a_score_on_another_curve_is_shown_alike() -> None:
    scores = np.linspace(0.0, 1.2, 13)
    there = ranking.rescaled(scores, ranking.WEAK.curve, ranking.STRONG.curve)
    assert ranking.probability(there, ranking.STRONG.curve) == pytest.approx(
        ranking.probability(scores, ranking.WEAK.curve)
    )
