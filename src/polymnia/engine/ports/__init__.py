"""What the rules of memory need from a store: the lower waist of the house.

An engine opens a :class:`Snapshot` to read and a :class:`Transaction` to change. Whatever a transaction
does is journalled by the store in the same atomic unit: the rules cannot forget to.
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
    Seen,
    Session,
    Text,
    Touch,
)

if TYPE_CHECKING:
    from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Copied, Restored

DRAWN_LATER = "associate"
"""The action of a change that draws relations in the background.

Nobody asked for it by itself: an undo of the newest change passes it over, and what it drew goes with the memory."""

Vector = tuple[int, int, bytes, bytes]
"""Of one passage: its text, its part, the vector in half precision (float16), and the signs of its numbers as bits.

Both are empty where the passage has no vector of the model and will get none."""


Clock = Callable[[], int]
"""Gives the time: microseconds since 1970 in UTC."""


class Analyst(Protocol):
    """Reads texts for the word index: what passages they have, and which terms stand in each."""

    @property
    def version(self) -> str:
        """Changes whenever the same text would be read otherwise; an index of another version is made anew."""

    def __call__(self, texts: Iterable[Text]) -> Iterable[Passage]:
        """The passages of the texts, in order."""


class Snapshot(Protocol):
    """One consistent view of one project, whatever others write meanwhile."""

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those of the names that exist."""

    def ids_ever(self, name: str) -> list[int]:
        """The ids of all records that bear the name or bore it when they were deleted."""

    def ids_of(self, uids: Sequence[str]) -> dict[str, int]:
        """The ids of the records with these public ids."""

    def uids(self, ids: Sequence[int]) -> dict[int, str]:
        """The public ids of those of the records that are there."""

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records of these ids in the order of their making; ids that are gone are left out."""

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record whose id is above ``after``, in the order of their making."""

    def newest(self, limit: int) -> list[Record]:
        """The records made last, newest first."""

    def page(self, skip: int, limit: int) -> list[Record]:
        """The records made last, newest first, without the first so many."""

    def around(self, id: int, reach: int) -> list[int]:
        """The ids of up to so many records made just before a record, and as many made just after it, in order."""

    def scopes(self) -> list[tuple[str | None, int]]:
        """Every scope that has memories, with how many, in order of their paths; None is the default one.

        Costs as much as there are scopes, however many memories there are.
        """

    def sessions(self) -> list[Session]:
        """Every session, in the order they began. Memories older than their session make it as old as they are."""

    def has_session(self, name: str) -> bool:
        """Whether there is a session of that name."""

    def strongest(self, names: Sequence[str], each: int) -> dict[str, list[Relation]]:
        """For each of the names its strongest relations, up to so many: those without a strength first."""

    def relations(self) -> Iterator[Relation]:
        """Every relation, in the order of their making."""

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start or end at one of the names, each once, in the order of their making."""

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start at one of the names, in the order of their making."""

    def loose_relations(self) -> list[Relation]:
        """The relations whose source names nothing."""

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        """Every stored relation with one of these (source, target, type)."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records whose name, kind or an observation contains one of the folded forms.

        Exact, and in ascending order.
        """

    def saying(self, texts: Sequence[str], last: int) -> dict[str, list[int]]:
        """For each of the texts that is an observation, the ids of its records; of the rows up to a number."""

    def same_text(self, text: str, scope: str | None) -> int | None:
        """The oldest memory of a scope that says exactly the same as a text (models.normal), and nothing else.

        Costs the same however many memories there are, and needs no model.
        """

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts hold one of the folded forms; cheap, may err a little."""

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix (exact case), in alphabetical order."""

    def uids_starting(self, prefix: str, limit: int) -> list[str]:
        """Public ids that start with the prefix, in alphabetical order."""

    def look_alikes(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs (given name, stored name) that differ but could be taken for one another."""

    def size(self) -> int:
        """About how many texts there are, at least 1; costs nothing."""

    def count(self) -> tuple[int, int]:
        """How many records and relations there are."""

    def noted(self, key: str) -> str | None:
        """What was stored under the key."""

    def notes(self, start: str, end: str, limit: int) -> list[str]:
        """The keys from ``start`` up to but without ``end`` that something was stored under, in order."""

    def changes(self, limit: int) -> list[Change]:
        """The newest changes of this project, newest first."""

    def change(self, number: int) -> Change | None:
        """One change of this project by its number."""

    def history(self, name: str) -> list[Event]:
        """Everything that happened to memories of this name, oldest first."""

    def versions(self, id: int) -> list[tuple[Change, Record]]:
        """A memory as it was after each change that is known of it, newest first; the first is how it is now.

        Of a deleted one, the states it had. What was deleted for good is left out.
        """

    def as_of(self, at: int, name: str | None = None) -> tuple[list[Record], list[Relation]]:
        """The project (or the one name with its relations) as it was at a time in microseconds."""

    def touches(self, start: int | None = None, end: int | None = None) -> list[Touch]:
        """What every change from one time up to but without another did to each memory, oldest first."""

    def seen(self, start: int | None = None, end: int | None = None) -> list[Seen]:
        """How often each memory was read in each hour, oldest first; hours that lie partly in the time count whole."""

    # ── what search reads. A text or memory is called here by its number: its id within the project ───────

    @property
    def damage(self) -> set[str]:
        """The indexes found damaged while this snapshot was read; what they should have answered, the texts did."""

    @property
    def stamp(self) -> int:
        """A number that another change of the project makes another one."""

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """Where things stand: the project's number, the last number given to a row, the last one whose text is in
        the word index, and the last change of the store."""

    @property
    def edition(self) -> tuple[int, int]:
        """Which word index there is: how often it was started anew, and the number of its last passage."""

    def texts(self, after: int, last: int) -> Iterator[Text]:
        """The searchable texts with numbers above one and up to another, in order."""

    def texts_of(self, numbers: Sequence[int]) -> list[Text]:
        """The searchable texts of these numbers that are there, in order."""

    def passages(self, after: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """The indexed passages above a number, block by block: the number of the first one, how many, the rows."""

    def postings(self, term: str) -> list[bytes]:
        """Where a term stands: pieces that make up one list of postings, in the order of the passages."""

    def terms(self, start: str, end: str, limit: int) -> list[str]:
        """Terms of the word index from ``start`` up to but without ``end``, in order."""

    def gone(self) -> list[int]:
        """The numbers of indexed texts that have been deleted."""

    def stale(self) -> list[int]:
        """The numbers of texts that the word index has passed but does not hold as they are."""

    def moved(self, change: int) -> list[int]:
        """The numbers of texts that came, went or changed otherwise than by being made, since a change."""

    def vectors(self, model: str, after: int, limit: int) -> list[tuple[int, int, int, bytes]]:
        """Vectors that arrived after another one: (arrival, text, part, bits), in the order of arrival."""

    def halves(self, arrivals: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors with these arrival numbers, each with its number, in no order."""

    def vectors_of(self, number: int) -> dict[str, list[bytes]]:
        """The vectors of a memory's texts, model by model, in the order of the texts and their parts."""

    def models(self) -> dict[str, tuple[int, int]]:
        """The models there are vectors of, each with its dimensions and how many vectors there are."""

    def matching(self, wanted: Filters, among: Sequence[int] | None = None, limit: int | None = None) -> list[int]:
        """The numbers of the memories that pass the filters, of all or of some; in order, with a limit any so many."""

    def passes_more(self, wanted: Filters, count: int) -> bool:
        """Whether more than so many memories pass the filters; cheap where many do."""

    def facets(self, numbers: Sequence[int], limit: int) -> dict[str, list[tuple[str, int]]]:
        """How often each kind, content type, tag, scope and month occurs among these memories, most often first."""


class Transaction(Snapshot, Protocol):
    """One atomic unit of change. What it reads includes what it has written."""

    @property
    def changed(self) -> bool:
        """Whether a memory or relation has been changed so far."""

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        """Store new records. The names must be free, and the public ids that are given."""

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        """Give a record a new kind and new observations; its earlier version stays in the journal.

        A draft that has a time of update comes from elsewhere: the record takes its times and version over.
        """

    def add_observations(self, additions: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Append observations to records."""

    def present_observations(self, id: int, texts: Sequence[str]) -> set[str]:
        """Which of the texts are already observations of the record."""

    def remove_observations(self, id: int, texts: Sequence[str]) -> int:
        """Remove every observation equal to one of the texts; answers how many went."""

    def remove_records(self, ids: Sequence[int]) -> None:
        """Remove records with their observations. Their relations are the caller's to remove."""

    def add_relations(self, relations: Iterable[tuple[str, str, str, JsonObject]]) -> list[Relation]:
        """Store relations given as (source, target, type, extra keys)."""

    def relate(self, drafts: Iterable[RelationDraft]) -> list[Relation]:
        """Store relations that carry more than their ends."""

    def remove_relations(self, ids: Sequence[int]) -> None:
        """Remove relations."""

    def set_extra(self, id: int, extra: JsonObject) -> None:
        """Replace the foreign keys a record carries."""

    def revise(self, id: int, changes: Mapping[str, Any]) -> bool:
        """Give a record another scope, session, category, content_type, summary, kind, tags or metadata.

        Answers whether anything is another now; if so the earlier version stays in the journal.
        """

    def add_session(self, name: str) -> None:
        """Begin a session. It must not be there."""

    def remove_sessions(self, names: Sequence[str]) -> None:
        """End sessions; their memories are the caller's to remove."""

    def undo(self, change: int | None) -> Change:
        """Take back one change whole, as a change of its own; the newest one that somebody made when none is named.

        Answers the change that was undone; its ``undone_by`` is the number of the undo.
        """

    def bring_back(self, id: int) -> None:
        """Bring back a record that was deleted, as it was, with its relations whose other ends are there.

        Refused with Conflict when another record has its name now.
        """

    def purge(self, ids: Sequence[int]) -> None:
        """Remove records for good, deleted ones too: from the store, the indexes and the journal.

        Cannot be undone.
        """

    def forget_past(self, id: int) -> None:
        """Remove for good what the journal and the indexes keep of a record's earlier versions. Cannot be undone."""

    def forget_notes(self, start: str, end: str) -> None:
        """Forget what was stored under keys from ``start`` up to but without ``end``."""

    def note(self, key: str, value: str | None) -> None:
        """Keep a small fact about the project beside its memories (None forgets it)."""

    def put_vectors(self, model: str, dimensions: int, vectors: Sequence[Vector]) -> int:
        """Keep vectors of texts that are still there; answers how many were kept. No change of the memory."""

    def drop_vectors(self, keep: Sequence[str]) -> int:
        """Let go of the vectors of every model but these; answers how many went."""

    def count_reads(self, reads: Iterable[Seen]) -> None:
        """Add counts of reads to those there are. No change of the memory."""

    def list_words(self, most: int) -> int:
        """Bring up to so many texts into the word index; answers how many still wait."""

    def drop_words(self) -> None:
        """Empty the word index; everything waits to be indexed again."""

    def drop_indexes(self) -> None:
        """Make counts and lists again, and empty all else that is made of the texts, whatever state it is in.

        The substring index may be one for all projects: each of them then waits to be indexed again.
        """

    def index_characters(self, most: int) -> int:
        """Bring the texts of up to so many more rows into the substring index; answers how many rows still wait."""


class Lock(Protocol):
    """A right that one thread of one process has at a time; others wait in line."""

    def take(self) -> None:
        """Wait for the turn. Raises Busy when it does not come in time."""

    def give(self) -> None:
        """End the turn."""

    def close(self) -> bool:
        """Let go of whatever the line is kept in, unless somebody here has the turn; answers whether it did."""


class Store(Protocol):
    """Keeps memories. Every engine passes tests/contract/storage unchanged."""

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        """One consistent view of a project. Never waits for a writer."""

    def write(self, project: str, who: Author | str, action: str) -> AbstractContextManager[Transaction]:
        """One atomic unit: on disk when the block is left, rolled back whole on any exception."""

    def stamp(self, project: str) -> int:
        """A number that changes whenever any process has committed a change to the project."""

    def projects(self) -> list[str]:
        """The names of all projects, oldest first."""

    def about(self) -> JsonObject:
        """What the store is: ``kind``, ``path``, ``format`` (its version) and ``bytes`` on disk."""

    def check(self, project: str | None, asked: CheckRequest) -> CheckResult:
        """Look for faults in a project, or in what all projects share. Changes nothing, and reads past broken rows."""

    def mend(self, tx: Transaction | None, kinds: Collection[str], asked: CheckRequest) -> dict[str, int]:
        """Mend faults of these kinds in the project of a transaction, or in what all projects share.

        Data that is made of other data is made again. What cannot be read is put where it can be, as part of the
        change. Answers how many of each kind were mended.
        """

    def back_up(self, path: str, *, overwrite: bool = False) -> Copied:
        """Copy the store as it is at one moment to a file, and verify the copy. Whoever uses it goes on meanwhile.

        The file is there whole or not at all; one that exists is refused unless ``overwrite``.
        """

    def restore(self, path: str) -> Restored:
        """Put a backup in place of what the store holds, which is kept in a file beside it.

        Verified before anything changes; servers that are running see all of it or nothing.
        """

    def place(self) -> object:
        """What is open; another value when something else lies in the store's place and numbers may repeat."""

    def close(self) -> None:
        """Let go of every file. Closing twice is fine."""


# ── models: vectors of texts, how well a text answers a query, what two texts are to each other ───────


class Embedder(Protocol):
    """Turns texts into vectors of unit length. Vectors of models with different ids are never compared."""

    @property
    def id(self) -> str:
        """The model and the version of its weights; stored beside every vector."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @property
    def unrelated(self) -> float:
        """The mean cosine of two texts that have nothing in common."""

    @property
    def answers(self) -> tuple[float, float]:
        """The cosine of a question and a text that has nothing to do with it, and of one that clearly answers it."""

    @property
    def strong(self) -> bool:
        """Whether what it says of two texts is to be trusted as much as the words they share."""

    @property
    def near(self) -> bool:
        """Whether it computes in this process, so that an answer is only a matter of its speed."""

    def knows(self, text: str) -> bool:
        """Whether the model knows the language of the text."""

    def load(self) -> None:
        """Make ready, which may take a second; a second call costs nothing. Raises a Fault when it cannot be."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One row of float32 (numpy) for each text."""


class Reranker(Protocol):
    """Reads a query and a text together and judges how well one answers the other."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def load(self) -> None:
        """Make ready; a second call costs nothing. Raises a Fault when it cannot be."""

    def knows(self, text: str) -> bool:
        """Whether the model knows the language of the text."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """From 0 to 1 for each text."""


class Judgement(NamedTuple):
    """What the second of two texts is to the first, as chances that sum to 1.

    ``conflict``: both cannot hold; ``update``: the second says what has become of the first; ``same``: other words for
    the same; ``narrower``: the second says a part of the first, or more exactly; ``compatible``: about one thing, and
    both may hold; ``unrelated``: about different things.
    """

    conflict: float
    update: float
    same: float
    narrower: float
    compatible: float
    unrelated: float
    strong: bool = True
    """Whether the network for this language is as good as the one for English."""

    @property
    def clash(self) -> float:
        """The chance that both cannot hold now."""
        return self.conflict + self.update


class Judge(Protocol):
    """Reads two texts together and judges what one is to the other, in any language."""

    @property
    def id(self) -> str:
        """The model and the version of its weights."""

    def load(self) -> None:
        """Make ready; a second call costs nothing. Raises a Fault when it cannot be."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """One judgement for each pair, in order."""
