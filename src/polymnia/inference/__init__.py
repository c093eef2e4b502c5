"""Embedders, which turn texts into vectors, chosen by name.

auto                          our models for English and for 16 languages; without onnxruntime only the latter
multi                         only the one for 16 languages, which needs nothing but NumPy; also called use
none                          no search by meaning, words only
onnx:FOLDER                   a model.onnx with its tokenizer.json
sentence-transformers:MODEL   any model of that library
openai:MODEL                  an endpoint with OpenAI's /v1/embeddings API
ollama:MODEL                  a model served by Ollama

No model is loaded here, only on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polymnia.errors import Fault, Invalid
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.ports import Embedder, Judge, KindModel, Reranker

_NAMES = ("auto", "multi", "use", "none")
_KINDS = ("onnx:FOLDER", "sentence-transformers:MODEL", "openai:MODEL", "ollama:MODEL")


def check(name: str, *, url: str | None = None, key: str | None = None) -> None:
    """Raise Invalid for an unknown name; imports nothing if the name alone is enough."""
    if name.strip() not in _NAMES:
        choose(name, url=url, key=key)


def choose(name: str, *, url: str | None = None, key: str | None = None, timeout: float = 30.0) -> list[Embedder]:
    """The embedders of a name, not loaded yet.

    ``url``, ``key`` and ``timeout`` (in seconds, for one request) are for HTTP embedders. Raises Invalid for an unknown
    name.
    """
    kind, _, what = name.strip().partition(":")
    what = what.strip()
    match kind, what:
        case "none", "":
            return []
        case (("auto" | "multi" | "use"), ""):
            return _built_in(kind)
        case "onnx", _ if what:
            from polymnia.inference.custom import OnnxFolder

            return [OnnxFolder(what)]
        case "sentence-transformers", _ if what:
            from polymnia.inference.custom import Transformer

            return [Transformer(what)]
        case "openai", _ if what:
            from polymnia.inference.http import OpenAI

            return [OpenAI(what, url=url, key=key, timeout=timeout)]
        case "ollama", _ if what:
            from polymnia.inference.http import Ollama

            return [Ollama(what, url=url, key=key, timeout=timeout)]
    raise _unknown(name)


def reranker(name: str) -> Reranker | None:
    """The reranker of the best hits that goes with an embedder: None for "none", and without onnxruntime."""
    if name.strip() == "none" or not _can_run():
        return None
    with importing():
        from polymnia.inference.built_in import Ranker

    return Ranker()


def judge(name: str) -> Judge | None:
    """The judge of pairs that goes with an embedder: None for "none", and without onnxruntime."""
    if name.strip() == "none" or not _can_run():
        return None
    with importing():
        from polymnia.inference.built_in import PairJudge

    return PairJudge()


def kinds(name: str) -> KindModel | None:
    """The model of statement kinds that goes with an embedder: None for "none"."""
    if name.strip() == "none":
        return None
    with importing():
        from polymnia.inference.statements import StatementKinds

    return StatementKinds()


def missing(name: str) -> str | None:
    """What is unavailable because onnxruntime is not installed, and what to do about it; None if it is installed."""
    if name.strip() == "none" or _can_run():
        return None
    return (
        "onnxruntime is not installed: there is no model for English alone, none that reads the best hits again, and "
        "no judge of pairs. Run `pip install onnxruntime` where there is one for this platform."
    )


def damaged(name: str) -> Fault | None:
    """The fault of the model files that come with the package, if any."""
    from polymnia.inference.weights import SHIPPED

    if name.strip() == "none":
        return None
    try:
        SHIPPED.check()
    except Fault as fault:
        return fault
    return None


def _can_run() -> bool:
    from polymnia.inference.weights import installed

    return installed("onnxruntime")


def _built_in(name: str) -> list[Embedder]:
    with importing():
        from polymnia.inference.built_in import EnglishEmbedder, MultilingualEmbedder

    if name != "auto" or not _can_run():
        return [MultilingualEmbedder()]
    # The second is loaded on the first text or query that the first does not know.
    return [EnglishEmbedder(), MultilingualEmbedder()]


def _unknown(name: str) -> Invalid:
    from difflib import get_close_matches

    possible = [*_NAMES, *_KINDS]
    shapes = {shape.partition(":")[0].casefold(): shape for shape in possible}
    close = get_close_matches(name.strip().partition(":")[0].casefold(), shapes, n=1, cutoff=0.4)
    nearest = f"; did you mean {shapes[close[0]]}?" if close else ""
    return Invalid(
        f"There is no embedder {name!r}{nearest}",
        hint=f"Choose one of: {', '.join(possible)}.",
        name=name,
        possible=possible,
    )
