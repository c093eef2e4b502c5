"""Print the Homebrew formula of a release: python packaging/build_formula.py dist/polymnia-0.1.0.tar.gz"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

TEMPLATE = Path(__file__).resolve().parent / "polymnia.rb"


def formula(source: Path) -> str:
    """The formula with the version and the digest of a source distribution."""
    version = source.name.removeprefix("polymnia-").removesuffix(".tar.gz")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    text = TEMPLATE.read_text(encoding="utf-8").split("\n", 1)[1]
    text = re.sub(r"v[\d.]+/polymnia-[\d.]+\.tar\.gz", f"v{version}/polymnia-{version}.tar.gz", text)
    return re.sub(r"(?<=sha256 \")0{64}", digest, text)


if __name__ == "__main__":
    print(formula(Path(sys.argv[1])), end="")
