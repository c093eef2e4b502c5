"""Embedders behind HTTP, against a server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from polymnia.errors import Invalid, NoModel
from polymnia.inference.http import Ollama, OpenAI

Reply = tuple[int, dict[str, str], Any]


class Server:
    """Answers requests as told, and keeps them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.reply: Callable[[dict[str, Any]], Reply] = openai
        self.first: list[Reply | None] = []  # what the first requests get; None closes the connection
        self.hold: threading.Event | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, dict(self.headers), question))
                if outer.hold is not None:
                    outer.hold.wait()
                found = outer.first.pop(0) if outer.first else outer.reply(question)
                if found is None:
                    self.close_connection = True
                    return
                status, headers, body = found
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        if self.hold is not None:
            self.hold.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, float(sum(map(ord, text)) % 7)]


def openai(question: dict[str, Any]) -> Reply:
    rows = [{"index": at, "embedding": _vector(text)} for at, text in enumerate(question["input"])]
    return 200, {}, {"data": rows[::-1]}


def ollama(question: dict[str, Any]) -> Reply:
    return 200, {}, {"embeddings": [_vector(text) for text in question["input"]]}


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def model(server: Server, pauses: list[float]) -> OpenAI:
    return OpenAI("some-model", url=server.url, key="secret", timeout=5, pause=pauses.append)


def _expected(texts: list[str]) -> np.ndarray:
    rows = np.array([_vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_openai_gives_vectors_of_length_one_in_the_order_of_the_texts(server: Server, model: OpenAI) -> None:
    texts = [f"text {number}" + "!" * number for number in range(200)]
    assert np.allclose(model.embed(texts), _expected(texts), atol=1e-6)
    assert model.id == "openai:some-model"
    assert model.dimensions == 3
    path, headers, question = server.asked[-1]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert question["model"] == "some-model"
    assert all(len(question["input"]) <= 64 for _, _, question in server.asked)


def test_ollama_gives_vectors_of_length_one(server: Server) -> None:
    server.reply = ollama
    model = Ollama("nomic", url=server.url)
    assert np.allclose(model.embed(["a", "bb"]), _expected(["a", "bb"]), atol=1e-6)
    path, headers, _ = server.asked[0]
    assert path == "/api/embed"
    assert "Authorization" not in headers


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
def test_the_address_may_end_early(server: Server, end: str) -> None:
    OpenAI("some-model", url=server.url + end).load()
    assert server.asked[0][0] == "/v1/embeddings"


def test_an_empty_text_is_no_reason_to_refuse_a_batch(server: Server, model: OpenAI) -> None:
    model.embed(["", "a"])
    assert all(server.asked[-1][2]["input"])


def test_no_texts_cost_no_request(server: Server, model: OpenAI) -> None:
    model.load()
    before = len(server.asked)
    assert model.embed([]).shape == (0, 3)
    assert len(server.asked) == before


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: Server, model: OpenAI, pauses: list[float], status: int) -> None:
    server.first = [(status, {}, {}), (status, {"Retry-After": "3"}, {}), (status, {"Retry-After": "9999"}, {})]
    model.load()
    assert pauses == [0.5, 3.0, 10.0]


def test_a_lost_connection_is_tried_again(server: Server, model: OpenAI, pauses: list[float]) -> None:
    server.first = [None]
    model.load()
    assert pauses == [0.5]


def test_a_server_that_stays_busy_is_a_fault(server: Server, model: OpenAI, pauses: list[float]) -> None:
    server.reply = lambda _: (429, {}, {"error": "slow down"})
    with pytest.raises(NoModel, match="answered 429") as caught:
        model.load()
    assert "slow down" in caught.value.message
    assert len(pauses) == 3


@pytest.mark.parametrize(("status", "hint"), [(401, "key"), (403, "key"), (404, "name of the model"), (400, "log")])
def test_a_refusal_is_a_fault_at_once_and_never_tells_the_key(
    server: Server, model: OpenAI, pauses: list[float], status: int, hint: str
) -> None:
    server.reply = lambda _: (status, {}, {"error": "no"})
    with pytest.raises(NoModel, match=f"answered {status}") as caught:
        model.load()
    assert hint in caught.value.hint
    assert "secret" not in caught.value.message + caught.value.hint + repr(caught.value.details)
    assert pauses == []


def test_a_model_ollama_does_not_have_can_be_pulled(server: Server) -> None:
    server.reply = lambda _: (404, {}, {"error": "model not found"})
    with pytest.raises(NoModel) as caught:
        Ollama("nomic", url=server.url).load()
    assert "ollama pull nomic" in caught.value.hint


def test_a_redirection_is_not_followed(server: Server, model: OpenAI) -> None:
    server.reply = lambda _: (307, {"Location": server.url + "/elsewhere"}, {})
    with pytest.raises(NoModel, match="answered 307"):
        model.load()
    assert len(server.asked) == 1


def test_a_server_that_keeps_silent_is_a_fault(server: Server) -> None:
    server.hold = threading.Event()
    with pytest.raises(NoModel, match=r"did not answer within 0\.05 s"):
        OpenAI("some-model", url=server.url, timeout=0.05).load()


def test_a_server_that_is_not_there_is_a_fault_at_once(pauses: list[float]) -> None:
    gone = Server()
    gone.close()
    with pytest.raises(NoModel, match="cannot be reached"):
        OpenAI("some-model", url=gone.url, pause=pauses.append).load()
    assert pauses == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ([], "holds no embeddings"),
        ({"error": "odd"}, "holds no embeddings"),
        ({"data": [{"embedding": [1.0]}]}, "1 vectors for"),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_fault(server: Server, model: OpenAI, body: Any, said: str) -> None:
    server.reply = lambda _: (200, {}, body)
    with pytest.raises(NoModel, match=said):
        model.load()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1.0, 2.0], [1.0]], "not rows of numbers"),
        ([["a", "b", "c"], ["d", "e", "f"]], "not rows of numbers"),
        ([1.0, 2.0], "an array of shape"),
        ([[1.0, 2.0], [3.0, 4.0]], "vectors of 2 numbers where it gave 3 before"),
        ([[1.0, 2.0, float("nan")], [1.0, 2.0, 3.0]], "undefined numbers"),
    ],
)
def test_vectors_of_another_kind_than_before_are_a_fault(
    server: Server, model: OpenAI, rows: list[Any], said: str
) -> None:
    model.load()
    server.reply = lambda _: (200, {}, {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]})
    with pytest.raises(NoModel, match=said):
        model.embed(["a", "b"])


def test_a_user_in_the_address_is_sent_as_such_and_stands_in_no_message(server: Server) -> None:
    address = server.url.replace("http://", "http://ann:s%20cret@")
    OpenAI("tiny", url=address).load()
    assert server.asked[0][1]["Authorization"] == "Basic YW5uOnMgY3JldA=="
    server.reply = lambda question: (400, {}, {"error": "no"})
    with pytest.raises(NoModel) as refused:
        OpenAI("tiny", url=address + "?key=secret").load()
    assert server.url in refused.value.message
    assert "cret" not in refused.value.message + str(refused.value.details)
    with pytest.raises(Invalid) as wrong:
        OpenAI("tiny", url="ftp://ann:secret@host")
    assert "secret" not in wrong.value.message + str(wrong.value.details)
