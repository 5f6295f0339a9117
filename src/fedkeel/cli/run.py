"""``fedkeel run``: one run, from a recipe file and from keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import complete

if TYPE_CHECKING:
    from ..recipe import Job
    from ..session import Session

EXAMPLES = """\
fedkeel run method=gcfed data.alpha=0.05 rounds=50
fedkeel run recipe.toml seed=1 --out runs/second
fedkeel run method="clip(norm=5) + gcfed" --dry-run"""


def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RECIPE.toml] [KEY=VALUE]...",
            autocompletion=complete.keys,
            show_default=False,
            help="A recipe, and keys that win over it.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            show_default=False,
            help="A folder, absent or empty; else one of its own in runs/.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show the recipe, tensors centred, bytes, memory; write nothing."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object.")
    ] = False,
) -> None:
    """Run a method: a recipe, or keys over the defaults."""
    from ..recipe import build, resolve
    from .folders import default, free
    from .play import prepared, to_the_end

    recipe = resolve(*_sorted(words or []))
    if out is not None and not dry_run:
        free(out)
    job = build(recipe)
    session = prepared(job)
    if dry_run:
        _show(job, session, as_json)
    else:
        to_the_end(job, session, out or free(default(job.recipe)), as_json)


def _sorted(words: list[str]) -> tuple[Path | None, list[str]]:
    """Tell the recipe file from the KEY=VALUE words."""
    from ..errors import InputError

    files = [word for word in words if not _is_pair(word)]
    if len(files) > 1:
        raise InputError(f"'{files[1]}' is a second recipe file: give one, and keys as KEY=VALUE")
    return (Path(files[0]) if files else None), [word for word in words if _is_pair(word)]


def _is_pair(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and "/" not in key


def _show(job: Job, session: Session, as_json: bool) -> None:
    from . import preview

    facts = preview.facts(job, session)
    if as_json:
        print(json.dumps({"recipe": job.recipe.nested(), **facts._asdict()}))
    else:
        preview.write(job, facts)
