"""The reranker and the judge: two texts read together, by the network that knows their languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polymnia.inference import built_in as calibration
from polymnia.inference.built_in import PairJudge, Ranker

from . import tiny

pytest.importorskip("onnxruntime")


@pytest.mark.long
def test_two_texts_enter_side_by_side_and_the_longer_one_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Ranker(tiny.folder(tmp_path / "weights"))
    words, places, parts = tiny.table(tmp_path / "weights", "words_scorer_en", "ranker")
    monkeypatch.setitem(calibration.RANK, calibration.ENGLISH, calibration.Calibration(1.0, 0.0))
    for query, text, one, other in (
        ("the cat", "the dogs", [7, 4], [7, 6, 5]),
        ("the cat", "", [7, 4], []),
        ("the cat", "dog " * 400, [7, 4], [6] * 251),
        ("cat " * 400, "the dog", [4] * 251, [7, 6]),
        ("cat " * 400, "dog " * 400, [4] * 126, [6] * 127),
    ):
        ids = [2, *one, 3, *other, 3]
        part = [0] * (len(one) + 2) + [1] * (len(other) + 1)
        logit = float((words[ids] + places[: len(ids)] + parts[part]).sum(axis=0)[0])
        assert model.score(query, [text]) == pytest.approx([1 / (1 + np.exp(-logit))], abs=1e-4)
    assert model.score("the cat", []) == []


def test_a_score_is_calibrated_and_stays_a_chance_at_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Ranker(tiny.folder(tmp_path / "weights"))
    for offset, expected in ((1e30, 1.0), (-1e30, 0.0)):
        monkeypatch.setitem(calibration.RANK, calibration.ENGLISH, calibration.Calibration(1.0, offset))
        assert model.score("the cat", ["the dog"]) == [expected]


def test_english_alone_never_loads_the_other_network(tmp_path: Path) -> None:
    # The folder has the English files alone: the other network could not be loaded from it.
    weights = tiny.folder(tmp_path / "weights")
    assert len(Ranker(weights).score("the cat", ["the dog", "the cats"])) == 2


def test_the_shipped_reranker_knows_an_answer() -> None:
    model = Ranker()
    model.load()
    good, bad = model.score(
        "When was the train late?", ["Yesterday the train was two hours late.", "The cake needs two eggs."]
    )
    assert 0 <= bad < good <= 1
    assert len(model.score("기차가 언제 늦었어?", ["어제 기차가 두 시간 늦었다.", "The cake needs two eggs."])) == 2
    assert model.knows("어제 기차가 늦었다") and model.knows("The train was late") and not model.knows("Τα παιδιά")


def test_a_judgement_is_six_chances_in_any_language_and_order() -> None:
    model = PairJudge()
    model.load()
    pairs = [
        ("The office closes at five.", "The office closes at nine in the evening."),
        ("The office closes at five.", "Penguins swim very well."),
        ("사무실은 다섯 시에 닫는다.", "The office closes at five."),
        ("", ""),
    ]
    found = model.judge(pairs)
    assert [sum(one[:6]) for one in found] == pytest.approx([1] * len(pairs), abs=1e-5)
    assert all(0 <= chance <= 1 for one in found for chance in one[:6])
    assert [one.strong for one in found] == [True, True, False, True]
    assert found[0].clash == found[0].conflict + found[0].update
    assert model.judge([]) == []
    # Among others a pair is judged as it is alone, but for the rounding of the numbers.
    assert model.judge(pairs[:1])[0] == pytest.approx(found[0], abs=0.1)
