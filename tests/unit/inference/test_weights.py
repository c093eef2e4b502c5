"""Weight files: every model refuses one that is missing or not the right one, says so, and uses nothing of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from form import mostly_long
from polymnia.errors import NoModel
from polymnia.inference.built_in import EnglishEmbedder, MultilingualEmbedder, PairJudge, Ranker
from polymnia.inference.statements import StatementKinds
from polymnia.inference.weights import SHIPPED, Weights

from . import tiny

pytest.importorskip("onnxruntime")

_FILES = {
    "embedder_en.onnx": lambda weights: EnglishEmbedder(weights).embed(["a"]),
    "words_embedder_en.npz": lambda weights: EnglishEmbedder(weights).load(),
    "ranker_en.onnx": lambda weights: Ranker(weights).score("the cat", ["the dog"]),
    "judge_en.onnx": lambda weights: PairJudge(weights).judge([("the cat", "the dog")]),
    "kinds.npz": lambda weights: StatementKinds(weights).load(),
    "words_scorer_en.npz": lambda weights: PairJudge(weights).judge([("the cat", "the dog")]),
    "vocab.txt": lambda weights: EnglishEmbedder(weights).load(),
    "encoder_multi.npz": lambda weights: MultilingualEmbedder(weights).load(),
    "sp.model": lambda weights: MultilingualEmbedder(weights).load(),
    "scorer_multi.onnx": lambda weights: PairJudge(weights).judge([("고양이", "개")]),
    "places_multi.npz": lambda weights: Ranker(weights).score("고양이", ["개"]),
}


def _folder(place: Path, name: str, content: bytes | None) -> Weights:
    """The shipped files, one of them with another content, or without it."""
    place.mkdir()
    for file in os.listdir(SHIPPED.folder):
        if file != name:
            os.symlink(os.path.join(SHIPPED.folder, file), place / file)
    if content is not None:
        (place / name).write_bytes(content)
    return Weights(str(place))


def _shipped(name: str) -> bytes:
    return (Path(SHIPPED.folder) / name).read_bytes()


@pytest.mark.promise("search.broken_model")
@pytest.mark.parametrize("name", mostly_long(list(_FILES), 2))
def test_a_wrong_or_missing_file_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    use: Callable[[Weights], object] = _FILES[name]
    weights = _folder(tmp_path / "missing", name, None)
    with pytest.raises(NoModel, match="cannot be read") as caught:
        use(weights)
    assert caught.value.details["path"] == os.path.join(weights.folder, name)
    whole = _shipped(name)
    # Another file of the same form is no better: a swapped network would answer, and wrongly.
    alike = [file for file in _FILES if file != name and file.endswith(name[-5:])]
    other = (alike or ["places_multi.npz"])[0]
    for how, content in {
        "cut off": whole[:-1],
        "empty": b"",
        "one bit": whole[:-1] + bytes([whole[-1] ^ 1]),
        "swapped": _shipped(other),
    }.items():
        weights = _folder(tmp_path / how, name, content)
        with pytest.raises(NoModel, match="SHA-256") as caught:
            use(weights)
        assert os.path.join(weights.folder, name) in caught.value.message
        assert "pip install --force-reinstall" in (caught.value.hint or "")
        with pytest.raises(NoModel, match="SHA-256"):
            weights.check()


def test_a_missing_or_damaged_list_of_hashes_is_told(tmp_path: Path) -> None:
    weights = tiny.folder(tmp_path / "weights")
    sums = tmp_path / "weights" / "SHA256SUMS"
    for content, told in (("abc", "damaged"), ("", "does not list it")):
        sums.write_text(content)
        with pytest.raises(NoModel, match=told):
            EnglishEmbedder(weights).load()
    sums.unlink()
    with pytest.raises(NoModel, match="cannot be read"):
        EnglishEmbedder(weights).load()


def test_after_a_failed_load_the_next_one_may_succeed(tmp_path: Path) -> None:
    place = tmp_path / "weights"
    weights = tiny.folder(place)
    shutil.move(place / "embedder_en.onnx", tmp_path / "away")
    model = EnglishEmbedder(weights)
    with pytest.raises(NoModel):
        model.load()
    shutil.move(tmp_path / "away", place / "embedder_en.onnx")
    assert model.embed(["a"]).shape == (1, 384)


def test_a_file_that_is_no_network_is_a_fault_that_names_it(tmp_path: Path) -> None:
    place = tmp_path / "weights"
    weights = tiny.folder(place)
    (place / "embedder_en.onnx").write_bytes(b"not a model")
    tiny.list_sums(place)
    with pytest.raises(NoModel, match=r"embedder_en\.onnx cannot be used"):
        EnglishEmbedder(weights).load()


def test_every_shipped_file_is_listed_and_right() -> None:
    there = {name for name in os.listdir(SHIPPED.folder) if name != "SHA256SUMS"}
    assert set(_FILES) == there  # each of them is tried above
    SHIPPED.verified(*there)
