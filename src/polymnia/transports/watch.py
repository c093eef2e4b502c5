"""Looking for changes of what a client subscribed to, whoever made them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from zlib import crc32

from polymnia.errors import Fault
from polymnia.operation import Context
from polymnia.transports.errors import RpcError
from polymnia.transports.wire import PREFIX

if TYPE_CHECKING:
    from polymnia.transports.rpc import Connection

__all__ = ["Watch"]

_WATCH_EVERY = 0.2


class Watch:
    """Looks for changes of subscribed resources, whoever made them, and tells the client."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._memory = connection.server.memory
        self._uris: dict[Any, dict[str, int | None]] = {}  # subscription (None: the handshake era's) -> uri -> print
        self._stamp = self._memory.stamp()
        self._lock = threading.Lock()
        self._over = threading.Event()
        threading.Thread(target=self._keep_looking, name="polymnia-watch", daemon=True).start()

    def add(self, subscription: Any, uris: list[str]) -> None:
        """Watch more resources for a subscription."""
        prints = {uri: self._print(uri) for uri in uris}
        with self._lock:
            self._uris.setdefault(subscription, {}).update(prints)

    def remove(self, subscription: Any, uris: list[str] | None) -> None:
        """Watch these no longer; None stands for all of the subscription."""
        with self._lock:
            if uris is None:
                self._uris.pop(subscription, None)
            else:
                for uri in uris:
                    self._uris.get(subscription, {}).pop(uri, None)

    def stop(self) -> None:
        """End the watching."""
        self._over.set()

    def _keep_looking(self) -> None:
        while not self._over.wait(_WATCH_EVERY):
            self.look()

    def look(self) -> None:
        """Tell of what has changed since the last look. A store that cannot be read now is looked at later."""
        try:
            self._look()
        except Fault as e:
            self._connection.link.log("warning", f"cannot watch for changes: {e.message}")

    def _look(self) -> None:
        if not any(self._uris.values()):
            return
        with self._lock:
            stamp = self._memory.stamp()
            if stamp == self._stamp:
                return
            self._stamp = stamp
            changed = []
            for subscription, prints in self._uris.items():
                for uri, before in prints.items():
                    after = self._print(uri)
                    if after != before or before is None:
                        prints[uri] = after
                        changed.append((subscription, uri))
        for subscription, uri in changed:
            params: dict[str, Any] = {"uri": uri}
            if subscription is not None:
                params["_meta"] = {PREFIX + "subscriptionId": subscription}
            self._connection.notify("notifications/resources/updated", params)

    def _print(self, uri: str) -> int | None:
        """A fingerprint of one memory; None for what changes with every change."""
        if uri in self._connection.server.by_uri:
            return None
        try:
            return crc32(self._connection.resource(uri, Context(self._memory), modern=True)[1].encode())
        except RpcError:
            return 0
