"""Models of sentence-transformers, with a stand-in for the library."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from polymnia.errors import NoModel
from polymnia.inference.custom import Transformer


class _Model:
    prompts = {"query": "query: "}  # noqa: RUF012

    def __init__(self, name: str) -> None:
        if name == "missing":
            raise OSError("no such model")

    def encode(self, texts: list[str], prompt: str | None, **_: Any) -> Any:
        return np.array([[len((prompt or "") + text), 1.0] for text in texts])


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = _Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("library")
def test_vectors_have_length_one_and_a_query_its_prompt() -> None:
    model = Transformer("some/model")
    assert model.id == "sentence-transformers:some/model"
    assert model.dimensions == 2
    assert model.unrelated == pytest.approx(1, abs=0.01)
    text, query = model.embed(["a"]), model.embed(["a"], query=True)
    assert text[0] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert query[0, 0] > text[0, 0]


@pytest.mark.usefixtures("library")
def test_a_model_that_cannot_be_loaded_is_a_fault() -> None:
    with pytest.raises(NoModel, match="cannot load the model missing: no such model"):
        Transformer("missing").load()


def test_without_the_library_the_fault_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setattr("polymnia.importing._loaded", {})
    with pytest.raises(NoModel, match="not installed") as caught:
        Transformer("some/model").load()
    assert "pip install sentence-transformers" in caught.value.hint
