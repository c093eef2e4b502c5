"""The machine that clients run on, and the command that starts this installation from there."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from typing import NamedTuple

from polymnia import app

_PACKAGE = "polymnia"


class Machine(NamedTuple):
    """Where clients keep their files: the platform as ``sys.platform`` names it, the home folder, the environment."""

    platform: str
    home: str
    environment: Mapping[str, str]

    def below_home(self, *parts: str) -> str:
        """A path below the home folder."""
        return os.path.join(self.home, *parts)

    def variable(self, name: str, *default: str) -> str:
        """The folder that a variable names, or one below the home folder."""
        return self.environment.get(name) or self.below_home(*default)

    def config(self) -> str:
        """Where programs with a window keep their settings."""
        if self.platform == "win32":
            return self.variable("APPDATA", "AppData", "Roaming")
        if self.platform == "darwin":
            return self.below_home("Library", "Application Support")
        return self.variable("XDG_CONFIG_HOME", ".config")


def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(sys.platform, os.path.expanduser("~"), app.environment())


class Program(NamedTuple):
    """A command with an absolute path, the words before its own arguments, and how it was installed."""

    command: str
    words: tuple[str, ...]
    installed: str


def this_program() -> Program:
    """The command that starts the installation that this process belongs to."""
    in_place = sys.prefix != sys.base_prefix
    return program(sys.prefix if in_place else None, sys.executable, this_machine(), _origin())


def program(prefix: str | None, python: str, machine: Machine, origin: str | None = None) -> Program:
    """The command that starts an installation from any folder, today and tomorrow.

    ``prefix`` is its virtual environment, if it is in one; ``origin`` what it was installed from, if not by name.
    """
    if prefix is not None and _disposable(prefix):
        # uv and pipx throw such an environment away: they have to be asked again each time.
        source = ("--spec" if _has(prefix, "pipx_metadata.json") else "--from", origin) if origin else ()
        if _has(prefix, "pipx_metadata.json"):
            if found := _tool("pipx", machine):
                return Program(found, ("run", *source, _PACKAGE), "pipx run")
        elif found := _tool("uvx", machine):
            return Program(found, (*source, _PACKAGE), "uvx")
    name = f"{_PACKAGE}.exe" if machine.platform == "win32" else _PACKAGE
    for folder in _script_folders(prefix, python, machine):
        script = os.path.join(folder, name)
        if os.access(script, os.X_OK):
            return Program(script, (), _kind(prefix))
    return Program(os.path.abspath(python), ("-m", _PACKAGE), _kind(prefix))


def _script_folders(prefix: str | None, python: str, machine: Machine) -> list[str]:
    if prefix is not None:
        return [os.path.join(prefix, "Scripts" if machine.platform == "win32" else "bin")]
    user = sysconfig.get_path("scripts", "nt_user" if os.name == "nt" else "posix_user")
    return [os.path.dirname(os.path.abspath(python)), sysconfig.get_path("scripts"), user]


def _kind(prefix: str | None) -> str:
    if prefix is None:
        return "pip"
    if _has(prefix, "uv-receipt.toml"):
        return "uv tool"
    return "pipx" if _has(prefix, "pipx_metadata.json") else "virtual environment"


def _disposable(prefix: str) -> bool:
    """Whether an environment is inside a cache: a folder above it says so by CACHEDIR.TAG (bford.info/cachedir)."""
    folder = os.path.dirname(os.path.abspath(prefix))
    while folder != os.path.dirname(folder):
        if _has(folder, "CACHEDIR.TAG"):
            return True
        folder = os.path.dirname(folder)
    return False


def _has(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name))


def _tool(name: str, machine: Machine) -> str | None:
    """The absolute path of uvx or pipx. uv tells the programs it starts where it is itself."""
    if name == "uvx" and (uv := machine.environment.get("UV")):
        beside = os.path.join(os.path.dirname(uv), "uvx.exe" if machine.platform == "win32" else "uvx")
        if os.access(beside, os.X_OK):
            return beside
    found = shutil.which(name, path=machine.environment.get("PATH", ""))
    return None if found is None else os.path.abspath(found)


def _origin() -> str | None:
    """What this package was installed from, if it was a folder, a file or a repository rather than a name (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution

    import msgspec

    try:
        text = distribution(_PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    if text is None:
        return None
    found = msgspec.json.decode(text)
    url = str(found["url"])
    if control := found.get("vcs_info"):
        revision = control.get("requested_revision")
        return f"{control['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return url
