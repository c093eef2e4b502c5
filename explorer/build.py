"""Builds the page into the package: ``make explorer``.

The built files are committed, so an installation needs no Node. Beside them lies a digest of the sources they were
built from, by which a test tells a page that is older than its sources.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["BUILT", "DIGEST", "digest"]

SOURCES = Path(__file__).resolve().parent
BUILT = SOURCES.parent / "src" / "polymnia" / "explorer"
DIGEST = BUILT / "sources.sha256"  # no type the server knows, so it is not served


def digest() -> str:
    """The digest of everything the page is built from."""
    named = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"]
    inside = [path for folder in ("src", "public") for path in (SOURCES / folder).rglob("*") if path.is_file()]
    whole = hashlib.sha256()
    for path in sorted([*(SOURCES / name for name in named), *inside]):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(SOURCES).as_posix()}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def build() -> None:
    """Install what the lock file names, check the types, and build."""
    sys.path.insert(0, str(SOURCES.parent))
    from tests.npm_peer import node

    program = node()
    npm = [str(program), str(program.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    # Not `npm ci`: it takes a lock without addresses of a registry for one that lacks the builds of other systems.
    for told in (["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], ["run", "build"]):
        subprocess.run([*npm, *told], cwd=SOURCES, env=environment, check=True)
    DIGEST.write_text(digest() + "\n")


if __name__ == "__main__":
    build()
