"""Embedders by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from polymnia import inference
from polymnia.errors import Invalid
from polymnia.inference import choose, judge, reranker
from polymnia.inference.built_in import PairJudge, Ranker


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("none", []),
        ("multi", ["polymnia-multi-2"]),
        (" use ", ["polymnia-multi-2"]),
        (
            "sentence-transformers:intfloat/multilingual-e5-small",
            ["sentence-transformers:intfloat/multilingual-e5-small"],
        ),
        ("openai:text-embedding-3-small", ["openai:text-embedding-3-small"]),
        ("ollama:nomic-embed-text:v1.5", ["ollama:nomic-embed-text:v1.5"]),
        ("onnx:some/folder", ["onnx:folder"]),
    ],
)
def test_a_name_stands_for(name: str, ids: list[str]) -> None:
    assert [embedder.id for embedder in choose(name)] == ids


@pytest.mark.parametrize("there", [True, False])
def test_without_onnxruntime_the_model_that_needs_numpy_alone_is_left(
    monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.setattr(inference, "_can_run", lambda: there)
    assert [one.id for one in choose("auto")] == (["polymnia-en-1"] if there else []) + ["polymnia-multi-2"]
    assert isinstance(reranker("auto"), Ranker) == there
    assert isinstance(judge("auto"), PairJudge) == there
    assert judge("none") is None


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("mutli", "multi"),
        ("Auto", "auto"),
        ("olama:x", "ollama:MODEL"),
        ("openai", "openai:MODEL"),
        ("onnx: ", "onnx:FOLDER"),
        ("sentence_transformers:x", "sentence-transformers:MODEL"),
        ("none:x", "none"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_and_all_possible_ones(name: str, close: str) -> None:
    with pytest.raises(Invalid) as caught:
        choose(name)
    assert f"did you mean {close}?" in caught.value.message
    assert "sentence-transformers:MODEL" in caught.value.hint


def test_a_name_like_no_other_is_answered_without_a_guess() -> None:
    with pytest.raises(Invalid) as caught:
        choose("")
    assert "did you mean" not in caught.value.message


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host", "http://", "/v1"])
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(Invalid, match="no address"):
        choose("ollama:x", url=url)


def test_a_reranker_goes_with_every_embedder() -> None:
    assert reranker("none") is None
    assert isinstance(reranker("multi"), Ranker)


def test_checking_a_name_imports_nothing_heavy() -> None:
    heavy = {
        "numpy",
        "onnxruntime",
        "tokenizers",
        "urllib.request",
        "dataclasses",
        "json",
        "zipfile",
    }
    code = "import sys; from polymnia.inference import check; check('auto'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not heavy & set(loaded)
