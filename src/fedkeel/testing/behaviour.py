"""What a part does in a run: the checks of the contract that play some rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..errors import InputError
from ..part import Batch, Part, Replies, Server, State, Step, Visit
from ..session import Round, Session
from .witness import PartError, Witness, complain
from .worlds import Lab, apart, untraced


def behaves(part: Part, lab: Lab) -> list[Round]:
    """Run a part under a witness that looks at what every hook takes and gives."""
    session, generator = lab.session(Witness(part)), torch.get_rng_state()
    try:
        played = list(session.rounds())
    except PartError:
        raise
    except Exception as error:
        raise complain(
            part, f"fails in a plain run with {type(error).__name__}: {first_line(error)}"
        ) from error
    if not torch.equal(generator, torch.get_rng_state()):
        raise complain(
            part,
            "draws from PyTorch's global generator, so no run could be repeated: take numbers from "
            "the visit, "
            "or draw none",
        )
    if not all(t.isfinite().all() for t in played[-1].state_dict().values()):
        raise complain(part, "leaves the finite numbers within three small rounds")
    return played


def repeats(part: Part, lab: Lab, first: list[Round]) -> None:
    """Check that the same run gives the same bits."""
    again = lab.run(part)
    if apart(first[-1].state_dict(), again[-1].state_dict()) != 0:
        raise complain(
            part,
            "gives another result when the same run is repeated: a hook must depend on its "
            "arguments alone, and "
            "keep nothing on the side",
        )


def runs_in_float32(part: Part, lab: Lab) -> None:
    """Check that a part runs in the precision that runs have by default."""
    try:
        lab.run(Witness(part), precision="float32")
    except PartError:
        raise
    except Exception as error:
        raise complain(
            part,
            f"runs in float64 but not in float32 ({first_line(error)}): make tensors from those at "
            "hand, as "
            "torch.zeros_like(grad) or grad.new_tensor(...) do",
        ) from error


@dataclass(frozen=True)
class Mark(Part):
    """Change one thing that flows, so that it can be seen whether the next part lets it through."""

    what: str

    def penalty(self, step: Step) -> Tensor | float:
        """Pull the weights to zero."""
        return 0.5 * step.params.square().sum() if self.what == "loss" else 0.0

    def logits(self, logits: Tensor, step: Step) -> Tensor:
        """Favour the first class."""
        return logits + _ramp(logits[0]) if self.what == "logits" else logits

    def gradient(self, grad: Tensor, step: Step) -> tuple[Tensor, State]:
        """Turn the gradient a little."""
        return (grad + _ramp(grad) if self.what == "gradient" else grad), step.local

    def weigh(self, weights: Tensor, replies: Replies) -> Tensor:
        """Prefer the first."""
        return weights * (2 + _ramp(weights)) if self.what == "weights" else weights

    def merge(
        self, update: Tensor, state: State, replies: Replies, server: Server
    ) -> tuple[Tensor, State, State]:
        """Turn the mean update a little."""
        return (update + _ramp(update) if self.what == "update" else update), state, replies.ledger


def _ramp(like: Tensor) -> Tensor:
    return 0.5 * torch.linspace(-1, 1, like.numel(), dtype=like.dtype, device=like.device)


def edits(part: Part, lab: Lab, alone: list[Round]) -> None:
    """What a hook is given must live on in what it returns, or the parts before it are erased."""
    for what in ("gradient", "loss", "logits", "update", "weights"):
        if part.mean is not None and what == "weights":
            continue  # a mean of its own may do without them
        if apart(lab.run(Mark(what), part)[-1].state_dict(), alone[-1].state_dict()) == 0:
            raise complain(
                part,
                f"erases what the parts before it did to the {what}: a hook must return what it "
                "was given, edited, "
                "not something new in its place",
            )


def stacks(part: Part, lab: Lab, reference: list[Round], bound: float) -> None:
    """Check that many clients in one program, and the traced step, end where one at a time does."""
    for how, prepared in _stacked(part, lab):
        try:
            ended = list(prepared().rounds())[-1]
        except InputError as error:
            raise complain(part, f"does not run {how}: {first_line(error)}") from error
        except Exception as error:
            raise complain(
                part,
                f"does not run {how}: {first_line(error)}; use torch.where in place of if, and no "
                ".item(), bool() "
                "or loops over values",
            ) from error
        far = apart(ended.state_dict(), reference[-1].state_dict())
        if not far <= bound:
            raise complain(
                part,
                f"gives another result {how} than one client at a time ({far:.1e} apart): a hook "
                "must see one "
                "client only, by its arguments, and count steps by trajectory.steps.sum(), not by "
                "their shape",
            )


def _stacked(part: Part, lab: Lab) -> Iterator[tuple[str, Callable[[], Session]]]:
    yield (
        "with many clients in one program",
        lambda: untraced(lab.session(part, engine="stacked", chunk=4)),
    )
    yield "traced to a graph", lambda: lab.session(part, engine="stacked", compile=False)


def pads(part: Part, lab: Lab, bound: float) -> None:
    """Check that a row of zero weight moves nothing, unless the part says that rows meet."""
    session = lab.session(part)
    world = session.world
    if world.rows_meet:
        return
    visit = _first_visit(session)
    x, y = world.pool.take(torch.arange(4))
    weight = torch.ones(4).to(visit.anchor)
    begun = world.method.begin(visit)
    short = world.method.step(visit, begun, Batch(x[:3], y[:3], weight[:3])).params
    last = torch.tensor([1.0, 1.0, 1.0, 0.0]).to(weight)
    padded = world.method.step(visit, begun, Batch(x, y, last)).params
    if not float((short - padded).abs().max()) <= bound:
        raise complain(
            part,
            "lets a padded row of a short batch change the step: average with step.mean(...), or "
            "set "
            "rows_meet = True if rows must meet",
        )


def _first_visit(session: Session) -> Visit:
    world, method = session.world, session.world.method
    capacity = int(session.federation.sizes.max())
    state = method.start(world.server(world.task.initial(), 0), world.task.buffers())
    sent = method.brief(state, world.server(state.params, 0))
    like = sent.params
    return Visit(
        world.task,
        torch.tensor(0),
        like.new_tensor(method.local.lr),
        like,
        sent.buffers,
        like.new_ones(world.task.classes or 0),
        like.new_ones(capacity if method.part.selects else 0),
        sent.note,
        method.part.client_state(world.task, capacity),
    )


def first_line(error: BaseException) -> Any:
    """Return the first line of an error, or its type."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
