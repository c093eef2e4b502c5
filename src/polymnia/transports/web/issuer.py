"""The public keys that tokens are verified with: from a file, or fetched from the issuer itself (RFC 8414, OpenID)."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from polymnia.errors import Unavailable
from polymnia.importing import importing
from polymnia.schemas import JsonObject

Keys = dict[str, Any]
"""Keys by their ids."""
_FETCH_SECONDS = 5.0  # for one answer of the issuer
_MOST_BYTES = 1024 * 1024
_LEAST_SECONDS = 10.0  # between two requests to the issuer, however many tokens name a key that is unknown
_FRESH_SECONDS = 300.0  # after which the keys are fetched again, in the background
_KEPT_SECONDS = 3600.0  # for which they are used while the issuer cannot be reached


class Outdated(Exception):
    """A token names a key that is not known here: the keys should be fetched again before it is refused."""


class KeysInFile:
    """The keys of an issuer in a JWKS file, which is read again when it changes."""

    def __init__(self, jwt: Any, path: str) -> None:
        self._jwt = jwt
        self._path = os.path.abspath(os.path.expanduser(path))
        self._seen: tuple[int, int] | None = None
        self._keys: Keys = {}

    def current(self, *, renewed: bool) -> Keys:
        """The keys; another object if they have changed."""
        try:
            status = os.stat(self._path)
            seen = (status.st_mtime_ns, status.st_size)
            if seen != self._seen:
                with open(self._path, encoding="utf-8") as file:
                    self._keys = read_keys(self._jwt, json.load(file))
                self._seen = seen
        except (OSError, ValueError, self._jwt.PyJWTError) as e:
            raise Unavailable(f"The keys of the issuer cannot be read from {self._path}: {e}") from e
        return self._keys

    def missing(self, *, renewed: bool) -> None:
        """A token names a key that is not there: the file is all there is."""

    def renew(self) -> None:
        """Do nothing: the file is looked at whenever keys are needed."""


class KeysOfIssuer:
    """The keys that an issuer publishes. They are fetched on other threads than the one that serves clients."""

    def __init__(self, jwt: Any, issuer: str, log: Callable[[str, str], None]) -> None:
        self._jwt = jwt
        self._issuer = issuer
        self._log = log
        self._lock = threading.Lock()
        self._keys: Keys = {}
        self._fetched = float("-inf")
        self._tried = float("-inf")
        self._answered = False  # when it was last asked

    def current(self, *, renewed: bool) -> Keys:
        """The keys; another object if they have changed."""
        age = time.monotonic() - self._fetched
        if age > _KEPT_SECONDS:
            self.missing(renewed=renewed)
        if age > _FRESH_SECONDS and time.monotonic() - self._tried > _LEAST_SECONDS:
            self._tried = time.monotonic()
            threading.Thread(target=self._fetch, name="polymnia-issuer", daemon=True).start()
        return self._keys

    def missing(self, *, renewed: bool) -> None:
        """A token names a key that is not there; raises Outdated if it is time to ask the issuer for it.

        Raises Unavailable if the issuer did not answer when it was last asked.
        """
        if not renewed and time.monotonic() - self._tried > _LEAST_SECONDS:
            raise Outdated
        if not self._answered:
            raise Unavailable(f"The keys of the issuer {self._issuer} cannot be fetched")

    def renew(self) -> None:
        """Fetch the keys, unless somebody has just done so. What goes wrong is logged, and the keys stay."""
        asked = time.monotonic()
        with self._lock:
            if self._tried < asked:
                self._tried = time.monotonic()
                self._fetch()

    def _fetch(self) -> None:
        try:
            keys = read_keys(self._jwt, _fetched(self._address()))
        except (OSError, ValueError, Unavailable, self._jwt.PyJWTError) as e:
            self._log("error", f"the keys of the issuer {self._issuer} cannot be fetched: {e}")
            self._answered = False
            return
        self._fetched, self._answered = time.monotonic(), True
        if keys.keys() != self._keys.keys() or any(keys[id]._jwk_data != self._keys[id]._jwk_data for id in keys):
            self._keys = keys

    def _address(self) -> str:
        """Where the keys are, as the metadata of the issuer says."""
        place = urlsplit(self._issuer)
        path = place.path.rstrip("/")
        origin = f"{place.scheme}://{place.netloc}"
        try:
            told = _fetched(f"{origin}/.well-known/oauth-authorization-server{path}")
        except (OSError, ValueError):
            told = _fetched(f"{origin}{path}/.well-known/openid-configuration")
        if told.get("issuer") != self._issuer:
            raise Unavailable(f"its metadata is that of another issuer, {told.get('issuer')!r}")
        address = str(told.get("jwks_uri", ""))
        if not is_safe(address):
            raise Unavailable(f"its metadata has no address of keys that can be trusted, but {address!r}")
        return address


def is_safe(address: str) -> bool:
    """Whether what is fetched there comes from who it should: by https, or from this machine."""
    try:
        place = urlsplit(address)
        return place.scheme == "https" or (place.scheme == "http" and _is_here(place.hostname or ""))
    except ValueError:
        return False


def _is_here(host: str) -> bool:
    return host == "localhost" or ip_address(host).is_loopback


def _fetched(address: str) -> JsonObject:
    """A JSON object from an address; redirects are not followed."""
    with importing():
        from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *given: Any) -> None:
            """Follow none: the answer is an error."""

    request = Request(address, headers={"Accept": "application/json", "User-Agent": "polymnia"})
    with build_opener(Stay).open(request, timeout=_FETCH_SECONDS) as answer:
        data = answer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"{address} answers more than {_MOST_BYTES:,} bytes")
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError(f"{address} answers no JSON object")
    return value


def read_keys(jwt: Any, document: JsonObject) -> Keys:
    """The keys of a JWKS document; one without an id goes by its place."""
    return {str(key.key_id or at): key for at, key in enumerate(jwt.PyJWKSet.from_dict(document).keys)}
