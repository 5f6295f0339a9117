"""The recurrence of a GRU over all its steps, and the way back through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function


def recurrence(given: Tensor, first: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return the states ``(T, B, H)`` of a GRU.

    Args:
        given: What the inputs say at each step, ``(T, B, 3H)``: to reset, update and new state.
        first: The state before the first step, ``(B, H)``.
        weight: From a state to what it says at the next step, ``(3H, H)``.
        bias: The same, ``(3H,)``.
    """
    # All in one type: autocast makes what the inputs say narrower, and does not reach the way back.
    others = (t.to(given.dtype) for t in (first, weight, bias))
    walk: Callable[..., tuple[Tensor, ...]] = _Recurrence.apply
    return walk(given, *others)[0]


class Kept(NamedTuple):
    """What the way back needs of every step, each ``(T, B, H)`` but the gates ``(T, B, 2H)``."""

    states: Tensor
    gates: Tensor  # reset, update
    new: Tensor  # what the state would be without its past
    past: Tensor  # what the past says to it, before the reset gate


class _Recurrence(Function):
    """One matrix product a step, forward and back, and one for the gradient of the weight.

    Autograd by itself would take that gradient as a sum of T products, each as large as the weight.
    All that the way back needs is given out, so that second derivatives are right as well.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(given: Tensor, first: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
        """Walk from step to step."""
        size, state = weight.shape[1], first
        steps: list[Kept] = []
        for now in given.unbind(0):
            said = F.linear(state, weight, bias)
            gates = (now[:, : 2 * size] + said[:, : 2 * size]).sigmoid()
            past = said[:, 2 * size :]
            new = torch.addcmul(now[:, 2 * size :], gates[:, :size], past).tanh()
            state = torch.lerp(new, state, gates[:, size:])
            steps.append(Kept(state, gates, new, past))
        return tuple(torch.stack(each) for each in zip(*steps, strict=True))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        """Keep what the way back needs."""
        ctx.save_for_backward(inputs[1], inputs[2], *output)

    @staticmethod
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, ...]:
        """Walk back, and return the gradients of all four inputs."""
        first, weight, *kept = ctx.saved_tensors
        steps, wanted = Kept(*kept), Kept(*above)
        before = torch.cat([first[None], steps.states[:-1]])
        way = _way(before, steps, wanted)
        grad, grads, said = torch.zeros_like(first), list[Tensor](), list[Tensor]()
        for t in reversed(range(len(before))):
            grads.append(grad + wanted.states[t])
            said.append(torch.addcmul(way.offset[t], grads[-1][:, None], way.factor[t]))
            grad = torch.addmm(grads[-1] * way.stays[t], said[-1].flatten(1), weight)
        to_new = torch.addcmul(way.new_offset, torch.stack(grads[::-1]), way.new_factor)
        to_said = torch.stack(said[::-1])  # (T, B, 3, H)
        to_given = torch.cat([to_said[:, :, :2], to_new[:, :, None]], 2).flatten(2)
        flat = to_said.flatten(2).flatten(0, 1)
        return to_given, grad, flat.mT @ before.flatten(0, 1), flat.sum(0)


class Way(NamedTuple):
    """How the gradient of a state reaches what is below it: times a factor, plus an offset."""

    stays: Tensor  # (T, B, H): the share of a state that is the one before
    factor: Tensor  # (T, B, 3, H): to what the past said, for reset, update and new state
    offset: Tensor
    new_factor: Tensor  # (T, B, H): to what the input said, for the new state
    new_offset: Tensor


def _way(before: Tensor, steps: Kept, wanted: Kept) -> Way:
    """Find the way back for all steps at once."""
    reset, update = steps.gates.chunk(2, -1)
    want_reset, want_update = wanted.gates.chunk(2, -1)
    bent = 1 - steps.new * steps.new
    factor, offset = (1 - update) * bent, wanted.new * bent
    bent_reset, bent_update = reset * (1 - reset), update * (1 - update)
    through = steps.past * bent_reset
    return Way(
        update,
        torch.stack([factor * through, (before - steps.new) * bent_update, factor * reset], 2),
        torch.stack(
            [
                torch.addcmul(want_reset * bent_reset, offset, through),
                want_update * bent_update,
                torch.addcmul(wanted.past, offset, reset),
            ],
            2,
        ),
        factor,
        offset,
    )
