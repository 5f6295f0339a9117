"""A user's function as a data set: ``"mymodule:function"``."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import InputError, nearest
from .arrays import from_arrays
from .federation import Source


def from_function(
    text: str, options: Mapping[str, Any] | None = None, *, test_share: float = 0.2, seed: int = 0
) -> Source:
    """Call a function that returns ``(x, y, x_test, y_test)`` and make a data set of that.

    The module is imported with the working directory first on the path, and the function may
    import more of its own from there.

    Args:
        text: ``"mymodule:function"``.
        options: What the function is called with, by name.
        test_share: The share held out when x_test and y_test are None.
        seed: Draws the share held out.
    """
    options = options or {}
    with working_directory_first():
        function = attribute(text)
        _check_options(text, function, options)
        try:
            returned = function(**options)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"'{text}' failed with {type(error).__name__}: {error}") from error
    if not isinstance(returned, tuple | list) or len(returned) != 4:
        found = (
            f"{len(returned)} values"
            if isinstance(returned, tuple | list)
            else type(returned).__name__
        )
        raise InputError(f"'{text}' returned {found}: it must return (x, y, x_test, y_test)")
    try:
        return from_arrays(*returned, name=text, test_share=test_share, seed=seed)
    except InputError as error:
        raise InputError(f"'{text}': {error}") from error


@contextmanager
def working_directory_first() -> Iterator[None]:
    """Search the working directory before all else while the block runs."""
    before = list(sys.path)
    sys.path.insert(0, os.getcwd())
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def attribute(text: str) -> Callable[..., Any]:
    """Import ``"mymodule:function"``."""
    module_name, _, name = text.partition(":")
    if not module_name or not all(part.isidentifier() for part in [*module_name.split("."), name]):
        raise InputError(f"'{text}' is not of the form mymodule:function")
    module = _module(text, module_name)
    found: Callable[..., Any] | None = getattr(module, name, None)
    if found is None:
        close = nearest(name, [word for word in vars(module) if not word.startswith("_")])
        hint = f": did you mean '{close}'?" if close else ": define it there"
        raise InputError(f"'{text}': module '{module_name}' has no '{name}'{hint}")
    if not callable(found):
        raise InputError(f"'{text}' is of type {type(found).__name__}: it must be a function")
    return found


def _module(text: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever the user's file raises while it is read
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        close = nearest(name, [path.stem for path in Path.cwd().glob("*.py")])
        absent = isinstance(error, ModuleNotFoundError) and error.name == name
        hint = f"did you mean '{close}'? " if absent and close else ""
        raise InputError(
            f"'{text}': {hint}'{name}' cannot be imported ({reason}); "
            "the working directory is searched first"
        ) from error


def _check_options(text: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:  # some compiled functions do not say
        return
    try:
        signature.bind(**options)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise InputError(f"'{text}': {error}; it takes {takes}") from error
