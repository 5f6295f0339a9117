"""The conformance suite: every method against its laws and its oracle, a line a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ..errors import unknown
from .cases import ALONE, CROSSINGS, Case, case_error
from .laws import laws
from .worlds import Lab

METHODS = (
    "fedavg", "fedprox", "localgc", "globalgc", "gcfed", "fedzmg",
    "fedavgm", "fedadam", "fedyogi", "fedadagrad", "clip",
    "fedntd", "fedlc", "feddecorr", "fedsol", "fedsam", "fedacg",
    "scaffold", "feddyn", "fednova", "fedvarp", "median", "trimmed_mean", "krum", "norm_bounded",
)  # fmt: skip
LABS = {
    "MLP": Lab("mlp"),
    "conv net, short batch dropped, uniform": Lab(
        "conv", {"batches": "drop", "weighting": "uniform"}
    ),
    "GroupNorm, short batch padded": Lab("group", {"batches": "pad"}),
    "BatchNorm": Lab("batch"),
}
ORACLE_BOUND = 1e-9


class Check(NamedTuple):
    """One check and how it went."""

    method: str
    check: str
    kind: str  # law | fixed_point | oracle
    passed: bool
    error: float | None
    detail: str


def verify(methods: Sequence[str] = ()) -> Iterator[Check]:
    """Run the suite for these methods, or for all; each check is yielded as it is done."""
    wanted = [name.lower() for name in methods] or list(METHODS)
    for name in wanted:
        if name not in METHODS:
            raise unknown("method", name, METHODS)
    for law in laws():
        if law.method in wanted:
            yield _checked(law.method, law.statement, "law", law.error, law.bound)
    for case in (*ALONE, *CROSSINGS):
        if set(case.method.split(" + ")) & set(wanted):
            for place, lab in LABS.items():
                yield _checked(
                    case.method,
                    f"{place}: {case.detail}" if case.detail else place,
                    "oracle",
                    partial(_oracle, case, lab),
                    ORACLE_BOUND,
                )


def _oracle(case: Case, lab: Lab) -> float:
    return case_error(case, lab)


def _checked(method: str, check: str, kind: str, error: Callable[[], float], bound: float) -> Check:
    try:
        value = error()
    except Exception as problem:
        return Check(method, check, kind, False, None, f"{type(problem).__name__}: {problem}")
    return Check(method, check, kind, value <= bound, value, f"at most {bound:.0e}")
