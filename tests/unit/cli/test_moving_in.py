"""polymnia import from other programs: every form, told by its content, once, undoable, and hostile files."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import zipfile
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

import forked
from polymnia import connect
from polymnia.engine.transfer.watching import FolderWatch
from polymnia.models import EntityDraft

from .desk import Desk


def _node(id: str, parent: str | None, children: list[str], role: str, text: str, at: float) -> dict[str, Any]:
    message = {"id": id, "author": {"role": role}, "create_time": at}
    message["content"] = {"content_type": "text", "parts": [text]}
    return {"id": id, "parent": parent, "children": children, "message": message}


CHATGPT: list[dict[str, Any]] = [
    {
        "title": "차 이야기", "create_time": 1714000000.5, "conversation_id": "c-1", "current_node": "n4",
        "mapping": {
            "n1": _node("n1", None, ["n2"], "system", "Be kind", 1714000000.0),
            "n2": _node("n2", "n1", ["n3", "n4"], "user", "녹차는 몇 도?", 1714000001.0),
            "n3": _node("n3", "n2", [], "assistant", "100도", 1714000002.0),
            "n4": _node("n4", "n2", [], "assistant", "70도입니다.", 1714000003.0),
        },
    }
]  # fmt: skip
CLAUDE = [
    {
        "uuid": "u1", "name": "Kettles", "created_at": "2024-05-01T10:00:00Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Which kettle?", "created_at": "2024-05-01T10:00:01Z",
             "attachments": [{"file_name": "list.txt", "extracted_content": "Copper, steel"}]},
            {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2024-05-01T10:00:05Z",
             "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "The copper one"}]},
        ],
    }
]  # fmt: skip
CLAUDE_MEMORY = [
    {"conversations_memory": "Prefers copper", "project_memories": {"p1": "Uses tabs"}, "account_uuid": "a"}
]
MEM0 = {"results": [{"id": "1", "memory": "Ann likes oolong", "hash": "h", "metadata": {"room": 3},
                     "created_at": "2024-05-01T10:00:00-07:00", "user_id": "ann"}]}  # fmt: skip
SERVICE = {
    "export_metadata": {"total_memories": 1},
    "memories": [{"content": "우리는 봄에 만난다", "content_hash": "abc", "tags": ["봄"], "created_at": 1714000000.0,
                  "updated_at": 1714000000.0, "memory_type": "plan", "metadata": {"k": 1}, "store": "default"}],
}  # fmt: skip
PASSAGES = [{"id": "passage-1", "text": "Ann moved to Ulm", "archive_id": "ar", "tags": ["home"], "embedding": [0.1]}]
AGENT = {
    "agents": [{"name": "sam", "agent_type": "x", "block_ids": ["block-0"], "messages": [
        {"role": "system", "content": [{"type": "text", "text": "rules"}]},
        {"role": "user", "content": [{"type": "text", "text": "Good morning"}], "created_at": "2024-05-01T10:00:00Z"},
    ]}],
    "blocks": [{"id": "block-0", "label": "human", "value": "Her name is Ann"}], "tools": [{"name": "t"}],
}  # fmt: skip
VAULT = {
    "Home.md": "See [[Tea|the tea]], [[Garden/정원]] and [[Nobody]]. ![[pic.png]] #start\n`#no [[No]]`\n",
    "Tea.md": "---\naliases: [차]\ntags: [drink]\ncreated: 2024-03-01\nrating: 5\n---\nGreen tea, [home](Home.md).\n",
    "Garden/정원.md": "정원에 [[차]] 나무를 심었다.\n",
    ".obsidian/app.md": "hidden",
}
BASIC = {
    "Coffee.md": "---\ntitle: Coffee\ntype: guide\npermalink: coffee\ntags: [hot]\n---\n# Coffee\n\n"
    '- [method] Pour over is clear #filter\n- [x] a task\n- requires [[Mill]]\n- "goes with" [[Cake]] (often)\n',
    "Mill.md": "---\ntitle: Mill\npermalink: mill\n---\n- [fact] 곱게 간다\n",
}


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _service_store(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT, tags TEXT,"
            " memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, deleted_at REAL, store TEXT)"
        )
        rows = [("a", "The first", "x,y", None), ("b", "The second", "", None), ("c", "Deleted", "", 1.0)]
        for hash, text, tags, deleted in rows:
            database.execute(
                "INSERT INTO memories (content_hash, content, tags, metadata, created_at, deleted_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (hash, text, tags, '{"k": 1}', 1714000000.25, deleted),
            )
        database.execute("CREATE TABLE memory_graph (source_hash, target_hash, similarity, relationship_type)")
        database.execute("INSERT INTO memory_graph VALUES ('a', 'b', 0.8, 'causes')")
    database.close()


def _samples(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Files of every form: how many memories and relations each has, and a text in it."""
    for name, value in (("chatgpt", CHATGPT), ("claude", CLAUDE), ("claude-memories", CLAUDE_MEMORY), ("mem0", MEM0),
                        ("service", SERVICE), ("passages", PASSAGES), ("agent", AGENT),
                        ("nested", {"data": MEM0})):  # fmt: skip
        (folder / f"{name}.bin").write_text(json.dumps(value, indent=1), encoding="utf-8")
    with zipfile.ZipFile(folder / "chat.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(CLAUDE))
        archive.writestr("memories.json", json.dumps(CLAUDE_MEMORY))
        archive.writestr("users.json", "[]")
    (folder / "own").write_text('{"content": "One", "tags": ["a"]}\n{"text": "둘"}\n', encoding="utf-8")
    _service_store(folder / "sqlite.bin")
    _write(folder / "vault", VAULT)
    _write(folder / "basic", BASIC)
    return {
        "chatgpt.bin": (2, 0, "user: 녹차는 몇 도?"), "claude.bin": (3, 0, "assistant: The copper one"),
        "claude-memories.bin": (2, 0, "Prefers copper"), "chat.zip": (5, 0, "Copper, steel"),
        "mem0.bin": (1, 0, "Ann likes oolong"), "nested.bin": (1, 0, "Ann likes oolong"),
        "service.bin": (1, 0, "우리는 봄에 만난다"), "passages.bin": (1, 0, "Ann moved to Ulm"),
        "agent.bin": (2, 0, "Her name is Ann"), "own": (2, 0, "둘"), "sqlite.bin": (2, 1, "The second"),
        "vault": (3, 5, "정원에 [[차]] 나무를 심었다."), "basic": (2, 2, "[fact] 곱게 간다"),
    }  # fmt: skip


@pytest.mark.promise("files.import.foreign", "files.import.foreign.once")
def test_every_form_is_told_by_its_content_imported_once_and_undone_by_one_undo(desk: Desk) -> None:
    for name, (memories, relations, text) in _samples(desk.folder).items():
        store = ("--store", str(desk.folder / f"{name}.db"))
        dry = desk.run("import", name, "--dry-run", "--json", *store)
        assert not (desk.folder / f"{name}.db").exists(), name
        done = desk.run("import", name, "--json", *store)
        assert (dry.code, done.code) == (0, 0), (name, dry, done)
        assert sum(counts["new"] for counts in done.value["memories"].values()) == memories, (name, done)
        assert (done.value["relations"]["new"], dry.value["memories"]) == (relations, done.value["memories"]), name
        with connect(desk.folder / f"{name}.db") as memory, memory.store.read(memory.project) as snapshot:
            assert text in [one for record in snapshot.records() for one in record.observations], name
        again = desk.run("import", name, "--json", *store).value
        assert {key for counts in again["memories"].values() for key in counts} == {"unchanged"}, (name, again)
        assert again["relations"]["new"] == 0, name
        assert desk.run("changes", "--json", *store).out.count('"import"') == 1, name
        assert desk.run("undo", *store).code == 0
        assert desk.run("list", "--json", *store).value["memories"] == [], name


_KILLED = """
import os, signal, sys
from polymnia import connect
from polymnia.engine.transfer.foreign.items import ForeignSource
from polymnia.engine.transfer.foreign.recognition import recognize

def until(number):
    for position, item in enumerate(recognize(sys.argv[1], 1 << 30).read()):
        if position == number:
            os.kill(os.getpid(), signal.SIGKILL)
        yield item

with connect(sys.argv[2]) as memory:
    memory.import_foreign(ForeignSource("lines", lambda: until(1500)))
"""


@pytest.mark.promise("files.import.foreign.once")
def test_an_import_that_is_killed_leaves_nothing_and_the_next_one_is_whole_and_one_change(desk: Desk) -> None:
    (desk.folder / "many.jsonl").write_text("".join(f'{{"content": "number {i}"}}\n' for i in range(2000)))
    (desk.folder / "kill.py").write_text(_KILLED)
    child = forked.start([sys.executable, "kill.py", "many.jsonl", "memory.db"], cwd=desk.folder, env=dict(os.environ))
    assert child.wait(60) != 0
    with connect(desk.folder / "memory.db") as memory:
        assert memory.count() == (0, 0)
    assert desk.run("import", "many.jsonl", "--json").value["memories"] == {"memory": {"new": 2000}}
    assert desk.run("undo").code == 0
    assert desk.run("list", "--json").value["memories"] == []


@pytest.mark.promise("files.import.foreign.conversations")
def test_a_conversation_becomes_the_turns_of_a_session(desk: Desk) -> None:
    _samples(desk.folder)
    told = desk.run("import", "chatgpt.bin").out
    assert "another branch" in told
    with connect(desk.folder / "memory.db") as memory, memory.store.read(memory.project) as snapshot:
        turns = list(snapshot.records())
    assert [one.observations[0] for one in turns] == ["user: 녹차는 몇 도?", "assistant: 70도입니다."]
    assert {one.session for one in turns} == {turns[0].session} != {None}
    assert [one.created for one in turns] == [1714000001000000, 1714000003000000]
    assert turns[0].metadata == {"speaker": "user", "conversation": "차 이야기"}
    assert {one.kind for one in turns} == {"turn"}


@pytest.mark.promise("files.import.foreign.notes")
def test_notes_keep_tags_folders_aliases_and_links(desk: Desk) -> None:
    _samples(desk.folder)
    desk.run("import", "vault")
    desk.run("import", "basic")
    with connect(desk.folder / "memory.db") as memory, memory.store.read(memory.project) as snapshot:
        records = {record.name: record for record in snapshot.records()}
        relations = {one.ends for one in snapshot.relations()}
        contexts = {one.context for one in snapshot.relations()}
    assert records["정원"].scope == "vault/Garden"
    assert records["Tea"].tags == ("drink",)
    assert records["Tea"].metadata["aliases"] == ["차"]
    assert records["Tea"].metadata["rating"] == 5
    assert records["Home"].tags == ("start",)
    assert ("정원", "Tea", "links_to") in relations
    assert {("Home", "Tea", "links_to"), ("Home", "정원", "links_to"), ("Home", "Nobody", "links_to")} <= relations
    assert not any(target == "No" or "pic" in target for _, target, _ in relations)
    assert records["Coffee"].kind == "guide"
    assert "[method] Pour over is clear #filter" in records["Coffee"].observations
    assert {("Coffee", "Mill", "requires"), ("Coffee", "Cake", "goes with")} <= relations
    assert "often" in contexts


@pytest.mark.promise("files.import.foreign.notes")
def test_notes_of_macos_are_found_by_their_names_as_people_type_them(desk: Desk) -> None:
    apart = normalize("NFD", "할 일/정원.md")
    assert apart != "할 일/정원.md"
    _write(desk.folder / "vault", {apart: "물 주기", "Home.md": "Go to [[할 일/정원]] and [[Café]]"})
    assert desk.run("import", "vault", "--json").value["relations"]["new"] == 2
    shown = desk.run("show", "정원", "--json").value
    assert shown["observations"] == ["물 주기"]
    with connect(desk.folder / "memory.db") as memory, memory.store.read(memory.project) as snapshot:
        assert {one.target for one in snapshot.relations()} == {"정원", "Café"}
        assert memory.get("정원")[0].scope == "vault/할 일"
    # Its zips do not say that names are UTF-8.
    with zipfile.ZipFile(desk.folder / "vault.zip", "w") as archive:
        archive.writestr(f"vault/{apart}", "물 주기")
        archive.writestr("vault/Home.md", "Go to [[정원]]")
    data = bytearray((desk.folder / "vault.zip").read_bytes())
    for start, flags in ((data.index(b"PK\3\4"), 6), (data.index(b"PK\1\2"), 8)):
        data[start + flags + 1] &= ~8
    (desk.folder / "vault.zip").write_bytes(data)
    zipped = ("--store", "zipped.db")
    assert desk.run("import", "vault.zip", "--json", *zipped).value["relations"]["new"] == 1
    assert desk.run("show", "정원", "--json", *zipped).value["observations"] == ["물 주기"]


def test_a_name_that_something_else_has_stays_with_it(desk: Desk) -> None:
    with connect(desk.folder / "memory.db") as memory:
        memory.create_entities([EntityDraft("Tea", "drink", ("An entity of mine",))])
    _write(desk.folder / "vault", VAULT)
    assert desk.run("import", "vault").code == 0
    assert "An entity of mine" in desk.run("show", "Tea").out
    assert "Green tea" in desk.run("show", "Tea (Tea.md)").out
    assert desk.run("import", "vault", "--json").value["memories"] == {"note": {"unchanged": 3}}


@pytest.mark.promise("files.import.foreign.newer")
def test_what_changed_in_the_source_is_changed_here_and_what_changed_here_is_kept(desk: Desk) -> None:
    _write(desk.folder / "vault", VAULT)
    desk.run("import", "vault")
    with connect(desk.folder / "memory.db") as memory:
        memory.amend("Home", text="Edited here")
    (desk.folder / "vault" / "Tea.md").write_text("---\naliases: [차]\n---\nBlack tea\n", encoding="utf-8")
    value = desk.run("import", "vault", "--json").value
    assert value["memories"] == {"note": {"unchanged": 1, "changed": 1, "kept": 1}}
    assert value["relations"]["removed"] == 1
    assert "Edited here" in desk.run("show", "Home").out
    assert "Black tea" in desk.run("show", "Tea").out
    assert desk.run("import", "vault", "--existing", "replace", "--json").value["memories"]["note"]["changed"] == 1


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────

ODD = ("  indented\n\n  twice", "ends with a line\n", "- looks like a list\n- of two", "---\nrule", "한글\r\n줄", "")


@pytest.mark.promise("files.export.pages")
def test_pages_of_markdown_bring_back_everything_and_an_edit_changes_that_alone(desk: Desk) -> None:
    with connect(desk.folder / "memory.db") as memory:
        with memory.store.write(memory.project, "test", "test") as tx:
            tx.add_records([EntityDraft("Ann: a/b", "person", ODD), EntityDraft("Bob", "person", ("Plays go",)),
                            EntityDraft("빈", "thing", ())])  # fmt: skip
            ends = (("Ann: a/b", "Bob", "knows"), ("Bob", "Nobody", "seeks"), ("Ghost", "Bob", "haunts"))
            tx.add_relations([(*one, {}) for one in ends])
        for text in ODD[:-1]:
            memory.remember(text, scope="work/집", tags=["t"], metadata={"n": [1, {"x": None}]}, associate=False)
    assert desk.run("export", "pages/").code == 0
    assert "holds an export" in desk.run("export", "pages/").err
    fresh = ("--store", str(desk.folder / "fresh.db"))
    assert desk.run("import", "pages", *fresh).code == 0

    def everything(store: str) -> tuple[list[Any], list[Any]]:
        with connect(desk.folder / store) as memory, memory.store.read(memory.project) as snapshot:
            records = [(one.uid, one.name, one.kind, one.observations, one.scope, one.tags, one.metadata, one.created,
                        one.updated, one.version) for one in snapshot.records()]  # fmt: skip
            return sorted(records), sorted((*one.ends, one.created) for one in snapshot.relations())

    assert everything("fresh.db") == everything("memory.db")
    assert desk.run("import", "pages", "--json").value["relations"]["new"] == 0
    page = desk.folder / "pages" / "user" / "default" / "Bob.md"
    page.write_text(page.read_text().replace("- Plays go", "- Plays go\n- Likes tea").replace("to: Nobody", "to: Ann"))
    before = everything("memory.db")
    value = desk.run("import", "pages", "--json").value
    assert value["memories"]["person"] == {"unchanged": 1, "changed": 1}
    assert value["relations"] == {"new": 1, "known": 2, "removed": 1}
    after = everything("memory.db")
    assert [one[1] for one, other in zip(before[0], after[0], strict=True) if one != other] == ["Bob"]
    assert next(one for one in after[0] if one[1] == "Bob")[3] == ("Plays go", "Likes tea")
    desk.run("undo")
    assert [one[3] for one in everything("memory.db")[0]] == [one[3] for one in before[0]]


@pytest.mark.promise("files.export.pages")
def test_a_page_that_an_editor_spoils_takes_nothing_from_its_memory(desk: Desk) -> None:
    with connect(desk.folder / "memory.db") as memory:
        drafts = (EntityDraft("Ann", "person", ("likes tea", "plays chess")), EntityDraft("Bob", "person", ("sings",)))
        memory.create_entities(drafts)
        memory.create_relations([("Ann", "Bob", "knows")])

    def graph() -> str:
        assert desk.run("export", "graph.json", "--force").code == 0
        return (desk.folder / "graph.json").read_text()

    before = graph()
    assert desk.run("export", "pages/").code == 0
    page = desk.folder / "pages" / "user" / "default" / "Ann.md"
    whole = page.read_bytes()
    edge = "its front matter does not begin and end with a line ---; its memory is left as it is"
    for spoilt, why in (
        (whole[:150], edge),
        (whole.removeprefix(b"---\n"), edge),
        (whole.replace(b"kind: person", b'kind: "person'), "its front matter cannot be read: it is not YAML"),
        (whole.replace(b"name: Ann", b"name: Anna"), "its memory is called 'Ann' here, and keeps that name"),
        (whole.replace(b"type: knows", b"typo: knows"), "'typo' is no field of an association"),
    ):
        page.write_bytes(spoilt)
        assert f"user/default/Ann.md: {why}" in desk.run("import", "pages").out
        assert graph() == before
    page.write_bytes(whole)
    copy = page.with_name("Ann (copy).md")
    copy.write_bytes(whole)
    assert "Ann.md: it has the memory_id of user/default/Ann (copy).md" in desk.run("import", "pages").out
    assert graph() == before
    copy.unlink()
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")):
        page.write_bytes(mark + whole.decode().replace("chess", encoding).replace("\n", "\r\n").encode(encoding))
        assert desk.run("import", "pages").code == 0
        assert graph() == before.replace("chess", encoding)


def test_an_export_replaces_an_earlier_one_and_nothing_else(desk: Desk) -> None:
    desk.add("Ann likes green tea")
    (desk.folder / "mine").mkdir()
    (desk.folder / "mine" / "letter.txt").write_text("keep")
    assert "no export has written" in desk.run("export", "mine/", "--force").err
    desk.run("export", "pages/")
    desk.run("undo")
    desk.add("Bob plays go")
    assert desk.run("export", "pages/", "--force", "--json").value["removed"] == 1
    assert [path.name.startswith("Bob") for path in (desk.folder / "pages").rglob("*.md")] == [True]


# ── following a folder ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("files.import.watch")
def test_a_folder_is_followed_file_by_file_and_a_removed_file_is_an_undoable_deletion(desk: Desk) -> None:
    vault = desk.folder / "vault"
    _write(vault, VAULT)
    with connect(desk.folder / "memory.db") as memory:
        watch = FolderWatch(memory, str(vault))

        def synced() -> Any:
            assert watch.sync() is None  # the file may still be written
            return watch.sync()

        assert watch.sync() is not None
        assert watch.sync() is None
        (vault / "New.md").write_text("Something new about [[Tea]]")
        done = synced()
        assert (done.kinds, done.relations) == ({"note": {"new": 1}}, 1)
        (vault / "New.md").write_text("Something newer")
        done = synced()
        assert (done.kinds, done.relations_removed) == ({"note": {"changed": 1}}, 1)
        (vault / "New.md").unlink()
        assert synced().removed == 1
        assert memory.names_alike("new") == []
        memory.undo()
        assert memory.get("New")[0].observations == ("Something newer",)
        os.rename(vault, desk.folder / "away")
        assert watch.sync() is None
        assert watch.warning
        vault.mkdir()
        assert watch.sync() is None
        assert watch.sync() is None
        assert "nothing was deleted" in (watch.warning or "")
        assert memory.get("Tea")[0].observations


@pytest.mark.promise("files.import.watch")
def test_a_note_that_is_moved_stays_the_same_memory_and_others_still_lead_to_it(desk: Desk) -> None:
    vault = desk.folder / "vault"
    _write(vault, VAULT)
    with connect(desk.folder / "memory.db") as memory:
        watch = FolderWatch(memory, str(vault))
        watch.sync()
        before = memory.get("Tea")[0]
        with memory.store.read(memory.project) as snapshot:
            relations = {one.ends for one in snapshot.relations()}
        (vault / "drinks").mkdir()
        (vault / "Tea.md").rename(vault / "drinks" / "Tea.md")
        watch.sync()
        done = watch.sync()
        assert done is not None
        assert (done.kinds["note"]["changed"], done.removed, done.moved) == (1, 0, ["Tea.md"])
        after = memory.get("Tea")[0]
        assert (after.uid, after.version, after.scope) == (before.uid, before.version + 1, "vault/drinks")
        with memory.store.read(memory.project) as snapshot:
            assert {one.ends for one in snapshot.relations()} == relations
    # The same while nobody watches; what is gone for good is told and kept.
    (vault / "old").mkdir()
    (vault / "drinks" / "Tea.md").rename(vault / "old" / "Tea.md")
    (vault / "Home.md").unlink()
    value = desk.run("import", "vault", "--json").value
    assert (value["moved"], value["gone"]) == (["drinks/Tea.md"], ["Home.md"])
    assert value["memories"] == {"note": {"changed": 1, "unchanged": 1}}
    # Another note of that name where the first one was is another memory.
    (vault / "Tea.md").write_text("A shop called Tea")
    assert desk.run("import", "vault", "--json").value["memories"] == {"note": {"unchanged": 2, "new": 1}}
    assert desk.run("import", "vault", "--json").value["memories"] == {"note": {"unchanged": 3}}
    assert "shop" not in desk.run("show", "Tea").out


@pytest.mark.promise("files.import.watch")
def test_links_follow_notes_that_come_and_go_while_a_folder_is_followed(desk: Desk) -> None:
    vault = desk.folder / "vault"
    _write(vault, {"Index.md": "See [[teas/Green]] and [[차]]"})
    with connect(desk.folder / "memory.db") as memory:
        watch = FolderWatch(memory, str(vault))
        watch.sync()

        def links() -> set[str]:
            watch.sync()
            watch.sync()
            with memory.store.read(memory.project) as snapshot:
                return {one.target for one in snapshot.relations()}

        assert links() == {"teas/Green", "차"}
        _write(vault, {"teas/Green.md": "---\naliases: [차]\n---\nSencha"})
        assert links() == {"Green"}
        (vault / "teas" / "Green.md").unlink()
        assert links() == {"teas/Green", "차"}


def test_a_subfolder_that_cannot_be_read_deletes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = desk.folder / "vault"
    _write(vault, VAULT)
    listing = os.scandir

    def refused(path: Any) -> Any:
        if str(path).endswith("Garden"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    with connect(desk.folder / "memory.db") as memory:
        watch = FolderWatch(memory, str(vault))
        watch.sync()
        monkeypatch.setattr("os.scandir", refused)
        assert (watch.sync(), watch.sync()) == (None, None)
        assert "Garden cannot be read" in (watch.warning or "")
        assert memory.get("정원")[0].observations


def test_ctrl_c_ends_a_watch_cleanly(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(desk.folder / "vault", VAULT)

    def interrupt(_: float) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("time.sleep", interrupt)
    # A shell that runs this in the background has it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        told = desk.run("import", "vault", "--watch")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (told.code, told.lines[-1]) == (0, "No longer following vault.")
    assert "note: 3 new" in told.out
    assert desk.run("import", "chat.json", "--watch").code == 1


# ── hostile and broken files ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("files.import.foreign.hostile")
def test_hostile_and_broken_files_are_refused_and_nothing_is_imported(desk: Desk) -> None:
    def zipped(name: str, entry: str, data: bytes, mode: int = 0) -> None:
        with zipfile.ZipFile(desk.folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            info = zipfile.ZipInfo(entry)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = mode << 16
            archive.writestr(info, data)

    zipped("bomb.zip", "conversations.json", b"[" + b" " * 3_000_000 + json.dumps(CLAUDE[0]).encode() + b"]")
    zipped("climb.zip", "../conversations.json", json.dumps(CLAUDE).encode())
    zipped("link.zip", "conversations.json", b"/etc/passwd", 0o120777)
    (desk.folder / "cut.json").write_text(json.dumps(CLAUDE, indent=1)[:-20])
    (desk.folder / "fake.db").write_bytes(b"SQLite format 3\0" + b"\1" * 5000)
    with sqlite3.connect(desk.folder / "view.db") as database:
        database.execute("CREATE VIEW memories AS SELECT 'x' AS content_hash, 'y' AS content")
    database.close()
    (desk.folder / "empty").mkdir()
    cases = [("bomb.zip", "larger than"), ("climb.zip", "leads out of it"), ("link.zip", "link"), ("cut.json", "line"),
             ("fake.db", "SQLite database"), ("view.db", "SQLite database"), ("empty", "ChatGPT")]  # fmt: skip
    for name, what in cases:
        told = desk.run("import", name, "--max-import-bytes", "2000000")
        assert (told.code, told.out) == (1, ""), (name, told)
        assert what in told.err, (name, told)
    with connect(desk.folder / "memory.db") as memory:
        assert memory.count() == (0, 0)


@pytest.mark.promise("files.import.foreign.hostile")
def test_a_store_that_is_in_use_is_not_called_damaged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    _service_store(desk.folder / "sqlite.bin")

    def refused(*_: Any, **__: Any) -> None:
        fault = sqlite3.OperationalError("unable to open database file")
        fault.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise fault

    monkeypatch.setattr("sqlite3.connect", refused)
    told = desk.run("import", "sqlite.bin")
    assert told.code == 1
    assert "damaged" not in told.err
    assert "import the copy" in told.err


def test_notes_that_cannot_be_read_are_named_and_links_out_of_the_folder_are_not_followed(desk: Desk) -> None:
    vault = desk.folder / "vault"
    _write(vault, {"Good.md": "fine", "Bomb.md": "---\na: &x [1, 1]\nb: [*x, *x]\n---\nstill a text\n"})
    (vault / "wrong.md").write_bytes("한글".encode("cp949"))
    (vault / "wide.md").write_bytes("\ufeff두 바이트".encode("utf-16-le"))
    (desk.folder / "secret.md").write_text("not yours")
    (vault / "out.md").symlink_to(desk.folder / "secret.md")
    value = desk.run("import", "vault", "--json").value
    assert value["memories"] == {"note": {"new": 3}}
    assert any("wrong.md" in reason for reason in value["dropped"])
    assert "두 바이트" in desk.run("show", "wide").out
    assert "still a text" in desk.run("show", "Bomb").out
    assert "not yours" not in desk.run("list").out


def test_credentials_are_screened_as_in_every_write(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "AKIA" + "IOSFODNN7" + "QWERTYU"
    (desk.folder / "k.jsonl").write_text(json.dumps({"content": f"The key is {key}"}) + "\n")
    monkeypatch.setenv("POLYMNIA_SECRETS", "redact")
    assert desk.run("import", "k.jsonl").code == 0
    assert key not in desk.run("list").out
