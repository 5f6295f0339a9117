"""The list of data sets: what each is, and whether it is on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data.sets.entry import Entry

_KEYS = ("name", "title", "train", "test", "classes", "shape", "owners", "licence")


def facts(entry: Entry) -> dict[str, Any]:
    """Return what was published of a data set, None where its maker decides, and where it lies."""
    from ..data.sets.places import find

    place = find(entry)
    return {
        **{key: getattr(entry, key) for key in _KEYS},
        "here": place is not None,
        "as": place.kind if place else None,
        "path": str(place.path) if place else None,
    }


def write(entries: list[dict[str, Any]]) -> None:
    """Print the list, those on this machine marked."""
    from rich.table import Table
    from rich.text import Text

    from ..data.sets.places import folders, shown
    from .console import output

    table = Table.grid(padding=(0, 2))
    for entry in entries:
        mark = Text("● ", "green") if entry["here"] else Text("○ ", "dim")
        lines = Text("\n").join([Text(entry["title"]), *(Text(w, "dim") for w in _lines(entry))])
        table.add_row(mark + Text(entry["name"], "cyan"), lines)
    notes = (
        f"● is here; 'fedkeel data get NAME' stores a data set in {shown(folders()[0])}",
        "Your own: a path to an .npz or to a folder of class folders, or mymodule:function",
    )
    console = output(most=110)
    console.print(table)
    console.print(Text("\n" + "\n".join(notes), "dim"))


def _lines(entry: dict[str, Any]) -> list[str]:
    from ..data.sets.places import shown

    path = entry["path"] if entry["as"] != "package" else None
    return [_counts(entry), entry["licence"], *([shown(Path(path))] if path else [])]


def _counts(entry: dict[str, Any]) -> str:
    shape = "x".join(map(str, entry["shape"]))
    many = "" if entry["train"] is None else f"{entry['train']:,} + {entry['test']:,} "
    owned = {None: ", natural owners", 0: ""}.get(entry["owners"], f", {entry['owners']} owners")
    return f"{many}samples of {shape}, {entry['classes']} classes{owned}"
