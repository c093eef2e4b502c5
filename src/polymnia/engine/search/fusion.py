"""Fusion: pure functions that turn what two lanes found into one score for each memory.

Scores are absolute: a score depends on the query and the text and never on what else was found, so that a good
text is not lifted or sunk by its company, and 0.6 means the same from query to query.
"""

from __future__ import annotations

from math import log1p
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating]
Ints: TypeAlias = NDArray[np.integer]
Flags: TypeAlias = NDArray[np.bool_]

K1 = 0.6
B = 0.3
"""BM25 of passages. Low: in a short text a repeated word says little more, and length says little at all."""
K1_WHOLE = 1.2
B_WHOLE = 0.6
"""BM25 of memories as wholes: in a long text both say something."""

REACH = 4
"""How many turns away a turn of the same conversation can help."""

_NEAR = (0.35, 0.25, 0.15, 0.1)  # what a word counts that is said one, two, ... turns away
_LEND = (0.15, 0.08)  # the share of its score a turn lends one and two turns away
_PASSAGE = 0.5  # of a long text's words: its best passage; the rest is the text as a whole
_SAID = 0.8
_FOREIGN = 1.5  # a middling likeness across scripts is mostly chance, and must not bury a text that says the words
_UNHEARD = 2.0  # the same within one script, where texts that only sound alike are more
_READ_WHOLE = 500  # characters of a text that a reranker has read as a whole, and judges best
_LONG_TURN = 0.3  # what each doubling of its passages costs a turn
_FULL = 1.2  # a text can say every word asked for more than once, and that is worth little


class Curve(NamedTuple):
    """The chance that a text is meant, by its fused score: 1 - exp(-(score / middle) ** rise)."""

    middle: float
    """The fused score at which the chance is .63."""
    rise: float


class Blend(NamedTuple):
    """How words and meaning make one score."""

    words: float
    """The share of the words in a text of one passage: less beside a better embedder."""
    easing: float
    """How much of that share is lost each time a text has twice the passages: in a long text most words occur."""
    least: float
    """The share the words keep in any text."""
    telling: float
    """How much that share grows where some text says the whole query; where one says half of it, by half of this."""
    curve: Curve
    by_meaning: Curve
    """The curve where the meaning alone is searched."""
    read: tuple[float, float, float]
    """The weights of the cross-encoder's logit, the fused score and 1 in the logit of being right. The first two decide
    the order; a common factor of all three and the last one decide what chance is shown."""


# Curves, `read` and FITS belong to the weights of the models: `python -m bench.meaning --fit` fits them again.
WEAK = Blend(
    words=0.45,
    easing=0.03,
    least=0.35,
    telling=0.5,
    curve=Curve(0.93, 1.66),
    by_meaning=Curve(1.39, 1.81),
    read=(0.379, 4.29, -2.56),
)
"""Beside a model that is not strong; set with the multilingual one."""
STRONG = Blend(
    words=0.34,
    easing=0.02,
    least=0.3,
    telling=0.0,
    curve=Curve(0.93, 2.22),
    by_meaning=Curve(1.01, 2.78),
    read=(0.450, 4.00, -2.92),
)
"""Beside a strong one; set with the English one."""
WORDS = Curve(0.3472, 0.9)
"""Where no model has read the query: how much of it a text says, and no chance."""
UNMEASURED = Curve(0.4167, 0.9)
"""Beside a model that was never measured: how near a text is, and no chance."""

FITS = 0.07
"""A best score below this means that probably nothing stored answers the query."""


def idf(holding: int, texts: int) -> float:
    """The weight of a word that so many of the texts hold; of a group, that of its most frequent term."""
    held = min(holding, texts)
    return log1p((texts - held + 0.5) / (held + 0.5))


def norm(lengths: Floats | Ints, mean_length: float, k1: float = K1, b: float = B) -> Floats:
    """What length does to the worth of a word: texts of the mean length have k1."""
    found: Floats = k1 * (1 - b + b * np.asarray(lengths, np.float64) / max(mean_length, 1e-9))
    return found


def saturation(counts: Floats | Ints, norms: Floats, k1: float = K1) -> Floats:
    """What each count of a word is worth in texts of such norms: 1 for once in a text of mean length."""
    held: Floats = np.asarray(counts).astype(norms.dtype)
    return held * (k1 + 1) / (held + norms)


def words_score(bm25: Floats, asked: float) -> Floats:
    """The share of the query that a text says: its BM25 over the summed weights (idf × best alternative) asked for."""
    return np.clip(bm25 / asked, 0.0, _FULL) if asked > 0 else np.zeros_like(bm25)


def long_words(passages: Floats, whole: Floats) -> Floats:
    """The words score of the passages of texts with more than one, given those of the texts they belong to as wholes.

    As a whole, a text holds a word as often as its passages do together, each count times the weight of its passage;
    lengths alike; and it is scored with K1_WHOLE and B_WHOLE among the memories of the project.
    """
    return _PASSAGE * passages + (1 - _PASSAGE) * whole


def softened(weights: Floats) -> Floats:
    """What the scores of passages are multiplied by, given the weights :func:`passages.weights` gave them."""
    return 0.5 + 0.5 * weights


def meaning_score(cosine: Floats, unrelated: float, answering: float = 1.0) -> Floats:
    """How near a text is in meaning to what is asked: 0 for unrelated ones, 1 for those that clearly answer."""
    found: Floats = np.clip((cosine - unrelated) / (answering - unrelated), -0.2, 1.0)
    return found


def both(multilingual: Floats, english: Floats) -> Floats:
    """One meaning score of two channels: the English one, or the other where it alone sees a likeness."""
    found: Floats = np.maximum(english, 0.8 * multilingual)
    return found


def fuse(
    words: Floats,
    meaning: Floats,
    blend: Blend = WEAK,
    parts: Ints | None = None,
    foreign: Flags | None = None,
    heard: float = 1.0,
) -> Floats:
    """One score of both lanes for each passage, given how many passages the text of each has.

    Of a text in another script than the query only the meaning can tell. ``heard`` is the largest share of the query
    that any text says: where none says much of it, the words are no guide and the meaning alone is believed.
    """
    share: float | Floats = blend.words
    if parts is not None:
        share = np.maximum(blend.least, blend.words - blend.easing * np.log2(np.maximum(parts, 1)))
    share = share + blend.telling * min(heard, 1.0)
    liked = np.maximum(meaning, 0.0)
    score = np.maximum(share * words + (1 - share) * meaning, (1 - min(heard, 1.0)) * liked**_UNHEARD)
    if foreign is None:
        return score
    # What a text in another script says of the words cannot be known: at most nearly as much as the best of the others.
    told = (1 - share + share * _SAID * min(heard, 1.0)) * liked**_FOREIGN
    return np.where(foreign, np.maximum(score, told), score)


def near(held: Floats, links: Ints) -> Floats:
    """What each turn holds of each group, lent by the turns around it where they hold more.

    `held` has a row for each group of the query and a column for each turn; `links` a row for each turn with the
    columns of the turns one before, one after, two before, two after, ... up to REACH, -1 where there is none.
    """
    padded = np.concatenate([held, np.zeros((held.shape[0], 1), held.dtype)], axis=1)  # -1 reads the zeros
    found = held.copy()
    for at in range(min(links.shape[1], 2 * len(_NEAR))):
        np.maximum(found, _NEAR[at // 2] * padded[:, links[:, at]], out=found)
    return found


def lend(scores: Floats, links: Ints) -> Floats:
    """Fused scores with the share that neighbouring turns lend; links as for :func:`near`."""
    padded = np.append(np.maximum(scores, 0.0), 0.0)
    found = scores.copy()
    for at in range(min(links.shape[1], 2 * len(_LEND))):
        found += _LEND[at // 2] * padded[links[:, at]]
    return found


def best(scores: Floats, owners: Ints, memories: int) -> Floats:
    """The score of each memory: that of its best passage; 0 for one without passages."""
    found = np.zeros(memories, dtype=np.float64)
    np.maximum.at(found, owners, scores)
    return found


def eased(scores: Floats, parts: Ints, turns: Flags) -> Floats:
    """Scores of memories, less for long turns of a conversation: a long reply says a little of everything, and would
    come before the short statement that holds the fact."""
    found: Floats = np.where(turns, scores / (1 + _LONG_TURN * np.log2(np.maximum(parts, 1))), scores)
    return found


def moved(scores: Floats, curve: Curve, other: Curve) -> Floats:
    """Fused scores on another curve: those that are shown there as these are on their own."""
    found: Floats = other.middle * (np.maximum(scores, 0.0) / curve.middle) ** (curve.rise / other.rise)
    return found


def reranked(
    scores: Floats,
    logits: Floats,
    strong: Flags,
    curve: Curve = WEAK.curve,
    foreign: Flags | None = None,
    lengths: Ints | None = None,
) -> Floats:
    """Fused scores of the best candidates after a cross-encoder has read them: those whose shown form is the chance of
    being right that both together give. ``strong`` says which of them were read in the language it is best at,
    ``foreign`` which have been moved to this curve from that of the weaker model. Of a long text it has read a part:
    the more characters (``lengths``) there are, the less its word weighs."""
    weights = np.where(strong[:, None], STRONG.read, WEAK.read)
    own = np.maximum(scores, 0.0)
    if lengths is not None:
        logits = logits / (1 + np.log2(np.maximum(lengths / _READ_WHOLE, 1.0)))
    if foreign is not None:
        own = np.where(foreign, moved(scores, curve, WEAK.curve), own)
    both = weights[:, 0] * logits + weights[:, 1] * own + weights[:, 2]
    chance = 1 / (1 + np.exp(-both))
    found: Floats = curve.middle * (-np.log1p(-np.minimum(chance, 0.9999))) ** (1 / curve.rise)
    return found


def shown(scores: Floats, curve: Curve = WEAK.curve) -> Floats:
    """Fused scores as a reader sees them: the chance that the text is meant.

    The curve keeps the order, knows nothing but the score itself, and never reaches 1: that is for identical texts.
    """
    found: Floats = -np.expm1(-((np.maximum(scores, 0.0) / curve.middle) ** curve.rise))
    return found
