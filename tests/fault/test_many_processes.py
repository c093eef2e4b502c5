"""Several clients, each with a server process of its own, on one store: the normal case."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from stdio_client import Place, Server, entity

from .integrity import is_sound

_PROCESSES = 4
_WRITES = 100


def _write(server: Server, writer: int) -> list[str]:
    """Alternately make a pair of memories and add to the one that everybody shares."""
    added = []
    for number in range(_WRITES):
        if number % 2:
            text = f"from {writer}: {number}"
            server.call("add_observations", observations=[{"entityName": "shared", "contents": [text]}])
            added.append(text)
        else:
            pair = [entity(f"{writer}.{number}.left"), entity(f"{writer}.{number}.right")]
            assert server.call("create_entities", entities=pair).value == pair
    return added


def _torn(graph: dict[str, list[dict[str, str]]]) -> set[str]:
    """Pairs of which only one half is there."""
    names = {entity["name"] for entity in graph["entities"]} - {"shared"}
    halves = {name.rpartition(".")[0] for name in names}
    return {half for half in halves if not {f"{half}.left", f"{half}.right"} <= names}


def test_four_processes_write_to_one_store_and_nothing_is_lost_or_torn(place: Place) -> None:
    servers = [place.serve("official") for _ in range(_PROCESSES)]
    servers[0].call("create_entities", entities=[entity("shared")])
    reader = place.serve("official")
    finished = threading.Event()
    sizes = []

    def read() -> None:
        while not finished.is_set():
            graph = reader.graph()
            assert not _torn(graph)
            sizes.append(len(graph["entities"]))

    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read)
        writing = [pool.submit(_write, server, number) for number, server in enumerate(servers)]
        try:
            added = [text for future in writing for text in future.result()]
        finally:
            finished.set()
        reading.result()

    assert sizes == sorted(sizes)
    graph = reader.graph()
    assert len(graph["entities"]) == 1 + _PROCESSES * _WRITES
    shared = next(each for each in graph["entities"] if each["name"] == "shared")
    assert sorted(shared["observations"]) == sorted(added)
    for server in [*servers, reader]:
        server.close_input()
        server.exit_code()
    assert is_sound(place.store)


def test_several_processes_keep_one_json_file_and_nothing_is_lost(place: Place) -> None:
    file = place.folder / "memory.jsonl"
    servers = [place.serve("official", "--file", str(file)) for _ in range(3)]
    servers[0].call("create_entities", entities=[entity("shared")])

    def write(who: int) -> list[str]:
        texts = [f"{who} {number}" for number in range(30)]
        for text in texts:
            addition = {"entityName": "shared", "contents": [text]}
            assert not servers[who].call("add_observations", observations=[addition]).failed
        return texts

    with ThreadPoolExecutor() as pool:
        added = [text for texts in pool.map(write, range(len(servers))) for text in texts]
    (line,) = file.read_text(encoding="utf-8").splitlines()
    assert sorted(json.loads(line)["observations"]) == sorted(added)
    for server in servers:
        (shared,) = server.graph()["entities"]
        assert sorted(shared["observations"]) == sorted(added)


def test_calls_sent_without_waiting_are_all_kept(place: Place) -> None:
    server = place.serve("official")
    server.call("create_entities", entities=[entity("shared")])
    begun = [
        server.begin_call("add_observations", {"observations": [{"entityName": "shared", "contents": [str(n)]}]})
        for n in range(32)
    ]
    for number, call in enumerate(begun):
        assert server.reply(call).value == [{"entityName": "shared", "addedObservations": [str(number)]}]
    (shared,) = server.graph()["entities"]
    assert sorted(shared["observations"], key=int) == [str(n) for n in range(32)]


def test_two_processes_that_create_one_name_at_once_make_one_memory(place: Place) -> None:
    first, second = place.serve("strict"), place.serve("strict")
    taken = []
    for number in range(20):
        new = [entity(f"name {number}", "mine")]
        calls = [(server, server.begin_call("create_entities", {"entities": new})) for server in (first, second)]
        taken.append(sum(server.reply(call).failed for server, call in calls))
    assert taken == [1] * 20
    assert len(first.names()) == 20


def test_a_store_is_made_once_when_several_processes_start_on_nothing(place: Place) -> None:
    servers = [place.start("--dialect", "official") for _ in range(_PROCESSES)]
    for server in servers:
        server.initialize()
    calls = [
        (server, server.begin_call("create_entities", {"entities": [entity(f"from {number}")]}))
        for number, server in enumerate(servers)
    ]
    assert not any(server.reply(call).failed for server, call in calls)
    assert sorted(servers[0].names()) == [f"from {number}" for number in range(_PROCESSES)]
