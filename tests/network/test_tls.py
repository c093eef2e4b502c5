"""TLS: a certificate by flag, and real proxies with TLS before the server, configured as the guide says."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from polymnia.keys import KeyFile
from programs import program
from stdio_client import DEADLINE

from . import certificates
from .conftest import MANY
from .served import Served, eventually, free_port, request

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "examples" / "network"
READ = request("tools/call", {"name": "read_graph", "arguments": {}})
REMEMBER = {"operation": "store_content", "project_id": "default", "content": "The gate opens at nine."}


@pytest.fixture(scope="module")
def secured(serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A server with a certificate."""
    folder = tmp_path_factory.mktemp("secured")
    certificate, key = certificates.make(folder)
    served = serving(*MANY, "--tls-certificate", str(certificate), "--tls-key", str(key), folder=folder)
    served.tls = certificates.trusting(certificate)
    return served


@pytest.mark.promise("network.tls.flag")
def test_every_way_in_speaks_tls(secured: Served, kind: str) -> None:
    with secured.door(kind) as door:
        assert "result" in door.call("read_graph", {})
    assert f"https://127.0.0.1:{secured.port}/mcp" in secured.lines[0]


@pytest.mark.promise("network.tls.flag")
def test_a_page_of_the_server_itself_comes_by_https(secured: Served) -> None:
    assert secured.post(READ, Origin=f"https://127.0.0.1:{secured.port}").status == 200
    assert secured.post(READ, Origin=f"http://127.0.0.1:{secured.port}").status == 403


@pytest.mark.promise("network.tls.flag")
def test_nobody_is_answered_without_tls_or_with_an_old_one(secured: Served) -> None:
    with secured.at(secured.port, None).connection() as plain, pytest.raises((http.client.HTTPException, OSError)):
        plain.request("GET", "/healthz")
        plain.getresponse()
    assert secured.tls is not None
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with secured.at(secured.port, old).connection() as made, pytest.raises(OSError):
        made.request("GET", "/healthz")
    assert secured.is_well()


@pytest.mark.promise("network.tls.workers")
def test_several_processes_speak_tls_to_clients(serving: Callable[..., Served], tmp_path: Path) -> None:
    certificate, key = certificates.make(tmp_path)
    flags = ("--workers", "2", "--tls-certificate", str(certificate), "--tls-key", str(key))
    served = serving(*MANY, *flags, folder=tmp_path)
    served.tls = certificates.trusting(certificate)
    session = served.begin()
    for _ in range(12):  # whichever of them a connection reaches
        assert served.post(READ, Mcp_Session_Id=session).status == 200


@pytest.mark.promise("network.tls.renewed")
def test_a_renewed_certificate_is_used_without_a_restart(serving: Callable[..., Served], tmp_path: Path) -> None:
    certificate, key = certificates.make(tmp_path)
    served = serving(
        *MANY, "--log-level", "notice", "--tls-certificate", str(certificate), "--tls-key", str(key), folder=tmp_path,
        changes={"polymnia.transports.web.serving._RENEW_SECONDS": 0.05},
    )  # fmt: skip
    served.tls = before = certificates.trusting(certificate)
    assert served.is_well()
    certificate.write_text("no certificate")
    served.wait_for_line("the one before stays in use")
    assert served.is_well()
    certificates.make(tmp_path, kind="rsa")
    served.wait_for_line("the certificate was loaded again")
    served.tls = certificates.trusting(certificate)
    assert served.is_well()
    with served.at(served.port, before).connection() as made, pytest.raises(ssl.SSLCertVerificationError):
        made.request("GET", "/healthz")


@pytest.mark.promise("network.tls.settings")
def test_a_certificate_that_cannot_be_used_keeps_the_server_from_starting(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    certificate, key = certificates.make(tmp_path)
    (tmp_path / "other").mkdir()
    _, other = certificates.make(tmp_path / "other")
    for flags, told in (
        (["--tls-certificate", str(certificate)], "--tls-key"),
        (["--tls-certificate", str(certificate), "--tls-key", str(other)], "KEY_VALUES_MISMATCH"),
        (["--tls-certificate", str(tmp_path / "none.pem"), "--tls-key", str(key)], "No such file"),
    ):
        served = serving(*flags, wait=False)
        assert served.code() != 0
        assert told in served.log


# ── proxies ───────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _running(command: list[str], log: Path, **variables: str) -> Iterator[None]:
    with log.open("w") as told:
        process = subprocess.Popen(command, stdout=told, stderr=told, env={**os.environ, **variables})
    try:
        yield
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(DEADLINE)


def _given(example: str, *changes: tuple[str, str]) -> str:
    """The configuration of the guide with the addresses and files of this machine."""
    text = (GUIDE / example).read_text()
    for here, there in changes:
        assert here in text
        text = text.replace(here, there)
    return text


@contextmanager
def _nginx(folder: Path, port: int, server: int) -> Iterator[None]:
    certificate, key = certificates.make(folder)
    site = _given(
        "nginx.conf", ("127.0.0.1:9080", f"127.0.0.1:{server}"), ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/memory.example/fullchain.pem", str(certificate)), ("/etc/ssl/memory.example/privkey.pem", str(key)),
    )  # fmt: skip
    (folder / "site.conf").write_text(site)
    kept = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""  # who may read the folder of the test
    (folder / "nginx.conf").write_text(
        f"{user}daemon off;\npid {folder}/pid;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{kept}include {folder}/site.conf;\n}}\n"
    )
    command = [program("nginx"), "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
    with _running(command, folder / "nginx.log"):
        yield


@contextmanager
def _caddy(folder: Path, port: int, server: int) -> Iterator[None]:
    certificate, key = certificates.make(folder)
    site = _given(
        "Caddyfile", ("127.0.0.1:9080", f"127.0.0.1:{server}"),
        ("memory.example {", f"https://127.0.0.1:{port} {{\n\ttls {certificate} {key}"),
    )  # fmt: skip
    (folder / "Caddyfile").write_text(
        "{\n\tadmin off\n\tauto_https disable_redirects\n\tgrace_period 100ms\n}\n" + site
    )
    command = [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with _running(command, folder / "caddy.log", XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder)):
        yield


PROXIES = {"nginx": _nginx, "caddy": _caddy}


class Proxied:
    """A server with a key behind a proxy: ``outside`` is how clients reach it."""

    def __init__(self, outside: Served, key: str) -> None:
        self.outside = outside
        self.key = key


@pytest.fixture(scope="module", params=list(PROXIES))
def proxied(
    request: pytest.FixtureRequest, serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxied]:
    """A server behind a real proxy, configured as the guide says."""
    program(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    _, key = KeyFile(str(folder / "config" / "polymnia" / "keys.json")).add("everything")
    served = serving(*MANY, "--trusted-proxies", "127.0.0.1", "--log-level", "info", folder=folder)
    port = free_port()
    with PROXIES[request.param](folder, port, served.port):
        outside = served.at(port, certificates.trusting(folder / "certificate.pem"))

        def answers() -> bool:
            try:
                return outside.is_well()
            except OSError:
                return False

        eventually(answers, "the proxy answers")
        yield Proxied(outside, key)


@pytest.mark.promise("network.tls.proxies")
def test_every_way_in_leads_through_a_proxy(proxied: Proxied, kind: str) -> None:
    with proxied.outside.door(kind, "content", proxied.key) as door:
        stored = door.call("memory_store", REMEMBER)
        assert json.loads(stored["result"]["content"][0]["text"])["success"]
    assert proxied.outside.post(READ).status == 401


@pytest.mark.promise("network.tls.proxies")
def test_events_come_through_a_proxy_as_they_happen(proxied: Proxied) -> None:
    outside, key = proxied.outside, proxied.key
    with outside.events("/api/events", key=key) as events:
        news = {**REMEMBER, "content": "The gate shuts at six."}  # a text that is there already changes nothing
        outside.post(request("tools/call", {"name": "memory_store", "arguments": news}), key=key)
        while (event := events.next()) is not None:  # while the stream stays open
            if event.get("event") == "change":
                break
        assert event is not None


@pytest.mark.promise("network.tls.proxies")
def test_the_page_comes_through_a_proxy(proxied: Proxied) -> None:
    page = proxied.outside.request("GET", "/")
    assert (page.status, page.headers["content-type"].partition(";")[0]) == (200, "text/html")
    script = page.body.decode().partition('src="')[2].partition('"')[0]
    assert proxied.outside.request("GET", "/" + script.lstrip("./")).status == 200


@pytest.mark.promise("network.tls.proxies")
def test_a_proxy_tells_who_the_client_is_and_that_it_came_by_https(proxied: Proxied) -> None:
    outside = proxied.outside
    own = f"https://127.0.0.1:{outside.port}"
    assert outside.post(READ, key=proxied.key, Origin=own).status == 200
    assert outside.post(READ, key=proxied.key, Origin=own.replace("https", "http")).status == 403
    made = http.client.HTTPSConnection(
        "127.0.0.1", outside.port, timeout=DEADLINE, context=outside.tls, source_address=("127.0.0.2", 0)
    )
    made.request("GET", "/healthz", headers={"X-Forwarded-For": "192.0.2.7"})  # which anybody can write
    id = made.getresponse().headers["X-Request-Id"]
    made.close()
    assert json.loads(outside.wait_for_line(f'"{id}"'))["address"] == "127.0.0.2"
