"""The default model is read once a process, however many memories of it are opened: that takes half a second."""

from __future__ import annotations

from typing import Any

__all__ = ["share"]


def share() -> None:
    """Have every embedder of the same files share what the first one has read."""
    from polymnia.inference.built_in import MultilingualEmbedder

    prepare = MultilingualEmbedder._prepare
    read: dict[Any, Any] = {}

    def prepare_once(self: MultilingualEmbedder) -> None:
        if self._weights not in read:
            prepare(self)
            read[self._weights] = self._words, self._network
        self._words, self._network = read[self._weights]

    MultilingualEmbedder._prepare = prepare_once  # type: ignore[method-assign]
