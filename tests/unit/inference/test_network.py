"""The multilingual encoder's forward pass against the same one written plainly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from polymnia.inference.networks import MultilingualEncoder

_SHAPES = {
    "cnn_W": (1280, 512), "cnn_b": (512,), "ln_g": (1280,), "ln_b": (1280,), "d0": (512, 320), "d1": (320, 320),
    "p1": (512, 320), "d2": (320, 512), "p3": (320, 512), "d3": (512, 512), "token_weight": (512,), "token_bias": (1,),
    **{
        name: shape
        for size in (2, 3, 5)
        for name, shape in (
            (f"proj{size}", (512, 256)), (f"proj_b{size}", (256,)), (f"ln_g{size}", (256,)), (f"ln_b{size}", (256,)),
            (f"w1_{size}", (size * 256, 256)), (f"b1_{size}", (256,)),
            (f"w2_{size}", (size * 256, 256)), (f"b2_{size}", (256,)),
        )
    },
}  # fmt: skip
_TEXTS = [[1, 5, 9, 2], [1, 7, 2], [1, 3, 3, 8, 5, 30, 11, 2]]
Floats = NDArray[np.float32]


def _normal(rows: Floats) -> Floats:
    return (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-12)


def _plain(file: dict[str, Floats], own: Floats) -> Floats:
    """One text."""
    inner = _normal(np.concatenate([own @ file[f"proj{b}"] + file[f"proj_b{b}"] for b in "235"], axis=1))
    inner = inner * np.concatenate([file[f"ln_g{b}"] for b in "235"]) + np.concatenate(
        [file[f"ln_b{b}"] for b in "235"]
    )
    outs = [own]
    for at, (size, before) in enumerate(((2, 0), (3, 1), (5, 2))):
        x = inner[:, at * 256 : at * 256 + 256]
        for layer in "12":
            wide = np.vstack([np.zeros((before, 256)), x, np.zeros((size, 256))])
            seen = np.stack([wide[i : i + size].reshape(-1) for i in range(len(x))])
            x = x + np.maximum(seen @ file[f"w{layer}_{size}"] + file[f"b{layer}_{size}"], 0)
        outs.append(x)
    rows = (_normal(np.concatenate(outs, axis=1)) * file["ln_g"] + file["ln_b"]) @ file["cnn_W"] + file["cnn_b"]
    share = 2 / (1 + np.exp(-(own @ file["token_weight"] + file["token_bias"])))
    mean = (rows * share[:, None]).sum(0) / np.sqrt(len(own))
    h = np.maximum(np.maximum(mean @ file["d0"], 0) @ file["d1"] + mean @ file["p1"], 0)
    vector = np.tanh(np.maximum(h @ file["d2"], 0) @ file["d3"] + h @ file["p3"])
    return vector / np.linalg.norm(vector)


@pytest.mark.long
@pytest.mark.parametrize("form", ["float16", "int8"])
def test_the_fast_pass_gives_the_numbers_of_the_plain_one(form: str) -> None:
    random = np.random.default_rng(3)
    given: dict[str, NDArray[np.generic]] = {}
    plain: dict[str, Floats] = {}
    for name, shape in _SHAPES.items():
        array = random.normal(0, 0.05 if len(shape) > 1 else 0.3, shape)
        if form == "int8" and len(shape) > 1:
            given[name] = random.integers(-127, 128, shape, np.int8)
            given[f"{name}.s"] = random.uniform(0.0003, 0.0007, shape[1]).astype(np.float16)
            plain[name] = given[name].astype(np.float32) * given[f"{name}.s"].astype(np.float32)
        else:
            given[name] = array.astype(np.float16)
            plain[name] = given[name].astype(np.float32)
    table = random.normal(0, 0.1, (40, 512)).astype(np.float32)
    made = MultilingualEncoder(lambda ids: table[ids], given).run(_TEXTS)
    expected = np.stack([_plain(plain, table[ids]) for ids in _TEXTS])
    assert made == pytest.approx(expected, abs=2e-5)
    assert MultilingualEncoder(lambda ids: table[ids], given).run(_TEXTS[1:2])[0] == pytest.approx(
        expected[1], abs=2e-5
    )
