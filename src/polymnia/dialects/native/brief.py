"""The tool, prompt and resource that say at the start what an agent should know."""

from __future__ import annotations

from typing import Annotated
from zlib import crc32

from polymnia.dialects.native import shapes
from polymnia.dialects.native.shapes import tool
from polymnia.dialects.native.text import TextAnswer, count, day, gist, mention, minute, short_id, shortened
from polymnia.dialects.shapes import about
from polymnia.engine.brief import Brief
from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.content import position
from polymnia.errors import Invalid
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
_GIST, _TITLE = 200, 60
_LINES, _SHARE = 8, 100  # lines of a kind that are shown, and the part of a budget that has room for one more
_FOOT = 45  # tokens for the last line
_PAGES = 1_000
_Section = tuple[str, list[str]]


@tool("brief", "Brief", reads=True, idempotent=True)
def brief(
    context: Context,
    limit: Annotated[int, about("Lines of a section.", ge=1, le=1_000)] | None = None,
    budget: shapes.Budget = _BUDGET,
    cursor: str | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """What to know at the start: standing instructions, preferences, recent decisions, open questions, conflicts to
    settle, who and what there is. Call it first.
    """
    context.memory.finding.notify(context.memory.project)  # what is asked next needs the models
    asked = crc32(repr((limit, budget)).encode()) & 0xFFFF
    page, question = map(int, position("brief", cursor, 2) or (0, asked))
    if question != asked or not 0 <= page < _PAGES:
        raise Invalid("The cursor is of another call", field="cursor", hint="Repeat that one, or leave cursor out.")
    return Reply(text=text(context.memory, budget, limit=limit, page=page, next=cursor_at("brief", page + 1, asked)))


def text(
    memory: Memory, budget: int, *, guess: bool = True, limit: int | None = None, page: int = 0, next: str | None = None
) -> str:
    """A brief in words, within a budget of tokens: what a page has room for, behind what the pages before it had."""
    found = memory.brief(guess=guess)
    if not found.memories:
        return shapes.empty_project(memory)
    sections = _sections(found)
    for _ in range(page):
        _, sections = _page(memory, found, sections, budget, limit)
    answer, _ = _page(memory, found, sections, budget, limit)
    if answer.left_out:
        more = "a larger budget, or recall" if next is None else f'cursor "{next}", a larger budget, or recall'
        answer.force(f"{count(answer.left_out, 'line is', 'lines are')} left out: {more}.")
    return str(answer)


def _page(
    memory: Memory, found: Brief, sections: list[_Section], budget: int, limit: int | None
) -> tuple[TextAnswer, list[_Section]]:
    """What there is room for, and what is left of each section; at least one line is shown."""
    answer = TextAnswer(budget)
    last = "" if found.last is None else f", last change {minute(found.last.at)} by {shortened(found.last.who, 60)}"
    size = f"{count(found.memories, 'memory', 'memories')}, {count(found.relations, 'relation', 'relations')}"
    answer.force(f"Project {memory.project!r}: {size}{last}.")
    left = []
    for title, lines in sections:
        most = limit or (max(_LINES, budget // _SHARE) if title in _TITLES.values() else None)
        left.append((title, lines[answer.section(title, lines, most, _FOOT) :]))
    if left == sections and (first := next((at for at, (_, lines) in enumerate(left) if lines), None)) is not None:
        title, lines = left[first]  # there is no room for any line as it is
        answer.begin(lines[0], _FOOT)
        answer.left_out -= 1
        left[first] = title, lines[1:]
    return answer, left


def _sections(found: Brief) -> list[_Section]:
    sections = [(title, _given(found, kind)) for kind, title in _TITLES.items()]
    guessed = [f"{_line(record)} {kind}?" for kind in _TITLES for record in found.guessed.get(kind, ())]
    conflicts = [f"- {mention(one)} against {mention(other)}" for one, other in found.conflicts]
    if found.more_conflicts:
        conflicts.append("- and more, which are shown when some of these are settled")
    kinds = [f"- {one.kind} ({one.count:,}): {', '.join(map(_called, one.newest))}" for one in found.entities]
    scopes = [f"- {one.path} ({one.total:,})" for one in found.scopes]
    return [
        *sections[:2],
        ("Conflicts to settle (revise one: superseded_by, or a text that fits both; or forget it):", conflicts),
        *sections[2:],
        (_GUESSED, guessed),
        ("Entities and other kinds, newest first:", kinds),
        ("Newest memories:", [_line(record) for record in found.newest]),
        ("Scopes (read / shows all):", scopes if len(scopes) > 1 else []),
    ]


def _given(found: Brief, kind: str) -> list[str]:
    older = [f"- there may be older ones: recall(kind={kind!r})"] if kind in found.older else []
    return [*(_line(record) for record in found.sections.get(kind, ())), *older]


def _called(record: Record) -> str:
    """An entity by its name; a memory of such a kind, which has none, by what it says, too."""
    return short_id(record) if record.name != record.uid else f'{short_id(record)} "{gist(record, _TITLE)}"'


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
