"""A desk for every test of a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from .desk import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    """Commands on an empty store."""
    return Desk(tmp_path, monkeypatch, capsys)
