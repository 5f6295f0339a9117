"""FedZMG: zero-mean gradients (2026)."""

from __future__ import annotations

from ..part import Part
from ..transforms import AtClient, Centralise


def fed_zmg(center_1d: bool = False, embedding: str = "vocab", scope: str = "row") -> Part:
    """Project every local gradient onto zero mean; weight decay acts on the weights alone."""
    projection = Centralise(None, None, center_1d, embedding, scope=scope)
    return AtClient(projection, prefers_decay="decoupled")
