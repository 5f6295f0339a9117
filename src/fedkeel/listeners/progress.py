"""What is happening: a live display at a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .signs import clock, sparkline

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table

_EVERY = 10.0  # seconds between two lines, without a terminal
_NUMBERS = 44  # columns that round, accuracy, time and the gaps take
_LEAST = 10  # columns that a curve has at least
_log = logging.getLogger(__name__)


class Planned(NamedTuple):
    """A run that is to come."""

    label: str
    rounds: int


class Seen(Protocol):
    """What the display wants to know of a finished round."""

    @property
    def number(self) -> int:
        """Its number, 0 for the initial model."""
        ...

    @property
    def accuracy(self) -> float | None:
        """The test accuracy, if it was evaluated."""
        ...


@dataclass
class _Line:
    """One run of the plan, and how far it is."""

    label: str
    rounds: int
    done: int = -1  # no round yet, not even the initial model
    curve: list[float] = field(default_factory=list)
    started: float = 0.0
    ended: float = 0.0

    @property
    def accuracy(self) -> str:
        return f"{100 * self.curve[-1]:.1f} %" if self.curve else ""


class Progress:
    """A display of one run, or of many after each other.

    Use it as a context, call :meth:`start` before a run and :meth:`show` with each of its rounds.
    """

    def __init__(self, plan: Sequence[Planned], console: Console | None = None) -> None:
        """Plan the runs; the console is standard error unless another is given."""
        from rich.console import Console

        self._lines = [_Line(label, rounds) for label, rounds in plan]
        self._console = console or Console(stderr=True)
        self._live: Live | None = None
        self._current = -1
        self._said = self._began = time.monotonic()

    def __enter__(self) -> Progress:
        """Begin to show."""
        self._said = self._began = time.monotonic()
        if self._console.is_terminal:
            from rich.live import Live

            self._live = Live(
                console=self._console, get_renderable=self._render, refresh_per_second=8
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the last state on the screen."""
        if self._live:
            self._live.stop()

    def start(self) -> None:
        """Go on to the next run of the plan."""
        self._current += 1
        self._lines[self._current].started = time.monotonic()

    def show(self, round: Seen) -> None:
        """Take in a finished round of the current run."""
        line, now = self._lines[self._current], time.monotonic()
        line.done = round.number
        if round.accuracy is not None:
            line.curve.append(round.accuracy)
        if line.done == line.rounds:
            line.ended = now
        if self._live is None and (now - self._said >= _EVERY or line.done == line.rounds):
            self._said = now
            _log.info(self._spoken(line))

    def _spoken(self, line: _Line) -> str:
        many = f"run {self._current + 1} of {len(self._lines)}, " if len(self._lines) > 1 else ""
        accuracy = f", accuracy {line.accuracy}" if line.curve else ""
        left = f", {self._left()}" if self._left() else ""
        return f"{many}{line.label}: round {line.done} of {line.rounds}{accuracy}{left}"

    def _left(self) -> str:
        """Say how long the rest will take, judged by the rounds so far."""
        done = sum(max(line.done, 0) for line in self._lines)
        rest = sum(line.rounds for line in self._lines) - done
        if not done or not rest:
            return ""
        return f"{clock((time.monotonic() - self._began) / done * rest)} left"

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.padding import Padding

        parts: list[RenderableType] = [self._table()]
        if any(not line.ended for line in self._lines):
            parts.append(Padding(self._bar(), (1 if len(self._lines) > 1 else 0, 0, 0, 0)))
        return Padding(Group(*parts), (0, 1))

    def _table(self) -> Table:
        from rich.table import Table

        room = max(20, self._console.width - _NUMBERS)
        names = min(max(len(line.label) for line in self._lines), room - _LEAST)
        curve = min(40, room - names)
        table = Table.grid(padding=(0, 2))
        table.add_column(width=1)
        table.add_column(width=names, no_wrap=True, overflow="ellipsis")
        table.add_column(width=curve, style="cyan", no_wrap=True)
        for _ in range(3):
            table.add_column(justify="right", no_wrap=True)
        for line in self._fitting():
            table.add_row(*self._row(line, curve), style="" if line.started else "dim")
        return table

    def _fitting(self) -> list[_Line]:
        """Return as many runs as the terminal is high, around the current one."""
        room = max(1, self._console.height - 4)
        first = max(0, min(self._current - room // 2, len(self._lines) - room))
        return self._lines[first : first + room]

    def _row(self, line: _Line, width: int) -> tuple[str, ...]:
        if line.ended:
            mark, seconds = "[green]✓[/]", f"{line.ended - line.started:.1f} s"
        elif line.started:
            mark, seconds = "[cyan]●[/]", f"{time.monotonic() - line.started:.1f} s"
        else:
            return ("·", line.label, "", "", "", "")
        rounds = f"round {max(line.done, 0)}/{line.rounds}"
        top = max(
            (max(other.curve) for other in self._lines if other.curve), default=0.0
        )  # one scale for all
        return mark, line.label, sparkline(line.curve, width, top), rounds, line.accuracy, seconds

    def _bar(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        total = sum(line.rounds for line in self._lines)
        done = sum(max(line.done, 0) for line in self._lines)
        bar = ProgressBar(
            total=max(total, 1), completed=done, width=min(60, self._console.width - 34)
        )
        many = (
            f"run {max(self._current, 0) + 1} of {len(self._lines)}" if len(self._lines) > 1 else ""
        )
        grid = Table.grid(padding=(0, 2))
        grid.add_row(*([many] if many else []), bar, f"[dim]{self._left()}[/]")
        return grid
