"""OAuth: tokens of an authorization server, besides keys. This server only verifies them (RFC 9728, RFC 9068)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from polymnia.errors import NoLibrary
from polymnia.importing import load
from polymnia.operation import Grant
from polymnia.schemas import JsonObject
from polymnia.transports.web.auth import Principal
from polymnia.transports.web.issuer import Keys, KeysInFile, KeysOfIssuer

METADATA = "/.well-known/oauth-protected-resource"
READ, WRITE, METRICS = "memory:read", "memory:write", "memory:metrics"
_ALGORITHMS = {  # by type of key; none with a shared secret, so that a public key is never mistaken for one
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
_NEEDED = ["exp", "iss", "aud", "sub"]
_MOST = 1000  # verified tokens in the cache


class KeySource(Protocol):
    """Where the public keys of an issuer come from."""

    def current(self, *, renewed: bool) -> Keys:
        """The keys; another object if they have changed. Raises Unavailable, or Outdated if there are none yet."""

    def missing(self, *, renewed: bool) -> None:
        """A token names a key that is not there; raises Outdated if it may help to renew them, which was not done."""

    def renew(self) -> None:
        """Fetch the keys again, which may take seconds."""


class Tokens:
    """Verifies the tokens of one issuer by its public keys. The scope of a token holds its rights.

    ``memory:read`` lets its bearer read, ``memory:write`` write too; a claim ``projects`` limits it to those.
    ``memory:metrics`` lets it read the figures of the server. Keys come from a JWKS file (``keys``) or the issuer.
    """

    def __init__(self, issuer: str, audience: str, keys: str | None, log: Callable[[str, str], None]) -> None:
        try:
            jwt = load("jwt")
        except ImportError as e:
            raise NoLibrary("jwt") from e
        self._jwt = jwt
        self.issuer = issuer
        self.audience = audience
        self._source: KeySource = KeysOfIssuer(jwt, issuer, log) if keys is None else KeysInFile(jwt, keys)
        self._keys: Keys = {}
        self._checked: dict[str, tuple[float, Principal]] = {}  # expiry and bearer of verified tokens
        self.renew = self._source.renew
        self.renew()
        if keys is not None:
            self._source.current(renewed=True)  # a file that cannot be read is told at the start

    def __call__(self, token: str, *, renewed: bool) -> Principal | None:
        """The bearer of a token; None if it is not valid.

        Raises Outdated if its key may be a new one, and the keys were not ``renewed`` for it.
        """
        jwt = self._jwt
        try:
            keys = self._source.current(renewed=renewed)
            if keys is not self._keys:
                self._checked.clear()
                self._keys = keys
            expires, known = self._checked.get(token, (0.0, None))
            if time.time() < expires:
                return known
            head = jwt.get_unverified_header(token)
            only = next(iter(keys.values())) if len(keys) == 1 else None
            if only is not None and "kid" in head and only.key_id is not None:
                only = None
            key = keys.get(str(head.get("kid", "")), only)
            if key is None:
                self._source.missing(renewed=renewed)
                return None
            if head.get("alg") not in _ALGORITHMS.get(key.key_type, ()):
                return None
            claims = jwt.decode(
                token, key.key, algorithms=[head["alg"]], audience=self.audience, issuer=self.issuer,
                options={"require": _NEEDED},
            )  # fmt: skip
        except (jwt.PyJWTError, TypeError, ValueError):
            return None
        scopes = str(claims.get("scope", "")).split()
        opens = READ in scopes or WRITE in scopes
        if not (opens or METRICS in scopes):
            return None
        projects = claims.get("projects")
        if projects is not None and not (isinstance(projects, list) and all(isinstance(one, str) for one in projects)):
            return None
        seen = frozenset[str]() if not opens else None if projects is None else frozenset(projects)
        grant = Grant(seen, WRITE in scopes)
        account = f"oauth {claims['sub']}"
        principal = Principal(account, grant, user=str(claims["sub"]), account=account, metrics=METRICS in scopes)
        if len(self._checked) >= _MOST:
            self._checked.clear()
        self._checked[token] = (float(claims["exp"]), principal)
        return principal

    def metadata(self) -> JsonObject:
        """Metadata that tells clients where to get a token (RFC 9728)."""
        return {
            "resource": self.audience,
            "authorization_servers": [self.issuer],
            "scopes_supported": [READ, WRITE, METRICS],
            "bearer_methods_supported": ["header"],
            "resource_name": "Polymnia",
        }
