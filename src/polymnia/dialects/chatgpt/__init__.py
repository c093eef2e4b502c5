"""The dialect of ChatGPT's connectors and deep research: two tools, `search` and `fetch`, in the shapes OpenAI wants.

They only read. An address of a memory is where it comes from, if it was stored with one, else its resource here.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict

from polymnia.dialects.budget import FIELDS, LIMIT, NextCursor, fitted
from polymnia.dialects.notes import worded
from polymnia.dialects.shapes import about, parameters
from polymnia.engine.content import content, title_of
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Fault, Invalid
from polymnia.models import Record
from polymnia.operation import Context, Operation, Registry, Reply, Template, schema

_RESULTS = 20
_PREFIX = "memory://memory/"
_SOURCES = ("url", "source")  # keys of metadata under which an address may be stored

_INSTRUCTIONS = (
    "A lasting memory of notes, decisions and facts about people and projects. Call search with a question in plain "
    "words, then fetch the results that may answer it. Both only read."
)


Remarks = Annotated[list[str], about("What is left out of the answer, where a budget was given.")]


class Result(Struct, frozen=True):
    """A memory that was found."""

    id: Annotated[str, about("What to fetch it by.")]
    title: Annotated[str, about("Its title.")]
    url: Annotated[str, about("Its address, for citations.")]


class FoundResults(Struct, frozen=True, omit_defaults=True):
    """The memories found, best first."""

    results: Annotated[list[Result], about("The memories found, best first.")]
    notes: Remarks = []
    next_cursor: NextCursor | None = None


class FetchedMemory(Struct, frozen=True, omit_defaults=True):
    """A memory in full."""

    id: Annotated[str, about("Its id.")]
    title: Annotated[str, about("Its title.")]
    text: Annotated[str, about("All it says.")]
    url: Annotated[str, about("Its address, for citations.")]
    metadata: Annotated[dict[str, str], about("Its kind, scope, tags and dates.")]
    notes: Remarks = []


def search(context: Context, query: Annotated[str, about("What to look for, in plain words.")]) -> Reply:
    """Search the memory by meaning and by words, in any language. A question is fine; best results first."""
    if not query.strip():
        raise Invalid("query is empty", field="query", hint="Say what to look for.")
    found = context.memory.search(query, limit=_RESULTS, reasons=False)
    results = [Result(hit.record.uid, _title(hit.record), _address(hit.record)) for hit in found.hits]
    answer = FoundResults(results)
    return Reply(value=answer, structured=answer, notes=[worded(note) for note in found.notes])


def fetch(context: Context, id: Annotated[str, about("The id of a search result.")]) -> Reply:
    """Read a memory in full by the id of a search result."""
    record, links = context.memory.read(id)
    linked = "; ".join(f"{relation.source} {relation.type} {relation.target}" for _, relation in links)
    facts = {
        "kind": record.kind,
        "scope": record.path,
        "tags": ", ".join(record.tags),
        "created_at": moment(record.created),
        "updated_at": moment(record.updated),
        "relations": linked if record.name != record.uid else "",
    }
    answer = FetchedMemory(
        id=record.uid,
        title=_title(record),
        text=content(record),
        url=_address(record),
        metadata={key: value for key, value in facts.items() if value},
    )
    return Reply(value=answer, structured=answer)


def _title(record: Record) -> str:
    return title_of(record) if record.name == record.uid else record.name


def _address(record: Record) -> str:
    """Where a memory comes from, if it was stored with an address of the web; else the resource it is here."""
    from urllib.parse import quote

    stored = (record.metadata.get(key) for key in _SOURCES)
    pages = (one for one in stored if isinstance(one, str) and one.startswith(("https://", "http://")))
    return next(pages, _PREFIX + quote(record.name, safe=""))


def word(fault: Fault) -> Reply:
    """A fault in a sentence, with what to do about it."""
    text = "; ".join(map(str, fault.violations)) if isinstance(fault, BadArguments) else fault.message
    return Reply(text=f"{text}. {fault.hint}".strip(), is_error=True)


def _read(context: Context, name: str) -> str:
    return content(context.memory.read(name)[0])


def _tool(run: Any, title: str, output: type, *lists: str) -> Operation:
    """A function as a tool. ChatGPT wants one parameter to be listed; those of budgets are taken without that."""
    documented = parameters(run, Struct)
    more = [*FIELDS, LIMIT] if lists else FIELDS[:1]

    def call(context: Context, params: Struct) -> Reply:
        given = asdict(params)
        most, cursor, limit = (given.pop(name, None) for name in ("max_tokens", "cursor", "limit"))
        return fitted(run(context, **given), most or context.budget, lists=lists, cursor=cursor, limit=limit)

    return Operation(
        name=run.__name__,
        title=title,
        params=parameters(run, Struct, more=more),
        takes=lambda: schema(documented),
        run=call,
        output=output,
        help=" ".join((run.__doc__ or "").split()),
        reads=True,
        idempotent=True,
    )


def registry() -> Registry:
    """The dialect."""
    tools = (_tool(search, "Search", FoundResults, "results"), _tool(fetch, "Fetch", FetchedMemory))
    template = Template(
        prefix=_PREFIX,
        variable="name",
        name="memory",
        title="One Memory",
        help="One memory by the address that search gives.",
        mime="text/plain",
        read=_read,
        complete=lambda context, prefix: context.memory.names(prefix, 101),
    )
    return Registry(
        name="chatgpt",
        instructions=_INSTRUCTIONS,
        operations={one.name: one for one in tools},
        word=word,
        templates=[template],
    )
