"""Keeping the indexes of a project true while it changes: characters, words, vectors and tags."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from math import log2

import apsw

from polymnia.engine.ports import Analyst, Vector
from polymnia.errors import Invalid
from polymnia.models import Passage, Seen, Text
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.grams import DAMAGE, ENDS, empty
from polymnia.storage.sqlite.rows import HOUR, PASSAGE, POSTING
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.statements import SQL

# New texts are scanned until there are this many of them, then indexed together: indexing one text costs a
# commit more than everything else it does, a hundred together cost little more than one.
_UNINDEXED = 512
_UNLISTED = 1024  # the same for the word index, whose newest texts every searching process reads for itself
_LONG = 200_000  # characters after which a change does not wait for more: reading them again would cost every process
_MOST_LISTED = 8192  # and no change pays for more than this many texts of others
_SLICE = 10_000  # and of the substring index no change makes more than so many again
_VERSION = "words"  # the fact that says how the texts of the word index were read


class Indexing(SqliteSnapshot):
    """A project open for change, seen from its indexes."""

    def __init__(self, connection: apsw.Connection, project: str, analyst: Analyst | None) -> None:
        super().__init__(connection, project)
        self._analyst = analyst
        self._first = self._seq
        self._noted = False
        self._written = 0  # characters of new texts

    def _index_due(self) -> None:
        """Take in what is new, if it is time."""
        if self._seq - self._indexed > _UNINDEXED:
            self._index_new(max(_SLICE, self._seq - self._first))
        if self._seq - self._listed > _UNLISTED or self._written > _LONG:
            most = max(_MOST_LISTED, self._seq - self._first)
            # An index that was read otherwise is made anew at once; when it is too large for that, by a reindex: a
            # part of one would leave the rest to every reader.
            if not self._listed or self._seq <= most or self._is_read_alike():
                self._list_words(most)

    # ── characters ────────────────────────────────────────────────────────────────────────────────────

    def index_characters(self, most: int) -> int:
        self._noted = True
        self._index_new(most)
        self._run(SQL["set_indexed"], (self._indexed, self._project))
        return self._seq - self._indexed

    def _index_new(self, most: int) -> None:
        last = min(self._indexed + most, self._seq)
        while self._indexed < last:
            # In slices: what is read lies in memory until it is written.
            end = min(self._indexed + _SLICE, last)
            new = self._run(SQL["unindexed"], (self._base + self._indexed, self._base + end)).fetchall()
            try:
                self._db.executemany(SQL["index"], ((id, text + ENDS) for id, text in new))
            except DAMAGE:
                self.drop_characters()
                return
            self._indexed = end

    def _index_old(self, id: int, text: str) -> None:
        """Keep the index true for a row whose number it has passed already."""
        if id <= self._base + self._indexed:
            try:
                self._run(SQL["index"], (id, text + ENDS))
            except DAMAGE:
                self.drop_characters()

    def _unindex(self, id: int) -> None:
        if id <= self._base + self._indexed:
            try:
                self._run(SQL["unindex"], (id,))
            except DAMAGE:
                # No change fails for what can be made again: until it is, texts are scanned.
                self.drop_characters()

    def drop_characters(self) -> None:
        """Empty the substring index, for all projects: it is one table. Everything waits to be indexed again."""
        self._noted = True
        empty(self._run)
        self._indexed = 0

    def _drop_text(self, id: int) -> None:
        """A text goes: from the index of characters at once, in the word index it is marked."""
        self._unindex(id)
        if id <= self._base + self._listed:
            self._run(SQL["add_gone"], (id,))

    def _return_text(self, id: int, text: str) -> None:
        """A text comes back under its old number."""
        self._index_old(id, text)
        if id <= self._base + self._listed:
            self._run(SQL["drop_gone"], (id,))
            if not self._db.changes():  # it was not there when the index came by
                self._run(SQL["add_stale"], (id,))

    def _restate_head(self, id: int) -> None:
        """A memory has lost its last text: its head is all that is left to find it by, and is read otherwise now."""
        self._forget_vectors(id)
        if id <= self._base + self._listed:
            self._run(SQL["add_stale"], (id,))

    def _reword_head(self, id: int, name: str, kind: str) -> None:
        """A memory's kind, tags or summary are others now: what was made of the old ones goes."""
        self._forget_vectors(id)
        self._unindex(id)
        self._index_old(id, f"{rows.fold(name)}\x01{rows.fold(kind)}")
        if id <= self._base + self._listed:
            self._run(SQL["add_stale"], (id,))

    def drop_indexes(self) -> None:
        self.drop_characters()
        self.drop_words()
        self.drop_vectors([])
        for statement in ("drop_scopes", "count_scopes", "drop_tags", "list_tags"):
            self._run(SQL[statement], (self._project,)).fetchall()
        (self._texts,) = self._run(SQL["count_texts"], (self._base, self._top)).fetchone()
        self._run(SQL["set_texts"], (self._texts, self._project))

    # ── tags ──────────────────────────────────────────────────────────────────────────────────────────

    def _tag(self, id: int, tags: Iterable[str]) -> None:
        for tag in tags:
            self._run(SQL["add_tag"], (self._project, tag, id))

    def _untag(self, id: int, tags: Iterable[str]) -> None:
        for tag in tags:
            self._run(SQL["drop_tag"], (self._project, tag, id))

    def _tags_of(self, id: int) -> list[str]:
        row = self._run(SQL["tags_of"], (id,)).fetchone()
        return rows.decode(row[0]) if row is not None and row[0] else []

    # ── words ─────────────────────────────────────────────────────────────────────────────────────────

    def list_words(self, most: int) -> int:
        self._noted = True
        self._list_words(most)
        self._run(SQL["set_listed"], (self._listed, self._passages, self._project))
        return self._seq - self._listed

    def _list_words(self, most: int) -> None:
        if self._analyst is None:
            return
        if not self._is_read_alike():
            self.drop_words()
            self.note(_VERSION, self._analyst.version)
        last = min(self._listed + most, self._seq)
        if stale := self.texts_of(self.stale()):
            self._add_words(stale)
            for text in stale:  # one that is deleted now and comes back will still have to be indexed
                self._unstale(self._base + text.id)
        while self._listed < last:
            # In slices: what is in the making lies in memory.
            end = min(self._listed + _MOST_LISTED, last)
            self._add_words(self.texts(self._listed, end))
            self._listed = end

    def _is_read_alike(self) -> bool:
        """Whether the texts of the word index were read as our analyst reads them."""
        return self._analyst is not None and self.noted(_VERSION) == self._analyst.version

    def _add_words(self, texts: Iterable[Text]) -> None:
        """Add the passages of texts behind the last one."""
        assert self._analyst is not None
        packed = bytearray()
        postings: dict[str, bytearray] = {}
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
                piece = POSTING.pack(last, min(count, 255), length)
                if term in postings:
                    postings[term] += piece
                else:
                    postings[term] = bytearray(piece)
        if last > self._passages:
            first = self._passages + 1
            self._run(SQL["add_block"], (self._project, first, last - self._passages, low, high, bytes(packed)))
            # In order, so that neighbours in the table are written together.
            new = ((self._project, term, first, bytes(postings[term])) for term in sorted(postings))
            self._db.executemany(SQL["add_posting"], new)
            self._passages = last

    def _unstale(self, id: int) -> None:
        self._run(SQL["drop_stale"], (id - 1, id))

    def drop_words(self) -> None:
        self._noted = True
        for statement in ("drop_blocks", "drop_postings"):
            self._run(SQL[statement], (self._project,))
        for statement in ("drop_all_gone", "drop_stale"):
            self._run(SQL[statement], (self._base, self._top))
        self._listed = self._passages = 0
        self._edition += 1
        self._run(SQL["begin_edition"], (self._edition, self._project))

    def _forget_words(self, memory: int) -> None:
        """Take the texts of a record out of word index and vectors, whether they are there or were deleted before."""
        there = [memory - self._base, *(row - self._base for row, _ in self._run(SQL["texts"], (memory,)).fetchall())]
        once = {ref - self._base for _, _, kind, ref, *_ in self._run(SQL["items_of_owner"], (memory,)) if kind in "mo"}
        texts = {text.id: text for text in self.texts_of(there)}
        for number in self.stale():
            texts.pop(number, None)
        if not self._is_read_alike():
            texts.clear()
        for number in {*there, *once}:
            passages = self._analyst([texts[number]]) if self._analyst is not None and number in texts else ()
            self._forget_text(self._base + number, list(passages))

    def _forget_text(self, id: int, passages: Sequence[Passage] = ()) -> None:
        """Take a text out of word index and vectors, for good.

        ``passages`` are the text's, if it is as it was when it was indexed.
        """
        self._forget_vectors(id)
        number = id - self._base
        if number > self._listed:
            return
        self._run(SQL["drop_gone"], (id,))
        self._unstale(id)
        blocks: dict[int, int] = {}  # of each of its passages in the index
        for first, count, data in self._run(SQL["blocks_with"], (self._project, number)).fetchall():
            left = bytearray(data)
            for i in range(min(count, len(data) // PASSAGE.size)):  # fewer where it is damaged
                at = i * PASSAGE.size
                if PASSAGE.unpack_from(data, at)[0] == number:
                    left[at : at + PASSAGE.size] = bytes(PASSAGE.size)
                    blocks[first + i] = first
            self._run(SQL["set_block"], (bytes(left), self._project, first))
        if len(passages) == len(blocks):
            places = {(term, first) for one in passages for term in one.terms for first in blocks.values()}
        else:  # deleted before, or changed since: its terms are not known, so every term of its time is looked at
            places = {
                (term, first)
                for first in set(blocks.values())
                for (term,) in self._run(SQL["terms_of_block"], (self._project, first)).fetchall()
            }
        for term, first in places:
            self._forget_postings(term, first, blocks)

    def _forget_postings(self, term: str, first: int, passages: Container[int]) -> None:
        size = POSTING.size
        row = self._run(SQL["posting"], (self._project, term, first)).fetchone()
        pieces = [row[0][i : i + size] for i in range(0, len(row[0]), size)] if row else []
        left = [piece for piece in pieces if len(piece) == size and POSTING.unpack(piece)[0] not in passages]
        if left and len(left) < len(pieces):
            self._run(SQL["set_posting"], (b"".join(left), self._project, term, first))
        elif pieces and not left:
            self._run(SQL["drop_posting"], (self._project, term, first))

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────────

    def put_vectors(self, model: str, dimensions: int, given: Sequence[Vector]) -> int:
        self._noted = True
        added = 0
        number = self._model(model, dimensions)
        for text, part, half, bits in given:
            if self._run(SQL["has_text"], (self._base + text,)).fetchone() is None:
                continue
            self._run(SQL["add_vector"], (number, self._base + text, part, half))
            if self._db.changes():
                row = (self._project, number, self._db.last_insert_rowid(), text, part, bits)
                self._run(SQL["add_bits"], row)
                added += 1
        return added

    def _model(self, name: str, dimensions: int) -> int:
        """The number of a model, which is made known where it is new."""
        known = self._run(SQL["model"], (name,)).fetchone()
        if known is None:
            self._run(SQL["add_model"], (name, dimensions))
            known = self._run(SQL["model"], (name,)).fetchone()
        number, before = known
        if before != dimensions:
            if self._run(SQL["model_in_use"], (number,)).fetchone() is not None:
                raise Invalid(
                    f"The model {name} gave vectors of {before} numbers before and of {dimensions} now",
                    hint="Give the new model another name, or run `polymnia reindex --anew`.",
                )
            self._run(SQL["set_dimensions"], (dimensions, number))
        return int(number)

    def _forget_vectors(self, text: int) -> None:
        for id, model in self._run(SQL["vectors_of_text"], (text,)).fetchall():
            self._run(SQL["drop_bits"], (self._project, model, id))
            self._run(SQL["drop_vector"], (id,))

    def drop_vectors(self, keep: Sequence[str]) -> int:
        self._noted = True
        span = (self._base, self._top)
        if not keep:  # whatever is left of them, and of models that are not known
            self._run(SQL["drop_vectors"], span)
            (count,) = self._run(SQL["count_bits"], (self._project,)).fetchone()
            self._run(SQL["drop_bits_of_project"], (self._project,))
            return int(count)
        dropped = 0
        for id, name, _, count in self._run(SQL["models"], (self._project,)).fetchall():
            if name not in keep:
                self._run(SQL["drop_vectors_of_model"], (*span, id))
                self._run(SQL["drop_bits_of_model"], (self._project, id))
                dropped += count
        return dropped

    def count_reads(self, reads: Iterable[Seen]) -> None:
        self._noted = True
        for one in reads:
            if self._base < one.memory <= self._top:
                self._run(SQL["count_seen"], (one.memory, one.hour // HOUR, one.who, one.opened, one.found))

    # ── facts ─────────────────────────────────────────────────────────────────────────────────────────

    def forget_notes(self, start: str, end: str) -> None:
        self._noted = True
        self._run(SQL["forget_facts"], (self._project, start, end))

    def note(self, key: str, value: str | None) -> None:
        self._noted = True
        if value is None:
            self._run(SQL["forget_fact"], (self._project, key))
        else:
            self._run(SQL["set_fact"], (self._project, key, value))
