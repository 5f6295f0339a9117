"""GC-Fed: gradient centralisation at both ends (Seo et al., Information Fusion 2026)."""

from __future__ import annotations

from collections.abc import Sequence

from ..composition import compose
from ..errors import unknown
from ..part import Part
from ..transforms import AtClient, AtServer, Centralise, Head


def local_gc(center_1d: bool = False, embedding: str = "none", axes: str = "fan_in") -> Part:
    """Centralise every local gradient."""
    return AtClient(Centralise(None, None, center_1d, embedding, axes))


def global_gc(center_1d: bool = False, embedding: str = "none", axes: str = "fan_in") -> Part:
    """Centralise the cohort's mean update."""
    return AtServer(Centralise(None, None, center_1d, embedding, axes))


def gc_fed(
    head: str | Sequence[str] | None = None,
    tensors: float | None = None,
    modules: float | None = None,
    scope: str = "all",
    server: bool = True,
    center_1d: bool = False,
    embedding: str = "none",
    axes: str = "fan_in",
) -> Part:
    """Centralise the feature extractor where gradients are made, and everything where they meet.

    The head is named, or begins after a share of the tensors or modules. ``scope="non_local"``
    centralises the head alone at the server; ``server=False`` nothing there.
    """
    if scope not in ("all", "non_local"):
        raise unknown("scope", str(scope), ("all", "non_local"))
    names = () if head is None else (head,) if isinstance(head, str) else tuple(head)
    raw = Head(names, tensors, modules)
    local = AtClient(Centralise(raw, None, center_1d, embedding, axes))
    if not server:
        return local
    meeting = None if scope == "all" else raw
    return compose(local, AtServer(Centralise(None, meeting, center_1d, embedding, axes)))
