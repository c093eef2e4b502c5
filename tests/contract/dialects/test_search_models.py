"""Other models by setting: a server that speaks OpenAI's protocol, as it should be, slow, and gone."""

from __future__ import annotations

import json
import struct
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from polymnia import connect
from polymnia.models import EntityDraft
from stdio_client import DEADLINE, Place, Reply, Server, entity

_SAME = {"cat": "feline", "kitten": "feline", "house": "home"}


class Model(ThreadingHTTPServer):
    """A model to which a cat is a feline; it answers only while it is let."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.add(self.headers["Authorization"])
        self.server.may_answer.wait(60)
        rows = [{"index": i, "embedding": _vector(text)} for i, text in enumerate(asked["input"])]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


def _vector(text: str) -> list[float]:
    """The sum of a direction for each word."""
    total = [0.0] * 64
    for word in text.lower().replace(":", " ").split():
        seed = _SAME.get(word, word).encode()
        for i, byte in enumerate(sha256(seed).digest() + sha256(seed + b"!").digest()):
            total[i] += byte / 127.5 - 1
    return total if any(total) else [1.0] * 64


@pytest.fixture
def model() -> Iterator[Model]:
    """A model that is served on this machine for one test."""
    with Model() as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving
        serving.may_answer.set()
        serving.shutdown()


def started(place: Place, model: Model) -> Server:
    place.environment["POLYMNIA_EMBEDDER_KEY"] = "secret"
    return place.serve("strict", "--embedder", "openai:tiny", "--embedder-url", model.url)


def names(reply: Reply) -> list[str]:
    return [node["name"] for node in reply.value["nodes"]]


@pytest.mark.promise("search.other_models")
def test_another_model_is_taken_by_its_address(place: Place, model: Model) -> None:
    server = started(place, model)
    server.call("create_entities", entities=[entity("Tom", "cat"), entity("Rex", "dog"), entity("Ann", "baker")])

    assert names(server.call("search_nodes", query="feline"))[0] == "Tom"
    assert model.keys == {"Bearer secret"}


@pytest.mark.long
@pytest.mark.promise("search.other_models")
def test_after_a_change_of_the_model_everything_is_found_by_the_new_one(place: Place, model: Model) -> None:
    before = place.serve("strict", environment={"POLYMNIA_EMBEDDER": "use"})
    before.call("create_entities", entities=[entity("Tom", "cat"), entity("Rex", "dog"), entity("Ann", "baker")])
    before.call("search_nodes", query="pet")
    before.close()

    after = started(place, model)

    assert names(after.call("search_nodes", query="feline"))[0] == "Tom"
    models = json.loads(place.run("health", "--json").stdout)["models"]
    assert models["openai:tiny"]["vectors"] == models["polymnia-multi-2"]["vectors"] > 0


@pytest.mark.long
@pytest.mark.promise("search.other_models")
def test_vectors_of_the_model_before_are_made_anew_by_two_servers_at_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    many = 300
    with connect(place.address) as memory:
        drafts = [EntityDraft(f"note {i}", "note", (f"Shelf {i} holds red folders",)) for i in range(many)]
        memory.create_entities([*drafts, EntityDraft("Ann", "person", ("Plays the violin in an orchestra",))])
        with memory.store.write("default", "test", "embed") as tx:
            texts = [text.id for text in tx.texts(0, 10 * many) if text.body]
            old = struct.pack("<512e", *[512**-0.5] * 512)
            tx.put_vectors("use-multilingual-3", 512, [(text, 0, old, b"\xff" * 64) for text in texts])
    servers = [place.serve("strict", "--embedder", "multi") for _ in range(2)]

    # Searchable meanwhile: by words at once, by meaning when the search has waited for the vectors.
    for server in servers:
        assert names(server.call("search_nodes", query="violin"))[0] == "Ann"
    end = time.monotonic() + DEADLINE
    for server in servers:
        while any(note["code"] == "pending" for note in server.call("search_nodes", query="a musician").notes):
            assert time.monotonic() < end
        assert names(server.call("search_nodes", query="a musician"))[0] == "Ann"
        server.close()

    models = json.loads(place.run("health", "--json").stdout)["models"]
    assert models["polymnia-multi-2"]["vectors"] == models["use-multilingual-3"]["vectors"] == len(texts)
    assert models["polymnia-multi-2"]["pending"] == 0


@pytest.mark.long
@pytest.mark.promise("search.across_languages")
def test_the_model_for_other_languages_is_there_with_the_first_text_that_needs_it(place: Place) -> None:
    server = place.serve("strict", "--embedder", "auto")
    server.call("create_entities", entities=[entity("Backup", "The nightly dump starts at half past four")])
    assert names(server.call("search_nodes", query="when is the database saved?"))[0] == "Backup"
    models = json.loads(place.run("health", "--json", "--embedder", "auto").stdout)["models"]
    assert (models["polymnia-en-1"]["state"], models["polymnia-multi-2"]["state"]) == ("ready", "not needed")
    server.call("create_entities", entities=[entity("회의", "회의는 매주 화요일 오전 열 시에 한다")])
    server.close()

    again = place.serve("strict", "--embedder", "auto")
    assert names(again.call("search_nodes", query="when is the weekly meeting?"))[0] == "회의"


@pytest.mark.promise("search.slow_model")
def test_a_model_that_does_not_answer_holds_up_no_write_and_no_search_by_words(place: Place, model: Model) -> None:
    model.may_answer.clear()
    server = started(place, model)
    server.call("create_entities", entities=[entity("Tom", "cat"), entity("Rex", "dog")])

    reply = server.call("search_nodes", query="cat")

    assert names(reply)[0] == "Tom"
    assert {note["code"] for note in reply.notes} & {"loading", "no_meaning", "pending"}


@pytest.mark.long
@pytest.mark.promise("search.broken_model")
def test_a_model_that_goes_away_leaves_the_words(place: Place, model: Model) -> None:
    server = started(place, model)
    server.call("create_entities", entities=[entity("Tom", "cat"), entity("Rex", "dog")])
    assert names(server.call("search_nodes", query="feline"))[0] == "Tom"

    model.shutdown()
    model.server_close()
    server.call("create_entities", entities=[entity("Kit", "small cat")])
    reply = server.call("search_nodes", query="cat")

    assert set(names(reply)) >= {"Tom", "Kit"}
    assert "no_meaning" in {note["code"] for note in reply.notes}


@pytest.mark.promise("search.unknown_model")
def test_a_model_that_does_not_exist_is_refused_at_the_start(place: Place) -> None:
    done = place.run("stdio", "--embedder", "olama:tiny")

    assert done.returncode == 2
    assert "ollama:MODEL" in done.stderr
    assert done.stdout == ""
