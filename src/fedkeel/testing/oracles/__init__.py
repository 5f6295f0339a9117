"""Plain PyTorch loops, one method each, that the library's own results are proven against.

Every oracle is `method(module, rounds, setting, *, options)` and returns the final global state
dict in float64. `plain` holds the words they share; each file is written to be read beside its
paper. `ORACLES` finds them by the method's name; `crossing` runs sums of methods. The module must
be deterministic: with dropout no two programs draw the same masks.
"""

from __future__ import annotations

from collections.abc import Callable

from .centre import Centring, centre
from .clip import clip
from .crossing import Adagrad, Adam, Centre, Clip, HeavyBall, Step, Yogi, ZeroMean, crossing
from .fedavgm import fedavgm
from .fedopt import fedadagrad, fedadam, fedyogi
from .fedprox import fedprox
from .fedzmg import fedzmg
from .gcfed import gcfed, local_set
from .globalgc import globalgc
from .localgc import localgc
from .plain import Batch, Local, Round, Setting, Tensors, Visit, fedavg

ORACLES: dict[str, Callable[..., Tensors]] = {
    "clip": clip,
    "fedadagrad": fedadagrad,
    "fedadam": fedadam,
    "fedavg": fedavg,
    "fedavgm": fedavgm,
    "fedprox": fedprox,
    "fedyogi": fedyogi,
    "fedzmg": fedzmg,
    "gcfed": gcfed,
    "globalgc": globalgc,
    "localgc": localgc,
}

__all__ = [
    "ORACLES",
    "Adagrad",
    "Adam",
    "Batch",
    "Centre",
    "Centring",
    "Clip",
    "HeavyBall",
    "Local",
    "Round",
    "Setting",
    "Step",
    "Tensors",
    "Visit",
    "Yogi",
    "ZeroMean",
    "centre",
    "clip",
    "crossing",
    "fedadagrad",
    "fedadam",
    "fedavg",
    "fedavgm",
    "fedprox",
    "fedyogi",
    "fedzmg",
    "gcfed",
    "globalgc",
    "local_set",
    "localgc",
]
