"""One flat schema for all operations of a tool of the content dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from polymnia.dialects.content.call import ContentOperation
from polymnia.models import JsonObject
from polymnia.operation import schema

Shape = JsonObject


def united(operations: Mapping[str, ContentOperation]) -> Shape:
    """The schema of a tool: each parameter says which operations need it and which take it, and its limits there."""
    shapes: dict[str, dict[str, Shape]] = {}
    needed: dict[str, list[str]] = {}
    needs = []
    for name, one in operations.items():
        own = schema(one.params)
        required = [*(("project_id",) if one.project else ()), *(k for k in own["required"] if k != "operation")]
        needs.append(f"{name}: {', '.join(required or ['nothing else'])}")
        for key, value in own["properties"].items():
            shapes.setdefault(key, {})[name] = value
            if key in required:
                needed.setdefault(key, []).append(name)
    properties = {key: _parameter(by, needed.get(key, []), len(operations)) for key, by in shapes.items()}
    properties["operation"] = {
        "type": "string",
        "enum": list(operations),
        "description": f"Which operation. Each needs: {'; '.join(needs)}.",
    }
    return {"type": "object", "properties": properties, "required": ["operation"]}


def _parameter(by_operation: Mapping[str, Shape], needed: Sequence[str], operations: int) -> Shape:
    """A parameter of several operations as one."""
    whole = reduce(_either, by_operation.values())
    optional = [name for name in by_operation if name not in needed]
    limits: dict[str, list[str]] = {}
    for name, shape in by_operation.items():
        limits.setdefault(_limits(shape), []).append(name)
    about = [whole.get("description", "")]
    if needed:
        about.append("Required." if len(needed) == operations else f"Required by {', '.join(needed)}.")
    if optional and (needed or len(optional) < operations):
        about.append(f"Optional for {', '.join(optional)}.")
    if len(limits) > 1:
        about += [f"{text} for {', '.join(names)}." for text, names in limits.items() if text]
    whole = {**whole, "description": " ".join(filter(None, about))}
    if "properties" in whole:
        whole["properties"] = {key: _part(key, part, by_operation) for key, part in whole["properties"].items()}
    return whole


def _part(key: str, part: Shape, by_operation: Mapping[str, Shape]) -> Shape:
    """A part of a parameter; where not all operations have it, with those that do."""
    users = [name for name, shape in by_operation.items() if key in shape.get("properties", ())]
    if len(users) == len(by_operation):
        return part
    return {**part, "description": f"{part.get('description', '')} ({', '.join(users)})".strip()}


def _limits(one: Shape) -> str:
    """The limits and the default of a number in words."""
    if one.get("type") not in ("integer", "number"):
        return ""
    least, most, default = one.get("minimum"), one.get("maximum"), one.get("default")
    text = f"{least} to {most}" if None not in (least, most) else ""
    return text if default is None else f"{text} (default {default})"


def _either(one: Shape, other: Shape) -> Shape:
    """A schema that allows what either allows, and says what holds for both."""
    if one.get("type") != other.get("type"):
        return {k: v for k, v in one.items() if k == "description"}
    united = {key: value for key, value in one.items() if other.get(key) == value or key in ("type", "description")}
    if one.get("type") == "object":
        mine, yours = one.get("properties", {}), other.get("properties", {})
        both = {**mine, **yours}
        both |= {key: _either(mine[key], yours[key]) for key in mine if key in yours}
        return {**united, "properties": both} if both else united
    if "enum" in one and "enum" in other:
        united["enum"] = list(dict.fromkeys((*one["enum"], *other["enum"])))
    for limit, wider in (("minimum", min), ("maximum", max), ("minLength", min), ("maxLength", max)):
        if limit in one and limit in other:
            united[limit] = wider(one[limit], other[limit])
    return united
