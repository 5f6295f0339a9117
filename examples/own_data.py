"""Your own arrays with natural owners, and your own loss: python examples/own_data.py [ROUNDS]."""

import sys

import numpy as np
import torch
from torch import nn

import fedkeel as fk

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15

# Ten sensors measure the same thing, each where it stands: a regression with natural owners.
rng = np.random.default_rng(0)
sensor = rng.integers(0, 10, 2000)
x = rng.normal(loc=sensor[:, None] / 5, size=(2000, 4)).astype(np.float32)
y = np.sin(x.sum(1)) + 0.1 * rng.normal(size=2000)
y = y.astype(np.float32)[:, None]

source = fk.data.from_arrays(x, y, owner=sensor, name="sensors", test_share=0.2)
federation = source.split(fk.data.Natural())
print(federation.clients, "clients with", federation.sizes.tolist(), "samples")


def squared_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the error of each sample, not their mean: then short batches are exact."""
    return (outputs - targets).square()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
task = fk.Task(model, criterion=squared_error, metric=squared_error)
method = fk.algorithm(fk.FedProx(mu=0.01), lr=0.05, epochs=2, batch_size=20)

last = fk.train(method, task, federation, rounds=rounds, cohort=0.5, seed=0)
print(f"mean squared error {last.accuracy:.3f} after {last.number} rounds")
