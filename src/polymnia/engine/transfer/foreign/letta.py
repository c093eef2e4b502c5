"""Memories of Letta (MemGPT): passages of archival memory, and agent files (.af) with their blocks and messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from polymnia.engine.transfer.foreign.items import (
    left_out,
    memory_item,
    rest_of,
    scope_of,
    stable_id,
    tags_of,
    text_of,
    time_of,
    turn_item,
)
from polymnia.engine.transfer.formats.records import Item, JsonObject

_SOURCE = "letta"
_SAID = ("user", "assistant")
_ORIGINS = ("archive_id", "agent_id", "source_id", "folder_id", "file_id", "file_name")
_PASSAGE = {*_ORIGINS, "embedding", "embedding_config", "organization_id"} - {"file_name"}
_PACKED = {"user_message", "heartbeat", "login", "system_alert"}
_SAY = "send_message"  # the tool by which older kinds of agents speak; what else they write is thought


def is_passage(record: JsonObject) -> bool:
    """Whether a record is a passage of archival memory."""
    is_one = text_of(record.get("id")).startswith("passage-") or bool(record.keys() & _PASSAGE)
    return isinstance(record.get("text"), str) and is_one


def is_agent(record: JsonObject) -> bool:
    """Whether a record is an agent of an agent file, of the first form or the present one."""
    return isinstance(record.get("messages"), list) and bool(record.keys() & {"core_memory", "block_ids", "agent_type"})


def read_passage(record: JsonObject) -> Iterator[Item]:
    """A passage of archival memory."""
    if record.get("is_deleted"):
        yield left_out("passages that were deleted there")
        return
    if record.get("embedding"):
        yield left_out("embeddings: vectors are made anew from the texts")
    text, given = record["text"], record.get("metadata", record.get("metadata_"))
    if not text.strip():
        yield left_out("passages without a text")
        return
    metadata: JsonObject = rest_of(given) if isinstance(given, dict) else {}
    owner = text_of(record.get("archive_id")) or text_of(record.get("agent_id"))
    yield memory_item(
        stable_id(_SOURCE, text_of(record.get("id")) or f"{owner}\n{text}"), text, tags=tags_of(record.get("tags")),
        metadata=metadata | rest_of({key: record.get(key) for key in _ORIGINS}),
        created=time_of(record.get("created_at")), updated=time_of(record.get("updated_at")),
    )  # fmt: skip


def read_agent_file(document: JsonObject) -> Iterator[Item]:
    """The agents of a file: memory blocks under a scope of the agent, messages as a session, passages if it has any."""
    agents = document.get("agents")
    blocks = {text_of(one.get("id")): one for one in _objects(document.get("blocks"))}
    for agent in _objects(agents) if isinstance(agents, list) else iter((document,)):
        yield from _agent(agent, blocks)
    for passage in _objects(document.get("passages")):
        if isinstance(passage.get("text"), str):
            yield from read_passage(passage)
    for key, what in (("tools", "tools"), ("files", "files"), ("mcp_servers", "servers"), ("skills", "skills")):
        yield from (left_out(f"{what}: they are no memories") for _ in _objects(document.get(key)))


def _objects(value: object) -> Iterator[JsonObject]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())


def _agent(agent: JsonObject, blocks: dict[str, JsonObject]) -> Iterator[Item]:
    name = text_of(agent.get("name")) or text_of(agent.get("id")) or "agent"
    # Ids inside a file count from 0 in every file, so the name of the agent tells them apart.
    own = [*_objects(agent.get("core_memory")), *_objects(agent.get("memory_blocks"))]
    ids: Any = agent.get("block_ids")
    own += [blocks[id] for id in ids if isinstance(id, str) and id in blocks] if isinstance(ids, list) else []
    for block in own:
        label, text = text_of(block.get("label")) or "block", text_of(block.get("value")).strip()
        if not text:
            yield left_out("memory blocks without a text")
            continue
        about = rest_of({"label": label, "description": block.get("description"), "agent": name})
        yield memory_item(
            stable_id(_SOURCE, name, "block", label), text, kind="block", scope=scope_of("agent", name), metadata=about,
            created=time_of(block.get("created_at")), updated=time_of(block.get("updated_at")),
        )  # fmt: skip
    messages = list(_objects(agent.get("messages")))
    begun = next((at for one in messages if (at := time_of(one.get("created_at")))), None)
    speaks_plainly = text_of(agent.get("agent_type")) in ("", "letta_v1_agent")
    for position, message in enumerate(messages):
        role = text_of(message.get("role"))
        text, why = _said(message, role, speaks_plainly)
        if text:
            at = time_of(message.get("created_at")) or begun
            # Messages are numbered in the order of their file; what they say makes a longer copy of it known again.
            id = f"{position}\n{text}"
            yield turn_item(_SOURCE, name, id, role, text, title=name, at=at, begun=begun)
        if why:
            yield left_out(why)


def _said(message: JsonObject, role: str, speaks_plainly: bool) -> tuple[str, str]:
    """What a message says to the other side, and the reason why it, or a part of it, is left out."""
    text = _text(message).strip()
    if role not in _SAID:
        return "", f"messages of the {role[:40] or 'agent'}" if text else "messages without a text (tools)"
    if role == "user":
        kind, inner = _unpacked(text)
        return (inner, "") if kind == "user_message" else ("", f"events of the program ({kind[:40]})")
    calls = [call for one in _objects(message.get("tool_calls")) if isinstance(call := one.get("function"), dict)]
    spoken = [said for call in calls if call.get("name") == _SAY and (said := _argument(call))]
    if spoken or (calls and not speaks_plainly):
        return "\n\n".join(
            spoken
        ), "thoughts of the agent" if text else "" if spoken else "messages without a text (tools)"
    return text, "" if text else "messages without a text (tools)"


def _unpacked(text: str) -> tuple[str, str]:
    """The kind of a user's message and its text, which the program packs into JSON beside the time."""
    packed = _object(text)
    kind = text_of(packed.get("type"))
    if kind not in _PACKED:
        return "user_message", text
    return kind, text_of(packed.get("message")).strip()


def _argument(call: JsonObject) -> str:
    return text_of(_object(text_of(call.get("arguments"))).get("message")).strip()


def _object(text: str) -> JsonObject:
    if not text.startswith("{"):
        return {}
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(message: JsonObject) -> str:
    content = message.get("content", message.get("text"))
    if isinstance(content, str):
        return content
    return "\n\n".join(text_of(part.get("text")) for part in _objects(content) if part.get("type", "text") == "text")
