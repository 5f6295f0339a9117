"""A part that looks over another's shoulder: what it is given stays, what it returns fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from .. import trees
from ..part import Part, Step

HOOKS = (
    "server_state",
    "client_state",
    "ledger_state",
    "brief",
    "select",
    "begin",
    "probe",
    "logits",
    "penalty",
    "gradient",
    "direction",
    "digest",
    "finish",
    "weigh",
    "merge",
)
EDITED = (
    "brief",
    "select",
    "probe",
    "logits",
    "gradient",
    "direction",
    "digest",
    "finish",
    "weigh",
    "merge",
)
RETURNS = {
    "brief": "params, note",
    "gradient": "grad, local",
    "finish": "update, note, memory",
    "merge": "update, state, ledger rows",
}
# What a hook returns that is remembered or sent: its name, where it stands in the result (None: it
# is the result), and how to find in the arguments what it must look like.
Found = Callable[[tuple[Any, ...]], Any]
KEPT: dict[str, tuple[tuple[str, int | None, Found | None], ...]] = {
    "server_state": (("server state", None, None),),
    "client_state": (("memory", None, None),),
    "ledger_state": (("ledger", None, None),),
    "brief": (("note", 1, None),),
    "begin": (("local state", None, None),),
    "gradient": (("local state", 1, lambda args: args[1].local),),
    "finish": (("note", 1, None), ("memory", 2, lambda args: args[2].memory)),
    "merge": (
        ("server state", 1, lambda args: args[1]),
        ("ledger", 2, lambda args: args[2].ledger),
    ),
}


class PartError(AssertionError):
    """A part breaks the contract; the message is one sentence that says how, and what to do."""


def complain(part: object, sentence: str) -> PartError:
    """Build the error of a part."""
    name = part.__name__ if isinstance(part, type) else type(part).__name__
    return PartError(f"{name} {sentence}")


@dataclass(frozen=True)
class Witness(Part):
    """Do what another part does, and look at each of its hooks."""

    of: Part

    @property
    def mean(self) -> Any:
        """As the part says."""
        return self.of.mean

    @property
    def prefers_decay(self) -> str | None:
        """As the part says."""
        return self.of.prefers_decay

    @property
    def pull(self) -> float:
        """As the part says."""
        return self.of.pull

    @property
    def quorum(self) -> int:
        """As the part says."""
        return self.of.quorum

    @property
    def rows_meet(self) -> bool:
        """As the part says."""
        return self.of.rows_meet

    @property
    def selects(self) -> bool:
        """As the part says."""
        return self.of.selects

    @property
    def probes(self) -> bool:
        """As the part says."""
        return self.of.probes

    @property
    def digests(self) -> bool:
        """As the part says."""
        return self.of.digests


def _watched(hook: str) -> Any:
    def call(self: Witness, *args: Any) -> Any:
        given = _tensors(args)
        versions = [leaf._version for leaf in given]
        result = getattr(self.of, hook)(*args)
        if [leaf._version for leaf in given] != versions:
            raise complain(
                self.of,
                f"changes a tensor in place in {hook}(): return a new one, as in grad * 2 for "
                "grad.mul_(2)",
            )
        _fits(self.of, hook, args, result)
        _keeps(self.of, hook, args, result)
        return result

    call.__name__ = hook
    call.__doc__ = f"Watch ``{hook}``."
    return call


def _tensors(args: tuple[Any, ...]) -> list[Tensor]:
    """Return every tensor that a hook can reach; a step is a record of its own."""
    opened = [(a.visit, a.local, a.params, a.batch) if isinstance(a, Step) else a for a in args]
    return [leaf for leaf in trees.tree_leaves(opened) if isinstance(leaf, Tensor)]


def _fits(part: Part, hook: str, args: tuple[Any, ...], result: Any) -> None:
    many = RETURNS.get(hook)
    if many and not (isinstance(result, tuple) and len(result) == many.count(",") + 1):
        raise complain(part, f"returns {_said(result)} from {hook}(): it must return {many}")
    if hook in EDITED:
        edited = result[0] if many else result
        if (
            not isinstance(edited, Tensor)
            or edited.shape != args[0].shape
            or edited.dtype != args[0].dtype
        ):
            raise complain(
                part,
                f"returns {_said(edited)} from {hook}() where {_said(args[0])} came in: shape and "
                "type must stay",
            )
    if hook == "penalty" and not (isinstance(result, Tensor) or _is_number(result)):
        raise complain(part, f"returns {_said(result)} from penalty(): it must return one number")
    if hook == "penalty" and isinstance(result, Tensor) and result.dim():
        raise complain(
            part,
            f"returns {_said(result)} from penalty(): it must return one number for the batch, as "
            "step.mean(...) gives",
        )


def _keeps(part: Part, hook: str, args: tuple[Any, ...], result: Any) -> None:
    """States and notes are trees of tensors that keep the form they began with."""
    for what, where, find in KEPT.get(hook, ()):
        tree = result if where is None else result[where]
        for leaf in trees.tree_leaves(tree):
            if not isinstance(leaf, Tensor):
                raise complain(
                    part,
                    f"returns a {type(leaf).__name__} in its {what} from {hook}(): states and "
                    "notes are "
                    "tensors, in tuples or dicts",
                )
        if find is not None and _form(tree) != _form(find(args)):
            raise complain(
                part,
                f"changes the structure, shape or type of its {what} in {hook}(): "
                f"{_form(find(args))} "
                f"became {_form(tree)}, and it must stay as it began",
            )


def _form(tree: Any) -> str:
    """Say structure, shapes and types."""
    return str(trees.tree_map(lambda t: f"{_type(t)}{list(t.shape)}", tree)).replace("'", "")


def _type(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _said(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {tuple(value.shape)} of {_type(value)}"
    return f"{len(value)} values" if isinstance(value, tuple) else f"a {type(value).__name__}"


for _hook in HOOKS:
    setattr(Witness, _hook, _watched(_hook))
