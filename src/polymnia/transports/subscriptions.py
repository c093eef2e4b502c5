"""Subscriptions: detecting changes of resources and lists, whoever made them, and notifying clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from zlib import crc32

from polymnia.errors import Fault
from polymnia.operation import Context
from polymnia.schemas import JsonObject
from polymnia.transports.errors import RpcError
from polymnia.transports.wire import PREFIX

if TYPE_CHECKING:
    from polymnia.transports.rpc import Connection

Tell = Callable[[str, JsonObject], None]
_WATCH_EVERY = 0.2


class Audience:
    """Who is notified when one of a server's lists changes: handshake-era connections, and subscriptions."""

    def __init__(self) -> None:
        self._seats: dict[tuple[Connection, Any], tuple[frozenset[str], Tell]] = {}
        self._lock = threading.Lock()

    def join(self, seat: tuple[Connection, Any], lists: Iterable[str], tell: Tell) -> None:
        """Be notified of changes of these lists; a seat is a connection and its subscription id, or None."""
        with self._lock:
            self._seats[seat] = (frozenset(lists), tell)

    def leave(self, seat: tuple[Connection, Any]) -> None:
        """Stop being notified."""
        with self._lock:
            self._seats.pop(seat, None)

    def hear(self, name: str) -> None:
        """Notify everyone who asked that this list has changed."""
        with self._lock:
            tells = [tell for lists, tell in self._seats.values() if name in lists]
        for tell in tells:
            tell(f"notifications/{name}/list_changed", {})


class Rounds:
    """One thread that polls all watches of a server for as long as there are any."""

    def __init__(self) -> None:
        self._watches: set[Watch] = set()
        self._walking = False
        self._lock = threading.Lock()

    def join(self, watch: Watch) -> None:
        """Poll this watch too."""
        with self._lock:
            self._watches.add(watch)
            if self._walking:
                return
            self._walking = True
        threading.Thread(target=self._walk, name="polymnia-rounds", daemon=True).start()

    def leave(self, watch: Watch) -> None:
        """Stop polling this watch."""
        with self._lock:
            self._watches.discard(watch)

    def _walk(self) -> None:
        while True:
            time.sleep(_WATCH_EVERY)
            with self._lock:
                watches = list(self._watches)
                if not watches:
                    self._walking = False
                    return
            for watch in watches:
                watch.look()


class Watch:
    """Detects changes of subscribed resources and notifies the client."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._memory = connection.base
        self._uris: dict[Any, dict[str, int | None]] = {}  # subscription (None: the handshake era's) -> uri -> print
        self._stamp = self._memory.stamp()
        self._tell: dict[Any, Tell] = {}
        self._lock = threading.Lock()
        connection.server.rounds.join(self)

    def add(
        self,
        subscription: Any,
        uris: list[str],
        tell: Tell | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        """Watch more resources for a subscription; ``tell`` notifies it, if not in the usual way.

        ``begun`` is called when no change can be missed any more and none has been reported yet.
        """
        prints = {uri: self._print(uri) for uri in uris}
        with self._lock:
            if tell is not None:
                self._tell[subscription] = tell
            self._uris.setdefault(subscription, {}).update(prints)
            if begun is not None:
                begun()

    def remove(self, subscription: Any, uris: list[str] | None) -> None:
        """Stop watching these; None means all of the subscription."""
        with self._lock:
            if uris is None:
                self._uris.pop(subscription, None)
                self._tell.pop(subscription, None)
            else:
                for uri in uris:
                    self._uris.get(subscription, {}).pop(uri, None)

    def stop(self) -> None:
        """Stop watching."""
        self._connection.server.rounds.leave(self)

    def look(self) -> None:
        """Report what has changed since the last time. A store that cannot be read now is tried again later."""
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
            params: JsonObject = {"uri": uri}
            if subscription is not None:
                params["_meta"] = {PREFIX + "subscriptionId": subscription}
            tell = self._tell.get(subscription, self._connection.notify)
            tell("notifications/resources/updated", params)

    def _print(self, uri: str) -> int | None:
        """A fingerprint of one memory; None for a resource that any change of the project may change."""
        if uri in self._connection.server.by_uri:
            return None
        try:
            found = self._connection.server.resource(uri, Context(self._memory), modern=True)[1]
            return crc32(found.encode() if isinstance(found, str) else found)
        except RpcError:
            return 0
