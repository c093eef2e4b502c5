"""Kinds of statements: what sort of statement a text is, and which sentences of a conversation are worth keeping.

A small model reads the kind off the vector an embedder made of the text, and off a few of its outer features. Stored
memories have their vectors already, so their kinds cost next to nothing. Without a model nothing is guessed.
``python -m bench.statements`` measures it, ``python -m training.statements`` trains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from polymnia.engine.ports import KINDS
from polymnia.engine.text.document import blocks
from polymnia.engine.text.sentences import WORD, asks, sentences
from polymnia.errors import Invalid, NoModel
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot
    from polymnia.engine.search.finder import Channel, Finder
    from polymnia.models import Record

__all__ = ["KINDS", "ROLES", "Extraction", "KindGuess", "LeftOut", "ConversationTurn", "KeptStatement"]

ROLES = ("note", "user", "assistant")
"""Where a text comes from: written down by someone, said by a person, or said by an assistant."""

WORTH = 0.5
"""A text that is less likely than this to be worth keeping is "other"."""

KEPT = 0.8
"""What is less likely than this to be worth keeping is not kept of a conversation.

Two in nine sentences of the training part are "other", but more than half of those of a conversation: there, this is
the same as even odds.
"""

_PROSE = ("p", "q", "li")
_READ = 600  # characters of a text that tell its kind
_LONG = 3.0  # the largest value of the feature for length
_UNIT = 100  # bytes of a text that count 1 in it


class KindGuess(Struct, frozen=True):
    """The likeliest kind of a text, its probability, and the probability that the text is worth keeping at all.

    A text that is unlikely to be worth keeping is "other", whatever it might be otherwise.
    """

    kind: str
    probability: float
    worth: float


class ConversationTurn(Struct, frozen=True):
    """One turn of a conversation: what was said, in which role, by whom and when (microseconds since 1970)."""

    text: str
    role: str = "user"
    speaker: str | None = None
    time: int | None = None


class KeptStatement(Struct, frozen=True):
    """A sentence worth keeping, as it was said, with its speaker (a name, or else the role) and its message's index.

    ``kind`` is never "other". ``probability`` is that of the kind, ``worth`` that the sentence is worth keeping.
    """

    text: str
    kind: str
    probability: float
    worth: float
    message: int
    speaker: str
    time: int | None = None


class LeftOut(Struct, frozen=True):
    """A sentence that is not kept, and why.

    ``reason``: "other" (nothing worth keeping), "unsure" (it might be worth keeping), "repeated" (said before in the
    conversation), "wordless", "code", or "unknown" (no model could read it).
    """

    text: str
    message: int
    reason: str


class Extraction(Struct, frozen=True):
    """The statements of a conversation that are worth keeping, and everything that was left out."""

    kept: list[KeptStatement]
    left_out: list[LeftOut]

    @property
    def reasons(self) -> dict[str, int]:
        """How many sentences were left out for each reason."""
        counts: dict[str, int] = {}
        for one in self.left_out:
            counts[one.reason] = counts.get(one.reason, 0) + 1
        return counts


def check_role(role: str, field: str) -> None:
    """Raise Invalid for a role that is none."""
    if role not in ROLES:
        raise Invalid(f"{field} is {role!r}, but must be one of: {', '.join(ROLES)}", field=field, possible=ROLES)


def features(text: str, role: str) -> list[float]:
    """What the outside of a text tells of its kind: how it ends, how long it is, and who says it."""
    end = text.rstrip("\"'”’»)]*_` \n")[-1:]
    return [
        float(asks(text)),
        float(end in ("!", "！")),
        float(end in (".", "。", "｡")),
        min(len(text.encode()) / _UNIT, _LONG),
        float(role == "user"),
        float(role == "assistant"),
    ]


def guess(
    finder: Finder, project: str, texts: Sequence[str], roles: Sequence[str], *, patient: bool
) -> list[KindGuess | None]:
    """The kind of each text; None where no model can tell. Who is not patient gets only what loaded models tell.

    The models that read the project are asked, and another one only about what none of them knows.
    """
    heads = [text[:_READ] for text in texts]
    worded = [at for at, text in enumerate(heads) if WORD.search(text)]
    reading = {channel.name for channel in finder.models(project)}
    read: list[list[Sequence[float]]] = [[] for _ in texts]
    for channel in _channels(finder):
        asked = [at for at in worded if (channel.name in reading or not read[at]) and channel.embedder.knows(heads[at])]
        if asked and (channel.load() if patient else channel.ready.is_set()):
            vectors = channel.soon([heads[at] for at in asked])
            given = [features(heads[at], roles[at]) for at in asked]
            for at, chances in zip(asked, _chances(finder, channel, vectors, given), strict=False):
                read[at].append(chances)
    return [_guessed(one) for one in read]


def guess_stored(finder: Finder, snapshot: Snapshot, records: Sequence[Record]) -> list[list[KindGuess | None]]:
    """The kind of each observation of stored memories, by the vectors the store has; None where there is none yet."""
    with importing():
        import numpy as np

    base = snapshot.numbers[0] << 32
    read: list[list[list[Sequence[float]]]] = [[[] for _ in record.observations] for record in records]
    places = {record.id - base: place for place, record in enumerate(records)}
    channels = {channel.name: channel for channel in _channels(finder)}
    halves: dict[str, dict[tuple[int, int], list[bytes]]] = {name: {} for name in channels}
    for number, at, model, half in snapshot.observation_vectors(list(places)) if channels else ():
        if model in channels and len(half) == 2 * channels[model].embedder.dimensions:
            halves[model].setdefault((places[number], at), []).append(half)
    for model, found in halves.items():
        # A memory that was changed since it was read may have fewer observations than vectors.
        asked = [(place, at) for place, at in found if at < len(read[place])]
        if not asked:
            continue
        counts = np.array([len(found[one]) for one in asked])
        passages = np.frombuffer(b"".join(half for one in asked for half in found[one]), "<f2").astype(np.float32)
        sums = np.add.reduceat(passages.reshape(counts.sum(), -1), np.cumsum(counts) - counts)
        means = sums / counts[:, None]
        given = [features(records[place].observations[at][:_READ], ROLES[0]) for place, at in asked]
        for (place, at), one in zip(asked, _chances(finder, channels[model], means, given), strict=False):
            if isfinite(sum(one)):  # of a damaged vector it is not
                read[place][at].append(one)
    return [[_guessed(one) for one in read[places[record.id - base]]] for record in records]


def _channels(finder: Finder) -> list[Channel]:
    model = finder.kinds
    return [] if model is None else [channel for channel in finder.channels if model.knows(channel.name)]


def _chances(
    finder: Finder, channel: Channel, vectors: Any, given: Sequence[Sequence[float]]
) -> Sequence[Sequence[float]]:
    """The probabilities of all kinds for each vector; nothing where there are no vectors or no model."""
    if vectors is None or finder.kinds is None or not given:
        return []
    try:
        return finder.kinds.chances(channel.name, vectors, given)
    except NoModel:  # its file is damaged, which a check of the installation tells
        return []


def _guessed(read: Sequence[Sequence[float]]) -> KindGuess | None:
    """What the models make of a text together: the geometric mean of what each says."""
    if not read:
        return None
    means = [prod(each) ** (1 / len(read)) for each in zip(*read, strict=True)]
    chances = [one / sum(means) for one in means]
    worth = 1 - chances[-1]
    best = max(range(len(chances) - 1), key=chances.__getitem__) if worth >= WORTH else -1
    return KindGuess(KINDS[best], chances[best], worth)


def extract(finder: Finder, project: str, messages: Sequence[ConversationTurn]) -> Extraction:
    """The sentences of a conversation that are worth keeping, in their order, and those that are not."""
    kept: list[KeptStatement] = []
    left_out: list[LeftOut] = []
    said: set[str] = set()
    candidates: list[tuple[int, str]] = []
    for at, message in enumerate(messages):
        for text, reason in _split(message.text):
            same = " ".join(text.casefold().split())
            if reason is not None or same in said:
                left_out.append(LeftOut(text, at, reason or "repeated"))
            else:
                said.add(same)
                candidates.append((at, text))
    roles = [messages[at].role for at, _ in candidates]
    guesses = guess(finder, project, [text for _, text in candidates], roles, patient=True)
    for (at, text), one in zip(candidates, guesses, strict=True):
        if one is None:
            left_out.append(LeftOut(text, at, "unknown"))
        elif one.worth < KEPT:
            left_out.append(LeftOut(text, at, "other" if one.kind == "other" else "unsure"))
        else:
            who = messages[at].speaker or messages[at].role
            kept.append(KeptStatement(text, one.kind, one.probability, one.worth, at, who, messages[at].time))
    left_out.sort(key=lambda one: one.message)
    return Extraction(kept, left_out)


def _split(text: str) -> Iterator[tuple[str, str | None]]:
    """The sentences of a message, each with the reason why it cannot be a statement, if there is one."""
    for block in blocks(text):
        if block.kind not in _PROSE:
            yield block.text, "code" if block.kind == "code" else "other"
            continue
        for line in block.text.splitlines():
            for sentence in sentences(line):
                yield sentence, None if WORD.search(sentence) else "wordless"
