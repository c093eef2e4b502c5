"""The graph around a memory, or of a project, with communities."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from polymnia.dialects.explorer import shapes
from polymnia.dialects.explorer.shapes import Id, Project, operation
from polymnia.dialects.shapes import about
from polymnia.engine.content import title_of
from polymnia.models import JsonObject
from polymnia.operation import Context

_AROUND, _WHOLE = 200, 5_000  # nodes, unless the call says how many


@operation("graph", "Graph", reads=True)
def graph(
    context: Context,
    id: Id | None = None,
    project: Project | None = None,
    depth: Annotated[int, about("Steps away from the memory.", ge=1, le=4)] = 1,
    limit: Annotated[int, about("Nodes.", ge=1, le=_WHOLE)] | None = None,
    types: Annotated[list[str], about("Types of relations; all by default.")] | None = None,
    choose: Annotated[Literal["newest", "connected"], about("Which memories, of a larger project.")] = "newest",
    automatic: Annotated[bool, about("With relations that the server has drawn itself.")] = True,
) -> JsonObject:
    """The neighbourhood of a memory, or the graph of a project, with its communities."""
    memory = shapes.in_project(context.memory, project)
    most = limit or (_WHOLE if id is None else _AROUND)
    record = None if id is None else memory.resolve(id)
    drawn = memory.draw(
        None if record is None else record.uid, depth=depth, limit=most, types=types, choose=choose, automatic=automatic
    )
    community = {node: number for number, nodes in enumerate(drawn.communities) for node in nodes}
    places = {name: at for at, name in enumerate(drawn.names)}
    counts = Counter(one.type for one in drawn.relations).most_common()
    type_places = {name: at for at, (name, _) in enumerate(counts)}
    memories, relations = memory.count()
    nodes = []
    for at, name in enumerate(drawn.names):
        one = drawn.records.get(name)
        nodes.append(
            {
                "id": None if one is None else one.uid,
                "name": name,
                "title": name if one is None else title_of(one),
                "kind": "" if one is None else one.kind,
                "scope": None if one is None else one.path,
                "degree": drawn.degrees.get(name, 0),
                "community": community.get(at),
                "missing": one is None,
            }
        )
    return {
        "nodes": nodes,
        "edges": [
            [places[one.source], places[one.target], type_places[one.type], one.strength, one.origin == "auto"]
            for one in drawn.relations
        ],
        "types": counts,
        "communities": [{"community": number, "size": len(some)} for number, some in enumerate(drawn.communities)],
        "memories": memories,
        "relations": relations,
        "cut": drawn.cut,
    }
