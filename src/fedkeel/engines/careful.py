"""An engine with another to fall back on."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import torch

from ..errors import InputError
from .base import Answers, Engine, Errand
from .tracing import Untraceable

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Careful:
    """Run the fast engine, or the plain one where model or method cannot be traced or mapped.

    Rounds are pure, so one that failed half-way is simply played again.
    """

    fast: Engine
    plain: Engine
    failed: list[str] = field(default_factory=list)

    def visits(self, errand: Errand) -> Answers:
        """Let every client of the cohort train."""
        if not self.failed:
            try:
                return self.fast.visits(errand)
            except (RuntimeError, TypeError, NotImplementedError, Untraceable) as error:
                told = isinstance(error, InputError) and not isinstance(error, Untraceable)
                if told or isinstance(error, torch.OutOfMemoryError):
                    raise
                first = str(error).split(": use ")[0].split(". ")[0].splitlines()[0]
                self.failed.append(first)
                log.warning("clients run one after another: %s", first)
        return self.plain.visits(errand)
