"""Small run folders, written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

WriteRun = Callable[..., Path]


def recipe_text(method: str, seed: int, changes: Mapping[str, Any]) -> str:
    """Write a recipe; ``changes`` replaces keys by their dotted name."""
    keys: dict[str, Any] = {
        "format": 1,
        "method": method,
        "rounds": 3,
        "cohort": 5,
        "seed": seed,
        "data.name": "femnist-mini",
        "data.clients": 4,
        "data.partition": "dirichlet",
        "data.alpha": 0.1,
        "data.seed": -1,
        "model.name": "mlp",
        "local.epochs": 5,
        "local.lr": 0.05,
        "run.target": 0.0,
        "resolved.engine": "stacked",
        **changes,
    }
    plain = [f"{key} = {json.dumps(item)}" for key, item in keys.items() if "." not in key]
    tables = {key.partition(".")[0] for key in keys if "." in key}
    for table in sorted(tables):
        inner = {key.partition(".")[2]: v for key, v in keys.items() if key.startswith(table + ".")}
        plain += [f"[{table}]", *(f"{key} = {json.dumps(item)}" for key, item in inner.items())]
    return "\n".join(plain) + "\n"


def round_line(number: int, accuracy: float | None) -> dict[str, Any]:
    return {"round": number, "accuracy": accuracy, "bytes_up": 1000, "bytes_down": 2000}


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """Return a function that writes one run folder and returns its path."""

    def write(
        name: str,
        method: str = "fedavg",
        seed: int = 0,
        final: float | None = 0.5,
        *,
        recipe: Mapping[str, Any] | None = None,
        **summary: Any,
    ) -> Path:
        path = tmp_path / name
        path.mkdir(parents=True)
        (path / "recipe.toml").write_text(recipe_text(method, seed, recipe or {}))
        trace = [0.1, 0.2, 0.4, final]
        lines = [json.dumps(round_line(r, a)) + "\n" for r, a in enumerate(trace)]
        (path / "rounds.jsonl").write_text("".join(lines))
        content = {
            "format": 1,
            "method": method,
            "method_resolved": method,
            "seed": seed,
            "rounds": 3,
            "metric": "accuracy",
            "accuracy": {"last": final, "best": final, "final": final},
            "seconds": {"total": 2.5, "round_median": 0.5},
            "failed": None,
            "data_sha256": f"data of seed {seed}",
            "params_sha256": "0",
            "versions": {"fedkeel": "0.1.0"},
            **summary,
        }
        (path / "summary.json").write_text(json.dumps(content))
        return path

    return write
