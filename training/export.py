"""Write the files that the package ships, from what the trainings wrote.

    python -m training.export --from DIR --ce-base ce.npz --bge-base bge.npz --use weights.npz \\
        --words vocab.txt --to src/polymnia/weights

Networks become ONNX graphs of quantised layers (`network.build`), tables of words stay as they were packed, and
`SHA256SUMS` lists what was written.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
import onnx

from training.english import load
from training.network import build

_TABLES = ("embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight")


def network(weights: dict[str, np.ndarray], output: str, to: Path) -> None:
    """An ONNX file; the tables of places and parts are not in it."""
    onnx.save(build(weights, heads=12, output=output), str(to))


def tables(base: Path, words: Path, weights: dict[str, dict[str, np.ndarray]], to: Path) -> None:
    """A packed table of words, and for each network over it the vectors of places and parts.

    The pieces of other scripts are blank: no English text has them, and blanks take no room in an archive.
    """
    file = np.load(base)
    found = {"levels": file["table.levels"].copy(), "scale": file["table.scale"].copy()}
    pieces = words.read_text(encoding="utf-8").splitlines()
    foreign = [
        i
        for i, piece in enumerate(pieces)
        if piece.startswith("[unused") or any(c.isalpha() and c > "\u024f" for c in piece)
    ]
    found["levels"][foreign] = 0
    found["scale"][foreign] = 0
    for name, one in weights.items():
        places, parts = (one[table].astype(np.float32) for table in _TABLES)
        found[f"{name}.places"] = places.astype(np.float16)
        found[f"{name}.parts"] = parts.astype(np.float16)
    np.savez(to, **found)


def encoder(use: Path, weights: Path, to: Path) -> None:
    """The multilingual encoder: its table as it was, its layers as they were trained."""
    file = dict(np.load(use))
    trained = dict(np.load(weights))
    weigh = {"token_weight": trained.pop("weigh.weight")[0], "token_bias": trained.pop("weigh.bias")}
    found = {name: array for name, array in file.items() if name.startswith("q") or name in ("scale", "lo")}
    for name, array in (trained | weigh).items():
        if array.ndim == 2:  # in eight bits, with a scale for each column
            scale = np.maximum(np.abs(array.astype(np.float32)).max(axis=0) / 127, 1e-8)
            found[name] = np.round(array.astype(np.float32) / scale).astype(np.int8)
            found[f"{name}.s"] = scale.astype(np.float32)
        else:
            found[name] = array.astype(np.float16)
    np.savez_compressed(to, **found)


def main() -> None:
    """Write everything that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    parser.add_argument("--ce-base", type=Path)
    parser.add_argument("--bge-base", type=Path)
    parser.add_argument("--use", type=Path)
    parser.add_argument("--words", type=Path, help="the vocabulary, vocab.txt")
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    source, to = options.source, options.to
    to.mkdir(parents=True, exist_ok=True)
    embedder = load(source / "embedder.npz")
    network(embedder, "first", to / "embedder_en.onnx")
    tables(options.bge_base, options.words, {"embedder": embedder}, to / "words_embedder_en.npz")
    ranker, judge = load(source / "ranker_small.npz"), load(source / "judge_small.npz")
    network(ranker, "rank", to / "ranker_en.onnx")
    network(judge, "judge", to / "judge_en.onnx")
    tables(options.ce_base, options.words, {"ranker": ranker, "judge": judge}, to / "words_scorer_en.npz")
    multi = load(source / "scorer_multi.npz")
    network(multi, "rank,judge", to / "scorer_multi.onnx")
    names = {"places": _TABLES[0], "parts": _TABLES[1], "enter": "enter.weight", "enter_bias": "enter.bias"}
    np.savez(to / "places_multi.npz", **{name: multi[weight] for name, weight in names.items()})
    encoder(options.use, source / "use.npz", to / "encoder_multi.npz")
    files = sorted(path for path in to.iterdir() if path.suffix in (".onnx", ".npz", ".txt", ".model"))
    (to / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    )
    print(sum(path.stat().st_size for path in files) / 1e6, "MB")


if __name__ == "__main__":
    main()
