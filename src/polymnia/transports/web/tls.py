"""TLS: the certificate of the server, which is loaded again when its files change."""

from __future__ import annotations

import os
import ssl

from polymnia.errors import Unavailable


class Certificate:
    """A certificate with its chain and its private key, in two files of PEM.

    Every handshake is given the newest context, so a renewed certificate needs no restart, whatever its kind of key.
    """

    def __init__(self, certificate: str, key: str) -> None:
        self._certificate, self._key = (os.path.abspath(os.path.expanduser(path)) for path in (certificate, key))
        self._seen = self._stamps()
        self._current = self._load()
        self.context = self._load()
        self.context.sni_callback = self._choose  # which also is called for a client that names no host

    def renew(self) -> bool:
        """Load the files again if they have changed; returns whether they had. The old ones stay if they are wrong."""
        stamps = self._stamps()
        if stamps == self._seen:
            return False
        self._seen = stamps
        self._current = self._load()
        return True

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        connection.context = self._current

    def _stamps(self) -> list[tuple[int, int, int] | None]:
        found: list[tuple[int, int, int] | None] = []
        for path in (self._certificate, self._key):
            try:
                status = os.stat(path)
                found.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError:
                found.append(None)
        return found

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._certificate, self._key, password=_no_password)
        except (OSError, ValueError) as e:  # ssl.SSLError is an OSError
            reason = getattr(e, "reason", None) or getattr(e, "strerror", None) or e
            raise Unavailable(
                f"The certificate {self._certificate} and its key {self._key} cannot be used: {reason}",
                hint="Name two files of PEM: --tls-certificate (with its chain) and --tls-key (without a password).",
            ) from None
        return context


def _no_password() -> str:
    """Nobody is asked on a terminal."""
    raise ValueError("the key needs a password")
