"""API keys for network access: stored hashed in one file, shown once, each with its user, rights and limits.

A key is an id and 256 random bits, so a single round of SHA-256 suffices: it cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from polymnia.errors import Invalid, NotFound, Unavailable

_PATTERN = re.compile(r"pk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_LINE = re.compile("[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_HINT = "Mend it or its rights."
_NOBODY = hashlib.sha256(b"nobody").hexdigest()


class Key(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One key: ``projects`` are those it grants access to (None: all), ``write`` whether it may change them.

    ``metrics`` permits reading the server's metrics, ``manage`` making and revoking keys. ``user`` is whose key it is,
    if its name does not say so; it opens nothing once it ``expires`` (microseconds since 1970). ``calls`` limits its
    calls a minute, ``memories`` and ``texts`` how large it may make a project. A field that is unknown is refused:
    a misspelt limit must not become no limit.
    """

    id: str
    name: str
    digest: str
    created: int
    projects: tuple[str, ...] | None
    write: bool
    metrics: bool = False
    manage: bool = False
    user: str | None = None
    expires: int | None = None
    calls: int | None = None
    memories: int | None = None
    texts: int | None = None

    @property
    def expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and time.time_ns() // 1000 >= self.expires


class _Document(Struct, forbid_unknown_fields=True):
    version: Literal[1]
    keys: list[Key]


class KeyFile:
    """The key file. Reloaded whenever it has changed, so that a revoked key is refused at once."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))
        self._stamp: tuple[int, int, int, int] | None = None
        self._keys: dict[str, Key] = {}
        self._used = False

    @property
    def used(self) -> bool:
        """Whether the file has keys, or had some since it was first read.

        Revoking the last key locks everybody out instead of letting everybody in.
        """
        if not self._used and not os.access(self.path, os.F_OK):  # checked on every request, so cheaply
            return False
        self._reload()
        return self._used

    def keys(self) -> list[Key]:
        """All keys, oldest first."""
        self._reload()
        return list(self._keys.values())

    def find(self, text: str) -> Key | None:
        """Return the key with this text, compared in constant time; None if there is none."""
        self._reload()
        match = _PATTERN.fullmatch(text)
        key = self._keys.get(match[1]) if match else None
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        same = hmac.compare_digest(digest, key.digest if key is not None else _NOBODY)
        return key if same else None

    def add(
        self,
        name: str,
        *,
        projects: tuple[str, ...] | None = None,
        write: bool = True,
        metrics: bool = False,
        manage: bool = False,
        **more: str | int | None,
    ) -> tuple[Key, str]:
        """Create a key; returns it and its text, which is not stored. ``more`` are a user, an expiry and limits."""
        id = secrets.token_hex(6)
        text, digest = _secret(id)
        now = time.time_ns() // 1000
        rights = {"projects": projects, "write": write, "metrics": metrics, "manage": manage}
        key = _checked(Key(id=id, name=name, digest=digest, created=now, **rights, **more))  # type: ignore[arg-type]
        with self._locked():
            self._write([*self.keys(), key])
        return key, text

    def change(self, id: str, **changes: object) -> Key:
        """Change what a key may do, or whose it is; its text stays the same."""
        return self._replace(id, **changes)

    def rotate(self, id: str) -> tuple[Key, str]:
        """Give a key another text, which is not stored; the one before opens nothing from then on."""
        text, digest = _secret(id)
        return self._replace(id, digest=digest), text

    def _replace(self, id: str, **changes: Any) -> Key:
        with self._locked():
            known = self.keys()
            key = _checked(replace(_found(known, id), **changes))
            self._write([key if one.id == id else one for one in known])
        return key

    def get(self, id: str) -> Key:
        """The key with this id."""
        return _found(self.keys(), id)

    def revoke(self, id: str) -> Key:
        """Remove a key by its id and return it."""
        with self._locked():
            known = self.keys()
            key = _found(known, id)
            self._write([one for one in known if one.id != id])
        return key

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the file for a change, so that concurrent changes are not lost."""
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if os.name == "nt":  # pragma: no cover - other platform
                    import msvcrt

                    msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
                else:
                    import fcntl

                    fcntl.flock(handle, fcntl.LOCK_EX)
                yield
            finally:
                os.close(handle)
        except OSError as e:
            raise Unavailable(
                f"The file of keys {self.path} cannot be written: {e.strerror}",
                hint="Mend its place, or name another one with --keys.",
            ) from e

    def _reload(self) -> None:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            self._stamp, self._keys = None, {}
            return
        except OSError as e:
            self._stamp, self._keys = None, {}
            raise Unavailable(f"The file of keys {self.path} cannot be read: {e.strerror}", hint=_HINT) from e
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
        if stamp == self._stamp:
            return
        self._stamp, self._keys = None, {}  # an unreadable file grants no access
        if os.name != "nt" and status.st_mode & 0o022:
            raise Unavailable(
                f"The file of keys {self.path} can be written by others, who could let themselves in",
                hint=f"Check the keys in it, then: chmod 600 {self.path}",
            )
        try:
            with open(self.path, "rb") as file:
                document = msgspec.json.decode(file.read(), type=_Document)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as e:
            raise Unavailable(f"The file of keys {self.path} cannot be read: {e}", hint=_HINT) from e
        self._keys = {key.id: key for key in document.keys}
        self._used = self._used or bool(self._keys)
        self._stamp = stamp

    def _write(self, keys: list[Key]) -> None:
        handle, path = tempfile.mkstemp(dir=os.path.dirname(self.path), prefix=".keys-")  # readable by its owner only
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(_Document(version=1, keys=keys)), indent=2) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(path, self.path)
        except BaseException:
            os.unlink(path)
            raise
        self._reload()


def _secret(id: str) -> tuple[str, str]:
    """A new text for a key, and its digest."""
    text = f"pk_{id}_{secrets.token_urlsafe(32)}"
    return text, hashlib.sha256(text.encode()).hexdigest()


def _found(keys: list[Key], id: str) -> Key:
    key = next((one for one in keys if one.id == id), None)
    if key is None:
        raise NotFound([id], "Key", hint="polymnia keys list shows the ids.")
    return key


def _checked(key: Key) -> Key:
    """A key whose names and limits are legal."""
    names = [("key", key.name), *(("project", one) for one in key.projects or ())]
    for field, text in names if key.user is None else [*names, ("user", key.user)]:
        if not text.strip() or not _LINE.fullmatch(text):
            raise Invalid(f"The name of a {field} is one line of text, but it is {text!r}", field=field)
    for field in ("calls", "memories", "texts"):
        limit = getattr(key, field)
        if limit is not None and limit < 1:
            raise Invalid(f"The limit of {field} is {limit}, but must be a number above zero", field=field)
    return key
