"""Pages of Markdown, taken at their word: their code is run in the order in which it is read.

What a fence says decides what becomes of it:

- ``python`` runs, with the names of those before it; with ``title="NAME"`` it goes to that file;
- ``pycon`` is a session: its output must be what is shown, where ``...`` stands for anything;
- ``console`` runs each ``$ fedkeel`` and ``$ python FILE`` line; what is shown below it must appear
  (``exit=N``: the code that it ends with);
- a block with ``needs=NAME`` is left out where there is no such package;
- ``toml`` and ``json`` must be readable; with a title, the file is written;
- ``sh`` is not run; ``text`` is read by people alone.
"""

from __future__ import annotations

import doctest
import json
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from fedkeel.cli import main

ROOT = Path(__file__).parents[2]
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```[ ]*$", re.M | re.S)
_COMMENT = re.compile(r"<!--.*?-->", re.S)


class Block(NamedTuple):
    """A fenced block: its language, what else its fence says, its text and where it stands."""

    language: str
    options: dict[str, str]
    text: str
    line: int


def blocks(markdown: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [
        Block(
            found[1],
            dict(re.findall(r'(\w+)="?([^"\s]+)"?', found[2])),
            found[3],
            markdown.count("\n", 0, found.start()) + 1,
        )
        for found in _FENCE.finditer(markdown)
    ]


def links(markdown: str) -> list[str]:
    """Return where the links and pictures of a page point to, without those of its code."""
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", _COMMENT.sub("", markdown)))
    marked = re.findall(r"\]\(([^)\s]+)\)", text)
    return [*marked, *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]


@dataclass
class Reader:
    """Somebody who types in what a page says, in an empty folder."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def read(self, page: Path) -> None:
        """Do all that a page says."""
        for block in blocks(page.read_text(encoding="utf-8")):
            self.do(block, f"{page.name}, line {block.line}")

    def do(self, block: Block, place: str) -> None:
        """Do what one block says."""
        if "needs" in block.options and find_spec(block.options["needs"]) is None:
            return
        if "title" in block.options:
            self._write(block.options["title"], block.text)
        elif block.language == "python":
            exec(compile(block.text, place, "exec"), self.names)
        elif block.language == "pycon":
            self._session(block.text, place)
        elif block.language == "console":
            for command, shown in commands(block.text):
                self._command(command, shown, int(block.options.get("exit", 0)), place)
        elif block.language in READABLE:
            READABLE[block.language](block.text)
        else:
            assert block.language in ("sh", "text"), f"{place}: nobody reads {block.language}"

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        before = path.read_text() + "\n\n" if path.exists() else ""
        path.write_text(before + text)
        sys.modules.pop(path.stem, None)

    def _session(self, text: str, place: str) -> None:
        test = doctest.DocTestParser().get_doctest(text, self.names, place, place, 0)
        said = StringIO()
        doctest.DocTestRunner(optionflags=LOOSE).run(test, out=said.write, clear_globs=False)
        self.names.update(test.globs)
        assert not said.getvalue(), said.getvalue()

    def _command(self, command: str, shown: str, code: int, place: str) -> None:
        program, *words = shlex.split(command)
        assert program in ("fedkeel", "python"), f"{place}: cannot run {command}"
        said = StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            ended = main(words) if program == "fedkeel" else _python(words)
        assert ended == code, f"{place}: {command}\nended with {ended}:\n{said.getvalue()}"
        fits = doctest.OutputChecker().check_output(shown, said.getvalue(), LOOSE)
        assert not shown or fits, f"{place}: {command}\nsaid\n{said.getvalue()}\nnot\n{shown}"


READABLE: dict[str, Callable[[str], Any]] = {"toml": tomllib.loads, "json": json.loads}


def commands(text: str) -> list[tuple[str, str]]:
    """Split a console block into its commands, each with the output that is shown below it."""
    pieces = re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]
    return [(p.partition("\n")[0], p.partition("\n")[2]) for p in pieces]


def _python(words: list[str]) -> int:
    before, sys.argv = sys.argv, words
    try:
        runpy.run_path(words[0], run_name="__main__")
    finally:
        sys.argv = before
    return 0
