"""Which package may import which, and what must not be imported before the first response."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import pytest

from stdio_client import Place

from .tree import SOURCE, Import, files, imports, modules, parsed

# The packages that each package may import besides itself. Each folder of `dialects` and each engine of `storage` is a
# package; engines may import what they share.
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
    "dialects": (*"dialects.notes dialects.shapes dialects.budget operation engine models importing errors".split(),),
    "transports": ("operation", "engine.ports.shared", "schemas", "keys", "importing", "errors"),
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
        "dialects.notes",
        "dialects.content.reports",
    ),
    "app": None,  # the composition root names everything
    "__init__": ("app", "engine", "models", "importing", "errors", "dialects.content.reports"),
    "__main__": ("cli",),
}

# The packages of the engine in layers, lowest first: each imports only from lower layers.
_ENGINE = (
    ("text", "ports"),
    ("access", "content", "once", "reads"),
    ("citations", "privacy"),
    ("project",),
    ("graph", "scopes"),
    ("history", "knowledge"),
    ("memories", "documents", "search", "transfer"),
    ("batches",),
    ("known_conflicts",),
    ("analysis", "health", "recall", "past", "brief"),
    ("memory",),
)

_SPLIT = ("storage", "dialects")
_ENGINES = ("sqlite", "postgres")

# The only package that may import a library.
_LIBRARIES = {
    "apsw": "storage.sqlite", "platformdirs": "app", "uvicorn": "transports.web",
    "prometheus_client": "transports.web",
}  # fmt: skip

# None of these is needed for tools/list, and each costs milliseconds of start-up time.
_LATE = {
    "argparse", "asyncio", "concurrent", "dataclasses", "email", "http", "importlib.metadata",
    "json", "logging", "multiprocessing", "numpy", "pathlib", "platformdirs", "polymnia.engine.text.document",
    "polymnia.engine.text.language", "socket", "sqlite3", "ssl",
    "subprocess", "tempfile", "unittest", "urllib",
}  # fmt: skip


def _inside(module: str) -> str:
    """The name of a module without that of the package."""
    return module.removeprefix("polymnia").removeprefix(".") or "__init__"


def _part(place: str) -> str:
    """The package a module belongs to: a folder of dialects, an engine of storage, otherwise the top level."""
    parts = place.split(".")
    if parts[0] == "storage" and (len(parts) == 1 or parts[1] not in _ENGINES):
        return "storage"
    return ".".join(parts[:2]) if parts[0] in _SPLIT else parts[0]


def _below(place: str, part: str) -> bool:
    return place == part or place.startswith(part + ".")


def _is_forbidden(module: str, imported: Import) -> bool:
    place, target = _inside(module), _inside(imported.target)
    may = _MAY[_part(place).split(".")[0]]
    if _part(target).startswith("storage."):
        return _part(target) != _part(place) and may is not None
    if _part(place).startswith("storage.") and _part(target) == "storage":
        return False
    return may is not None and not any(_below(target, part) for part in (_part(place), *may))


def test_a_module_imports_only_what_its_package_may() -> None:
    unknown = [module for module in modules() if _part(_inside(module)).split(".")[0] not in _MAY]
    assert not unknown, f"these belong to no known package: {unknown}"
    wrong = [
        f"{modules()[module]}:{imported.line}: {module} must not import {imported.target}"
        for module in sorted(modules())
        for imported in imports(module)
        if _below(imported.target, "polymnia") and _is_forbidden(module, imported)
    ]
    assert not wrong, "\n".join(wrong)


def _room(module: str) -> str | None:
    """The package or top-level module of the engine that a module belongs to."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["polymnia", "engine"] and len(parts) > 2 else None


def _for_types(module: str) -> set[int]:
    """The lines of a module inside `if TYPE_CHECKING`."""
    blocks = [node for node in ast.walk(parsed(modules()[module])) if isinstance(node, ast.If)]
    return {
        inner.lineno
        for block in blocks
        if ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        for inner in ast.walk(node)
        if hasattr(inner, "lineno")
    }


def test_an_engine_package_imports_only_from_lower_layers() -> None:
    level = {room: height for height, rooms in enumerate(_ENGINE) for room in rooms}
    rooms = {module: room for module in modules() if (room := _room(module)) is not None}
    assert set(rooms.values()) == set(level), "every engine package has a layer"
    wrong = [
        f"{modules()[module]}:{imported.line}: {room} must not import {_room(imported.target)}"
        for module, room in rooms.items()
        for imported in imports(module)
        if (other := _room(imported.target)) is not None and other != room and level[other] >= level[room]
        if imported.line not in _for_types(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_memory_imports_the_analyses() -> None:
    violations = [
        f"{modules()[module]}:{imported.line}"
        for module in modules()
        for imported in imports(module)
        if _room(imported.target) == "analysis" and _room(module) not in (None, "analysis", "memory")
    ]
    assert not violations, "\n".join(violations)


def test_errors_imports_nothing_at_all() -> None:
    assert {imported.target for imported in imports("polymnia.errors")} <= {"__future__"}


def test_a_library_is_imported_in_its_own_package_only() -> None:
    violations = [
        f"{modules()[module]}:{imported.line}: {library} belongs to {home}"
        for module in modules()
        for imported in imports(module)
        for library, home in _LIBRARIES.items()
        if _below(imported.target, library) and not _below(_inside(module), home)
    ]
    assert not violations, "\n".join(violations)


def test_only_the_composition_root_reads_the_environment() -> None:
    # The command line and `importing` set variables for libraries.
    allowed = (SOURCE / "app" / "__init__.py", SOURCE / "cli" / "__init__.py", SOURCE / "importing.py")
    violations = [
        f"{path}:{node.lineno}"
        for path in modules().values()
        if path not in allowed
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.Name) and node.id in {"environ", "getenv"})
    ]
    assert not violations, ", ".join(violations)


@pytest.mark.parametrize("dialect", ["official", "strict", "native", "associative", "content", "chatgpt", "all"])
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
    assert not early, f"imported before the first response: {early}"


def _strings(module: str) -> Iterator[ast.Constant]:
    """The string literals of a module that are not docstrings."""
    tree = parsed(modules()[module])
    holders = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    documentation = {id(node.body[0].value) for node in holders if node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node


def test_the_engine_names_no_tool() -> None:
    # The native tools are called by verbs of plain English, which are the engine's words too.
    lists = [path for path in files(".json", under=SOURCE / "dialects") if path.stem != "native"]
    tools = [tool for path in lists for tool in json.loads(path.read_bytes())]
    operations = [tool["inputSchema"]["properties"].get("operation", {}).get("enum", []) for tool in tools]
    names = {tool["name"] for tool in tools}.union(*operations) - {"search", "fetch"}  # which are plain words
    assert "create_entities" in names and "store_content" in names
    named = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    # The journal stores actions under these names, so a name alone is data.
    violations = [
        f"{modules()[module]}:{text.lineno}: {text.value}"
        for module in modules()
        if _below(module, "polymnia.engine")
        for text in _strings(module)
        if text.value not in names and named.search(text.value)
    ]
    assert not violations, "\n".join(violations)
