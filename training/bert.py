"""BERT networks: their weights read from a quantised ONNX file, and written to one again."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

__all__ = ["Scorer", "bert", "tokenizer"]

_SHAPE = {
    "vocab_size": 30522, "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 1536, "max_position_embeddings": 512,
}  # fmt: skip


def tokenizer(path: Path) -> PreTrainedTokenizerFast:
    """The tokenizer of a tokenizer.json file."""
    found = PreTrainedTokenizerFast(
        tokenizer_file=str(path), pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip
    found.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    found.backend_tokenizer.no_truncation()
    return found


def weights(path: Path) -> dict[str, torch.Tensor]:
    """The weights of a dynamically quantised BERT as 32-bit numbers, by their usual names."""
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
    return {name.removeprefix("bert."): torch.tensor(array) for name, array in found.items()}


def bert(path: Path, *, pooler: bool = False) -> tuple[BertModel, dict[str, torch.Tensor]]:
    """A network with the weights of a file, and the weights that are not its own (heads)."""
    model = BertModel(BertConfig(**_SHAPE), add_pooling_layer=pooler)
    found = weights(path)
    missing, unexpected = model.load_state_dict(found, strict=False)
    missing = [name for name in missing if "position_ids" not in name]
    if missing:
        raise SystemExit(f"{path} lacks {missing}")
    return model, {name: found[name] for name in unexpected}


class Scorer(nn.Module):
    """A cross-encoder with two heads on one trunk: how well a text answers a question, and what one statement is to
    another."""

    def __init__(self, path: Path, labels: int) -> None:
        super().__init__()
        self.trunk, heads = bert(path, pooler=True)
        self.rank = nn.Linear(384, 1)
        self.judge = nn.Linear(384, labels)
        self.drop = nn.Dropout(0.1)
        if "classifier.weight" in heads:
            with torch.no_grad():
                self.rank.weight.copy_(heads["classifier.weight"])
                self.rank.bias.copy_(heads["classifier.bias"])

    def forward(self, head: str, **inputs: torch.Tensor) -> torch.Tensor:
        """The numbers of one head."""
        pooled = self.drop(self.trunk(**inputs).pooler_output)
        return (self.rank(pooled)[:, 0] if head == "rank" else self.judge(pooled)).float()
