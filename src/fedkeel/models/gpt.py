"""A small causal transformer for characters, built as GPT-2 is."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from ._blocks import Size, blocks, gpt2
from ._shapes import every, indices, tokens, vocabulary


class GPT(nn.Module):
    """Symbols and places embedded, blocks of causal attention, a norm, and a linear layer.

    The linear layer has weights of its own, where GPT-2 uses the embedding's again: the head must
    be a module that a method can treat apart.
    """

    def __init__(self, symbols: int, classes: int, steps: int, size: Size, every: bool) -> None:
        """Build the layers; ``every``: predict after each symbol, or after the last alone."""
        super().__init__()
        self.every = every
        self.tokens = nn.Embedding(symbols, size.width)
        self.positions = nn.Embedding(steps, size.width)
        self.drop = nn.Dropout(size.dropout)
        self.blocks = blocks(size, causal=True)
        self.norm = nn.LayerNorm(size.width)
        self.fc = nn.Linear(size.width, classes, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(B, T, C)``, or ``(B, C)`` after the last symbol."""
        places = self.positions.weight[: x.shape[1]]
        x = self.blocks(self.drop(self.tokens(indices("gpt", x)) + places))
        logits: Tensor = self.fc(self.norm(x if self.every else x[:, -1]))
        return logits


def gpt(
    classes: int,
    shape: Sequence[int],
    targets: str = "all",
    width: int = 128,
    depth: int = 4,
    heads: int = 4,
    dropout: float = 0.0,
    symbols: int | None = None,
) -> nn.Module:
    """Build the transformer, with GPT-2's initial weights.

    Args:
        classes: How many logits it gives: the symbols of the vocabulary, where they are predicted.
        shape: Of a sample: the steps of its sequence, which are the longest that it takes.
        targets: ``all`` (the next symbol after each) or ``last`` (after the last alone).
        width: Features of a symbol; a multiple of ``heads``.
        depth: Blocks.
        heads: Parts of the features that look for themselves.
        dropout: Of embeddings, attention and what each block adds, in training.
        symbols: Of the vocabulary that it reads; None: as many as there are classes.
    """
    steps, size = tokens("gpt", shape), Size(width, depth, heads, dropout).checked()
    model = GPT(vocabulary(symbols, classes), classes, steps, size, every(targets))
    gpt2(model, depth)
    return model
