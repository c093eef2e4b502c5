"""ONNX models on one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from polymnia.errors import NoModel
from polymnia.importing import load

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Session", "opened"]

_ERRORS_ONLY = 3

# The library keeps what its largest run needed, 30 MB for 512 tokens. After texts longer than this it gives
# the memory back, which costs them nothing one could measure.
_LONG = 64


def opened(path: str, *, needed_for: str, plain: bool = False) -> tuple[Any, Any]:
    """A session of onnxruntime, and options for a run that gives its working memory back.

    ``plain``: the graph is run as it stands. The library would otherwise join nodes into some that are slower here.
    """
    try:
        onnxruntime = load("onnxruntime")
    except ImportError as error:
        raise NoModel(
            f"{needed_for} needs the library onnxruntime, which is not installed",
            hint="Run `pip install onnxruntime`, or choose another model.",
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # Weights outside the pool of working memory take 17 MB less for the models at hand.
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    tidy = onnxruntime.RunOptions()
    tidy.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), tidy
    except Exception as error:  # the library's faults share no better base
        raise NoModel(
            f"The model file {path} cannot be used: {_first_line(error)}",
            hint="Put a working ONNX model in its place, or choose another model.",
            path=path,
        ) from error


class Session:
    """Runs somebody's BERT-like model for one text at a time.

    Quantised models measure the range of a whole batch, so that a text's result would depend on the
    texts beside it; and on one thread a batch is only a tenth faster.
    """

    def __init__(self, path: str) -> None:
        self._session, self._tidy = opened(path, needed_for="A model in ONNX form")
        self._inputs = [given.name for given in self._session.get_inputs()]
        outputs = [given.name for given in self._session.get_outputs()]
        # Exports that pool by themselves say so in this name, which need not come first.
        self._output = [name for name in outputs if name == "sentence_embedding"] or outputs[:1]

    def run(self, ids: Sequence[int], kinds: Sequence[int]) -> NDArray[Any]:
        """The model's output for one text: the ids of its tokens, and which part each belongs to."""
        tokens = numpy.array([ids], numpy.int64)
        feed = {
            "input_ids": tokens,
            "attention_mask": numpy.ones_like(tokens),
            "token_type_ids": numpy.array([kinds], numpy.int64),
        }
        given = {name: feed[name] for name in self._inputs if name in feed}
        outputs = self._session.run(self._output, given, self._tidy if len(ids) > _LONG else None)
        first: NDArray[Any] = outputs[0][0]
        return first


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
