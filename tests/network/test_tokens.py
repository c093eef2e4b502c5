"""OAuth: tokens of an authorization server, made here, right and wrong."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import polymnia
from form import each
from polymnia.keys import KeyFile
from stdio_client import entity

from .conftest import MANY
from .served import Served, request

ISSUER, AUDIENCE = "https://issuer.example", "https://memory.example/mcp"
READ = request("tools/call", {"name": "read_graph", "arguments": {}})
WRITE = request("tools/call", {"name": "create_entities", "arguments": {"entities": [entity("token", "x")]}})


class Issuer:
    """Makes tokens with two keys, one of which the server does not know."""

    def __init__(self) -> None:
        self.known = ec.generate_private_key(ec.SECP256R1())
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.stranger = ec.generate_private_key(ec.SECP256R1())

    def keys(self) -> str:
        """The public keys as a server reads them."""
        known = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.known.public_key()))
        other = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.rsa.public_key()))
        return json.dumps({"keys": [{**known, "kid": "e", "use": "sig"}, {**other, "kid": "r", "use": "sig"}]})

    def token(self, key: Any = None, algorithm: str = "ES256", kid: str = "e", **claims: Any) -> str:
        """A token that is right but for what is given; a claim of None is left out."""
        whole = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "ann",
            "exp": time.time() + 600,
            "scope": "memory:write",
            **claims,
        }
        given = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(given, key or self.known, algorithm, headers={"kid": kid})


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    """Somebody who issues tokens."""
    return Issuer()


@pytest.fixture(scope="module")
def resource(serving: Callable[..., Served], issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A server that takes the issuer's tokens."""
    folder: Path = tmp_path_factory.mktemp("resource")
    (folder / "jwks.json").write_text(issuer.keys())
    return serving(
        *MANY, "--oauth-issuer", ISSUER, "--oauth-audience", AUDIENCE, "--oauth-keys", str(folder / "jwks.json"),
        "--allowed-hosts", "memory.example", folder=folder,
        changes={"polymnia.transports.web.application._CHECK_SECONDS": 0.05},
    )  # fmt: skip


@pytest.mark.promise("network.oauth.tokens", "history.author")
def test_a_token_lets_in_to_what_its_scope_says(resource: Served, issuer: Issuer) -> None:
    write, read = issuer.token(), issuer.token(scope="openid memory:read")
    assert "isError" not in resource.post(WRITE, "/mcp/simple", key=write).value["result"]
    with polymnia.connect(resource.store) as memory:
        made = memory.changes(1)[0]
    assert (made.who, made.account) == ("ann via unknown client (simple)", "oauth ann")
    assert resource.post(READ, key=read).status == 200
    assert resource.post(WRITE, "/mcp/simple", key=read).value["result"]["isError"]
    assert resource.post(READ, key=issuer.token(issuer.rsa, "RS256", "r")).status == 200


@pytest.mark.promise("network.oauth.tokens")
def test_a_token_with_projects_opens_those_alone(resource: Served, issuer: Issuer) -> None:
    token = issuer.token(projects=["mine"])
    search = {"operation": "search_content", "query": "x"}

    def asked(project: str) -> Any:
        arguments = {**search, "project_id": project}
        return resource.post(
            request("tools/call", {"name": "memory_retrieve", "arguments": arguments}), key=token
        ).value

    assert "result" in asked("mine")
    assert asked("default")["error"]["code"] == 403


def _unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)]
    return ".".join([*parts, ""])


@pytest.mark.promise("network.oauth.wrong")
@each(
    "claims",
    [
        {"iss": "https://evil.example"}, {"iss": None}, {"aud": "https://other.example/mcp"}, {"aud": None},
        {"aud": AUDIENCE + "/"}, {"exp": 1}, {"exp": None}, {"sub": None}, {"nbf": 1 << 40},
        {"scope": None}, {"scope": ""}, {"scope": "openid"}, {"scope": "memory:writer"}, {"scope": "memory"},
        {"projects": "mine"}, {"projects": [1]}, {"projects": {"mine": 1}}, {"projects": []},
    ],
)  # fmt: skip
def test_a_token_with_a_wrong_claim_opens_nothing(resource: Served, issuer: Issuer, claims: dict[str, Any]) -> None:
    assert resource.post(READ, key=issuer.token(**claims)).status == 401


@pytest.mark.promise("network.oauth.wrong")
def test_a_token_that_is_not_signed_by_the_issuer_opens_nothing(resource: Served, issuer: Issuer) -> None:
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": time.time() + 600, "scope": "memory:write"}
    public = issuer.rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = _unsigned({"alg": "HS256", "typ": "JWT", "kid": "r"}, claims).rstrip(".")
    mac = base64.urlsafe_b64encode(hmac.new(public, head.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
    right = issuer.token()
    for token in (
        issuer.token(issuer.stranger),
        issuer.token(issuer.stranger, kid="nobody"),
        issuer.token(kid="r"),
        issuer.token(issuer.rsa, "RS256", "e"),
        _unsigned({"alg": "none", "kid": "e"}, claims),
        _unsigned({"alg": "None", "kid": "e"}, claims),
        f"{head}.{mac}",
        right[:-4] + "AAAA",
        right.rsplit(".", 1)[0] + ".",
        right + ".x",
        "a.b.c",
        "..",
        "\xe9.\xe9.\xe9",
    ):
        assert resource.post(READ, key=token).status == 401, token


@pytest.mark.promise("network.oauth.expiry")
def test_a_socket_ends_with_its_token(resource: Served, issuer: Issuer) -> None:
    from websockets.exceptions import ConnectionClosed

    with (
        resource.socket(key=issuer.token(exp=time.time() + 1.5)) as made,
        pytest.raises(ConnectionClosed) as closed,
    ):
        made.recv(30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


@pytest.mark.promise("network.sessions.owner")
def test_a_session_of_a_token_that_may_write_is_none_for_one_that_may_read(resource: Served, issuer: Issuer) -> None:
    session = resource.begin(key=issuer.token())
    reader = issuer.token(scope="memory:read")
    assert resource.post(WRITE, key=reader, Mcp_Session_Id=session).status == 404
    assert resource.post(READ, key=issuer.token(jti="renewed"), Mcp_Session_Id=session).status == 200


@pytest.mark.promise("network.oauth.metadata")
def test_who_has_no_token_is_told_where_to_get_one(resource: Served) -> None:
    refused = resource.post(READ)
    assert refused.status == 401
    where = "https://memory.example/.well-known/oauth-protected-resource"
    assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{where}"'
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        told = resource.request("GET", path)
        assert (told.status, told.headers["content-type"]) == (200, "application/json")
        assert told.value["resource"] == AUDIENCE
        assert told.value["authorization_servers"] == [ISSUER]
        assert told.value["scopes_supported"] == ["memory:read", "memory:write", "memory:metrics"]
        assert told.value["bearer_methods_supported"] == ["header"]
        assert resource.status("GET", path, Host="evil.example") == 421


@pytest.mark.promise("network.oauth.beside_keys")
def test_keys_are_taken_beside_tokens(serving: Callable[..., Served], issuer: Issuer, tmp_path: Path) -> None:
    (tmp_path / "jwks.json").write_text(issuer.keys())
    _, text = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json")).add("first")
    served = serving(
        "--oauth-issuer", ISSUER, "--oauth-audience", AUDIENCE, "--oauth-keys", str(tmp_path / "jwks.json"),
        folder=tmp_path,
    )  # fmt: skip
    assert served.post(READ, key=text).status == 200
    assert served.post(READ, key=issuer.token()).status == 200
    assert served.post(READ).status == 401
    (tmp_path / "jwks.json").write_text("{")
    assert served.post(READ, key=issuer.token()).status == 503
    assert served.post(READ, key=text).status == 200


@pytest.mark.long
@pytest.mark.promise("network.oauth.wrong")
def test_a_token_opens_nothing_once_its_issuer_has_dropped_the_key(
    serving: Callable[..., Served], issuer: Issuer, tmp_path: Path
) -> None:
    path = tmp_path / "jwks.json"
    path.write_text(issuer.keys())
    served = serving("--oauth-issuer", ISSUER, "--oauth-audience", AUDIENCE, "--oauth-keys", str(path), folder=tmp_path)
    token = issuer.token()
    assert [served.post(READ, key=token).status for _ in range(2)] == [200, 200]
    path.write_text(json.dumps({"keys": json.loads(issuer.keys())["keys"][1:]}))
    assert served.post(READ, key=token).status == 401
