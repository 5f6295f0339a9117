"""Clipping: no gradient, or no mean update, longer than a bound."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..errors import number, unknown
from ..layout import Vector
from ..part import Part, Replies, Server, State, Step


@dataclass(frozen=True)
class Clip(Part):
    """Shorten what is longer than ``norm``: ``min(1, norm / |g|) g``, all weights as one vector."""

    norm: float = 10.0
    where: str = "client"  # "client": every local gradient; "server": the cohort's mean update

    def __post_init__(self) -> None:
        """Check range and word."""
        number("norm", self.norm, "a number > 0", lambda norm: norm > 0)
        if self.where not in ("client", "server"):
            raise unknown("where", str(self.where), ("client", "server"))

    def gradient(self, grad: Vector, step: Step) -> tuple[Vector, State]:
        """Shorten a local gradient."""
        return (self._shorten(grad) if self.where == "client" else grad), step.local

    def merge(
        self, update: Vector, state: State, replies: Replies, server: Server
    ) -> tuple[Vector, State, State]:
        """Shorten the mean update."""
        return (self._shorten(update) if self.where == "server" else update), state, replies.ledger

    def _shorten(self, vector: Vector) -> Vector:
        length = torch.linalg.vector_norm(vector)
        return vector * torch.where(length > self.norm, self.norm / length, 1.0)
