"""The judge of pairs: what two texts are to each other, and from which chance on the engine acts on it.

``python -m bench.analysis.conflicts --fit`` measures the thresholds anew for other weights and prints them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from math import exp, log
from threading import Lock, Thread
from typing import NamedTuple

from polymnia.engine.ports import Judge, Judgement
from polymnia.errors import Fault

_AT_ONCE = 64  # pairs between two ticks
_REMEMBERED = 40_000
_LONGEST = 1_000  # characters of a text that are read
_HIGH, _LOW = 0.3, 0.8  # the confidence that high and low sensitivity ask for
_ITEMS = 500  # of the projects in which borders were fitted
_FEW = 50  # items: with fewer a project is no safer than with so many


class Verdict(NamedTuple):
    """What two texts are to each other, by both orders of reading them.

    ``update`` is the higher chance that one of them says what has become of the other, ``same`` the lower one that they
    say the same. ``later`` is positive where the second text is the one that updates the first, and negative where it
    is the first.
    """

    update: float
    same: float
    later: float


class Judging:
    """A judge that is loaded when it is first asked. Safe to use from several threads."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._known: OrderedDict[tuple[str, str], Judgement] = OrderedDict()
        self._lock = Lock()
        self._loading: Thread | None = None
        self.ready = False
        self.fault: Fault | None = None

    def load(self) -> bool:
        """Make the judge ready. False when it cannot be: ``fault`` says why, and it is not tried again."""
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
        """Whether the judge is ready; where it is not, it is made so in the background."""
        with self._lock:
            if not self.ready and self.fault is None and self._loading is None:
                self._loading = Thread(target=self.load, name="polymnia-judge", daemon=True)
                self._loading.start()
        return self.ready

    def read(
        self, pairs: Sequence[tuple[str, str]], tick: Callable[[int, int], None] | None = None
    ) -> list[Judgement | None]:
        """What the second of each pair is to the first; None for pairs that could not be judged: see ``fault``."""
        asked = [(a[:_LONGEST], b[:_LONGEST]) for a, b in pairs]
        with self._lock:
            found = {pair: self._known[pair] for pair in asked if pair in self._known}
        new = [pair for pair in dict.fromkeys(asked) if pair not in found]
        fault = None
        for start in range(0, len(new), _AT_ONCE):
            if tick is not None:
                tick(start, len(new))
            some = new[start : start + _AT_ONCE]
            try:
                found |= zip(some, self._judge.judge(some), strict=True)
            except Fault as e:  # each language has a network of its own: another batch may be judged
                fault = e
        with self._lock:
            if new:
                self.fault = fault
            for pair in new:
                if pair in found:
                    self._known[pair] = found[pair]
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return [found.get(pair) for pair in asked]

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
    """How what is known of two texts becomes the share of such pairs that clash, or are the same, and from where on.

    The judge has learned on pairs of which a third clash, and all are about one thing. Of the pairs that an index
    brings together far fewer do. So the log odds that the judge gives, how ``near`` the vectors of the two are and how
    much of their words is ``shared`` are weighed anew for each use. ``medium`` is how sure one must be at medium
    sensitivity.
    """

    judged: float
    near: float
    shared: float
    shift: float
    medium: float
    apart: float = 0.0
    """Statements that share less, by meaning and by words, are about different things, whatever the judge says."""
    crowd: float = 0.0
    """What each e-fold of the items beyond 500 adds: the more there are, the more are near to each other by chance."""
    weak: Border | None = None
    """The border for what a weaker network has read, where that is another one."""

    def of(self, judgement: Judgement) -> Border:
        """The border for what was judged."""
        return self if judgement.strong or self.weak is None else self.weak

    def level(self, sensitivity: str) -> float:
        """How sure one must be."""
        return {"high": min(_HIGH, self.medium), "medium": self.medium, "low": max(_LOW, self.medium)}[sensitivity]

    def confidence(self, chance: float, near: float | None, shared: float, among: int = _ITEMS) -> float:
        """How many pairs are so of which the judge gives this chance; None is for texts without vectors.

        ``among`` is the number of items that the two were found in.
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
"""For two items that a caller names together."""

AMONG = NAMED._replace(medium=0.5, apart=0.2)
"""For several: most two of them have nothing to do with each other."""

_WEAK = Border(judged=0.97, near=3.09, shared=3.83, shift=-3.82, medium=0.37, crowd=-0.44)
PROJECT = Border(judged=0.91, near=2.41, shared=1.07, shift=-2.29, medium=0.5, crowd=-0.27, weak=_WEAK)
"""For pairs that were found in a project."""

SAME = Border(judged=0.97, near=5.04, shared=-3.54, shift=-0.49, medium=0.95)
"""From where on a stored memory is named as saying the same as a new one."""

COPY = SAME._replace(medium=0.975)
"""The same for advice to keep one of two memories."""
