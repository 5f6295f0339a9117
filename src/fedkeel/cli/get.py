"""``fedkeel data get``: a data set onto this machine, with a bar while it comes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import complete

if TYPE_CHECKING:
    from rich.console import Console

    from ..data.sets.arrival import Remote
    from ..data.sets.entry import Entry
    from ..data.sets.obtain import Begin, Obtained

EXAMPLES = """\
fedkeel data get cifar10
fedkeel data get cifar10 --from Downloads/cifar-10-python.tar.gz
fedkeel data get femnist --from femnist_writers.npz"""

_log = logging.getLogger(__name__)


def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", autocompletion=complete.data, help="A data set of fedkeel data list."
        ),
    ],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="PATH",
            show_default=False,
            help="An archive, a folder or an .npz that you have.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fetch a data set, check it and store it; nothing is fetched during a run."""
    from ..data.sets.catalogue import known
    from ..data.sets.obtain import obtain

    entry = known(name)
    with _shown(source) as begin:
        obtained = obtain(entry, source, begin)
    facts = _facts(entry, obtained)
    if as_json:
        print(json.dumps(facts))
    else:
        _print(facts, obtained)
    if obtained.before and source is not None and facts["path"] is not None:
        _log.warning("it was there before, and --from was not read: to store anew, remove it first")


@contextmanager
def _shown(source: Path | None) -> Iterator[Begin]:
    """Show at a terminal that something is being done; say a line for each file elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _line
    elif source is not None:
        with console.status(f"reading {source}"):
            yield _line
    else:
        with _bars(console) as begin:
            yield begin


@contextmanager
def _bars(console: Console) -> Iterator[Begin]:
    """Show a bar for each file that is fetched."""
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as progress:

        def begin(remote: Remote) -> Callable[[int, int | None], None]:
            task = progress.add_task(remote.file, total=remote.size)
            return lambda done, total: progress.update(task, completed=done, total=total)

        yield begin


def _line(remote: Remote) -> Callable[[int, int | None], None]:
    _log.info("fetching %s", remote.url)
    return lambda done, total: None


def _facts(entry: Entry, obtained: Obtained) -> dict[str, Any]:
    from ..data.sets.places import arrays

    raw = arrays(entry, obtained.place)
    return {
        "name": entry.name,
        "path": None if entry.packaged else str(obtained.place.path),
        "here_before": obtained.before,
        "train": len(raw.x_train),
        "test": 0 if raw.x_test is None else len(raw.x_test),
        "classes": len(raw.labels) or entry.classes,
        "shape": list(entry.shape),
        "owners": 0 if raw.owner is None else len(set(raw.owner.tolist())),
    }


def _print(facts: dict[str, Any], obtained: Obtained) -> None:
    from ..results.words import counted
    from .console import output

    shape = "x".join(map(str, facts["shape"]))
    owners = f", {counted(facts['owners'], 'natural owner')}" if facts["owners"] else ""
    lines = (
        f"{facts['name']}  {facts['train']:,} + {facts['test']:,} samples of {shape}, "
        f"{facts['classes']} classes{owners}",
        "comes with the package"
        if facts["path"] is None
        else f"{'already at' if obtained.before else 'stored at'} {facts['path']}",
    )
    for line in lines:
        output().print(line, markup=False, highlight=False, soft_wrap=True)
