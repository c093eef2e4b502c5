"""Ports: the interfaces the engine needs from a store and from models.

The engine opens a :class:`Snapshot` to read and a :class:`Transaction` to write. The store journals every write in
the same atomic unit, so that no caller can forget to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from polymnia.models import (
    Author,
    Change,
    EntityDraft,
    Event,
    Filters,
    JsonObject,
    Passage,
    Record,
    Relation,
    RelationDraft,
    RelationTouch,
    Seen,
    Session,
    Text,
    Touch,
)

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Copied, Restored

BACKGROUND = "associate"
"""The action of a change that adds relations in the background.

Undoing the newest change skips it, as no caller requested it; its relations are undone with their memory."""

Vector = tuple[int, int, bytes, bytes]
"""The vector of a passage: text number, part, the float16 vector, and the signs of its components as bits.

Vector and bits are empty if the model will never embed the passage."""


Clock = Callable[[], int]
"""Returns the current time in microseconds since 1970, UTC."""


class Analyst(Protocol):
    """Splits texts into passages and their terms, for the word index."""

    @property
    def version(self) -> str:
        """Changes whenever the same text would be analysed differently; an index of another version is rebuilt."""

    def __call__(self, texts: Iterable[Text]) -> Iterable[Passage]:
        """The passages of the texts, in order."""


class Snapshot(Protocol):
    """One consistent view of one project, unaffected by concurrent writes."""

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids by name; names that do not exist are left out."""

    def ids_ever(self, name: str) -> list[int]:
        """The ids of all records that have the name, or had it when they were deleted."""

    def deleted_starting(self, prefix: str, limit: int) -> list[str]:
        """Names with this prefix that a deleted record had."""

    def deleted_uid(self, uid: str) -> list[int]:
        """The ids of deleted records that had this public id; everything that was deleted is read for it."""

    def ids_of(self, uids: Sequence[str]) -> dict[str, int]:
        """The ids by public id; unknown ones are left out."""

    def uids(self, ids: Sequence[int]) -> dict[int, str]:
        """The public ids by id; records that do not exist are left out."""

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records with these ids in creation order; deleted ones are left out."""

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record with an id above ``after``, in creation order."""

    def newest(self, limit: int, kinds: Sequence[str] = ()) -> list[Record]:
        """The most recently created records, newest first: all, or those of some kinds."""

    def kinds(self) -> dict[str, int]:
        """The kinds there are, each with the number of its records, most frequent first."""

    def page(self, skip: int, limit: int) -> list[Record]:
        """A page of all records, newest first, after skipping the first ``skip``."""

    def around(self, id: int, reach: int) -> list[int]:
        """The ids of up to ``reach`` records created just before a record and as many just after it, in order."""

    def scopes(self) -> list[tuple[str | None, int]]:
        """Every scope that has memories, with their number, ordered by path; None is the default scope.

        The cost depends on the number of scopes, not of memories.
        """

    def sessions(self) -> list[Session]:
        """Every session, oldest first. A session is as old as its oldest memory, if that is older."""

    def has_session(self, name: str) -> bool:
        """Whether a session of that name exists."""

    def strongest(self, names: Sequence[str], each: int) -> dict[str, list[Relation]]:
        """The strongest relations of each name, up to ``each``; those without a strength come first."""

    def relations(self) -> Iterator[Relation]:
        """Every relation, in creation order."""

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start or end at one of the names, each once, in creation order."""

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start at one of the names, in creation order."""

    def loose_relations(self) -> list[Relation]:
        """The relations whose source names no record."""

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        """The stored relations that match one of these (source, target, type)."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        """The ids of the records whose name, kind or an observation contains one of the folded forms.

        Exact, and in ascending order.
        """

    def with_texts(self, texts: Sequence[str], last: int) -> dict[str, list[int]]:
        """The ids of the records that have each text as an observation; only rows numbered up to ``last`` count."""

    def same_text(self, text: str, scope: str | None) -> int | None:
        """The oldest memory of a scope whose only observation equals the text in normal form (models.normal).

        The cost does not depend on the number of memories, and no model is needed.
        """

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts contain one of the folded forms; a cheap estimate."""

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix (case-sensitive), in alphabetical order."""

    def uids_starting(self, prefix: str, limit: int) -> list[str]:
        """Public ids that start with the prefix, in alphabetical order."""

    def look_alikes(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs (name from ``names``, stored name) that differ but are easily confused."""

    def size(self) -> int:
        """The approximate number of texts, at least 1; costs nothing."""

    def count(self) -> tuple[int, int]:
        """The number of records and of relations."""

    def noted(self, key: str) -> str | None:
        """The value stored under the key."""

    def notes(self, start: str, end: str, limit: int) -> list[str]:
        """The keys from ``start`` up to but excluding ``end`` that have a value, in order."""

    def changes(self, limit: int, before: int | None = None) -> list[Change]:
        """The latest changes of this project, or the latest before a change, newest first."""

    def changes_since(self, at: int, limit: int) -> list[Change]:
        """The changes made after a time, newest first. The cost depends on their number alone."""

    def change(self, number: int) -> Change | None:
        """One change of this project by its number."""

    def effects(self, change: int) -> list[Touch]:
        """What one change did to each memory, in the order of their ids. The cost depends on the change alone."""

    def relation_effects(self, change: int) -> list[RelationTouch]:
        """What one change did to each relation; one that it only marked otherwise is none."""

    def makers(self, ids: Sequence[int]) -> dict[int, Change]:
        """The change that created each record, by its id; missing where none is known."""

    def history(self, name: str) -> list[Event]:
        """Everything that happened to memories of this name, oldest first."""

    def versions(self, id: int) -> list[tuple[Change, Record]]:
        """A memory as each known change left it, newest first; the first is its current state.

        For a deleted memory, its former states. Purged versions are left out.
        """

    def as_of(self, at: int, name: str | None = None) -> tuple[list[Record], list[Relation]]:
        """The project (or one name with its relations) as it was at a time in microseconds."""

    def touches(self, start: int | None = None, end: int | None = None) -> list[Touch]:
        """What each change from ``start`` up to but excluding ``end`` did to each memory, oldest first."""

    def seen(self, start: int | None = None, end: int | None = None) -> list[Seen]:
        """How often each memory was read in each hour, oldest first; partial hours count in full."""

    # ── for search. A text or memory is identified here by its number: its id within the project ──────────

    @property
    def damage(self) -> set[str]:
        """The indexes found damaged while this snapshot was read; the texts themselves were scanned instead."""

    @property
    def stamp(self) -> int:
        """A number that differs after every change of the project."""

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """The project's number, the last row number assigned, the last row whose text is in the word index, and the
        last change of the store."""

    @property
    def edition(self) -> tuple[int, int]:
        """The state of the word index: how often it was rebuilt, and the number of its last passage."""

    def texts(self, after: int, last: int) -> Iterator[Text]:
        """The searchable texts numbered above ``after`` up to ``last``, in order."""

    def texts_of(self, numbers: Sequence[int]) -> list[Text]:
        """The searchable texts with these numbers that exist, in order."""

    def passages(self, after: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """The indexed passages above a number in blocks: the number of the first passage, the count, the rows."""

    def postings(self, term: str) -> list[bytes]:
        """The postings list of a term in pieces, in the order of the passages."""

    def terms(self, start: str, end: str, limit: int) -> list[str]:
        """Terms of the word index from ``start`` up to but excluding ``end``, in order."""

    def deleted_texts(self) -> list[int]:
        """The numbers of indexed texts that have been deleted."""

    def stale(self) -> list[int]:
        """The numbers of texts whose entry in the word index is missing or outdated, although it has passed them."""

    def changed_texts(self, change: int) -> list[int]:
        """The numbers of texts restored, deleted or modified (but not newly created) since a change."""

    def vectors(self, model: str, after: int, limit: int) -> list[tuple[int, int, int, bytes]]:
        """Vectors with an arrival number above ``after``: (arrival, text, part, bits), in order of arrival."""

    def halves(self, arrivals: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors with these arrival numbers, each with its number, in no particular order."""

    def vectors_of(self, number: int) -> dict[str, list[bytes]]:
        """The vectors of a memory's texts by model, in the order of the texts and their parts."""

    def observation_vectors(self, numbers: Sequence[int]) -> list[tuple[int, int, str, bytes]]:
        """The vectors of the passages of these memories' observations.

        Each with the memory's number, which of its observations it is of, and the model, by memory and observation.
        """

    def models(self) -> dict[str, tuple[int, int]]:
        """The models that have vectors, each with its dimensions and number of vectors."""

    def matching(self, filters: Filters, among: Sequence[int] | None = None, limit: int | None = None) -> list[int]:
        """The numbers of the memories that pass the filters, of all or ``among``; with a limit, any so many of them."""

    def passes_more(self, filters: Filters, count: int) -> bool:
        """Whether more than ``count`` memories pass the filters; cheap if many do."""

    def facets(self, numbers: Sequence[int], limit: int) -> dict[str, list[tuple[str, int]]]:
        """How often each kind, content type, tag, scope and month occurs among these memories, most frequent first."""


class Transaction(Snapshot, Protocol):
    """One atomic unit of change. Its reads see its own writes."""

    @property
    def changed(self) -> bool:
        """Whether a memory or relation has changed so far."""

    def number(self) -> int:
        """The number this change will have."""

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        """Store new records. Their names, and their public ids if they have any, must be unused."""

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        """Replace a record's content with a draft; its earlier version stays in the journal.

        A draft with an update time comes from elsewhere: the record takes over its times and version.
        """

    def add_observations(self, additions: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Append observations to records."""

    def present_observations(self, id: int, texts: Sequence[str]) -> set[str]:
        """Which of the texts are already observations of the record."""

    def remove_observations(self, id: int, texts: Sequence[str]) -> int:
        """Remove every observation equal to one of the texts; return how many were removed."""

    def remove_records(self, ids: Sequence[int]) -> None:
        """Remove records with their observations. The caller removes their relations."""

    def add_relations(self, relations: Iterable[tuple[str, str, str, JsonObject]]) -> list[Relation]:
        """Store relations, each a (source, target, type, extra keys)."""

    def relate(self, drafts: Iterable[RelationDraft]) -> list[Relation]:
        """Store relations from drafts, with strength, context and metadata."""

    def remove_relations(self, ids: Sequence[int]) -> None:
        """Remove relations."""

    def set_extra(self, id: int, extra: JsonObject) -> None:
        """Replace the foreign keys a record carries."""

    def revise(self, id: int, changes: Mapping[str, Any]) -> bool:
        """Change a record's scope, session, category, content_type, summary, kind, tags or metadata.

        Returns whether anything changed; if so, the earlier version stays in the journal.
        """

    def add_session(self, name: str) -> None:
        """Create a session, which must not exist."""

    def remove_sessions(self, names: Sequence[str]) -> None:
        """Remove sessions. The caller removes their memories."""

    def undo(self, change: int | None) -> Change:
        """Undo one change completely, as a change of its own; by default the newest one a caller made.

        Returns the change that was undone; its ``undone_by`` is the number of the undo.
        """

    def restore_record(self, id: int) -> None:
        """Restore a deleted record as it was, with its relations whose other end exists.

        Raises Conflict if another record has its name now.
        """

    def purge(self, ids: Sequence[int]) -> None:
        """Remove records permanently, deleted ones too: from the store, the indexes and the journal.

        Cannot be undone.
        """

    def purge_versions(self, id: int) -> None:
        """Permanently remove a record's earlier versions from the journal and the indexes. Cannot be undone."""

    def forget_notes(self, start: str, end: str) -> None:
        """Delete the values stored under keys from ``start`` up to but excluding ``end``."""

    def note(self, key: str, value: str | None) -> None:
        """Store a small value about the project beside its memories; None deletes it."""

    def put_vectors(self, model: str, dimensions: int, vectors: Sequence[Vector]) -> int:
        """Store the vectors of texts that still exist; return how many were stored. Not journalled."""

    def drop_vectors(self, keep: Sequence[str]) -> int:
        """Delete the vectors of every model not in ``keep``; return how many were deleted."""

    def count_reads(self, reads: Iterable[Seen]) -> None:
        """Add to the stored read counts. Not journalled."""

    def index_words(self, limit: int) -> int:
        """Add up to ``limit`` texts to the word index; return how many are still pending."""

    def drop_words(self) -> None:
        """Empty the word index; all texts become pending."""

    def drop_indexes(self) -> None:
        """Rebuild counts and lists, and empty everything else derived from the texts, whatever its state.

        If all projects share one substring index, each of them is indexed again.
        """

    def index_substrings(self, limit: int) -> int:
        """Add the texts of up to ``limit`` rows to the substring index; return how many rows are still pending."""


class Lock(AbstractContextManager[None], Protocol):
    """A lock that one thread of one process holds at a time; others queue for it. Raises Busy on timeout."""

    def close(self) -> bool:
        """Close the underlying files unless this process holds the lock; return whether they were closed."""


class Store(Protocol):
    """Stores memories. Every implementation passes tests/contract/storage unchanged."""

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        """Open a consistent view of a project. Never waits for a writer."""

    def write(self, project: str, who: Author | str, action: str) -> AbstractContextManager[Transaction]:
        """Open a transaction: on disk when the block exits, rolled back completely on any exception."""

    def stamp(self, project: str) -> int:
        """A number that changes whenever any process has committed a change to the project."""

    def watch(self, changed: Callable[[str], None]) -> bool:
        """Call ``changed`` with the name of a project soon after any process has changed it, until the store is closed.

        It may be called from any thread, for a project that has not changed, and once for several changes. False, and
        nothing is called, if the store cannot tell: then somebody has to ask for its stamp again and again.
        """

    def projects(self) -> list[str]:
        """The names of all projects, oldest first."""

    def about(self) -> JsonObject:
        """A description of the store: ``kind``, ``path``, ``format`` (its version) and ``bytes`` on disk."""

    def check(self, project: str | None, request: CheckRequest) -> CheckResult:
        """Check a project, or what all projects share, for faults. Changes nothing, and skips broken rows."""

    def repair(self, tx: Transaction | None, kinds: Collection[str], request: CheckRequest) -> dict[str, int]:
        """Repair faults of these kinds in the project of a transaction, or in what all projects share.

        Derived data is rebuilt. Data that cannot be read where it is gets moved to where it can be, as part of the
        change. Returns how many faults of each kind were repaired.
        """

    def back_up(self, path: str, *, overwrite: bool = False) -> Copied:
        """Copy a snapshot of the store to a file and verify the copy, without blocking its users.

        The file is written atomically; an existing one is refused unless ``overwrite``.
        """

    def restore(self, path: str) -> Restored:
        """Replace the content of the store with a backup; the former content is saved to a file beside it.

        The backup is verified before anything changes; running servers see all of it or nothing.
        """

    def identity(self) -> object:
        """The identity of the open file; differs once the store was replaced, after which numbers may repeat."""

    def close(self) -> None:
        """Close every file. Closing twice is fine."""


# ── models: embedding texts, scoring texts against a query, judging pairs of texts ────────────────────


class Embedder(Protocol):
    """Embeds texts as unit vectors. Vectors of models with different ids are never compared."""

    @property
    def id(self) -> str:
        """The model and the version of its weights; stored beside every vector."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def unrelated(self) -> float:
        """The mean cosine of two unrelated texts."""

    @property
    def answers(self) -> tuple[float, float]:
        """The cosine of a question and an unrelated text, and of a question and a text that clearly answers it."""

    @property
    def strong(self) -> bool:
        """Whether its similarities are as trustworthy as shared words."""

    @property
    def near(self) -> bool:
        """Whether it runs in this process, so that only its own speed limits a response."""

    def knows(self, text: str) -> bool:
        """Whether the model knows the language of the text."""

    def load(self) -> None:
        """Load the model, which may take a second; a second call costs nothing. Raises a Fault on failure."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """The vectors of the texts: a numpy array with one float32 row each."""


class Reranker(Protocol):
    """Scores how well a text answers a query by reading both together."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def load(self) -> None:
        """Load the model; a second call costs nothing. Raises a Fault on failure."""

    def knows(self, text: str) -> bool:
        """Whether the model knows the language of the text."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The score of each text, from 0 to 1."""


class Judgement(NamedTuple):
    """How the second of two texts relates to the first, as probabilities that sum to 1.

    ``conflict``: both cannot be true; ``update``: the second says what became of the first; ``same``: a paraphrase;
    ``narrower``: the second states part of the first, or is more specific; ``compatible``: about the same thing, and
    both can be true; ``unrelated``: about different things.
    """

    conflict: float
    update: float
    same: float
    narrower: float
    compatible: float
    unrelated: float
    strong: bool = True
    """Whether the model is as good in this language as in English."""

    @property
    def clash(self) -> float:
        """The probability that both cannot be true now."""
        return self.conflict + self.update


class Judge(Protocol):
    """Judges how two texts relate by reading both together, in any language."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def load(self) -> None:
        """Load the model; a second call costs nothing. Raises a Fault on failure."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """One judgement for each pair, in order."""


KINDS = ("fact", "preference", "decision", "plan", "instruction", "question", "other")
"""What a statement may be.

``fact``: what is or was so in someone's world; ``preference``: what someone likes or would rather have; ``decision``: a
choice that was made; ``plan``: what is to be done or to happen; ``instruction``: how the assistant or a team is to act
from now on; ``question``: what is not known or settled yet; ``other``: chatter, requests of the moment, explanations.
"""


class KindModel(Protocol):
    """Tells what kind of statement a text is by the vector an embedder made of it."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def knows(self, embedder: str) -> bool:
        """Whether it was trained on the vectors of the embedder of this id; loads nothing."""

    def chances(self, embedder: str, vectors: Any, features: Sequence[Sequence[float]]) -> list[list[float]]:
        """For each vector, with its outer features, the probability of each of ``KINDS``. Loads the model."""
