"""Which client holds which labels, drawn with blocks at a terminal or into a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from rich.text import Text

_SHADES = " ·░▒▓█"
_LEVELS = (0.0, 0.02, 0.08, 0.2, 0.45)  # a cell gets the shade of the last share that it exceeds
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_ROWS = 32  # more labels than that are drawn as sums of neighbours
_WIDEST = 4  # columns of a client where there are few
_KINDS = (".svg", ".png")
_FULL, _LEAST, _LEFT, _EACH = 960.0, 480.0, 120.0, 44.0  # a file's width, and what clients take


def kind(path: Path) -> str:
    """Return how a picture's file is to be written, by its ending."""
    if path.suffix.lower() not in _KINDS:
        raise InputError(f"--out {path}: a picture ends in {' or '.join(_KINDS)}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"--out {path}: there is no folder {path.absolute().parent}")
    return path.suffix.lower()


def draw(
    counts: Sequence[Sequence[int]], labels: Sequence[str], path: Path, noun: str = "sample"
) -> None:
    """Write the picture as SVG, for light and dark, or as PNG.

    Args:
        counts: Of each label at each client.
        labels: The labels' names; may be empty.
        path: Where to; its ending says how.
        noun: What is counted.
    """
    import numpy as np

    from ..results.figures import label_picture, standalone

    width = min(_FULL, max(_LEAST, _LEFT + _EACH * len(counts)))
    figure = label_picture(np.asarray(counts), labels, width=width, noun=noun)
    try:
        if kind(path) == ".png":
            from .painting import paint

            paint(figure, path)
        else:
            path.write_text(standalone(figure), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {path} cannot be written: {error.strerror}") from error


def blocks(
    counts: Sequence[Sequence[int]], labels: Sequence[str], width: int, noun: str = "sample"
) -> Text:
    """Draw a row for each label and a column for each client, darker where it holds more of it.

    Clients stand in the order of their most frequent label, those without samples last; where
    there are more than columns, evenly spaced ones are shown.

    Args:
        counts: Of each label at each client.
        labels: The labels' names; may be empty.
        width: How many columns there are.
        noun: What is counted.
    """
    import numpy as np
    from rich.cells import cell_len
    from rich.text import Text

    from ..results.dots import merged, named, order

    held = np.asarray(counts)
    ranked = held[order(held)]
    rows, names = merged(ranked, named(labels, held.shape[1]), _ROWS)
    margin = max(map(cell_len, names)) + 2
    places, wide = _columns(len(held), max(10, width - margin - len(f"  {noun}s")))
    text = Text()
    text.append(f"{'':>{margin}}{_sizes(ranked.sum(axis=1), places, wide)}", style="dim")
    text.append(f"  {noun}s\n", style="dim")
    for row, name in zip(_shares(rows[places]).T, names, strict=True):
        text.append(" " * (margin - 1 - cell_len(name)) + f"{name} ", style="dim")
        text.append("".join(_shade(share) * wide for share in row) + "\n", style="cyan")
    text.append(f"\n{_key(len(places), len(held))}\n", style="dim")
    return text


def _columns(clients: int, room: int) -> tuple[np.ndarray, int]:
    """Return the places of the clients that fit, evenly spaced, and how wide each may be."""
    import numpy as np

    if clients <= room:
        return np.arange(clients), max(1, min(_WIDEST, room // clients))
    return np.linspace(0, clients - 1, room).round().astype(int), 1


def _shares(held: np.ndarray) -> np.ndarray:
    total = held.sum(axis=1, keepdims=True)
    shares: np.ndarray = held / total.clip(min=1)
    return shares


def _shade(share: float) -> str:
    return _SHADES[sum(share > level for level in _LEVELS)]


def _sizes(sizes: np.ndarray, places: np.ndarray, wide: int) -> str:
    """Draw how much each client shown holds, against the largest of all; nothing for nothing."""
    top, steps = max(int(sizes.max()), 1), len(_HEIGHTS) - 1
    heights = -(-sizes[places] * steps // top)  # rounded up: what is not zero is seen
    return "".join(_HEIGHTS[height] * wide for height in heights)


def _key(shown: int, clients: int) -> str:
    some = f"{shown} of {clients:,} clients" if shown < clients else f"{clients:,} clients"
    levels = zip(_SHADES[1:], _LEVELS, strict=True)
    shares = "  ".join(f"{shade} >{100 * level:.0f}" for shade, level in levels)
    return f"{shares} % of what a client holds\n{some}, by commonest label"
