"""What ``fedkeel data show`` says of a split: how it was made, its picture, and its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from ..data import Federation
    from ..recipe import Recipe
    from ..results.partitions import Row, Split


def show(
    federation: Federation, recipe: Recipe, *, as_json: bool = False, out: Path | None = None
) -> None:
    """Print how different the clients of a split are, and draw it into a file if asked.

    Args:
        federation: The split.
        recipe: What it was made from.
        as_json: Print JSON and nothing else.
        out: Where to draw the picture.
    """
    from ..data.heterogeneity import describe, noisy_samples
    from .picture import draw

    if federation.classes is None:
        raise InputError(
            f"{federation.name} has targets that are not classes: there are no labels to show"
        )
    facts, labels = describe(federation), federation.source.labels
    if out is not None:
        draw(facts["label_counts"], labels, out, _split(facts, labels).noun)
    if as_json:
        print(json.dumps(facts))
    else:
        print_facts(facts, labels, recipe, noisy_samples(federation))


def print_facts(
    facts: Mapping[str, Any],
    labels: Sequence[str],
    recipe: Recipe,
    noisy: np.ndarray | None = None,
) -> None:
    """Print what ``describe`` found, for people to read.

    Args:
        facts: What ``describe`` returned.
        labels: The names of the labels; may be empty.
        recipe: What the split was made from.
        noisy: How many samples of each client are noisy, if any are.
    """
    from rich.text import Text

    from ..results import partitions
    from .console import output
    from .picture import blocks

    console = output(most=160)
    split = _split(facts, labels, noisy)
    console.print(Text(facts["name"], style="bold") + Text(f" · {dealt(recipe)}"))
    for line in (*noise(recipe), f"{partitions.size_of(split)}, {_kinds(split)}", ""):
        console.print(Text(line))
    console.print(blocks(facts["label_counts"], labels, console.width, split.noun))
    rows = list(partitions.rows(split, facts["per_client"]))
    console.print(_numbers(rows))
    meanings = partitions.meanings(split, [row.title for row in rows])
    wide = max((len(title) for title, _ in meanings), default=0)
    for line in ("", partitions.letters(split), *(f"{t:<{wide}}  {m}" for t, m in meanings), ""):
        console.print(Text(line, style="dim"))
    console.print(Text(f"data and split {facts['hash']}", style="dim"), soft_wrap=True)


def dealt(recipe: Recipe) -> str:
    """Say how a recipe deals samples out: the partition with all of its own keys, and the seed.

    Args:
        recipe: The recipe.
    """
    from ..recipe.keys import KEYS
    from ..results.words import plain

    partition, fixed = recipe["data.partition"], recipe["data.seed"]
    own = [key.name for key in KEYS if partition in key.partitions and key.name in recipe.values]
    said = [partition, *(f"{_last(key)} {plain(recipe[key])}" for key in own)]
    server = recipe["data.server"]
    kept = [f"the server keeps {plain(server)}"] if server else []
    return " · ".join([", ".join(said), *kept, f"seed {recipe['seed'] if fixed < 0 else fixed}"])


def noise(recipe: Recipe) -> list[str]:
    """Say what a recipe makes wrong on purpose, a line for each kind of noise that it asks for.

    Args:
        recipe: The recipe.
    """
    which = ", ".join(recipe["data.corruptions"]) or "all corruptions"
    foreign = ", ".join(map(str, recipe["data.foreign"]))
    lines = {
        "label_noise": f"{recipe['data.label_noise_kind']}",
        "open_set_noise": f"foreign: {foreign}",
        "attribute_noise": f"{which}, severity {recipe['data.severity']}",
    }
    return [
        f"{key.replace('_', ' ')} {_rate(recipe[f'data.{key}'])} ({how})"
        for key, how in lines.items()
        if recipe[f"data.{key}"] or (key == "open_set_noise" and foreign)
    ]


def _rate(rate: float | Sequence[float] | Mapping[str, float]) -> str:
    """Write a rate: one for all clients, one for each, or drawn between two."""
    if isinstance(rate, Mapping):
        return f"{rate['low']:g} to {rate['high']:g}"
    if isinstance(rate, Sequence):
        return f"{min(rate):g} to {max(rate):g}, one a client"
    return f"{rate:g}"


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _kinds(split: Split) -> str:
    from ..results.words import counted

    return counted(split.counts.shape[1], "label" if split.noun == "sample" else "symbol")


def _split(
    facts: Mapping[str, Any], labels: Sequence[str], noisy: np.ndarray | None = None
) -> Split:
    import numpy as np

    from ..results.partitions import Split

    counts = np.asarray(facts["label_counts"])
    whole = np.zeros(counts.shape[1])  # KL is known already
    return Split(counts, tuple(labels), np.asarray(facts["per_client"]["size"]), whole, noisy)


def _numbers(rows: Sequence[Row]) -> Table:
    from rich.table import Table

    from ..results.partitions import COLUMNS

    table = Table.grid(padding=(0, 3))
    table.add_column()
    for _ in COLUMNS:
        table.add_column(justify="right")
    table.add_row("[dim]of a client[/]", *(f"[dim]{head}[/]" for head in COLUMNS))
    for row in rows:
        table.add_row(row.title, *row.cells)
    return table
