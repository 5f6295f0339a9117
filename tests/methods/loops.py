"""A plain loop over clients and batches, in torch alone, that a method's own step goes into."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.part import Batch, Step, Visit
from fedkeel.testing.worlds import LOCAL, Lab, network, replayed

# Leaves in a model's .grad what the method makes of a batch: (model, model as it arrived, x, y,
# client) -> None
Gradient = Callable[[nn.Module, nn.Module, Tensor, Tensor, int], None]
# What the server makes of the models that came back: (its own, theirs, their weights) -> the next
Server = Callable[[nn.Module, Sequence[nn.Module], Tensor], nn.Module]


def squares(said: Tensor, wanted: Tensor) -> Tensor:
    """Squared distance of each sample."""
    return (said.squeeze(-1) - wanted).square()


SQUARES = fk.Task(nn.Linear(6, 1), criterion=squares, metric=squares)  # a task without classes


def looped(
    part: fk.Part,
    gradient: Gradient,
    *,
    net: str = "mlp",
    weighting: str = "samples",
    send: Callable[[nn.Module], nn.Module] = copy.deepcopy,
    merge: Server | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a method in the library and in the loop; return both final models."""
    lab = Lab(net, local={"weighting": weighting})
    rounds, last = replayed(lab.session(part))
    model = network(net).double()
    for cohort in rounds:
        visited = [_visited(send(model), v.batches, v.client, gradient) for v in cohort]
        raw = torch.tensor([v.samples if weighting == "samples" else 1 for v in cohort]).double()
        model = (merge or averaged)(model, visited, raw / raw.sum())
    return last.state_dict(), model.state_dict()


def _visited(
    sent: nn.Module, batches: Sequence[tuple[Tensor, Tensor]], client: int, gradient: Gradient
) -> nn.Module:
    model, start = sent.train(), copy.deepcopy(sent).eval()
    lr, momentum, decay = (LOCAL[key] for key in ("lr", "momentum", "weight_decay"))
    sgd = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum, weight_decay=decay)
    for x, y in batches:
        sgd.zero_grad()
        gradient(model, start, x, y, client)
        sgd.step()
    return model


def averaged(model: nn.Module, visited: Sequence[nn.Module], weights: Tensor) -> nn.Module:
    """Average the models; of a counter, the furthest."""
    states = [one.state_dict() for one in visited]
    mean = {
        name: (
            sum(w * state[name] for w, state in zip(weights, states, strict=True))
            if first.is_floating_point()
            else max(state[name] for state in states)
        )
        for name, first in states[0].items()
    }
    after = copy.deepcopy(model)
    after.load_state_dict(mean)
    return after


def silently(model: nn.Module, x: Tensor) -> Tensor:
    """Run a model in training, but leave its statistics alone."""
    before = copy.deepcopy(dict(model.named_buffers()))
    logits: Tensor = model(x)
    for name, buffer in model.named_buffers():
        buffer.data.copy_(before[name])
    return logits


def mirror(classes: int) -> fk.Task:
    """A task whose logits, and features, are its inputs."""
    model = nn.Linear(classes, classes, bias=False).double()
    with torch.no_grad():
        model.weight.copy_(torch.eye(classes))
    return fk.Task(nn.Sequential(model))


def step(
    task: fk.Task,
    x: Tensor,
    y: Tensor,
    *,
    weight: Sequence[float] | None = None,
    params: Tensor | None = None,
    anchor: Tensor | None = None,
    counts: Tensor | None = None,
    local: Any = (),
) -> Step:
    """A step of a visit, made by hand: by default where the model arrived."""
    stand = task.initial() if params is None else params
    visit = Visit(
        task,
        torch.tensor(0),
        stand.new_tensor(0.1),
        task.initial() if anchor is None else anchor,
        task.buffers(),
        stand.new_ones(task.classes or 0) if counts is None else counts,
        stand.new_zeros(0),
        (),
        (),
    )
    weights = stand.new_ones(len(y)) if weight is None else stand.new_tensor(weight)
    return Step(visit, local, stand, task.buffers(), Batch(x, y, weights))
