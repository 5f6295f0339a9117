"""A run read back from its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from .errors import InputError
from .results.folders import read


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What a run left: its recipe, its rounds, its summary and its final weights."""

    path: Path
    recipe: Mapping[str, Any]
    rounds: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]
    state_dict: Mapping[str, Tensor]

    def __repr__(self) -> str:
        """Say what one looks for."""
        return f"Run({str(self.path)!r}, {self.summary['method']}, {self.summary['rounds']} rounds)"

    def module(self) -> nn.Module:
        """Return the model of the recipe with the run's weights."""
        from .recipe import resolve
        from .recipe.job import build_source, build_task

        try:
            recipe = resolve(self.path / "recipe.toml")
            model = build_task(recipe, build_source(recipe)).model
        except InputError as error:
            raise InputError(
                f"the recipe in {self.path} does not say how to build the model ({error}): "
                "build it yourself and call load_state_dict(run.state_dict)"
            ) from error
        if any(t.is_floating_point() and t.element_size() == 8 for t in self.state_dict.values()):
            model = model.double()
        model.load_state_dict(dict(self.state_dict))
        return model


def load(out: str | os.PathLike[str]) -> Run:
    """Read a run folder.

    Args:
        out: The folder that a run was written to.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    found = read(Path(out))
    if len(found) != 1:
        raise InputError(f"{out} holds {len(found)} runs: name the folder of one of them")
    (run,) = found
    weights = run.path / "model.safetensors"
    try:
        state = load_file(weights)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"{weights} cannot be read ({error}): the run left no model there"
        ) from error
    return Run(run.path, run.recipe, run.rounds, run.summary, state)
