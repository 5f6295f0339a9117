"""Your own network, with BatchNorm and dropout: python examples/own_model.py [ROUNDS]."""

import sys

import torch
from torch import nn

import fedkeel as fk

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10


class Net(nn.Module):
    """Any module will do; nothing in it knows of federated learning."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 5, stride=2)
        self.norm = nn.BatchNorm2d(8)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(8 * 12 * 12, 62)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.conv(x)).relu()
        return self.out(self.drop(x.flatten(1)))


torch.manual_seed(0)
task = fk.Task(Net(), head="out")  # it starts from the module's present weights
federation = fk.data.load("femnist-mini").split(fk.data.IID(), clients=200, seed=0)
method = fk.algorithm(fk.gc_fed(head="out"), lr=0.05, epochs=1, batch_size=20)

for round in fk.run(method, task, federation, rounds=rounds, cohort=5, seed=0):
    print(round.number, f"{round.accuracy:.3f}")

trained = round.module()  # a new Net with the weights after the last round
print(sum(p.numel() for p in trained.parameters()), "weights")
