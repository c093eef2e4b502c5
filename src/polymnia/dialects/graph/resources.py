"""What a client can read by address, the whole graph or one memory, and the messages a user can start from."""

from __future__ import annotations

from msgspec.json import encode, format

from polymnia.dialects.graph.behaviours import GraphResult, Node, entity, link
from polymnia.importing import importing
from polymnia.models import Record, skeleton
from polymnia.operation import Context, Prompt, PromptArgument, Resource, Template

_SHOWN = 15
_LONG = 400  # tokens of a memory in a prompt
_LOOKED_AT = 5000


def _graph(context: Context) -> str:
    found = context.memory.read_graph()
    value = GraphResult(list(map(entity, found.records)), list(map(link, found.relations)))
    return format(encode(value), indent=2).decode()


def _one(context: Context, name: str) -> str:
    record, relations = context.memory.get(name)
    value = Node(record.name, record.kind, list(record.observations), list(map(link, relations)))
    return format(encode(value), indent=2).decode()


def _names(context: Context, prefix: str) -> list[str]:
    return context.memory.names(prefix, 101)


RESOURCES = (
    Resource(
        uri="memory://knowledge-graph",
        name="knowledge-graph",
        title="Knowledge Graph",
        help="All entities and relations of the project.",
        mime="application/json",
        read=_graph,
    ),
)

TEMPLATES = (
    Template(
        prefix="memory://memory/",
        variable="name",
        name="memory",
        title="One Memory",
        help="One entity by its name, with its observations and relations.",
        mime="application/json",
        read=_one,
        complete=_names,
    ),
)


def _lines(records: list[Record]) -> str:
    """A line for each memory: a prompt fills the context of a model, so a long one is cut short and says so."""
    with importing():
        from polymnia.engine.text.tokens import trimmed
    lines = []
    for r in records:
        whole = f"- {r.name} ({r.kind}): {'; '.join(r.observations[:5])}"
        line = trimmed(whole, _LONG).removesuffix("…")
        lines.append(line if line == whole else f"{line} … (cut; open_nodes shows it whole)")
    return "\n".join(lines)


def _start(context: Context, arguments: dict[str, str]) -> str:
    entities, relations = context.memory.count()
    if not entities:
        return "The memory is empty so far. As we work, store what should outlive this conversation."
    head = f"The memory holds {entities:,} entities and {relations:,} relations."
    if topic := arguments.get("topic"):
        found = context.memory.search_nodes(topic, limit=_SHOWN).records
        if found:
            return f"{head} This is what it knows about {topic}:\n{_lines(found)}\nLet us go on from there."
        return f"{head} It knows nothing about {topic} yet. Store what we find out."
    newest = context.memory.newest(_SHOWN)
    return (
        f"{head} The newest entries:\n{_lines(newest)}\n"
        "Tell me in a few sentences where things stand, and search the memory for whatever is missing."
    )


def _remember(context: Context, arguments: dict[str, str]) -> str:
    about = arguments.get("entity")
    where = f" It concerns {about}." if about else ""
    return (
        f"Remember this for later conversations: {arguments['what']}{where}\n"
        "First search the memory for what it is about. If it is there, add observations to it; if not, create "
        "it. Write one fact per observation, with dates where they matter, and relate it to what it belongs to. "
        "If it contradicts something stored, tell me before you change anything."
    )


def _tidy(context: Context, arguments: dict[str, str]) -> str:
    page = context.memory.read_graph(limit=_LOOKED_AT)
    names = {record.name for record in page.records}
    bare = [r.name for r in page.records if not r.observations]
    looks: dict[str, list[str]] = {}
    for record in page.records:
        looks.setdefault(skeleton(record.name), []).append(record.name)
    alike = [" / ".join(group) for group in looks.values() if len(group) > 1]
    loose = sorted({end for r in page.relations for end in (r.source, r.target) if end not in names})
    if page.next is not None:
        loose = []  # beyond what was looked at, an end may well exist
    findings = [
        f"- {title}: {', '.join(found[:_SHOWN])}{' …' if len(found) > _SHOWN else ''}"
        for title, found in (
            ("names that look alike", alike),
            ("entities without observations", bare),
            ("relations lead to names nobody bears", loose),
        )
        if found
    ]
    seen = f"Of the first {len(page.records):,} entities" if page.next else f"Of {len(page.records):,} entities"
    listed = "\n".join(findings) if findings else "- nothing stands out"
    return (
        f"Help me tidy the memory. {seen}:\n{listed}\n"
        "Propose what to merge, complete, correct or delete, and wait for my word before you change anything. "
        "Every change can be undone with `polymnia undo`."
    )


PROMPTS = (
    Prompt(
        name="start_from_memory",
        title="Start from memory",
        help="Begin a session with what the memory knows, in general or about a topic.",
        arguments=(PromptArgument(name="topic", help="What the session is about.", complete=_names),),
        render=_start,
    ),
    Prompt(
        name="remember_this",
        title="Remember this",
        help="Have something stored properly: found, extended or created, and related.",
        arguments=(
            PromptArgument(name="what", help="What to remember.", required=True),
            PromptArgument(name="entity", help="The entity it is about, if you know it.", complete=_names),
        ),
        render=_remember,
    ),
    Prompt(
        name="tidy_the_memory",
        title="Tidy the memory",
        help="Look for look-alike names, empty entities and loose ends, and propose what to do.",
        arguments=(),
        render=_tidy,
    ),
)
