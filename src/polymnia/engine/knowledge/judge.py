"""The judge of pairs: how two texts relate to each other, and the thresholds from which the engine acts on it.

``python -m bench.analysis.conflicts --fit`` measures and prints the thresholds for other weights.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from math import exp, log
from threading import Lock, Thread
from typing import NamedTuple

from polymnia.engine.ports import Judge, Judgement
from polymnia.errors import Fault

_BATCH = 64  # pairs between two ticks
_CACHED = 40_000
_MAX_CHARACTERS = 1_000  # of a text that are read
_HIGH, _LOW = 0.3, 0.8  # the confidence required at high and low sensitivity
_ITEMS = 500  # in the projects on which the thresholds were fitted
_FEW = 50  # items; smaller projects are treated as if they had this many


class Verdict(NamedTuple):
    """How two texts relate to each other, judged in both orders.

    ``update`` is the higher chance that one updates the other, ``same`` the lower chance that they say the same.
    ``later`` is positive if the second text updates the first, and negative if the first updates the second.
    """

    update: float
    same: float
    later: float


class Judging:
    """A judge that is loaded on first use, with a cache. Thread-safe."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._cache: OrderedDict[tuple[str, str], Judgement] = OrderedDict()
        self._lock = Lock()
        self._loading: Thread | None = None
        self.ready = False
        self.fault: Fault | None = None

    def load(self) -> bool:
        """Load the judge. False if it cannot be loaded: ``fault`` says why, and it is not tried again."""
        if self.ready or self.fault is not None:
            return self.ready
        try:
            self._judge.load()
        except Fault as e:
            self.fault = e
            return False
        self.ready = True
        return True

    def soon(self) -> bool:
        """Whether the judge is ready; if not, start loading it in the background."""
        with self._lock:
            if not self.ready and self.fault is None and self._loading is None:
                self._loading = Thread(target=self.load, name="polymnia-judge", daemon=True)
                self._loading.start()
        return self.ready

    def read(
        self, pairs: Sequence[tuple[str, str]], tick: Callable[[int, int], None] | None = None
    ) -> list[Judgement | None]:
        """How the second text of each pair relates to the first; None if it could not be judged: see ``fault``."""
        requested = [(a[:_MAX_CHARACTERS], b[:_MAX_CHARACTERS]) for a, b in pairs]
        with self._lock:
            found = {pair: self._cache[pair] for pair in requested if pair in self._cache}
        new = [pair for pair in dict.fromkeys(requested) if pair not in found]
        fault = None
        for start in range(0, len(new), _BATCH):
            if tick is not None:
                tick(start, len(new))
            batch = new[start : start + _BATCH]
            try:
                found |= zip(batch, self._judge.judge(batch), strict=True)
            except Fault as e:  # each language has its own network: another batch may still succeed
                fault = e
        with self._lock:
            if new:
                self.fault = fault
            for pair in new:
                if pair in found:
                    self._cache[pair] = found[pair]
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        return [found.get(pair) for pair in requested]

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], tick: Callable[[int, int], None] | None = None
    ) -> list[Verdict | None]:
        """A verdict for each pair, in order; None for pairs that could not be judged."""
        judged = self.read([*pairs, *((b, a) for a, b in pairs)], tick)
        return [_verdict(one, other) for one, other in zip(judged, judged[len(pairs) :], strict=False)]


def _verdict(there: Judgement | None, back: Judgement | None) -> Verdict | None:
    if there is None or back is None:
        return None
    return Verdict(max(there.update, back.update), min(there.same, back.same), there.update - back.update)


class Border(NamedTuple):
    """A calibrated confidence that two texts clash, or are the same, and its threshold.

    The judge was trained on pairs of which a third clash and all are about one subject. Of the pairs that an index
    finds, far fewer do. So the judge's log odds, how ``near`` the two vectors are and how many words are ``shared`` are
    weighted again for each use. ``medium`` is the threshold at medium sensitivity.
    """

    judged: float
    near: float
    shared: float
    shift: float
    medium: float
    apart: float = 0.0
    """Statements less similar than this, by meaning and by words, are about different subjects in any case."""
    crowd: float = 0.0
    """Added for each e-fold of items beyond 500: the more items, the more pairs are near by chance."""
    weak: Border | None = None
    """The border for judgements of a weaker network, if it differs."""

    def of(self, judgement: Judgement) -> Border:
        """The border that applies to a judgement."""
        return self if judgement.strong or self.weak is None else self.weak

    def level(self, sensitivity: str) -> float:
        """The threshold at a sensitivity."""
        return {"high": min(_HIGH, self.medium), "medium": self.medium, "low": max(_LOW, self.medium)}[sensitivity]

    def confidence(self, chance: float, near: float | None, shared: float, among: int = _ITEMS) -> float:
        """The share of pairs with this chance of the judge that are true; ``near`` is None for texts without vectors.

        ``among`` is the number of items among which the two were found.
        """
        if near is None:
            near = shared
        elif max(near, shared) < self.apart:
            return 0.0
        chance = min(max(chance, 1e-4), 1 - 1e-4)
        odds = self.judged * log(chance / (1 - chance)) + self.near * near + self.shared * shared + self.shift
        odds += self.crowd * log(max(among, _FEW) / _ITEMS)
        return 1 / (1 + exp(-min(max(odds, -30.0), 30.0)))


NAMED = Border(judged=0.96, near=0.18, shared=-0.77, shift=0.31, medium=0.4, apart=0.1)
"""For two items the caller names."""

AMONG = NAMED._replace(medium=0.5, apart=0.2)
"""For several named items: most pairs of them are unrelated."""

_WEAK = Border(judged=0.97, near=3.09, shared=3.83, shift=-3.82, medium=0.37, crowd=-0.44)
PROJECT = Border(judged=0.91, near=2.41, shared=1.07, shift=-2.29, medium=0.5, crowd=-0.27, weak=_WEAK)
"""For pairs found in a project."""

SAME = Border(judged=0.97, near=5.04, shared=-3.54, shift=-0.49, medium=0.95)
"""For reporting that a stored memory says the same as a new one."""

COPY = SAME._replace(medium=0.975)
"""For advice to keep only one of two memories."""
