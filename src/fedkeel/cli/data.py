"""``fedkeel data``: the data sets there are, and how a partition spreads their labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import complete
from .help import Command

if TYPE_CHECKING:
    from rich.table import Table

    from ..recipe import Recipe

data = typer.Typer(help="Data sets, and how labels lie across clients.")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@data.command(name="list", cls=Command)
def listed(as_json: AsJson = False) -> None:
    """The data sets that have a name."""
    from ..data.sources import DATASETS

    entries = [{"name": name, **_entry(entry)} for name, entry in DATASETS.items()]
    if as_json:
        print(json.dumps(entries, indent=2))
    else:
        _print_list(entries)


@data.command(cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete.data,
            help="A data set, an .npz, or module:function.",
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
    from ..data import describe
    from ..errors import InputError
    from ..recipe import job, resolve
    from .picture import draw, kind

    if out is not None:
        kind(out)
    if "=" in name:
        raise InputError(
            f"'{name}' stands where a data set's name is wanted: fedkeel data show NAME KEY=VALUE"
        )
    recipe = resolve(None, [f"data.name={json.dumps(name)}", *(keys or [])])
    federation = job.build_federation(recipe)
    if federation.classes is None:
        raise InputError(f"{name} has targets that are not classes: there are no labels to show")
    facts = describe(federation)
    labels = federation.source.labels
    if out is not None:
        draw(facts["label_counts"], labels, out)
    if as_json:
        print(json.dumps(facts))
    else:
        _print(facts, labels, recipe)


def _entry(entry: Any) -> dict[str, Any]:
    return {key: value for key, value in entry._asdict().items() if key != "load"}


def _print_list(entries: list[dict[str, Any]]) -> None:
    from .console import output

    console = output(most=110)
    for entry in entries:
        shape = "x".join(map(str, entry["shape"]))
        console.print(f"[cyan]{entry['name']}[/]  {entry['title']}", highlight=False)
        console.print(
            f"  [dim]{entry['train']:,} + {entry['test']:,} samples of {shape}, "
            f"{entry['classes']} classes, {entry['owners']} natural owners · {entry['licence']}[/]",
            highlight=False,
        )
    console.print("\n[dim]Your own: a path to an .npz, or mymodule:function.[/]", highlight=False)


def _print(facts: dict[str, Any], labels: tuple[str, ...], recipe: Recipe) -> None:
    from .console import output
    from .picture import blocks

    console = output(most=160)
    how = (
        f"{facts['partition']}, alpha {recipe['data.alpha']:g}"
        if "data.alpha" in recipe.values
        else facts["partition"]
    )
    console.print(
        f"[bold]{facts['name']}[/] · {how} · {facts['clients']:,} clients, "
        f"{facts['samples']:,} samples, {facts['classes']} classes\n",
        highlight=False,
    )
    console.print(blocks(facts["label_counts"], labels, console.width))
    console.print(_metrics(facts))
    console.print(f"\n[dim]data and split {facts['hash']}[/]", highlight=False, soft_wrap=True)


_SAID = {
    "size": "samples",
    "entropy": "entropy of labels, over log(C)",
    "distinct": "distinct labels",
    "gini": "Gini of label counts",
    "kl": "KL to the whole, nats",
    "dominant": "share of the largest label",
}


def _metrics(facts: dict[str, Any]) -> Table:
    from statistics import fmean, median

    from rich.table import Table

    table = Table.grid(padding=(0, 3))
    table.add_column()
    for _ in range(4):
        table.add_column(justify="right")
    table.add_row(
        "[dim]of a client[/]", *(f"[dim]{head}[/]" for head in ("mean", "median", "least", "most"))
    )
    for key, said in _SAID.items():
        values = [value for value in facts["per_client"][key] if value is not None]
        if values:
            table.add_row(said, *(_number(f(values)) for f in (fmean, median, min, max)))
    pairwise = facts["metrics"]["pairwise"]
    if pairwise["mean"] is not None:
        spread = (pairwise["mean"], None, pairwise["min"], pairwise["max"])
        table.add_row(
            "distance of two clients' labels", *("" if v is None else _number(v) for v in spread)
        )
    return table


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"
