"""Who may import whom, and what must not be imported before the first answer."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import pytest

from stdio_client import Place

from .tree import SOURCE, Import, files, imports, modules, parsed

# For each part of the house the parts it may import, the most specific entry first. A part may always
# import itself; `storage` and `dialects` have one entry for each of their folders.
_MAY = {
    "errors": (),
    "importing": ("errors",),
    "settings": (),
    "keys": ("errors",),
    "models": ("errors",),
    "engine": ("models", "importing", "errors"),
    "storage": ("engine.ports", "models", "importing", "errors"),
    "inference": ("engine.ports", "models", "importing", "errors"),
    "schemas": ("models", "errors"),
    "operation": ("engine", "schemas", "models", "errors"),
    "dialects": ("dialects.shapes", "dialects.budget", "operation", "engine", "models", "importing", "errors"),
    "transports": ("operation", "schemas", "keys", "importing", "errors"),
    "explorer": (),
    "client": ("__init__", "importing"),  # nothing of the server
    "cli": (
        "__init__",
        "app",
        "settings",
        "keys",
        "operation",
        "engine",
        "models",
        "importing",
        "errors",
        "dialects.content.reports",
    ),
    "app": None,  # the composition root names everything
    "__init__": ("app", "engine", "models", "importing", "errors", "dialects.content.reports"),
    "__main__": ("cli",),
}

# The rooms of the engine, from the ground up: each imports only what is below it.
_ENGINE = (
    ("text", "ports"),
    ("access", "content", "once", "reads"),
    ("citations", "privacy"),
    ("project",),
    ("graph", "scopes"),
    ("history", "knowledge"),
    ("memories", "documents", "search", "transfer"),
    ("analysis", "health"),
    ("memory",),
)

_SEALED = ("storage", "dialects")

# The one part of the house in which a library may be imported.
_AT_HOME = {
    "apsw": "storage.sqlite", "platformdirs": "app", "uvicorn": "transports.web",
    "prometheus_client": "transports.web",
}  # fmt: skip

# None of these is needed to answer tools/list, and each costs milliseconds that every client waits for.
_LATE = {
    "argparse", "asyncio", "concurrent", "dataclasses", "email", "http", "importlib.metadata",
    "json", "logging", "multiprocessing", "numpy", "pathlib", "platformdirs", "socket", "sqlite3", "ssl",
    "subprocess", "tempfile", "unittest", "urllib",
}  # fmt: skip


def _inside(module: str) -> str:
    """The module's place in the house: its name without the package's."""
    return module.removeprefix("polymnia").removeprefix(".") or "__init__"


def _part(place: str) -> str:
    """What counts as one part: a folder of its own below storage and dialects."""
    parts = place.split(".")
    return ".".join(parts[:2]) if parts[0] in _SEALED else parts[0]


def _below(place: str, part: str) -> bool:
    return place == part or place.startswith(part + ".")


def _wrong(module: str, wanted: Import) -> bool:
    place, target = _inside(module), _inside(wanted.target)
    may = _MAY[_part(place).split(".")[0]]
    return may is not None and not any(_below(target, part) for part in (_part(place), *may))


def test_a_module_imports_only_what_its_part_of_the_house_may() -> None:
    homeless = [module for module in modules() if _part(_inside(module)).split(".")[0] not in _MAY]
    assert not homeless, f"these belong to no part of the house: {homeless}"
    wrong = [
        f"{modules()[module]}:{wanted.line}: {module} must not import {wanted.target}"
        for module in sorted(modules())
        for wanted in imports(module)
        if _below(wanted.target, "polymnia") and _wrong(module, wanted)
    ]
    assert not wrong, "\n".join(wrong)


def _room(module: str) -> str | None:
    """The room of the engine a module is in: a package, or a module right below the engine."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["polymnia", "engine"] and len(parts) > 2 else None


def _for_types(module: str) -> set[int]:
    """The lines of a module that only a type checker reads."""
    blocks = [node for node in ast.walk(parsed(modules()[module])) if isinstance(node, ast.If)]
    return {
        inner.lineno
        for block in blocks
        if ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        for inner in ast.walk(node)
        if hasattr(inner, "lineno")
    }


def test_a_room_of_the_engine_imports_only_the_rooms_below_it() -> None:
    level = {room: height for height, rooms in enumerate(_ENGINE) for room in rooms}
    rooms = {module: room for module in modules() if (room := _room(module)) is not None}
    assert set(rooms.values()) == set(level), "every room has its place in the engine"
    wrong = [
        f"{modules()[module]}:{wanted.line}: {room} must not import {_room(wanted.target)}"
        for module, room in rooms.items()
        for wanted in imports(module)
        if (other := _room(wanted.target)) is not None and other != room and level[other] >= level[room]
        if wanted.line not in _for_types(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_memory_imports_the_analyses() -> None:
    strays = [
        f"{modules()[module]}:{wanted.line}"
        for module in modules()
        for wanted in imports(module)
        if _room(wanted.target) == "analysis" and _room(module) not in (None, "analysis", "memory")
    ]
    assert not strays, "\n".join(strays)


def test_errors_imports_nothing_at_all() -> None:
    assert {wanted.target for wanted in imports("polymnia.errors")} <= {"__future__"}


def test_a_library_stays_in_its_part_of_the_house() -> None:
    strays = [
        f"{modules()[module]}:{wanted.line}: {library} belongs to {home}"
        for module in modules()
        for wanted in imports(module)
        for library, home in _AT_HOME.items()
        if _below(wanted.target, library) and not _below(_inside(module), home)
    ]
    assert not strays, "\n".join(strays)


def test_only_the_composition_root_reads_the_environment() -> None:
    # The command and the door of late imports write to it, for libraries.
    allowed = (SOURCE / "app" / "__init__.py", SOURCE / "cli" / "__init__.py", SOURCE / "importing.py")
    strays = [
        f"{path}:{node.lineno}"
        for path in modules().values()
        if path not in allowed
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.Name) and node.id in {"environ", "getenv"})
    ]
    assert not strays, ", ".join(strays)


@pytest.mark.parametrize("dialect", ["simple", "strict", "bilingual", "official", "all"])
def test_nothing_slow_is_imported_on_the_way_to_the_first_list_of_tools(place: Place, dialect: str) -> None:
    server = place.start("--dialect", dialect, environment={"PYTHONPROFILEIMPORTTIME": "1"})
    server.initialize()
    assert server.tools()
    # Killed, so that nothing imported on the way out is counted.
    server.kill()
    lines = server.log.read_text().splitlines()
    loaded = {line.rsplit("|", 1)[1].strip() for line in lines if line.startswith("import time:")}
    assert "polymnia" in loaded
    early = sorted(name for name in loaded if any(_below(name, late) for late in _LATE))
    assert not early, f"imported before the first answer: {early}"


def _spoken(module: str) -> Iterator[ast.Constant]:
    """The texts in the code of a module that are not its documentation."""
    tree = parsed(modules()[module])
    holders = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    documentation = {id(node.body[0].value) for node in holders if node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node


def test_the_engine_names_no_tool() -> None:
    tools = [tool for path in files(".json", under=SOURCE / "dialects") for tool in json.loads(path.read_bytes())]
    operations = [tool["inputSchema"]["properties"].get("operation", {}).get("enum", []) for tool in tools]
    names = {tool["name"] for tool in tools}.union(*operations) - {"search", "fetch"}  # which are plain words
    assert "create_entities" in names and "store_content" in names
    named = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    # The journal keeps what was done under these names, so a name alone is data.
    strays = [
        f"{modules()[module]}:{text.lineno}: {text.value}"
        for module in modules()
        if _below(module, "polymnia.engine")
        for text in _spoken(module)
        if text.value not in names and named.search(text.value)
    ]
    assert not strays, "\n".join(strays)
