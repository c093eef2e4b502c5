"""What files of other programs hold, field by field: each is imported, or counted with the reason."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polymnia.engine.transfer.foreign import json_files

from .desk import Desk


def _archive(desk: Desk) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Every memory by its name or text, and every relation with the names of its ends."""
    told = desk.run("export", "-", "--archive").value
    called = {one["memory_id"]: one.get("name") or _text(one) for one in told["memories"]}
    relations = [
        one | {end: called.get(one.get(end, ""), one.get(f"{end}_name")) for end in ("source", "target")}
        for one in told["associations"]
    ]
    return {called[one["memory_id"]]: one for one in told["memories"]}, relations


def _text(one: dict[str, Any]) -> str:
    return str(one["content"]) if "content" in one else "\n".join(one["observations"])


def _triples(relations: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(one["source"], one["type"], one["target"]) for one in relations}


def _vault(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


# ── mcp-memory-service ────────────────────────────────────────────────────────────────────────────────────


def _service_store(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE, content TEXT, tags TEXT,
                memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, deleted_at REAL, store TEXT,
                parent_id TEXT, version INTEGER, confidence REAL, superseded_by TEXT);
            CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, similarity REAL, connection_types TEXT,
                metadata TEXT, created_at REAL, relationship_type TEXT);
            CREATE TABLE beliefs (id INTEGER PRIMARY KEY, belief_hash TEXT, content TEXT, confidence REAL, status TEXT,
                created_at TEXT, updated_at TEXT, derived_from TEXT, contradicted_by TEXT, metadata TEXT);
            INSERT INTO memories VALUES
                (1, 'a', 'Ann likes tea', 'tea,people', 'observation', '{"n": [1]}', 1700000000.25, 1700000001.5, NULL,
                 'default', NULL, 1, 1.0, NULL),
                (2, 'b', 'Water at 80', '', NULL, '{"superseded_by": "c"}', 1, 1, NULL, 'default', NULL, 1, 1.0, 'c'),
                (3, 'c', 'Water at 70', '', NULL, '{}', 2, 2, NULL, 'work', 'b', 2, 0.4, NULL),
                (4, 'd', 'Odd', '', NULL, '{broken', 2, 2, NULL, 'default', NULL, 1, 1.0, NULL);
            INSERT INTO memory_graph VALUES
                ('a', 'c', 0.8, '["causal"]', '{"context": "because", "by": "night run"}', 5, 'causes'),
                ('a', 'Ann', 1.0, '["entity"]', '{"entity_type": "person"}', 5, 'has_entity');
            INSERT INTO beliefs VALUES (1, 'x', 'Tea is drunk cooler than one thinks', 0.7, 'active',
                '2024-05-01T10:00:00+00:00', '2024-05-02T10:00:00+00:00', '["c"]', '["b"]', '{}');
            """
        )
    database.close()


def test_a_store_of_mcp_memory_service_keeps_links_names_beliefs_and_what_replaced_what(desk: Desk) -> None:
    _service_store(desk.folder / "sqlite_vec.db")
    told = desk.run("import", "sqlite_vec.db", "--json").value
    assert told["dropped"] == {"metadata that are no JSON; their memories are taken": 1}
    memories, relations = _archive(desk)
    tea = memories["Ann likes tea"]
    assert (tea["tags"], tea["metadata"], tea["created_at"]) == (
        ["tea", "people"], {"n": [1]}, "2023-11-14T22:13:20.250000Z",
    )  # fmt: skip
    newer = memories["Water at 70"]
    assert memories["Water at 80"]["metadata"] == {"superseded_by": newer["memory_id"]}
    assert (newer["scope"], newer["metadata"]) == ("work", {"confidence": 0.4})
    belief = memories["Tea is drunk cooler than one thinks"]
    assert (belief["kind"], belief["metadata"]) == ("belief", {"status": "active", "confidence": 0.7})
    assert _triples(relations) == {
        ("Ann likes tea", "causes", "Water at 70"), ("Ann likes tea", "has_entity", "Ann"),
        (belief["content"], "derived_from", "Water at 70"), (belief["content"], "contradicted_by", "Water at 80"),
    }  # fmt: skip
    causes = next(one for one in relations if one["type"] == "causes")
    assert (causes["context"], causes["metadata"], causes["strength"]) == (
        "because", {"by": "night run", "connection_types": ["causal"]}, 0.8,
    )  # fmt: skip


def test_its_store_and_its_export_are_the_same_memories(desk: Desk) -> None:
    _service_store(desk.folder / "sqlite_vec.db")
    exported = {"content": "Water at 80", "content_hash": "b", "tags": [], "metadata": {"superseded_by": "c"}}
    times = {"created_at": 1.0, "updated_at": 1.0, "memory_type": None, "store": "default"}
    (desk.folder / "export.json").write_text(json.dumps({"export_metadata": {}, "memories": [exported | times]}))
    desk.run("import", "sqlite_vec.db")
    again = desk.run("import", "export.json", "--json").value
    assert (again["memories"], again["dropped"]) == ({"memory": {"unchanged": 1}}, {})


def test_a_folder_of_its_files_is_its_store_without_the_backups_beside_it_and_its_exports(desk: Desk) -> None:
    folder = desk.folder / "mcp-memory"
    (folder / "backups").mkdir(parents=True)
    _service_store(folder / "sqlite_vec.db")
    _service_store(folder / "backups" / "sqlite_vec_old.db")
    with sqlite3.connect(folder / "sqlite_vec.db") as database:
        database.execute("DELETE FROM memories WHERE content_hash = 'd'")
    database.close()
    (folder / "notes.jsonl").write_text('{"content": "Kettle is red"}\n{"content": "Cup is blue"}\n')
    (folder / "graph.jsonl").write_text(
        '{"type": "entity", "name": "Ann", "entityType": "person", "observations": []}\n'
    )
    told = desk.run("import", "mcp-memory", "--json").value
    assert told["dropped"] == {"graph.jsonl: it is no known export": 1, "files in it that are no known export": 1}
    memories, _ = _archive(desk)
    assert {"Ann likes tea", "Kettle is red", "Cup is blue"} <= memories.keys()
    assert "Odd" not in memories


def test_a_store_that_breaks_off_is_called_damaged(desk: Desk) -> None:
    _service_store(desk.folder / "whole.db")
    (desk.folder / "cut.db").write_bytes((desk.folder / "whole.db").read_bytes()[:6000])
    told = desk.run("import", "cut.db")
    assert (told.code, told.out, "damaged" in told.err) == (1, "", True)


# ── mem0 and Letta ────────────────────────────────────────────────────────────────────────────────────────


def test_mem0_keeps_relations_and_users_whose_name_no_scope_can_hold_and_counts_the_rest(desk: Desk) -> None:
    memory = {"id": "1", "memory": "Likes oolong", "hash": "h", "user_id": "ann/b", "role": "user"}
    graph = [{"source": "ann", "relationship": "likes", "target": "oolong"}]
    (desk.folder / "mem0.json").write_text(
        json.dumps({"results": [memory, memory], "relations": graph, "entities": [1], "count": 2})
    )
    told = desk.run("import", "mem0.json", "--json").value
    assert told["dropped"] == {
        "memories that the source has twice": 1, "'entities', which is no part of a mem0 export": 1,
    }  # fmt: skip
    memories, relations = _archive(desk)
    assert memories["Likes oolong"]["metadata"] == {"user_id": "ann/b", "role": "user"}
    assert _triples(relations) == {("ann", "likes", "oolong")}


def test_what_a_letta_agent_said_is_told_from_what_it_thought_and_what_the_program_wrote(desk: Desk) -> None:
    def message(role: str, text: str, **more: Any) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}], **more}

    def call(tool: str, **arguments: str) -> dict[str, Any]:
        return {"tool_calls": [{"type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}]}

    messages = [
        message("user", json.dumps({"type": "login", "last_login": "never", "time": "x"})),
        message("user", json.dumps({"type": "user_message", "message": "I am Ann", "time": "x"})),
        message("assistant", "Her name matters", **call("core_memory_append", label="human", content="Ann")),
        message("assistant", "Greet her", **call("send_message", message="Hello Ann")),
        message("user", '{"a": "question in JSON"}'),
    ]
    agent = {"name": "sam", "agent_type": "memgpt_v2_agent", "block_ids": [], "messages": messages}
    (desk.folder / "sam.af").write_text(json.dumps({"agents": [agent], "blocks": []}))
    told = desk.run("import", "sam.af", "--json").value
    assert told["dropped"] == {"events of the program (login)": 1, "thoughts of the agent": 2}
    assert set(_archive(desk)[0]) == {"user: I am Ann", "assistant: Hello Ann", 'user: {"a": "question in JSON"}'}


# ── conversations ─────────────────────────────────────────────────────────────────────────────────────────


def _node(id: str, parent: str | None, child: str | None, role: str = "", **more: Any) -> dict[str, Any]:
    node = {"id": id, "parent": parent, "children": [child] if child else [], "message": None}
    if role:
        content = more.pop("content", {"content_type": "text", "parts": [more.pop("text", "")]})
        node["message"] = {"author": {"role": role}, "create_time": 1714000000.0, "content": content, **more}
    return node


def test_chatgpt_keeps_its_own_memory_and_names_of_files_and_counts_tools_and_hidden_messages(desk: Desk) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    nodes = [
        _node("root", None, "hidden"),
        _node("hidden", "root", "ask", "user", text="Be kind",
              metadata={"is_visually_hidden_from_conversation": True}),
        _node("ask", "hidden", "code", "user", content={"content_type": "multimodal_text", "parts": [picture, "This?"]},
              metadata={"attachments": [{"name": "tea.png"}]}),
        _node("code", "ask", "bio", "assistant", recipient="python",
              content={"content_type": "code", "language": "python", "text": "print(1)"}),
        _node("bio", "code", "say", "assistant", recipient="bio", text="Likes green tea"),
        _node("say", "bio", None, "assistant", text="Tea", recipient="all"),
    ]  # fmt: skip
    chat = [{"title": "Tea", "conversation_id": "c", "current_node": "say", "mapping": {n["id"]: n for n in nodes}}]
    (desk.folder / "conversations.json").write_text(json.dumps(chat))
    told = desk.run("import", "conversations.json", "--json").value
    assert told["dropped"] == {
        "messages that were hidden in the conversation": 1, "calls of tools (python)": 1,
        "files that came with messages: the export names them alone": 1,
    }  # fmt: skip
    memories, _ = _archive(desk)
    assert set(memories) == {"user: This?", "Likes green tea", "assistant: Tea"}
    assert memories["user: This?"]["metadata"]["files"] == ["tea.png"]
    assert memories["Likes green tea"]["metadata"] == {"source": "ChatGPT's memory", "conversation": "Tea"}


def test_claude_keeps_summaries_and_names_of_files_and_counts_what_is_no_text(desk: Desk) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Copper"}, {"type": "tool_use"}]
    said = {"uuid": "m", "sender": "assistant", "text": "Copper", "content": blocks, "files": [{"file_name": "a.jpg"}]}
    chat = {"uuid": "u", "name": "Kettles", "summary": "About kettles", "chat_messages": [said]}
    (desk.folder / "conversations.json").write_text(json.dumps([chat]))
    told = desk.run("import", "conversations.json", "--json").value
    assert sum(told["dropped"].values()) == 3
    memories, _ = _archive(desk)
    assert memories["assistant: Copper"]["metadata"]["files"] == ["a.jpg"]
    assert memories["About kettles"]["kind"] == "summary"
    assert memories["About kettles"]["scope"] == memories["assistant: Copper"]["scope"]


@pytest.mark.promise("files.import.foreign.hostile")
def test_a_damaged_file_in_a_zip_is_not_taken_for_one_without_memories(desk: Desk) -> None:
    chat = [{"uuid": "u", "name": "x", "chat_messages": [{"uuid": "m", "sender": "human", "text": "needle" * 30}]}]
    with zipfile.ZipFile(desk.folder / "data.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(chat))
        archive.writestr("memories.json", json.dumps([{"conversations_memory": "Whole", "account_uuid": "a"}]))
    whole = (desk.folder / "data.zip").read_bytes()
    (desk.folder / "data.zip").write_bytes(whole.replace(b"needle", b"noodle", 1))
    told = desk.run("import", "data.zip")
    assert (told.code, told.out) == (1, "")
    assert "'conversations.json' in it is damaged" in told.err


@pytest.mark.promise("files.import.foreign.hostile")
def test_damage_that_leaves_no_sign_of_an_export_is_told_by_its_checksum(desk: Desk) -> None:
    with zipfile.ZipFile(desk.folder / "data.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([{"uuid": "u", "name": "x", "chat_messages": []}]))
        archive.writestr("memories.json", json.dumps([{"conversations_memory": "Whole", "account_uuid": "a"}]))
    whole = (desk.folder / "data.zip").read_bytes()
    (desk.folder / "data.zip").write_bytes(whole.replace(b'[{"uuid"', b"\0" * 8, 1))
    told = desk.run("import", "data.zip")
    assert (told.code, told.out) == (1, "")
    assert "'conversations.json' in it is damaged" in told.err


@pytest.mark.promise("files.import.foreign.hostile")
@pytest.mark.parametrize("packed", [False, True])
def test_of_several_files_the_one_that_breaks_off_is_named(desk: Desk, packed: bool) -> None:
    whole = json.dumps({"results": [{"id": str(n), "memory": f"Fact {n}", "user_id": "ann"} for n in range(3)]})
    files = {"one.json": whole, "two.json": whole[:-30]}
    if packed:
        with zipfile.ZipFile(desk.folder / "data", "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        _vault(desk.folder / "data", files)
    told = desk.run("import", "data")
    assert (told.code, told.out) == (1, "")
    assert "cannot be read: 'two.json' in it: results[2]" in told.err


# ── notes ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.promise("files.import.foreign.notes")
def test_notes_of_the_same_name_in_several_folders_are_all_kept_and_links_lead_to_the_right_one(desk: Desk) -> None:
    _vault(desk.folder / "vault", {"Tea.md": "at the top", "Attic/Tea.md": "in the attic", "Home.md": "[[Tea]]"})
    desk.run("import", "vault")
    memories, relations = _archive(desk)
    assert {name: one["content"] for name, one in memories.items()} == {
        "Tea": "at the top", "Attic/Tea": "in the attic", "Home": "[[Tea]]",
    }  # fmt: skip
    assert _triples(relations) == {("Home", "links_to", "Tea")}


@pytest.mark.promise("files.import.foreign.notes")
def test_links_in_tables_in_angle_brackets_and_in_fields_are_relations_and_addresses_are_not(desk: Desk) -> None:
    home = (
        '---\naliases: ["#1 page"]\nup: "[[Index]]"\nsee: [[Tea]]\n---\n'
        "| [[Tea\\|green]] | [[Tea|black]] |\n[a](<My notes/Deep one.md#part>) [b](My%20notes/Deep%20one.md)\n"
        "[c](https://example.org/readme.md) [[#Local]]\n"
    )
    _vault(desk.folder / "vault", {"Home.md": home, "Tea.md": "x", "My notes/Deep one.md": "y"})
    desk.run("import", "vault")
    memories, relations = _archive(desk)
    assert memories["Home"]["metadata"]["aliases"] == ["#1 page"]
    assert sorted((one["type"], one["target"]) for one in relations) == [
        ("links_to", "Deep one"), ("links_to", "Tea"), ("see", "Tea"), ("up", "Index"),
    ]  # fmt: skip


def test_what_a_vault_has_besides_pages_is_counted_and_a_rule_at_the_top_is_no_front_matter(desk: Desk) -> None:
    vault = desk.folder / "vault"
    _vault(vault, {"Rule.md": "---\n\nOnce upon\n\n---\na time", "Board.canvas": "{}", "a/pic.png": "x", "b.PNG": "x",
                   ".obsidian/app.json": "{}", ".trash/Gone.md": "gone"})  # fmt: skip
    if sys.platform != "win32":
        os.symlink(desk.folder, vault / "elsewhere")
    told = desk.run("import", "vault", "--json").value
    counted = {"files that are no pages of Markdown (.canvas)": 1, "files that are no pages of Markdown (.png)": 2}
    if sys.platform != "win32":
        counted["elsewhere: it is a link, and links are not followed"] = 1
    assert told["dropped"] == counted
    assert _archive(desk)[0]["Rule"]["content"] == "---\n\nOnce upon\n\n---\na time"


def test_a_zip_of_a_vault_is_read_as_the_folder_in_it_without_what_is_hidden(desk: Desk) -> None:
    with zipfile.ZipFile(desk.folder / "data.zip", "w") as archive:
        for name in ("Vault/Home.md", "Vault/Tea/Green.md", "Vault/.trash/Gone.md", "Vault/.obsidian/app.json",
                     "__MACOSX/Vault/._Home.md", "Vault/pic.png"):  # fmt: skip
            archive.writestr(name, "See [[Green]]" if name.endswith("Home.md") else "text")
    told = desk.run("import", "data.zip", "--json").value
    assert told["dropped"] == {"files that are no pages of Markdown (.png)": 1}
    memories, relations = _archive(desk)
    assert {name: one["scope"] for name, one in memories.items()} == {"Home": "Vault", "Green": "Vault/Tea"}
    assert _triples(relations) == {("Home", "links_to", "Green")}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are always Unicode there")
def test_a_file_whose_name_is_no_utf_8_is_named_in_the_report(desk: Desk) -> None:
    (desk.folder / "vault").mkdir()
    (desk.folder / "vault" / "ok.md").write_text("fine")
    with open(os.fsencode(desk.folder / "vault") + b"/b\xe4d.md", "wb") as file:
        file.write(b"text")
    told = desk.run("import", "vault", "--json")
    assert told.code == 0
    assert any("b\udce4d.md" in reason for reason in told.value["dropped"])


def test_basic_memory_is_read_as_it_reads_itself(desk: Desk) -> None:
    page = (
        "---\ntitle: Coffee\npermalink: coffee\n---\nProse with [[Mill]].\n- [method] Pour over (light roasts)\n"
        "+ [a] short\n1. [n] numbered\n- [/] in progress\n- [00:00:11.500] a clock\n- requires [[Mill]]\n"
        "- uses [[Mill]] (first) and [[Jug]] (second)\n- 'goes with' [[Cake]] (often (mostly))\n"
    )
    _vault(desk.folder / "notes", {"Coffee.md": page.replace("\n", "\r\n"), "Mill.md": "x"})
    desk.run("import", "notes")
    memories, relations = _archive(desk)
    prose, *observed = memories["Coffee"]["observations"]
    assert observed == ["[method] Pour over (light roasts)", "[a] short", "[n] numbered"]
    assert prose == (
        "Prose with [[Mill]].\n- [/] in progress\n- [00:00:11.500] a clock\n"
        "- uses [[Mill]] (first) and [[Jug]] (second)"
    )
    assert {(one["type"], one["target"], one.get("context")) for one in relations} == {
        ("links_to", "Mill", None), ("links_to", "Jug", None), ("requires", "Mill", None),
        ("goes with", "Cake", "often (mostly)"),
    }  # fmt: skip


# ── what is here already ──────────────────────────────────────────────────────────────────────────────────


def test_tags_and_kind_of_a_text_that_is_here_already_are_joined_to_it_once(desk: Desk) -> None:
    desk.run("add", "Ann likes tea", "--tag", "mine")
    line = {"content": "Ann likes tea", "tags": ["theirs"], "room": 3}
    (desk.folder / "own.jsonl").write_text(json.dumps(line) + "\n")
    first, again = (desk.run("import", "own.jsonl", "--json").value for _ in range(2))
    assert (first["memories"], again["memories"]) == ({"memory": {"changed": 1}}, {"memory": {"unchanged": 1}})
    (memory,) = _archive(desk)[0].values()
    assert (memory["tags"], memory["metadata"]) == (["mine", "theirs"], {"room": 3})
    desk.run("undo")
    (memory,) = _archive(desk)[0].values()
    assert memory["tags"] == ["mine"]


def test_the_same_text_in_another_file_takes_nothing_away(desk: Desk) -> None:
    (desk.folder / "one.json").write_text(
        '[{"text": "Ann likes tea", "tags": ["drink"]}, {"content": "Snow is white"}]'
    )
    (desk.folder / "two.jsonl").write_text('{"text": "Ann likes tea", "room": 3}')
    assert desk.run("import", "one.json", "--json").value["memories"] == {"memory": {"new": 2}}
    assert desk.run("import", "two.jsonl", "--json").value["memories"] == {"memory": {"changed": 1}}
    tea = _archive(desk)[0]["Ann likes tea"]
    assert (tea["tags"], tea["metadata"]) == (["drink"], {"room": 3})


def test_a_page_of_a_text_with_carriage_returns_survives_a_change_of_line_ends(desk: Desk) -> None:
    (desk.folder / "own.jsonl").write_text(json.dumps({"content": "a\r\nb"}) + "\n")
    desk.run("import", "own.jsonl")
    desk.run("export", "pages/")
    for page in (desk.folder / "pages").rglob("*.md"):
        page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))
    assert desk.run("import", "pages", "--json").value["memories"] == {"memory": {"unchanged": 1}}


def test_an_import_that_is_stopped_leaves_no_trace_and_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.run("add", "Snow is white")
    (desk.folder / "own.jsonl").write_text('{"text": "Ann likes tea"}\n{"text": "Bob plays the guitar"}\n')

    def stopped(*given: Any) -> Iterator[Any]:
        yield next(iter(read(*given)))
        raise KeyboardInterrupt

    read = json_files.read
    monkeypatch.setattr(json_files, "read", stopped)
    told = desk.run("import", "own.jsonl")
    assert (told.code, told.out) == (130, "")
    assert told.err == "polymnia: stopped; nothing was left half done.\n"
    assert set(_archive(desk)[0]) == {"Snow is white"}
