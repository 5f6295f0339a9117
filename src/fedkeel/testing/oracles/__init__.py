"""Plain PyTorch loops, one method each, that the library's own results are proven against.

Every oracle is `method(module, rounds, setting, *, options)` and returns the final global state
dict in float64. `plain` holds the words they share; each file is written to be read beside its
paper. `ORACLES` finds them by the method's name; `crossing` runs sums of methods, `scaffold_ecgr`
and `fednova_ecgr` those that it cannot. `scaffold`, `feddyn` and `fedvarp` need
`Setting.population`, `fedlc` needs `Visit.counts`; `scaffold_end` and its like return what the ends
keep as well. The module must be deterministic: with dropout no two programs draw the same masks.
"""

from __future__ import annotations

from collections.abc import Callable

from .centre import Centring, centre
from .clip import clip
from .crossing import Adagrad, Adam, Centre, Clip, HeavyBall, Step, Yogi, ZeroMean, crossing
from .descent import Slope, plain_slope
from .ecgr import Regulation, ecgr
from .ecgr_crossing import fednova_ecgr, scaffold_ecgr, scaffold_ecgr_end
from .fedacg import FedACGEnd, fedacg, fedacg_end
from .fedavgm import fedavgm
from .feddecorr import feddecorr, feddecorr_slope
from .feddyn import FedDynEnd, feddyn, feddyn_end
from .fedlc import fedlc, fedlc_slope
from .fednova import effective_steps, fednova
from .fedntd import fedntd, fedntd_slope
from .fedopt import fedadagrad, fedadam, fedyogi
from .fedprox import fedprox
from .fedsam import fedsam, fedsam_slope
from .fedsol import fedsol, fedsol_slope
from .fedvarp import FedVARPEnd, fedvarp, fedvarp_end
from .fedzmg import fedzmg
from .gcfed import gcfed, local_set
from .globalgc import globalgc
from .localgc import localgc
from .plain import Batch, Local, Round, Setting, Tensors, Visit, fedavg
from .population import population_weights
from .robust import krum, median, norm_bounded, trimmed_mean
from .scaffold import ScaffoldEnd, scaffold, scaffold_end

ORACLES: dict[str, Callable[..., Tensors]] = {
    "clip": clip,
    "fedacg": fedacg,
    "fedadagrad": fedadagrad,
    "fedadam": fedadam,
    "fedavg": fedavg,
    "fedavgm": fedavgm,
    "feddecorr": feddecorr,
    "feddyn": feddyn,
    "fedlc": fedlc,
    "fednova": fednova,
    "fedntd": fedntd,
    "fedprox": fedprox,
    "fedsam": fedsam,
    "fedsol": fedsol,
    "fedvarp": fedvarp,
    "fedyogi": fedyogi,
    "fedzmg": fedzmg,
    "gcfed": gcfed,
    "globalgc": globalgc,
    "krum": krum,
    "localgc": localgc,
    "median": median,
    "norm_bounded": norm_bounded,
    "scaffold": scaffold,
    "trimmed_mean": trimmed_mean,
}

__all__ = [
    "ORACLES",
    "Adagrad",
    "Adam",
    "Batch",
    "Centre",
    "Centring",
    "Clip",
    "FedACGEnd",
    "FedDynEnd",
    "FedVARPEnd",
    "HeavyBall",
    "Local",
    "Regulation",
    "Round",
    "ScaffoldEnd",
    "Setting",
    "Slope",
    "Step",
    "Tensors",
    "Visit",
    "Yogi",
    "ZeroMean",
    "centre",
    "clip",
    "crossing",
    "ecgr",
    "effective_steps",
    "fedacg",
    "fedacg_end",
    "fedadagrad",
    "fedadam",
    "fedavg",
    "fedavgm",
    "feddecorr",
    "feddecorr_slope",
    "feddyn",
    "feddyn_end",
    "fedlc",
    "fedlc_slope",
    "fednova",
    "fednova_ecgr",
    "fedntd",
    "fedntd_slope",
    "fedprox",
    "fedsam",
    "fedsam_slope",
    "fedsol",
    "fedsol_slope",
    "fedvarp",
    "fedvarp_end",
    "fedyogi",
    "fedzmg",
    "gcfed",
    "globalgc",
    "krum",
    "local_set",
    "localgc",
    "median",
    "norm_bounded",
    "plain_slope",
    "population_weights",
    "scaffold",
    "scaffold_ecgr",
    "scaffold_ecgr_end",
    "scaffold_end",
    "trimmed_mean",
]
