"""``fedkeel verify``: every method proven right on this machine."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import complete

if TYPE_CHECKING:
    from ..testing.conformance import Check


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            autocompletion=complete.methods,
            show_default=False,
            help="These alone; else every one.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Prove methods right on this machine."""
    from ..names import METHODS, find

    chosen = [find("method", name.lower(), METHODS).name for name in names or []]
    from ..testing.conformance import verify as checks

    done = []
    for check in checks(chosen or [method.name for method in METHODS]):
        done.append(check)
        if not as_json:
            print(_line(check), flush=True)
    failed = sum(not check.passed for check in done)
    _finish(done, failed, as_json)
    if failed:
        raise typer.Exit(1)


def _line(check: Check) -> str:
    error = "" if check.error is None else f"{check.error:.1e}"
    mark = "ok  " if check.passed else "FAIL"
    line = f"{mark}  {check.method:<20}  {check.check:<42}  {error}".rstrip()
    return line if check.passed else f"{line}  {check.detail}".rstrip()


def _finish(done: list[Check], failed: int, as_json: bool) -> None:
    passed = len(done) - failed
    if as_json:
        checks: list[dict[str, Any]] = [_object(check) for check in done]
        print(json.dumps({"passed": passed, "failed": failed, "checks": checks}))
    else:
        print(f"{passed} passed, {failed} failed")


def _object(check: Check) -> dict[str, Any]:
    finite = check.error is not None and isfinite(check.error)
    return {**check._asdict(), "error": check.error if finite else None}
