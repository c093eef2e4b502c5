"""Programs that some tests need and Python packages do not bring: a browser, shells, linters and proxies.

``python tests/programs.py`` installs them with apt, and actionlint with Go. Without one of them its tests are skipped
with the reason, but fail where ``POLYMNIA_CI`` is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["install", "program"]

_CACHE = Path(__file__).resolve().parent.parent / ".cache" / "bin"
_PACKAGES = {
    "caddy": "caddy", "chromium": "chromium", "fish": "fish", "mandoc": "mandoc", "nginx": "nginx",
    "pgbouncer": "pgbouncer", "ruby": "ruby", "systemd-analyze": "systemd", "zsh": "zsh",
}  # fmt: skip
_ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
_PATH = os.pathsep.join(
    (str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/go/bin", str(_CACHE))
)


def program(name: str) -> str:
    """The path of a program; without it the test is skipped, or fails where nothing may be missing."""
    import pytest

    if found := shutil.which(name, path=_PATH):
        return found
    missing = pytest.fail if "POLYMNIA_CI" in os.environ else pytest.skip
    raise missing.Exception(f"there is no {name}; `python tests/programs.py` installs what can be had")


def install() -> list[str]:
    """Install what is missing; answers the programs that cannot be had here."""
    wanted = [package for name, package in _PACKAGES.items() if not shutil.which(name, path=_PATH)]
    if wanted:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *wanted],
            check=True, stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )  # fmt: skip
    go = shutil.which("go", path=_PATH)
    if go and not shutil.which("actionlint", path=_PATH):
        _CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run([go, "install", _ACTIONLINT], check=True, env={**os.environ, "GOBIN": str(_CACHE)})
    return [name for name in (*_PACKAGES, "actionlint") if not shutil.which(name, path=_PATH)]


if __name__ == "__main__":
    try:
        if left := install():
            sys.exit(f"error: still missing: {', '.join(left)}")
    except (OSError, subprocess.CalledProcessError) as why:
        sys.exit(f"error: {why}")
