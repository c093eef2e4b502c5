"""The default model is loaded once for all tests that only read it."""

from __future__ import annotations

import pytest

from polymnia.inference.built_in import Use


@pytest.fixture(scope="package")
def use() -> Use:
    model = Use()
    model.load()
    return model
