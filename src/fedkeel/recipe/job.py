"""From a recipe's values to the objects of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..callables import options
from ..errors import InputError
from ..names import method, method_text, model_function
from .resolution import with_model
from .written import Recipe, is_function

if TYPE_CHECKING:
    from torch import nn

    from ..data import Federation, Source
    from ..rounds import Algorithm
    from ..settings import Settings
    from ..task import Task

_LOCAL = [
    "batch_size",
    "batches",
    "lr",
    "schedule",
    "momentum",
    "nesterov",
    "weight_decay",
    "decay",
]
_CHOICES = ["test_share", "labels", "vocab", "targets"]
_NOISE = ["label_noise", "open_set_noise", "attribute_noise"]
_NOISE_KEYS = {
    "label": "label_noise",
    "open_set": "open_set_noise",
    "attribute": "attribute_noise",
    "kind": "label_noise_kind",
}
_RUN = [
    "engine",
    "device",
    "precision",
    "threads",
    "compile",
    "chunk",
    "buffers",
    "on_nonfinite",
    "eval_every",
]


class Job(NamedTuple):
    """All that a run needs.

    Attributes:
        recipe: The recipe with nothing left open.
        method_resolved: The method with every option and its value.
        algorithm: The method and how clients train.
        task: The model, with its initial weights.
        federation: The data, dealt out.
        settings: How it is run.
    """

    recipe: Recipe
    method_resolved: str
    algorithm: Algorithm
    task: Task
    federation: Federation
    settings: Settings


def build(recipe: Recipe) -> Job:
    """Make the objects of a run: data, model, method, settings; whatever is wrong is said here."""
    algorithm = build_algorithm(recipe)
    federation = build_federation(recipe)
    recipe = settled(recipe, federation.source)
    task = build_task(recipe, federation.source)
    _check_centred(recipe, algorithm, task)
    resolved = method_text(recipe["method"])
    return Job(recipe, resolved, algorithm, task, federation, _settings(recipe))


def build_algorithm(recipe: Recipe) -> Algorithm:
    """Build the method and the way clients train."""
    from ..rounds import algorithm

    length = "steps" if "local.steps" in recipe.values else "epochs"
    with _about(recipe, "method"):
        return algorithm(
            method(recipe["method"]),
            weighting=recipe["weighting"],
            server_lr=recipe["server_lr"],
            **{name: recipe[f"local.{name}"] for name in (length, *_LOCAL)},
        )


def build_source(recipe: Recipe) -> Source:
    """Load the data set."""
    from ..data import load

    name = recipe["data.name"]
    asked = {n: recipe[f"data.{n}"] for n in _CHOICES if f"data.{n}" in recipe.values}
    with _about(recipe, "data.name"):
        return load(
            name,
            recipe.further("data") if is_function(name) else None,
            seed=_split_seed(recipe),
            augment=recipe["local.augment"],
            **asked,
        )


def build_federation(recipe: Recipe) -> Federation:
    """Load the data set and deal it out to the clients."""
    source = build_source(recipe)
    keys = ("data.partition", "data.file", "data.clients", "data.server")
    with _about(recipe, *keys), _renamed(recipe, "data"):
        federation = source.split(
            _partition(recipe),
            recipe.get("data.clients"),
            _split_seed(recipe),
            recipe["data.server"],
        )
    return _with_noise(recipe, federation)


def _with_noise(recipe: Recipe, federation: Federation) -> Federation:
    asked = [f"data.{name}" for name in (*_NOISE, "foreign") if recipe[f"data.{name}"]]
    if not any(recipe[key] for key in asked):
        return federation
    with _about(recipe, *asked), _renamed(recipe, "data"):
        return federation.with_noise(
            *(recipe[f"data.{name}"] for name in _NOISE),
            kind=recipe["data.label_noise_kind"],
            foreign=recipe["data.foreign"],
            corruptions=recipe["data.corruptions"],
            severity=recipe["data.severity"],
        )


def build_task(recipe: Recipe, source: Source) -> Task:
    """Build the model under a generator of the seed, and the task around it.

    ``fork_rng`` guards the process-wide generator, which is no safe thing to do beside other
    threads: it is meant for a command, which has the process to itself.
    """
    import torch

    from ..task import Task

    renamed = _renamed(recipe, "model")
    with _about(recipe, "model.name"), renamed, torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe["seed"])
        module = _module(recipe, source)
        return Task(module, classes=source.classes)


def _module(recipe: Recipe, source: Source) -> nn.Module:
    from torch import nn

    name, build = recipe["model.name"], model_function(recipe["model.name"])
    known: dict[str, Any] = {"classes": source.classes, "shape": tuple(source.train.x.shape[1:])}
    if ":" not in name:
        known["targets"] = "last" if source.train.y.dim() == 1 else "all"
    if ":" not in name and source.train.tokens:
        known["symbols"] = max(source.classes or 0, int(source.train.x.max()) + 1)
    asked = {key: value for key, value in known.items() if key in options(build)}
    if asked.get("classes", 0) is None:
        raise InputError(
            f"model '{name}' needs classes, but the targets of {source.name} are not integers; "
            "other tasks are for Python: fk.Task(model, criterion=..., metric=...)"
        )
    module = _called(name, build, {**recipe.further("model"), **asked})
    if not isinstance(module, nn.Module):
        raise InputError(
            f"model '{name}' gives a {type(module).__name__}: it must return a torch.nn.Module"
        )
    return module


def _called(name: str, build: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    from ..data.function import working_directory_first

    try:
        with working_directory_first():
            return build(**arguments)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"model '{name}' failed with {type(error).__name__}: {error}") from error


def _partition(recipe: Recipe) -> Any:
    from .. import data

    rules = {
        "dirichlet": data.Dirichlet,
        "dirichlet_ecgr": data.DirichletECGR,
        "dirichlet_gcfl": data.DirichletGCFL,
        "pachinko": data.Pachinko,
        "shards": data.Shards,
        "classes": data.Classes,
        "quantity": data.Quantity,
        "feature": data.Feature,
        "iid": data.IID,
        "natural": data.Natural,
    }
    name = recipe["data.partition"]
    if name == "file":
        return data.File(recipe["data.file"])
    build: Callable[..., Any] = rules[name]
    return build(**{field: recipe[f"data.{field}"] for field in options(build)})


def _split_seed(recipe: Recipe) -> int:
    fixed: int = recipe["data.seed"]
    return recipe["seed"] if fixed < 0 else fixed


def settled(recipe: Recipe, source: Source) -> Recipe:
    """Choose the model where that needed a look at the data.

    Tokens take gru, colour images cnn, all else mlp.
    """
    if recipe["model.name"] != "auto":
        return recipe
    if source.train.tokens:
        return with_model(recipe, "gru")
    x = source.train.x
    return with_model(recipe, "cnn" if x.dim() == 4 and x.shape[1] == 3 else "mlp")


def _check_centred(recipe: Recipe, algorithm: Algorithm, task: Task) -> None:
    """Name a head that the model does not have before anything is run or written."""
    from ..transforms import centred

    try:
        centred(algorithm.part, task.layout)
    except InputError as error:
        raise recipe.error(
            "method", f"method={recipe['method']} on {recipe['model.name']}: {error}"
        ) from error


def _settings(recipe: Recipe) -> Settings:
    from ..settings import Settings

    run = {name: recipe[f"run.{name}"] for name in _RUN}
    return Settings(rounds=recipe["rounds"], cohort=recipe["cohort"], seed=recipe["seed"], **run)


@contextmanager
def _renamed(recipe: Recipe, table: str) -> Iterator[None]:
    """Call an argument by its key where an error begins with one: ``data.clients=9 is more``."""
    try:
        yield
    except InputError as error:
        first = re.match(r"([a-z_]+)(?==| has | holds )", str(error))
        name = first[1] if first else ""
        key = f"{table}.{_NOISE_KEYS.get(name, name)}"
        told = f"{key}{str(error)[len(name) :]}" if key in recipe.values else str(error)
        raise InputError(told) from error


@contextmanager
def _about(recipe: Recipe, *keys: str) -> Iterator[None]:
    """Put the place of the first of these keys that the user gave before an error."""
    try:
        yield
    except InputError as error:
        place = next((recipe.places[key] for key in keys if key in recipe.places), "")
        raise InputError(f"{place}{error}") from error
