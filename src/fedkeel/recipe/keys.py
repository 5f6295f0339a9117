"""Every key of a recipe: its default, what it may be, what it does, and which partition uses it."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import InputError, nearest, unknown
from ..notation import Value
from . import kinds
from .kinds import Kind


class Key(NamedTuple):
    """One key; ``default`` is None where unset is a value of its own."""

    name: str
    default: Value | None
    kind: Kind
    help: str
    partitions: tuple[str, ...] = ()  # that use it; empty: all
    sets: tuple[str, ...] = ()  # data sets that use it; empty: all

    @property
    def section(self) -> str:
        """The table that the key stands in; empty at the top."""
        return self.name.rpartition(".")[0]


_DIRICHLET = ("dirichlet",)
_ALPHA = ("dirichlet", "dirichlet_ecgr", "dirichlet_gcfl")
_ECGR = ("dirichlet_ecgr",)
_PACHINKO = ("pachinko",)
_FEATURE = ("feature",)
_AT_LEAST_ONE, _COUNT = kinds.integer(1), kinds.integer(0)
_PARTITIONS = kinds.choice(
    "auto dirichlet dirichlet_ecgr dirichlet_gcfl pachinko shards classes quantity feature "
    "iid natural file"
)

KEYS = (
    Key(
        "format",
        1,
        kinds.Kind("1", lambda v: v if type(v) is int and v == 1 else None),
        "of a recipe's format",
    ),
    Key(
        "method", "gcfed", kinds.text("a sum of methods, as clip + gcfed(head=fc2)"), "what is run"
    ),
    Key("weighting", "samples", kinds.choice("samples uniform"), "how updates are averaged"),
    Key("rounds", 100, _COUNT, "0: the initial model alone"),
    Key("cohort", 10, kinds.COHORT, "clients a round"),
    Key("server_lr", 1.0, kinds.POSITIVE, "multiplies the merged update"),
    Key("seed", 0, _COUNT, "of every random draw"),
    Key(
        "data.name",
        "femnist-mini",
        kinds.text("a name, an .npz path or module:function"),
        "the data",
    ),
    Key("data.clients", 100, _AT_LEAST_ONE, "natural, file: unset is every owner"),
    Key("data.partition", "auto", _PARTITIONS, "how samples are dealt to clients"),
    Key("data.alpha", 0.1, kinds.CONCENTRATION, "concentration: small is skewed", _ALPHA),
    Key("data.min_size", 1, _COUNT, "samples a client; 0: some may be empty", _DIRICHLET),
    Key("data.cap", True, kinds.FLAG, "a full client gets no further label", _DIRICHLET),
    Key("data.max_tries", 10000, _AT_LEAST_ONE, "draws until min_size holds", _DIRICHLET),
    Key("data.fill", 256, _COUNT, "samples that poor clients are filled up to", _ECGR),
    Key("data.drop_remainder", True, kinds.FLAG, "what rounding leaves is nobody's", _ECGR),
    Key("data.alpha_coarse", 0.1, kinds.CONCENTRATION, "of coarse classes at a client", _PACHINKO),
    Key("data.alpha_fine", 10.0, kinds.CONCENTRATION, "of classes within a coarse one", _PACHINKO),
    Key("data.shards_per_client", 2, _AT_LEAST_ONE, "pieces of the sorted data", ("shards",)),
    Key("data.classes_per_client", 2, _AT_LEAST_ONE, "classes a client", ("classes",)),
    Key("data.quantity_alpha", 0.5, kinds.CONCENTRATION, "concentration of sizes", ("quantity",)),
    Key("data.feature_noise", 0.1, kinds.NOT_NEGATIVE, "of the noisiest client", _FEATURE),
    Key("data.feature_rotation", 45.0, kinds.ANGLE, "degrees either way, at most", _FEATURE),
    Key("data.file", "", kinds.text("a path of an .npz with `owner`"), "a kept split", ("file",)),
    Key("data.server", 0.0, kinds.BELOW_ONE, "share that the server keeps, clean"),
    Key("data.seed", -1, kinds.integer(-1), "of the split; -1: the run's seed"),
    Key(
        "data.labels", "fine", kinds.choice("fine coarse"), "100 or 20 classes", sets=("cifar100",)
    ),
    Key(
        "data.vocab",
        "data",
        kinds.choice("data tf66"),
        "LEAF's 80 symbols, or 66",
        sets=("shakespeare",),
    ),
    Key(
        "data.targets",
        "all",
        kinds.choice("all last"),
        "every next symbol, or one a sequence",
        sets=("shakespeare",),
    ),
    Key(
        "data.test_share",
        0.2,
        kinds.number("a number in (0, 1)", lambda x: 0 < x < 1),
        "held out where your data have no test part",
    ),
    Key("data.label_noise", 0.0, kinds.RATE, "share of a client's samples with a wrong label"),
    Key("data.open_set_noise", 0.0, kinds.RATE, "share of foreign samples that stay, mislabelled"),
    Key("data.attribute_noise", 0.0, kinds.RATE, "share of a client's images that are corrupted"),
    Key(
        "data.label_noise_kind",
        "symmetric",
        kinds.choice("symmetric pairwise"),
        "any other label, or the next one",
    ),
    Key("data.foreign", [], kinds.CLASSES, "open-set: the classes that are foreign"),
    Key(
        "data.corruptions",
        [],
        kinds.words("gaussian shot impulse frost fog brightness elastic pixelate jpeg"),
        "attribute: which; empty: all nine",
    ),
    Key("data.severity", 5, kinds.integer(1, "an integer from 1 to 5", 5), "of the corruptions"),
    Key(
        "model.name",
        "auto",
        kinds.text("a built-in name or module:function"),
        "auto: by the data; further keys go to it",
    ),
    Key("local.epochs", 5, _AT_LEAST_ONE, "passes over a client's samples"),
    Key("local.steps", None, _AT_LEAST_ONE, "batches, instead of epochs"),
    Key("local.batch_size", 50, _AT_LEAST_ONE, "samples a step"),
    Key(
        "local.batches",
        "keep",
        kinds.choice("keep drop pad"),
        "what becomes of the short last batch",
    ),
    Key("local.lr", 0.01, kinds.POSITIVE, "learning rate"),
    Key("local.schedule", "constant", kinds.SCHEDULE, "of the learning rate, a step a round"),
    Key("local.momentum", 0.9, kinds.BELOW_ONE, "of a client's steps, fresh each visit"),
    Key("local.nesterov", False, kinds.FLAG, "Nesterov's form of momentum"),
    Key("local.weight_decay", 1e-5, kinds.NOT_NEGATIVE, "what pulls weights to zero"),
    Key(
        "local.decay",
        "auto",
        kinds.choice("auto coupled coupled_before decoupled"),
        "where decay enters; auto: as the method prefers",
    ),
    Key("local.augment", True, kinds.FLAG, "the data set's usual augmentation"),
    Key(
        "run.engine",
        "auto",
        kinds.choice("auto sequential stacked", later="streamed flower"),
        "how clients are run",
    ),
    Key("run.device", "auto", kinds.choice("auto cpu cuda"), "where it is computed"),
    Key(
        "run.precision",
        "float32",
        kinds.choice("float32 tf32 bfloat16 float64"),
        "of arithmetic",
    ),
    Key("run.threads", 0, _COUNT, "CPU threads; 0: all cores"),
    Key("run.compile", "auto", kinds.COMPILE, "compile the traced step"),
    Key("run.chunk", 0, _COUNT, "clients in one program; 0: the engine's rule"),
    Key(
        "run.buffers",
        "average",
        kinds.choice("average local freeze"),
        "what becomes of BatchNorm's statistics",
    ),
    Key("run.on_nonfinite", "stop", kinds.choice("stop skip_client"), "when numbers run away"),
    Key("run.eval_every", 1, _AT_LEAST_ONE, "rounds between evaluations"),
    Key("run.checkpoint_every", 10, _COUNT, "rounds between checkpoints"),
    Key("run.target", 0.0, kinds.SHARE, 'accuracy for "rounds to target"'),
)
BY_NAME = {key.name: key for key in KEYS}
SECTIONS = ("data", "model", "local", "run")
PARTITIONS = tuple(word for word in _PARTITIONS.words if word != "auto")
LATER_KEYS = frozenset({"run.state_memory", "run.state_dir"})


def unknown_key(name: str) -> InputError:
    """Build the error for a key that there is not, with the nearest one that there is.

    >>> print(unknown_key("alpha"))
    unknown key 'alpha': did you mean 'data.alpha'?
    """
    if name in LATER_KEYS:
        return InputError(f"the key '{name}' is not in this version")
    section, _, last = name.rpartition(".")
    if name in SECTIONS:
        keys = ", ".join(key.name for key in KEYS if key.section == name)
        return InputError(f"'{name}' is a table, not a key. Allowed: {keys}")
    if section and section not in SECTIONS:
        table = nearest(section, SECTIONS)
        close = f"{table}.{last}" if f"{table}.{last}" in BY_NAME else None
        return _unknown(name, close) if close else unknown("table", section, SECTIONS)
    same = [key for key in BY_NAME if key.rpartition(".")[2] == last]
    close = same[0] if same else nearest(name, BY_NAME)
    keys_there = [key.name for key in KEYS if key.section == section]
    return _unknown(name, close) if close else unknown("key", name, keys_there)


def _unknown(name: str, close: str) -> InputError:
    return InputError(f"unknown key '{name}': did you mean '{close}'?")
