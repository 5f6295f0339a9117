"""Help pages: calm columns at any width, and for ``run`` every key of a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..recipe.kinds import Kind

_WIDEST = 100
_FIRST = 22  # columns of names
_PARSERS_OWN = {
    "--help": "Show this page.",
    "--install-completion": "Let the shell complete words.",
    "--show-completion": "Print what that would install.",
}


class Command(TyperCommand):
    """A command whose help is drawn here."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _print(ctx, [*_arguments(ctx), *_options(ctx), *_examples(ctx)])


class CommandWithKeys(TyperCommand):
    """A command that takes a recipe's keys, and lists them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page, the keys at its end."""
        _print(ctx, [*_arguments(ctx), *_options(ctx), *_examples(ctx), *_keys()])


class Group(TyperGroup):
    """A group of commands whose help is drawn here."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page."""
        _print(ctx, [*_commands(ctx), *_options(ctx), *_examples(ctx)])


def _print(ctx: Any, blocks: Iterable[RenderableType]) -> None:
    from rich.padding import Padding

    from .console import output

    console = output(most=_WIDEST)
    usage = " ".join(_usage(ctx))
    console.print(f"\n  [bold]{ctx.command.help}[/]\n", highlight=False)
    console.print(f"  [dim]Usage[/]  {usage}", highlight=False)
    for block in blocks:
        console.print(Padding(block, (0, 2)))


def _usage(ctx: Any) -> list[str]:
    arguments = [p.metavar for p in ctx.command.params if p.param_type_name == "argument"]
    middle = ["COMMAND"] if isinstance(ctx.command, TyperGroup) else []
    return [ctx.command_path, *middle, *(a.replace("[", r"\[") for a in arguments), r"\[OPTIONS]"]


def _arguments(ctx: Any) -> list[RenderableType]:
    found = [p for p in ctx.command.params if p.param_type_name == "argument"]
    return _block("", [(p.metavar, p.help) for p in found])


def _options(ctx: Any) -> list[RenderableType]:
    found = [p for p in ctx.command.get_params(ctx) if p.param_type_name == "option"]
    return _block("Options", [(_named(p), _helped(p)) for p in found])


def _named(option: Any) -> str:
    names = ", ".join(sorted(option.opts, key=len, reverse=True))
    return names if option.is_flag else f"{names} {option.metavar or option.name.upper()}"


def _helped(option: Any) -> str:
    for name in option.opts:
        if name in _PARSERS_OWN:
            return _PARSERS_OWN[name]
    shown = not option.is_flag and option.show_default and option.default is not None
    return f"{option.help} [dim]({option.default})[/]" if shown else str(option.help)


def _commands(ctx: Any) -> list[RenderableType]:
    panels: dict[str, list[tuple[str, str]]] = {}
    for name, command in ctx.command.commands.items():
        rows = panels.setdefault(_panel(command), [])
        rows.append((name, command.short_help or command.help or ""))
    return [block for title, rows in panels.items() for block in _block(title, rows)]


def _panel(command: Any) -> str:
    title = command.rich_help_panel
    return title if isinstance(title, str) else "Commands"


def _examples(ctx: Any) -> list[RenderableType]:
    from rich.text import Text

    if not ctx.command.epilog:
        return []
    return [
        Text("\nExamples", style="bold"),
        Text(f"  {ctx.command.epilog.strip()}".replace("\n", "\n  ")),
    ]


def _keys() -> list[RenderableType]:
    from ..notation import write_value
    from ..recipe import KEYS

    blocks: list[RenderableType] = []
    titles = {
        "": "Keys and their defaults",
        "data": "data",
        "model": "model",
        "local": "local",
        "run": "run",
    }
    for section, title in titles.items():
        keys = [key for key in KEYS if key.section == section]
        rows = [
            (
                key.name,
                "" if key.default is None else write_value(key.default),
                f"{key.help} [dim]{_brief(key.kind)}[/]",
            )
            for key in keys
        ]
        blocks += _block(title, rows)
    return blocks


def _brief(kind: Kind) -> str:
    """Say shortly what a key may be, and nothing where its default says it."""
    if kind.words:
        text = "" if kind.words == ("true", "false") else " | ".join(kind.words)
    else:
        text = kind.allowed.removeprefix("an ").removeprefix("a ").replace("[", r"\[")
    return f"· {text}" if text else ""


def _block(title: str, rows: Sequence[tuple[str, ...]]) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return []
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=_FIRST, style="cyan")
    for _ in rows[0][2:]:
        table.add_column(style="green", no_wrap=True, min_width=14)
    table.add_column(ratio=1)
    for first, *rest in rows:
        table.add_row(f"  {first}".replace("[", r"\["), *rest)
    return [Text(f"\n{title}" if title else "", style="bold"), table]
