"""The recurrent net of FedZMG's Shakespeare experiments: 4,022,850 weights for 66 symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from ._recurrence import recurrence
from ._shapes import every, indices, tokens, vocabulary, whole


class Unrolled(nn.GRU):
    """A GRU of one layer, written out, so that a stack of clients can run through it.

    On a GPU ``torch.nn.GRU`` is a fused kernel, which cannot be mapped over weights; on a CPU this
    one is quicker. Parameters, their names and their initial values are the same, so state dicts
    go either way.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        """Build a layer that takes batches ``(B, T, inputs)``."""
        super().__init__(inputs, hidden, batch_first=True)

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        """Return all states ``(B, T, H)`` and the last ``(1, B, H)``, from batches alone."""
        to_input, to_state, input_bias, state_bias = self.all_weights[0]
        given = F.linear(input.transpose(0, 1), to_input, input_bias)  # (T, B, 3H)
        first = given.new_zeros(given.shape[1], self.hidden_size) if hx is None else hx[0]
        states = recurrence(given, first, to_state, state_bias)
        return states.transpose(0, 1), states[-1:]

    def flatten_parameters(self) -> None:
        """Leave the weights where they are: no fused kernel reads them."""


class CharacterGRU(nn.Module):
    """An embedding, a GRU, and a linear layer that names the next symbol."""

    def __init__(self, symbols: int, classes: int, embed: int, hidden: int, every: bool) -> None:
        """Build the three layers; ``every``: predict after each symbol, or after the last alone."""
        super().__init__()
        self.every = every
        self.embedding = nn.Embedding(symbols, embed)
        self.gru = Unrolled(embed, hidden)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(B, T, C)``, or ``(B, C)`` after the last symbol."""
        states, last = self.gru(self.embedding(indices("gru", x)))
        logits: Tensor = self.fc(states if self.every else last[0])
        return logits


def gru(
    classes: int,
    shape: Sequence[int],
    targets: str = "all",
    embed: int = 256,
    hidden: int = 1024,
    symbols: int | None = None,
) -> nn.Module:
    """Build the net, with PyTorch's initial weights.

    Args:
        classes: How many logits it gives: the symbols of the vocabulary, where they are predicted.
        shape: Of a sample: the steps of its sequence.
        targets: ``all`` (the next symbol after each) or ``last`` (after the last alone).
        embed: Features of a symbol.
        hidden: Features of the state.
        symbols: Of the vocabulary that it reads; None: as many as there are classes.
    """
    tokens("gru", shape)
    whole("embed", embed)
    whole("hidden", hidden)
    return CharacterGRU(vocabulary(symbols, classes), classes, embed, hidden, every(targets))
