"""The export folder: files appear whole or not at all, and no name leads out of it."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from polymnia.engine.transfer import folder as folder_module
from polymnia.engine.transfer.folder import Folder
from polymnia.errors import Fault, Forbidden, Invalid, NoSpace, NotFound

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions of POSIX")


@pytest.fixture(params=["anchored", "by path"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    if request.param == "by path":
        # As on systems that cannot open a file relative to a folder.
        monkeypatch.setattr(folder_module, "_ANCHORED", False)
    elif not folder_module._ANCHORED:
        pytest.skip("this system opens files by path only")
    return Folder(str(tmp_path / "exports"))


def put(folder: Folder, name: str, data: bytes = b"data") -> None:
    with folder.create(name) as file:
        file.write(data)


def get(folder: Folder, name: str) -> bytes:
    with folder.open(name) as file:
        return file.read()


def everything(path: Path) -> list[str]:
    return sorted(str(each.relative_to(path)) for each in path.rglob("*"))


def test_what_is_created_can_be_opened_and_listed(folder: Folder) -> None:
    put(folder, "b.json", b"12345")
    put(folder, "work/2025/a.yaml.gz")
    put(folder, "백업 1.json")
    with folder.open("b.json") as file:
        assert file.read() == b"12345"
        assert file.seek(0) == 0
    assert [(each.name, each.bytes) for each in folder.files()] == [
        ("b.json", 5),
        ("work/2025/a.yaml.gz", 4),
        ("백업 1.json", 4),
    ]


def test_a_folder_that_is_not_there_yet_is_empty(folder: Folder) -> None:
    assert folder.files() == []
    with pytest.raises(NotFound, match=r"a\.json"):
        folder.open("a.json")
    with pytest.raises(NotFound):
        folder.open("no/a.json")
    assert not os.path.exists(folder.path)


def test_a_file_has_its_name_only_when_it_is_whole(folder: Folder) -> None:
    with folder.create("a.json") as file:
        file.write(b"half")
        file.flush()
        assert folder.files() == []
        file.write(b" and half")
    assert get(folder, "a.json") == b"half and half"


def test_a_file_is_replaced_whole_or_not_at_all(folder: Folder) -> None:
    put(folder, "a.json", b"old")
    with folder.open("a.json") as before:
        with pytest.raises(ZeroDivisionError), folder.create("a.json") as file:
            file.write(b"new")
            raise ZeroDivisionError
        assert get(folder, "a.json") == b"old"
        if os.name == "posix":  # elsewhere an open file cannot be replaced
            put(folder, "a.json", b"new")
            assert get(folder, "a.json") == b"new"
            assert before.read() == b"old"
    assert everything(Path(folder.path)) == ["a.json"]


def test_a_failure_leaves_nothing_behind(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), folder.create("x/y/z.json") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert everything(tmp_path) == []


def test_a_failure_leaves_folders_others_use(folder: Folder) -> None:
    with pytest.raises(ZeroDivisionError), folder.create("x/y/z.json"):
        put(folder, "x/other.json")
        raise ZeroDivisionError
    assert [each.name for each in folder.files()] == ["x/other.json"]


def test_what_a_killed_process_left_is_cleared_away_after_a_day(folder: Folder) -> None:
    put(folder, "a.json")
    for name, age in (("old", 2 * 86_400), ("new", 60)):
        left = Path(folder.path) / f".polymnia-draft-{name}"
        left.write_bytes(b"half")
        os.utime(left, (left.stat().st_mtime - age,) * 2)
    put(folder, "b.json")
    assert everything(Path(folder.path)) == [".polymnia-draft-new", "a.json", "b.json"]
    assert [each.name for each in folder.files()] == ["a.json", "b.json"]


@pytest.mark.parametrize(("code", "fault"), [(errno.ENOSPC, NoSpace), (errno.EIO, Forbidden)])
def test_a_disk_that_fails_is_told_and_leaves_nothing_behind(
    folder: Folder, tmp_path: Path, code: int, fault: type[Fault], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(fault, match=r"a\.json"), folder.create("a.json") as file:
        file.write(b"data")
    assert everything(tmp_path) in ([], ["exports"])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "names no file"),
        ("a/", "names no file"),
        (".", "empty"),
        ("a//b", "empty"),
        ("/etc/passwd", "absolute"),
        ("~/a", "absolute"),
        ("..", r"\.\."),
        ("../a", r"\.\."),
        ("a/../../b", r"\.\."),
        ("a/..", r"\.\."),
        ("..\\a", "backslash"),
        ("a\\b", "backslash"),
        ("\\\\server\\share", "backslash"),
        ("C:a", "drive"),
        ("c:/a", "drive"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\ud800", "surrogate"),
        ("x" * 300, "too long"),
        (".polymnia-draft-1", "unfinished"),
    ],
)
def test_a_name_that_is_no_plain_path_inside_is_refused(folder: Folder, tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(Invalid, match=why) as refused, folder.create(name):
        pass
    assert folder.path in refused.value.message
    with pytest.raises(Fault):
        folder.open(name)
    assert [each for each in everything(tmp_path) if each != "exports"] == []


@posix
def test_links_are_not_followed(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    put(folder, "inside/a.json")
    inside = Path(folder.path)
    (inside / "file").symlink_to(outside / "secret")
    (inside / "dangling").symlink_to(outside / "new")
    (inside / "below").symlink_to(outside)
    (inside / "inside" / "up").symlink_to("../..")
    (inside / "near").symlink_to("inside")
    for name in ("file", "dangling", "below/secret", "below/new", "inside/up/outside/secret", "near/a.json"):
        with pytest.raises(Invalid, match="is a link"):
            folder.open(name)
        with pytest.raises(Invalid, match="is a link"):
            put(folder, name)
    with pytest.raises(Invalid, match="is a link"):
        put(folder, "below/x/y")
    assert everything(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"
    assert [each.name for each in folder.files()] == ["inside/a.json"]


@posix
def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    folder = Folder(str(tmp_path / "link"))
    put(folder, "a/b.json")
    assert (tmp_path / "real" / "a" / "b.json").read_bytes() == b"data"
    assert get(folder, "a/b.json") == b"data"


@posix
@pytest.mark.skipif(not folder_module._ANCHORED, reason="this system opens files by path only")
def test_a_folder_swapped_for_a_link_in_mid_export_leads_nowhere(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "exports"))
    put(folder, "work/old.json")
    (tmp_path / "outside").mkdir()
    with folder.create("work/a.json") as file:
        os.rename(tmp_path / "exports" / "work", tmp_path / "exports" / "moved")
        (tmp_path / "exports" / "work").symlink_to(tmp_path / "outside")
        file.write(b"data")
    assert everything(tmp_path / "outside") == []
    assert everything(tmp_path / "exports" / "moved") == ["a.json", "old.json"]


@posix
def test_special_files_are_refused_and_never_waited_for(folder: Folder, tmp_path: Path) -> None:
    put(folder, "a.json")
    inside = Path(folder.path)
    os.mkfifo(inside / "pipe")
    (inside / "below").mkdir()
    here = os.getcwd()
    os.chdir(inside)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket")
    finally:
        os.chdir(here)
    for name, why in (("pipe", "no ordinary file"), ("socket", "no ordinary file"), ("below", "is a folder")):
        with pytest.raises(Invalid, match=why):
            folder.open(name)
        with pytest.raises(Invalid, match=why):
            put(folder, name)
    with pytest.raises(Invalid, match="is no folder"):
        put(folder, "a.json/b")
    with pytest.raises(Fault):
        folder.open("a.json/b")
    assert [each.name for each in folder.files()] == ["a.json"]


@posix
def test_only_their_owner_may_read_what_is_exported(folder: Folder) -> None:
    put(folder, "work/a.json")
    inside = Path(folder.path)
    assert stat.S_IMODE((inside / "work" / "a.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((inside / "work").stat().st_mode) == 0o700
    assert stat.S_IMODE(inside.stat().st_mode) == 0o700


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_told(folder: Folder) -> None:
    put(folder, "a.json")
    os.chmod(folder.path, 0o500)
    try:
        with pytest.raises(Forbidden, match=r"b\.json"):
            put(folder, "b.json")
    finally:
        os.chmod(folder.path, 0o700)


@posix
def test_no_descriptor_stays_open(folder: Folder) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("descriptors are not listed here")
    put(folder, "x/a.json")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("x/a.json", "x/new.json", "../a", "no/a", "x/a.json/b"):
        for _ in range(3):
            try:
                put(folder, name)
                folder.open(name).close()
            except Fault:
                pass
    assert len(os.listdir("/proc/self/fd")) == before
