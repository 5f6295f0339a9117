"""``fedkeel report``: one self-contained page about some runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def report(
    dirs: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Run folders, or folders of run folders.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Replaced only if fedkeel wrote it.")
    ] = Path("report.html"),
) -> None:
    """Write one page: curves, a table, how labels lie, and the command to repeat each run."""
    from ..results import Refused, folders, page

    try:
        written = page.report(folders.read_all(dirs), out)
    except Refused as refusal:
        print(f"fedkeel: {refusal}", file=sys.stderr)
        raise typer.Exit(1) from refusal
    print(written)
