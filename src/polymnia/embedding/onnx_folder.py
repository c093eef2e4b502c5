"""An embedding model in a folder: model.onnx and tokenizer.json, as they are commonly exported."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from polymnia.embedding.measured import Measured
from polymnia.errors import NoModel
from polymnia.importing import importing, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.embedding.session import Session

__all__ = ["OnnxFolder"]

_MOST_PIECES = 512  # where the folder does not say what the model can read
_LONGEST = 8192
_CHARACTERS_A_PIECE = 16


class OnnxFolder(Measured):
    """Reads the folder's own notes on pooling (the mean, or the first token), length and prompts."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = os.path.abspath(os.path.expanduser(folder))
        self._session: Session
        self._tokenizer: Any = None
        self._first_token = False
        self._most = _MOST_PIECES
        self._prompts: dict[str, str] = {}

    @cached_property
    def id(self) -> str:
        """The folder's name and the first digits of the SHA-256 of its model."""
        import hashlib

        name = os.path.basename(self._folder)
        try:
            with open(self._model_path(), "rb") as stream:
                return f"onnx:{name}-{hashlib.file_digest(stream, 'sha256').hexdigest()[:12]}"
        except OSError:
            return f"onnx:{name}"

    def _model_path(self) -> str:
        places = [os.path.join(self._folder, *below, "model.onnx") for below in ((), ("onnx",))]
        return next(filter(os.path.isfile, places), places[0])

    def _open(self) -> None:
        with importing():
            from polymnia.embedding.session import Session

        tokenizer = os.path.join(self._folder, "tokenizer.json")
        missing = [path for path in (self._model_path(), tokenizer) if not os.path.isfile(path)]
        if missing:
            raise NoModel(
                f"The folder {self._folder} holds no embedding model: {' and '.join(missing)} missing",
                hint="Name a folder with model.onnx and tokenizer.json.",
                folder=self._folder,
            )
        self._session = Session(self._model_path())
        try:
            self._tokenizer = load("tokenizers").Tokenizer.from_file(tokenizer)
        except ImportError as error:
            raise NoModel(
                "A model in ONNX form needs the library tokenizers, which is not installed",
                hint="Run `pip install tokenizers`, or choose another model.",
            ) from error
        except Exception as error:  # the library raises nothing more special
            raise NoModel(
                f"The tokenizer {tokenizer} cannot be used: {error}", hint="Export the model again.", path=tokenizer
            ) from error
        self._first_token = bool(self._note("1_Pooling/config.json").get("pooling_mode_cls_token"))
        self._most = self._length()
        prompts = self._note("config_sentence_transformers.json").get("prompts")
        self._prompts = prompts if isinstance(prompts, dict) else {}
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._most)

    def _vectors(self, texts: Sequence[str], query: bool) -> Any:
        with importing():
            import numpy

        kind = "query" if query else "document" if "document" in self._prompts else "passage"
        prompt = self._prompts.get(kind) or ""
        rows = []
        for text in texts:
            read = self._tokenizer.encode(prompt + text[: self._most * _CHARACTERS_A_PIECE])
            # A model has to see at least one token.
            out = self._session.run(read.ids or [0], read.type_ids or [0])
            rows.append(out if out.ndim == 1 else out[0] if self._first_token else out.mean(axis=0))
        return numpy.stack(rows)

    def _length(self) -> int:
        for note, key in (
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ):
            found = self._note(note).get(key)
            # Some exports write a number with thirty digits for "unknown".
            if isinstance(found, int) and 0 < found <= _LONGEST:
                return found
        return _MOST_PIECES

    def _note(self, name: str) -> dict[str, Any]:
        """One of the folder's small JSON files; empty when it is not there."""
        path = os.path.join(self._folder, *name.split("/"))
        try:
            with open(path, encoding="utf-8") as stream:
                found = json.load(stream)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise NoModel(f"The file {path} cannot be read: {error}", hint="Export the model again.") from error
        return found if isinstance(found, dict) else {}
