"""Calls, answers and errors."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from network.served import Served
from polymnia.client import (
    AsyncMCPMemoryClient,
    BadRequestError,
    CallTimeoutError,
    CancelledError,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    InternalError,
    MCPMemoryClient,
    MCPMemoryError,
    NotFoundError,
    RateLimitedError,
    ServiceUnavailableError,
    ToolError,
    UnauthorizedError,
    ValidationError,
)
from polymnia.client.errors import error_of
from polymnia.client.types import Entity, SearchOptions
from stdio_client import DEADLINE

from .serving import Serving

KINDS = ["ws", "http", "stdio"]


def _seed_example(client: MCPMemoryClient) -> None:
    """The example of the specification, word for word but for the client."""
    result = client.memory_store(
        operation="store_content",
        project_id="my-project",
        content="Important information to remember",
        tags=["important", "memory"],
    )
    search_results = client.memory_retrieve(
        operation="search_content", project_id="my-project", query="important information", options={"limit": 5}
    )
    assert result["content_id"] in {hit["content"]["content_id"] for hit in search_results["results"]}


@pytest.mark.promise("clients.python.transports")
@pytest.mark.parametrize("kind", KINDS)
def test_the_example_and_the_typed_methods_work_by_every_transport(shared: Serving, kind: str) -> None:
    name = f"Zoë {uuid.uuid4()}"
    with MCPMemoryClient(endpoint=shared.url(kind)) as client:
        _seed_example(client)
        found = client.search_content("my-project", "important", options=SearchOptions(limit=1))
        assert len(found["results"]) == 1
        made = client.create_entities([Entity(name=name, entityType="person", observations=["tea"])])
        assert made["entities"][0]["name"] == name
        assert client.open_nodes(names=[name])["nodes"][0]["observations"] == ["tea"]
        raw = client.call_tool("open_nodes", {"names": [name]}).raw
        assert raw["content"][0]["type"] == "text"
        assert name in client.read_resource(name)
        assert {tool["name"] for tool in client.list_tools()} >= {"memory_store", "create_entities"}
        with pytest.raises(ValidationError) as raised:
            client.store_content("", "x")
        assert (raised.value.code, raised.value.data["details"]["field"]) == (422, "project_id")
        client.ping()


@pytest.mark.promise("clients.python.async")
def test_many_coroutines_and_many_threads_share_one_client(url: str) -> None:
    prefix = uuid.uuid4().hex

    async def store() -> list[str]:
        async with AsyncMCPMemoryClient(url) as client:
            stored = await asyncio.gather(*(client.store_content(prefix, f"note {n}") for n in range(50)))
            return [one["content_id"] for one in stored]

    assert len(set(asyncio.run(store()))) == 50
    ids: list[str] = []
    with MCPMemoryClient(url) as client:
        threads = [
            threading.Thread(target=lambda n=n: ids.append(client.store_content(prefix, f"t {n}")["content_id"]))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(ids)) == 8
        assert client.export_project_data(prefix, "json")["item_count"] == 58


@pytest.mark.promise("clients.python.errors")
def test_every_code_has_a_type_of_its_own(url: str) -> None:
    project = uuid.uuid4().hex
    with MCPMemoryClient(url) as client:
        stored = client.store_content(project, "x", request_id=project)
        cases: list[tuple[type[MCPMemoryError], int, Callable[[], object]]] = [
            (BadRequestError, 400, lambda: client.memory_store(operation="no_such", project_id=project)),
            (NotFoundError, 404, lambda: client.get_content(project, "content_nothing")),
            (ConflictError, 409, lambda: client.store_content(project, "y", request_id=project)),
            (ValidationError, 422, lambda: client.search_content(project, "x", options={"limit": -1})),
            (ToolError, 0, lambda: client.memory_get(stored["content_id"] + "0")),
            (NotFoundError, -32002, lambda: client.read_resource(f"memory://memory/{project}")),
            (MCPMemoryError, -32602, lambda: client.call_tool("no_such_tool")),
        ]
        for kind, code, call in cases:
            with pytest.raises(MCPMemoryError) as raised:
                call()
            assert type(raised.value) is kind
            assert raised.value.code == code
            assert raised.value.message
            assert raised.value.data
    others = {401: UnauthorizedError, 403: ForbiddenError, 429: RateLimitedError, 500: InternalError,
              502: ServiceUnavailableError, 503: RateLimitedError, 504: CallTimeoutError, -32800: CancelledError,
              -32002: NotFoundError, -32603: MCPMemoryError}  # fmt: skip
    assert {code: type(error_of(code, "x")) for code in others} == others


@pytest.mark.promise("clients.python.keys")
def test_keys_open_what_they_are_for_and_a_wrong_one_is_refused_at_once(serving: Serving) -> None:
    _, writer = serving.keys.add("writer", projects=("atlas",))
    _, reader = serving.keys.add("reader", projects=("atlas",), write=False)
    for kind in ("ws", "http"):
        with MCPMemoryClient(serving.url(kind), api_key=writer) as client:
            client.store_content("atlas", f"by {kind}")
            with pytest.raises(ForbiddenError):
                client.store_content("zephyr", "x")
        with MCPMemoryClient(serving.url(kind), api_key=reader) as client:
            assert client.export_project_data("atlas", "json")["item_count"]
            with pytest.raises(ForbiddenError):
                client.store_content("atlas", "x")
        for wrong in ("no key at all", None):
            with MCPMemoryClient(serving.url(kind), api_key=wrong) as client, pytest.raises(UnauthorizedError) as told:
                client.read_graph()
            assert told.value.data["suggestions"]


@pytest.mark.promise("clients.python.rates")
def test_a_call_too_many_waits_as_the_server_says_unless_its_time_is_over_before(tmp_path: Path) -> None:
    window = {"polymnia.transports.web.state.WINDOW": 2.0}
    served = Served(tmp_path, "--rate-limit-session", "3", changes=window)
    try:
        for endpoint in (f"ws://127.0.0.1:{served.port}/ws", f"http://127.0.0.1:{served.port}/mcp"):
            with MCPMemoryClient(endpoint) as client:
                for _ in range(3):
                    client.scope_list()
                with pytest.raises(RateLimitedError) as raised:
                    client.scope_list(timeout=0.5)
                assert raised.value.retry_after is not None
                assert raised.value.retry_after >= 1
                assert client.scope_list(timeout=30)["scopes"] == []
    finally:
        served.stop()


@pytest.mark.long
@pytest.mark.promise("clients.python.rates")
def test_a_plain_loop_of_more_calls_than_the_limit_is_done_without_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "polymnia.client")
    # The pause, two seconds, is longer than the timeout of the client.
    served = Served(tmp_path, "--rate-limit-session", "100", changes={"polymnia.transports.web.state.WINDOW": 2.0})
    try:
        with MCPMemoryClient(f"ws://127.0.0.1:{served.port}/ws", timeout=1.5) as client:
            assert [client.scope_list()["scopes"] for _ in range(150)] == [[]] * 150
    finally:
        served.stop()
    assert "100 calls a minute for one session; waiting" in caplog.text


def test_a_call_that_waits_for_its_turn_fails_when_the_client_is_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "polymnia.client")
    serving = Serving(tmp_path, "--rate-limit-session", "1")
    raised: list[BaseException] = []

    def call() -> None:
        try:
            client.scope_list()
        except BaseException as e:
            raised.append(e)

    try:
        for kind in ("ws", "http"):
            caplog.clear()
            with MCPMemoryClient(serving.url(kind)) as client:
                client.scope_list()
                thread = threading.Thread(target=call)
                thread.start()
                while "as the server asks" not in caplog.text:
                    thread.join(0.01)
            thread.join(DEADLINE)
            assert isinstance(raised.pop(), ConnectionFailedError)
    finally:
        serving.close()


def test_a_star_import_does_not_hide_the_cancelled_error_of_asyncio() -> None:
    names: dict[str, Any] = {}
    exec("from asyncio import CancelledError\nfrom polymnia.client import *", names)
    assert names["CancelledError"] is asyncio.CancelledError
    assert names["MCPMemoryClient"] is MCPMemoryClient


def test_a_server_that_is_not_there_is_an_error_when_the_time_is_over() -> None:
    for endpoint in ("ws://127.0.0.1:9/ws", "http://127.0.0.1:9/mcp"):
        with (
            MCPMemoryClient(endpoint, timeout=0.2) as client,
            pytest.raises(ConnectionFailedError, match="not reached"),
        ):
            client.ping()
    with MCPMemoryClient("stdio", command=["/no/such/program"]) as client, pytest.raises(ConnectionFailedError):
        client.ping()


def test_a_message_that_is_too_large_is_refused_and_no_other_call_suffers(tmp_path: Path) -> None:
    serving = Serving(tmp_path, "--max-message-bytes", "20000")
    stdio = serving.url("stdio") + " --max-message-bytes 20000"

    async def crowd(endpoint: str) -> None:
        async with AsyncMCPMemoryClient(endpoint) as client:
            await client.ping()
            large, *small = await asyncio.gather(
                client.store_content("p", "x" * 30_000),
                *(client.scope_list() for _ in range(5)),
                return_exceptions=True,
            )
            assert isinstance(large, MCPMemoryError)
            assert large.code == -32600
            assert all(isinstance(one, dict) for one in small)

    try:
        for endpoint in (serving.url("ws"), serving.url("http"), stdio):
            asyncio.run(crowd(endpoint))
    finally:
        serving.close()


def test_an_address_names_a_project_in_any_script(shared: Serving) -> None:
    for kind in ("ws", "http"):
        with MCPMemoryClient(f"{shared.url(kind)}?project=프로젝트 {kind}") as client:
            client.create_entities([{"name": "제이드", "entityType": "사람", "observations": ["서울"]}])
            assert [one["name"] for one in client.read_graph()["entities"]] == ["제이드"]


def test_a_client_that_was_closed_says_so(url: str) -> None:
    client = MCPMemoryClient(url)
    client.ping()
    client.close()
    client.close()
    with pytest.raises(ConnectionFailedError, match="closed"):
        client.ping()


def test_importing_the_client_imports_nothing_of_the_server() -> None:
    code = (
        "import sys, polymnia.client; print([m for m in sys.modules if m.startswith('polymnia.') and not "
        "m.startswith(('polymnia.client', 'polymnia.importing', 'polymnia.errors'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
