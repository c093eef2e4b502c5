"""A model in a folder: how it pools, how much it reads, and what is said when a file is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polymnia.errors import NoModel
from polymnia.inference.custom import OnnxFolder

from .onnx_file import encoder

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

# unknown, north, east, and a word that only a prompt uses
_ROWS = [[0.0, 0.0, 1.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, -9.0]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"?": 0, "north": 1, "east": 2, "ask": 3}, "unk_token": "?"},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    (tmp_path / "model.onnx").write_bytes(encoder(_ROWS))
    return tmp_path


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))


def test_the_mean_of_the_tokens_is_the_vector(folder: Path) -> None:
    model = OnnxFolder(str(folder))
    assert model.dimensions == 3
    assert model.embed(["north", "north east", ""])[:2].tolist() == [
        [1, 0, 0],
        pytest.approx([0.5**0.5, 0.5**0.5, 0]),
    ]
    assert -1 <= model.unrelated <= 1


def test_the_first_token_is_the_vector_where_the_folder_says_so(folder: Path) -> None:
    _write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    assert OnnxFolder(str(folder)).embed(["north east"]).tolist() == [[1, 0, 0]]


def test_a_model_that_pools_itself_is_taken_at_its_word(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(encoder(_ROWS, "sentence_embedding"))
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 1})
    assert OnnxFolder(str(folder)).embed(["north"]).tolist() == [[1, 0, 0]]


@pytest.mark.parametrize(
    ("note", "key"), [("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")]
)
def test_no_more_is_read_than_the_folder_allows(folder: Path, note: str, key: str) -> None:
    _write(folder / note, {key: 2})
    assert OnnxFolder(str(folder)).embed(["north north east east"]).tolist() == [[1, 0, 0]]


def test_a_query_gets_the_prompt_of_the_folder(folder: Path) -> None:
    _write(folder / "config_sentence_transformers.json", {"prompts": {"query": "ask ", "document": ""}})
    model = OnnxFolder(str(folder))
    assert model.embed(["north"]).tolist() == [[1, 0, 0]]
    assert model.embed(["north"], query=True)[0, 2] < 0


def test_the_id_changes_with_the_weights(folder: Path) -> None:
    first = OnnxFolder(str(folder)).id
    (folder / "model.onnx").write_bytes(encoder(_ROWS[::-1]))
    second = OnnxFolder(str(folder)).id
    assert first != second
    assert first.startswith(f"onnx:{folder.name}-")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(NoModel) as caught:
        OnnxFolder(str(folder)).load()
    assert str(folder / name) in caught.value.message


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_broken_file_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text("{broken")
    with pytest.raises(NoModel) as caught:
        OnnxFolder(str(folder)).load()
    assert name in caught.value.message
