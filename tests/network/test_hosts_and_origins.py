"""Pages of other sites: whatever a browser can be made to send does not come in."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from form import each
from polymnia.keys import KeyFile

from .conftest import MANY
from .routes import ADDRESSES, Address
from .served import Served, request

EVIL_HOSTS = (
    "evil.example", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example:{port}", "localhost.",
    "localhost:{port}.", "127.0.0.1:", "127.0.0.1:80@evil.example", "localhost:1:2", "[::1", "0.0.0.0:{port}", "127.1",
    "2130706433", "localhost,evil.example", "",
)  # fmt: skip
GOOD_HOSTS = ("127.0.0.1:{port}", "localhost:{port}", "LocalHost:{port}", "localhost", "127.0.0.1:80", "[::1]:{port}")
EVIL_ORIGINS = (
    "null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1",
    "http://127.0.0.1:{port}.evil.example", "http://localhost:{port}", "http://127.0.0.1:{port}/", "file://", "",
    "http://evil.example http://127.0.0.1:{port}",
)  # fmt: skip
PAGE = "https://page.example"


@pytest.fixture(scope="module")
def paged(serving: Callable[..., Served]) -> Served:
    """A server that the pages of one origin may call."""
    return serving(*MANY, "--allowed-origins", f"{PAGE}, http://other.example:8080")


@pytest.mark.promise("network.host")
@each("address", ADDRESSES)
def test_every_address_refuses_a_foreign_host(open_server: Served, address: Address) -> None:
    assert open_server.status(*address, Host="evil.example") == 421


@pytest.mark.promise("network.host")
@each("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "WS"])
@each("path", ["/mcp", "/healthz", "/nothing/there"])
def test_no_method_comes_by_a_foreign_host(open_server: Served, method: str, path: str) -> None:
    assert open_server.status(method, path, Host="evil.example:80") == 421


@pytest.mark.promise("network.host")
@each("host", EVIL_HOSTS)
def test_a_name_that_only_looks_like_ours_is_foreign(open_server: Served, host: str) -> None:
    for address in (("GET", "/healthz"), ("WS", "/ws")):
        assert open_server.status(*address, Host=host.format(port=open_server.port)) in (400, 421)


@pytest.mark.promise("network.host")
@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_our_own_names_are_known_with_any_port_and_case(open_server: Served, host: str) -> None:
    host = host.format(port=open_server.port)
    assert open_server.status("GET", "/healthz", Host=host) == 200
    assert open_server.status("WS", "/ws", Host=host) == 101


@pytest.mark.promise("network.host")
def test_no_host_and_two_hosts_are_refused(open_server: Served) -> None:
    none = open_server.exchange(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")
    two = open_server.exchange(
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )
    assert none.split()[1] in (b"400", b"421")
    assert two.split()[1] in (b"400", b"421")


@pytest.mark.promise("network.origin")
@each("address", ADDRESSES)
def test_every_address_refuses_a_foreign_page(open_server: Served, address: Address) -> None:
    assert open_server.status(*address, Origin="http://evil.example") == 403
    assert not [name for name in open_server.last if name.startswith("access-control")]


@pytest.mark.promise("network.origin")
@each("origin", EVIL_ORIGINS)
def test_an_origin_that_only_looks_like_ours_is_foreign(open_server: Served, origin: str) -> None:
    for address in (("GET", "/healthz"), ("WS", "/ws"), ("POST", "/mcp"), ("OPTIONS", "/mcp")):
        assert open_server.status(*address, Origin=origin.format(port=open_server.port)) == 403, address


@pytest.mark.promise("network.origin")
def test_two_origins_are_none_of_ours(open_server: Served) -> None:
    own = f"http://127.0.0.1:{open_server.port}".encode()
    said = open_server.exchange(
        b"GET /healthz HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nOrigin: %s\r\nConnection: close\r\n\r\n"
        % (own[7:], own, own)
    )
    assert said.split()[1] == b"403"


@pytest.mark.promise("network.origin")
def test_a_page_of_this_very_server_may_call_it(open_server: Served) -> None:
    own = f"http://127.0.0.1:{open_server.port}"
    assert open_server.status("GET", "/healthz", Origin=own) == 200
    assert open_server.post(request("ping"), Origin=own).status == 200
    assert open_server.status("WS", "/ws", Origin=own) == 101


@pytest.mark.promise("network.cors")
def test_without_the_setting_nothing_is_told_to_browsers(open_server: Served) -> None:
    own = f"http://127.0.0.1:{open_server.port}"
    for method in ("GET", "OPTIONS"):
        open_server.status(method, "/healthz", Origin=own, Access_Control_Request_Method="GET")
        assert not [name for name in open_server.last if name.startswith("access-control") or name == "vary"]


@pytest.mark.promise("network.cors")
@pytest.mark.parametrize("path", ["/mcp", "/sse/content", "/metrics"])
def test_a_page_of_the_setting_may_ask_beforehand(paged: Served, path: str) -> None:
    answer = paged.request("OPTIONS", path, Origin=PAGE, Access_Control_Request_Method="POST")
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "Authorization" in answer.headers["access-control-allow-headers"]
    assert "Mcp-Session-Id" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["vary"] == "Origin"


@pytest.mark.promise("network.cors")
def test_its_answers_may_be_read_by_that_page_alone(paged: Served) -> None:
    theirs = paged.post(request("ping"), Origin=PAGE)
    assert (theirs.status, theirs.headers["access-control-allow-origin"]) == (200, PAGE)
    assert "Mcp-Session-Id" in theirs.headers["access-control-expose-headers"]
    assert theirs.headers["vary"] == "Origin"
    plain = paged.post(request("ping"))
    assert "access-control-allow-origin" not in plain.headers
    assert plain.headers["vary"] == "Origin"
    missing = paged.request("GET", "/nothing", Origin=PAGE)
    assert (missing.status, missing.headers["access-control-allow-origin"]) == (404, PAGE)


@pytest.mark.promise("network.cors")
@pytest.mark.parametrize(
    "origin", ["http://page.example", "https://page.example:444", "https://page.example.evil", "*"]
)
def test_other_pages_are_refused_all_the_same(paged: Served, origin: str) -> None:
    answer = paged.request("OPTIONS", "/mcp", Origin=origin, Access_Control_Request_Method="POST")
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.promise("network.host")
def test_a_host_of_the_setting_is_answered(serving: Callable[..., Served]) -> None:
    served = serving("--allowed-hosts", "memory.example, box.example:*, den.example:8443, [2001:db8::7]")
    for host in ("memory.example", "memory.example:443", "Box.example:8443", "den.example:8443", "[2001:db8::7]:80"):
        assert served.status("GET", "/healthz", Host=host) == 200, host
    for host in ("den.example", "den.example:8444", "memory.example.evil", "memory.example:evil", "2001:db8::7"):
        assert served.status("GET", "/healthz", Host=host) == 421, host


@pytest.mark.long
@pytest.mark.promise("network.host")
def test_where_others_reach_it_it_answers_to_its_address_and_to_the_machines_name(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json")).add("one")
    served = serving("--host", "0.0.0.0", folder=tmp_path)
    for host in (f"127.0.0.1:{served.port}", socket.gethostname(), f"{socket.gethostname()}:{served.port}"):
        assert served.status("GET", "/healthz", Host=host) == 200, host
    with socket.create_connection(("127.0.0.2", served.port)) as connection:
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.2:{served.port}\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    for host in ("evil.example", "127.0.0.2", "192.0.2.7"):
        assert served.status("GET", "/healthz", Host=host) == 421, host
