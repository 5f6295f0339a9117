"""A part is a value: frozen, printed, compared, hashed, pickled; and its methods are hooks."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass

from ..errors import nearest
from ..part import Part
from .witness import HOOKS, complain

FROZEN = "write @dataclass(frozen=True) above the class"


def is_a_value(part: Part) -> None:
    """Check that a part can be logged, compared, used as a key, and sent to another process."""
    if not isinstance(part, Part):
        raise complain(
            part, "is not a Part: inherit fedkeel.Part, and pass an instance, not the class"
        )
    if "__dataclass_fields__" not in vars(type(part)):
        raise complain(part, f"is not a dataclass: {FROZEN}")
    _is_frozen(part)
    try:
        hash(part)
    except TypeError as error:
        raise complain(
            part,
            f"cannot be hashed ({error}): use tuples instead of lists, and no tensors, in its "
            "fields",
        ) from error
    try:
        twin = pickle.loads(pickle.dumps(part))
    except Exception as error:
        raise complain(
            part,
            f"cannot be pickled, so it cannot go to another process ({error}): name functions and "
            "the class "
            "itself at the top of a module",
        ) from error
    if twin != part:
        raise complain(
            part, "does not equal its own pickled copy: keep the default == of a dataclass"
        )
    if type(part).__name__ not in repr(part):
        raise complain(part, "does not print its own name: keep the default repr of a dataclass")


def _is_frozen(part: Part) -> None:
    assert is_dataclass(part)
    names = [field.name for field in fields(part)]
    name = names[0] if names else "anything"
    try:
        setattr(part, name, getattr(part, name, None))
    except FrozenInstanceError:
        return
    raise complain(part, f"can be changed after it was made: {FROZEN}")


def has_no_stray_hook(part: Part) -> None:
    """Check that no method is a misspelt hook, which nothing would ever call."""
    assert is_dataclass(part)
    known = {name for name in dir(Part) if not name.startswith("_")}
    known |= {"neutral", *(field.name for field in fields(part))}
    for name, value in vars(type(part)).items():
        close = nearest(name, HOOKS)
        if callable(value) and not name.startswith("_") and name not in known and close:
            raise complain(
                part,
                f"has a method '{name}' that nothing calls: did you mean the hook '{close}'? Else "
                "begin its "
                "name with an underscore",
            )
