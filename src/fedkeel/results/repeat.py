"""The exact command that repeats a run."""

from __future__ import annotations

import shlex

from ..notation import read_value, write_value
from .folders import RunFolder
from .groups import flatten

DEFAULTS: dict[str, object] = {
    "format": 1,
    "method": "gcfed",
    "weighting": "samples",
    "rounds": 100,
    "cohort": 10,
    "server_lr": 1.0,
    "seed": 0,
    "data.name": "femnist-mini",
    "data.clients": 100,
    "data.partition": "auto",
    "data.alpha": 0.1,
    "data.min_size": 1,
    "data.cap": True,
    "data.max_tries": 10000,
    "data.fill": 256,
    "data.drop_remainder": True,
    "data.alpha_coarse": 0.1,
    "data.alpha_fine": 10.0,
    "data.shards_per_client": 2,
    "data.classes_per_client": 2,
    "data.quantity_alpha": 0.5,
    "data.feature_noise": 0.1,
    "data.feature_rotation": 45.0,
    "data.file": "",
    "data.server": 0.0,
    "data.seed": -1,
    "data.labels": "fine",
    "data.vocab": "data",
    "data.targets": "all",
    "data.test_share": 0.2,
    "data.label_noise": 0.0,
    "data.open_set_noise": 0.0,
    "data.attribute_noise": 0.0,
    "data.label_noise_kind": "symmetric",
    "data.foreign": [],
    "data.corruptions": [],
    "data.severity": 5,
    "model.name": "auto",
    "local.epochs": 5,
    "local.batch_size": 50,
    "local.batches": "keep",
    "local.lr": 0.01,
    "local.schedule": "constant",
    "local.momentum": 0.9,
    "local.nesterov": False,
    "local.weight_decay": 1e-5,
    "local.decay": "auto",
    "local.augment": True,
    "run.engine": "auto",
    "run.device": "auto",
    "run.precision": "float32",
    "run.threads": 0,
    "run.compile": "auto",
    "run.chunk": 0,
    "run.buffers": "average",
    "run.on_nonfinite": "stop",
    "run.eval_every": 1,
    "run.checkpoint_every": 10,
    "run.target": 0.0,
}
"""What a key is when it is not given. A key that is missing here is always written out."""

# What a reader looks for first is said even at its default; and where the partition is natural or
# a file, clients that are not given are all of them, not 100.
_ALWAYS = ("method", "seed", "data.clients")


def from_recipe(run: RunFolder) -> str:
    """Return the command that repeats a run from its folder."""
    return f"fedkeel run {shlex.quote(str(run.path / 'recipe.toml'))}"


def from_keys(run: RunFolder) -> str:
    """Return the command that repeats a run without its folder; keys at their default left out."""
    keys = flatten({key: item for key, item in run.recipe.items() if key != "resolved"})
    told = [f"{key}={word(item)}" for key, item in keys.items() if _is_told(key, item)]
    return " ".join(["fedkeel run", *map(shlex.quote, told)])


def word(value: object) -> str:
    """Write a value so that the command line reads it back: bare where that is the same.

    >>> word("clip + gcfed"), word("5"), word([0.1, 2])
    ('clip + gcfed', '"5"', '[0.1, 2]')
    """
    return value if isinstance(value, str) and _is_bare(value) else write_value(value)


def _is_bare(text: str) -> bool:
    try:
        return bool(text) and text.isprintable() and read_value(text) == text
    except ValueError:
        return False


def _is_told(key: str, value: object) -> bool:
    default = DEFAULTS.get(key)
    same = (
        key in DEFAULTS
        and default == value
        and isinstance(value, bool) == isinstance(default, bool)
    )
    # One client a round (1) is not all of them (1.0).
    return key in _ALWAYS or not same or (key == "cohort" and isinstance(value, float))
