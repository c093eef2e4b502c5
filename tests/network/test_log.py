"""The log: one line an event, and nothing in it that was said in confidence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from polymnia.keys import KeyFile
from stdio_client import entity

from .conftest import MANY
from .served import DOORS, Refused, Served, initialize, request

SECRET = "xyzzy-plugh-7391"


def scenario(served: Served, key: str) -> None:
    """Everything that could be written down, said once: in arguments, names, addresses, headers, junk."""
    for kind in DOORS:
        with served.door(kind, "all", key) as door:
            door.call("create_entities", {"entities": [entity(f"{SECRET} {kind}", SECRET)]})
            door.call("create_entities", {"entities": [entity(f"{SECRET} {kind}", SECRET)]})
            door.call("search_nodes", {"query": SECRET})
            door.call("open_nodes", {"names": SECRET})
            door.call(SECRET, {SECRET: SECRET})
            door.call("memory_store", {"operation": "store_content", "project_id": "atlas", "content": SECRET})
            door.call("memory_import", {"import_data": SECRET})
            door.call("memory_import", {"file_path": SECRET})
            door.send(request(SECRET))
            door.send(request("resources/read", {"uri": f"memory://memory/{SECRET}"}))
            door.send(request("prompts/get", {"name": SECRET}))
        with suppress(Refused), served.door(kind, "all", key[:-5] + "AAAAA") as door:
            door.call("read_graph", {})
    served.status("GET", f"/{SECRET}?{SECRET}=1", key=key, Mcp_Session_Id=SECRET, Cookie=SECRET)
    served.status("GET", f"/mcp?key={key}", Authorization=f"Basic {SECRET}")
    served.status("GET", "/mcp", Host=f"{SECRET}.example", key=key)
    served.status("GET", "/mcp", Origin=f"http://{SECRET}.example", key=key)
    served.request("POST", "/mcp", f'{{"{SECRET}', key=key, Content_Type="application/json")
    served.exchange(f"{SECRET} {key}\r\n\r\n".encode())
    served.exchange(b"GET / HTTP/1.1\r\nX: " + f"{SECRET} {key}".encode() * 2000)
    with served.socket(key=key) as made:
        made.send(SECRET)
        made.recv(10)
        made.send(b"\xff" + SECRET.encode())
        made.recv(10)


@pytest.mark.promise("network.log.discreet", "network.log.form")
@pytest.mark.parametrize("level", ["debug", "warning"])
def test_no_content_and_no_key_is_written_down(serving: Callable[..., Served], tmp_path: Path, level: str) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    key, text = file.add("teller")
    served = serving(*MANY, "--log-level", level, folder=tmp_path)
    scenario(served, text)
    assert served.stop() == 0
    assert SECRET not in served.log
    assert text not in served.log
    assert text.split("_", 2)[2] not in served.log
    assert key.digest not in served.log
    events = [json.loads(line) for line in served.lines[1:]]
    for event in events:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["time"])
        assert event["level"] in ("debug", "info", "notice", "warning", "error")
        assert event["event"]
    requests = [event for event in events if event["event"] in ("http", "websocket")]
    if level == "debug":
        ids = [event["request"] for event in requests]
        assert len(ids) == len(set(ids)) > 50
        assert {event["key"] for event in requests} == {"", key.id}
        assert {"other", "/mcp/all", "/sse/all", "/ws/all"} <= {event["path"] for event in requests}
    else:
        assert not requests


@pytest.mark.promise("network.log.request")
def test_an_answer_names_the_request_the_log_tells_of(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, "--log-level", "info")
    id = served.request("GET", "/healthz").headers["x-request-id"]
    event = json.loads(served.wait_for_line(f'"{id}"'))
    assert (event["method"], event["path"], event["status"]) == ("GET", "/healthz", 200)
    assert event["milliseconds"] >= 0


@pytest.mark.promise("network.log.calls")
def test_every_call_is_logged_with_its_operation_and_project(serving: Callable[..., Served], kind: str) -> None:
    served = serving(*MANY, "--log-level", "info")
    with served.door(kind, "all") as door:
        door.call("memory_store", {"operation": "store_content", "project_id": "atlas", "content": SECRET})
        door.call("memory_store", {"operation": "store_content", "project_id": "atlas"})
        door.call("open_nodes", {"names": [SECRET]})
        door.call(SECRET, {})
    served.wait_for_line('"tool":"unknown"')
    served.stop()
    events = [json.loads(line) for line in served.lines[1:]]
    calls = [event for event in events if event["event"] == "call" and event["tool"] != "unknown"]
    told = [
        tuple(one[field] for field in ("level", "dialect", "tool", "operation", "project", "outcome")) for one in calls
    ]
    assert sorted(told) == [  # a call is answered before it is logged
        ("info", "all", "memory_store", "store_content", "atlas", "bad_arguments"),
        ("info", "all", "memory_store", "store_content", "atlas", "ok"),
        ("info", "all", "open_nodes", "", "default", "ok"),
    ]
    assert all(one["milliseconds"] >= 0 for one in calls)
    assert SECRET not in served.log
    shown = json.loads((Path(__file__).parents[2] / "docs/guide/examples/network/log.txt").read_text())
    assert [list(one) for one in calls] == [list(shown)] * 3
    requests = {event["request"]: event["path"] for event in events if event["event"] in ("http", "websocket")}
    assert all(requests[one["request"]].startswith(("/mcp/all", "/sse/all", "/ws/all")) for one in calls)


@pytest.mark.promise("network.log.stdio")
@pytest.mark.parametrize("format", ["json", "text"])
def test_a_server_on_pipes_logs_its_calls_where_that_is_asked_for(tmp_path: Path, format: str) -> None:
    store = {"operation": "store_content", "project_id": "atlas", "content": SECRET}
    messages = [initialize(), request("tools/call", {"name": "memory_store", "arguments": store}), request("ping")]
    command = [sys.executable, "-m", "polymnia", "stdio", "--store", str(tmp_path / "memory.db"), "--embedder", "none"]
    done = subprocess.run(
        [*command, "--log-level", "info", "--log-format", format],
        input="".join(json.dumps(one) + "\n" for one in messages), capture_output=True, text=True, check=True,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
    )  # fmt: skip
    (line,) = [line for line in done.stderr.splitlines() if "memory_store" in line]
    assert SECRET not in done.stderr
    if format == "text":
        assert ' polymnia info: call request="1" dialect="all" tool="memory_store" operation="store_content"' in line
        return
    told = json.loads(line)
    assert (told["request"], told["tool"], told["operation"]) == ("1", "memory_store", "store_content")
    assert (told["project"], told["outcome"]) == ("atlas", "ok")


BROKEN = """
from polymnia.engine.memory import Memory
from polymnia.transports.web.monitoring import Metrics
def fail(*given, **named):
    raise RuntimeError("/a/path/of/the/server and " + repr(given[1:]))
Memory.search_nodes = Metrics.page = fail
"""


@pytest.fixture(scope="module")
def broken(serving: Callable[..., Served]) -> Served:
    """A server in which searching and the page of metrics fail as nothing should."""
    return serving(*MANY, before=BROKEN)


@pytest.mark.promise("network.log.incident")
def test_an_internal_error_is_told_by_a_number_that_the_log_has(broken: Served, kind: str) -> None:
    with broken.door(kind, "simple") as door:
        error = door.call("search_nodes", {"query": SECRET})["error"]
    assert error["code"] == -32603
    incident = error["data"]["incident"]
    assert incident in error["message"]
    assert "/a/path" not in json.dumps(error)
    assert "RuntimeError" not in json.dumps(error)
    line = broken.wait_for_line(incident)
    assert "RuntimeError" in line
    assert SECRET not in broken.log


@pytest.mark.promise("network.log.incident")
def test_a_page_that_fails_says_no_more_than_that(broken: Served) -> None:
    answer = broken.request("GET", "/metrics")
    assert answer.status == 500
    assert "/a/path" not in answer.body.decode()
    assert answer.headers["x-request-id"] in answer.value["error"]["message"]
    assert "RuntimeError" in broken.wait_for_line(answer.headers["x-request-id"])
    assert broken.is_well()
