"""Write the lists of tools that servers send, made from the code: python docs/build_listings.py

Making the schemas of all tools takes longer than everything else a server does before its first answer, so the lists
come with the package. A test fails when one of them no longer says what the code says.
"""

from __future__ import annotations

from pathlib import Path

from polymnia import app
from polymnia.settings import DIALECTS, GRAPHS
from polymnia.transports.server import describe

__all__ = ["FOLDER", "listings", "main"]

FOLDER = Path(__file__).parents[1] / "src" / "polymnia" / "dialects" / "listings"


def listings() -> dict[str, bytes]:
    """Every list by the name of its file."""
    plain = {f"{name}.json": {"dialect": name} for name in DIALECTS if name != "all"}
    every = {f"all-{name}.json": {"dialect": "all", "graph": name} for name in GRAPHS}
    return {name: describe(app.dialect(app.settings(chosen, {}))) for name, chosen in (plain | every).items()}


def main() -> None:
    """Write the lists."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in listings().items():
        (FOLDER / name).write_bytes(text)


if __name__ == "__main__":
    main()
