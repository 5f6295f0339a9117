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
_HEIGHTS = "▁▂▃▄▅▆▇█"
_ROWS = 32  # more labels than that are drawn as sums of neighbours
_KINDS = (".svg", ".png")


def kind(path: Path) -> str:
    """Return how a picture's file is to be written, by its ending."""
    if path.suffix.lower() not in _KINDS:
        raise InputError(f"--out {path}: a picture ends in {' or '.join(_KINDS)}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"--out {path}: there is no folder {path.absolute().parent}")
    return path.suffix.lower()


def draw(counts: Sequence[Sequence[int]], labels: Sequence[str], path: Path) -> None:
    """Write the picture as SVG or PNG."""
    import numpy as np

    held = np.asarray(counts)
    if kind(path) == ".png":
        _png(held, labels, path)
        return
    from ..results.dots import label_picture
    from ..results.figures import standalone

    path.write_text(standalone(label_picture(held, labels)), encoding="utf-8")


def blocks(counts: Sequence[Sequence[int]], labels: Sequence[str], width: int) -> Text:
    """Draw a row for each label and a column for each client, darker where it holds more of it.

    Clients stand in the order of their most frequent label; where there are more than columns,
    evenly spaced ones are shown.
    """
    import numpy as np
    from rich.text import Text

    from ..results.dots import merged, order

    held = np.asarray(counts)
    names = list(labels) if len(labels) == held.shape[1] else [str(i) for i in range(held.shape[1])]
    held, names = merged(held, names, _ROWS)
    margin = max(map(len, names)) + 2
    ranked = held[order(held)]
    shown, wide = _columns(ranked, max(10, width - margin - 1))
    text = Text()
    text.append(f"{'':>{margin}}{_sizes(shown, wide)}  ", style="dim")
    text.append("samples\n", style="dim")
    for row, name in zip(_shares(shown).T, names, strict=True):
        text.append(f"{name:>{margin - 1}} ", style="dim")
        text.append("".join(_shade(share) * wide for share in row) + "\n", style="cyan")
    text.append(f"\n{'':>{margin}}{_key(len(shown), len(held))}\n", style="dim")
    return text


def _columns(ranked: np.ndarray, room: int) -> tuple[np.ndarray, int]:
    """Return the clients that fit, evenly spaced in their order, and how wide each may be."""
    import numpy as np

    room -= len("  samples")
    if len(ranked) <= room:
        return ranked, max(1, min(4, room // len(ranked)))
    return ranked[np.linspace(0, len(ranked) - 1, room).round().astype(int)], 1


def _shares(held: np.ndarray) -> np.ndarray:
    total = held.sum(axis=1, keepdims=True)
    shares: np.ndarray = held / total.clip(min=1)
    return shares


def _shade(share: float) -> str:
    return _SHADES[sum(share > level for level in _LEVELS)]


def _sizes(held: np.ndarray, wide: int) -> str:
    sizes = held.sum(axis=1)
    top = max(int(sizes.max()), 1)
    return "".join(
        _HEIGHTS[min(int(size / top * len(_HEIGHTS)), len(_HEIGHTS) - 1)] * wide for size in sizes
    )


def _key(shown: int, clients: int) -> str:
    some = f"{shown} of {clients:,} clients" if shown < clients else f"{clients} clients"
    levels = zip(_SHADES[1:], _LEVELS, strict=True)
    shares = "  ".join(f"{shade} >{100 * level:.0f}" for shade, level in levels)
    return f"{some}, by commonest label   {shares} %"


def _png(counts: np.ndarray, labels: Sequence[str], path: Path) -> None:
    from matplotlib.figure import Figure

    from ..results.dots import order

    figure = Figure(figsize=(10, 6), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        _shares(counts[order(counts)]).T, aspect="auto", cmap="Blues", interpolation="nearest"
    )
    axes.set_xlabel("clients, by their commonest label")
    axes.set_ylabel("label")
    if len(labels) == counts.shape[1]:
        axes.set_yticks(range(len(labels)), labels, fontsize=6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.colorbar(image, ax=axes, label="share of the client's samples")
    figure.savefig(path)
