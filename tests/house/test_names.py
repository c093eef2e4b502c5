"""No two public classes of the server have one name, so that a name says which one is meant."""

from __future__ import annotations

import ast

from .tree import SOURCE, files, parsed


def test_no_two_public_classes_have_one_name() -> None:
    # The client is generated from the server's shapes and imports nothing of it, so it may use their names.
    places: dict[str, list[str]] = {}
    for path in files(".py", under=SOURCE):
        if SOURCE / "client" in path.parents:
            continue
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
