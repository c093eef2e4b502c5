"""Subscriptions: detecting changes of resources and lists, whoever made them, and notifying clients."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

from polymnia.errors import Fault
from polymnia.operation import Context
from polymnia.schemas import JsonObject
from polymnia.transports.errors import RpcError
from polymnia.transports.wire import PREFIX

if TYPE_CHECKING:
    from polymnia.transports.rpc import Connection

Notifier = Callable[[str, JsonObject], None]
_POLL_SECONDS = 0.2
_TOLD_SECONDS = 5.0  # between two looks at a store that tells of changes: it may have been out of reach
_GATHER_SECONDS = 0.02  # in which changes that it tells of are gathered


class ListSubscribers:
    """Who is notified when one of a server's lists changes: handshake-era connections, and subscriptions."""

    def __init__(self) -> None:
        self._subscribers: dict[tuple[Connection, Any], tuple[frozenset[str], Notifier]] = {}
        self._lock = threading.Lock()

    def join(self, subscriber: tuple[Connection, Any], lists: Iterable[str], notify: Notifier) -> None:
        """Be notified of changes of these lists; a subscriber is a connection and its subscription id, or None."""
        with self._lock:
            self._subscribers[subscriber] = (frozenset(lists), notify)

    def leave(self, subscriber: tuple[Connection, Any]) -> None:
        """Stop being notified."""
        with self._lock:
            self._subscribers.pop(subscriber, None)

    def notify(self, name: str) -> None:
        """Notify the subscribers of a list that it has changed."""
        with self._lock:
            notifiers = [notify for lists, notify in self._subscribers.values() if name in lists]
        for notify in notifiers:
            notify(f"notifications/{name}/list_changed", {})


class Watcher(Protocol):
    """Something that looks for changes when it is told to."""

    def concerns(self, projects: set[str]) -> bool:
        """Whether a change of one of these projects may be of interest."""

    def check(self) -> None:
        """Report what has changed."""


class Poller:
    """One thread that checks all watches of a server for as long as there are any.

    ``tell`` is the store's ``watch``. Where it tells of changes, only watches over those projects are checked at once.
    """

    def __init__(self, tell: Callable[[Callable[[str], None]], bool]) -> None:
        self._tell = tell
        self._is_told: bool | None = None  # whether the store tells of changes, once it was asked
        self._changed: set[str] = set()
        self._news = threading.Event()
        self._looked = time.monotonic()  # when all watches were last checked
        self._watches: set[Watcher] = set()
        self._polling = False
        self._lock = threading.Lock()

    def join(self, watch: Watcher) -> None:
        """Poll this watch too."""
        with self._lock:
            self._watches.add(watch)
            if self._polling:
                return
            self._polling = True
        threading.Thread(target=self._poll, name="polymnia-poll", daemon=True).start()

    def leave(self, watch: Watcher) -> None:
        """Stop polling this watch."""
        with self._lock:
            self._watches.discard(watch)

    def _poll(self) -> None:
        while True:
            if self._is_told is None:
                with suppress(Fault):  # it cannot be reached now
                    self._is_told = self._tell(self._note)
            changed = self._wait()
            with self._lock:
                watches = list(self._watches)
                if not watches:
                    self._polling = False
                    return
            for watch in watches:
                if changed is None or watch.concerns(changed):
                    watch.check()

    def _note(self, project: str) -> None:
        with self._lock:
            self._changed.add(project)
        self._news.set()

    def _wait(self) -> set[str] | None:
        """Wait until it is time to look again; returns the projects that have changed, None where that is not known."""
        if not self._is_told:
            time.sleep(_POLL_SECONDS)
            return None
        if self._news.wait(max(0.0, self._looked + _TOLD_SECONDS - time.monotonic())):
            time.sleep(_GATHER_SECONDS)
        self._news.clear()
        with self._lock:
            changed, self._changed = self._changed, set()
        if time.monotonic() < self._looked + _TOLD_SECONDS:
            return changed
        self._looked = time.monotonic()
        return None


class Watch:
    """Detects changes of subscribed resources and notifies the client."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._memory = connection.base
        self.project = self._memory.project
        self._uris: dict[Any, dict[str, int | None]] = {}  # subscription (None: the handshake era's) -> uri -> print
        self._stamp = self._memory.stamp()
        self._notifiers: dict[Any, Notifier] = {}
        self._lock = threading.Lock()
        connection.server.poller.join(self)

    def add(
        self,
        subscription: Any,
        uris: list[str],
        notify: Notifier | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        """Watch more resources for a subscription; ``notify`` notifies it, if not in the usual way.

        ``begun`` is called when no change can be missed any more and none has been reported yet.
        """
        fingerprints = {uri: self._fingerprint(uri) for uri in uris}
        with self._lock:
            if notify is not None:
                self._notifiers[subscription] = notify
            self._uris.setdefault(subscription, {}).update(fingerprints)
            if begun is not None:
                begun()

    def remove(self, subscription: Any, uris: list[str] | None) -> None:
        """Stop watching these; None means all of the subscription."""
        with self._lock:
            if uris is None:
                self._uris.pop(subscription, None)
                self._notifiers.pop(subscription, None)
            else:
                for uri in uris:
                    self._uris.get(subscription, {}).pop(uri, None)

    def uris(self, subscription: Any) -> list[str]:
        """What is watched for a subscription."""
        with self._lock:
            return list(self._uris.get(subscription, ()))

    def stop(self) -> None:
        """Stop watching."""
        self._connection.server.poller.leave(self)

    def concerns(self, projects: set[str]) -> bool:
        """Whether a change of one of these projects may be of interest."""
        return self.project in projects

    def check(self) -> None:
        """Report what has changed since the last time. A store that cannot be read now is tried again later."""
        try:
            self._report_changes()
        except Fault as e:
            self._connection.link.log("warning", f"cannot watch for changes: {e.message}")

    def _report_changes(self) -> None:
        if not any(self._uris.values()):
            return
        with self._lock:
            stamp = self._memory.stamp()
            if stamp == self._stamp:
                return
            # All of them before anything is noted: where one cannot be read now, nothing has been reported.
            now = {uri: self._fingerprint(uri) for uris in self._uris.values() for uri in uris}
            self._stamp = stamp
            changed = []
            for subscription, fingerprints in self._uris.items():
                for uri, before in fingerprints.items():
                    if now[uri] != before or before is None:
                        fingerprints[uri] = now[uri]
                        changed.append((subscription, uri))
        for subscription, uri in changed:
            params: JsonObject = {"uri": uri}
            if subscription is not None:
                params["_meta"] = {PREFIX + "subscriptionId": subscription}
            notify = self._notifiers.get(subscription, self._connection.notify)
            notify("notifications/resources/updated", params)

    def _fingerprint(self, uri: str) -> int | None:
        """A fingerprint of one memory; None for a resource that any change of the project may change."""
        if uri in self._connection.server.by_uri:
            return None
        try:
            found = self._connection.server.resource(uri, Context(self._memory), modern=True)[1]
            return crc32(found.encode() if isinstance(found, str) else found)
        except RpcError:
            return 0
