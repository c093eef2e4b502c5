"""The explorer: the files of its page, and the addresses of its API."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
from typing import NamedTuple

from polymnia.transports.errors import Headers, Refusal
from polymnia.transports.rpc import Server
from polymnia.transports.web.api import CallEndpoint, ChangesEndpoint, DownloadEndpoint
from polymnia.transports.web.connection import ActiveRequest, in_task
from polymnia.transports.web.peers import Endpoint
from polymnia.transports.web.state import ServerState

API = "/api"
_INDEX = "index.html"
_TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".png": b"image/png",
    ".ico": b"image/x-icon",
    ".woff2": b"font/woff2",
    ".json": b"application/json",
    ".webmanifest": b"application/manifest+json",
    ".txt": b"text/plain; charset=utf-8",
}
_COMPRESSED = frozenset((".html", ".js", ".css", ".svg", ".json", ".webmanifest", ".txt"))
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    b"connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"vary", b"Accept-Encoding"),
]


class Explorer:
    """The page in a folder, and the operations that it calls."""

    def __init__(self, server: Server, folder: str) -> None:
        self.server = server
        self._folder = folder

    def files(self) -> dict[str, Endpoint]:
        """Every file of the bundle at its path, and the page itself at /. A path leads to a file by being listed."""
        found: dict[str, Endpoint] = {}
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(folder, name)
                inside = os.path.relpath(path, self._folder).replace(os.sep, "/")
                if os.path.splitext(name)[1] in _TYPES:
                    found["/" if inside == _INDEX else f"/{inside}"] = FileEndpoint(path, lasting="/" in inside)
        found.setdefault("/", _no_page)
        return found

    def calls(self, state: ServerState) -> dict[str, Endpoint]:
        """Every operation at its path."""
        operations = self.server.registry.operations
        return {
            f"{API}/{name}": CallEndpoint(state, self.server, one)
            for name, one in operations.items()
            if name != "export"
        }

    def streams(self, state: ServerState) -> dict[str, Endpoint]:
        """What is asked for by GET: downloads, and the stream of changes."""
        operations = self.server.registry.operations
        return {
            f"{API}/export": DownloadEndpoint(state, self.server, operations["export"]),
            f"{API}/events": ChangesEndpoint(state, self.server, operations["news"]),
        }


async def _no_page(active: ActiveRequest) -> None:
    hint = "Its API is at /api. Install a release, which has the page, or build it in a checkout."
    raise Refusal(404, "The page of the explorer is not part of this installation", hint=hint)


class _Content(NamedTuple):
    plain: bytes
    compressed: bytes | None
    tag: bytes


class FileEndpoint:
    """One file, read when it is first asked for. One in a folder is named after its content, and lasts."""

    def __init__(self, path: str, *, lasting: bool) -> None:
        self._path = path
        self._ending = os.path.splitext(path)[1]
        self._cache = b"public, max-age=31536000, immutable" if lasting else b"no-cache"
        self._content: _Content | None = None

    async def __call__(self, active: ActiveRequest) -> None:
        """Send the file, or say that the client's copy is current."""
        content = self._content
        if content is None:
            await in_task()
            content = self._content = await asyncio.to_thread(self._read)
        headers: Headers = [
            (b"content-type", _TYPES[self._ending]),
            (b"cache-control", self._cache),
            (b"etag", content.tag),
            *_HEADERS,
        ]
        known = active.headers.get(b"if-none-match", b"")
        if content.tag in [tag.strip().removeprefix(b"W/") for tag in known.split(b",")]:
            await active.answer(304, b"", headers)
            return
        body = content.plain
        if content.compressed is not None and _accepts_gzip(active.headers.get(b"accept-encoding", b"")):
            body = content.compressed
            headers.append((b"content-encoding", b"gzip"))
        await active.answer(200, body, headers)

    def _read(self) -> _Content:
        try:
            with open(self._path, "rb") as file:
                plain = file.read()
        except OSError:
            raise Refusal(404, "This file of the explorer is gone; the server was perhaps upgraded") from None
        compressed = gzip.compress(plain, 9, mtime=0) if self._ending in _COMPRESSED else None
        return _Content(plain, compressed, b'"%b"' % hashlib.sha256(plain).hexdigest()[:32].encode())


def _accepts_gzip(accepted: bytes) -> bool:
    for one in accepted.lower().split(b","):
        name, _, weight = one.partition(b";")
        if name.strip() == b"gzip":
            return weight.strip() not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
