"""Which servers a store is made on."""

from __future__ import annotations

import psycopg
import pytest

import postgres
from polymnia import Filters, connect
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


def test_a_store_of_the_second_format_gets_the_tags_that_were_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    tag = Filters(tags=(r"C:\udata",))
    with postgres.database() as url:
        with connect(f"{url}?partitions=2") as memory:
            memory.remember("the letters are kept here", tags=tag.tags)
        with psycopg.connect(url) as connection:
            connection.execute("SET search_path TO polymnia")
            connection.execute("UPDATE store SET version = 2")
            connection.execute("DELETE FROM tag")
        with connect(url) as memory:
            assert len(memory.search("letters", filters=tag).hits) == 1
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT tag FROM polymnia.tag").fetchall() == [tag.tags]
