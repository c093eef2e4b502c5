"""OAuth with a real authorization server beside: a process of its own, with its own keys, metadata and tokens."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

import npm_peer
import polymnia
from stdio_client import DEADLINE, entity

from .conftest import MANY
from .served import Served, eventually, free_port, request

HERE = Path(__file__).parent
AUDIENCE = "https://memory.example/mcp"
QUICK = {"polymnia.transports.web.issuer._LEAST_SECONDS": 0.0}
READ = request("tools/call", {"name": "read_graph", "arguments": {}})
WRITE = request("tools/call", {"name": "create_entities", "arguments": {"entities": [entity("token", "x")]}})


class Issuer:
    """An authorization server at one address, which may be started again with other keys."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.name = f"http://127.0.0.1:{self._port}"

    def start(self, *keys: str) -> None:
        """Start it with these keys, the first of which signs; each is made when it is first named."""
        self.stop()
        (self._folder / "keys.json").write_text(json.dumps({"keys": [self._key(one) for one in keys]}))
        with (self._folder / "issuer.log").open("a") as log:
            self._process = subprocess.Popen(
                [str(npm_peer.node()), str(HERE / "issuer" / "issuer.mjs"), str(npm_peer.issuer()), str(self._port),
                 str(self._folder / "keys.json")],
                stdout=log, stderr=log,
            )  # fmt: skip
        eventually(self._answers, "the issuer answers")

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(DEADLINE)
            self._process = None

    def token(self, client: str = "teller", *, scope: str = "memory:write", audience: str = AUDIENCE) -> str:
        """A token, as any client gets one: by its credentials, at the address that the metadata names."""
        where = json.load(urlopen(f"{self.name}/.well-known/openid-configuration", timeout=DEADLINE))["token_endpoint"]
        given = {"grant_type": "client_credentials", "scope": scope, "resource": audience}
        who = {"client_id": client, "client_secret": f"secret of {client}"}
        with urlopen(Request(where, urlencode({**given, **who}).encode()), timeout=DEADLINE) as answer:
            return str(json.load(answer)["access_token"])

    def _key(self, name: str) -> dict[str, Any]:
        path = self._folder / f"{name}.json"
        if not path.exists():
            made = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1())))
            path.write_text(json.dumps({**made, "kid": name, "use": "sig", "alg": "ES256"}))
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            pytest.fail((self._folder / "issuer.log").read_text())
        try:
            with urlopen(f"{self.name}/jwks", timeout=DEADLINE) as answer:
                return bool(answer.status == 200)
        except (URLError, ConnectionError):
            return False


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[Issuer]:
    """An authorization server that runs."""
    found = Issuer(tmp_path)
    found.start("first")
    yield found
    found.stop()


@pytest.fixture
def resource(serving: Callable[..., Served], issuer: Issuer) -> Served:
    """A server that takes its tokens, and knows of it nothing but its name."""
    return serving(*MANY, "--oauth-issuer", issuer.name, "--oauth-audience", AUDIENCE, changes=QUICK)


@pytest.mark.promise("network.oauth.issuer", "network.oauth.tokens")
def test_tokens_of_a_real_issuer_open_what_their_scope_says(resource: Served, issuer: Issuer) -> None:
    assert resource.post(WRITE, "/mcp/simple", key=issuer.token()).status == 200
    with polymnia.connect(resource.store) as memory:
        assert memory.changes(1)[0].account == "oauth teller"
    read = issuer.token(scope="memory:read")
    assert resource.post(READ, key=read).status == 200
    assert resource.post(WRITE, "/mcp/simple", key=read).value["result"]["isError"]
    metrics = issuer.token(scope="memory:metrics")
    assert resource.request("GET", "/metrics", key=metrics).status == 200
    assert resource.post(READ, key=metrics).status == 403
    limited = {"name": "memory_retrieve", "arguments": {"operation": "search_content", "query": "x"}}
    for project, error in (("mine", None), ("other", 403)):
        limited["arguments"]["project_id"] = project  # type: ignore[index]
        told = resource.post(request("tools/call", limited), key=issuer.token("limited")).value
        assert told.get("error", {}).get("code") == error


@pytest.mark.promise("network.oauth.issuer", "network.oauth.metadata")
def test_a_client_that_knows_the_server_alone_finds_the_issuer(resource: Served, issuer: Issuer) -> None:
    refused = resource.post(READ)
    told = refused.headers["www-authenticate"]
    assert (refused.status, "error=" in told) == (401, False)
    path = told.partition('resource_metadata="https://memory.example')[2].partition('"')[0]
    metadata = resource.request("GET", path, Host="127.0.0.1").value
    assert metadata["authorization_servers"] == [issuer.name]
    token = issuer.token(audience=metadata["resource"], scope=" ".join(metadata["scopes_supported"]))
    assert resource.post(READ, key=token).status == 200


@pytest.mark.long
@pytest.mark.promise("network.oauth.issuer", "network.oauth.wrong")
def test_tokens_for_others_and_of_others_open_nothing(resource: Served, issuer: Issuer, tmp_path: Path) -> None:
    elsewhere = issuer.token(audience="https://other.example/mcp")
    refused = resource.post(READ, key=elsewhere)
    assert (refused.status, refused.headers["www-authenticate"].endswith(', error="invalid_token"')) == (401, True)
    brief = issuer.token("brief")
    eventually(lambda: resource.post(READ, key=brief).status == 401, "it expires")
    (tmp_path / "other").mkdir()
    other = Issuer(tmp_path / "other")
    try:
        other.start("first")  # a key of the same name
        assert resource.post(READ, key=other.token()).status == 401
    finally:
        other.stop()
    assert resource.post(READ, key=issuer.token()).status == 200


@pytest.mark.promise("network.oauth.rotation")
def test_keys_that_come_and_go_are_followed(resource: Served, issuer: Issuer) -> None:
    first = issuer.token()
    assert resource.post(READ, key=first).status == 200
    issuer.start("second", "first")
    second = issuer.token()
    assert jwt.get_unverified_header(second)["kid"] == "second"
    assert [resource.post(READ, key=one).status for one in (second, first)] == [200, 200]
    issuer.start("third", "second")
    third = issuer.token()
    assert [resource.post(READ, key=one).status for one in (third, second, first)] == [200, 200, 401]


@pytest.mark.long
@pytest.mark.promise("network.oauth.rotation")
def test_keys_are_fetched_again_by_and_by(serving: Callable[..., Served], issuer: Issuer) -> None:
    soon = {**QUICK, "polymnia.transports.web.issuer._FRESH_SECONDS": 0.0}
    served = serving(*MANY, "--oauth-issuer", issuer.name, "--oauth-audience", AUDIENCE, changes=soon)
    token = issuer.token()
    assert served.post(READ, key=token).status == 200
    issuer.start("second")
    eventually(lambda: served.post(READ, key=token).status == 401, "the key that is gone opens nothing")


@pytest.mark.promise("network.oauth.away")
def test_a_server_goes_on_while_the_issuer_is_away(resource: Served, issuer: Issuer) -> None:
    known = issuer.token()
    assert resource.post(READ, key=known).status == 200
    issuer.stop()
    assert resource.post(READ, key=known).status == 200
    strange = jwt.encode({"sub": "x"}, ec.generate_private_key(ec.SECP256R1()), "ES256", headers={"kid": "strange"})
    assert resource.post(READ, key=strange).status == 503  # it may be a new key
    resource.wait_for_line("cannot be fetched")
    issuer.start("first")
    assert resource.post(READ, key=strange).status == 401
    assert resource.is_well()


@pytest.mark.promise("network.oauth.away")
def test_a_server_starts_before_its_issuer(serving: Callable[..., Served], tmp_path: Path) -> None:
    issuer = Issuer(tmp_path)
    served = serving(*MANY, "--oauth-issuer", issuer.name, "--oauth-audience", AUDIENCE, changes=QUICK)
    _, key = served.keys.add("beside")
    assert served.post(READ, key=key).status == 200
    assert served.post(READ, key="a.b.c").status == 503
    try:
        issuer.start("first")
        assert served.post(READ, key=issuer.token()).status == 200
    finally:
        issuer.stop()


class _Impostor(http.server.BaseHTTPRequestHandler):
    """Answers every question for metadata with that of somebody else."""

    def do_GET(self) -> None:
        body = json.dumps(
            {"issuer": "https://issuer.example", "jwks_uri": f"http://{self.headers['Host']}/keys"}
        ).encode()
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.mark.promise("network.oauth.issuer")
def test_metadata_of_another_issuer_is_not_believed(serving: Callable[..., Served]) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Impostor) as impostor:
        impostor.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=impostor.serve_forever, daemon=True).start()
        name = f"http://127.0.0.1:{impostor.server_port}"
        served = serving("--oauth-issuer", name, "--oauth-audience", AUDIENCE)
        assert "that of another issuer, 'https://issuer.example'" in served.wait_for_line("cannot be fetched")
        assert served.post(READ, key="a.b.c").status == 503
        assert len(impostor.asked) == 1  # type: ignore[attr-defined]  # strangers do not make us ask again
        impostor.shutdown()
