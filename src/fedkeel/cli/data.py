"""``fedkeel data``: the data sets there are, and how a partition spreads their labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from . import complete, sets
from .get import EXAMPLES, get
from .help import Command

data = typer.Typer(help="Data sets, and how labels lie across clients.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


data.command(name="get", cls=Command, epilog=EXAMPLES)(get)


@data.command(name="list", cls=Command)
def listed(as_json: AsJson = False) -> None:
    """The data sets that have a name, and which of them are on this machine."""
    from ..data.sets.catalogue import DATASETS

    entries = [sets.facts(entry) for entry in DATASETS.values()]
    if as_json:
        print(json.dumps(entries, indent=2))
    else:
        sets.write(entries)


@data.command(cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete.data,
            help="A data set, a path, or module:function.",
        ),
    ],
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...", show_default=False, help="As data.alpha=0.05 data.clients=20."
        ),
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.svg|FILE.png", show_default=False, help="Draw the picture there."
        ),
    ] = None,
) -> None:
    """How different the clients of a partition are: numbers and a picture."""
    from ..errors import InputError
    from ..recipe import job, resolve
    from . import show as told
    from .picture import kind

    if out is not None:
        kind(out)
    if "=" in name:
        raise InputError(
            f"'{name}' stands where a data set's name is wanted: fedkeel data show NAME KEY=VALUE"
        )
    words = keys or []
    for word in words:
        if "=" not in word:
            raise InputError(f"'{word}' is not KEY=VALUE: data show takes keys alone after NAME")
        if word.partition("=")[0].strip() == "data.name":
            raise InputError(f"{word} cannot go with NAME, which is '{name}': leave it out")
    recipe = resolve(None, [f"data.name={json.dumps(name)}", *words])
    told.show(job.build_federation(recipe), recipe, as_json=as_json, out=out)
