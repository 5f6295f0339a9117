"""Three methods over three seeds, paired by seed: python examples/compare_methods.py [ROUNDS].

On the command line the same is `fedkeel run ... --out DIR` for each, then `fedkeel compare DIR...`.
"""

import sys
from statistics import fmean, stdev

import torch

import fedkeel as fk

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
seeds = (0, 1, 2)
source = fk.data.load("femnist-mini")


def accuracy(text: str, seed: int) -> float:
    """Run a method; under one seed all see the same weights, cohorts and batches."""
    torch.manual_seed(seed)
    task = fk.Task(fk.models.mlp(classes=62, shape=(1, 28, 28), hidden=[64, 64]))
    federation = source.split(fk.data.Dirichlet(0.1), clients=100, seed=seed)
    method = fk.algorithm(fk.method(text), lr=0.05, epochs=2)
    return fk.train(method, task, federation, rounds=rounds, cohort=5, seed=seed).accuracy


plain = [accuracy("fedavg", seed) for seed in seeds]
print(f"{'fedavg':20} {fmean(plain):.3f} ± {stdev(plain):.3f}")
for text in ("fedprox(mu=0.01)", "gcfed"):
    scores = [accuracy(text, seed) for seed in seeds]
    gained = [one - other for one, other in zip(scores, plain, strict=True)]
    print(f"{text:20} {fmean(scores):.3f} ± {stdev(scores):.3f}", end="   ")
    print(f"paired difference {fmean(gained):+.3f} ± {stdev(gained):.3f}")
