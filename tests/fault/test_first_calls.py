"""The first calls of a fresh server, in parallel, and many clients that call everything: nothing breaks inside.

The default run takes a sample. ``make test-all`` (POLYMNIA_TEST_ALL=1) has every two operations meet on a fresh server
with every embedder there is, and 50 clients; ``python -m bench.first_calls`` does the same, keeps the figure, and
can send every pair to a server of its own, which takes an hour.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import every_call
from every_call import TRANSPORTS, Outcome, Seed
from form import by_form, mostly_long

CLIENTS = by_form(3, 50)
EMBEDDERS = every_call.embedders()

# Each loads much that the other loads too, by another way.
_RISKY = (
    ("memory_retrieve search_content", "memory_system check_system_health"),
    ("memory_retrieve search_content", "memory_analyze detect_conflicts"),
    ("memory_store store_content", "memory_store store_content", "memory_analyze detect_conflicts"),
    ("memory_search", "scope_suggest", "memory_system generate_citation", "memory_system validate_data_integrity"),
)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seed]:
    """A store for each embedder, made when it is first wanted."""
    folder = tmp_path_factory.mktemp("seeds")

    class Made(dict[str, Seed]):
        def __missing__(self, embedder: str) -> Seed:
            self[embedder] = every_call.seeded(folder / embedder, embedder)
            return self[embedder]

    return Made()


def _well(outcome: Outcome) -> bool:
    assert not outcome.failures, "\n".join(outcome.failures)
    return outcome.calls > 0


@pytest.mark.promise("protocol.concurrency.first_calls")
@pytest.mark.parametrize("transport", mostly_long(tuple(TRANSPORTS)))
def test_first_calls_that_come_together_are_answered_and_break_nothing(
    transport: str, seeds: dict[str, Seed], tmp_path: Path
) -> None:
    for labels in _RISKY:
        assert _well(every_call.check_together(labels, seeds["none"], tmp_path, transport=transport, embedder="none"))


@pytest.mark.long
@pytest.mark.promise("protocol.concurrency.first_calls")
@pytest.mark.parametrize("embedder", mostly_long([one for one in EMBEDDERS if one != "none"]))
def test_every_operation_at_once_on_a_fresh_server_with_a_model(
    embedder: str, seeds: dict[str, Seed], tmp_path: Path
) -> None:
    labels = every_call.labels()
    assert _well(every_call.check_together(labels, seeds[embedder], tmp_path, transport="http", embedder=embedder))


@pytest.mark.promise("protocol.concurrency.everything")
def test_every_operation_of_the_table_does_what_it_is_asked(seeds: dict[str, Seed], tmp_path: Path) -> None:
    """What the tests here call is worth calling: a refusal would prove little."""
    seed = seeds["none"]
    with every_call.opened("stdio", every_call.copied(seed, tmp_path), "none") as session:
        for number, label in enumerate(every_call.labels()):
            (id,) = session.send([every_call.call(label, seed, number)])
            answer = session.answer(id)
            assert "error" not in answer, f"{label}: {answer}"
            assert not answer["result"].get("isError"), f"{label}: {answer}"


@pytest.mark.long
@pytest.mark.promise("protocol.concurrency.everything")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_many_clients_that_call_every_operation_meet_no_internal_error(
    transport: str, seeds: dict[str, Seed], tmp_path: Path
) -> None:
    assert _well(every_call.check_crowd(CLIENTS, seeds["none"], tmp_path, transport=transport, embedder="none"))


@pytest.mark.long
@pytest.mark.promise("protocol.concurrency.first_calls")
@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_two_operations_among_the_first_calls_of_a_fresh_server(
    transport: str, embedder: str, seeds: dict[str, Seed], tmp_path: Path
) -> None:
    seed, outcome = seeds[embedder], Outcome()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(
            lambda group: every_call.check_together(group, seed, tmp_path, transport=transport, embedder=embedder),
            every_call.groups(TRANSPORTS[transport]),
        ):
            outcome.add(one)
    assert _well(outcome)
