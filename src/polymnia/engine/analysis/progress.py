"""Progress: one measure of how far a call is that consists of several analyses."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia.engine.project import Step

_WHOLE = 1000


def parts(step: Step | None, count: int) -> Iterator[Step]:
    """A step for each of so many parts; together they go from nothing to all, and never back."""
    told = 0

    def part(number: int) -> Step:
        def stepped(done: int, total: int) -> None:
            nonlocal told
            if step is None:
                return
            share = min(1.0, max(0.0, done / total)) if total else 0.0
            told = max(told, int(_WHOLE * (number + share) / count))
            step(told if total else 0, _WHOLE if total else 0)

        return stepped

    for number in range(count):
        yield part(number)
