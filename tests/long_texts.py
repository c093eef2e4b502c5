"""Texts of odd shapes and any length, and a way to see that the work on them grows with their length and no faster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONG = bool(os.environ.get("POLYMNIA_LONG"))
"""Whether a run is to take its time: texts of 1 MB of every shape, where a short run takes smaller ones of fewer."""

_OFTEN = (
    "a", "A", "1", " ", "\n", "[", "(", "<", "`", "-", ".", '"', "\\", "한", "@", "#", "|", "a.", "1,", "a ", "A-",
    "  - a\n", "| a | b |\n", "http://", "a@b.c ", "한국 ", "[a](", "```\n",
    "The quick brown Fox, 12 of 2024-03-01, met Dr. A. Smith (x@y.org) at http://a.b/c?d=e and left. ",
)  # fmt: skip
_SELDOM = (
    "\t", "\r\n", ")", "{", "*", "_", "=", ":", ",", ";", "!", "?", "/", "'", "&", "%", "+", "~", "$", "“", "…", "漢",
    "カ", "я", "é", "\u200b", "1.", "1 ", "1-", "1/", "1:", "a-", "a_", "a=", "a: b\n", "/a", "A ", "A. ", "a, ", "Aa",
    "aA", "a1", "(a) ", '"a" ', "- a\n", " \n", "\n---", "> ", "1. a\n", "|--", "<a ", "<a>", "www.", "of the ", "not ",
    "password: ", "deadbeef0", "QUJDab+/", "def f(x): return x\n", "Hello there. ", "하는다", "이 ", "1월 ", "~~~a\n",
)  # fmt: skip
UNITS = _OFTEN + _SELDOM if LONG else _OFTEN

_LINEAR = 2.5  # times the cost of as much text in short pieces; a square costs as many times that as there are pieces
_TRIES = 6


class TooLong(Exception):
    """A call has used up its processor time."""


def shape(unit: str, size: int) -> str:
    """A text of about ``size`` characters that repeats one thing."""
    return unit * (size // len(unit))


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise where the code inside takes more processor time than this; patterns notice it too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def grows(call: Callable[[str], object], unit: str, small: int, large: int, *, least: float, most: float) -> str | None:
    """How a call on a long text grows against one on a short one, if it is faster than the text; otherwise None.

    Both are given the same number of characters, the short one in several calls. The least times of a
    few tries are compared, so that what else the machine does hardly counts. What takes less than ``least`` seconds is
    not looked into.
    """
    short, long = shape(unit, small), shape(unit, large)
    times = large // small
    least_long = least_short = float("inf")
    for _ in range(_TRIES):
        try:
            with at_most(most):
                least_long = min(least_long, _taken(call, long, 1))
        except TooLong:
            return f"{unit[:20]!r} x {large:,}: more than {most:g} s"
        if least_long < least:
            return None
        least_short = min(least_short, _taken(call, short, times))
        if least_long <= least_short * _LINEAR:
            return None
    return (
        f"{unit[:20]!r}: {least_long * 1e3:.2f} ms for {large:,} characters, "
        f"{least_short * 1e3:.2f} ms for {times} x {small:,}"
    )


def _taken(call: Callable[[str], object], text: str, times: int) -> float:
    start = time.thread_time()  # of this thread alone: what else the machine does is not counted
    for _ in range(times):
        call(text)
    return time.thread_time() - start
