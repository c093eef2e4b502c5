"""The networks that read two texts together: one for English, one for sixteen languages.

English texts are read by the English network. Where one of the two is in another language, the other network reads
both; each is loaded when the first texts come that need it.
"""

from __future__ import annotations

from math import tanh
from typing import TYPE_CHECKING, Any

import numpy as np

from polymnia.engine.ports import Judgement
from polymnia.errors import NoModel
from polymnia.inference.built_in import ENGLISH, JUDGE, MULTILINGUAL, RANK
from polymnia.inference.languages import is_english, is_multilingual
from polymnia.inference.networks import OnnxNetwork
from polymnia.inference.weights import SHIPPED, LazyModel, Weights, installed, shared
from polymnia.inference.word_tables import Floats, PositionTable, SubwordTable, WordTable, arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 256  # tokens of two texts with their marks
_MOST_CHARACTERS = 16 * _MOST


class _Reader(LazyModel):
    """A network, and how two texts enter it."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights
        self._words: WordTable | SubwordTable
        self._places: PositionTable
        self._graph: OnnxNetwork

    def read(self, pairs: Sequence[tuple[str, str]], output: str) -> Floats:
        """The network's row for each pair of texts."""
        self.load()
        cut: dict[str, list[int]] = {}
        for text in (text for pair in pairs for text in pair):
            if text not in cut:
                cut[text] = self._words.ids(text[:_MOST_CHARACTERS], _MOST - 3)
        return self._graph.run([self._entered(cut[one], cut[other]) for one, other in pairs], output)

    def _entered(self, one: list[int], other: list[int]) -> Floats:
        room = _MOST - 3
        if len(one) + len(other) > room:  # the longer one is cut
            one = one[: max(room // 2, room - len(other))]
            other = other[: room - len(one)]
        ids = [self._words.start, *one, self._words.end, *other, self._words.end]
        return self._places.add(self._enter(self._words.rows(ids)), len(one) + 2)

    def _enter(self, rows: Floats) -> Floats:
        return rows


class _English(_Reader):
    """The English network of one kind: ``ranker`` or ``judge``."""

    def __init__(self, weights: Weights, kind: str) -> None:
        super().__init__(weights)
        self._kind = kind

    def _prepare(self) -> None:
        (network,) = self._weights.verified(f"{self._kind}_en.onnx")
        words = shared(WordTable, self._weights, "words_scorer_en.npz")
        self._words, self._places = words, words.places(self._kind)
        self._graph = OnnxNetwork(network)


class _Multilingual(_Reader):
    """The one network for every language, which ranks and judges; over the table of the multilingual embedder."""

    def _prepare(self) -> None:
        network, places = self._weights.verified("scorer_multi.onnx", "places_multi.npz")
        self._words = shared(SubwordTable, self._weights)
        found = {name: array.astype(np.float32) for name, array in arrays(places)}
        self._places = PositionTable(found["places"], found["parts"])
        self._in, self._bias = found["enter"].T.copy(), found["enter_bias"]
        self._graph = OnnxNetwork(network)

    def _enter(self, rows: Floats) -> Floats:
        return rows @ self._in + self._bias


class Scorer:
    """Both networks behind one door. ``kind`` is the English file's name, ``output`` what is read off."""

    kind: str
    output: str

    def __init__(self, weights: Weights = SHIPPED) -> None:
        self._weights = weights
        self._readers: dict[str, _Reader] = {
            ENGLISH: _English(weights, self.kind),
            MULTILINGUAL: shared(_Multilingual, weights),
        }

    def load(self) -> None:
        """Raise NoModel where the networks cannot be run; each is loaded when texts come that need it."""
        if not installed("onnxruntime"):
            raise NoModel(
                f"The {self.kind} needs the library onnxruntime, which is not installed",
                hint="Run `pip install onnxruntime`; everything else works without it.",
            )

    def knows(self, text: str) -> bool:
        """Whether one of the networks knows the text's language, as far as letters and small words tell."""
        return is_multilingual(text)

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, Floats]]:
        """For each pair which network read it, and its row."""
        english = {text: is_english(text) for pair in pairs for text in pair}
        which = [ENGLISH if english[one] and english[other] else MULTILINGUAL for one, other in pairs]
        rows: list[Any] = [None] * len(pairs)
        for name, reader in self._readers.items():
            at = [i for i, one in enumerate(which) if one == name]
            if at:
                for i, row in zip(at, reader.read([pairs[i] for i in at], self.output), strict=True):
                    rows[i] = row
        return list(zip(which, rows, strict=True))


class Ranker(Scorer):
    """Six layers, from ms-marco-MiniLM: about four milliseconds for a question and a text of thirty words together."""

    id = "polymnia-rank-1"
    kind = "ranker"
    output = "rank"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The chance of each text to answer the query."""
        found = []
        for which, row in self._read([(query, text) for text in texts]):
            logit = RANK[which].slope * float(row[0]) + RANK[which].offset
            found.append((1 + tanh(logit / 2)) / 2)  # the logistic function, safe at any size
        return found


class PairJudge(Scorer):
    """Eight layers (six for other languages than English) and six classes, in the order of Judgement."""

    id = "polymnia-judge-3"
    kind = "judge"
    output = "judge"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """The chances of each pair's classes."""
        found = []
        for which, row in self._read(pairs):
            logits = row / JUDGE[which]
            chances = np.exp(logits - logits.max())
            found.append(Judgement(*(chances / chances.sum()).tolist())._replace(strong=which == ENGLISH))
        return found
