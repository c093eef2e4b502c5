"""Any model of the library sentence-transformers, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymnia.embedding.measured import Measured
from polymnia.errors import NoModel
from polymnia.importing import load

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Transformer"]


class Transformer(Measured):
    """Runs the model with the library's own code. The library may fetch the model when it first loads it."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self._name = model
        self._model: Any = None

    @property
    def id(self) -> str:
        """The library and the model's name there."""
        return f"sentence-transformers:{self._name}"

    def _open(self) -> None:
        try:
            library = load("sentence_transformers")
        except ImportError as error:
            raise NoModel(
                f"The model {self._name} needs the library sentence-transformers, which is not installed",
                hint="Run `pip install sentence-transformers`, or choose another model.",
            ) from error
        try:
            self._model = library.SentenceTransformer(self._name)
        except Exception as error:  # whatever the library, its hub or the model's own code raises
            raise NoModel(
                f"The library sentence-transformers cannot load the model {self._name}: {error}",
                hint="Check the model's name, and the network if the model has not been fetched yet.",
                model=self._name,
            ) from error

    def _vectors(self, texts: Sequence[str], query: bool) -> Any:
        prompts = getattr(self._model, "prompts", None) or {}
        kind = "query" if query else "document" if "document" in prompts else "passage"
        return self._model.encode(
            list(texts), prompt=prompts.get(kind) or None, convert_to_numpy=True, show_progress_bar=False
        )
