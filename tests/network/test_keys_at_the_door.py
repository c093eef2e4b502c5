"""Keys: on every address and by every way in; wrong, missing, revoked, and those of somebody else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from form import each
from polymnia.keys import KeyFile
from stdio_client import DEADLINE

from .conftest import MANY
from .routes import ADDRESSES, OPEN, Address
from .served import Refused, Served, initialize, request

CLOSED = [address for address in ADDRESSES if address.path not in OPEN]
SOON = {"polymnia.transports.web.application._CHECK_SECONDS": 0.05}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, serving: Callable[..., Served]) -> Served:
    """A server that needs keys, and looks often whether those who stay are still welcome."""
    folder = tmp_path_factory.mktemp("locked")
    _file(folder).add("first")
    return serving(*MANY, folder=folder, changes=SOON)


def _file(folder: Path) -> KeyFile:
    return KeyFile(str(folder / "config" / "polymnia" / "keys.json"))


@pytest.fixture
def key(locked: Served) -> str:
    """A key that opens everything."""
    return locked.keys.add("test")[1]


@pytest.mark.promise("network.keys.everywhere")
@each("address", CLOSED)
def test_every_address_but_those_of_health_asks_for_a_key(locked: Served, key: str, address: Address) -> None:
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    assert locked.status(*address) == 401
    assert locked.last["www-authenticate"].startswith("Bearer")
    assert locked.status(*address, key=wrong) == 401
    assert locked.status(*address, Authorization=f"Basic {key}") == 401
    assert locked.status(*address, key=key) not in (401, 421)


@pytest.mark.promise("network.keys.everywhere", "network.pages.health")
def test_whether_it_lives_and_can_serve_is_told_to_anybody(locked: Served) -> None:
    assert locked.request("GET", "/healthz").value == {"status": "alive"}
    assert locked.request("GET", "/readyz").value == {"status": "ready"}


@pytest.mark.promise("network.keys.everywhere")
def test_what_is_not_there_is_not_told_to_strangers(locked: Served, key: str) -> None:
    assert locked.status("GET", "/no/such/place") == 401
    assert locked.status("PUT", "/mcp") == 401
    assert locked.status("GET", "/no/such/place", key=key) == 404


@pytest.mark.promise("network.keys.form")
@pytest.mark.parametrize(
    "text", ["", "pk_", "{0}x", "x{0}", "{0},{0}", "pk_ffffffffffff_" + "A" * 43, "A" * 60000, "\xff\xfe", "{1}"]
)
def test_what_only_looks_like_a_key_opens_nothing(locked: Served, key: str, text: str) -> None:
    _, id, _ = key.split("_", 2)
    assert locked.status("POST", "/mcp", Authorization=f"Bearer {text.format(key, id)}") == 401


@pytest.mark.promise("network.keys.form")
def test_a_key_elsewhere_than_in_its_header_opens_nothing(locked: Served, key: str) -> None:
    for path in (f"/mcp?key={key}", f"/mcp?access_token={key}", f"/mcp?authorization=Bearer%20{key}"):
        assert locked.status("POST", path) == 401
    assert locked.status("POST", "/mcp", Cookie=f"key={key}", X_Api_Key=key) == 401
    two = (
        f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Authorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    )
    assert locked.exchange(two.encode()).split()[1] == b"401"


@pytest.mark.promise("network.keys.everywhere", "network.errors")
def test_every_way_in_opens_with_a_key_and_not_without(locked: Served, key: str, kind: str) -> None:
    with locked.door(kind, key=key) as door:
        assert "result" in door.call("read_graph", {})
    with pytest.raises(Refused) as refused, locked.door(kind) as door:
        door.call("read_graph", {})
    assert refused.value.status == refused.value.error["code"] == 401
    assert "Authorization: Bearer KEY" in refused.value.error["message"]
    assert refused.value.error["data"]["error_type"] == "unauthorized"
    assert refused.value.error["data"]["suggestions"]


@pytest.mark.promise("network.keys.revoked", "network.keys.expiry")
@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_key_that_is_revoked_or_expired_opens_nothing_from_then_on(locked: Served, kind: str, end: str) -> None:
    key, text = locked.keys.add("gone soon")
    with locked.door(kind, key=text) as door:
        assert "result" in door.call("read_graph", {})
        if end == "revoked":
            locked.keys.revoke(key.id)
        else:
            locked.keys.change(key.id, expires=time.time_ns() // 1000)
        with pytest.raises((Refused, ConnectionClosed)):
            door.call("read_graph", {})
    with pytest.raises(Refused), locked.door(kind, key=text) as door:
        door.call("read_graph", {})


@pytest.mark.promise("network.keys.revoked")
def test_a_message_on_an_open_socket_is_refused_after_its_key(
    serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("patient")
    served = _patient(serving, folder)
    key, text = served.keys.add("gone soon")
    with served.socket(key=text) as made:
        served.keys.revoke(key.id)
        made.send(json.dumps(request("tools/call", {"name": "create_entities", "arguments": {"entities": [
            {"name": "late", "entityType": "t", "observations": ["x"]}]}})))  # fmt: skip
        with pytest.raises(ConnectionClosed) as closed:
            made.recv(DEADLINE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
    _, other = served.keys.add("other")
    graph = served.post(request("tools/call", {"name": "read_graph", "arguments": {}}), key=other).body
    assert b"late" not in graph


def _patient(serving: Callable[..., Served], folder: Path) -> Served:
    """A server that does not look by itself within any test."""
    _file(folder).add("first")
    return serving(*MANY, folder=folder, changes={"polymnia.transports.web.application._CHECK_SECONDS": 3600.0})


@pytest.mark.promise("network.keys.revoked")
def test_an_idle_socket_is_closed_after_its_key(locked: Served) -> None:
    key, text = locked.keys.add("gone soon")
    with locked.socket(key=text) as made:
        locked.keys.revoke(key.id)
        with pytest.raises(ConnectionClosed) as closed:
            made.recv(DEADLINE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


@pytest.mark.promise("network.keys.revoked")
@pytest.mark.parametrize("path", ["/sse", "/mcp"])
def test_a_stream_ends_after_its_key(locked: Served, path: str) -> None:
    key, text = locked.keys.add("gone soon")
    headers = {} if path == "/sse" else {"Mcp_Session_Id": locked.begin(key=text)}
    with locked.events(path, key=text, **headers) as events:
        if path == "/sse":
            assert events.next() is not None
        locked.keys.revoke(key.id)
        while events.next() is not None:
            pass


@pytest.mark.promise("network.sessions.owner")
def test_a_session_belongs_to_the_key_that_began_it(locked: Served, key: str) -> None:
    _, other = locked.keys.add("other")
    session = locked.begin(key=key)
    for method in ("GET", "DELETE"):
        assert locked.status(method, "/mcp", key=other, Mcp_Session_Id=session, Accept="text/event-stream") == 404
    assert locked.post(request("ping"), key=other, Mcp_Session_Id=session).status == 404
    assert locked.post(request("ping"), Mcp_Session_Id=session).status == 401
    assert locked.post(request("ping"), key=key, Mcp_Session_Id=session).status == 200
    assert locked.post(request("ping"), "/mcp/content", key=key, Mcp_Session_Id=session).status == 404


@pytest.mark.promise("network.sessions.owner")
def test_a_stream_takes_messages_of_its_own_key_alone(locked: Served, key: str) -> None:
    _, other = locked.keys.add("other")
    with locked.events(key=key) as events:
        first = events.next()
        assert first is not None
        assert locked.post(initialize(), first["data"], key=other).status == 404
        assert locked.post(initialize(), first["data"]).status == 401
        assert locked.post(initialize(), first["data"], key=key).status == 202


@pytest.mark.promise("network.sessions.owner")
@pytest.mark.parametrize("session", ["x", "../..", "0" * 5000, "' or 1=1", "\xe9"])
def test_a_session_that_was_never_begun_is_none(locked: Served, key: str, session: str) -> None:
    assert locked.post(request("ping"), key=key, Mcp_Session_Id=session).status == 404


@pytest.mark.promise("network.sessions.no_authority")
def test_a_session_id_in_the_arguments_opens_no_project(locked: Served) -> None:
    _, mine = locked.keys.add("mine", projects=("mine",))
    _, theirs = locked.keys.add("theirs", projects=("theirs",))
    arguments = {"operation": "store_content", "project_id": "theirs", "session_id": "s", "content": "Their treasure."}
    with locked.door("bare", "content", theirs) as door:
        assert "result" in door.call("memory_store", arguments)
    with locked.door("bare", "content", mine) as door:
        asked = {"operation": "search_content", "project_id": "theirs", "session_id": "s", "query": "treasure"}
        answer = door.call("memory_retrieve", asked)
        assert "treasure" not in json.dumps(answer).replace(json.dumps(asked), "")
        assert answer["error"]["code"] == 403


@pytest.mark.promise("network.keys.file")
def test_nobody_comes_in_by_a_file_of_keys_that_is_broken(serving: Callable[..., Served], tmp_path: Path) -> None:
    file = _file(tmp_path)
    _, text = file.add("whole")
    served = serving(*MANY, folder=tmp_path)
    assert served.status("GET", "/mcp", key=text) == 405
    whole = Path(file.path).read_bytes()
    Path(file.path).write_bytes(whole[:-20])
    assert served.status("GET", "/mcp", key=text) == 503
    assert str(tmp_path) not in served.request("GET", "/mcp", key=text).body.decode()
    served.wait_for_line("cannot be read")
    assert sum("cannot be read" in line for line in served.lines) == 1, "told once, not with every request"
    Path(file.path).write_bytes(whole)
    assert served.status("GET", "/mcp", key=text) == 405
    Path(file.path).chmod(0o622)
    assert served.status("GET", "/mcp", key=text) == 503
    Path(file.path).unlink()
    assert served.status("GET", "/mcp", key=text) == 401
    assert served.is_well()


@pytest.mark.promise("network.keys.first")
def test_the_first_key_counts_at_once_for_a_server_that_runs(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving(*MANY, folder=tmp_path, changes=SOON)
    session = served.begin()
    assert served.status("GET", "/mcp", key="pk_whatever") == 405
    with served.events("/sse") as stream, served.socket() as idle:
        assert stream.next() is not None
        key, text = served.keys.add("first")
        assert served.status("GET", "/mcp") == 401
        assert served.status("GET", "/mcp", key=text) == 405
        assert served.post(request("ping"), key=text, Mcp_Session_Id=session).status == 404
        assert stream.next() is None
        with pytest.raises(ConnectionClosed):
            idle.recv(DEADLINE)
    served.keys.revoke(key.id)
    assert served.status("GET", "/mcp") == 401, "who revokes the last key does not open the door to everybody"


@pytest.mark.long
@pytest.mark.promise("network.keys.projects")
def test_a_key_for_no_project_opens_nothing(locked: Served, kind: str) -> None:
    _, text = locked.keys.add("nowhere", projects=())
    with pytest.raises(Refused) as refused, locked.door(kind, key=text) as door:
        door.send(request("ping"))
    assert refused.value.status == 401
