"""A memory as a page of Markdown that a person can edit: front matter with its fields, and its text below.

A memory with one text has it as it is; one with several has a list, an item for each. What such a page cannot hold
exactly stands in the front matter instead. The front matter also has a digest of what the page said when it was
written, so that an edit is told from a page that is merely old.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.json import encode

from polymnia.engine.transfer.formats.project_markdown import front_and_rest, parse_front
from polymnia.engine.transfer.formats.records import FileLimits, JsonObject, digest_of
from polymnia.engine.transfer.formats.yaml_records import yaml_object

FORMAT = "polymnia-page"
RELATIONS_ALONE = "relations"
"""The value of ``memory_id`` on the page of relations that start at no memory."""
_RULE = b"---\n"
_MARKER = re.compile(r"[-*+] ")
_LIST = "list"


def relations_digest(relations: Iterable[JsonObject]) -> str:
    """A digest of the relations of a page, in whatever order they stand."""
    return digest_of(sorted(encode(one).decode() for one in relations))


def write_page(fields: JsonObject, relations: Sequence[JsonObject], digest: str) -> bytes:
    """A page. ``fields`` are those of an archive's memory, ``digest`` that of its content."""
    front = {"format": FORMAT, **fields}
    text, listed = front.pop("content", None), front.pop("observations", None)
    named = front.get("name") is not None
    if text is not None and named and "\n" not in text:
        text, listed = None, [text]  # a line of an entity is one of a list that may grow
    body = text if text is not None else as_list(listed or [])
    if relations:
        front["relations"] = list(relations)
    if text is None:
        front["body"] = _LIST
    front["digest"] = f"{digest}-{relations_digest(relations)}"
    page = _joined(front, body)
    back = read_page(page)
    if (
        back is None
        or "\r" in body  # an editor or a checkout of another system would change it
        or back[0].get("content") != text
        or back[0].get("observations") != (listed if text is None else None)
    ):
        front |= {"content": text} if text is not None else {"observations": listed}
        page = _joined({key: value for key, value in front.items() if key != "body"}, "")
    return page


def _joined(front: JsonObject, body: str) -> bytes:
    return _RULE + yaml_object(front).encode() + _RULE + b"\n" + body.encode() + b"\n"


def as_list(texts: Sequence[str]) -> str:
    """Texts as a list of Markdown; further lines of a text are indented."""
    return "\n".join("- " + text.replace("\n", "\n  ") for text in texts)


def from_list(body: str) -> list[str]:
    """The items of a list of Markdown. A line before the first item is an item too, so that no word is lost."""
    texts: list[list[str]] = []
    blank = 0
    for line in body.split("\n"):
        if not line.strip():
            blank += 1
            continue
        if _MARKER.match(line) or line.rstrip() in ("-", "*", "+"):
            texts.append([line[2:]])
        elif texts and line.startswith("  "):
            texts[-1] += [""] * blank + [line[2:]]
        else:
            texts.append([line])
        blank = 0
    return ["\n".join(lines) for lines in texts]


def read_page(page: bytes) -> tuple[JsonObject, list[JsonObject], str] | None:
    """The fields of a memory, its relations and the digest of a page; None if it is not one of ours."""
    if page.startswith(b"---\r\n"):  # an editor of another system ends all lines so
        page = page.replace(b"\r\n", b"\n")
    front, rest = front_and_rest(page)
    fields = parse_front(front, FileLimits())
    if isinstance(fields, str) or fields.get("format") != FORMAT:
        return None
    body = rest.removeprefix(b"\n").removesuffix(b"\n").decode()
    del fields["format"]
    relations, form, digest = fields.pop("relations", None), fields.pop("body", None), fields.pop("digest", "")
    if "content" not in fields and "observations" not in fields and fields.get("memory_id") != RELATIONS_ALONE:
        fields |= {"observations": from_list(body)} if form == _LIST else {"content": body}
    if isinstance(fields.get("tags"), str):
        fields["tags"] = [tag for part in fields["tags"].split(",") if (tag := part.strip())]
    listed = [one for one in relations if isinstance(one, dict)] if isinstance(relations, list) else []
    return fields, listed, str(digest)
