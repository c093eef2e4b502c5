"""The settings in force, and where each of them comes from."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

from polymnia.app import default_store, key_file, misspelt
from polymnia.cli.output import dim, padded, print_json, strong
from polymnia.settings import SETTINGS, Settings, without_password

__all__ = ["config"]

_SHADE = "(set, not shown)"


def config(arguments: Namespace, chosen: Settings) -> int:
    """Tell every setting with its source; a key is told to be there and not what it is."""
    told: dict[str, dict[str, Any]] = {}
    for setting in SETTINGS:
        value = getattr(chosen, setting.name)
        if setting.secret and value is not None:
            value = _SHADE
        if setting.name == "embedder_url" and value is not None:
            value = without_password(value)
        if value is None:
            value = _meant(chosen, setting.name)
        told[setting.name] = {"value": value, "source": _source(chosen, setting.name)}
    if arguments.json:
        print_json(told)
        return 0
    wide = max(map(len, told))
    for name, one in told.items():
        value = "–" if one["value"] is None else str(one["value"])
        print(f"{strong(padded(name, wide))}  {value}  {dim(one['source'])}")
    sys.stdout.flush()
    for text in misspelt():
        print(text, file=sys.stderr)
    return 0


def _meant(chosen: Settings, name: str) -> str | None:
    """What a setting comes to that has no value of its own."""
    if name == "keys":
        return key_file(chosen).path
    if name == "export_dir":
        return os.path.join(os.path.dirname(chosen.store or default_store()), "exports")
    return default_store() if name == "store" and chosen.file is None else None


def _source(chosen: Settings, name: str) -> str:
    source = chosen.sources[name]
    if source == "file":
        return str(chosen.config)
    if name == "config" and source == "default":
        return "default" if os.path.exists(str(chosen.config)) else "default, there is no such file"
    return source
