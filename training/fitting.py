"""What the trainings share: texts as numbers, batches, the loop, the log."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

__all__ = ["Tokens", "fit", "say"]

_BEGAN = time.time()


def say(*words: object) -> None:
    """A line of the log."""
    print(f"[{time.time() - _BEGAN:.0f}s]", *words, flush=True)


class Tokens:
    """Texts as the numbers of their tokens, cut once, and batches of them on the device."""

    def __init__(
        self, encode: Callable[[list[str]], list[list[int]]], start: int, end: int, table: np.ndarray, device: str
    ) -> None:
        self._encode = encode
        self._seen: dict[str, list[int]] = {}
        self._start, self._end = start, end
        self.table = torch.tensor(table, device=device, dtype=torch.bfloat16 if device == "cuda" else torch.float32)
        self.device = device

    def learn(self, texts: Sequence[str]) -> None:
        """Cut texts that have not been cut yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        for i in range(0, len(new), 4096):
            self._seen.update(zip(new[i : i + 4096], self._encode(new[i : i + 4096]), strict=True))

    def ids(self, text: str) -> list[int]:
        """The tokens of one text."""
        if text not in self._seen:
            self.learn([text])
        return self._seen[text]

    def single(self, texts: Sequence[str], most: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
        """Texts by themselves."""
        return self._batch([[self._start, *self.ids(text)[: most - 2], self._end] for text in texts])[:2]

    def double(self, a: Sequence[str], b: Sequence[str], most: int = 256) -> tuple[torch.Tensor, ...]:
        """Two texts side by side. Where both do not fit, the longer one is cut."""
        rows, firsts = [], []
        for one, other in zip(a, b, strict=True):
            x, y = self.ids(one), self.ids(other)
            if len(x) + len(y) + 3 > most:
                half = (most - 3) // 2
                x = x[: max(half, most - 3 - len(y))]
                y = y[: most - 3 - len(x)]
            rows.append([self._start, *x, self._end, *y, self._end])
            firsts.append(len(x) + 2)
        return self._batch(rows, firsts)

    def _batch(self, rows: list[list[int]], firsts: list[int] | None = None) -> tuple[torch.Tensor, ...]:
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros((len(rows), longest), bool)
        kinds = np.zeros((len(rows), longest), np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = True
            if firsts is not None:
                kinds[i, firsts[i] : len(row)] = 1
        return (self.table[torch.from_numpy(ids).to(self.device)], torch.from_numpy(mask).to(self.device),
                torch.from_numpy(kinds).to(self.device))  # fmt: skip


def fit(
    model: nn.Module,
    loss_of: Callable[[int], dict[str, torch.Tensor]],
    steps: int,
    rate: float,
    *,
    device: str,
    every: int = 250,
) -> None:
    """Train for some steps: warm up, then fall to zero."""
    model.to(device).train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate, weight_decay=0.01)
    warm = min(60, steps // 10 + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / warm) * max(0.02, 1 - step / steps)
    )
    for step in range(steps):
        with torch.autocast(device, dtype=torch.bfloat16):
            losses = loss_of(step)
        sum(losses.values()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(), schedule.step(), optimizer.zero_grad(set_to_none=True)
        if step % every == every - 1:
            say("step", step + 1, {name: round(value.item(), 4) for name, value in losses.items()})
    model.eval()


def seed(number: int) -> random.Random:
    """The same numbers every time."""
    torch.manual_seed(number)
    np.random.seed(number)
    return random.Random(number)
