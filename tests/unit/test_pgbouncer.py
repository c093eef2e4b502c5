"""The pgbouncer that tests run through, in transaction mode."""

from __future__ import annotations

import psycopg
import pytest

import pgbouncer
import postgres


def test_connections_change_hands_with_every_transaction() -> None:
    with postgres.database() as url, pgbouncer.pooled(url) as pooled:
        clients = [psycopg.connect(pooled, prepare_threshold=None) for _ in range(6)]
        backends: list[set[object]] = [set() for _ in clients]
        for turn in range(6):
            # Pairs hold both server connections at once, and others with each turn.
            for pair in ((turn, turn + 1), (turn + 2, turn + 4), (turn + 3, turn + 5)):
                for number in (one % 6 for one in pair):
                    backends[number].add((clients[number].execute("SELECT pg_backend_pid()").fetchone() or ())[0])
                for number in pair:
                    clients[number % 6].commit()
        assert len(set.union(*backends)) == 2
        assert any(len(one) == 2 for one in backends)
        for client in clients:
            client.close()


def test_listening_needs_a_direct_connection() -> None:
    """What is said through the pool is heard by who is connected to the server itself."""
    with (
        postgres.database() as url,
        pgbouncer.pooled(url) as pooled,
        psycopg.connect(url, autocommit=True) as direct,
        psycopg.connect(pooled, autocommit=True) as through,
    ):
        direct.execute("LISTEN changes")
        through.execute("SELECT pg_notify('changes', 'said')")
        assert [one.payload for one in direct.notifies(timeout=postgres.DEADLINE, stop_after=1)] == ["said"]


def test_locks_of_a_transaction_hold_through_it() -> None:
    with (
        postgres.database() as url,
        pgbouncer.pooled(url) as pooled,
        psycopg.connect(pooled) as one,
        psycopg.connect(pooled) as other,
    ):
        one.execute("SELECT pg_advisory_xact_lock(7)")
        assert other.execute("SELECT pg_try_advisory_xact_lock(7)").fetchone() == (False,)
        one.commit()
        assert other.execute("SELECT pg_try_advisory_xact_lock(7)").fetchone() == (True,)


def test_startup_options_are_refused() -> None:
    """So a schema is chosen in each transaction, never by options of the connection."""
    refused = pytest.raises(psycopg.OperationalError, match="unsupported startup parameter")
    with postgres.database() as url, pgbouncer.pooled(url) as pooled, refused:
        psycopg.connect(pooled, options="-c statement_timeout=1000")
