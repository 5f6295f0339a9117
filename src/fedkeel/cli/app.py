"""The commands put together; what they need is imported when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from .compare import compare
from .data import data
from .demo import demo
from .help import Command, CommandWithKeys, Group
from .methods import methods
from .report import report
from .run import EXAMPLES, run
from .verify import verify

_START, _RUN, _LOOK = "Start", "Run", "Look closer"
_COMPARE = "Mean ± std over seeds, and paired tests."
_REPORT = "One page about runs, to keep or to send."

app = typer.Typer(
    name="fedkeel",
    cls=Group,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"fedkeel {__version__}")
        raise typer.Exit


@app.callback()
def fedkeel(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks; before or after a command.")
    ] = False,
) -> None:
    """Federated learning where a method is written once and runs any way."""


app.command(cls=Command, rich_help_panel=_START)(demo)
app.command(cls=Command, rich_help_panel=_START)(methods)
app.command(cls=CommandWithKeys, rich_help_panel=_RUN, epilog=EXAMPLES)(run)
app.command(cls=Command, rich_help_panel=_RUN, short_help=_COMPARE)(compare)
app.command(cls=Command, rich_help_panel=_RUN, short_help=_REPORT)(report)
app.add_typer(data, name="data", cls=Group, rich_help_panel=_LOOK)
app.command(cls=Command, rich_help_panel=_LOOK)(verify)
