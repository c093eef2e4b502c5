"""BERT networks over a packed table of token vectors: read from a quantised ONNX file, trained, written again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from training.network import pack_table, unpack_table

__all__ = ["Bert", "Scorer", "read_onnx"]

HEADS = 12


def read_onnx(path: Path) -> dict[str, np.ndarray]:
    """The weights of a dynamically quantised BERT as 32-bit numbers, by their usual names."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    readers = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            readers[name].append(node)

    def plain(name: str) -> np.ndarray:
        base = name.removesuffix("_quantized")
        zero = stored.get(f"{base}_zero_point", np.zeros((), stored[name].dtype))
        return (stored[name].astype(np.float32) - zero.astype(np.float32)) * stored[f"{base}_scale"].astype(np.float32)

    def bias_after(node: Any) -> str | None:
        """The bias that is added to a product: it says which layer the product belongs to."""
        current = [node]
        for _ in range(12):
            following = [reader for one in current for name in one.output for reader in readers[name]]
            for reader in following:
                if reader.op_type == "Add":
                    for name in reader.input:
                        if name in stored and name.endswith(".bias"):
                            return name
            current = [reader for reader in following if reader.op_type in ("Cast", "Mul")]
        return None

    found = {name: array.astype(np.float32) for name, array in stored.items()
             if name.endswith((".bias", "LayerNorm.weight"))}  # fmt: skip
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in stored and (bias := bias_after(node)):
            found[bias.removesuffix("bias") + "weight"] = plain(node.input[1]).T.copy()
        if node.op_type == "Gemm" and node.input[1] in stored:
            found[node.input[1]] = stored[node.input[1]].astype(np.float32)
    for name in stored:
        if "embeddings" in name and name.endswith("_quantized"):
            found[name.removesuffix("_quantized")] = plain(name)
        elif "embeddings" in name and name.endswith("embeddings.weight"):
            found[name] = stored[name].astype(np.float32)
    return {name.removeprefix("bert."): array for name, array in found.items()}


class _Layer(nn.Module):
    """One layer; the names are BERT's own."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = nn.ModuleDict({
            "self": nn.ModuleDict({part: nn.Linear(width, width) for part in ("query", "key", "value")}),
            "output": nn.ModuleDict({"dense": nn.Linear(width, width), "LayerNorm": nn.LayerNorm(width, eps=1e-12)}),
        })  # fmt: skip
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, 4 * width)})
        self.output = nn.ModuleDict({"dense": nn.Linear(4 * width, width), "LayerNorm": nn.LayerNorm(width, eps=1e-12)})
        self.drop = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        own = self.attention["self"]
        texts, tokens, width = x.shape
        q, k, v = (own[p](x).view(texts, tokens, HEADS, -1).transpose(1, 2) for p in ("query", "key", "value"))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(texts, tokens, width)
        out = self.attention["output"]
        x = out["LayerNorm"](x + self.drop(out["dense"](mixed)))
        return self.output["LayerNorm"](x + self.drop(self.output["dense"](F.gelu(self.intermediate["dense"](x)))))


class Bert(nn.Module):
    """A BERT without its table of words: that stays as it was packed and is not trained."""

    def __init__(self, layers: int, width: int = 384, enter: int = 0, places: int = 512) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict({
            "position_embeddings": nn.Embedding(places, width),
            "token_type_embeddings": nn.Embedding(2, width),
            "LayerNorm": nn.LayerNorm(width, eps=1e-12),
        })  # fmt: skip
        self.enter = nn.Linear(enter, width) if enter else None
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList([_Layer(width) for _ in range(layers)])})
        self.drop = nn.Dropout(0.1)

    def forward(self, words: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor | None = None) -> list[torch.Tensor]:
        """The vectors of the tokens after each layer, from the words' own vectors."""
        if self.enter is not None:
            words = self.enter(words)
        places = torch.arange(words.shape[1], device=words.device)
        kinds = torch.zeros_like(mask, dtype=torch.long) if kinds is None else kinds
        x = words + self.embeddings["position_embeddings"](places) + self.embeddings["token_type_embeddings"](kinds)
        x = self.drop(self.embeddings["LayerNorm"](x))
        seen = torch.zeros(mask.shape, device=x.device).masked_fill(~mask, -1e9)[:, None, None, :].to(words.dtype)
        after = []
        for layer in self.encoder["layer"]:
            x = layer(x, seen.to(x.dtype))
            after.append(x)
        return after

    def take(self, weights: dict[str, np.ndarray], layers: Sequence[int] | None = None) -> None:
        """Start from weights by their usual names, or from some of their layers."""
        kept = {}
        for name, array in weights.items():
            parts = name.split(".")
            if parts[0] == "encoder":
                if layers is not None:
                    if int(parts[2]) not in layers:
                        continue
                    parts[2] = str(list(layers).index(int(parts[2])))
                kept[".".join(parts)] = torch.tensor(np.asarray(array, np.float32))
            elif name in self.state_dict():
                kept[name] = torch.tensor(np.asarray(array, np.float32))
        missing = self.load_state_dict(kept, strict=False).missing_keys
        if [name for name in missing if not name.startswith("enter")]:
            raise SystemExit(f"the weights lack {missing}")


class Scorer(nn.Module):
    """A cross-encoder with two heads on one trunk: how well a text answers a question (`rank`), and what one statement
    is to another (`judge`)."""

    def __init__(self, trunk: Bert, labels: int = 6, width: int = 384) -> None:
        super().__init__()
        self.trunk = trunk
        self.pooler = nn.ModuleDict({"dense": nn.Linear(width, width)})
        self.rank = nn.Linear(width, 1)
        self.judge = nn.Linear(width, labels)
        self.drop = nn.Dropout(0.1)

    def take(self, weights: dict[str, np.ndarray], layers: Sequence[int] | None = None) -> None:
        """Start from a cross-encoder's weights."""
        self.trunk.take(weights, layers)
        with torch.no_grad():
            for name, module in (("pooler.dense", self.pooler["dense"]), ("rank", self.rank), ("judge", self.judge),
                                 ("classifier", self.rank)):  # fmt: skip
                if f"{name}.weight" in weights:
                    module.weight.copy_(torch.tensor(np.asarray(weights[f"{name}.weight"], np.float32)))
                    module.bias.copy_(torch.tensor(np.asarray(weights[f"{name}.bias"], np.float32)))

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        """Both heads, and the vectors after each layer."""
        after = self.trunk(*inputs)
        pooled = self.drop(torch.tanh(self.pooler["dense"](after[-1][:, 0])))
        return self.rank(pooled)[:, 0].float(), self.judge(pooled).float(), after

    def weights(self) -> dict[str, np.ndarray]:
        """The weights by their usual names, in 16 bits."""
        return {name.removeprefix("trunk."): value.detach().cpu().numpy().astype(np.float16)
                for name, value in self.state_dict().items()}  # fmt: skip


def pack_base(path: Path, out: Path) -> None:
    """A quantised ONNX file as the layers in 16 bits and the packed table of words, small enough to travel."""
    found = read_onnx(path)
    table = pack_table(found.pop("embeddings.word_embeddings.weight"))
    small = {name: array.astype(np.float16) for name, array in found.items()}
    np.savez_compressed(out, **small, **{f"table.{name}": array for name, array in table.items()})


def load_base(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The layers and the table of words of a packed file."""
    found = dict(np.load(path))
    table = unpack_table({"levels": found.pop("table.levels"), "scale": found.pop("table.scale")})
    return found, table
