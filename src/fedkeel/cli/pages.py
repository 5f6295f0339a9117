"""The methods' pages: Markdown in the package, with the source code put in from where it stands."""

from __future__ import annotations

import inspect
from importlib.resources import files
from pathlib import Path

from ..names import Method, constructor

CODE = "<!-- the code -->"


def page(method: Method) -> str:
    """Return a method's page as Markdown."""
    text = (files("fedkeel") / "pages" / f"{method.name}.md").read_text(encoding="utf-8")
    return text.replace(CODE, f"```python\n{source(method)}\n```")


def source(method: Method) -> str:
    """Return the source of a method: its class or function, as it stands in its file."""
    build = constructor(method.name)
    path = Path(inspect.getfile(build))
    shown = f"# fedkeel/{path.parent.name}/{path.name}"
    return f"{shown}\n{inspect.getsource(build).rstrip()}"
