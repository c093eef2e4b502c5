"""What a search is asked, and what it answers: the memories found, and why each of them."""

from __future__ import annotations

from msgspec import Struct, field

from polymnia.models import Filters, Record, Relation, Remark


class Query(Struct, frozen=True, kw_only=True):
    """What a caller asks for."""

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
    """Which part of an answer is wanted, and what of it.

    Without a limit: all that hold the query as it stands, and the best others. A page is asked for by a cursor, or by
    how many to skip. With ``turns``, a hit that is a turn of a dialogue has the turns before and after it.
    """

    limit: int | None
    cursor: str | None = None
    offset: int | None = None
    max_tokens: int | None = None
    facets: bool = False
    reasons: bool = True
    turns: bool = True


class Fragment(Struct, frozen=True, kw_only=True):
    """A piece of a memory's text that answers the query: where it stands, and which parts of it match.

    ``observation`` counts from 0; it is None when the piece is of the name, kind, tags or summary. ``marks`` are ranges
    of the piece itself.
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
    """What was said just before or after a memory that is a turn of a dialogue.

    ``who`` says so where the text names its speaker, ``text`` is what they say, of a long turn the beginning (``cut``).
    """

    id: str
    name: str
    who: str | None
    text: str
    cut: bool = False


class Hit(Struct, frozen=True, kw_only=True):
    """A memory that was found, its score, why, and the pieces of it that say so.

    Scores fall with the order of an answer and mean the same in every answer: 1 is for a memory that is the query, 0.5
    and more for one that contains it; any other is the chance that the memory answers the query, or how much of the
    query it says where none of our models has read it. ``cut`` is true when a budget of tokens left room for the pieces
    only. ``previous`` and ``next`` are given for a turn of a dialogue: the reply to a question is in the next one.
    """

    record: Record
    score: float
    why: Why
    fragments: tuple[Fragment, ...] = ()
    cut: bool = False
    previous: Turn | None = None
    next: Turn | None = None


class Near(Struct, frozen=True):
    """Something that is not what was asked for, but the nearest there is; ``label`` is what a reader knows it by."""

    name: str
    kind: str
    score: float
    label: str = ""


class Cut(Struct, frozen=True, kw_only=True):
    """What a budget of tokens left: how many memories are whole, cut and left out, and the tokens of all shown."""

    whole: int
    cut: int
    left_out: int
    tokens: int
    budget: int


class Found(Struct, frozen=True, kw_only=True):
    """The answer to a search, best first.

    ``total`` counts the memories considered a match, all pages together. ``pending`` passages have no vector yet, so
    they were searched by words alone. ``nearest`` is given when nothing matches. ``links`` are the memories that each
    hit is linked to, by its id, where they were asked for.
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


class Lane(Struct, frozen=True, kw_only=True):
    """The results of one lane alone: ``exact``, ``words`` or ``meaning``, the model of the latter, what was looked up,
    and the best memories."""

    name: str
    model: str | None = None
    asked: tuple[str, ...] = ()
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
