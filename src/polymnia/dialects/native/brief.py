"""The tool, prompt and resource that say at the start what an agent should know."""

from __future__ import annotations

from polymnia.dialects.native import shapes
from polymnia.dialects.native.shapes import tool
from polymnia.dialects.native.text import TextAnswer, count, day, gist, mention, short_id
from polymnia.engine.brief import Brief
from polymnia.engine.text.calendar import moment
from polymnia.models import Record
from polymnia.operation import Context, Memory, Prompt, Reply, Resource

_BUDGET = 800
_TITLES = {
    "instruction": "Standing instructions:",
    "preference": "Preferences:",
    "decision": "Recent decisions:",
    "question": "Open questions:",
    "plan": "Plans:",
}
_GUESSED = "Read like these, but only guessed; revise(id, kind) settles it:"
_GIST = 200


@tool("brief", "Brief", reads=True, idempotent=True)
def brief(context: Context, budget: shapes.Budget = _BUDGET, project: shapes.Project | None = None) -> Reply:
    """What to know at the start: standing instructions, preferences, recent decisions, open questions, conflicts to
    settle, who and what there is. Call it first.
    """
    context.memory.finding.notify(context.memory.project)  # what is asked next needs the models
    return Reply(text=text(context.memory, budget))


def text(memory: Memory, budget: int, *, guess: bool = True) -> str:
    """A brief in words, within a budget of tokens."""
    found = memory.brief(guess=guess)
    if not found.memories:
        return shapes.empty_project(memory)
    answer = TextAnswer(budget)
    last = "" if found.last is None else f", last change {moment(found.last.at)[:16]} by {found.last.who}"
    size = f"{count(found.memories, 'memory', 'memories')}, {count(found.relations, 'relation', 'relations')}"
    answer.force(f"Project {memory.project!r}: {size}{last}.")
    for title, lines in _sections(found):
        answer.section(title, lines, lambda more: f"- … {more:,} more", reserve=30)
    if answer.left_out:
        answer.force(f"{count(answer.left_out, 'line is', 'lines are')} left out: a larger budget, or recall.")
    return str(answer)


def _sections(found: Brief) -> list[tuple[str, list[str]]]:
    sections = [(title, [_line(record) for record in found.sections.get(kind, ())]) for kind, title in _TITLES.items()]
    guessed = [f"{_line(record)} {kind}?" for kind in _TITLES for record in found.guessed.get(kind, ())]
    conflicts = [f"- {mention(one)} against {mention(other)}" for one, other in found.conflicts]
    kinds = [
        f"- {one.kind} ({one.count:,}): {', '.join(short_id(record) for record in one.newest)}"
        for one in found.entities
    ]
    scopes = [f"- {one.path} ({one.total:,})" for one in found.scopes]
    return [
        *sections[:2],
        ("Conflicts to settle (revise with superseded_by, or forget one):", conflicts),
        *sections[2:],
        (_GUESSED, guessed),
        ("Entities, newest first:", kinds),
        ("Newest memories:", [_line(record) for record in found.newest]),
        ("Scopes (read / shows all):", scopes if len(scopes) > 1 else []),
    ]


def _line(record: Record) -> str:
    return f"- {gist(record, _GIST)} ({day(record.created)}, {short_id(record)})"


RESOURCE = Resource(
    uri="memory://brief",
    name="brief",
    title="Brief",
    help="What to know at the start of a session.",
    mime="text/plain",
    read=lambda context: text(context.memory, _BUDGET),
)

PROMPT = Prompt(
    name="brief",
    title="Start with what is known",
    help="Begin a session with standing instructions, preferences, decisions and open questions.",
    arguments=(),
    render=lambda context, _: text(context.memory, _BUDGET),
)
