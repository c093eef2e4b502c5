"""Check that every file names the same version, or the one given: python packaging/versions.py [VERSION]"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def versions() -> dict[str, str]:
    """The version by the file that names it."""
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    bundle = ROOT / "packaging" / "bundle"
    fetched = tomllib.loads((bundle / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    formula = re.search(r"/v([\d.]+)/", (ROOT / "packaging" / "polymnia.rb").read_text(encoding="utf-8"))
    package = re.search(r'__version__ = "(.+?)"', (ROOT / "src/polymnia/__init__.py").read_text(encoding="utf-8"))
    return {
        "pyproject.toml": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "src/polymnia/__init__.py": package[1] if package else "none",
        "server.json": server["version"],
        "server.json, packages": server["packages"][0]["version"],
        "packaging/bundle/manifest.json": json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["version"],
        "packaging/bundle/pyproject.toml": fetched["version"],
        "packaging/bundle/pyproject.toml, dependencies": fetched["dependencies"][0].partition("==")[2],
        "packaging/polymnia.rb": formula[1] if formula else "none",
    }


def main(wanted: str | None) -> int:
    """Print what each file says; answers 1 where one differs."""
    found = versions()
    wanted = wanted or found["pyproject.toml"]
    for file, version in found.items():
        print(f"{'ok   ' if version == wanted else 'WRONG'}  {version:<10} {file}")
    return int(any(version != wanted for version in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
