"""Run folders, read from disk and checked."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError

FORMAT = 1
"""The format of summary.json that this version reads."""

_NEEDED = {"method": str, "seed": int, "accuracy": dict}
_WHERE_GIVEN = {"failed": dict, "versions": dict, "data_sha256": str}
_TABLES = ("data", "model", "local", "run")


class NoRuns(InputError):
    """A folder that is there, but holds no run."""


@dataclass(frozen=True)
class RunFolder:
    """One run as it lies on disk: what was asked, what each round said, how it ended.

    Attributes:
        path: The folder, as it was given.
        recipe: The nested content of recipe.toml.
        rounds: One object per line of rounds.jsonl.
        summary: The content of summary.json.
    """

    path: Path
    recipe: dict[str, Any]
    rounds: list[dict[str, Any]]
    summary: dict[str, Any]

    @property
    def method(self) -> str:
        """The method as the user wrote it."""
        return str(self.summary["method"])

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.summary["seed"])

    @property
    def failed(self) -> dict[str, Any] | None:
        """How the run failed, or None when it finished."""
        failed: dict[str, Any] | None = self.summary.get("failed")
        return failed

    @property
    def target(self) -> float:
        """The accuracy that the run was asked to reach; 0 when none was set."""
        target = self.recipe.get("run", {}).get("target", 0.0)
        return float(target) if _is_number(target) else 0.0

    def total(self, key: str) -> float:
        """Add up a number over all rounds; rounds without it count nothing."""
        return math.fsum(line[key] for line in self.rounds if _is_number(line.get(key)))

    def trace(self, key: str = "accuracy") -> dict[int, float]:
        """Return what a key was in each round that has it, by round number."""
        return {line["round"]: line[key] for line in self.rounds if _is_number(line.get(key))}


def read(path: Path) -> list[RunFolder]:
    """Read a run folder, or every run folder that lies directly inside a folder.

    Raises:
        InputError: When nothing is there, or a file is missing or damaged.
        NoRuns: When the folder holds no run that has ended.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"'{path}' does not exist: give a folder that 'fedkeel run' wrote")
    if not path.is_dir():
        raise InputError(f"'{path}' is a file: give the run folder that it lies in")
    if _has_ended(path):
        return [_read_run(path)]
    children = sorted((child for child in path.iterdir() if _has_ended(child)), key=_natural)
    if not children:
        raise NoRuns(_why_none(path))
    return [_read_run(child) for child in children]


def read_all(paths: Iterable[Path]) -> list[RunFolder]:
    """Read several folders in the order given; a run named twice counts once."""
    found: dict[Path, RunFolder] = {}
    for run in (run for path in paths for run in read(path)):
        found.setdefault(run.path.resolve(), run)
    return list(found.values())


def repeat_hint(path: Path) -> str:
    """Say what to do about a folder that cannot be used."""
    return f"repeat the run with 'fedkeel run {path / 'recipe.toml'}'"


def _has_ended(path: Path) -> bool:
    return (path / "summary.json").is_file()


def _natural(path: Path) -> list[tuple[int, str]]:
    """Order names as people do: s2 before s10."""
    parts = re.split(r"(\d+)", path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _why_none(path: Path) -> str:
    begun = next((p for p in (path, *path.iterdir()) if (p / "recipe.toml").is_file()), None)
    if begun is None:
        return (
            f"'{path}' holds no run: give a folder that 'fedkeel run' wrote, or one of such folders"
        )
    return f"'{path}' holds no finished run ('{begun}' has no summary.json): {repeat_hint(begun)}"


def _read_run(path: Path) -> RunFolder:
    return RunFolder(path, _read_recipe(path), _read_rounds(path), _read_summary(path))


def _text(file: Path, todo: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"'{file}' is missing: {todo}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"'{file}' cannot be read ({_brief(error)}): {todo}") from error


def _brief(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _read_recipe(path: Path) -> dict[str, Any]:
    file = path / "recipe.toml"
    todo = "restore it, or leave this folder out"
    try:
        recipe = tomllib.loads(_text(file, todo))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"'{file}' is damaged ({_brief(error)}): {todo}") from error
    for key in _TABLES:
        if not isinstance(recipe.get(key, {}), dict):
            raise InputError(f"'{file}' is damaged ('{key}' is not a table): {todo}")
    return recipe


def _read_summary(path: Path) -> dict[str, Any]:
    file = path / "summary.json"
    summary = _object(_text(file, repeat_hint(path)))
    if summary is None:
        raise InputError(f"'{file}' is damaged (not a JSON object): {repeat_hint(path)}")
    if summary.get("format", FORMAT) != FORMAT:
        raise InputError(
            f"'{file}' has format {summary['format']!r}: this version reads format {FORMAT}"
        )
    given = {key: kind for key, kind in _WHERE_GIVEN.items() if summary.get(key) is not None}
    for key, kind in {**_NEEDED, **given}.items():
        if not isinstance(summary.get(key), kind):
            raise InputError(f"'{file}' is damaged (no valid '{key}'): {repeat_hint(path)}")
    return summary


def _read_rounds(path: Path) -> list[dict[str, Any]]:
    file = path / "rounds.jsonl"
    lines = _text(file, repeat_hint(path)).splitlines()
    rounds = [_object(line) for line in lines]
    if rounds and rounds[-1] is None:  # cut in half when the machine went down
        rounds.pop()
    for number, line in enumerate(rounds, 1):
        if line is None or not isinstance(line.get("round"), int):
            raise InputError(f"'{file}' is damaged in line {number}: {repeat_hint(path)}")
    return [line for line in rounds if line is not None]


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
