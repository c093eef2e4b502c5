"""Judging: the judge of pairs as the engine uses it. What was said is remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import NamedTuple

from polymnia.engine.ports.models import Judge, Judgement
from polymnia.errors import Fault

__all__ = ["Judging", "Verdict"]

_AT_ONCE = 64  # pairs between two ticks
_REMEMBERED = 40_000
_LONGEST = 1_000  # characters of a text that are read


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
        said = self.read([*pairs, *((b, a) for a, b in pairs)], tick)
        return [
            None if one is None or other is None else Verdict(
                update=max(one.update, other.update), same=min(one.same, other.same), later=one.update - other.update
            )
            for one, other in zip(said, said[len(pairs) :], strict=False)
        ]  # fmt: skip
