"""The argument parser's own errors, said in the form of all others."""

from __future__ import annotations

import re
from typing import Any

from typer import TyperException

from ..errors import unknown

LATER_COMMANDS = ("sweep", "reproduce", "bench", "flower")
LATER_OPTIONS = ("--resume",)


def sentence(error: TyperException) -> str:
    """Return the one line for an error of the parser: what was wrong, what is allowed."""
    context: Any = getattr(error, "ctx", None)  # the parser leaves it out of some errors
    message = error.format_message()
    if found := re.match(r"No such command '(.*?)'\.", message):
        return _command(context, found[1])
    if found := re.match(r"No such option: (\S+)", message):
        return _option(context, found[1])
    if message.startswith("Missing command"):
        return f"{_path(context)} needs a command: {', '.join(context.command.commands)}"
    if found := re.match(r"Missing argument '(.+?)'", message):
        return f"{_path(context)} needs {found[1]}: '{_path(context)} --help' shows what it is"
    if found := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", message):
        path = _path(context)
        return f"{path} does not take '{found[1]}': '{path} --help' shows what it takes"
    return message[:1].lower() + message[1:].rstrip(".")


def _path(context: Any) -> str:
    return str(context.command_path)


def _command(context: Any, name: str) -> str:
    whole = f"{_path(context)} {name}".removeprefix("fedkeel ")
    commands = list(context.command.commands)
    if whole in LATER_COMMANDS:
        return f"command '{whole}' is not in this version. Allowed: {', '.join(commands)}"
    return str(unknown("command", name, commands))


def _option(context: Any, name: str) -> str:
    options = [option for parameter in context.command.params for option in parameter.opts]
    allowed = [*(option for option in options if option.startswith("-")), "--debug", "--help"]
    if name in LATER_OPTIONS and _path(context) == "fedkeel run":
        return f"option '{name}' is not in this version. Allowed: {', '.join(allowed)}"
    return str(unknown(f"option of {_path(context)}:", name, allowed))
