"""Which servers a store is made on."""

from __future__ import annotations

import pytest

import postgres
from polymnia import connect
from polymnia.errors import Forbidden
from polymnia.storage.postgres import schema


def test_a_server_that_is_too_old_is_refused_by_its_version_with_the_one_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schema, "OLDEST", 990_000)
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with postgres.database() as url, connect(url) as memory, pytest.raises(Forbidden) as raised:
        memory.remember("tea")
    assert f"is PostgreSQL {postgres.VERSION}, which is too old" in raised.value.message
    assert raised.value.hint == "Polymnia needs PostgreSQL 99 or newer."
