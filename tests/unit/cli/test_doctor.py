"""`polymnia doctor`: what it looks at, what it finds, and what it says to do."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from polymnia import __version__
from polymnia.errors import Unavailable

from .desk import Desk, Told


@pytest.fixture
def home(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it."""
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "CODEX_HOME",
        "CLAUDE_CONFIG_DIR",
        "CLINE_MCP_SETTINGS_PATH",
        "GEMINI_CLI_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in os.environ:  # how the tests are run is no setting, and would be told
        if name.startswith(("POLYMNIA_CI", "POLYMNIA_TEST_", "POLYMNIA_LONG", "POLYMNIA_TRANSPORTS")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(desk.folder))
    monkeypatch.setenv("POLYMNIA_KEYS", str(desk.folder / "keys.json"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        monkeypatch.setenv("POLYMNIA_PORT", str(probe.getsockname()[1]))
    return desk.folder


def checks(told: Told, what: str) -> list[tuple[str, str, str]]:
    """What was said of one thing: state, text and what to do."""
    return [(one["state"], one["text"], one["do"]) for one in told.value["checks"] if one["what"] == what]


def entry(home: Path, words: list[str], **more: Any) -> None:
    """Give Cursor an entry."""
    (home / ".cursor").mkdir(exist_ok=True)
    servers = {"mcpServers": {"polymnia": {"command": words[0], "args": words[1:], **more}}}
    (home / ".cursor" / "mcp.json").write_text(json.dumps(servers))


def test_a_fresh_machine_is_well(desk: Desk, home: Path) -> None:
    told = desk.run("doctor", "--json")
    assert told.code == 0
    assert told.value["well"] is True
    assert checks(told, "polymnia")[0][1].startswith(f"{__version__}, ")
    assert checks(told, "python")[0][1].startswith(sys.version.partition(" ")[0])
    assert "none yet" in checks(told, "store")[0][1]
    assert {one["what"] for one in told.value["checks"]} >= {"sqlite", "extras", "disk", "models", "keys", "port"}
    assert checks(told, "clients") == [
        ("warning", "No AI client was found", "`polymnia install --list` shows where it looks.")
    ]


def test_the_server_of_a_client_is_started_as_the_client_would(desk: Desk, home: Path) -> None:
    store = str(home / "other.db")
    entry(home, [sys.executable, "-m", "polymnia"], env={"POLYMNIA_DIALECT": "native", "POLYMNIA_STORE": store})
    told = desk.run("doctor", "--json", "--wait", "60")
    assert told.code == 0, told.out
    ((state, text, _),) = checks(told, "cursor")
    assert state == "ok"
    assert "7 tools after" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/nowhere/polymnia", "stdio"], "starts /nowhere/polymnia, which is not there"),
        (
            [sys.executable, "-c", "import sys; sys.exit('out of order')", "polymnia", "stdio"],
            "exit code 1: out of order",
        ),
        (
            [sys.executable, "-c", "import sys; sys.exit('error: no index\\nhint: look there')", "polymnia", "stdio"],
            "exit code 1: error: no index",
        ),
        (
            [sys.executable, "-c", "print('polymnia: hello', flush=True); input(); input()", "polymnia", "stdio"],
            "no message",
        ),
        ([sys.executable, "-c", "import time; time.sleep(60)", "polymnia", "stdio"], "did not answer within 1 seconds"),
    ],
)
def test_a_server_that_does_not_start_is_a_problem(desk: Desk, home: Path, words: list[str], said: str) -> None:
    entry(home, words)
    told = desk.run("doctor", "--json", "--wait", "1")
    assert told.code == 1
    ((state, text, do),) = checks(told, "cursor")
    assert state == "problem"
    assert said in text
    assert "polymnia install cursor" in do
    if "which is not there" not in said:
        assert shlex.split(do.removeprefix("Run ").partition(" to see more")[0]) == words


def test_a_client_whose_file_is_broken_is_a_problem(desk: Desk, home: Path) -> None:
    entry(home, ["x"])
    (home / ".cursor" / "mcp.json").write_text('{"mcpServers": {\n')
    told = desk.run("doctor", "--json")
    assert told.code == 1
    assert "line 2, column 1" in checks(told, "cursor")[0][1]


def test_an_entry_that_may_not_start_is_a_warning(desk: Desk, home: Path) -> None:
    entry(home, [sys.executable, "-m", "polymnia"], disabled=True)
    assert checks(desk.run("doctor", "--json"), "cursor")[0][:2][0] == "warning"
    entry(home, ["${userHome}/polymnia"])
    told = desk.run("doctor", "--json")
    assert told.code == 0
    assert "only the client knows" in checks(told, "cursor")[0][1]


def test_a_server_that_refuses_an_option_is_told_in_its_own_words(desk: Desk, home: Path) -> None:
    (home / ".cursor").mkdir()
    words = {"command": sys.executable, "args": ["-m", "polymnia", "stdio", "--dialect", "nativ"]}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"memory": words}}))
    ((state, text, do),) = checks(desk.run("doctor", "--json"), "cursor")
    assert (state, "--dialect is 'nativ', but must be one of" in text) == ("problem", True)
    assert do.endswith("polymnia install cursor --name memory --yes")


def test_clients_that_do_not_share_one_memory_are_a_warning(desk: Desk, home: Path) -> None:
    stores = {"one": ["--store", "/a.db"], "two": ["--store=/a.db"], "three": ["--store", "/a.db", "--project", "home"]}
    servers: dict[str, Any] = {
        name: {"command": sys.executable, "args": ["-m", "polymnia", "stdio", *words]} for name, words in stores.items()
    }
    servers["four"] = {"command": "polymnia", "env": {"POLYMNIA_STORE": "postgresql://ann:secret@db/memory"}}
    file = {"MEMORY_FILE_PATH": "/ours.jsonl"}
    servers["five"] = {"command": "polymnia", "args": ["stdio", "--dialect", "official"], "env": file}
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    ((state, text, _),) = checks(desk.run("doctor", "--no-start", "--json"), "clients")
    assert state == "warning"
    assert text == (
        "They do not share one memory. cursor: /a.db; cursor: /a.db, project home; cursor: postgresql://db/memory; "
        "cursor: /ours.jsonl"
    )


def test_a_client_shares_the_memory_that_the_file_of_settings_names(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "polymnia.toml"
    file.write_text('store = "/a.db"\n')
    monkeypatch.setattr("polymnia.app.default_config", lambda: str(file))
    words = {"command": "polymnia", "args": ["stdio"]}
    servers = {"one": words, "two": {**words, "args": ["stdio", "--store", "/a.db"]}}
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert checks(desk.run("doctor", "--no-start", "--json"), "clients") == []


def test_a_damaged_store_is_a_problem(desk: Desk, home: Path) -> None:
    desk.add("Ann likes green tea")
    assert "1 memory and 0 relations" in checks(desk.run("doctor", "--json"), "store")[0][1]
    (home / "memory.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    told = desk.run("doctor", "--json")
    assert told.code == 1
    assert checks(told, "store")[0][0] == "problem"


@pytest.mark.skipif(sys.platform == "win32", reason="rights are kept otherwise there")
def test_the_store_of_a_client_is_looked_at_though_its_server_starts(desk: Desk, home: Path) -> None:
    (home / "theirs.db").write_bytes(b"no store at all, but many bytes of something else" * 100)
    entry(home, [sys.executable, "-m", "polymnia", "stdio", "--store", str(home / "theirs.db")])
    told = desk.run("doctor", "--json")
    assert [
        (state, "tool" in text or "is not a Polymnia store" in text) for state, text, _ in checks(told, "cursor")
    ] == [
        ("ok", True),
        ("problem", True),
    ]
    assert str(home / "theirs.db") in checks(told, "cursor")[1][1]
    assert told.code == 1


def test_a_store_that_others_can_open_is_a_warning(desk: Desk, home: Path) -> None:
    desk.add("Ann likes green tea")
    home.chmod(0o755)
    (home / "memory.db").chmod(0o644)
    said = checks(desk.run("doctor", "--json"), "store")
    assert ("warning", f"chmod 600 {home / 'memory.db'}") in [
        (state, do.removeprefix("Run: ")) for state, _, do in said
    ]


def test_a_folder_in_which_nothing_can_be_made_beside_the_store_is_a_problem(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.add("Ann likes green tea")
    may, locked = os.access, str(home)
    # Root may write whatever the rights say.
    monkeypatch.setattr(
        "os.access", lambda path, mode: may(path, mode) and not (str(path) == locked and mode & os.W_OK)
    )
    told = desk.run("doctor", "--no-start", "--json")
    assert ("problem", f"{home} cannot be written", "Change its owner or its rights.") in checks(told, "store")


@pytest.mark.parametrize(
    ("way", "do"),
    [
        ("pipx", "Run: pipx reinstall polymnia"),
        ("uv tool", "Run: uv tool upgrade --reinstall polymnia"),
        ("pip", "Mend it"),
    ],
)
def test_a_broken_model_is_mended_by_what_installed_it(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch, way: str, do: str
) -> None:
    monkeypatch.setattr("polymnia.cli.doctor.installed_by", lambda: way)
    monkeypatch.setattr("polymnia.app.damaged_models", lambda chosen: Unavailable("It is broken", hint="Mend it"))
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "auto")
    told = desk.run("doctor", "--no-start", "--json")
    assert (told.code, checks(told, "models")) == (1, [("problem", "It is broken", do)])


def test_a_port_that_another_program_has_is_a_warning(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setenv("POLYMNIA_PORT", str(other.getsockname()[1]))
        other.settimeout(5)
        # Whoever connects is dropped, as by a program that speaks something else.
        import threading

        threading.Thread(target=lambda: other.accept()[0].close(), daemon=True).start()
        told = desk.run("doctor", "--json")
    assert checks(told, "port")[0][0] == "warning"
    assert "--port" in checks(told, "port")[0][2]


def test_a_misspelt_variable_is_told(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_PROJEKT", "x")
    assert "did you mean POLYMNIA_PROJECT" in checks(desk.run("doctor", "--json"), "settings")[0][1]


@pytest.mark.parametrize("text", ["stroe = 'x'\n", "store = \n", "port = 'x'\n"])
def test_a_broken_file_of_settings_is_a_problem_among_the_others(desk: Desk, home: Path, text: str) -> None:
    (home / "mine.toml").write_text(text)
    entry(home, ["/nowhere/polymnia", "stdio"])
    told = desk.run("doctor", "--config", "mine.toml", "--json")
    assert told.code == 1
    ((state, why, _),) = checks(told, "settings")
    assert (state, str(home / "mine.toml") in why) == ("problem", True)
    assert checks(told, "store")[0][0] == "ok"
    assert checks(told, "cursor")[0][0] == "problem"
    assert desk.run("list", "--config", "mine.toml").code == 2


def test_it_is_read_by_people_too(desk: Desk, home: Path) -> None:
    entry(home, ["/nowhere/polymnia", "stdio"])
    told = desk.run("doctor")
    assert told.code == 1
    assert told.lines[0].startswith("ok       polymnia  ")
    assert "→ Run: polymnia install cursor --yes" in told.out
    assert told.lines[-1] == "1 problem, 0 warnings."


def test_it_fits_a_narrow_terminal(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    (home / ".config" / "Claude").mkdir(parents=True)  # the longest name
    lines = desk.look("doctor", "--no-start", columns=40)
    assert any(line.startswith("ok") and "claude-desktop" in line for line in lines)
    # A path is one word, which stays whole so that it can be copied.
    assert [line for line in lines if len(line) > 40 and len(line.split()) > 1] == []
