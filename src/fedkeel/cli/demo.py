"""``fedkeel demo``: four methods on the embedded data set, three seeds each, in a minute."""

from __future__ import annotations

import logging
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..engines.choice import Graphs
    from ..recipe import Recipe

# The setting: few clients a round, strong label skew, a small network.
SETTING = {
    "model.name": "mlp",
    "model.hidden": "[128, 128]",
    "data.name": "femnist-mini",
    "data.clients": "100",
    "data.alpha": "0.1",
    "cohort": "5",
    "rounds": "30",
    "local.epochs": "5",
    "local.lr": "0.02",
    "local.momentum": "0.9",
    "run.device": "cpu",  # a network as small as this is no faster on a GPU
}
METHODS = ("fedavg", "localgc", "globalgc", "gcfed")
SEEDS = (0, 1, 2)

_MARK = ".fedkeel-demo"
_log = logging.getLogger(__name__)


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="An earlier demo there is replaced.")
    ] = Path("runs/demo"),
) -> None:
    """See it work: four methods, three seeds, one report, in a minute."""
    _claim(out)
    _say(out)
    _run_all(out)
    _show(out)


def recipes() -> list[Recipe]:
    """Return the demo's runs, a method after the other."""
    from ..recipe import resolve

    setting = [f"{key}={value}" for key, value in SETTING.items()]
    return [
        resolve(None, [*setting, f"method={method}", f"seed={seed}"])
        for method in METHODS
        for seed in SEEDS
    ]


def _claim(folder: Path) -> None:
    """Make the folder empty, if there is nothing in it that another has put there."""
    from ..errors import InputError

    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"--out {folder} is a file: name a folder that is absent, empty or an earlier demo's"
        )
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / _MARK).is_file():
            way = "name one that is absent, empty or an earlier demo's"
            raise InputError(f"--out {folder} holds something that is not the demo's: {way}")
        for child in folder.iterdir():
            _remove(child)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).write_text("fedkeel demo replaces this folder\n", encoding="utf-8")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _say(folder: Path) -> None:
    first = SETTING
    _log.info(
        "FedAvg, LocalGC, GlobalGC and GC-Fed on %s, three seeds each\n"
        "%s clients, Dirichlet(%s), %s clients a round, %s rounds",
        first["data.name"],
        first["data.clients"],
        first["data.alpha"],
        first["cohort"],
        first["rounds"],
    )
    _log.info("writing to %s\n", folder)


def _run_all(folder: Path) -> None:
    from ..listeners.progress import Planned, Progress
    from ..recipe import build
    from .play import play, prepared

    plan = recipes()
    shown = [
        Planned(f"{recipe['method']} · seed {recipe['seed']}", recipe["rounds"]) for recipe in plan
    ]
    graphs: Graphs = {}  # the seeds of a method share its traced step
    with Progress(shown) as progress:
        for recipe in plan:
            job = build(recipe)
            where = folder / f"{recipe['method']}-s{recipe['seed']}"
            play(job, prepared(job, graphs), where, progress)


def _show(folder: Path) -> None:
    from ..results import folders, page, tables

    runs = folders.read(folder)
    compared = tables.compare(runs, "final", None)
    print()
    tables.write(compared, sys.stdout)
    written = page.report(runs, folder / "report.html")
    print(f"\nThe report, with curves and the command to repeat each run: {written}")
