"""Build the .mcpb bundle for clients that install by a click: python packaging/build_bundle.py [FOLDER]

The bundle holds a manifest, a script of a few lines and the version of Polymnia to fetch. Packing the package itself
would add 90 MB and spare nothing: uv fetches the libraries anyway.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parent.parent
PARTS = ROOT / "packaging" / "bundle"
_TIME = (1980, 1, 1, 0, 0, 0)  # the same files make the same bundle


def build(folder: Path) -> Path:
    """Write the bundle into a folder; refuses versions that do not agree."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    manifest = json.loads((PARTS / "manifest.json").read_text(encoding="utf-8"))
    fetched = tomllib.loads((PARTS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if not version == manifest["version"] == fetched["version"] or fetched["dependencies"] != [f"polymnia=={version}"]:
        raise SystemExit(f"pyproject.toml says {version}, but the files in {PARTS} name another version")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"polymnia-{version}.mcpb"
    with ZipFile(path, "w", ZIP_DEFLATED) as bundle:
        for file in (*sorted(PARTS.glob("*.*")), ROOT / "LICENSE", ROOT / "README.md"):
            bundle.writestr(ZipInfo(file.name, _TIME), file.read_bytes(), ZIP_DEFLATED)
    return path


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
