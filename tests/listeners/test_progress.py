"""What is shown while runs go on."""

from __future__ import annotations

import io
import logging
from typing import NamedTuple

import pytest
from rich.console import Console

from fedkeel.listeners.progress import Planned, Progress
from fedkeel.listeners.signs import clock, sparkline


class Seen(NamedTuple):
    number: int
    accuracy: float | None


def screen(columns: int, lines: int = 30) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=columns, height=lines, color_system=None
    )


def play(progress: Progress, rounds: int) -> None:
    progress.start()
    for number in range(rounds + 1):
        progress.show(Seen(number, number / 10 if number % 2 == 0 else None))


def shown(progress: Progress, console: Console) -> list[str]:
    other = screen(console.width, console.height)
    other.print(progress._render())
    assert isinstance(other.file, io.StringIO)
    return other.file.getvalue().splitlines()


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_many_runs_fit(columns: int) -> None:
    console = screen(columns)
    plan = [Planned(f"globalgc · seed {seed}", 4) for seed in range(3)]
    with Progress(plan, console) as progress:
        play(progress, 4)
        play(progress, 2)
        lines = shown(progress, console)
    assert max(map(len, lines)) <= columns
    assert "✓" in lines[0] and "round 4/4" in lines[0] and "40.0 %" in lines[0]
    assert "●" in lines[1] and "round 2/4" in lines[1]
    assert "·" in lines[2] and "round" not in lines[2]
    assert "run 2 of 3" in lines[-1] and "left" in lines[-1]


@pytest.mark.parametrize("columns", [70, 80, 160])
def test_a_long_name_leaves_the_numbers_room(columns: int) -> None:
    console = screen(columns)
    with Progress([Planned("clip(norm=5) + gcfed(head=[fc1, fc2])", 500)], console) as progress:
        play(progress, 120)
        (line, *_) = shown(progress, console)
    assert "clip(norm=5)" in line and "round 120/500" in line and "%" in line
    assert line.rstrip().endswith(" s") and len(line) <= columns


def test_one_run_says_nothing_of_many() -> None:
    console = screen(80)
    with Progress([Planned("gcfed", 4)], console) as progress:
        play(progress, 2)
        assert "run 1 of 1" not in "".join(shown(progress, console))
        progress.show(Seen(4, 0.5))
        assert len(shown(progress, console)) == 1


def test_a_low_terminal_shows_the_current_run() -> None:
    console = screen(80, lines=8)
    plan = [Planned(f"run {number}", 1) for number in range(12)]
    with Progress(plan, console) as progress:
        for _ in range(6):
            play(progress, 1)
        lines = shown(progress, console)
    assert len(lines) <= 8
    assert any("run 5" in line for line in lines)


def test_a_run_of_no_rounds() -> None:
    console = screen(80)
    with Progress([Planned("gcfed", 0)], console) as progress:
        play(progress, 0)
        assert "round 0/0" in shown(progress, console)[0]


def test_without_a_terminal_a_line_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "fedkeel")
    logging.getLogger("fedkeel").propagate = True
    console = Console(file=io.StringIO())
    with Progress([Planned("a", 4), Planned("b", 4)], console) as progress:
        play(progress, 4)
        play(progress, 3)
    assert [record.getMessage() for record in caplog.records] == [
        "run 1 of 2, a: round 4 of 4, accuracy 40.0 %, 0:00 left"
    ]


def test_sparklines() -> None:
    assert sparkline([], 8, 1.0) == ""
    assert sparkline([0.0, 0.0], 8, 0.0) == ""
    assert sparkline([0.5, -1.0, 2.0], 8, 1.0) == "▅▁█"
    assert len(sparkline([0.5] * 1000, 20, 1.0)) == 20


def test_clocks() -> None:
    assert [clock(s) for s in (0, 59.6, 3599, 3600)] == ["0:00", "1:00", "59:59", "1:00:00"]
