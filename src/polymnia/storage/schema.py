"""What all engines say about the state of a store."""

from __future__ import annotations

from polymnia.errors import NotAStore, Unavailable


def migration_command(source: str, target: str) -> str:
    """The command that copies a store, or goes on with it, as a shell takes it."""
    import shlex  # for a message only: not at every start

    return shlex.join(("polymnia", "migrate", "--from", source, "--to", target))


def unfinished(place: str, source: str) -> NotAStore:
    """The fault for a store that a migration has not filled yet."""
    return NotAStore(
        f"The store {place} is not whole: a migration from {source} into it is under way, or was interrupted",
        hint=f"Wait for it, or go on with it: {migration_command(source, place)}",
    )


UNDER_WAY = "migration_under_way"
"""What refuses changes by servers that opened the empty store before a migration into it began."""


def under_way(place: str) -> Unavailable:
    """The fault of such a change."""
    return Unavailable(
        f"A migration into the store {place} is under way; nothing was changed", hint="Try again when it has ended."
    )
