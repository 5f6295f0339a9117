"""The table of names: methods, models and data sets; nothing below this module knows a name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import papers as p
from .callables import defaults, fitting
from .errors import InputError, unknown
from .notation import Term, read_sum, write_term
from .papers import Paper

if TYPE_CHECKING:
    from .part import Part


class Method(NamedTuple):
    """A published method: its name in sums and in Python, its family, its paper, its idea."""

    name: str
    python: str
    family: str
    paper: Paper
    idea: str


class Model(NamedTuple):
    """A network of the papers."""

    name: str
    idea: str


class Data(NamedTuple):
    """A data set that can be had by its name, and the model that suits it."""

    name: str
    model: str


Entry = TypeVar("Entry", Method, Model, Data)

METHODS = (
    Method("fedavg", "FedAvg", "averaging", p.AVG, "Clients train, the server averages."),
    Method("fedprox", "FedProx", "loss", p.PROX, "A spring to the model that was sent."),
    Method("fedntd", "FedNTD", "loss", p.NTD, "Distil the wrong classes alone."),
    Method("fedlc", "FedLC", "loss", p.LC, "A margin for rare labels."),
    Method("feddecorr", "FedDecorr", "loss", p.DECORR, "Features that do not repeat."),
    Method("fedsol", "FedSOL", "loss", p.SOL, "Slopes away from what was known."),
    Method("fedsam", "FedSAM", "loss", p.SAM, "Slopes from uphill: flat minima."),
    Method("fedacg", "FedACG", "loss", p.ACG, "The server sends a look ahead."),
    Method("scaffold", "Scaffold", "control", p.SCAFFOLD, "What all step and one does not."),
    Method("feddyn", "FedDyn", "control", p.DYN, "Losses that agree at the optimum."),
    Method("fednova", "FedNova", "control", p.NOVA, "More steps count no more."),
    Method("fedvarp", "FedVARP", "control", p.VARP, "The absent answer as they did last."),
    Method("localgc", "local_gc", "centring", p.GC_FED, "Clients centre every gradient."),
    Method("globalgc", "global_gc", "centring", p.GC_FED, "The server centres the mean update."),
    Method("gcfed", "gc_fed", "centring", p.GC_FED, "Features at clients, all at the server."),
    Method("fedzmg", "fed_zmg", "centring", p.ZMG, "Zero-mean gradients, decay kept apart."),
    Method("fedavgm", "fed_avg_m", "server", p.AVG_M, "The server keeps momentum over rounds."),
    Method("fedadam", "fed_adam", "server", p.OPT, "Adam on the mean update, at the server."),
    Method("fedyogi", "fed_yogi", "server", p.OPT, "Adam whose second moment shrinks slowly."),
    Method("fedadagrad", "fed_adagrad", "server", p.OPT, "Steps shrink with all that has moved."),
    Method("median", "Median", "safety", p.MEDIAN, "The middle value of each weight."),
    Method("trimmed_mean", "TrimmedMean", "safety", p.MEDIAN, "The mean without the extremes."),
    Method("krum", "Krum", "safety", p.KRUM, "The update with near neighbours."),
    Method("norm_bounded", "NormBounded", "safety", p.BOUND, "No update is longer than others."),
    Method("clip", "Clip", "safety", p.CLIP, "Nothing longer than a given norm."),
)
FAMILIES = {
    "averaging": "The neutral element",
    "loss": "In the clients' loss",
    "control": "What clients and server remember",
    "centring": "Centring gradients",
    "server": "Optimisers at the server",
    "safety": "Safety",
}
MODELS = (
    Model("mlp", "Linear layers fc1 to fc3, ReLU between; flattens any input."),
    Model("cnn", "Two 5x5 convolutions and two linear layers, as in the GC-Fed experiments."),
    Model("lenet", "LeNet-5 with max pooling and ReLU, as in the ECGR experiments."),
    Model("cnn_zmg", "Two 5x5 convolutions, for characters, as in FedZMG's EMNIST experiments."),
    Model("cnn_zmg_cifar", "Four 3x3 convolutions with dropout, as in FedZMG's CIFAR experiments."),
    Model("cnn_ecgr", "Six 3x3 convolutions with BatchNorm, as in the ECGR experiments."),
    Model("cnn_gcfl", "Two unpadded 5x5 convolutions, as in the GCFL experiments."),
    Model("vgg11", "VGG11 without BatchNorm, as in the GC-Fed experiments."),
    Model("resnet18", "ResNet18 with GroupNorm and a 3x3 stem, as in the GC-Fed experiments."),
    Model("gru", "An embedding and a GRU over characters, as in FedZMG's Shakespeare experiments."),
    Model("vit", "A small vision transformer of 4x4 patches."),
    Model("gpt", "A small causal transformer over characters."),
)
DATA = (
    Data("femnist-mini", "mlp"),
    Data("mnist", "mlp"),
    Data("fmnist", "mlp"),
    Data("emnist-byclass", "mlp"),
    Data("emnist-digits", "mlp"),
    Data("emnist-letters", "mlp"),
    Data("femnist", "mlp"),
    Data("cifar10", "cnn"),
    Data("cifar100", "cnn"),
    Data("tinyimagenet", "cnn"),
    Data("lc25000", "cnn"),
    Data("flowers102", "cnn"),
    Data("shakespeare", "gru"),
)
LATER = {
    "method": "adaptive_gc ecgr gcfl gradmatch random_coreset random_fixed facility_location crust "
    "skyline",
}


def method(text: str) -> Part:
    """Build the part that a sum of names describes, as ``"clip + gcfed(head=fc2)"``.

    Built-in names are read in any case; ``module:Attribute`` is imported with the working
    directory first on the path and called with its options.
    """
    from .composition import compose

    parts = [_part(term) for term in read_sum(text)]
    return parts[0] if len(parts) == 1 else compose(*parts)


def method_text(text: str) -> str:
    """Write a sum with every option and its value, so that defaults may change and it may not."""
    return " + ".join(write_term(_complete(term)) for term in read_sum(text))


def method_names(text: str) -> tuple[str, ...]:
    """Return the plain names in a sum, an Attribute in lower case.

    >>> method_names("Clip(norm=1) + mymethods:Damped + gcfed")
    ('clip', 'damped', 'gcfed')
    """
    return tuple(term.name.rpartition(":")[2].lower() for term in read_sum(text))


def check_method(text: str) -> None:
    """Raise unless every name of a sum is a built-in or ``module:Attribute``; imports nothing."""
    for term in read_sum(text):
        if ":" not in term.name:
            find("method", term.name.lower(), METHODS)


def constructor(name: str) -> Callable[..., Any]:
    """Return what a method's name stands for in Python."""
    if ":" in name:
        return _imported(name, "method")
    entry = find("method", name.lower(), METHODS)
    found: Callable[..., Any] = getattr(importlib.import_module("fedkeel"), entry.python)
    return found


def model_function(name: str) -> Callable[..., Any]:
    """Return the function that builds a model of that name, or the user's ``module:function``."""
    if ":" in name:
        return _imported(name, "model")
    find("model", name, MODELS)
    found: Callable[..., Any] = getattr(importlib.import_module("fedkeel.models"), name)
    return found


def find(what: str, name: str, table: Sequence[Entry]) -> Entry:
    """Return the entry of that name, or say what there is.

    >>> find("model", "lenet", MODELS).name
    'lenet'
    """
    entries = {entry.name: entry for entry in table}
    if name in LATER.get(what, "").split():
        raise InputError(f"{what} '{name}' is not in this version. Allowed: {', '.join(entries)}")
    if name not in entries:
        raise unknown(what, name, entries)
    return entries[name]


def _imported(text: str, what: str) -> Callable[..., Any]:
    from .data.function import attribute, working_directory_first

    try:
        with working_directory_first():
            return attribute(text)
    except InputError as error:
        raise InputError(f"{what} {error}") from error


def _part(term: Term) -> Part:
    from .part import Part

    build, place = constructor(term.name), _place(term)
    given = fitting(place, build, term.options)
    try:
        part = build(**given)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    except Exception as error:
        raise InputError(
            f"{write_term(term)} failed with {type(error).__name__}: {error}"
        ) from error
    if not isinstance(part, Part):
        raise InputError(f"{place} gives a {type(part).__name__}: it must return a fedkeel.Part")
    return part


def _complete(term: Term) -> Term:
    build, place = constructor(term.name), _place(term)
    return Term(place, {**defaults(build), **fitting(place, build, term.options)})


def _place(term: Term) -> str:
    return term.name if ":" in term.name else term.name.lower()
