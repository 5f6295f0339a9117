"""The public contract for a part: the same for a user's method as for the built-in ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..composition import compose
from ..errors import InputError, unknown
from ..methods.clip import Clip
from ..methods.fed_zmg import fed_zmg
from ..methods.fedacg import FedACG
from ..methods.fedavg import FedAvg
from ..methods.feddecorr import FedDecorr
from ..methods.feddyn import FedDyn
from ..methods.fedlc import FedLC
from ..methods.fednova import FedNova
from ..methods.fedntd import FedNTD
from ..methods.fedopt import fed_adagrad, fed_adam, fed_avg_m, fed_yogi
from ..methods.fedprox import FedProx
from ..methods.fedsam import FedSAM
from ..methods.fedsol import FedSOL
from ..methods.fedvarp import FedVARP
from ..methods.gc_fed import gc_fed, global_gc, local_gc
from ..methods.robust import Krum, Median, NormBounded, TrimmedMean
from ..methods.scaffold import Scaffold
from ..part import Part
from ..task import Task
from .behaviour import behaves, edits, pads, repeats, runs_in_float32, stacks
from .value import has_no_stray_hook, is_a_value
from .witness import PartError, complain
from .worlds import Lab, apart, untraced

BOUND = 1e-9
BUILT_IN: dict[str, Part] = {
    "FedAvg": FedAvg(),
    "FedProx": FedProx(),
    "local_gc": local_gc(),
    "global_gc": global_gc(),
    "gc_fed": gc_fed(),
    "fed_zmg": fed_zmg(),
    "fed_avg_m": fed_avg_m(),
    "fed_adam": fed_adam(),
    "fed_yogi": fed_yogi(),
    "fed_adagrad": fed_adagrad(),
    "Clip": Clip(0.5),
    "FedNTD": FedNTD(),
    "FedLC": FedLC(),
    "FedDecorr": FedDecorr(),
    "FedSOL": FedSOL(),
    "FedSAM": FedSAM(),
    "FedACG": FedACG(),
    "Scaffold": Scaffold(),
    "FedDyn": FedDyn(),
    "FedNova": FedNova(),
    "FedVARP": FedVARP(),
    "Median": Median(),
    "TrimmedMean": TrimmedMean(),
    "Krum": Krum(),
    "NormBounded": NormBounded(),
}

Log = Callable[[str], None]


def check_part(
    part: Part,
    *,
    neutral: Part | None = None,
    task: Task | None = None,
    crossings: str | Sequence[str] = "all",
    log: Log | None = None,
) -> None:
    """Hold a part to the contract; return None, or raise ``PartError`` with one sentence.

    A part is a value; its hooks are pure, edit what they are given, keep states of one form, and
    mean the same one client at a time, many at once and traced; padding moves nothing.

    Args:
        part: The part.
        neutral: An equal part at a strength that must be FedAvg; by default what ``part.neutral()``
            returns, if it has one; else that law is reported as skipped.
        task: A task to try it on, with inputs of six numbers and three classes; by default a small
            net.
        crossings: The built-in parts to compose it with, by their Python names, or ``"all"`` or
            ``"none"``.
        log: Called with a line for each check; what is skipped is said here.

    >>> check_part(FedProx(0.1), neutral=FedProx(0.0), crossings="none")
    """
    say = log or (lambda line: None)
    chosen = _chosen(crossings)
    lab = Lab(task=task)
    is_a_value(part)
    has_no_stray_hook(part)
    say("a value, with no stray hook: fine")
    reference = behaves(part, lab)
    repeats(part, lab, reference)
    runs_in_float32(part, lab)
    edits(part, lab, reference)
    say("pure, repeatable, of one form, editing: fine")
    pads(part, lab, BOUND)
    stacks(part, lab, reference, BOUND)
    say("padded, many clients in one program, traced: fine")
    _neutral(part, neutral or _own_neutral(part), lab, say)
    for name in chosen:
        say(f"with {name}: {_crossed(part, name, lab)}")


def _own_neutral(part: Part) -> Part | None:
    found = getattr(part, "neutral", None)
    return found() if callable(found) else None


def _neutral(part: Part, neutral: Part | None, lab: Lab, say: Log) -> None:
    if neutral is None:
        say("no neutral strength was given: that it reduces to FedAvg is skipped")
        return
    if type(neutral) is not type(part):
        raise complain(
            part, f"was given {neutral!r} as neutral: it must be the same part at another strength"
        )
    far = apart(lab.run(neutral)[-1].state_dict(), lab.run(FedAvg())[-1].state_dict())
    if not far <= BOUND:
        raise complain(
            part,
            f"at its neutral strength, {neutral!r}, is {far:.1e} from FedAvg: it must be FedAvg "
            "there",
        )
    say("FedAvg at its neutral strength: fine")


def _chosen(crossings: str | Sequence[str]) -> list[str]:
    if crossings == "all":
        return list(BUILT_IN)
    if crossings == "none":
        return []
    names = [crossings] if isinstance(crossings, str) else list(crossings)
    for name in names:
        if name not in BUILT_IN:
            raise unknown("crossing", str(name), [*BUILT_IN, "all", "none"])
    return names


def _crossed(part: Part, name: str, lab: Lab) -> str:
    """Compose with a built-in part in both orders; both engines must still agree."""
    for pair in ((part, BUILT_IN[name]), (BUILT_IN[name], part)):
        try:
            together = compose(*pair)
        except InputError as error:
            return f"refused, which is an answer ({error})"
        try:
            one = lab.run(together)[-1].state_dict()
            many = list(untraced(lab.session(together, engine="stacked")).rounds())[-1]
        except Exception as error:
            raise complain(
                part, f"does not run with {name}, in the order {pair!r}: {error}"
            ) from error
        if not apart(one, many.state_dict()) <= BOUND:
            raise complain(
                part,
                f"with {name} gives another result with many clients in one program than one at a "
                "time",
            )
    return "fine"


__all__ = ["BUILT_IN", "PartError", "check_part"]
