"""Threads and tf32, set for the time of one round and put back: a run changes no global setting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import torch

from .settings import Settings

T = TypeVar("T")


def guarded(items: Iterator[T], settings: Settings) -> Iterator[T]:
    """Hand items on, each made under a run's settings, which are gone when the caller has it."""
    while True:
        with arithmetic(settings):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item


@contextmanager
def arithmetic(settings: Settings) -> Iterator[None]:
    """Set threads and tf32, and put them back."""
    with ExitStack() as stack:
        if settings.threads and settings.threads != torch.get_num_threads():
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(settings.threads)
        if settings.place.type == "cuda":
            stack.enter_context(_tf32(settings.precision in ("tf32", "bfloat16")))
        yield


@contextmanager
def _tf32(allow: bool) -> Iterator[None]:
    cuda, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = cuda.allow_tf32, cudnn.allow_tf32
    cuda.allow_tf32 = cudnn.allow_tf32 = allow
    try:
        yield
    finally:
        cuda.allow_tf32, cudnn.allow_tf32 = before
