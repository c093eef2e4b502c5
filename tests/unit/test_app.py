"""The composition root: which memory one gets, from settings or from Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from polymnia import AlreadyExists, EntityDraft, Memory, connect, importing
from polymnia.app import default_config, default_store, open_memory, open_store, registry, settings, wants_colour
from polymnia.app.network import serve_http
from polymnia.engine.transfer.mirror import Mirror
from polymnia.errors import NoLibrary
from polymnia.settings import DIALECTS, SETTINGS, BadSetting
from polymnia.storage.sqlite import SqliteStore


@pytest.fixture(autouse=True)
def nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and nothing said in the environment."""
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    for variable in ("MEMORY_PATH", "MEMORY_FILE_PATH", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _path(memory: Memory) -> str:
    assert isinstance(memory.unscreened, SqliteStore)
    return memory.unscreened.path


# ── from Python ─────────────────────────────────────────────────────────────────────────────────────────────


def test_connecting_opens_nothing_before_it_is_needed(tmp_path: Path) -> None:
    with connect(tmp_path / "notes.db"):
        pass
    assert not (tmp_path / "notes.db").exists()


@pytest.mark.parametrize("kind", [str, Path])
def test_a_store_may_be_named_by_a_text_or_a_path(tmp_path: Path, kind: type) -> None:
    with connect(kind(tmp_path / "notes.db")) as memory:
        memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
    with connect(kind(tmp_path / "notes.db")) as memory:
        assert memory.get("Ann")[0].observations == ("Likes tea",)
        assert (memory.project, memory.who) == ("default", "library")


def test_without_a_name_it_is_the_store_every_client_of_the_user_shares(nowhere_else: Path) -> None:
    with connect() as memory:
        assert _path(memory) == default_store()
        assert default_store().startswith(str(nowhere_else / "home"))
        assert os.path.basename(default_store()) == "memory.db"


def test_the_environment_names_the_store_and_the_project_if_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMNIA_STORE", str(tmp_path / "from outside.db"))
    monkeypatch.setenv("POLYMNIA_PROJECT", "from outside")
    assert _path(connect()) == str(tmp_path / "from outside.db")
    assert connect().project == "from outside"
    assert _path(connect("mine.db")) == str(tmp_path / "mine.db")
    assert connect(project="mine").project == "mine"


def test_projects_are_apart(tmp_path: Path) -> None:
    with connect(tmp_path / "notes.db", project="one") as one, connect(tmp_path / "notes.db", project="two") as two:
        one.create_entities([EntityDraft("a", "k", ("text",))])
        assert two.read_graph().records == []


def test_the_manners_are_those_asked_for(tmp_path: Path) -> None:
    draft = EntityDraft("a", "k", ("text",))
    with connect(tmp_path / "notes.db") as strict, connect(tmp_path / "notes.db", graph="simple") as simple:
        strict.create_entities([draft])
        with pytest.raises(AlreadyExists):
            strict.create_entities([draft])
        simple.create_entities([EntityDraft("a", "k", ("replaced",))])
        assert strict.get("a")[0].observations == ("replaced",)
        assert simple.acting("bob", strict.policy).policy == strict.policy


@pytest.mark.parametrize("graph", ["all", "Strict", "", "other"])
def test_manners_that_do_not_exist_are_refused(graph: str) -> None:
    with pytest.raises(BadSetting, match="must be one of: simple, strict, bilingual, official"):
        connect("notes.db", graph=graph)


def test_who_did_it_is_in_the_journal(tmp_path: Path) -> None:
    with connect(tmp_path / "notes.db", who="a script") as memory:
        memory.create_entities([EntityDraft("a", "k", ("text",))])
        memory.acting("another").add_observations([("a", ["more"])])
        assert [change.who for change in memory.changes()] == ["another", "a script"]


def test_a_memory_can_be_kept_visible_in_a_file(tmp_path: Path) -> None:
    with connect(tmp_path / "notes.db", file=tmp_path / "notes.json", graph="simple") as memory:
        memory.create_entities([EntityDraft("a", "k", ("text",))])
        assert '"name": "a"' in (tmp_path / "notes.json").read_text()
    assert (tmp_path / "notes.db").exists()


# ── from settings ───────────────────────────────────────────────────────────────────────────────────────────


def _file(environment: dict[str, str] | None = None, **values: object) -> str | None:
    return settings(values, environment or {}).file


@pytest.mark.parametrize(("dialect", "variable"), [("simple", "MEMORY_PATH"), ("official", "MEMORY_FILE_PATH")])
def test_the_variable_a_dialects_users_already_have_names_the_file(tmp_path: Path, dialect: str, variable: str) -> None:
    there = str(tmp_path / "memory.json")
    assert _file({variable: there}, dialect=dialect) == there
    assert _file({variable: there}, dialect="all", graph=dialect) == there
    assert _file({variable: there}, dialect="strict") is None
    assert _file({variable: there}, dialect="bilingual") is None
    assert _file({variable: ""}, dialect=dialect) is None
    assert _file({variable: there}, dialect=dialect, store="other.db") is None
    assert _file({variable: there}, dialect=dialect, file="mine.json") == str(tmp_path / "mine.json")
    assert _file({variable: there, "POLYMNIA_FILE": "out.json"}, dialect=dialect) == str(tmp_path / "out.json")


def test_each_dialect_listens_to_its_own_variable_only(tmp_path: Path) -> None:
    assert _file({"MEMORY_PATH": "memory.json"}, dialect="official") is None
    assert _file({"MEMORY_FILE_PATH": "memory.json"}, dialect="simple") is None


def test_a_folder_means_the_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for given in ("folder", "folder/", "new folder/"):
        found = _file(dialect="simple", file=given)
        assert found is not None
        assert os.path.basename(found) == "memory.json" or given == "new folder/"
    assert _file(dialect="simple", file="folder") == str(tmp_path / "folder" / "memory.json")


def test_only_simple_has_a_file_when_none_is_named(nowhere_else: Path) -> None:
    assert _file(dialect="simple", file="") == str(nowhere_else / "home" / ".cursor" / "memory.json")
    for dialect in ("strict", "official", "bilingual", "all"):
        with pytest.raises(BadSetting, match="--file needs a path"):
            _file(dialect=dialect, file="")


def test_a_path_may_start_at_home(nowhere_else: Path) -> None:
    assert _file(dialect="simple", file="~/m.json") == str(nowhere_else / "home" / "m.json")


def test_settings_become_a_memory(tmp_path: Path) -> None:
    chosen = settings({"store": str(tmp_path / "m.db"), "project": "p", "dialect": "official", "max_batch": 7}, {})
    with open_memory(chosen, "someone") as held:
        assert _path(held) == str(tmp_path / "m.db")
        assert (held.project, held.who, held.limits.batch) == ("p", "someone", 7)
        assert held.policy.search == "lower"
    assert registry(chosen).name == "official"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_that_can_be_chosen_is_there(dialect: str) -> None:
    assert registry(settings({"dialect": dialect}, {})).name == dialect


def test_all_offers_each_tool_of_the_others_once() -> None:
    def tools(dialect: str) -> set[str]:
        return set(registry(settings({"dialect": dialect}, {})).operations)

    assert tools("all") == tools("strict") | tools("associative") | tools("content")
    assert tools("associative") & tools("content") == {"memory_store"}


def test_a_file_becomes_a_mirror_with_its_history_out_of_sight(nowhere_else: Path) -> None:
    chosen = settings({"file": "m.json", "dialect": "simple"}, {})
    with open_memory(chosen, "someone") as held:
        assert isinstance(held.unscreened, Mirror)
        held.create_entities([EntityDraft("a", "k")])
        held.undo()
    assert {path.name for path in nowhere_else.iterdir()} == {"home", "m.json"}


def test_the_same_file_by_another_way_has_the_same_history(nowhere_else: Path) -> None:
    (nowhere_else / "folder").mkdir()
    (nowhere_else / "link.json").symlink_to(nowhere_else / "m.json")
    for number, given in enumerate(("m.json", "folder/../m.json", "link.json")):
        with open_memory(settings({"file": given, "dialect": "simple"}, {}), "someone") as held:
            held.create_entities([EntityDraft(f"{number}", "k")])
            assert len(held.changes()) == number + 1


def test_colours_can_be_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wants_colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour()
    monkeypatch.setenv("NO_COLOR", "")
    assert wants_colour()


# ── the file of settings ────────────────────────────────────────────────────────────────────────────────────


def test_the_file_of_settings_is_read_from_the_platforms_folder(tmp_path: Path) -> None:
    assert settings({}).project == "default"
    path = Path(default_config())
    path.parent.mkdir(parents=True)
    path.write_text('project = "from the file"', encoding="utf-8")
    assert settings({}).project == "from the file"
    assert settings({}, {"POLYMNIA_PROJECT": "from outside"}).project == "from outside"
    assert settings({"project": "given"}, {"POLYMNIA_PROJECT": "from outside"}).project == "given"


def test_a_file_in_the_working_folder_is_nobodys_settings(tmp_path: Path) -> None:
    (tmp_path / "polymnia.toml").write_text('store = "elsewhere.db"', encoding="utf-8")
    assert settings({}).store is None
    assert settings({"config": "polymnia.toml"}).store == "elsewhere.db"
    assert settings({}, {"POLYMNIA_CONFIG": str(tmp_path / "polymnia.toml")}).store == "elsewhere.db"


def test_a_file_of_settings_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"none\.toml"):
        settings({"config": str(tmp_path / "none.toml")})


def test_a_port_that_cannot_be_is_told_and_not_a_stack_trace(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"up to 65535$"):
        serve_http(settings({"store": str(tmp_path / "m.db"), "embedder": "none", "port": 99999}))


def test_a_database_without_its_library_is_refused_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_loaded", {})
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(NoLibrary, match="psycopg") as raised:
        open_store("postgresql://db.example/memory")
    assert "[postgres]" in raised.value.hint
