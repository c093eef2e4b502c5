"""What lies at the store's path, and what we do about it: never harm, always a clear word."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from stdio_client import Place, entity

from .constraint import as_anybody, constrained


def _filled(place: Place) -> None:
    """Make a store with a few memories, closed by everybody."""
    server = place.serve("strict")
    entities = [entity(f"name {number}", "text " * 200) for number in range(50)]
    server.call("create_entities", entities=entities)
    server.close_input()
    server.exit_code()


def _refuses(place: Place, words: str, *more: str) -> None:
    """Every way in says what is wrong in these words, and nothing at the store's path changes."""
    before = place.store.read_bytes() if place.store.is_file() else None
    server = place.serve("strict", *more)
    for tool, arguments in (
        ("read_graph", {}),
        ("create_entities", {"entities": [entity("new", "text")]}),
    ):
        refusal = server.refused(tool, arguments)
        assert re.search(words, refusal.text), refusal.text
        assert refusal.lines[0].startswith("Error: ")
    assert server.request("ping") == {}
    command = place.run("show", "name 1")
    assert command.returncode != 0
    assert re.search(words, command.stderr), command.stderr
    assert "Traceback" not in command.stderr
    server.close_input()
    assert server.exit_code() == 0
    assert (place.store.read_bytes() if place.store.is_file() else None) == before


def test_a_store_of_a_newer_polymnia_is_refused_and_left_as_it_is(place: Place) -> None:
    _filled(place)
    connection = apsw.Connection(str(place.store))
    connection.execute("PRAGMA user_version = 999").fetchall()
    connection.close()
    _refuses(place, r"newer Polymnia")


def _text(path: Path) -> None:
    path.write_text("Dear diary, this is no database.\n" * 100)


def _graph(path: Path) -> None:
    path.write_text('{"entities": [], "relations": []}')


def _other_database(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE cookies (name TEXT); INSERT INTO cookies VALUES ('crumb')").fetchall()
    connection.close()


@pytest.mark.parametrize("something", [_text, _graph, _other_database], ids=lambda make: make.__name__[1:])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(place: Place, something: Callable[[Path], None]) -> None:
    something(place.store)
    _refuses(place, r"not a Polymnia store")


def test_a_folder_in_the_place_of_the_store_is_refused(place: Place) -> None:
    place.store.mkdir()
    _refuses(place, re.escape(str(place.store)))
    assert not list(place.store.iterdir())


def test_a_store_cut_off_in_the_middle_is_refused_and_left_as_it_is(place: Place) -> None:
    _filled(place)
    whole = place.store.read_bytes()
    place.store.write_bytes(whole[: len(whole) // 3])
    _refuses(place, r"damaged")


def test_a_store_overwritten_with_garbage_is_refused_and_left_as_it_is(place: Place) -> None:
    _filled(place)
    size = place.store.stat().st_size
    place.store.write_bytes((b"\xde\xad\xbe\xef" * size)[:size])
    _refuses(place, r"not a Polymnia store|damaged")


def test_a_store_with_garbage_behind_its_head_is_refused_and_left_as_it_is(place: Place) -> None:
    _filled(place)
    whole = place.store.read_bytes()
    place.store.write_bytes(whole[:100] + b"\xa5" * (len(whole) - 100))
    _refuses(place, r"damaged")


@pytest.mark.promise("store.empty")
def test_an_empty_file_is_no_empty_memory(place: Place) -> None:
    _filled(place)
    place.store.write_bytes(b"")
    _refuses(place, r"empty \(0 bytes\)")
    place.store.unlink()
    assert place.serve("strict").names() == []


def _empty_database(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = wal; CREATE TABLE gone (id); DROP TABLE gone").fetchall()
    connection.close()


@pytest.mark.promise("store.empty")
def test_neither_is_an_empty_database(place: Place) -> None:
    _empty_database(place.store)
    _refuses(place, r"empty database")


@pytest.mark.promise("store.read_only")
def test_a_store_in_a_folder_that_may_not_be_written_can_be_read(place: Place) -> None:
    _filled(place)
    place.store.chmod(0o444)
    place.folder.chmod(0o755)
    locked = place.folder / "locked"
    locked.mkdir()
    inside = locked / "memory.db"
    inside.write_bytes(place.store.read_bytes())
    locked.chmod(0o555)
    place.environment["POLYMNIA_STORE"] = str(inside)
    with constrained(place.folder, as_anybody()):
        server = place.serve("strict", "--store", str(inside))
        assert len(server.names()) == 50
        assert server.call("search_nodes", query="name 17").value["nodes"][0]["name"] == "name 17"
        refusal = server.refused("create_entities", entities=[entity("new", "text")])
        assert "cannot be written" in refusal.text
        assert str(inside) in refusal.text
        assert place.run("search", "name 17").returncode == 0
        assert place.run("add", "new").returncode == 1
    assert [path.name for path in locked.iterdir()] == ["memory.db"]


@pytest.mark.long
def test_a_folder_that_may_not_be_written_gives_a_clear_error(place: Place) -> None:
    locked = place.folder / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    place.store = locked / "memory.db"
    place.environment["POLYMNIA_STORE"] = str(place.store)
    with constrained(place.folder, as_anybody()):
        _refuses(place, re.escape(str(place.store)))
    assert not list(locked.iterdir())


def test_a_store_that_may_only_be_read_is_read_and_not_written(place: Place) -> None:
    _filled(place)
    place.store.chmod(0o444)
    with constrained(place.folder, as_anybody()):
        server = place.serve("strict")
    assert len(server.names()) == 50
    refusal = server.refused("create_entities", entities=[entity("new", "text")])
    assert re.search(re.escape(str(place.store)), refusal.text), refusal.text
    assert len(server.names()) == 50


@pytest.mark.promise("store.address")
def test_an_address_that_is_no_file_is_refused(place: Place) -> None:
    for option, address in (
        ("--store", "mysql://ann:geheim@db.example/memory"), ("--file", "https://example.com/memory.json"),
        ("--export-dir", "s3://bucket/exports"), ("--file", "postgresql://db.example/memory"),
    ):  # fmt: skip
        told = place.run("config", option, address)
        assert told.returncode == 2
        assert option in told.stderr and "file" in told.stderr and "geheim" not in told.stderr
    place.environment["POLYMNIA_STORE"] = "mysql://db/memory"
    assert place.run("list").returncode == 2
    assert not list(place.folder.rglob("*:*"))


@pytest.mark.promise("store.address")
@pytest.mark.parametrize("begun", ["postgres:", "postgresql:/", "postgres//", "postgresql//"])
def test_an_address_of_a_database_that_was_mistyped_is_no_file(place: Place, begun: str) -> None:
    told = place.run("add", "Anything", "--store", f"{begun}ann:geheim@db.example/memory")
    assert told.returncode == 2
    assert "postgresql://HOST/DATABASE" in told.stderr and "geheim" not in told.stderr
    assert not list(place.folder.rglob("postgres*"))


@pytest.mark.promise("store.address")
def test_the_password_of_a_database_is_not_taken_on_the_command_line_and_never_shown(place: Place) -> None:
    told = place.run("config", "--store", "postgresql://ann:geheim@db.example/memory")
    assert told.returncode == 2
    assert "POLYMNIA_STORE" in told.stderr and "geheim" not in told.stderr
    place.environment["POLYMNIA_STORE"] = "postgresql://ann:geheim@db.example/memory"
    shown = place.run("config")
    assert "db.example" in shown.stdout and "geheim" not in shown.stdout + shown.stderr


def test_missing_folders_on_the_way_to_the_store_are_made(place: Place) -> None:
    store = place.folder / "not" / "yet" / "here" / "memory.db"
    server = place.serve("strict", "--store", str(store))
    server.call("create_entities", entities=[entity("first", "text")])
    assert server.names() == ["first"]
    assert store.is_file()


def test_a_file_on_the_way_to_the_store_gives_a_clear_error(place: Place) -> None:
    (place.folder / "file").write_text("in the way")
    place.store = place.folder / "file" / "memory.db"
    place.environment["POLYMNIA_STORE"] = str(place.store)
    _refuses(place, re.escape(str(place.store)))


def test_memories_are_for_their_owner_alone(place: Place) -> None:
    server = place.serve("strict", "--store", str(place.folder / "new" / "memory.db"))
    server.call("create_entities", entities=[entity("secret", "text")])
    for path in (place.folder / "new").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def _older_store(folder: Path) -> Path:
    """A store of today's format with one memory in it."""
    from polymnia.models import EntityDraft
    from polymnia.storage.sqlite import SqliteStore

    path = folder / "memory.db"
    store = SqliteStore(str(path))
    with store.write("default", "test", "create") as writing:
        writing.add_records([EntityDraft("kept", "thing", ("text",))])
    store.close()
    return path


def test_an_older_store_is_copied_before_it_is_upgraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next format is made up here, so this very store is the older one."""
    from polymnia.storage.sqlite import SqliteStore, schema

    path = _older_store(tmp_path)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "next"))
    real = schema.migration
    monkeypatch.setattr(schema, "migration", lambda name: "CREATE TABLE next (id)" if name == "next" else real(name))
    new = SqliteStore(str(path))
    with new.read("default") as reading:
        assert [record.name for record in reading.records()] == ["kept"]
    new.close()

    (copy,) = [each for each in tmp_path.iterdir() if "backup" in each.name]
    monkeypatch.undo()
    # The upgraded store is too new for the version that is really here; the copy is not.
    backup = SqliteStore(str(copy))
    with backup.read("default") as reading:
        assert [record.name for record in reading.records()] == ["kept"]
    backup.close()
    with pytest.raises(Exception, match="newer Polymnia"), SqliteStore(str(path)).read("default"):
        pass


def test_an_upgrade_that_fails_leaves_the_older_store_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from polymnia.storage.sqlite import SqliteStore, schema

    path = _older_store(tmp_path)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "next"))
    monkeypatch.setattr(schema, "migration", lambda _: "CREATE TABLE next (id); SELECT no_such_function()")
    broken = SqliteStore(str(path))
    with pytest.raises(Exception, match="no_such_function"), broken.read("default"):
        pass
    broken.close()
    monkeypatch.undo()
    again = SqliteStore(str(path))
    with again.read("default") as reading:
        assert [record.name for record in reading.records()] == ["kept"]
    again.close()
