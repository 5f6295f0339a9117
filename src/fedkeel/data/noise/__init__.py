"""Noise put on the clients' samples on purpose: wrong labels, foreign classes, corrupted images."""

from __future__ import annotations

from .adding import add_noise

__all__ = ["add_noise"]
