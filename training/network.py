"""The networks as they are shipped: an ONNX graph of quantised layers over token vectors that the caller looks up.

The table of token vectors stays outside the graph, in four bits a number (`pack_table`): it is a third of a model,
a text needs a few dozen of its rows, and two networks can share one. The layers are quantised to eight bits, a scale
for each output, and use onnxruntime's fused operators where they are faster: a graph of eleven nodes a layer runs
twice as fast as the usual export of seventy. Add and LayerNormalization are not fused, because
SkipLayerNormalization takes eight times as long as LayerNormalization alone on a CPU; a session must not fuse them by
itself (optimise no further than "basic"). In the last layer only the first token is computed, which is all that is
read. Both together save a quarter of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["build", "pack_table", "unpack_table"]

GROUP = 32  # numbers of a row that share one scale
# Levels of a weight on each side of zero: fewer than eight bits allow, so that an archive of them is smaller. With 45 a
# cross-encoder answers as with 127 (what is lost, is lost in the numbers that weights are multiplied by); an embedder
# with 64 does not.
LEVELS = {"vector": 90, "scores": 45}

_FUSED = "com.microsoft"


def pack_table(table: np.ndarray) -> dict[str, np.ndarray]:
    """A table of vectors in four bits a number: two numbers a byte, and a scale for every group of 32."""
    rows, width = table.shape
    groups = table.reshape(rows, width // GROUP, GROUP).astype(np.float32)
    scale = np.abs(groups).max(axis=2) / 7.5
    # The scale that loses least is a little smaller than the largest number asks for.
    best, loss = scale, np.full(scale.shape, np.inf, np.float32)
    for share in np.linspace(0.6, 1.0, 17, dtype=np.float32):
        tried = (scale * share).astype(np.float16).astype(np.float32)
        tried[tried == 0] = 1
        levels = np.clip(np.floor(groups / tried[..., None]), -8, 7) + 0.5
        error = ((levels * tried[..., None] - groups) ** 2).sum(axis=2)
        best = np.where(error < loss, tried, best)
        loss = np.minimum(error, loss)
    levels = (np.clip(np.floor(groups / best[..., None]), -8, 7) + 8).astype(np.uint8).reshape(rows, width)
    return {"levels": levels[:, 0::2] | levels[:, 1::2] << 4, "scale": best.astype(np.float16)}


def unpack_table(packed: dict[str, np.ndarray]) -> np.ndarray:
    """The table that the packed form stands for."""
    pairs = packed["levels"]
    levels = np.stack([pairs & 15, pairs >> 4], axis=2).reshape(len(pairs), -1).astype(np.float32) - 7.5
    return levels * np.repeat(packed["scale"].astype(np.float32), GROUP, axis=1)


class _Graph:
    def __init__(self, levels: int | None) -> None:
        self._levels = levels
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._count = 0

    def weight(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, kind: str, inputs: list[str], *, domain: str = "", outputs: int = 1, **attributes: Any) -> Any:
        self._count += 1
        names = [f"t{self._count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x: str, name: str, weight: np.ndarray, bias: np.ndarray | None = None) -> str:
        """x @ weight.T + bias in eight bits, or in floats."""
        by_input = weight.T.astype(np.float32)
        if self._levels is None:
            made = self.add("MatMul", [x, self.weight(f"{name}.w", by_input)])
            return made if bias is None else self.add("Add", [made, self.weight(f"{name}.b", bias)])
        scale = np.maximum(np.abs(by_input).max(axis=0) / self._levels, 1e-8).astype(np.float32)
        levels = np.clip(np.round(by_input / scale), -self._levels, self._levels).astype(np.int8)
        inputs = [
            x,
            self.weight(f"{name}.w", levels),
            self.weight(f"{name}.s", scale),
            self.weight(f"{name}.z", np.zeros(len(scale), np.int8)),
        ]
        if bias is not None:
            inputs.append(self.weight(f"{name}.b", bias.astype(np.float32)))
        return self.add("DynamicQuantizeMatMul", inputs, domain=_FUSED)


def build(
    weights: dict[str, np.ndarray],
    *,
    heads: int,
    output: str,
    exact: bool = False,
) -> onnx.ModelProto:
    """A BERT with the weights by their usual names (`encoder.layer.0...`), without its embedding tables.

    Input `vectors`: for each text and token the sum of the token's, the place's and the part's vector; `mask`: 1 where
    there is a token. `output`: "first" gives the first token's vector; otherwise the heads it names (`rank`, `judge`).
    `exact`: in floats.
    """
    g = _Graph(None if exact else LEVELS["vector" if output == "first" else "scores"])
    f = {name: np.asarray(array, np.float32) for name, array in weights.items()}

    def normalised(x: str, name: str) -> str:
        pair = [g.weight(f"{name}.g", f[f"{name}.weight"]), g.weight(f"{name}.h", f[f"{name}.bias"])]
        return g.add("LayerNormalization", [x, *pair], axis=-1, epsilon=1e-12)

    def dense(x: str, short: str, name: str) -> str:
        return g.linear(x, short, f[f"{name}.weight"], f[f"{name}.bias"])

    x = normalised("vectors", "embeddings.LayerNorm")
    layers = 1 + max(int(name.split(".")[2]) for name in f if name.startswith("encoder.layer."))
    width = len(f["embeddings.LayerNorm.weight"])
    for i in range(layers):
        at = f"encoder.layer.{i}"
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        joined = g.linear(x, f"{i}.qkv", np.concatenate([f[f"{p}.weight"] for p in parts]))
        q, k, v = g.add("Split", [joined], outputs=3, axis=-1, num_outputs=3)
        if i == layers - 1:
            here = [
                g.weight("here.from", np.array([0])),
                g.weight("here.to", np.array([1])),
                g.weight("here.axis", np.array([1])),
            ]
            q, x = g.add("Slice", [q, *here]), g.add("Slice", [x, *here])
        bias = g.weight(f"{i}.qkv.b", np.concatenate([f[f"{p}.bias"] for p in parts]))
        mixed = g.add("MultiHeadAttention", [q, k, v, bias, "mask"], domain=_FUSED, num_heads=heads)
        out = dense(mixed, f"{i}.out", f"{at}.attention.output.dense")
        x = normalised(g.add("Add", [out, x]), f"{at}.attention.output.LayerNorm")
        wide = g.add("Gelu", [dense(x, f"{i}.up", f"{at}.intermediate.dense")])
        down = dense(wide, f"{i}.down", f"{at}.output.dense")
        x = normalised(g.add("Add", [down, x]), f"{at}.output.LayerNorm")
    first = g.add("Gather", [x, g.weight("zero", np.array(0, np.int64))], axis=1)
    results = {}
    if output == "first":
        results["vector"] = (first, width)
    else:
        pooled = g.add("Gemm", [first, g.weight("pooler.w", f["pooler.dense.weight"]),
                                g.weight("pooler.b", f["pooler.dense.bias"])], transB=1)  # fmt: skip
        pooled = g.add("Tanh", [pooled])
        for head in output.split(","):
            results[head] = (
                g.add("Gemm", [pooled, g.weight(f"{head}.w", f[f"{head}.weight"]),
                               g.weight(f"{head}.b", f[f"{head}.bias"])], transB=1),
                len(f[f"{head}.bias"]),
            )  # fmt: skip
    for name, (made, _) in results.items():
        g.nodes.append(helper.make_node("Identity", [made], [name]))
    graph = helper.make_graph(
        g.nodes, "network",
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", "tokens", width]),
         helper.make_tensor_value_info("mask", TensorProto.INT32, ["texts", "tokens"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["texts", size])
         for name, (_, size) in results.items()],
        g.weights,
    )  # fmt: skip
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(_FUSED, 1)], producer_name="polymnia"
    )
    model.ir_version = 9
    return model
