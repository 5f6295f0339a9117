"""A method of your own, checked and crossed with another: python examples/own_method.py [ROUNDS].

On the command line, from this folder:  fedkeel run method="own_method:Sluggish(share=0.3) + gcfed"
"""

import sys
from dataclasses import dataclass

import torch

import fedkeel as fk


@dataclass(frozen=True)
class Sluggish(fk.Part):
    """Let the server keep a share of its last step: a mean update that changes direction slowly."""

    share: float = 0.3

    def server_state(self, server):
        return fk.zeros(server.task)

    def merge(self, update, state, replies, server):
        moved = (1 - self.share) * update + self.share * state
        return moved, moved, replies.ledger

    def neutral(self):
        return Sluggish(share=0.0)


def main(rounds: int) -> None:
    """Check the method, then see what it does to GC-Fed."""
    fk.testing.check_part(Sluggish(), crossings=["gc_fed"])
    federation = fk.data.load("femnist-mini").split(fk.data.Dirichlet(0.1), clients=100, seed=0)
    torch.manual_seed(0)
    task = fk.Task(fk.models.mlp(classes=62, shape=(1, 28, 28), hidden=[64, 64]))
    for parts in ((fk.gc_fed(),), (fk.gc_fed(), Sluggish())):
        method = fk.algorithm(*parts, lr=0.05, epochs=2)
        last = fk.train(method, task, federation, rounds=rounds, cohort=5, seed=0)
        print(f"{len(parts)} part(s): accuracy {last.accuracy:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
