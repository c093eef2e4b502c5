"""What several server processes of one store share: who is alive, who holds which session, and the rate limits.

Nothing in it is a memory: all of it may be lost at any moment, and costs the clients a new handshake then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

ALIVE_SECONDS = 15.0
"""A process that has not said for so long that it is alive is gone."""


class Holder(NamedTuple):
    """Who holds a session, and what it was described with. ``address`` is None where that process is gone."""

    process: int
    address: str | None
    about: bytes


class Portion(NamedTuple):
    """What was taken of a limit: so much of it, what is left for all processes, and seconds until its window ends."""

    granted: int
    left: int
    seconds: float


class SharedState(Protocol):
    """The shared state as one process uses it, from any thread.

    A method answers after about a second at the latest, or raises a Fault: some are called where all clients wait.
    Times are those of the shared state and not of a process, whose clocks may differ. Every method is atomic, and
    other processes see what it did when it returns.
    """

    @property
    def secret(self) -> bytes:
        """At least 32 random bytes, the same for every process and known to nobody else."""

    def join(self, address: str) -> int:
        """Become one of the processes, reached by the others at this address; returns a number no process ever had."""

    def beat(self, figures: bytes) -> int | None:
        """Say that this process is alive, and its figures; returns how many processes are.

        None if it is not known (it was gone for too long, or the state was lost): it has to join again, and to hold its
        sessions again. Also drops what nobody can need any more: windows that have ended, and processes that have been
        gone for longer than a session may be idle, with their sessions.
        """

    def leave(self) -> None:
        """Be gone from now on. The sessions stay, for others to take over."""

    def figures(self) -> list[tuple[int, bytes]]:
        """The processes that are alive, in the order of their numbers, with the figures each gave last."""

    def hold(self, id: str, about: bytes) -> bool:
        """Hold a session, new or held already, described by what another process needs to take it over.

        An empty description: nobody can. False, and nothing changes, if another process that is alive holds it.
        """

    def holder(self, id: str) -> Holder | None:
        """Who holds a session; None if nobody ever did, or it was released."""

    def take_over(self, id: str, process: int) -> bool:
        """Hold a session in place of a process; False if that one does not hold it any more.

        The caller knows that the process is gone, perhaps before the state does. Of several callers one succeeds.
        """

    def release(self, ids: Sequence[str]) -> None:
        """End sessions. Those that this process does not hold stay as they are."""

    def take(self, key: str, wanted: int, limit: int, seconds: float) -> Portion:
        """Take up to ``wanted`` of a limit, of which ``limit`` is there in a window that lasts so many seconds.

        A window starts when something is first taken, and again when that is over. Of all processes together never
        more than ``limit`` is taken in a window. Nothing left: 0 is granted, and no window is started or prolonged.
        """

    def close(self) -> None:
        """Close what is open. Closing twice is fine."""
