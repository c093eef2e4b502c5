"""The file of keys."""

from __future__ import annotations

import hmac
import json
import os
import stat
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from polymnia import keys as module
from polymnia.errors import Invalid, NotFound, Unavailable
from polymnia.keys import Key, KeyFile


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    """A file of keys that is not there yet."""
    return KeyFile(str(tmp_path / "deep" / "keys.json"))


def kept(file: KeyFile) -> list[Key]:
    """What the file has now."""
    return KeyFile(file.path).keys()


def test_a_key_is_found_by_its_text_alone(file: KeyFile) -> None:
    key, text = file.add("laptop", projects=("work",), write=False)
    assert file.find(text) == key
    for wrong in (text[:-1], text + "A", text.upper(), key.id, key.digest, f"pk_{key.id}_", "", "\ud800", "é" * 60):
        assert file.find(wrong) is None


def test_nothing_of_a_key_is_kept_but_its_digest(file: KeyFile) -> None:
    _, text = file.add("laptop")
    kept = Path(file.path).read_text()
    assert text not in kept
    assert text.split("_", 2)[2] not in kept


def test_no_two_keys_are_alike(file: KeyFile) -> None:
    texts = {file.add(f"k{at}")[1] for at in range(20)}
    assert len(texts) == 20
    assert [key.name for key in kept(file)] == [f"k{at}" for at in range(20)]


def test_the_file_is_for_its_owner_alone(file: KeyFile) -> None:
    file.add("laptop")
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(file.path)).st_mode) == 0o700


def test_a_revoked_key_opens_nothing_and_the_others_do(file: KeyFile) -> None:
    first, text = file.add("first")
    _, other = file.add("other")
    assert file.revoke(first.id) == first
    assert file.find(text) is None
    assert file.find(other) is not None
    with pytest.raises(NotFound):
        file.revoke(first.id)


def test_another_process_sees_changes_at_once(file: KeyFile) -> None:
    reader = KeyFile(file.path)
    assert reader.keys() == []
    key, text = file.add("first")
    assert reader.find(text) == key
    file.revoke(key.id)
    assert reader.find(text) is None


def test_a_name_is_needed(file: KeyFile) -> None:
    with pytest.raises(Invalid):
        file.add("  ")
    assert not os.path.exists(file.path)


def test_digests_are_compared_in_constant_time_whether_there_is_such_a_key_or_not(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, text = file.add("first")
    compared: list[tuple[int, int]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(module, "hmac", SimpleNamespace(compare_digest=compare))
    for given in (text, text[:-1] + "_", "pk_ffffffffffff_" + "A" * 43, "nonsense"):
        file.find(given)
    assert compared == [(64, 64)] * 4


def test_keys_made_and_revoked_at_once_are_all_kept(file: KeyFile) -> None:
    doomed = [file.add(f"doomed {at}")[0] for at in range(10)]
    begin = threading.Barrier(20)

    def add(at: int) -> None:
        begin.wait()
        KeyFile(file.path).add(f"new {at}")

    def revoke(at: int) -> None:
        begin.wait()
        KeyFile(file.path).revoke(doomed[at].id)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(10) for work in (add, revoke)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key.name for key in kept(file)} == {f"new {at}" for at in range(10)}


@pytest.mark.parametrize("change", ["missing", "unknown", "version", "cut"])
def test_a_file_that_is_not_whole_opens_nothing(file: KeyFile, change: str) -> None:
    _, text = file.add("first", projects=("work",))
    told = json.loads(Path(file.path).read_text())
    if change == "missing":
        del told["keys"][0]["projects"]
    elif change == "unknown":
        told["keys"][0]["project"] = told["keys"][0].pop("projects")
    elif change == "version":
        told["version"] = 2
    whole = json.dumps(told)
    Path(file.path).write_text(whole[:-3] if change == "cut" else whole)
    for one in (file, KeyFile(file.path)):
        with pytest.raises(Unavailable):
            one.find(text)
        with pytest.raises(Unavailable):
            one.add("second")


def test_a_file_that_others_may_write_opens_nothing(file: KeyFile) -> None:
    _, text = file.add("first")
    os.chmod(file.path, 0o620)
    with pytest.raises(Unavailable, match="can be written by others"):
        file.find(text)
    os.chmod(file.path, 0o640)
    assert file.find(text) is not None


def test_nothing_is_left_behind_when_the_file_cannot_be_written(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = file.add("first")

    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module.os, "replace", fail)
    with pytest.raises(Unavailable, match="cannot be written: Permission denied"):
        file.add("second")
    monkeypatch.undo()
    assert [key.name for key in kept(file)] == ["first"]
    assert file.find(text) is not None
    assert not [name for name in os.listdir(os.path.dirname(file.path)) if name.startswith(".keys-")]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0b", "\x1b[2J", "\ud800", "a\u2028b"])
def test_names_are_one_line(file: KeyFile, name: str) -> None:
    with pytest.raises(Invalid, match="one line"):
        file.add(name)
    with pytest.raises(Invalid, match="name of a project"):
        file.add("laptop", projects=("work", name))
    assert kept(file) == []


def test_a_file_is_used_from_its_first_key_on(file: KeyFile) -> None:
    watched = KeyFile(file.path)
    assert not watched.used
    key, _ = file.add("first")
    assert watched.used
    file.revoke(key.id)
    assert watched.used
    os.unlink(file.path)
    assert watched.used
    assert not KeyFile(file.path).used


def test_a_place_that_cannot_be_looked_into_is_told(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a file, and no folder")
    with pytest.raises(Unavailable, match="cannot be read: Not a directory"):
        KeyFile(str(tmp_path / "plain" / "keys.json")).keys()


def test_a_place_that_takes_no_file_is_told_and_the_keys_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").write_text("a file, and no folder")
    with pytest.raises(Unavailable, match="cannot be written: File exists"):
        KeyFile(str(tmp_path / "plain" / "keys.json")).add("laptop")
    file = KeyFile(str(tmp_path / "keys.json"))
    key, _ = file.add("laptop")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="cannot be written: No space left"):
        file.add("phone")
    with pytest.raises(Unavailable, match="cannot be written: No space left"):
        file.revoke(key.id)
    assert kept(file) == [key]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys.json", "keys.json.lock", "plain"]
