"""Make the pictures of the docs, for light and dark, and the README's table of the demo.

    fedkeel demo
    python docs/images/make.py [runs/demo]

Every number in the README between the marks `demo:begin` and `demo:end` is written by this script.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from drawing import drawing

from fedkeel.cli.demo import SETTING
from fedkeel.results import figures, folders, palette, series, style, tables
from fedkeel.results.folders import RunFolder
from fedkeel.results.tables import Comparison, Row

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"
MARKED = re.compile(r"(<!-- demo:begin[^>]*-->\n).*?(<!-- demo:end -->)", re.S)
NAMES = {"fedavg": "FedAvg", "localgc": "LocalGC", "globalgc": "GlobalGC", "gcfed": "GC-Fed"}


def main(demo: Path) -> None:
    """Draw the round; draw and tell the demo where there is one."""
    for scheme in ("light", "dark"):
        write(f"round-{scheme}.svg", drawing(colors(scheme)))
    if not demo.is_dir():
        print(f"{demo} is not there: run 'fedkeel demo' first, then this again")
        return
    runs = folders.read(demo)
    compared = tables.compare(runs)
    curves = drawn(compared)
    for scheme in ("light", "dark"):
        write(f"demo-{scheme}.svg", figures.standalone(curves).replace(style.COLORS, root(scheme)))
    text = README.read_text(encoding="utf-8")
    told = MARKED.sub(lambda found: found[1] + section(runs, compared) + found[2], text)
    README.write_text(told, encoding="utf-8")


def write(name: str, text: str) -> None:
    """Write a picture beside this script."""
    (HERE / name).write_text(text, encoding="utf-8")


def colors(scheme: str) -> dict[str, str]:
    """Return the report's colours for light or dark, by name."""
    light, _, dark = style.COLORS.partition("@media")
    found = re.findall(r"(--\w+): (#\w+)", light if scheme == "light" else dark)
    return dict(found)


def root(scheme: str) -> str:
    """Return the colours as a style sheet that does not ask what the reader prefers."""
    return f":root{{{';'.join(f'{k}:{v}' for k, v in colors(scheme).items())}}}"


def drawn(compared: Comparison) -> str:
    """Draw the demo's curves as its report has them."""
    tints = palette.choose(
        [run for row in compared.rows for run in row.group.runs], compared.baseline
    )
    return figures.curves(
        [
            series.of_runs(
                NAMES.get(row.group.method, row.group.method),
                row.group.runs,
                color=tints.of(row.group),
            )
            for row in compared.rows
        ]
    )


def section(runs: Sequence[RunFolder], compared: Comparison) -> str:
    """Write the README's table, and where its numbers come from."""
    head = "| method | final accuracy, % | difference to FedAvg |\n| --- | --- | --- |\n"
    order = list(NAMES)
    rows = sorted(compared.rows, key=lambda row: order.index(row.group.method))
    return head + "".join(map(line, rows)) + "\n" + origin(runs) + "\n"


def line(row: Row) -> str:
    """Write one row; the numbers are percent, the spread is over seeds."""
    method, paired = row.group.method, row.paired
    reached = f"{100 * row.mean:.1f} ± {100 * (row.std or 0):.1f}"
    gained = f"{100 * paired.difference:+.1f} ± {100 * (paired.std or 0):.1f}" if paired else ""
    return f"| {NAMES.get(method, method)} | {reached} | {gained} |\n"


def origin(runs: Sequence[RunFolder]) -> str:
    """Say how the numbers were made: command, setting, seeds, hardware, versions."""
    seeds = ", ".join(str(seed) for seed in sorted({run.seed for run in runs}))
    versions = ", ".join(f"{k} {v}" for k, v in runs[0].summary["versions"].items())
    said = {key.rpartition(".")[2]: value for key, value in SETTING.items()}
    return (
        f"`fedkeel demo`: {SETTING['data.name']} (62 classes), {said['clients']} clients, "
        f"Dirichlet({said['alpha']}), {said['cohort']} clients a round, {said['rounds']} rounds, "
        f"{said['epochs']} local epochs, lr {said['lr']}, "
        f"{SETTING['model.name']} {said.get('hidden', '')}.\n"
        f"Mean and standard deviation over seeds {seeds}; accuracy is the mean of the last ten "
        "rounds; differences are paired by seed.\n"
        f"Run on {os.cpu_count()} CPU cores ({processor()}), "
        f"Python {platform.python_version()}, {versions}.\n"
    )


def processor() -> str:
    """Name the processor."""
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/demo"))
