"""The embedders: what turns texts into vectors, chosen by name.

auto                          USE, and bge for English where its package is installed
use                           the Universal Sentence Encoder: 16 languages, nothing but NumPy
use+bge                       both; a fault when bge is not installed
none                          no meaning, words only
onnx:FOLDER                   a model.onnx with its tokenizer.json
sentence-transformers:MODEL   any model of that library
openai:MODEL                  an endpoint that speaks OpenAI's /v1/embeddings
ollama:MODEL                  a model that Ollama serves

No model is loaded here: that happens when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polymnia.errors import Invalid
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.ports.models import Embedder, Judge, Reranker

__all__ = ["check", "choose", "judge", "reranker"]

_NAMES = ("auto", "use", "use+bge", "none")
_KINDS = ("onnx:FOLDER", "sentence-transformers:MODEL", "openai:MODEL", "ollama:MODEL")
_RERANKERS = ("off", "auto", "on")


def check(name: str, *, url: str | None = None, key: str | None = None) -> None:
    """Raise Invalid for a name that stands for nothing; imports nothing where the name alone tells."""
    if name.strip() not in _NAMES:
        choose(name, url=url, key=key)


def choose(name: str, *, url: str | None = None, key: str | None = None, timeout: float = 30.0) -> list[Embedder]:
    """The embedders a name stands for, none of them loaded yet.

    ``url``, ``key`` and ``timeout`` (in seconds, for one request) are for the embedders behind HTTP.
    Raises Invalid for a name that stands for nothing.
    """
    kind, _, what = name.strip().partition(":")
    what = what.strip()
    match kind, what:
        case "none", "":
            return []
        case (("auto" | "use" | "use+bge"), ""):
            return _built_in(kind)
        case "onnx", _ if what:
            from polymnia.embedding.onnx_folder import OnnxFolder

            return [OnnxFolder(what)]
        case "sentence-transformers", _ if what:
            from polymnia.embedding.transformer import Transformer

            return [Transformer(what)]
        case "openai", _ if what:
            from polymnia.embedding.http import OpenAI

            return [OpenAI(what, url=url, key=key, timeout=timeout)]
        case "ollama", _ if what:
            from polymnia.embedding.http import Ollama

            return [Ollama(what, url=url, key=key, timeout=timeout)]
    raise _unknown("embedder", name, (*_NAMES, *_KINDS))


def reranker(name: str) -> Reranker | None:
    """The cross-encoder that reads the best hits again: None for "off", and for "auto" without its package."""
    match name.strip():
        case "off":
            return None
        case "auto" | "on":
            from polymnia.embedding.rerank import CrossEncoder

            return CrossEncoder() if name.strip() == "on" or CrossEncoder.installed() else None
    raise _unknown("reranker", name, _RERANKERS)


def judge(name: str) -> Judge | None:
    """The judge of pairs that goes with an embedder: None for "none", and where no model of it is installed."""
    return None


def _built_in(name: str) -> list[Embedder]:
    with importing():
        from polymnia.embedding.use import Use

    chosen: list[Embedder] = [Use()]
    if name != "use":
        with importing():
            from polymnia.embedding.bge import Bge

        if name == "use+bge" or Bge.installed():
            chosen.append(Bge())
    return chosen


def _unknown(what: str, name: str, possible: tuple[str, ...]) -> Invalid:
    from difflib import get_close_matches

    shapes = {shape.partition(":")[0].casefold(): shape for shape in possible}
    close = get_close_matches(name.strip().partition(":")[0].casefold(), shapes, n=1, cutoff=0.4)
    nearest = f"; did you mean {shapes[close[0]]}?" if close else ""
    return Invalid(
        f"There is no {what} {name!r}{nearest}",
        hint=f"Choose one of: {', '.join(possible)}.",
        name=name,
        possible=list(possible),
    )
