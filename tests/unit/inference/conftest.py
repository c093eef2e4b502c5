"""The default model is loaded once for all tests that only read it."""

from __future__ import annotations

import pytest

from polymnia.inference.built_in import MultilingualEmbedder


@pytest.fixture(scope="package")
def use() -> MultilingualEmbedder:
    model = MultilingualEmbedder()
    model.load()
    return model
