"""The examples of the guide work: each is a file, each script runs, each configuration starts a server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import forked
from polymnia import EntityDraft, connect, errors
from polymnia.settings import SETTINGS
from stdio_client import DEADLINE, Place, Server, entity

from .tree import ROOT, files

_GUIDE = ROOT / "docs" / "guide"
_EXAMPLES = _GUIDE / "examples"
_PAGES = sorted(_GUIDE.glob("*.md"))
_FENCE = re.compile(r"^```(?P<language>\w*)(?: (?P<name>\S+))?\n(?P<body>.*?)^```$", re.M | re.S)
_LANGUAGES = {
    ".py": "python",
    ".sh": "sh",
    ".json": "json",
    ".jsonl": "jsonl",
    ".txt": "text",
    ".conf": "nginx",
    "": "caddy",
}

# Claude Code is not installed in tests; its script has a separate test.
_SCRIPTS = [path for path in files(".py", ".sh", under=_EXAMPLES) if path.name != "claude-code.sh"]
# Each takes more than half a second.
_LONG = {
    "analysis/patterns.py", "memories/meaning.py", "search/meaning.py", "search/tend.sh", "sharing/writers.py",
}  # fmt: skip
_CONFIGURATIONS = [path for path in files(".json", under=_EXAMPLES) if '"polymnia"' in path.read_text(encoding="utf-8")]


def _name(path: Path) -> str:
    return path.relative_to(_EXAMPLES).as_posix()


class _Block(NamedTuple):
    """A code block on a page, and the example file it shows."""

    page: str
    language: str
    name: str | None
    body: str


def _blocks() -> list[_Block]:
    return [
        _Block(page.name, found["language"], found["name"], found["body"])
        for page in _PAGES
        for found in _FENCE.finditer(page.read_text(encoding="utf-8"))
    ]


# ── Pages and files ──────────────────────────────────────────────────────────────────────────────────────


def test_every_block_on_a_page_equals_its_example_file() -> None:
    for block in _blocks():
        assert block.name is not None, f"{block.page} shows code that no test runs:\n{block.body}"
        path = _GUIDE / block.name
        assert path.is_relative_to(_EXAMPLES), f"{block.page}: {block.name}"
        assert path.exists(), f"{block.page}: {block.name} does not exist"
        assert block.language == _LANGUAGES[path.suffix], f"{block.page}: {block.name}"
        assert block.body == path.read_text(encoding="utf-8"), f"{block.page} shows {block.name} as it is not"


def test_every_example_is_shown_on_a_page() -> None:
    shown = {block.name for block in _blocks()}
    assert {f"examples/{_name(path)}" for path in files(under=_EXAMPLES)} == shown


def test_every_page_of_the_docs_is_in_the_index() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    pages = [*_PAGES, *(docs / "reference").glob("*.md"), *(docs / "contracts").glob("*.md")]
    assert not [page.name for page in pages if f"({page.relative_to(docs).as_posix()})" not in index]


def test_the_compose_file_starts_what_it_names() -> None:
    """Every service says when it is healthy, waits for services there are, and has settings there are."""
    services = yaml.safe_load((ROOT / "packaging" / "compose.yaml").read_text(encoding="utf-8"))["services"]
    known = {setting.variable for setting in SETTINGS}
    for name, service in services.items():
        assert "test" in service["healthcheck"], name
        assert set(service.get("depends_on", {})) <= set(services) - {name}, name
        assert {one for one in service.get("environment", {}) if one.startswith("POLYMNIA_")} <= known, name
        if "build" in service:
            assert (ROOT / "packaging" / service["build"] / "Dockerfile").exists()


# ── Scripts ──────────────────────────────────────────────────────────────────────────────────────────────


class _Workspace:
    """A copy of an examples folder, with an environment that has `polymnia` and nothing else of this machine."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.folder = (place.folder / "workspace").resolve()
        shutil.copytree(folder, self.folder)
        tools = place.folder / "bin"
        tools.mkdir()
        self._tool(tools, "polymnia", forked.polymnia())
        self._tool(tools, "python3", f'exec "{sys.executable}" "$@"')
        self._tool(tools, "claude", 'printf "%s\\n" "$@" > claude-arguments.txt')
        kept = {name: value for name, value in place.environment.items() if name != "POLYMNIA_STORE"}
        self.environment = {**kept, "PATH": f"{tools}:{kept.get('PATH', '')}"}

    @staticmethod
    def _tool(folder: Path, name: str, script: str) -> None:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, script: str) -> str:
        """Run a script, which must succeed; returns stdout and stderr."""
        interpreter = ["sh", "-e"] if script.endswith(".sh") else [sys.executable]
        with forked.start(
            [*interpreter, script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        ) as running:
            output, _ = running.communicate(timeout=DEADLINE)
        assert running.returncode == 0, output
        return str(output).replace(str(self.folder), "/path/to")


def _timeless(text: str) -> str:
    """The text with times, scores and ids replaced by placeholders, and without trailing spaces."""
    text = re.sub(r" +$", "", text, flags=re.M)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "<time>", text)
    text = re.sub(r"\d+\.\d\d ms$", "<time>", text, flags=re.M)
    text = re.sub(r"^[01]\.\d\d(?=  )|\b[01]\.\d{3}\b", "<score>", text, flags=re.M)
    text = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>", text)
    text = re.sub(r"content_[0-9a-f]{32}", "content_<id>", text)
    text = re.sub(r"\b[a-f][0-9a-f]{7}-[0-9a-f]{4}\b", "<id>", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d(?:T\d\d:\d\dZ)?(?= by|[,\]])", "<day>", text)
    return re.sub(r"(broken|replaced)-\d{8}T\d{6}Z", r"\1-<time>", text)


@pytest.mark.parametrize(
    "script",
    [pytest.param(one, id=_name(one), marks=[pytest.mark.long] if _name(one) in _LONG else []) for one in _SCRIPTS],
)
def test_a_script_runs_and_prints_what_the_page_says(place: Place, script: Path) -> None:
    output = _Workspace(place, script.parent).run(script.name)
    expected = script.with_suffix(".txt")
    assert _timeless(output) == (_timeless(expected.read_text(encoding="utf-8")) if expected.exists() else "")


def test_the_command_for_claude_code_adds_a_server_that_starts(place: Place) -> None:
    workspace = _Workspace(place, _EXAMPLES / "clients")
    workspace.run("claude-code.sh")
    words = (workspace.folder / "claude-arguments.txt").read_text().split()
    before, after = words[: words.index("--")], words[words.index("--") + 1 :]
    assert before[:2] == ["mcp", "add"]
    assert after[0] == "polymnia"
    server = _started(place, {"command": after[0], "args": after[1:]})
    assert "create_entities" in server.tools()


# ── Configurations ───────────────────────────────────────────────────────────────────────────────────────


def _entry(path: Path) -> dict[str, Any]:
    """The only server of a configuration."""
    configuration = json.loads(path.read_text(encoding="utf-8"))
    (servers,) = configuration.values()
    (entry,) = servers.values()
    assert isinstance(entry, dict)
    return entry


def _started(place: Place, entry: dict[str, Any]) -> Server:
    """Start the server as a client would."""
    assert entry["command"] == "polymnia"
    given = [word.replace("/path/to", str(place.folder)) for word in entry["args"]]
    variables = {name: value.replace("/path/to", str(place.folder)) for name, value in entry.get("env", {}).items()}
    assert given[0] == "stdio"
    server = place.start(*given[1:], environment={"POLYMNIA_STORE": None, **variables})
    server.initialize()
    return server


@pytest.mark.parametrize("path", _CONFIGURATIONS, ids=_name)
def test_a_configuration_starts_a_server_that_remembers(place: Place, path: Path) -> None:
    entry = _entry(path)
    server = _started(place, entry)
    if "native" in entry["args"]:
        server.call("remember", text="Ann likes tea")
        server.close()
        assert "Ann likes tea" in _started(place, entry).call("recall", query="tea").text
        return
    server.call("create_entities", entities=[entity("Ann", "Likes tea")])
    named = [word for word in (*entry["args"], *entry.get("env", {}).values()) if word.startswith("/path/to/")]
    if named:
        assert "Likes tea" in Path(named[0].replace("/path/to", str(place.folder))).read_text()
    server.close()
    assert _started(place, entry).names() == ["Ann"]


def test_switching_from_the_npm_server_changes_the_command_and_keeps_the_file(place: Place) -> None:
    before, after = (_entry(_EXAMPLES / "clients" / f"npm-{when}.json") for when in ("before", "after"))
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert changed == {"command", "args"}
    file = place.folder / "memory.jsonl"
    line = '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea"]}'
    file.write_text(line)
    server = _started(place, after)
    assert server.names() == ["Ann"]
    server.call("create_entities", entities=[entity("Bob", "Plays chess", type="person")])
    assert file.read_text() == line + "\n" + line.replace("Ann", "Bob").replace("Likes tea", "Plays chess")


def test_a_file_without_a_name_is_the_one_that_simple_memory_uses(place: Place) -> None:
    server = _started(place, _entry(_EXAMPLES / "clients" / "simple-default.json"))
    server.call("create_entities", entities=[entity("Ann", "Likes tea")])
    assert "Likes tea" in (place.home / ".cursor" / "memory.json").read_text()


# ── Claims of the pages outside their examples ──────────────────────────────────────────────────────────


def test_the_store_behind_a_file_lies_in_the_data_folder(place: Place) -> None:
    _Workspace(place, _EXAMPLES / "files").run("edits.sh")
    behind = place.home / "data" / "polymnia" / "files"
    assert len(list(behind.glob("*.db"))) == 1
    assert sorted(path.name for path in (place.folder / "workspace").glob("team*")) == ["team.jsonl"]


def test_a_file_takes_its_history_along_when_its_store_lies_beside_it(place: Place) -> None:
    workspace = _Workspace(place, _EXAMPLES / "files")
    old, new = workspace.folder / "old.json", workspace.folder / "new.json"
    beside = str(workspace.folder / "beside.db")
    place.run("import", str(workspace.folder / "old.jsonl"), "--file", str(old), "--store", beside)
    old.rename(new)
    output = place.run("history", "Ann", "--file", str(new), "--store", beside)
    assert "import" in output.stdout
    alone = place.run("history", "Ann", "--file", str(new), environment={"POLYMNIA_STORE": None})
    assert "import" not in alone.stdout


def test_a_store_and_a_file_that_meet_keep_what_either_has(place: Place) -> None:
    place.serve("strict").call("create_entities", entities=[entity("Ann", "Likes tea")])
    file = place.folder / "memory.json"
    file.write_text(json.dumps({"entities": [entity("Bob", "Plays chess")], "relations": []}))
    assert sorted(place.serve("strict", "--file", str(file)).names()) == ["Ann", "Bob"]
    assert "Ann" in file.read_text()


def test_the_variables_of_other_servers_yield_to_a_store(place: Place) -> None:
    file = place.folder / "memory.jsonl"
    server = place.serve("official", environment={"MEMORY_FILE_PATH": str(file)})
    server.call("create_entities", entities=[entity("Ann", "Likes tea")])
    assert not file.exists()


def test_a_command_with_the_dialect_of_a_server_finds_its_file(place: Place) -> None:
    file = place.folder / "memory.jsonl"
    variables = {"POLYMNIA_STORE": None, "MEMORY_FILE_PATH": str(file)}
    place.serve("official", environment=variables).call("create_entities", entities=[entity("Ann", "Likes tea")])
    shown = place.run("show", "Ann", "--dialect", "official", environment=variables)
    assert "Likes tea" in shown.stdout


def test_two_projects_on_one_file_see_the_same_memories(place: Place) -> None:
    file = str(place.folder / "memory.json")
    place.serve("simple", "--file", file, "--project", "a").call("create_entities", entities=[entity("Ann", "tea")])
    assert place.serve("simple", "--file", file, "--project", "b").names() == ["Ann"]


def test_a_server_makes_the_store_that_is_not_there(place: Place) -> None:
    place.serve("strict").call("create_entities", entities=[entity("Ann", "Likes tea")])
    mistyped = place.folder / "memroy.db"
    assert place.serve("strict", "--store", str(mistyped)).names() == []
    assert mistyped.exists()


def test_what_is_deleted_is_brought_back_and_then_purged(place: Place) -> None:
    server = place.serve("strict")
    server.call("create_entities", entities=[entity("diary", "A secret")])
    server.call("delete_entities", entityNames=["diary"])
    assert place.run("undo").returncode == 0
    assert place.run("purge", "diary", "--yes").returncode == 0
    assert place.run("history", "diary").returncode == 1


def test_a_purge_reaches_the_file(place: Place) -> None:
    file = place.folder / "memory.json"
    server = place.serve("strict", "--file", str(file))
    server.call("create_entities", entities=[entity("diary", "A secret")])
    assert place.run("purge", "diary", "--yes", "--file", str(file)).returncode == 0
    assert "secret" not in file.read_text()


def test_an_import_leaves_out_what_is_over_the_limit_and_keys_that_are_no_memories(place: Place) -> None:
    file = place.folder / "old.json"
    file.write_text(json.dumps({"entities": [entity("Ann", "tea"), entity("Bob", "x" * 99)], "mine": 1}))
    limits = {"POLYMNIA_MAX_TEXT_BYTES": "50", "POLYMNIA_MAX_NAME_BYTES": "50"}
    output = place.run("import", str(file), environment=limits)
    assert "max_text_bytes" in output.stdout
    assert "'mine'" in output.stdout
    assert place.serve("strict").names() == ["Ann"]


def test_the_library_follows_the_variables(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_STORE", str(place.store))
    monkeypatch.setenv("POLYMNIA_PROJECT", "website")
    monkeypatch.setenv("POLYMNIA_MAX_BATCH", "1")
    with connect() as memory:
        memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
        with pytest.raises(errors.OverLimit):
            memory.open_nodes(["Ann", "Bob"])
    assert place.serve("strict", "--project", "website").names() == ["Ann"]


def test_the_library_keeps_a_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place.home / "data"))
    monkeypatch.delenv("POLYMNIA_STORE", raising=False)
    file = place.folder / "memory.json"
    with connect(file=file) as memory:
        memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
        assert "Likes tea" in file.read_text()
        assert len(memory.delete_entities("Ann").records) == 1
    with pytest.raises(ValueError, match="project"):
        connect(file=file, project="website")


@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_a_list_that_goes_on_says_so(place: Place, dialect: str) -> None:
    server = place.serve(dialect)
    server.call("create_entities", entities=[entity("Ann", "tea"), entity("Bob", "tea")])
    reply = server.call("search_nodes", query="tea", limit=1)
    cursor = reply.structured["nextCursor"]
    assert [note["text"] for note in reply.result["_meta"]["polymnia/notes"]] == [
        f"There is more: pass cursor {cursor} to go on."
    ]
    assert len(reply.result["content"]) == 1
    assert server.call("search_nodes", query="tea", limit=1, cursor=cursor).value[0]["name"] == "Bob"


def test_the_troubleshooting_page_helps_with_every_fault() -> None:
    page = (_GUIDE / "troubleshooting.md").read_text(encoding="utf-8")
    assert not [name for name in errors.__all__ if f"`{getattr(errors, name).code}`" not in page]
