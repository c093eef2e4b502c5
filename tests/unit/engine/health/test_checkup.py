"""A checkup: every part is tried, and whatever is wrong with it shows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from polymnia import EntityDraft, Memory
from polymnia.dialects.content.reports.health import message
from polymnia.engine.health import checkup
from polymnia.engine.health.checkup import COMPONENTS, HealthReport, check
from polymnia.engine.health.counters import Counters
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.errors import Invalid, NoModel
from polymnia.storage.sqlite import SqliteStore

from ..search.toys import Toy


class Desk:
    """A memory with a few texts and a toy model."""

    def __init__(self, path: Path, *toys: Toy) -> None:
        self.path = path / "memory.db"
        self.store = SqliteStore(str(self.path), busy_timeout=0.2, analyst=Analysis())
        self.toys = toys
        self.memory = Memory(self.store, finding=LazySearch(lambda: Finder(self.store, embedders=self.toys)))
        self.memory.create_entities([EntityDraft("강", "place", ("물이 흐른다", "Carries water to the mill"))])

    def fill(self) -> None:
        """Give every text its vectors."""
        self.memory.finding().reindex("default", lambda *_: None)

    def check(self, **asked: Any) -> HealthReport:
        return check(self.memory, **asked)


@pytest.fixture
def toy() -> Toy:
    return Toy()


@pytest.fixture
def desk(tmp_path: Path, toy: Toy) -> Iterator[Desk]:
    desk = Desk(tmp_path, toy)
    desk.fill()
    yield desk
    desk.memory.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "_WAIT", 0.05)


def test_a_sound_server_is_healthy_in_all_its_parts(desk: Desk) -> None:
    found = desk.check(detailed=True)
    assert {name: one.status for name, one in found.components.items()} == dict.fromkeys(COMPONENTS, "healthy")
    assert found.status == "healthy"


def test_the_metrics_are_those_of_the_store(desk: Desk) -> None:
    parts = desk.check(detailed=True).components
    database = parts["database"].metrics
    assert (database["memories"], database["relationships"], database["projects"]) == (1, 0, 1)
    assert database["format"] == desk.store.about()["format"]
    assert database["pages_checked"] > 10
    assert database["read_ms"] > 0 and database["write_ms"] > 0
    vectors = parts["vector_store"].metrics
    assert (vectors["vectors"], vectors["pending"], vectors["found"]) == (2, 0, 1)
    (model,) = parts["ai_service"].metrics["models"]
    assert (model["id"], model["dimensions"]) == ("toy", 256)
    assert parts["cache"].metrics["projects"] == 1
    assert parts["cache"].metrics["passages"] == 3
    assert parts["cache"].metrics["bytes"] > 0


def test_only_the_asked_parts_are_tried(desk: Desk) -> None:
    assert set(desk.check(components=["cache", "database"]).components) == {"database", "cache"}


def test_an_unknown_part_is_refused_by_name(desk: Desk) -> None:
    with pytest.raises(Invalid, match=r"'disk'.*database, vector_store, ai_service, cache"):
        desk.check(components=["disk"])


def test_a_check_leaves_nothing_in_the_store(desk: Desk) -> None:
    before = desk.store.stamp("default"), desk.store.projects(), desk.memory.changes()
    check(desk.memory.acting("someone", project="never made"))
    desk.check(detailed=True)
    assert (desk.store.stamp("default"), desk.store.projects(), desk.memory.changes()) == before


def test_the_file_is_read_whole_only_in_detail(desk: Desk) -> None:
    assert "pages_checked" not in desk.check().components["database"].metrics


def test_no_model_by_choice_is_healthy_and_says_so(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    parts = desk.check().components
    desk.memory.close()
    assert (parts["ai_service"].status, parts["vector_store"].status) == ("healthy", "healthy")
    assert "words alone" in message(parts["ai_service"])
    assert "switched off" in message(parts["vector_store"])


# ── what is wrong shows ───────────────────────────────────────────────────────────────────────────────────


def test_a_model_that_breaks_is_unhealthy_and_the_whole_with_it(desk: Desk, toy: Toy) -> None:
    toy.broken = RuntimeError("out of ink")
    found = desk.check()
    assert found.status == found.components["ai_service"].status == "unhealthy"
    assert "out of ink" in message(found.components["ai_service"])
    assert found.components["database"].status == "healthy"


def test_a_model_that_recovers_is_healthy_again(desk: Desk, toy: Toy) -> None:
    toy.broken = RuntimeError("out of ink")
    desk.check(components=["ai_service"])
    toy.broken = None
    assert desk.check(components=["ai_service"]).status == "healthy"


def test_a_model_that_cannot_be_had_says_why(tmp_path: Path, toy: Toy) -> None:
    toy.unloadable = NoModel("The weights are not there")
    desk = Desk(tmp_path, toy)
    part = desk.check(components=["ai_service"]).components["ai_service"]
    desk.memory.close()
    assert (part.status, "The weights are not there" in message(part)) == ("unhealthy", True)


def test_one_broken_model_of_two_degrades(tmp_path: Path, toy: Toy) -> None:
    toy.broken = RuntimeError("out of ink")
    desk = Desk(tmp_path, toy, Toy("other", 64))
    part = desk.check(components=["ai_service"]).components["ai_service"]
    desk.memory.close()
    assert part.status == "degraded"
    assert [model["status"] for model in part.metrics["models"]] == ["unhealthy", "healthy"]


@pytest.mark.parametrize(
    "made", [np.zeros((1, 3), np.float32), np.zeros((1, 256), np.float32), np.full((1, 256), np.nan, np.float32)]
)
def test_a_model_that_gives_no_proper_vector_is_unhealthy(desk: Desk, toy: Toy, made: Any) -> None:
    toy.embed = lambda texts, query=False: made  # type: ignore[method-assign]
    assert desk.check(components=["ai_service"]).status == "unhealthy"


def test_a_model_that_does_not_answer_holds_nobody_up(desk: Desk, toy: Toy, impatient: None) -> None:
    toy.asking.clear()
    part = desk.check(components=["ai_service"]).components["ai_service"]
    toy.asking.set()
    assert part.status == "degraded"
    assert "no answer" in message(part)


def test_passages_without_vectors_show(tmp_path: Path, toy: Toy) -> None:
    toy.unloadable = NoModel("The weights are not there")
    desk = Desk(tmp_path, toy)
    part = desk.check(components=["vector_store"]).components["vector_store"]
    desk.memory.close()
    assert (part.status, part.metrics["pending"], part.metrics["vectors"]) == ("degraded", 2, 0)
    assert "2 passage(s)" in message(part)


def test_a_store_somebody_holds_is_degraded_and_still_read(desk: Desk) -> None:
    other = SqliteStore(str(desk.path), analyst=Analysis())
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with other.write("default", "other", "hold"):
            entered.set()
            leave.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(30)
    part = desk.check(components=["database"]).components["database"]
    leave.set()
    holder.join()
    other.close()
    assert part.status == "degraded"
    assert "Another process" in message(part)
    assert part.metrics["memories"] == 1


def test_a_store_that_cannot_be_written_is_unhealthy(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store.close()
    path = str(desk.path)
    monkeypatch.setattr(desk.store, "_connect", lambda: apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY))
    part = desk.check(components=["database"]).components["database"]
    assert part.status == "unhealthy"
    assert "cannot be written" in message(part)


def test_a_file_that_is_no_store_is_unhealthy_in_every_part_that_reads_it(desk: Desk) -> None:
    desk.memory.close()
    for rest in desk.path.parent.glob("memory.db*"):
        rest.unlink()
    desk.path.write_bytes(b"minutes of the meeting " * 1000)
    found = desk.check()
    assert {name for name, one in found.components.items() if one.status == "unhealthy"} >= {"database", "cache"}
    assert found.status == "unhealthy"
    assert found.resources.storage == 0


def test_a_damaged_page_shows_in_detail(desk: Desk) -> None:
    desk.memory.create_entities([EntityDraft(f"pebble {i}", "stone", (f"round {i}",)) for i in range(800)])
    connection = apsw.Connection(str(desk.path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'relation_target'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    desk.memory.close()
    with desk.path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    assert desk.check(components=["database"]).status == "healthy"
    part = desk.check(components=["database"], detailed=True).components["database"]
    assert (part.status, "not sound" in message(part)) == ("unhealthy", True)


# ── resources and counters ────────────────────────────────────────────────────────────────────────────────


def test_resources_are_measured(desk: Desk) -> None:
    used = desk.check().resources
    assert used.memory > 10 << 20
    assert used.storage == desk.store.about()["bytes"] > 0
    assert used.connections >= 1


def test_connections_are_counted_as_they_come_and_go(desk: Desk) -> None:
    before = desk.check().resources.connections
    with desk.store.read("default"), desk.store.read("default"), desk.store.read("default"):
        assert desk.check().resources.connections > before
    desk.store.close()
    assert desk.check().resources.connections <= before


class Time:
    """A clock a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_nothing_was_counted_of_a_server_that_answered_nothing() -> None:
    found = Counters(Time()).measured()
    assert (found.requests, found.error_rate, found.throughput, found.median, found.uptime) == (0, 0.0, 0.0, 0.0, 0.0)


def test_requests_errors_and_times_are_counted() -> None:
    clock = Time()
    counters = Counters(clock)
    for milliseconds in range(1, 101):
        counters.record(milliseconds / 1000, failed=milliseconds > 90)
    clock.now += 20
    found = counters.measured()
    assert (found.requests, found.errors, found.error_rate, found.uptime) == (100, 10, 0.1, 20.0)
    assert found.throughput == 5.0
    assert found.mean == pytest.approx(0.0505)
    assert found.median == pytest.approx(0.050, rel=0.1)
    assert found.p95 == pytest.approx(0.095, rel=0.1)
    assert found.longest == 0.1 >= found.p99


def test_throughput_is_that_of_the_last_minute() -> None:
    clock = Time()
    counters = Counters(clock)
    for _ in range(600):
        counters.record(0.001, failed=True)
    clock.now += 3600
    counters.record(0.001)
    found = counters.measured()
    assert (found.recent_requests, found.recent_error_rate, found.requests) == (1, 0.0, 601)
    assert found.throughput == pytest.approx(1 / 60)


@pytest.mark.parametrize("seconds", [0.0, 1e-9, 1e-6, 3.2e-5, 0.7, 59.0, 1e9])
def test_any_duration_can_be_counted(seconds: float) -> None:
    counters = Counters(Time())
    counters.record(seconds)
    assert counters.measured().longest == seconds


def test_several_threads_lose_no_count() -> None:
    counters = Counters()
    threads = [threading.Thread(target=lambda: [counters.record(0.001) for _ in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.measured().requests == 8000


def test_the_performance_is_told_where_it_is_counted(desk: Desk) -> None:
    counters = Counters()
    counters.record(0.002)
    found = desk.check(counters=counters).performance
    assert found is not None and found.requests == 1
    assert desk.check().performance is None
