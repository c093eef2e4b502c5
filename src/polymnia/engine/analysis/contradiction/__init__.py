"""Contradiction: whether two statements cannot both hold."""

from polymnia.engine.analysis.contradiction.judging import PRIOR, THRESHOLD, Judgement, judge, probability

__all__ = ["PRIOR", "THRESHOLD", "Judgement", "judge", "probability"]
