"""From a method to a kernel: traced once to a flat graph, and compiled where that pays.

``torch.compile`` never sees a record, a hook or a tuple of states: a function is flattened to one
from a list of tensors to a list of tensors, and run once under ``make_fx``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from .. import trees
from ..draws import idle, is_random
from ..errors import InputError

_ONE_AT_A_TIME = Lock()  # make_fx and torch.compile are not safe beside themselves in other threads

Function = Callable[..., Any]
Leaves = list[Tensor]


class Untraceable(InputError):
    """A step that runs, but not as a graph."""


class Program(NamedTuple):
    """A function over a flat list of tensors, and how its results fold up again."""

    run: Callable[[Sequence[Tensor]], Leaves]
    spec: trees.TreeSpec

    def fold(self, results: Leaves) -> Any:
        """Return the results as the function had them."""
        return trees.tree_unflatten(results, self.spec)


def program(fn: Function, args: tuple[Any, ...], *, trace: bool, compile: bool) -> Program:
    """Flatten ``fn`` for arguments of this structure; trace it for their shapes; compile that."""
    leaves, inner = trees.tree_flatten(args)
    outer: list[trees.TreeSpec] = []

    def flat(*tensors: Tensor) -> Leaves:
        results, spec = trees.tree_flatten(fn(*trees.tree_unflatten(tensors, inner)))
        outer[:] = [spec]
        return results

    with _ONE_AT_A_TIME, torch.no_grad(), _explained():
        if not trace:
            flat(*leaves)
            return Program(lambda tensors: flat(*tensors), outer[0])
        graph = _graph(flat, leaves)
        run: Function = torch.compile(graph, fullgraph=True, dynamic=False) if compile else graph
        if compile:
            run(*leaves)

    def quietly(tensors: Sequence[Tensor]) -> Leaves:
        with torch.no_grad():
            return list(run(*tensors))

    def by_turns(tensors: Sequence[Tensor]) -> Leaves:
        with _ONE_AT_A_TIME:  # a compiled graph will not run while another thread traces
            return quietly(tensors)

    return Program(by_turns if compile else quietly, outer[0])


@contextmanager
def _explained() -> Iterator[None]:
    """Say of a step that cannot be traced or mapped what its author can do."""
    try:
        yield
    except RuntimeError as error:
        first = str(error).split(". ")[0].splitlines()[0]
        if any(word in first for word in ("random operation", "randomness")):
            raise InputError(
                "the method's step draws random numbers, which have no address and could not be "
                f"repeated: make them from what the visit gives, or leave them out ({first})"
            ) from error
        if any(word in str(error) for word in ("data-dependent", "make_fx", "item()")):
            raise Untraceable(
                "the step cannot be traced, because the model or a hook branches on the value of a "
                "tensor or of a number of the method: use torch.where, or engine='sequential'"
            ) from error
        raise


def _graph(flat: Function, leaves: Leaves) -> GraphModule:
    # Of copies: tensors are told apart by identity, and one that stands at two places of the leaves
    # would become one input of the graph.
    copies = [t.clone() if isinstance(t, Tensor) else t for t in leaves]
    graph = make_fx(flat)(*copies)
    drawn = [
        str(node.target)
        for node in graph.graph.nodes
        if is_random(node.target) and not idle(node.target, node.args)
    ]
    if drawn:
        raise InputError(
            f"the method's step draws random numbers with {drawn[0]}, which have no address and "
            "could not be repeated: make them from what the visit gives, or leave them out"
        )
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def compiler() -> str | None:
    """Return the C++ compiler that kernels would be built with, if there is one."""
    return shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
