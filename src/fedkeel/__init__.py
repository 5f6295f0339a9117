"""Federated learning that keeps its course.

>>> import fedkeel as fk
>>> fk.compose(fk.FedProx(mu=0.5), fk.fed_adam())
Together(parts=(FedProx(mu=0.5), AtServer(transform=Adaptive())))
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Adaptive": "transforms",
    "Algorithm": "rounds",
    "AtClient": "transforms",
    "AtServer": "transforms",
    "Batch": "part",
    "Centralise": "transforms",
    "Clip": "methods.clip",
    "Diverged": "errors",
    "FedACG": "methods.fedacg",
    "FedAvg": "methods.fedavg",
    "FedDecorr": "methods.feddecorr",
    "FedDyn": "methods.feddyn",
    "FedLC": "methods.fedlc",
    "FedNTD": "methods.fedntd",
    "FedNova": "methods.fednova",
    "FedProx": "methods.fedprox",
    "FedSAM": "methods.fedsam",
    "FedSOL": "methods.fedsol",
    "FedVARP": "methods.fedvarp",
    "Head": "transforms",
    "InputError": "errors",
    "Krum": "methods.robust",
    "Layout": "layout",
    "Local": "rounds",
    "Median": "methods.robust",
    "Momentum": "transforms",
    "NormBounded": "methods.robust",
    "Output": "task",
    "Part": "part",
    "Point": "part",
    "Replies": "part",
    "Round": "history",
    "Run": "stored",
    "Scaffold": "methods.scaffold",
    "Server": "part",
    "Shard": "part",
    "Step": "part",
    "Task": "task",
    "Together": "composition",
    "Trajectory": "part",
    "Transform": "transforms",
    "TrimmedMean": "methods.robust",
    "Vector": "layout",
    "Visit": "part",
    "algorithm": "rounds",
    "compose": "composition",
    "fed_adagrad": "methods.fedopt",
    "fed_adam": "methods.fedopt",
    "fed_avg_m": "methods.fedopt",
    "fed_yogi": "methods.fedopt",
    "fed_zmg": "methods.fed_zmg",
    "gc_fed": "methods.gc_fed",
    "global_gc": "methods.gc_fed",
    "load": "stored",
    "local_gc": "methods.gc_fed",
    "method": "names",
    "run": "session",
    "train": "session",
    "zeros": "part",
}
_MODULES = ("data", "models", "testing")

__all__ = sorted([*_HOMES, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'fedkeel' has no attribute '{name}'")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
