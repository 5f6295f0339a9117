"""Exit codes, the line of each ending, --debug, and what is imported when."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fedkeel
from fedkeel.cli import main
from fedkeel.cli.endings import Interrupted, ending
from fedkeel.errors import Diverged, InputError
from tests.cli.conftest import QUICK, Call


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("no"), 2, "no"),
        (Diverged(3, "it ran away"), 3, "diverged in round 3: it ran away"),
        (Interrupted("after round 2"), 130, "after round 2"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (SystemExit(7), 7, ""),
        (KeyError("x"), 1, "unexpected error: KeyError: 'x'; --debug shows the traceback"),
        (AssertionError(), 1, "unexpected error: AssertionError; --debug shows the traceback"),
    ],
)
def test_endings(error: BaseException, code: int, line: str) -> None:
    assert ending(error) == (code, line)


def test_version(call: Call) -> None:
    assert call("--version") == (0, f"fedkeel {fedkeel.__version__}\n", "")


def test_no_words_are_a_call_for_help(call: Call) -> None:
    assert call() == call("--help")


@pytest.mark.parametrize("words", [["--debug", "run", "alpha=1"], ["run", "alpha=1", "--debug"]])
def test_debug_shows_the_traceback(call: Call, words: list[str]) -> None:
    said = call(*words)
    assert said.code == 2
    assert "Traceback" in said.err
    assert said.err.endswith("did you mean 'data.alpha'?\n")


def test_an_unexpected_error_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: object) -> None:
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr("fedkeel.recipe.resolve", broken)
    said = call("run")
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "RuntimeError: first second" in said.err


def test_what_is_set_is_put_back(call: Call) -> None:
    import logging

    logger = logging.getLogger("fedkeel")
    before = logger.handlers[:], logger.level, logger.propagate, signal.getsignal(signal.SIGTERM)
    call("run", "alpha=1")
    after = logger.handlers[:], logger.level, logger.propagate, signal.getsignal(signal.SIGTERM)
    assert after == before


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "--help"], ["--version"], ["rn"], ["run", "x=1"]]
)
def test_quick_answers_do_not_import_torch(words: list[str]) -> None:
    code = (
        f"import sys; from fedkeel.cli import main; main({words}); sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=_environment())
    assert done.returncode == 0


def test_python_dash_m() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fedkeel", "rn"], capture_output=True, text=True, env=_environment()
    )
    assert done.returncode == 2
    assert done.stderr.startswith("fedkeel: unknown command 'rn'")


def test_a_closed_pipe_is_no_error() -> None:
    words = f"{sys.executable} -m fedkeel run --help | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", words], capture_output=True, text=True, env=_environment()
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_run_with_everything_kept(here: Path, number: signal.Signals) -> None:
    words = [sys.executable, "-m", "fedkeel", "run", *QUICK, "rounds=100000", "--out", "out"]
    run = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=_environment(), cwd=here)
    rounds = here / "out" / "rounds.jsonl"
    until = time.monotonic() + 30
    while time.monotonic() < until and not (
        rounds.exists() and rounds.read_bytes().count(b"\n") > 3
    ):
        time.sleep(0.05)
    run.send_signal(number)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "out" in err.splitlines()[-1] and "Traceback" not in err
    summary = json.loads((here / "out" / "summary.json").read_text())
    assert summary["failed"]["reason"] == "interrupted"
    assert len(rounds.read_text().splitlines()) == summary["rounds"] + 1


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(fedkeel.__file__).parents[1])}


def test_main_is_a_function_of_words() -> None:
    assert main(["--version"]) == 0


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("fedkeel r", ["run", "report"]),
        ("fedkeel run data.min", ["data.min_size="]),
        ("fedkeel methods gc", ["gcfed"]),
        ("fedkeel data show cifar10", ["cifar10", "cifar100"]),
    ],
)
def test_the_shell_can_complete(words: str, offered: list[str]) -> None:
    asked = {
        "_FEDKEEL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "fedkeel"],
        capture_output=True,
        text=True,
        env={**_environment(), **asked},
    )
    assert done.stdout.split() == offered
