"""The turn to write: one at a time over threads and processes, and never for ever."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from polymnia.errors import Busy
from polymnia.storage.sqlite.write_lock import WriteLock

_DEADLINE = 30.0

# Another process that has the turn from the line it prints until its input ends.
_HOLDER = """
import sys
from polymnia.storage.sqlite.write_lock import WriteLock
turn = WriteLock(sys.argv[1], 30.0)
turn.acquire()
print("taken", flush=True)
sys.stdin.read()
"""


def _holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "taken\n"
    return process


def _let_go(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=_DEADLINE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_a_turn_is_taken_and_given_any_number_of_times(path: Path) -> None:
    turn = WriteLock(str(path), 1.0)
    for _ in range(5):
        turn.acquire()
        turn.release()
    turn.close()
    turn.close()
    turn.acquire()
    turn.release()
    turn.close()


def test_the_lock_file_is_for_its_owner_alone(path: Path) -> None:
    turn = WriteLock(str(path), 1.0)
    assert not path.exists()
    turn.acquire()
    turn.release()
    turn.close()
    assert path.stat().st_mode & 0o077 == 0


def test_threads_that_share_a_turn_have_it_one_at_a_time(path: Path) -> None:
    _one_at_a_time([WriteLock(str(path), _DEADLINE)] * 4)


def test_holders_of_turns_on_one_file_have_it_one_at_a_time(path: Path) -> None:
    _one_at_a_time([WriteLock(str(path), _DEADLINE) for _ in range(4)])


def _one_at_a_time(turns: list[WriteLock]) -> None:
    inside, most, count = 0, 0, 0

    def work(turn: WriteLock) -> None:
        nonlocal inside, most, count
        for _ in range(40):
            turn.acquire()
            inside += 1
            most = max(most, inside)
            before = count
            threading.Event().wait(0)  # a chance for whoever is not kept out
            count = before + 1
            inside -= 1
            turn.release()

    threads = [threading.Thread(target=work, args=(turn,)) for turn in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_DEADLINE)
    assert (most, count) == (1, 40 * len(turns))
    for turn in turns:
        turn.close()


def test_a_thread_that_waits_too_long_is_told_who_is_in_the_way(path: Path) -> None:
    turn = WriteLock(str(path), 0.05)
    turn.acquire()
    told: list[BaseException] = []

    def wait() -> None:
        try:
            turn.acquire()
        except Busy as e:
            told.append(e)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(_DEADLINE)
    turn.release()
    assert len(told) == 1
    turn.acquire()
    turn.release()
    turn.close()


def test_waiting_for_another_process_ends_after_the_timeout(path: Path) -> None:
    holder = _holder(path)
    turn = WriteLock(str(path), 0.05)
    for _ in range(3):
        with pytest.raises(Busy, match=r"0\.05 s.*lock.*nothing was changed"):
            turn.acquire()
    _let_go(holder)
    # Those who gave up stand in line no more, or let the turn pass when it comes to them.
    patient = WriteLock(str(path), _DEADLINE)
    patient.acquire()
    patient.release()
    patient.close()
    later = WriteLock(str(path), _DEADLINE)
    later.acquire()
    with pytest.raises(Busy):
        turn.acquire()
    later.release()
    later.close()
    turn.close()


def test_the_turn_comes_when_another_process_gives_it(path: Path) -> None:
    holder = _holder(path)
    turn = WriteLock(str(path), _DEADLINE)
    got = threading.Event()

    def wait() -> None:
        turn.acquire()
        got.set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert not got.is_set()
    _let_go(holder)
    assert got.wait(_DEADLINE)
    thread.join(_DEADLINE)
    turn.release()
    turn.close()


def test_the_turn_of_a_process_that_dies_is_free(path: Path) -> None:
    holder = _holder(path)
    holder.kill()
    holder.communicate(timeout=_DEADLINE)
    turn = WriteLock(str(path), 1.0)
    turn.acquire()
    turn.release()
    turn.close()


def test_closing_does_not_take_the_turn_from_whoever_has_it(path: Path) -> None:
    turn, other = WriteLock(str(path), _DEADLINE), WriteLock(str(path), 0.05)
    turn.acquire()
    turn.close()
    with pytest.raises(Busy):
        other.acquire()
    turn.release()
    other.acquire()
    other.release()
    turn.acquire()
    turn.release()
    turn.close()
    other.close()


def test_a_turn_that_cannot_be_taken_leaves_the_next_try_free(tmp_path: Path) -> None:
    turn = WriteLock(str(tmp_path / "missing" / "lock"), 0.05)
    for _ in range(2):
        with pytest.raises(OSError):
            turn.acquire()
    (tmp_path / "missing").mkdir()
    turn.acquire()
    turn.release()
    turn.close()
