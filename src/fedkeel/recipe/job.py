"""From a recipe's values to the objects of a run."""

from __future__ import annotations

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
    split = {"test_share": recipe.get("data.test_share", 0.2), "seed": _split_seed(recipe)}
    with _about(recipe, "data.name"):
        return load(name, recipe.further("data") if is_function(name) else None, **split)


def build_federation(recipe: Recipe) -> Federation:
    """Load the data set and deal it out to the clients."""
    source = build_source(recipe)
    with _about(recipe, "data.partition", "data.file", "data.clients"):
        return source.split(_partition(recipe), recipe.get("data.clients"), _split_seed(recipe))


def build_task(recipe: Recipe, source: Source) -> Task:
    """Build the model under a generator of the seed, and the task around it.

    ``fork_rng`` guards the process-wide generator, which is no safe thing to do beside other
    threads: it is meant for a command, which has the process to itself.
    """
    import torch

    from ..task import Task

    with _about(recipe, "model.name"), torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe["seed"])
        module = _module(recipe, source)
        return Task(module, classes=source.classes)


def _module(recipe: Recipe, source: Source) -> nn.Module:
    from torch import nn

    name, build = recipe["model.name"], model_function(recipe["model.name"])
    known = {"classes": source.classes, "shape": tuple(source.train.x.shape[1:])}
    asked = {key: value for key, value in known.items() if key in options(build)}
    if asked.get("classes", 0) is None:
        raise InputError(
            f"model '{name}' needs classes, but the targets of {source.name} have none"
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

    match recipe["data.partition"]:
        case "dirichlet":
            alpha, least = recipe["data.alpha"], recipe["data.min_size"]
            return data.Dirichlet(alpha, least, recipe["data.cap"], recipe["data.max_tries"])
        case "iid":
            return data.IID()
        case "natural":
            return data.Natural()
    return data.File(recipe["data.file"])


def _split_seed(recipe: Recipe) -> int:
    fixed: int = recipe["data.seed"]
    return recipe["seed"] if fixed < 0 else fixed


def settled(recipe: Recipe, source: Source) -> Recipe:
    """Choose the model where that needed a look at the data: colour images cnn, all else mlp."""
    if recipe["model.name"] != "auto":
        return recipe
    shape = source.train.x.shape[1:]
    return with_model(recipe, "cnn" if len(shape) == 3 and shape[0] == 3 else "mlp")


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
def _about(recipe: Recipe, *keys: str) -> Iterator[None]:
    """Put the place of the first of these keys that the user gave before an error."""
    try:
        yield
    except InputError as error:
        place = next((recipe.places[key] for key in keys if key in recipe.places), "")
        raise InputError(f"{place}{error}") from error
