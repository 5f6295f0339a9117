"""Workloads W and S on a CPU beside plain PyTorch loops: python benchmarks/speed.py

W: the GC-Fed CNN, 5 of 100 clients with 500 samples each, one epoch of batches of 50.
S: an MLP 64-64-10, 50 of 1,000 clients with 40 samples each, one epoch of batches of 10.
Trust the ratios: both sides see the same machine at the same time.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import fedkeel as fk


class Workload:
    """A federation of equal clients, a model, and the same round in two ways."""

    def __init__(
        self,
        clients: int,
        samples: int,
        cohort: int,
        batch: int,
        shape: tuple[int, ...],
        model: nn.Module,
    ):
        torch.manual_seed(0)
        total = clients * samples
        x, y = torch.randn(total, *shape), torch.randint(0, 10, (total,))
        source = fk.data.from_arrays(x, y, x[:100], y[:100], classes=10)
        owner = np.repeat(np.arange(clients), samples)
        self.federation = fk.data.Federation(source, owner, "file", clients)
        self.x, self.y, self.samples, self.cohort, self.batch = x, y, samples, cohort, batch
        self.model = model

    def library(self, **settings: object) -> Iterator[object]:
        method = fk.algorithm(fk.FedAvg(), lr=0.01, momentum=0.9, epochs=1, batch_size=self.batch)
        return fk.run(
            method, fk.Task(self.model), self.federation,
            rounds=10_000, cohort=self.cohort, eval_every=10_000, **settings,
        )  # fmt: skip

    def loop(self, memory_format: torch.memory_format) -> Callable[[], None]:
        """One round of plain PyTorch: a copy of the model and an optimiser for each client."""
        held = copy.deepcopy(self.model).to(memory_format=memory_format)
        x = self.x.contiguous(memory_format=memory_format) if self.x.dim() == 4 else self.x

        def visit(client: int) -> nn.Module:
            model = copy.deepcopy(held)
            sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-5)
            order = client * self.samples + torch.randperm(self.samples)
            for rows in order.split(self.batch):
                sgd.zero_grad()
                F.cross_entropy(model(x[rows]), self.y[rows]).backward()
                sgd.step()
            return model

        def round_() -> None:
            models = [visit(client) for client in range(self.cohort)]
            with torch.no_grad():
                for name, parameter in held.named_parameters():
                    parameter.copy_(torch.stack([m.get_parameter(name) for m in models]).mean(0))

        return round_


def interleaved(ways: dict[str, Callable[[], object]], times: int, block: int) -> dict[str, float]:
    """Run the ways by turns, ``block`` rounds each, as a run plays one round after another."""
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(times + 2):
        for name, way in ways.items():
            for _ in range(block):
                begun = time.perf_counter()
                way()
                if turn > 1:
                    seen[name].append(time.perf_counter() - begun)
    return {name: median(values) for name, values in seen.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["W", "S"])
    parser.add_argument("--traced", action="store_true", help="also without compiling")
    parser.add_argument("--times", type=int, default=0)
    given = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    if given.only != "S":
        w = Workload(100, 500, 5, 50, (3, 32, 32), fk.models.cnn(10, (3, 32, 32)))
        show(w, "W", torch.channels_last, given.times or 8, 1, given.traced)
    if given.only != "W":
        s = Workload(
            1000, 40, 50, 10, (64,), nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        )
        show(s, "S", torch.contiguous_format, given.times or 10, 10, given.traced)


def show(
    work: Workload,
    name: str,
    memory_format: torch.memory_format,
    times: int,
    block: int,
    traced: bool,
) -> None:
    compiled = work.library(compile=True)
    ways: dict[str, Callable[[], object]] = {
        "loop": work.loop(memory_format),
        "fedkeel": lambda: next(compiled),
    }
    if traced:
        plain = work.library(compile=False)
        ways["fedkeel, traced"] = lambda: next(plain)
    result = interleaved(ways, times, block)
    for way, seconds in result.items():
        ratio = seconds / result["loop"]
        print(f"{name}  {way:16} {1e3 * seconds:9.2f} ms a round   {ratio:.3f} of the loop")


if __name__ == "__main__":
    main()
