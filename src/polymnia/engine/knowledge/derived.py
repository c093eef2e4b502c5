"""Derived fields: those of an item that are computed from its text, and how they follow it when it changes.

A field counts as derived while it still has its derived value. Once a caller has set another value, it stays until the
caller changes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, ValidationError, convert

from polymnia.engine import content
from polymnia.engine.content import DECISION, HEADINGS, Decision, decision_text
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

_EXTRACTED = "extracted"
_PART = re.compile(rf"^## ({'|'.join(map(re.escape, HEADINGS.values()))})[ \t]*$", re.MULTILINE)
_TITLE = re.compile(r"\A\s*# ([^\n]*)(?:\n|\Z)")
_LISTS = ("alternatives", "stakeholders")
_FIELDS = {heading: field for field, heading in HEADINGS.items()}


class Following(Struct, frozen=True, kw_only=True):
    """What else changes with an update: fields of the record, and keys of its metadata; None removes a key."""

    text: str | None = None
    fields: JsonObject = {}
    metadata: JsonObject = {}

    def merged(self, metadata: Mapping[str, Any], changed: Mapping[str, Any]) -> JsonObject:
        """Metadata with the caller's changes and those that follow from them."""
        return {
            key: value
            for key, value in {**metadata, **changed, **self.metadata}.items()
            if value is not None or key not in self.metadata
        }


def extracted_metadata(text: str, content_type: str) -> JsonObject:
    """What can be extracted from a text, in the form stored in the metadata of an item."""
    from msgspec import to_builtins

    with importing():
        from polymnia.engine.text.extraction import extract

    found: JsonObject = to_builtins(extract(text, content_type))
    title = found.pop("title", None)
    return ({"title": title} if title else {}) | {_EXTRACTED: found}


def decision_parts(record: Record) -> Mapping[str, Any] | None:
    """The parts a decision was stored with or has under headings; None for a plain text."""
    parts = record.metadata.get("decision")
    if isinstance(parts, Mapping):
        return parts
    found = _parts(content.content(record), "")
    return found if len(found) > 2 else None


def following(before: Record, text: str | None, changed: Mapping[str, Any], *, summary: bool) -> Following:
    """What else changes with a new ``text`` or ``changed`` metadata; ``summary``: whether the caller sets that too."""
    old = content.content(before)
    says = text is not None and text != old
    parts = before.metadata.get("decision")
    if before.kind == DECISION and isinstance(parts, dict):
        return _decided(before, parts, text if says else None, changed, summary)
    if not says or text is None or _EXTRACTED not in before.metadata:
        return Following()
    metadata = extracted_metadata(text, before.content_type or "")
    if "title" in before.metadata:
        was = extracted_metadata(old, before.content_type or "").get("title")
        if before.metadata["title"] != was:
            metadata.pop("title", None)
        else:
            metadata.setdefault("title", None)
    return Following(metadata={key: value for key, value in metadata.items() if key not in changed})


def _decided(
    before: Record, old: Mapping[str, Any], text: str | None, changed: Mapping[str, Any], summary: bool
) -> Following:
    """A decision is stored as text, parts and summary: when one changes, the others follow."""
    if "decision" not in changed and "title" not in changed and text is None:
        return Following()
    rendered = None
    if "decision" in changed or text is None:
        new = changed.get("decision", {})
        if not isinstance(new, Mapping):
            raise _unfit(f"it is {type(new).__name__}, not an object")
        title = {"title": changed["title"]} if "title" in changed else {}
        parts = {key: value for key, value in {**old, **title, **new}.items() if value}
        # A text the caller wrote is not rewritten for a new title.
        if text is None and ("decision" in changed or content.content(before) == _rendered(old)):
            rendered = _rendered(parts)
    else:
        parts = _parts(text, str(changed.get("title") or old.get("title") or ""))
    metadata: JsonObject = {"decision": parts}
    if "title" not in changed and before.metadata.get("title") == old.get("title"):
        metadata["title"] = parts.get("title")
    follows = not summary and before.summary == old.get("decision")
    return Following(text=rendered, fields={"summary": parts.get("decision")} if follows else {}, metadata=metadata)


def _rendered(parts: Mapping[str, Any]) -> str:
    """The text of a decision; one last written as free text lacks some parts."""
    empty = {"title": "", "context": "", "decision": "", "rationale": ""}
    try:
        return decision_text(convert({**empty, **parts}, Decision))
    except ValidationError as e:
        raise _unfit(str(e)) from None


def _unfit(why: str) -> Invalid:
    return Invalid(
        f"updates.metadata.decision does not have the parts of a decision: {why}",
        field="updates.metadata.decision",
        hint="Give an object with any of title, context, decision, rationale, alternatives, impact and stakeholders.",
    )


def _parts(text: str, title: str) -> JsonObject:
    """The parts of a text by the headings of a decision; a text without them is the decision itself."""
    head = _TITLE.match(text)
    parts: JsonObject = {"title": head[1].strip() if head and head[1].strip() else title}
    found = list(_PART.finditer(text))
    if not any(one[1] == HEADINGS["decision"] for one in found):
        return parts | {"decision": text[head.end() if head else 0 :].strip() or text.strip()}
    for i, one in enumerate(found):
        body = text[one.end() : found[i + 1].start() if i + 1 < len(found) else len(text)].strip()
        field = _FIELDS[one[1]]
        if body:
            parts[field] = (
                [line.lstrip("-* ").strip() for line in body.splitlines() if line.strip()]
                if (field in _LISTS)
                else body
            )
    return parts
