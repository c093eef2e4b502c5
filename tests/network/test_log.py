"""The log: one line an event, and nothing in it that was said in confidence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from polymnia.keys import KeyFile
from stdio_client import entity

from .conftest import MANY
from .served import DOORS, Refused, Served, request

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
            door.call("memory_store", {"operation": "store_content", "project_id": SECRET, "content": SECRET})
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
