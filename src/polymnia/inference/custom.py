"""Embedders with a model the user chose: nothing is known about it before it runs."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from polymnia.errors import NoModel
from polymnia.importing import importing, load
from polymnia.inference.weights import LazyModel
from polymnia.models import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polymnia.inference.tokens import Floats

# Sentences about unrelated subjects, the same number in each language.
SENTENCES = (
    "The invoice for March was paid twice by mistake.",
    "Penguins cannot fly but they swim very well.",
    "She plays the violin in a small orchestra.",
    "How do I reset the password of my router?",
    "Volcanic soil is good for growing wine.",
    "He broke his leg while skiing last winter.",
    "Add two eggs and a cup of flour to the bowl.",
    "The tenants voted against a new elevator.",
    "Der Vermieter hat die Heizung noch nicht repariert.",
    "Im Herbst ziehen die Kraniche nach Süden.",
    "Das Programm stürzt ab, sobald der Speicher voll ist.",
    "Meine Tante sammelt alte Briefmarken.",
    "Die Brücke wurde im siebzehnten Jahrhundert gebaut.",
    "Zum Frühstück gab es Käse und Oliven.",
    "Der Richter vertagte die Verhandlung auf Mai.",
    "Unser Hund fürchtet sich vor Gewitter.",
    "주말에 친구와 영화를 보러 갔다.",
    "서버 인증서가 다음 달에 만료된다.",
    "할머니는 마당에서 고추를 말리신다.",
    "이 강은 겨울마다 꽁꽁 언다.",
    "회의록을 아직 공유하지 못했습니다.",
    "고래는 물고기가 아니라 포유류이다.",
    "어제 산 신발이 발에 맞지 않는다.",
    "대통령은 예산안에 서명했다.",
    "火星上的一天比地球上的一天长一点。",
    "他把雨伞忘在出租车上了。",
    "这道菜需要先用小火炖两个小时。",
    "数据库的备份昨晚没有成功。",
    "我妹妹在学习弹钢琴。",
    "春天的时候樱花开满了山坡。",
    "股东大会推迟到六月举行。",
    "医生建议他少吃盐。",
)
_LANGUAGES = 4


def mean_cosine(vectors: Floats) -> float:
    """The mean cosine of two sentences, from the unit vectors of all of them.

    That of the language in which it is lowest: sentences in a language the model does not know all look alike to it.
    """
    size = len(SENTENCES) // _LANGUAGES
    means = []
    for start in range(0, len(SENTENCES), size):
        same = vectors[start : start + size]
        means.append((float((same @ same.T).sum()) - size) / (size * (size - 1)))
    return min(means)


class CustomEmbedder(LazyModel):
    """Measures the number of dimensions and the cosine of unrelated texts with a few sentences on loading."""

    near = True
    strong = True  # the user chose the model and trusts it

    def __init__(self) -> None:
        super().__init__()
        self._dimensions = 0
        self._unrelated = 0.0

    @property
    @abstractmethod
    def id(self) -> str:
        """The model's id."""

    @property
    def dimensions(self) -> int:
        """The length of a vector; loads the model."""
        self.load()
        return self._dimensions

    @property
    def unrelated(self) -> float:
        """The mean cosine of unrelated texts; loads the model."""
        self.load()
        return self._unrelated

    @property
    def answers(self) -> tuple[float, float]:
        """How near a question is to its answer is not known."""
        return self.unrelated, 1.0

    def knows(self, text: str) -> bool:
        """True: the user chose the model for their languages."""
        return True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """One unit vector for each text."""
        with importing():
            import numpy

        self.load()
        if not texts:
            return numpy.empty((0, self._dimensions), numpy.float32)
        return self._unit(self._vectors(texts, query), len(texts))

    def _prepare(self) -> None:
        self._open()
        vectors = self._unit(self._vectors(SENTENCES, False), len(SENTENCES))
        self._unrelated = mean_cosine(vectors)
        self._dimensions = vectors.shape[1]

    def _unit(self, rows: Any, count: int) -> Floats:
        """The rows as unit vectors. Raises NoModel if they are invalid or differ in length from earlier ones."""
        with importing():
            import numpy

        try:
            vectors = numpy.array(rows, numpy.float32)
        except (TypeError, ValueError) as error:
            raise self._wrong("vectors that are not rows of numbers, all of one length") from error
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
            raise self._wrong(f"an array of shape {vectors.shape} for {count} texts")
        if self._dimensions and vectors.shape[1] != self._dimensions:
            raise self._wrong(f"vectors of {vectors.shape[1]} numbers where it gave {self._dimensions} before")
        if not numpy.isfinite(vectors).all():
            raise self._wrong("a vector with infinite or undefined numbers")
        vectors /= numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    def _wrong(self, what: str) -> NoModel:
        return NoModel(
            f"The model {self.id} answered with {what}",
            hint="Check that the name stands for an embedding model and that it was not replaced by another one.",
            model=self.id,
        )

    @abstractmethod
    def _open(self) -> None:
        """Prepare the model for use."""

    @abstractmethod
    def _vectors(self, texts: Sequence[str], query: bool) -> Any:
        """One row of numbers for each text, not normalised."""


class Transformer(CustomEmbedder):
    """Runs a model with sentence-transformers. The library may download the model when it first loads it."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self._name = model
        self._model: Any = None

    @property
    def id(self) -> str:
        """The library and the model's name in it."""
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
        except Exception as error:  # the library, its hub and the model's own code may raise anything
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


_DEFAULT_PIECES = 512  # if the folder does not state the model's maximum
_MAX_PIECES = 8192
_CHARACTERS_PER_PIECE = 16
# onnxruntime retains what its largest run needed, 30 MB for 512 tokens. After texts of more tokens than this it
# releases the memory, at no measurable cost.
_LONG_TEXT = 64


class OnnxFolder(CustomEmbedder):
    """Runs an ONNX model, with pooling (the mean, or the first token), length and prompts from the folder's files."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = os.path.abspath(os.path.expanduser(folder))
        self._session: Any = None
        self._tidy: Any = None
        self._inputs: list[str] = []
        self._output: list[str] = []
        self._tokenizer: Any = None
        self._first_token = False
        self._max_pieces = _DEFAULT_PIECES
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
            from polymnia.inference.networks import open_session

        tokenizer = os.path.join(self._folder, "tokenizer.json")
        missing = [path for path in (self._model_path(), tokenizer) if not os.path.isfile(path)]
        if missing:
            raise NoModel(
                f"The folder {self._folder} holds no embedding model: {' and '.join(missing)} missing",
                hint="Name a folder with model.onnx and tokenizer.json.",
                folder=self._folder,
            )
        self._session, self._tidy = open_session(self._model_path(), needed_for="A model in ONNX form")
        self._inputs = [one.name for one in self._session.get_inputs()]
        outputs = [one.name for one in self._session.get_outputs()]
        # Exports with built-in pooling have an output of this name, which need not come first.
        self._output = [name for name in outputs if name == "sentence_embedding"] or outputs[:1]
        try:
            self._tokenizer = load("tokenizers").Tokenizer.from_file(tokenizer)
        except ImportError as error:
            raise NoModel(
                "A model in ONNX form needs the library tokenizers, which is not installed",
                hint="Run `pip install tokenizers`, or choose another model.",
            ) from error
        except Exception as error:  # the library raises nothing more specific
            raise NoModel(
                f"The tokenizer {tokenizer} cannot be used: {error}", hint="Export the model again.", path=tokenizer
            ) from error
        self._first_token = bool(self._config("1_Pooling/config.json").get("pooling_mode_cls_token"))
        self._max_pieces = self._length()
        prompts = self._config("config_sentence_transformers.json").get("prompts")
        self._prompts = prompts if isinstance(prompts, dict) else {}
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._max_pieces)

    def _vectors(self, texts: Sequence[str], query: bool) -> Any:
        with importing():
            import numpy

            from polymnia.inference.networks import onnx

        kind = "query" if query else "document" if "document" in self._prompts else "passage"
        prompt = self._prompts.get(kind) or ""
        rows = []
        # One at a time: quantised models compute ranges over the batch, so a text's vector would depend on the other
        # texts; and on one thread a batch is only a tenth faster.
        for text in texts:
            tokens = self._tokenizer.encode(prompt + text[: self._max_pieces * _CHARACTERS_PER_PIECE])
            ids = numpy.array([tokens.ids or [0]], numpy.int64)  # a model needs at least one token
            inputs = {
                "input_ids": ids,
                "attention_mask": numpy.ones_like(ids),
                "token_type_ids": numpy.array([tokens.type_ids or [0]], numpy.int64),
            }
            given = {name: inputs[name] for name in self._inputs if name in inputs}
            with onnx():
                out = self._session.run(self._output, given, self._tidy if ids.size > _LONG_TEXT else None)[0][0]
            rows.append(out if out.ndim == 1 else out[0] if self._first_token else out.mean(axis=0))
        return numpy.stack(rows)

    def _length(self) -> int:
        for file, key in (
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ):
            found = self._config(file).get(key)
            # Some exports write a number with thirty digits for "unknown".
            if isinstance(found, int) and 0 < found <= _MAX_PIECES:
                return found
        return _DEFAULT_PIECES

    def _config(self, name: str) -> JsonObject:
        """One of the folder's JSON config files; empty if it does not exist."""
        path = os.path.join(self._folder, *name.split("/"))
        try:
            with open(path, encoding="utf-8") as stream:
                found = json.load(stream)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise NoModel(f"The file {path} cannot be read: {error}", hint="Export the model again.") from error
        return found if isinstance(found, dict) else {}
