"""Keeps the indexes of a project up to date: substrings, words, vectors and tags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from math import log2

from polymnia.engine.ports import Analyst, Vector
from polymnia.errors import Invalid
from polymnia.models import Passage, Seen, Text
from polymnia.storage import rows
from polymnia.storage.rows import HOUR, PASSAGE, POSTING
from polymnia.storage.snapshot import ProjectSnapshot
from polymnia.storage.statements import StatementRunner

# New texts are scanned until there are this many of them, then indexed together: indexing a single text would dominate
# the cost of a commit, and a hundred together cost little more than one.
_UNINDEXED = 512
_UNLISTED = 1024  # the same for the word index; every searching process analyses the texts not in it
_LONG = 200_000  # characters of new text that are indexed at once, because every process would have to analyse them
_MAX_LISTED = 8192  # texts of other changes that a change indexes at most
BATCH = 10_000  # the same for the substring index: so many rows are held in memory
_VERSION = "words"  # the note with the version of the analyst that built the word index


class IndexWriter(ProjectSnapshot):
    """A project open for writing, with its indexes."""

    def __init__(
        self, run: StatementRunner, project: str, analyst: Analyst | None, row: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(run, project, row)
        self._analyst = analyst
        self._first = self._seq
        self._noted = False
        self._written = 0  # characters of new texts

    def _index_due(self) -> None:
        """Index new texts, if enough of them are pending."""
        if self._seq - self._indexed > _UNINDEXED:
            self._index_new(max(BATCH, self._seq - self._first))
        if self._seq - self._listed > _UNLISTED or self._written > _LONG:
            limit = max(_MAX_LISTED, self._seq - self._first)
            # An index of another version is rebuilt here if it is small, otherwise by a reindex: part of an index would
            # leave the rest to every reader.
            if not self._listed or self._seq <= limit or self._is_current():
                self._index_words(limit)

    # ── substrings ────────────────────────────────────────────────────────────────────────────────────

    def index_substrings(self, limit: int) -> int:
        self._noted = True
        self._index_new(limit)
        self._run("set_indexed", (self._indexed, self._project))
        return self._seq - self._indexed

    # Each engine has its own index of substrings.

    def _index_new(self, limit: int) -> None:
        """Index the texts of up to ``limit`` new rows."""
        raise NotImplementedError

    def _index_text(self, id: int, folded: str) -> None:
        """Index a text whose number the index has passed already."""
        raise NotImplementedError

    def _unindex(self, id: int) -> None:
        """Remove a text from the index."""
        raise NotImplementedError

    def reindex_text(self, id: int) -> None:
        """Index a text again, whatever the index holds of it."""
        raise NotImplementedError

    def _drop_substring_index(self) -> None:
        """Empty the index: all texts become pending."""
        raise NotImplementedError

    def _merge_substring_index(self) -> None:
        """Remove from the index what is only marked as deleted."""
        raise NotImplementedError

    def _unindex_deleted(self, id: int) -> None:
        """Remove a deleted text from the substring index, and mark it as deleted in the word index."""
        self._unindex(id)
        if id <= self._base + self._listed:
            self._run("add_gone", (id,))

    def _index_restored(self, id: int, text: str) -> None:
        """Index a text that was restored under its old number."""
        self._index_text(id, text)
        if id <= self._base + self._listed:
            known = self._run("drop_gone", (id - 1, id)).fetchall()
            if not known:  # it did not exist when the texts around it were indexed
                self._run("add_stale", (id,))

    def _reindex_head(self, id: int) -> None:
        """Analyse the head of a memory again: its text has changed, or is all that is left to search."""
        self._delete_vectors(id)
        if id <= self._base + self._listed:
            self._run("add_stale", (id,))

    def _change_head(self, id: int, name: str, kind: str) -> None:
        """Index the head of a memory again, whose kind, tags or summary have changed."""
        self._unindex(id)
        self._index_text(id, f"{rows.fold(name)}\x01{rows.fold(kind)}")
        self._reindex_head(id)

    def drop_indexes(self) -> None:
        self._drop_substring_index()
        self.drop_words()
        self.drop_vectors([])
        for statement in ("drop_scopes", "count_scopes", "drop_tags", "list_tags"):
            self._run(statement, (self._project,))
        (self._texts,) = self._run("count_texts", (self._base, self._top)).fetchone()
        self._run("set_texts", (self._texts, self._project))

    # ── tags ──────────────────────────────────────────────────────────────────────────────────────────

    def _tag(self, id: int, tags: Iterable[str]) -> None:
        for tag in tags:
            self._run("add_tag", (self._project, tag, id))

    def _untag(self, id: int, tags: Iterable[str]) -> None:
        for tag in tags:
            self._run("drop_tag", (self._project, tag, id))

    def _tags_of(self, id: int) -> list[str]:
        row = self._run("tags_of", (id,)).fetchone()
        return rows.decode(row[0]) if row is not None and row[0] else []

    # ── words ─────────────────────────────────────────────────────────────────────────────────────────

    def index_words(self, limit: int) -> int:
        self._noted = True
        self._index_words(limit)
        self._run("set_listed", (self._listed, self._passages, self._project))
        return self._seq - self._listed

    def _index_words(self, limit: int) -> None:
        if self._analyst is None:
            return
        if not self._is_current():
            self.drop_words()
            self.note(_VERSION, self._analyst.version)
        last = min(self._listed + limit, self._seq)
        if stale := self.texts_of(self.stale()):
            self._add_words(stale)
            for text in stale:  # one that is deleted now is still indexed if it is restored
                self._run("drop_stale", (self._base + text.id - 1, self._base + text.id))
        while self._listed < last:
            end = min(self._listed + _MAX_LISTED, last)  # a batch is held in memory
            self._add_words(self.texts(self._listed, end))
            self._listed = end

    def _is_current(self) -> bool:
        """Whether the word index was built by this version of the analyst."""
        return self._analyst is not None and self.noted(_VERSION) == self._analyst.version

    def _add_words(self, texts: Iterable[Text]) -> None:
        """Append the passages of texts to the index."""
        assert self._analyst is not None
        packed = bytearray()
        postings: defaultdict[str, bytearray] = defaultdict(bytearray)
        last, low, high = self._passages, rows.SPAN, 0
        for one in self._analyst(texts):
            last += 1
            length = min(255, int(16 * log2(1 + one.length)))  # steps of 4.4 %
            packed += PASSAGE.pack(
                one.text, one.memory, one.thread, min(one.day, 65535), min(one.part, 65535), one.script, length,
                one.embeds, one.weight,
            )  # fmt: skip
            low, high = min(low, one.text), max(high, one.text)
            for term, count in one.terms.items():
                postings[term] += POSTING.pack(last, min(count, 255), length)
        if last > self._passages:
            first = self._passages + 1
            self._run("add_block", (self._project, first, last - self._passages, low, high, bytes(packed)))
            # Sorted, so that adjacent rows are written together.
            new = ((self._project, term, first, bytes(postings[term])) for term in sorted(postings))
            self._run.many("add_posting", new)
            self._passages = last

    def drop_words(self) -> None:
        self._noted = True
        for statement in ("drop_blocks", "drop_postings"):
            self._run(statement, (self._project,))
        for statement in ("drop_gone", "drop_stale"):
            self._run(statement, (self._base, self._top))
        self._listed = self._passages = 0
        self._edition += 1
        self._run("begin_edition", (self._edition, self._project))

    def _purge_texts(self, memory: int) -> None:
        """Remove the current and deleted texts of a record from the word index and the vectors."""
        current = [memory - self._base, *(row - self._base for row, _ in self._run("texts", (memory,)).fetchall())]
        items = self._run("items_of_owner", (memory,))
        former = {ref - self._base for _, _, kind, ref, *_ in items if kind in "mo"}
        stale = set(self.stale())
        texts = {text.id: text for text in self.texts_of(current) if text.id not in stale} if self._is_current() else {}
        for number in {*current, *former}:
            passages = self._analyst([texts[number]]) if self._analyst is not None and number in texts else ()
            self._purge_text(self._base + number, list(passages))

    def _purge_text(self, id: int, passages: Sequence[Passage] = ()) -> None:
        """Permanently remove a text from the word index and the vectors.

        ``passages`` are those of the text, if it has not changed since it was indexed.
        """
        self._delete_vectors(id)
        number = id - self._base
        if number > self._listed:
            return
        self._run("drop_gone", (id - 1, id))
        self._run("drop_stale", (id - 1, id))
        blocks: dict[int, int] = {}  # passage → block
        for first, count, data in self._run("blocks_with", (self._project, number)).fetchall():
            left = bytearray(data)
            for i in range(min(count, len(data) // PASSAGE.size)):  # fewer if it is damaged
                at = i * PASSAGE.size
                if PASSAGE.unpack_from(data, at)[0] == number:
                    left[at : at + PASSAGE.size] = bytes(PASSAGE.size)
                    blocks[first + i] = first
            self._run("set_block", (bytes(left), self._project, first))
        if len(passages) == len(blocks):
            places = {(term, first) for one in passages for term in one.terms for first in blocks.values()}
        else:  # deleted or changed since: its terms are unknown, so every term of its blocks is examined
            places = {
                (term, first)
                for first in set(blocks.values())
                for (term,) in self._run("terms_of_block", (self._project, first)).fetchall()
            }
        for term, first in places:
            self._delete_postings(term, first, blocks)

    def _delete_postings(self, term: str, first: int, passages: Container[int]) -> None:
        size = POSTING.size
        row = self._run("posting", (self._project, term, first)).fetchone()
        pieces = [row[0][i : i + size] for i in range(0, len(row[0]), size)] if row else []
        left = [piece for piece in pieces if len(piece) == size and POSTING.unpack(piece)[0] not in passages]
        if left and len(left) < len(pieces):
            self._run("set_posting", (b"".join(left), self._project, term, first))
        elif pieces and not left:
            self._run("drop_posting", (self._project, term, first))

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────────

    def put_vectors(self, model: str, dimensions: int, vectors: Sequence[Vector]) -> int:
        self._noted = True
        added = 0
        number = self._model(model, dimensions)
        for text, part, half, bits in vectors:
            if self._run("has_text", (self._base + text,)).fetchone() is None:
                continue
            for (arrival,) in self._run("add_vector", (number, self._base + text, part, half)).fetchall():
                self._run("add_bits", (self._project, number, arrival, text, part, bits))
                added += 1
        return added

    def _model(self, name: str, dimensions: int) -> int:
        """The number of a model, which is added if it is new."""
        known = self._run("model", (name,)).fetchone()
        if known is None:
            self._run("add_model", (name, dimensions))
            known = self._run("model", (name,)).fetchone()
        number, before = known
        if before != dimensions:
            if self._run("model_in_use", (number,)).fetchone() is not None:
                raise Invalid(
                    f"The model {name} gave vectors of {before} numbers before and of {dimensions} now",
                    hint="Give the new model another name, or run `polymnia reindex --anew`.",
                )
            self._run("set_dimensions", (dimensions, number))
        return int(number)

    def _delete_vectors(self, text: int) -> None:
        for id, model in self._run("vectors_of_text", (text,)).fetchall():
            self._run("drop_bits", (self._project, model, id))
            self._run("drop_vector", (self._project, id))

    def drop_vectors(self, keep: Sequence[str]) -> int:
        self._noted = True
        span = (self._base, self._top)
        if not keep:  # all of them, including those of unknown models
            self._run("drop_vectors", span)
            (count,) = self._run("count_bits", (self._project,)).fetchone()
            self._run("drop_bits_of_project", (self._project,))
            return int(count)
        dropped = 0
        for id, name, _, count in self._run("models", (self._project,)).fetchall():
            if name not in keep:
                self._run("drop_vectors_of_model", (*span, id))
                self._run("drop_bits_of_model", (self._project, id))
                dropped += count
        return dropped

    def count_reads(self, reads: Iterable[Seen]) -> None:
        self._noted = True
        for one in reads:
            if self._base < one.memory <= self._top:
                self._run("count_seen", (one.memory, one.hour // HOUR, one.who, one.opened, one.found))

    # ── notes ─────────────────────────────────────────────────────────────────────────────────────────

    def forget_notes(self, start: str, end: str) -> None:
        self._noted = True
        self._run("forget_facts", (self._project, start, end))

    def note(self, key: str, value: str | None) -> None:
        self._noted = True
        if value is None:
            self._run("forget_fact", (self._project, key))
        else:
            self._run("set_fact", (self._project, key, value))
