"""``fedkeel methods``: the methods there are, or one method's page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..names import FAMILIES, METHODS, Method, find
from . import complete

if TYPE_CHECKING:
    from rich.table import Table

_DEMO_MODEL = ("model.hidden=[128, 128]",)
_STYLES = {
    "markdown.h2": "bold cyan",
    "markdown.code": "cyan",
    "markdown.link": "default",
    "markdown.link_url": "dim",
    "markdown.table.header": "dim",
    "markdown.table.border": "dim",
}


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            show_default=False,
            autocompletion=complete.methods,
            help="One method: show its page.",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            autocompletion=complete.keys,
            show_default=False,
            help="A recipe's keys: show the tensors that it centres on that model.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The methods, or one method's page."""
    from ..errors import InputError

    if name is None:
        _list(as_json)
    elif "=" in name.partition("(")[0]:
        raise InputError(
            f"'{name}' stands where a method's name is wanted: fedkeel methods NAME KEY=VALUE"
        )
    else:
        _one(name, keys or [], as_json)


def _list(as_json: bool) -> None:
    from .console import output

    if as_json:
        print(json.dumps([_entry(method) for method in METHODS], indent=2))
        return
    console = output(most=120)
    for family, title in FAMILIES.items():
        console.print(f"\n[bold]{title}[/]")
        console.print(_table([method for method in METHODS if method.family == family]))
    console.print(
        '\n[dim]One page each: fedkeel methods NAME. Sums: method="clip + gcfed".[/]',
        highlight=False,
    )


def _table(methods: list[Method]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(width=14, style="cyan", no_wrap=True)
    table.add_column(ratio=1)
    table.add_column(width=26, style="dim", justify="right", no_wrap=True)
    for method in methods:
        table.add_row(
            f"  {method.name}", method.idea, f"{method.paper.authors} {method.paper.year}"
        )
    return table


def _entry(method: Method) -> dict[str, Any]:
    from ..callables import defaults
    from ..names import constructor

    return {
        "name": method.name,
        "python": method.python,
        "family": method.family,
        "idea": method.idea,
        "paper": method.paper._asdict(),
        "options": defaults(constructor(method.name)),
    }


def _one(text: str, keys: list[str], as_json: bool) -> None:
    from ..errors import InputError
    from ..notation import read_sum

    terms = read_sum(text)
    if len(terms) > 1 or ":" in terms[0].name:
        raise InputError(f"'{text}' is not one built-in method: give a name of 'fedkeel methods'")
    method = find("method", terms[0].name.lower(), METHODS)
    centred = _centred(text, keys)
    if as_json:
        print(json.dumps({**_entry(method), "centred": centred}, indent=2))
    else:
        _page(method, centred)


def _centred(text: str, keys: list[str]) -> dict[str, Any]:
    """Return the model, its tensors, and those that the method centres at each end."""
    from ..recipe import job, resolve
    from ..transforms import centred

    recipe = resolve(None, [f"method={text}", *(keys or _DEMO_MODEL)])
    source = job.build_source(recipe)
    recipe = job.settled(recipe, source)
    task, algorithm = job.build_task(recipe, source), job.build_algorithm(recipe)
    ends = centred(algorithm.part, task.layout)
    return {
        "model": recipe["model.name"],
        "method": recipe["method"],
        "tensors": list(task.layout.names),
        **{end: list(ends.get(end, ())) for end in ("client", "server")},
    }


def _page(method: Method, centred: dict[str, Any]) -> None:
    from rich.markdown import Markdown
    from rich.theme import Theme

    from .console import output
    from .pages import page

    console = output(most=100)
    title, _, text = page(method).removeprefix("# ").partition("\n")
    console.print(f"\n[bold]{title}[/]", highlight=False)
    with console.use_theme(Theme(_STYLES)):
        console.print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    if centred["client"] or centred["server"]:
        about = f"[dim]({centred['method']} on {centred['model']})[/]"
        console.print(f"\n[bold cyan]The tensors it centres[/] {about}\n", highlight=False)
        console.print(_ends(centred))


def _ends(centred: dict[str, Any]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 3))
    table.add_row("[dim]tensor[/]", "[dim]at the client[/]", "[dim]at the server[/]")
    for name in centred["tensors"]:
        marks = (
            "[cyan]●[/] centred" if name in centred[end] else "[dim]·[/]"
            for end in ("client", "server")
        )
        table.add_row(name, *marks)
    return table
