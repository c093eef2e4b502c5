"""A folder of weights a few thousand bytes large, in the form of the shipped ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polymnia.inference.weights import Weights

from .onnx_file import adder

__all__ = ["VOCABULARY", "folder", "list_sums", "table"]

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "##s", "dog", "the"]
_WIDTH = 384


def folder(place: Path) -> Weights:
    """The English files, each network adding up what enters it."""
    random = np.random.default_rng(7)
    place.mkdir()
    (place / "vocab.txt").write_text("\n".join(VOCABULARY))
    for file, networks in (("words_embedder_en", ["embedder"]), ("words_scorer_en", ["ranker", "judge"])):
        arrays = {
            "levels": random.integers(0, 256, (len(VOCABULARY), _WIDTH // 2), np.uint8),
            "scale": random.uniform(0.001, 0.01, (len(VOCABULARY), _WIDTH // 32)).astype(np.float16),
        }
        for network in networks:
            arrays[f"{network}.places"] = random.normal(0, 0.01, (512, _WIDTH)).astype(np.float16)
            arrays[f"{network}.parts"] = random.normal(0, 0.01, (2, _WIDTH)).astype(np.float16)
        np.savez(place / f"{file}.npz", **arrays)
    for network, output in (("embedder", "vector"), ("ranker", "rank"), ("judge", "judge")):
        (place / f"{network}_en.onnx").write_bytes(adder(_WIDTH, output))
    list_sums(place)
    return Weights(str(place))


def list_sums(place: Path) -> None:
    """Write the hashes of the files that are there."""
    files = sorted(path for path in place.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (place / "SHA256SUMS").write_text("".join(lines))


def table(place: Path, file: str, network: str) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The vectors of words, places and parts as plain numbers."""
    found = np.load(place / f"{file}.npz")
    words = np.empty((len(VOCABULARY), _WIDTH), np.float32)
    for word in range(len(VOCABULARY)):
        for column in range(_WIDTH):
            byte = int(found["levels"][word, column // 2])
            level = byte >> 4 if column % 2 else byte & 15
            words[word, column] = (level - 7.5) * float(found["scale"][word, column // 32])
    return words, found[f"{network}.places"].astype(np.float32), found[f"{network}.parts"].astype(np.float32)
