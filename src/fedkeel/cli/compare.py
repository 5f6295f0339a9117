"""``fedkeel compare``: what methods reached, over seeds, beside a baseline."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..results.folders import RunFolder

_log = logging.getLogger(__name__)


def compare(
    dirs: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Run folders, or folders of run folders.")
    ],
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="final, last, best, or a number of summary.json.")
    ] = "final",
    baseline: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="Measured against it; fedavg where it is among them."),
    ] = None,
    format: Annotated[str, typer.Option(metavar="text|json", help="A table, or JSON.")] = "text",
) -> None:
    """Compare runs: mean ± std over seeds, and paired tests against a baseline."""
    from ..results import Refused, tables

    tables.check_format(format)
    try:
        compared = tables.compare(_read(dirs), metric, baseline)
    except Refused as refusal:
        print(f"fedkeel: {refusal}", file=sys.stderr)
        raise typer.Exit(1) from refusal
    for notice in compared.notices:
        _log.warning("%s", notice)
    if format == "json":
        print(tables.to_json(compared))
    else:
        tables.write(compared, sys.stdout)


def _read(dirs: list[Path]) -> list[RunFolder]:
    """Read all folders; nothing at all is refused, an empty one among others is wrong input."""
    from ..results import Refused, folders

    try:
        return folders.read_all(dirs)
    except folders.NoRuns as nothing:
        if len(dirs) > 1:
            raise
        raise Refused(f"no finished run to compare: {nothing}") from nothing
