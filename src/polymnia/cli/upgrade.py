"""The ``upgrade`` command: how this installation is upgraded and, only if asked, whether there is a newer version."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from typing import Any

from polymnia import __version__
from polymnia.cli.console import CommandResult, dim, strong
from polymnia.errors import Invalid, Unavailable
from polymnia.importing import importing

_INDEX = "https://pypi.org/pypi"
_SECONDS = 10.0
_MOST = 64 * 1024 * 1024  # bytes of an answer
_FINAL = re.compile(r"\d+(\.\d+)*")
_EARLY = re.compile(r"[.-]?(a|b|c|rc|alpha|beta|pre|dev)")
_COMMANDS = {
    "uv tool": "uv tool upgrade polymnia",
    "uvx": "uvx polymnia@latest",
    "pipx": "pipx upgrade polymnia",
    "Homebrew": "brew upgrade polymnia",
    "a checkout": "git pull",
    "uv": "uv pip install --upgrade polymnia",
    "pip": "python -m pip install --upgrade polymnia",
}


def upgrade(arguments: Namespace, chosen: object) -> CommandResult:
    """Say how to upgrade; with ``--check`` also ask the index for the newest version."""
    if arguments.index is not None and not arguments.check:
        raise Invalid("--index goes with --check", hint="Without --check no index is asked.")
    way = installed_by()
    command = _COMMANDS[way]
    if way == "pip":
        command = f"{sys.executable} -m pip install --upgrade polymnia"
    data: dict[str, Any] = {"installed": __version__, "by": way, "upgrade": command}
    lines = [f"polymnia {strong(__version__)}, installed by {way}."]
    if not arguments.check:
        lines += [f"To upgrade: {command}", dim("`polymnia upgrade --check` asks the index for a newer version.")]
        return CommandResult(data, lines)
    newest = newest_version(arguments.index or _INDEX)
    newer = newest is not None and _order(newest) > _order(__version__)
    data |= {"newest": newest, "newer": newer}
    if newest is None:
        lines.append("The index has no version for this Python.")
    elif newer:
        backup = "Stores are upgraded when they are first opened, after a copy is made beside them."
        lines += [f"{strong(newest)} is there. To upgrade: {command}", dim(backup)]
    else:
        lines.append("That is the newest version." if newest == __version__ else f"The index has {newest}.")
    return CommandResult(data, lines)


def installed_by() -> str:
    """What installed this package, by the marks that installers leave."""
    with importing():
        from importlib.metadata import PackageNotFoundError, distribution

    for file, way in (("uv-receipt.toml", "uv tool"), ("pipx_metadata.json", "pipx")):
        if os.path.exists(os.path.join(sys.prefix, file)):
            return way
    parts = sys.prefix.replace("\\", "/").split("/")
    if "Cellar" in parts or "homebrew" in parts:
        return "Homebrew"
    if "archive-v0" in parts or "environments-v2" in parts:  # the cache of uv, where uvx keeps what it runs
        return "uvx"
    try:
        found = distribution("polymnia")
    except PackageNotFoundError:
        return "a checkout"
    if '"editable": true' in (found.read_text("direct_url.json") or "").replace('":true', '": true'):
        return "a checkout"
    return "uv" if (found.read_text("INSTALLER") or "").strip() == "uv" else "pip"


def newest_version(index: str) -> str | None:
    """The newest final version that this Python can run and nobody has withdrawn; None if the index has none."""
    answer = _ask(f"{index.rstrip('/')}/polymnia/json")
    releases = answer.get("releases")
    if not isinstance(releases, dict):
        raise Unavailable(f"{index} gave no list of releases", hint="Check the address given with --index.")
    fitting = [
        version
        for version, files in releases.items()
        if _FINAL.fullmatch(version) and any(_runs_here(file) for file in files)
    ]
    return max(fitting, key=_order, default=None)


def _runs_here(file: dict[str, Any]) -> bool:
    least = re.search(r">=\s*(\d+)\.(\d+)", file.get("requires_python") or "")
    return not file.get("yanked") and (least is None or sys.version_info[:2] >= (int(least[1]), int(least[2])))


def _order(version: str) -> tuple[tuple[int, ...], bool]:
    """What versions are compared by: their numbers, and a pre-release comes before the release."""
    found = _FINAL.match(version)
    assert found is not None
    numbers = [int(part) for part in found[0].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), _EARLY.match(version, found.end()) is None


def _ask(url: str) -> dict[str, Any]:
    """Fetch a page of JSON; every failure says which address was asked."""
    with importing():
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

    hint = "Check the connection, or name another index with --index. Nothing was changed."
    if not url.startswith(("https://", "http://")):
        raise Invalid(f"{url} is no address of an index", hint="Give an address such as https://pypi.org/pypi.")
    try:
        with urlopen(Request(url, headers={"User-Agent": f"polymnia/{__version__}"}), timeout=_SECONDS) as answer:
            found = json.loads(answer.read(_MOST))
    except HTTPError as e:
        if e.code == 404:
            none = "It may not have been published there yet; --index names another one. Nothing was changed."
            raise Unavailable(f"This index has no package polymnia: {url}", hint=none) from None
        raise Unavailable(f"{url} answered with status {e.code}", hint=hint) from None
    except (OSError, HTTPException) as e:
        raise Unavailable(f"{url} cannot be reached: {getattr(e, 'reason', e)}", hint=hint) from None
    except ValueError:
        raise Unavailable(f"{url} answered with something that is no JSON", hint=hint) from None
    if not isinstance(found, dict):
        raise Unavailable(f"{url} answered with something that is no description of a package", hint=hint)
    return found
