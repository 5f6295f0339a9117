"""Transformer blocks, as ``gpt`` and ``vit`` have them: the norm comes first."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..errors import require
from ._shapes import share, whole


class Size(NamedTuple):
    """How large a transformer is."""

    width: int
    depth: int
    heads: int
    dropout: float

    def checked(self) -> Size:
        """Return it, or say what is out of range."""
        whole("width", self.width)
        whole("depth", self.depth)
        whole("heads", self.heads)
        require(
            self.width % self.heads == 0, "width", self.width, f"a multiple of heads={self.heads}"
        )
        share("dropout", self.dropout)
        return self


class Attention(nn.Module):
    """Every step looks at all others, or, where it is causal, at itself and those before it.

    Written out: the fused kernel can neither be mapped over clients on a CPU nor be traced, since
    it passes for a random operation.
    """

    def __init__(self, size: Size, causal: bool) -> None:
        """Build the projections to queries, keys and values, and back."""
        super().__init__()
        self.heads, self.causal = size.heads, causal
        self.qkv = nn.Linear(size.width, 3 * size.width)
        self.drop = nn.Dropout(size.dropout)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``(B, T, width)`` from ``(B, T, width)``."""
        parts = self.qkv(x).unflatten(-1, (3, self.heads, -1))
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)  # (B, heads, T, features)
        score = query * key.shape[-1] ** -0.5 @ key.mT
        if self.causal:
            past = torch.ones(score.shape[-2:], dtype=torch.bool, device=x.device).tril()
            score = score.masked_fill(~past, -torch.inf)
        seen = self.drop(score.softmax(-1)) @ value
        looked: Tensor = self.out(seen.transpose(1, 2).flatten(2))
        return looked


class Block(nn.Module):
    """Attention, then two linear layers for each step by itself, each with a way round it."""

    def __init__(self, size: Size, causal: bool) -> None:
        """Build them; between the linear layers there are four times the features."""
        super().__init__()
        self.norm1 = nn.LayerNorm(size.width)
        self.attention = Attention(size, causal)
        self.norm2 = nn.LayerNorm(size.width)
        self.up = nn.Linear(size.width, 4 * size.width)
        self.down = nn.Linear(4 * size.width, size.width)
        self.drop1, self.drop2 = nn.Dropout(size.dropout), nn.Dropout(size.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``(B, T, width)`` from ``(B, T, width)``."""
        x = x + self.drop1(self.attention(self.norm1(x)))
        added: Tensor = self.drop2(self.down(F.gelu(self.up(self.norm2(x)))))
        return x + added


def blocks(size: Size, causal: bool) -> nn.Sequential:
    """Return as many blocks as the size says."""
    return nn.Sequential(*(Block(size, causal) for _ in range(size.depth)))


def gpt2(model: nn.Module, depth: int) -> None:
    """Draw GPT-2's initial weights: normal, of deviation 0.02; biases are zero.

    What a block adds is drawn smaller, so that the sum of all 2 * ``depth`` does not grow.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, 0.0, 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for module in model.modules():
        if isinstance(module, Block):
            for layer in (module.attention.out, module.down):
                nn.init.normal_(layer.weight, 0.0, 0.02 / (2 * depth) ** 0.5)
