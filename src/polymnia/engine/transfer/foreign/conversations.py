"""Conversations exported from ChatGPT and Claude: every turn with its speaker and time; and what Claude remembers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polymnia.engine.transfer.foreign.items import (
    left_out,
    memory_item,
    rest_of,
    scope_of,
    session_name,
    stable_id,
    text_of,
    time_of,
    turn_item,
)
from polymnia.engine.transfer.formats.records import Item, JsonObject

_CHATGPT, _CLAUDE = "chatgpt", "claude"
_SPEAKERS = {"human": "user"}
_REMEMBER = "bio"  # the tool by which ChatGPT writes into its memory
_FILES = "files that came with messages: the export names them alone"
_NOT_SAID = {"model_editable_context", "user_editable_context", "thoughts", "reasoning_recap", "system_error"}


def is_chatgpt(record: JsonObject) -> bool:
    """Whether a record is a conversation of ChatGPT."""
    nodes = record.get("mapping")
    return isinstance(nodes, dict) and all(isinstance(node, dict) for node in nodes.values())


def is_claude(record: JsonObject) -> bool:
    """Whether a record is a conversation of Claude."""
    return isinstance(record.get("chat_messages"), list)


def is_claude_memory(record: JsonObject) -> bool:
    """Whether a record is what Claude remembers of its user."""
    return "conversations_memory" in record or isinstance(record.get("project_memories"), dict)


def is_claude_project(record: JsonObject) -> bool:
    """Whether a record is a project of Claude."""
    return isinstance(record.get("docs"), list) and "prompt_template" in record


# ── ChatGPT ───────────────────────────────────────────────────────────────────────────────────────────────


def read_chatgpt(record: JsonObject) -> Iterator[Item]:
    """The turns of a conversation: the branch that its user last saw."""
    nodes: dict[str, JsonObject] = record["mapping"]
    conversation = text_of(record.get("conversation_id")) or text_of(record.get("id")) or "\n".join(nodes)
    title, begun = text_of(record.get("title")) or None, time_of(record.get("create_time"))
    shown = _shown_branch(nodes, record.get("current_node"))
    for id in sorted(nodes.keys() - set(shown)):
        if _said(nodes[id].get("message")):
            yield left_out("turns of another branch: the conversation was continued without them")
    for id in shown:
        message = nodes[id].get("message")
        if not isinstance(message, dict):
            continue
        text, at = _said(message), time_of(message.get("create_time")) or begun
        files = _attached(message)
        if text:
            yield turn_item(
                _CHATGPT, conversation, id, _role(message), text, title=title, at=at, begun=begun, files=files
            )
        elif message.get("recipient") == _REMEMBER and (noted := _texts(message).strip()):
            about = {"source": "ChatGPT's memory", **({"conversation": title} if title else {})}
            yield memory_item(stable_id(_CHATGPT, conversation, id, "memory"), noted, metadata=about, created=at)
        elif (reason := _unsaid(message)) is not None:
            yield left_out(reason)
        yield from (left_out(_FILES) for _ in files)


def _shown_branch(nodes: dict[str, JsonObject], current: object) -> list[str]:
    """The nodes from the root to the current one; without a current one, along the newest child of each."""
    last = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    path: dict[str, None] = {}
    while isinstance(last, str) and last in nodes and last not in path:  # in a damaged file a parent may be a child
        path[last] = None
        last = nodes[last].get("parent")
    return [*path][::-1]


def _newest_leaf(nodes: dict[str, JsonObject]) -> str | None:
    last = next((id for id, node in nodes.items() if node.get("parent") not in nodes), None)
    passed: set[str] = set()
    while last is not None and last not in passed:
        passed.add(last)
        children = nodes[last].get("children")
        known = [child for child in children if child in nodes] if isinstance(children, list) else []
        if not known:
            break
        last = known[-1]
    return last


def _role(message: JsonObject) -> str:
    author = message.get("author")
    return text_of(author.get("role")) or "user" if isinstance(author, dict) else "user"


def _said(message: object) -> str:
    """What a message says to the other side; empty for what was hidden, or is the work of a tool."""
    if not isinstance(message, dict) or _role(message) not in ("user", "assistant"):
        return ""
    metadata, content = message.get("metadata"), message.get("content")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return ""
    if not isinstance(content, dict) or content.get("content_type") in _NOT_SAID:
        return ""
    return "" if message.get("recipient") not in (None, "", "all") else _texts(message)


def _texts(message: JsonObject) -> str:
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    texts = (
        [_part(part) for part in parts]
        if isinstance(parts, list)
        else [text_of(content.get("text"))]
        if isinstance(content, dict)
        else []
    )
    return "\n\n".join(text for text in texts if text.strip())


def _attached(message: JsonObject) -> list[str]:
    """The names of files and pictures that came with a message."""
    metadata, content = message.get("metadata"), message.get("content")
    files = metadata.get("attachments") if isinstance(metadata, dict) else None
    names = (
        [text_of(one.get("name")) or "a file" for one in files or () if isinstance(one, dict)]
        if isinstance(files, list)
        else []
    )
    parts = content.get("parts") if isinstance(content, dict) else None
    pictures = (
        [one for one in parts if isinstance(one, dict) and "asset_pointer" in one] if isinstance(parts, list) else []
    )
    return names or [text_of(one["asset_pointer"]) or "a picture" for one in pictures]


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    return text_of(part.get("text")) if isinstance(part, dict) else ""  # speech has its transcript there


def _unsaid(message: JsonObject) -> str | None:
    content, metadata = message.get("content"), message.get("metadata")
    kind = text_of(content.get("content_type")) if isinstance(content, dict) else ""
    if _role(message) not in ("user", "assistant"):
        return f"messages of the {_role(message)[:40]}"
    if not isinstance(content, dict) or not rest_of(content, "content_type", "language", "response_format_name"):
        return None  # an empty message
    if isinstance(content.get("parts"), list) and not any(content["parts"]):
        return None
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "messages that were hidden in the conversation"
    if message.get("recipient") not in (None, "", "all"):
        return f"calls of tools ({text_of(message['recipient'])[:40]})"
    return f"messages without a text for the other side ({kind[:40] or 'unknown'})"


# ── Claude ────────────────────────────────────────────────────────────────────────────────────────────────


def read_claude(record: JsonObject) -> Iterator[Item]:
    """The turns of a conversation, and the texts of files attached to them."""
    conversation = text_of(record.get("uuid"))
    title, begun = text_of(record.get("name")) or None, time_of(record.get("created_at"))
    for position, message in enumerate(record["chat_messages"]):
        if not isinstance(message, dict):
            yield left_out("messages that are no objects")
            continue
        sender = text_of(message.get("sender")) or "user"
        role, id = _SPEAKERS.get(sender, sender), text_of(message.get("uuid")) or str(position)
        at = time_of(message.get("created_at")) or begun
        text, files = _claude_text(message), _claude_files(message)
        if text.strip():
            yield turn_item(_CLAUDE, conversation, id, role, text, title=title, at=at, begun=begun, files=files)
        for kind in _other_blocks(message):
            yield left_out(f"parts of messages that are no text ({kind[:40]})")
        yield from (left_out(_FILES) for _ in files)
        yield from _attachments(message, conversation, id, begun, at)
    if summary := text_of(record.get("summary")).strip():
        session = session_name(_CLAUDE, conversation, begun)
        about = {"conversation": title} if title else None
        yield memory_item(
            stable_id(_CLAUDE, conversation, "summary"), summary, kind="summary", scope=f"session/{session}",
            metadata=about, created=time_of(record.get("updated_at")) or begun,
        )  # fmt: skip


def _claude_text(message: JsonObject) -> str:
    blocks = message.get("content")
    texts = []
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type", "text") == "text":
            texts.append(text_of(block.get("text")))
    return "\n\n".join(text for text in texts if text.strip()) or text_of(message.get("text"))


def _other_blocks(message: JsonObject) -> list[str]:
    blocks = message.get("content")
    kinds = (
        [text_of(block.get("type")) for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    )
    return [kind for kind in kinds if kind not in ("", "text")]


def _claude_files(message: JsonObject) -> list[str]:
    """The names of files that came with a message and whose contents the export does not have."""
    files = message.get("files")
    attached = message.get("attachments")
    known = (
        {text_of(one.get("file_name")) for one in attached if isinstance(one, dict)}
        if isinstance(attached, list)
        else set()
    )
    given = [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    names = [text_of(one.get("file_name")) or "a file" for one in given]
    return [name for name in names if name not in known]


def _attachments(
    message: JsonObject, conversation: str, turn: str, begun: str | None, at: str | None
) -> Iterator[Item]:
    attached = message.get("attachments")
    for position, file in enumerate(attached if isinstance(attached, list) else ()):
        text = text_of(file.get("extracted_content")) if isinstance(file, dict) else ""
        if not text.strip():
            yield left_out("attachments without a text")
            continue
        name = text_of(file.get("file_name"))
        yield memory_item(
            stable_id(_CLAUDE, conversation, turn, "attachment", str(position)), text, kind="attachment",
            scope=f"session/{session_name(_CLAUDE, conversation, begun or at)}",
            metadata={"title": name} if name else None, created=at,
        )  # fmt: skip


def read_claude_memory(record: JsonObject) -> Iterator[Item]:
    """What Claude remembers of its user, and for each of the projects."""
    account = text_of(record.get("account_uuid"))
    if text := text_of(record.get("conversations_memory")).strip():
        yield memory_item(stable_id(_CLAUDE, account, "conversations_memory"), text, metadata=_from("conversations"))
    projects: dict[str, Any] = record.get("project_memories") or {}
    for project, value in projects.items() if isinstance(projects, dict) else ():
        if text := text_of(value).strip():
            scope = scope_of("project", project)
            yield memory_item(
                stable_id(_CLAUDE, account, "project", project), text, scope=scope, metadata=_from("project")
            )
    if rest := rest_of(record, "conversations_memory", "project_memories", "account_uuid"):
        yield from (left_out(f"{key!r:.60} of Claude's memory") for key in rest)


def _from(what: str) -> JsonObject:
    return {"source": f"Claude's memory of {'a project' if what == 'project' else 'the conversations'}"}


def read_claude_project(record: JsonObject) -> Iterator[Item]:
    """The instructions and documents of a project."""
    project, name = text_of(record.get("uuid")), text_of(record.get("name"))
    scope, created = scope_of("project", project), time_of(record.get("created_at"))
    for key in ("description", "prompt_template"):
        if text := text_of(record.get(key)).strip():
            kind = "instruction" if key == "prompt_template" else None
            yield memory_item(
                stable_id(_CLAUDE, "project", project, key), text, kind=kind, scope=scope,
                metadata={"project": name} if name else None, created=created,
            )  # fmt: skip
    for position, file in enumerate(record["docs"]):
        text = text_of(file.get("content")) if isinstance(file, dict) else ""
        if not text.strip():
            yield left_out("documents without a text")
            continue
        id, title = text_of(file.get("uuid")) or str(position), text_of(file.get("filename"))
        yield memory_item(
            stable_id(_CLAUDE, "project", project, "document", id), text, kind="document", scope=scope,
            metadata={"title": title} if title else None, created=time_of(file.get("created_at")) or created,
        )  # fmt: skip
