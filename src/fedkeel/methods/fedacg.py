"""FedACG: accelerated client gradient (Kim et al., CVPR 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from torch import Tensor

from ..errors import number
from ..layout import Vector
from ..part import Part, Replies, Server, State, Step, zeros


@dataclass(frozen=True)
class FedACG(Part):
    """Send the model ahead to where momentum is taking it, and let nobody stray from there.

    The server remembers ``m``, in the library's sign: a step to be subtracted. It sends
    ``w - lam m``; a client minimises ``f_k(w_k) + beta |w_k - (w - lam m)|^2``.
    """

    lam: float = 0.85  # what is kept of the momentum
    beta: float = 0.001  # strength of the pull to the model that was sent

    def __post_init__(self) -> None:
        """Check the ranges."""
        number("lam", self.lam, "a number in [0, 1)", lambda lam: 0 <= lam < 1)
        number("beta", self.beta, "a number >= 0", lambda beta: 0 <= beta < inf)

    def server_state(self, server: Server) -> State:
        """Begin at rest."""
        return zeros(server.task)

    def brief(self, params: Vector, state: State, server: Server) -> tuple[Vector, State]:
        """Look ahead."""
        return params - self.lam * state, ()

    def penalty(self, step: Step) -> Tensor:
        """Return the squared distance to the model that was sent, times beta."""
        return self.beta * (step.params - step.visit.anchor).square().sum()

    def merge(
        self, update: Vector, state: State, replies: Replies, server: Server
    ) -> tuple[Vector, State, State]:
        """Take the whole step: what the clients were sent ahead by, and what they found there."""
        momentum = self.lam * state + update
        return momentum, momentum, replies.ledger

    @property
    def pull(self) -> float:
        """Twice beta, since the term has no half."""
        return 2 * self.beta

    def neutral(self) -> FedACG:
        """Without momentum and pull it is FedAvg."""
        return FedACG(0.0, 0.0)
