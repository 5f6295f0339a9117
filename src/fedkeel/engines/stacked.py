"""Many clients in one program: the same step, mapped over a stack of clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from .. import trees
from ..numbers import numbers
from .base import Answers, Errand, Workshop
from .lanes import Lanes
from .tracing import Function, Leaves, Program, program
from .verbs import Shared, Verbs


@dataclass(eq=False)
class Tally:
    """Steps that clients needed, and steps that lanes executed."""

    needed: int = 0
    executed: int = 0


@dataclass(frozen=True, eq=False)
class Stacked:
    """Let clients walk side by side, each on a lane; a lane whose client is done takes the next.

    So the cost of a round follows the sum of the clients' steps, and its memory the lanes.
    """

    shop: Workshop
    width: int  # lanes at most
    batch_rows: int  # rows of a full batch
    longest: int  # steps of the longest visit of all clients
    trace: bool = True
    compile: bool = False
    unroll: int = 1  # steps in one program, where that many are at hand
    programs: dict[Any, Program] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def visits(self, errand: Errand) -> Answers:
        """Let every client of the cohort train.

        Where steps must be kept to be digested, the cohort goes in groups of the lanes' number.
        """
        everyone = list(range(len(errand.clients)))
        if not self.digests or len(everyone) <= self.width:
            return Lanes(self, errand, everyone).visits()
        order = sorted(everyone, key=lambda i: -len(errand.batches[i]))
        groups = [order[i : i + self.width] for i in range(0, len(order), self.width)]
        parts = [Lanes(self, errand, group).visits() for group in groups]
        back = torch.from_numpy(np.argsort(order)).to(errand.sent.params.device)
        joined: Answers = trees.tree_map(lambda *t: torch.cat(t).index_select(0, back), *parts)
        return joined

    @property
    def digests(self) -> bool:
        """Whether every step of a visit must be kept."""
        return self.shop.method.part.digests

    def program(
        self,
        verb: str,
        count: int,
        leaves: Leaves,
        args: Callable[[], tuple[Any, ...]],
        rows: int = 0,
    ) -> Program:
        """Return a verb over ``count`` lanes as a program for leaves of these shapes."""
        key = (verb, count, rows, *(t.shape for t in leaves if isinstance(t, Tensor)))
        if key not in self.programs:
            # The number of turns is part of the shapes of what is digested.
            full = rows == self.batch_rows
            fixed = {"begin": True, "walk": full, "visit": full, "finish": not self.digests}
            trace = self.trace and fixed[verb]
            fn = self._mapped(verb, count)
            self.programs[key] = program(fn, args(), trace=trace, compile=self.compile and trace)
        return self.programs[key]

    def shared(self, errand: Errand) -> Shared:
        """Return what is the same for every client."""
        anchor = errand.sent.params
        given: Sequence[Any] = numbers(self.shop.method)
        return Shared(
            tuple(anchor.new_tensor(n) if self.trace else n for n in given),
            torch.tensor(errand.round, device=anchor.device),
            anchor.new_tensor(errand.lr),
            anchor,
            errand.sent.note,
        )

    def _mapped(self, name: str, count: int) -> Function:
        """Return a verb over so many lanes; a single lane needs no mapping."""
        verb: Function = getattr(Verbs(self.shop.method, self.shop.task), name)
        if count > 1:
            return lambda shared, *own: vmap(verb, in_dims=(None, *(0 for _ in own)))(shared, *own)

        def single(shared: Shared, *own: Any) -> Any:
            ended = verb(shared, *trees.tree_map(lambda t: t[0], own))
            return trees.tree_map(lambda t: t.unsqueeze(0), ended)

        return single


__all__ = ["Stacked", "Tally"]
