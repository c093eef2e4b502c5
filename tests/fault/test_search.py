"""Search when processes die or work side by side: what was acknowledged is found, and the index holds nothing else."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import count

import apsw
import pytest

from form import by_form
from polymnia import inference
from polymnia.engine.search import Analysis
from polymnia.engine.search.finder import Finder
from polymnia.engine.search.results import Query, ResultPage
from polymnia.storage import rows
from polymnia.storage.sqlite import SqliteStore
from stdio_client import DEADLINE, Place, Server, entity

from .embedding_server import EmbeddingServer
from .integrity import is_sound

_ROUNDS = by_form(4, 8)
_SENT = 60
_EACH = 12  # observations of a memory, so that the word index is made while writers die


@pytest.fixture
def model() -> Iterator[EmbeddingServer]:
    """Something that embeds, in this process."""
    server = EmbeddingServer()
    yield server
    server.close()


def _strays(place: Place) -> list[str]:
    """What the word index and the vectors hold of texts that are not there. Nothing is ever deleted here."""
    db = apsw.Connection(str(place.store))
    texts = {id for table in ("memory", "observation") for (id,) in db.execute(f"SELECT id FROM {table}")}
    found = [f"vector of {text}" for (text,) in db.execute("SELECT text FROM vector") if text not in texts]
    vectors, bits = ({id for (id,) in db.execute(f"SELECT id FROM {table}")} for table in ("vector", "vector_bits"))
    found += [f"half a vector: {id}" for id in vectors ^ bits]
    places = set()
    (project, last, listed) = db.execute("SELECT id, passages, listed FROM project").fetchone()
    for first, size, data in db.execute("SELECT first, count, data FROM passage_block ORDER BY first"):
        for number in range(size):
            text = rows.PASSAGE.unpack_from(data, number * rows.PASSAGE.size)[0]
            places.add(first + number)
            if text > listed or text + project * rows.SPAN not in texts:
                found.append(f"passage {first + number} of text {text}")
    if places != set(range(1, last + 1)):
        found.append("passages with gaps")
    for term, data in db.execute("SELECT term, data FROM posting"):
        found += [f"{term} in {one[0]}" for one in rows.POSTING.iter_unpack(data) if one[0] not in places]
    db.close()
    return found


def _poll(server: Server, wanted: Callable[[], bool]) -> None:
    """Ask until it is so."""
    began = time.monotonic()
    while not wanted():
        assert time.monotonic() - began < DEADLINE, server.complaints()


def _found(server: Server, query: str) -> list[str]:
    return [one["name"] for one in server.call("search_nodes", query=query).value["nodes"]]


@pytest.mark.long
def test_what_was_acknowledged_before_a_kill_is_found_by_words_and_after_a_reindex_by_meaning(
    place: Place, model: EmbeddingServer
) -> None:
    chance = random.Random(20)
    numbers = count()
    kept: list[str] = []
    for _ in range(_ROUNDS):
        writer = place.serve("strict", *model.arguments)
        sent = {}
        for _ in range(_SENT):
            name = f"memory{next(numbers)}"
            texts = [f"automobile {name} text {i}" for i in range(_EACH)]
            sent[writer.begin_call("create_entities", {"entities": [entity(name, *texts)]})] = name
        some = list(sent)[: chance.randrange(1, _SENT)]
        writer.wait_for(lambda w=writer, s=some: all(w.answered(call) for call in s), "some answers")
        end = time.perf_counter() + chance.uniform(0, 0.02)
        while time.perf_counter() < end:
            pass
        writer.kill()
        kept += [name for call, name in sent.items() if writer.answered(call)]

    assert len(kept) > _ROUNDS
    last = place.serve("strict")
    for name in kept:
        assert name in _found(last, name)
    last.close_input()
    last.exit_code()
    assert is_sound(place.store)
    assert _strays(place) == []

    store = SqliteStore(str(place.store), analyst=Analysis())
    finder = Finder(store, embedders=inference.choose("openai:toy", url=model.url))
    health = finder.reindex("default", lambda lane, done, total: None)
    assert (health.pending, health.waiting_words) == (0, 0)
    for name in random.Random(1).sample(kept, 20):
        query = Query(text=f"car {name} text", lanes="meaning")
        found = finder.search("default", query, ResultPage(limit=10))
        assert name in [hit.record.name for hit in found.hits]  # a few others share its number
        assert found.notes == []
    finder.close()
    store.close()
    assert is_sound(place.store)
    assert _strays(place) == []


@pytest.mark.long
def test_what_one_process_writes_another_finds_at_once_by_words_and_soon_by_meaning(
    place: Place, model: EmbeddingServer
) -> None:
    one, two = place.serve("strict", *model.arguments), place.serve("strict", *model.arguments)
    one.call("create_entities", entities=[entity("first", "a whale")])
    _poll(two, lambda: _found(two, "whale") == ["first"])  # both have loaded their model by then
    _poll(one, lambda: _found(one, "whale") == ["first"])
    assert _found(two, "car") == []
    for number, (writer, reader) in enumerate([(one, two), (two, one), (one, two)]):
        name = f"n{number}"
        assert not writer.call("create_entities", entities=[entity(name, f"drives automobile w{number}")]).failed
        assert _found(reader, f"w{number}")[0] == name
        _poll(reader, lambda r=reader, n=name: n in _found(r, "car"))
    one.call("delete_entities", entityNames=["n0"])
    assert "n0" not in _found(two, "car")
    assert "n0" not in _found(two, "w0")
    for server in (one, two):
        server.close_input()
        server.exit_code()
    assert is_sound(place.store)


def test_what_was_deleted_or_changed_by_another_process_is_not_found_any_more(place: Place) -> None:
    one, two = place.serve("strict"), place.serve("strict")
    for number in range(12):
        one.call("create_entities", entities=[entity(f"n{number}", f"harbour {number}", f"tea {number}")])
        assert _found(two, f"harbour {number}")[0] == f"n{number}"
    two.call("delete_observations", deletions=[{"entityName": "n3", "observations": ["harbour 3"]}])
    two.call("delete_entities", entityNames=["n5"])
    found = _found(one, "harbour")
    assert set(found) == {f"n{number}" for number in range(12)} - {"n3", "n5"}
    place.run("undo")
    assert set(_found(one, "harbour")) == {f"n{number}" for number in range(12)} - {"n3"}
    assert set(_found(two, "harbour")) == {f"n{number}" for number in range(12)} - {"n3"}
