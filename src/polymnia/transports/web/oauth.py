"""OAuth: tokens of an authorization server, besides keys. This server only verifies them (RFC 9728, RFC 9068)."""

from __future__ import annotations

import json
import os
import time

from polymnia.errors import NoLibrary, Unavailable
from polymnia.importing import load
from polymnia.operation import Grant
from polymnia.schemas import JsonObject
from polymnia.transports.web.auth import Principal

METADATA = "/.well-known/oauth-protected-resource"
READ, WRITE, METRICS = "memory:read", "memory:write", "memory:metrics"
_ALGORITHMS = {  # by type of key; none with a shared secret, so that a public key is never mistaken for one
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
_NEEDED = ["exp", "iss", "aud", "sub"]
_MOST = 1000  # verified tokens in the cache


class Tokens:
    """Verifies the tokens of one issuer by its public keys in a JWKS file. The scope of a token holds its rights.

    ``memory:read`` lets its bearer read, ``memory:write`` write too; a claim ``projects`` limits it to those.
    ``memory:metrics`` lets it read the figures of the server.
    """

    def __init__(self, issuer: str, audience: str, keys: str) -> None:
        try:
            jwt = load("jwt")
        except ImportError as e:
            raise NoLibrary("jwt") from e
        self._jwt = jwt
        self.issuer = issuer
        self.audience = audience
        self._path = os.path.abspath(os.path.expanduser(keys))
        self._seen: tuple[int, int] | None = None
        self._keys: JsonObject = {}
        self._checked: dict[str, tuple[float, Principal]] = {}  # expiry and bearer of verified tokens
        self._follow()

    def __call__(self, token: str) -> Principal | None:
        """The bearer of a token; None if it is not valid."""
        jwt = self._jwt
        try:
            self._follow()
            expires, known = self._checked.get(token, (0.0, None))
            if time.time() < expires:
                return known
            head = jwt.get_unverified_header(token)
            only = next(iter(self._keys.values())) if len(self._keys) == 1 else None
            key = self._keys.get(str(head.get("kid", "")), only)
            if key is None or head.get("alg") not in _ALGORITHMS.get(key.key_type, ()):
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

    def _follow(self) -> None:
        """Reload the issuer's keys if the file has changed."""
        try:
            status = os.stat(self._path)
            seen = (status.st_mtime_ns, status.st_size)
            if seen != self._seen:
                with open(self._path, encoding="utf-8") as file:
                    read = self._jwt.PyJWKSet.from_dict(json.load(file))
                self._keys = {str(key.key_id or at): key for at, key in enumerate(read.keys)}
                self._checked.clear()
                self._seen = seen
        except (OSError, ValueError, self._jwt.PyJWTError) as e:
            raise Unavailable(f"The keys of the issuer cannot be read from {self._path}: {e}") from e
