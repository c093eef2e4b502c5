"""``packaging/tenants.sql``: the database itself holds each tenant to its projects, whatever a server asks for."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import postgres
from polymnia import Memory, connect
from polymnia.errors import Forbidden

SCRIPT = Path(__file__).parents[4] / "packaging" / "tenants.sql"


def _guard(url: str, tenant: str) -> None:
    psql = postgres.programs() / "psql"
    command = [psql, "--quiet", "--set", f"tenant={tenant}", "--file", SCRIPT, url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def _found(memory: Memory, query: str) -> list[str]:
    return [one for hit in memory.search(query).hits for one in hit.record.observations]


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a store of two tenants, for one of them: its role has the name of its project."""
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with postgres.store() as address:
        url = address.partition("?")[0]
        with psycopg.connect(url) as admin:
            for role in ("acme", "other_tenant"):
                admin.execute(f"DROP ROLE IF EXISTS {role}")
                admin.execute(f"CREATE ROLE {role} LOGIN")
        for project in ("acme", "other_tenant"):
            with connect(address, project=project) as memory:
                memory.remember(f"the port of {project} is 8080")
            _guard(url, project)
        _guard(url, "acme")  # as after an upgrade
        yield address.replace("postgres@", "acme@")
        with psycopg.connect(url) as admin:
            admin.execute("DROP OWNED BY acme, other_tenant")
            admin.execute("DROP ROLE acme, other_tenant")


def test_a_tenant_reads_writes_and_undoes_in_its_projects(acme: str) -> None:
    for project in ("acme", "acme/site"):
        with connect(acme, project=project) as memory:
            memory.remember("the second port is 9090")
            assert _found(memory, "second") == ["the second port is 9090"]
            assert _found(memory, "econd por") == ["the second port is 9090"]
            memory.undo()
            assert _found(memory, "second") == []


def test_a_tenant_backs_up_what_it_may_see(acme: str, tmp_path: Path) -> None:
    with connect(acme, project="acme") as memory:
        memory.store.back_up(str(tmp_path / "acme.db"))
    with connect(str(tmp_path / "acme.db"), project="acme") as copy:
        assert copy.store.projects() == ["acme"]
        assert _found(copy, "port") == ["the port of acme is 8080"]


def test_a_tenant_neither_sees_nor_changes_what_others_have(acme: str) -> None:
    with connect(acme, project="other_tenant") as memory:
        assert memory.store.projects() == ["acme"]
        assert _found(memory, "port") == []
        with pytest.raises(Forbidden, match="row-level security") as refused:
            memory.remember("not mine")
        assert "--project" in refused.value.hint and "user that made the store" not in refused.value.hint
    with psycopg.connect(acme.partition("?")[0]) as connection:
        rows = connection.execute("SELECT count(*) FROM polymnia.observation").fetchone()
        assert rows == (1,)
        connection.execute("UPDATE polymnia.observation SET text = 'changed'")
        connection.execute("DELETE FROM polymnia.change")
    owner = acme.replace("acme@", "postgres@")
    with connect(owner, project="other_tenant") as memory:
        assert _found(memory, "port") == ["the port of other_tenant is 8080"]
        assert len(list(memory.changes())) == 1
