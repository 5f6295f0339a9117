"""How a run is run: everything that is not the method, the model or the data."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from numbers import Integral

import torch

from .errors import InputError, require, unknown

ENGINES = ("auto", "sequential", "stacked")
DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float32", "tf32", "bfloat16", "float64")
BUFFERS = ("average", "local", "freeze")
NONFINITE = ("stop", "skip_client")


@dataclass(frozen=True)
class Settings:
    """The keys of a recipe that say how long, with whom, on what and how exactly."""

    rounds: int = 100
    cohort: int | float = 10  # an integer: so many clients; a float: that share of them
    seed: int = 0
    engine: str = "auto"
    device: str = "auto"
    precision: str = "float32"
    threads: int = 0  # 0: as many as PyTorch takes
    buffers: str = "average"
    on_nonfinite: str = "stop"
    eval_every: int = 1
    chunk: int = 0  # 0: the engine's rule
    compile: str | bool = "auto"

    def __post_init__(self) -> None:
        """Check ranges and words."""
        for name, low in (
            ("rounds", 0),
            ("threads", 0),
            ("chunk", 0),
            ("eval_every", 1),
            ("seed", 0),
        ):
            value = getattr(self, name)
            require(_whole(value) and value >= low, name, value, f"an integer >= {low}")
            object.__setattr__(self, name, int(value))
        require(self.seed < 1 << 63, "seed", self.seed, "an integer below 2**63")
        share = isinstance(self.cohort, float) and 0 < self.cohort <= 1
        require(
            share or (_whole(self.cohort) and self.cohort >= 1),
            "cohort",
            self.cohort,
            "an integer >= 1 (so many clients) or a float in (0, 1] (that share)",
        )
        for name, allowed in (
            ("engine", ENGINES),
            ("device", DEVICES),
            ("precision", PRECISIONS),
            ("buffers", BUFFERS),
            ("on_nonfinite", NONFINITE),
        ):
            if getattr(self, name) not in allowed:
                raise unknown(name, str(getattr(self, name)), allowed)
        if self.compile not in ("auto", "true", "false", True, False):
            raise unknown("compile", str(self.compile), ("auto", "true", "false"))
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InputError(
                "device='cuda' was asked for, but PyTorch finds no CUDA device: use device='cpu'"
            )

    @property
    def place(self) -> torch.device:
        """The device."""
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)

    @property
    def dtype(self) -> torch.dtype:
        """The type of the weights; bfloat16 and tf32 are ways to compute with float32 weights."""
        return torch.float64 if self.precision == "float64" else torch.float32

    def clients(self, population: int, able: int) -> int:
        """Return how many clients a round has, of ``able`` that hold samples."""
        if not able:
            raise InputError("no client holds a sample: look at the partition")
        share = isinstance(self.cohort, float)
        exact = round(self.cohort * population, 9)  # .29 * 50 falls short of 14.5
        count = max(1, floor(exact + 0.5)) if share else int(self.cohort)
        if share:
            count = min(count, able)
        if count > able:
            empty = (
                f" ({population - able} of {population} hold no sample)"
                if able < population
                else ""
            )
            raise InputError(
                f"cohort={self.cohort} is more than the {able} clients there are{empty}: "
                f"use at most {able}"
            )
        return count


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
