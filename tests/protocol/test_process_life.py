"""How a server process begins and ends, and what it writes where."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from form import mostly_long
from stdio_client import DEADLINE, MODEL, Place, Server, entity


@pytest.mark.promise("protocol.life.end_of_input")
def test_the_end_of_input_ends_the_process_after_every_answer_was_given(place: Place, server: Server) -> None:
    calls = [server.begin_call("create_entities", {"entities": [entity(f"n{i}", "x")]}) for i in range(40)]
    calls += [server.begin_call("search_nodes", {"query": "n"}) for _ in range(10)]

    server.close_input()

    answers = [server.answer(call) for call in calls]
    assert all("result" in answer for answer in answers)
    assert server.exit_code() == 0
    assert len(place.serve("official").names()) == 40


@pytest.mark.promise("protocol.life.end_of_input")
def test_a_server_that_was_asked_nothing_ends_with_its_input(place: Place) -> None:
    server = place.start("--dialect", "strict")

    server.close_input()

    assert server.exit_code() == 0
    assert server.arrivals == []


@pytest.mark.promise("protocol.life.terminate")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_process_without_a_complaint(place: Place, strict: Server, name: str) -> None:
    strict.call("create_entities", entities=[entity("kept", "x")])

    strict.process.send_signal(signal.Signals[name])

    assert strict.exit_code() in (0, 128 + signal.Signals[name], -signal.Signals[name])
    assert strict.log.read_text() == ""
    assert place.serve("strict").names() == ["kept"]


@pytest.mark.long
@pytest.mark.promise("protocol.life.terminate")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_process_whenever_it_comes_after_a_call_that_took_long(place: Place, name: str) -> None:
    # Several times: a signal must not be lost whatever the threads are doing when it comes.
    for round in range(6):
        server = place.serve("simple")
        server.call("create_entities", entities=[entity("quick", "x")])
        with place.held():
            slow = server.begin_call("create_entities", {"entities": [entity(f"slow {round}", "x")]})
            server.request("ping")
        server.reply(slow)
        server.request("ping")

        server.process.send_signal(signal.Signals[name])

        assert server.exit_code() in (0, 128 + signal.Signals[name], -signal.Signals[name])
    assert place.serve("simple").names() == ["quick", *(f"slow {round}" for round in range(6))]


@pytest.mark.long
@pytest.mark.promise("protocol.life.end_of_input", "protocol.life.terminate")
@pytest.mark.parametrize("signalled", mostly_long([False, True]))
def test_the_process_ends_cleanly_while_vectors_are_made(place: Place, signalled: bool) -> None:
    server = place.serve("native", environment={"POLYMNIA_EMBEDDER": MODEL})
    text = " ".join(f"Sentence {n} tells of the harbour master and his {n} cranes in Lisbon." for n in range(8000))
    server.call("remember", text=text)
    assert "no vector yet" in server.call("recall", query="harbour").text

    server.close_input()
    deadline = time.monotonic() + DEADLINE
    while signalled and server.process.poll() is None and time.monotonic() < deadline:
        server.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(0.05)

    assert server.exit_code() in (0, -signal.SIGTERM)
    assert server.log.read_text() == ""


@pytest.mark.promise("protocol.life.end_of_input")
def test_a_call_under_way_at_the_end_of_input_is_finished_and_answered(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[entity("quick", "x")])
    with place.held():
        slow = strict.begin_call("create_entities", {"entities": [entity("slow", "x")]})
        strict.request("ping")
        strict.close_input()

    assert "result" in strict.answer(slow)
    assert strict.exit_code() == 0
    assert place.serve("strict").names() == ["quick", "slow"]


@pytest.mark.promise("protocol.life.client_gone")
def test_a_client_that_stops_listening_ends_the_process(place: Place) -> None:
    command = [sys.executable, "-m", "polymnia", "stdio", "--dialect", "strict"]
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=write_end, stderr=subprocess.PIPE, env=place.environment
    ) as process:
        os.close(write_end)
        os.close(read_end)
        _, complaint = process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 5, timeout=DEADLINE)
        assert process.returncode is not None
    assert b"Traceback" not in complaint


@pytest.mark.promise("protocol.life.stdout")
def test_nothing_but_answers_is_ever_written_on_stdout(place: Place, server: Server) -> None:
    server.call("create_entities", entities=[entity("a\nb", "line\nbreak \u2028 \x85")])
    server.refused("create_entities", entities=7)
    server.graph()
    server.close_input()

    assert server.exit_code() == 0
    assert server.stray == []
    assert all(message["jsonrpc"] == "2.0" for message in server.arrivals)


@pytest.mark.promise("protocol.life.stdin_default")
def test_polymnia_alone_speaks_over_stdin_when_that_is_no_terminal(place: Place) -> None:
    done = place.run(input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n')

    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"jsonrpc":"2.0","id":1,"result":{}}\n'


@pytest.mark.promise("protocol.life.bad_arguments")
def test_an_unknown_dialect_is_refused_with_the_known_ones_on_stderr(place: Place) -> None:
    done = place.run("stdio", "--dialect", "klingon")

    assert done.returncode == 2
    assert done.stdout == ""
    for known in ("simple", "strict", "bilingual", "official"):
        assert known in done.stderr
