"""FedAvg and GC-Fed under strong label skew: python examples/first_run.py [ROUNDS]."""

import sys

import torch

import fedkeel as fk

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
federation = fk.data.load("femnist-mini").split(fk.data.Dirichlet(0.1), clients=100, seed=0)

torch.manual_seed(0)
task = fk.Task(fk.models.mlp(classes=62, shape=(1, 28, 28), hidden=[128, 128]))

for name, part in (("FedAvg", fk.FedAvg()), ("GC-Fed", fk.gc_fed())):
    method = fk.algorithm(part, lr=0.05, epochs=5)
    last = fk.train(method, task, federation, rounds=rounds, cohort=5, seed=0)
    print(f"{name}: accuracy {last.accuracy:.3f} after {last.number} rounds")
