"""Playing a run on the command line: progress while it lasts, a summary at its end."""

from __future__ import annotations

import json
import logging
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Diverged
from .endings import Interrupted

if TYPE_CHECKING:
    from ..engines.choice import Graphs
    from ..listeners.progress import Progress
    from ..recipe import Job
    from ..session import Session

_log = logging.getLogger(__name__)


def prepared(job: Job, graphs: Graphs | None = None) -> Session:
    """Check that everything fits together, and choose how to run it."""
    from ..session import prepare

    session = prepare(job.algorithm, job.task, job.federation, job.settings, graphs)
    return replace(session, resolved={"method": job.method_resolved, **session.resolved})


def to_the_end(job: Job, session: Session, folder: Path, as_json: bool) -> None:
    """Run with a display, and print the summary, whatever the end is."""
    from ..listeners.progress import Planned, Progress

    _log.info("writing to %s", folder)
    label = f"{job.recipe['method']} · seed {job.recipe['seed']}"
    try:
        with Progress([Planned(label, job.recipe["rounds"])]) as progress:
            play(job, session, folder, progress)
    finally:
        _close(folder, as_json)


def play(job: Job, session: Session, folder: Path, progress: Progress) -> None:
    """Run one job into a folder, each round shown as it ends."""
    from ..session import follow

    progress.start()
    number = 0
    try:
        played = follow(session, folder, job.recipe.nested())
        with closing(played) as rounds:
            for round in rounds:
                number = round.number
                progress.show(round)
    except Diverged as error:
        where = f"{error.detail}; everything up to there is in {folder}"
        raise Diverged(error.round, where) from error
    except KeyboardInterrupt as error:
        where = (
            f"{str(error) or 'interrupted'} after round {number}; everything so far is in {folder}"
        )
        raise Interrupted(where) from error


def _close(folder: Path, as_json: bool) -> None:
    """Print what a run came to, if it came far enough to say."""
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    if as_json:
        print(json.dumps({**summary, "out": str(folder)}))
    else:
        _print(summary, folder)


def _print(summary: dict[str, Any], folder: Path) -> None:
    from ..results.words import duration
    from .console import output

    scores = {name: value for name, value in summary["accuracy"].items() if value is not None}
    name = "" if summary["metric"] == "accuracy" else f"{summary['metric']} "
    said = "   ".join(f"{key} [bold]{_score(value, summary)}[/]" for key, value in scores.items())
    rounds, seconds = summary["rounds"], summary["seconds"]["total"]
    console = output()
    console.print(f"{name}{said}   [dim]{rounds} rounds in {duration(seconds)}[/]", highlight=False)
    console.print(str(folder), markup=False, highlight=False, soft_wrap=True)


def _score(value: float, summary: dict[str, Any]) -> str:
    return f"{100 * value:.1f} %" if summary["metric"] == "accuracy" else f"{value:.4g}"
