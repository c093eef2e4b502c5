"""The page of the explorer in the package is the one its sources make, and small."""

from __future__ import annotations

import gzip

from explorer.build import BUILT, DIGEST, digest


def test_the_page_was_built_from_these_sources() -> None:
    assert DIGEST.read_text().strip() == digest(), "explorer/ has changed since the page was built: run `make explorer`"


def test_the_page_is_small() -> None:
    files = [path for path in BUILT.rglob("*") if path.is_file()]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < 400_000


def test_the_page_loads_nothing_inline_and_nothing_from_elsewhere() -> None:
    page = (BUILT / "index.html").read_text()
    assert "<script>" not in page and "<style" not in page and 'style="' not in page
    assert "://" not in page
