"""The request and the results of a search: the memories found, and why each of them was."""

from __future__ import annotations

from msgspec import Struct, field

from polymnia.models import Filters, Record, Relation, Remark

FACETED = 10_000
"""Memories that facets are counted over."""


class Query(Struct, frozen=True, kw_only=True):
    """A search request."""

    text: str
    filters: Filters = field(default_factory=Filters)
    lanes: str | None = None
    now: int | None = None
    zone: int = 0
    recency: float = 0.0
    related: float = 0.0
    effort: str | None = None
    at_least: float | None = None
    or_nearest: bool = False
    sort: str = "relevance"
    ascending: bool = False


class ResultPage(Struct, frozen=True, kw_only=True):
    """Which page of the results to return, and with what.

    Without a limit: all that contain the query verbatim, and the best others. A page is selected by a cursor, or by an
    offset in the order of the first page: the latest of the same query, or with ``order`` the one of that key, where 0
    keeps one of its own. ``weak`` are two scores: where a memory reaches the first, those below the second are left
    out. With ``turns``, a hit that is a turn of a conversation has the turns before and after it.
    """

    limit: int | None
    cursor: str | None = None
    offset: int | None = None
    order: int | None = None
    weak: tuple[float, float] | None = None
    max_tokens: int | None = None
    facets: bool = False
    reasons: bool = True
    turns: bool = True


class Fragment(Struct, frozen=True, kw_only=True):
    """A piece of a memory's text that answers the query, and the ranges of it that match (``marks``).

    ``observation`` counts from 0; it is None if the piece is from the name, kind, tags or summary.
    """

    text: str
    observation: int | None
    marks: tuple[tuple[int, int], ...] = ()
    score: float = 0.0


class Why(Struct, frozen=True, kw_only=True):
    """Why a memory was found: what each lane says about it, from 0 to 1.

    ``exact`` is the field that contains the query verbatim (name, kind or observation), ``place`` the place in it.
    ``terms`` are the words of the query that were found, ``missing`` those that were not, ``alike`` pairs of a word and
    the term searched instead; ``complete`` says that every word was found whole. ``similarity`` is the cosine of the
    closest passage, ``meaning`` its score, ``lent`` the score from neighbouring turns. ``date`` says that the memory is
    of the time the query asks for: ``time`` is that part of the query, and ``mentions_time`` whether the text itself
    mentions it.
    """

    exact: str | None = None
    place: str | None = None
    terms: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    alike: tuple[tuple[str, str], ...] = ()
    complete: bool = False
    words: float = 0.0
    meaning: float | None = None
    similarity: float | None = None
    model: str | None = None
    lent: float = 0.0
    date: bool = False
    time: str | None = None
    mentions_time: bool = False
    judged: float | None = None


class Turn(Struct, frozen=True, kw_only=True):
    """The turn just before or after a memory that is a turn of a conversation.

    ``who`` is the speaker if the text names one, ``text`` what they say; of a long turn only the beginning (``cut``).
    """

    id: str
    name: str
    who: str | None
    text: str
    cut: bool = False


class Hit(Struct, frozen=True, kw_only=True):
    """A memory that was found, its score, the reasons, and the pieces of it that match.

    Scores fall with the order and mean the same in every search: 1 is for a memory identical to the query, 0.5 and more
    for one that contains it; any other is the probability that the memory answers the query, or how much of the query
    it contains if none of our models has read it. ``cut`` is true if a budget of tokens left room for the pieces only.
    ``previous`` and ``next`` are set for a turn of a conversation: the reply to a question is in the next one.
    ``place`` is where it stands in the order of all pages, from 0.
    """

    record: Record
    score: float
    why: Why
    fragments: tuple[Fragment, ...] = ()
    cut: bool = False
    previous: Turn | None = None
    next: Turn | None = None
    place: int = 0


class Near(Struct, frozen=True):
    """A memory that does not match but is the nearest there is; ``label`` is its name or the beginning of its text."""

    name: str
    kind: str
    score: float
    label: str = ""


class Cut(Struct, frozen=True, kw_only=True):
    """The effect of a budget of tokens: how many memories are whole, cut and left out, and the tokens of the rest."""

    whole: int
    cut: int
    left_out: int
    tokens: int
    budget: int


class Found(Struct, frozen=True, kw_only=True):
    """The results of a search, best first.

    ``total`` counts the matching memories of all pages together. ``pending`` passages have no vector yet, so they were
    searched by words alone. ``nearest`` is set if nothing matches. ``links`` are the memories that each hit is linked
    to, by its id, if the request asks for them. ``order`` is the key of the order, where a page was asked by offset.
    """

    hits: list[Hit]
    total: int = 0
    next: str | None = None
    pending: int = 0
    facets: dict[str, list[tuple[str, int]]] = {}
    nearest: list[Near] = []
    notes: list[Remark] = []
    cut: Cut | None = None
    links: dict[str, list[tuple[Record, Relation]]] = {}
    order: int | None = None


class Lane(Struct, frozen=True, kw_only=True):
    """The results of one lane alone: ``exact``, ``words`` or ``meaning``, the model of the latter, what was looked up,
    and the best memories."""

    name: str
    model: str | None = None
    terms: tuple[str, ...] = ()
    best: list[tuple[str, float]]
    milliseconds: float


class Plan(Struct, frozen=True, kw_only=True):
    """How a query was read and answered: its words with their alternatives, its time with the terms that stand for it,
    the lanes, and the outcome."""

    query: str
    language: str | None
    script: str
    words: list[tuple[str, list[tuple[str, float, int]]]]
    time: tuple[str, list[str]] | None
    lanes: list[Lane]
    fusion: list[tuple[str, dict[str, float]]]
    found: Found
    milliseconds: float
