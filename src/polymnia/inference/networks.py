"""Networks, each on a single thread: those that onnxruntime runs, and the multilingual encoder in NumPy."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.linalg import _umath_linalg
from numpy.typing import NDArray

from polymnia.errors import NoModel
from polymnia.importing import load
from polymnia.inference.tokens import Floats, Ints

# NumPy's wheels prefix and suffix the names of the OpenBLAS they bundle; distributions do not.
_NAMES = tuple(
    (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
    for prefix in ("scipy_", "")
    for suffix in ("64_", "")
)

_lock = threading.Lock()
_inside = 0
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep NumPy's matrix products on one thread within the block, if its library supports that."""
    global _before, _inside
    switch = _switch()
    if switch is None:
        yield
        return
    get, set = switch
    with _lock:
        if _inside == 0:
            _before = get()
            if _before != 1:
                set(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _before != 1:
                set(_before)


@cache
def _switch() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions that get and set OpenBLAS's number of threads; None if NumPy uses another library."""
    import ctypes

    for path in _libraries():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for get_name, set_name in _NAMES:
            get, set = getattr(library, get_name, None), getattr(library, set_name, None)
            if get is not None and set is not None:
                get.restype, get.argtypes = ctypes.c_int, []
                set.restype, set.argtypes = None, [ctypes.c_int]
                return get, set
    return None


def _libraries() -> Iterator[str]:
    import glob
    import os

    # A symbol lookup in an extension module also searches the libraries it was linked with,
    # except on Windows.
    yield _umath_linalg.__file__
    beside = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs", "*openblas*")
    yield from glob.glob(beside)


_ERRORS_ONLY = 3

_changed = threading.Condition()
_computing = 0
_ending = False


@contextmanager
def onnx() -> Iterator[None]:
    """Let onnxruntime compute within the block; the end of the process waits for it.

    Around a thread that is not waited for, the library aborts the process as it ends.
    """
    global _computing
    with _changed:
        if _ending and threading.current_thread().daemon:
            raise NoModel("The process is ending")
        _computing += 1
    try:
        yield
    finally:
        with _changed:
            _computing -= 1
            _changed.notify_all()


@atexit.register
def _end() -> None:
    global _ending
    with _changed:
        _ending = True
        _changed.wait_for(lambda: not _computing)


def open_session(path: str, *, needed_for: str, plain: bool = False) -> tuple[Any, Any]:
    """An onnxruntime session, and options for a run that releases its working memory afterwards.

    ``plain``: run the graph without node fusions, which are slower here.
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
    # Weights outside the arena take 17 MB less for our models.
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    tidy = onnxruntime.RunOptions()
    tidy.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    with onnx():
        try:
            return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), tidy
        except Exception as error:  # the library's errors have no better base class
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            raise NoModel(
                f"The model file {path} cannot be used: {why}",
                hint="Put a working ONNX model in its place, or choose another model.",
                path=path,
            ) from error


# Texts of similar length are batched. That is a fifth faster than one at a time, and larger batches gain no more;
# a text shorter than the others of its batch is padded, and costs as much as they do.
_BATCH = 384  # tokens
_MAX_PADDING = 0.1  # the maximum share of padding in a batch

_LONG = 128  # tokens; after longer texts the library releases its working memory


class OnnxNetwork:
    """A network run by onnxruntime. Thread-safe."""

    def __init__(self, path: str) -> None:
        self._session, self._tidy = open_session(
            path, needed_for="Meaning in English and the judging of texts", plain=True
        )

    def run(self, texts: Sequence[Floats], output: str) -> Floats:
        """One row for each text, which is given as its token vectors."""
        rows: list[Any] = [None] * len(texts)
        for batch in batches([len(text) for text in texts]):
            longest = max(len(texts[at]) for at in batch)
            vectors = np.zeros((len(batch), longest, texts[0].shape[1]), np.float32)
            mask = np.zeros((len(batch), longest), np.int32)
            for place, at in enumerate(batch):
                vectors[place, : len(texts[at])] = texts[at]
                mask[place, : len(texts[at])] = 1
            tidy = self._tidy if longest > _LONG else None
            with onnx():
                (made,) = self._session.run([output], {"vectors": vectors, "mask": mask}, tidy)
            for place, at in enumerate(batch):
                rows[at] = made[place]
        return np.stack(rows)


def batches(sizes: Sequence[int]) -> list[list[int]]:
    """Batches of texts, as indexes, by their numbers of tokens."""
    found: list[list[int]] = []
    batch: list[int] = []
    filled = 0
    for at in sorted(range(len(sizes)), key=lambda at: sizes[at]):
        if batch:
            more = filled + (sizes[at] - sizes[batch[-1]]) * len(batch)
            tokens = sizes[at] * (len(batch) + 1)
            if tokens > _BATCH or more > tokens * _MAX_PADDING:
                found.append(batch)
                batch, filled = [], 0
            else:
                filled = more
        batch.append(at)
    if batch:
        found.append(batch)
    return found


_EPSILON = 1e-12
_WIDTH = 256
# For each branch: its name in the file, its window in tokens, and how many of them precede the token.
_BRANCHES = (("2", 2, 0), ("3", 3, 1), ("5", 5, 2))
_BLANKS = 2  # tokens by which a window extends beyond the text's ends


class MultilingualEncoder:
    """Turns texts, given as token ids, into unit vectors."""

    def __init__(self, rows: Callable[[Ints], Floats], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._own = rows
        file = _layers(arrays)

        def beside(name: str) -> Floats:
            return np.concatenate([file[name + branch] for branch, _, _ in _BRANCHES], axis=-1)

        self._enter, self._enter_bias = beside("proj"), beside("proj_b")
        self._gain, self._shift = beside("ln_g"), beside("ln_b")
        # One block of columns for each position in the window; the file has blocks of rows.
        self._first = [np.hstack(np.split(file["w1_" + name], size)) for name, size, _ in _BRANCHES]
        self._first_bias = [file["b1_" + name] for name, _, _ in _BRANCHES]
        self._second = [file["w2_" + name] for name, _, _ in _BRANCHES]
        self._second_bias = [file["b2_" + name] for name, _, _ in _BRANCHES]
        # All from the last normalisation's gain to the first dense layers is linear: it is merged into one matrix.
        dense = np.hstack([file["d0"], file["p1"]])
        average = file["cnn_W"] @ dense
        self._head = file["ln_g"][:, None] * average
        self._head_bias = file["ln_b"] @ average + file["cnn_b"] @ dense
        self._dense1, self._dense3 = file["d1"], file["d3"]
        self._dense2 = np.hstack([file["d2"], file["p3"]])
        self._share, self._share_bias = file["token_weight"], file["token_bias"]

    def run(self, texts: Sequence[Sequence[int]]) -> Floats:
        """The vectors of the texts, one row each."""
        sizes = np.fromiter(map(len, texts), np.intp, len(texts))
        total = int(sizes.sum())
        ids = np.fromiter(chain.from_iterable(texts), np.intp, total)
        distinct, which = np.unique(ids, return_inverse=True)
        text_of = np.repeat(np.arange(len(texts)), sizes)
        place = np.arange(total) + text_of * _BLANKS + _BLANKS
        token = np.full(place[-1] + 1 + _BLANKS, len(distinct))
        token[place] = which

        own = self._own(distinct)
        outs = self._branches(own, which, place, token)

        # The last normalisation covers a token's own vector and the three branches. A text's sum of normalised rows is
        # computed as a product with a matrix of weights, without copying rows.
        width = own.shape[1] + len(outs) * _WIDTH
        mean = own.sum(axis=1)[which] + sum(out.sum(axis=1) for out in outs)
        mean /= width
        square = np.einsum("ij,ij->i", own, own)[which] + sum(np.einsum("ij,ij->i", out, out) for out in outs)
        # The weight of a token in the text, between 0 and 2.
        share = (1 + np.tanh((own @ self._share + self._share_bias) / 2))[which]
        weight = share / np.sqrt(square / width - mean * mean + _EPSILON)
        weights = np.zeros((len(texts), total), np.float32)
        weights[text_of, np.arange(total)] = weight
        weights_own = np.zeros((len(texts), len(distinct)), np.float32)
        np.add.at(weights_own, (text_of, which), weight)
        rows = np.concatenate([weights_own @ own, *(weights @ out for out in outs)], axis=1)
        rows -= (weights @ mean)[:, None]
        shares = np.bincount(text_of, share, len(texts)).astype(np.float32)
        return self._dense(rows, shares[:, None], sizes.astype(np.float32)[:, None])

    def _branches(self, own: Floats, which: Ints, place: Ints, token: Ints) -> list[Floats]:
        """The output of each branch for every token."""
        inner = own @ self._enter
        inner += self._enter_bias
        inner -= inner.mean(axis=1, keepdims=True)
        inner *= 1 / np.sqrt(np.einsum("ij,ij->i", inner, inner) / inner.shape[1] + _EPSILON)[:, None]
        inner *= self._gain
        inner += self._shift
        hidden = np.zeros((len(token), _WIDTH), np.float32)
        buffer = np.empty((len(place), _WIDTH), np.float32)
        outs = []
        for branch, (_, size, before) in enumerate(_BRANCHES):
            entering = np.ascontiguousarray(inner[:, branch * _WIDTH : (branch + 1) * _WIDTH])
            shares = np.zeros((len(own) + 1, size * _WIDTH), np.float32)
            np.matmul(entering, self._first[branch], out=shares[:-1])
            shares = shares.reshape(-1, _WIDTH)
            row = token * size
            sums = shares[row[place - before]]
            for at in range(1, size):
                shares.take(row[place - before + at] + at, axis=0, out=buffer, mode="clip")
                sums += buffer
            sums += self._first_bias[branch]
            np.maximum(sums, 0, out=sums)
            sums += entering.take(which, axis=0, out=buffer, mode="clip")
            hidden[place] = sums
            windows = as_strided(hidden, (len(hidden) - size + 1, size * _WIDTH), hidden.strides, writeable=False)
            out = windows[place - before] @ self._second[branch]
            out += self._second_bias[branch]
            np.maximum(out, 0, out=out)
            out += sums
            outs.append(out)
        return outs

    def _dense(self, rows: Floats, shares: Floats, sizes: Floats) -> Floats:
        """The last layers: from the sum over a text's tokens to its vector."""
        both = rows @ self._head
        both += shares * self._head_bias
        both *= 1 / np.sqrt(sizes)
        half = len(self._dense1)
        middle = np.maximum(both[:, :half], 0) @ self._dense1
        middle += both[:, half:]
        np.maximum(middle, 0, out=middle)
        both = middle @ self._dense2
        half = len(self._dense3)
        vectors: Floats = np.maximum(both[:, :half], 0) @ self._dense3
        vectors += both[:, half:]
        np.tanh(vectors, out=vectors)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _layers(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """The layers in 32 bits; a file may store them in 16, or in 8 with a scale for each column (``NAME.s``)."""
    file = {name: array.astype(np.float32) for name, array in arrays.items()}
    for name in [name for name in file if name.endswith(".s")]:
        file[name.removesuffix(".s")] *= file.pop(name)
    return file
