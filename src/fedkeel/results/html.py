"""The few pieces of HTML that the page is made of; every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .svg import escape

_COMMENT = "<!-- Written by fedkeel; 'fedkeel report' may replace this file. -->"


class Cell(NamedTuple):
    """A cell of a table: its content as HTML, its class, and its title on a narrow page."""

    content: str
    kind: str = ""
    label: str = ""


def section(title: str, note: str, *content: str) -> str:
    """Set a titled part of the page; one without content is left out."""
    inner = "".join(content)
    if not inner:
        return ""
    said = f'<p class="note">{escape(note)}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{said}{inner}</section>\n"


def table(kind: str, titles: Sequence[Cell], rows: Iterable[str]) -> str:
    """Set a table from rows that are already HTML."""
    head = "".join(f'<th scope="col"{_kind(cell.kind)}>{cell.content}</th>' for cell in titles)
    body = "".join(rows)
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>'


def row(cells: Iterable[Cell], kind: str = "") -> str:
    """Set one row."""
    return f"<tr{_kind(kind)}>{''.join(map(_cell, cells))}</tr>\n"


def named(name: str, color: str, detail: str = "", kind: str = "detail") -> str:
    """Set a method's name behind the dot of its colour, and what else tells it apart."""
    more = f' <span class="{kind}">{escape(detail)}</span>' if detail else ""
    dot = f'<span class="{color}"><span class="dot{_dashed(color)}"></span></span>'
    return f"{dot}{escape(name)}{more}"


def both(wide: str, narrow: str) -> str:
    """Set a figure twice, once for wide pages and once for narrow ones."""
    return f'<figure><div class="wide">{wide}</div><div class="narrow">{narrow}</div></figure>'


def document(title: str, css: str, body: str) -> str:
    """Wrap the body into a page that asks for nothing from anywhere."""
    return (
        f'<!DOCTYPE html>\n{_COMMENT}\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="generator" content="fedkeel">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{css}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def is_ours(start: str) -> bool:
    """Say whether a file that begins like this was written here."""
    return _COMMENT in start


def _cell(cell: Cell) -> str:
    label = f' data-label="{escape(cell.label)}"' if cell.label else ""
    return f"<td{_kind(cell.kind)}{label}>{cell.content}</td>"


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _dashed(color: str) -> str:
    return " dashed" if "dashed" in color else ""
