"""Backups: the whole store copied to a file, and brought back from one."""

from __future__ import annotations

from argparse import Namespace

import msgspec

from polymnia.app import memory
from polymnia.cli.output import counted, dim, print_json
from polymnia.engine.ports.copies import Copied
from polymnia.settings import Settings

__all__ = ["backup", "restore"]


def backup(arguments: Namespace, chosen: Settings) -> int:
    """Copy the store, and verify the copy."""
    with memory(chosen, "cli", create=False) as held:
        copied = held.store.back_up(arguments.path, overwrite=arguments.force)
    if arguments.json:
        print_json(msgspec.to_builtins(copied))
        return 0
    print(f"Backed up to {copied.path}, and verified: {_content(copied)}.")
    print(dim(f"`polymnia restore {arguments.path}` brings it back."))
    return 0


def restore(arguments: Namespace, chosen: Settings) -> int:
    """Put a backup in place of the store."""
    with memory(chosen, "cli") as held:
        restored = held.store.restore(arguments.path)
    if arguments.json:
        print_json(msgspec.to_builtins(restored))
        return 0
    print(f"Restored from {restored.copied.path}: {_content(restored.copied)}.")
    if restored.kept is not None:
        print(f"What was there before is kept in {restored.kept}; `polymnia restore` brings that back too.")
    return 0


def _content(copied: Copied) -> str:
    parts = (
        counted(copied.memories, "memory"), counted(copied.relations, "relation"), counted(copied.changes, "change"),
    )  # fmt: skip
    return ", ".join(parts)
