"""The run folder: recipe, rounds, summary, model and partition, on disk as they come to be."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import torch
from torch import nn

from ..errors import InputError
from ..notation import write_toml

if TYPE_CHECKING:
    from ..data import Federation
    from ..session import Round, Session

FORMAT = 1
FINAL = 10  # evaluations that the final accuracy is the mean of


class RunFolder:
    """Writes a line as each round ends, and the rest when the run does, however it ends."""

    def __init__(self, path: Path) -> None:
        """Hold the place; nothing is written yet."""
        self.path = path
        self.session: Session | None = None
        self.last: Round | None = None
        self.lines: list[dict[str, Any]] = []
        self.file: TextIO | None = None
        self.method = ("", "")
        self.recipe: dict[str, Any] = {}

    @classmethod
    def claim(cls, out: str | os.PathLike[str]) -> RunFolder:
        """Check that a folder may be written to, and touch nothing."""
        path = Path(out)
        if path.exists() and not path.is_dir():
            raise InputError(f"out={path} is a file: name a folder that is absent or empty")
        if path.is_dir() and any(path.iterdir()):
            raise InputError(
                f"out={path} is not empty: name another folder, or remove it "
                "(--resume is not in this version)"
            )
        return cls(path)

    @property
    def next(self) -> int:
        """The round that would have come."""
        return self.last.number + 1 if self.last else 0

    def begin(self, session: Session, recipe: Mapping[str, Any] | None) -> None:
        """Write what is known before the first round."""
        self.session = session
        written = dict(recipe) if recipe else described(session)
        method = str(written["method"])
        self.method = method, str(session.resolved.get("method", method))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"out={self.path} cannot be made ({error.strerror}): name another folder"
            ) from error
        self.recipe = written
        self._write_recipe(session)
        split = _split(session.federation)
        _atomic(self.path / "partition.npz", lambda f: np.savez_compressed(f, **split))
        self.file = (self.path / "rounds.jsonl").open("w", encoding="utf-8")

    def _write_recipe(self, session: Session) -> None:
        text = write_toml({**self.recipe, "resolved": session.chosen})
        _atomic(self.path / "recipe.toml", lambda f: f.write(text.encode()))

    def add(self, round: Round) -> None:
        """Write a round's line, and hand it to the system at once."""
        line = {key: _plain(value) for key, value in round.line().items()}
        assert self.file is not None
        self.file.write(json.dumps(line, separators=(", ", ": ")) + "\n")
        self.file.flush()
        self.last = round
        self.lines.append(line)

    def close(self, failed: Mapping[str, Any] | None) -> None:
        """Write the model and the summary."""
        if self.file is not None:
            self.file.close()
        if self.session is None:
            return
        if self.session.chosen != self.session.resolved:  # an engine was given up on the way
            self._write_recipe(self.session)
        digest = self._model(self.last or self.session.untrained())
        summary = self._summary(self.session, failed, digest)
        text = json.dumps(summary, indent=2) + "\n"
        _atomic(self.path / "summary.json", lambda f: f.write(text.encode()))

    def _model(self, last: Round) -> str:
        from safetensors.torch import save

        wide = self.session is not None and self.session.settings.precision == "float64"
        kept = {
            name: (t if wide or not t.is_floating_point() else t.float()).contiguous()
            for name, t in last.state_dict().items()
        }
        content = save(kept)
        _atomic(self.path / "model.safetensors", lambda f: f.write(content))
        return fingerprint(last)

    def _summary(
        self, session: Session, failed: Mapping[str, Any] | None, digest: str | None
    ) -> dict[str, Any]:
        trained = [line for line in self.lines if line["round"] > 0]
        times = [line["seconds"] for line in trained]
        return {
            "format": FORMAT,
            "method": self.method[0],
            "method_resolved": self.method[1],
            "seed": session.settings.seed,
            "rounds": len(trained),
            "metric": session.metric,
            "accuracy": scores(
                [line["accuracy"] for line in trained if line["accuracy"] is not None]
            ),
            "seconds": {
                "total": sum(line["seconds"] for line in self.lines),
                "round_median": median(times) if times else None,
            },
            "failed": dict(failed) if failed else None,
            "data_sha256": session.federation.sha256,
            "params_sha256": digest,
            "versions": dict(session.resolved["versions"]),
        }


def scores(values: Sequence[float]) -> dict[str, float | None]:
    """Return the last, the best and the final of the evaluations; round 0 is none of them.

    >>> scores([0.5, 0.75, 0.25])
    {'last': 0.25, 'best': 0.75, 'final': 0.5}
    """
    if not values:
        return {"last": None, "best": None, "final": None}
    return {"last": values[-1], "best": max(values), "final": fmean(values[-FINAL:])}


def fingerprint(round: Round) -> str:
    """Return the SHA-256 of the weights as ``named_parameters`` has them, then of the buffers.

    All of it as float32, little-endian.
    """
    model, digest = round.module(), hashlib.sha256()
    for tensor in (*dict(model.named_parameters()).values(), *dict(model.named_buffers()).values()):
        digest.update(
            tensor.detach().to("cpu", torch.float32).contiguous().numpy().astype("<f4").tobytes()
        )
    return digest.hexdigest()


def _split(federation: Federation) -> dict[str, Any]:
    """Return who holds what, which labels that makes, and which samples are as they came.

    ``totals`` are of the whole training set, the server's and unused samples included. ``owner`` is
    as it was dealt, so that it can be given back with the same noise; where open-set noise took
    samples away, ``held`` says what was left.
    """
    from ..data.heterogeneity import totals

    counts, whole = np.zeros((federation.clients, 0), np.int64), np.zeros(0, np.int64)
    if federation.classes:
        counts, whole = federation.label_counts, totals(federation)
    labels = np.array(federation.source.labels, dtype=np.str_)
    clean = {} if federation.clean is None else {"clean": federation.clean}
    told = {"label_counts": counts, "totals": whole, "labels": labels}
    owner, held = federation.owner, {}
    if federation.dealt is not None:
        owner, held = federation.dealt, {"held": federation.owner}
    return {"owner": owner, **told, **clean, **held}


def described(session: Session) -> dict[str, Any]:
    """Write a run that was started from Python as a recipe: what has a key, by its key."""
    from ..spoken import spoken  # which knows the methods by name, as nothing below it does

    method, settings, local = session.method, session.settings, session.method.local
    model, held = session.task.model, session.federation.rule
    rule = (
        {n: v for n, v in vars(held).items() if isinstance(v, bool | int | float)} if held else {}
    )
    length = {"epochs": local.epochs} if local.epochs is not None else {"steps": local.steps}
    kept = (
        "engine",
        "device",
        "precision",
        "threads",
        "compile",
        "chunk",
        "buffers",
        "on_nonfinite",
        "eval_every",
    )
    words = (
        "batch_size",
        "batches",
        "lr",
        "schedule",
        "momentum",
        "nesterov",
        "weight_decay",
        "decay",
    )
    return {
        "format": FORMAT,
        "method": spoken(method.part),
        "weighting": method.weighting,
        "rounds": settings.rounds,
        "cohort": settings.cohort,
        "server_lr": method.server_lr,
        "seed": settings.seed,
        "data": {
            "name": session.federation.name,
            "clients": session.federation.clients,
            "partition": session.federation.partition,
            **rule,
            **session.federation.noise,
        },
        "model": {"name": type(model).__name__, "layout": _layout(model)},
        "local": {**length, **{name: getattr(local, name) for name in words}},
        "run": {name: getattr(settings, name) for name in kept},
    }


def _layout(model: nn.Module) -> str:
    """Tell models apart that have the same class: eight hex digits of names, shapes and print."""
    shapes = [(name, tuple(t.shape)) for name, t in model.state_dict().items()]
    return hashlib.sha256(f"{model!r}{shapes}".encode()).hexdigest()[:8]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def _atomic(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file beside its place and move it there, so that no half of it is ever seen."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            write(file)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
