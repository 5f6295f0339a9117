"""The data sets that have a name: what each is, how it is read, and where it can be had."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits

from ...errors import unknown
from ..preparation import Preparation
from ..readers.cifar_names import CIFAR10, CIFAR100_COARSE, CIFAR100_FINE
from . import official
from .entry import Entry
from .published import DIGESTS, FILES


def known(name: str, *others: str) -> Entry:
    """Return the data set of that name, or say which there are.

    Args:
        name: Its name.
        others: What is allowed besides the names, where an error lists them.

    >>> known("cifar10").classes
    10
    """
    if name not in DATASETS:
        raise unknown("data set", name, [*DATASETS, *others])
    return DATASETS[name]


_DIGITS, _LETTERS = tuple(digits), tuple(ascii_lowercase)
_CHARACTERS = tuple(digits + ascii_uppercase + ascii_lowercase)
_CLOTHES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip

_NIST = "NIST Special Database 19 (US Government work)"
_KRIZHEVSKY = "none stated by its makers; cite Krizhevsky 2009"

_COLOURS = ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))
_SMALL = Preparation(*_COLOURS, crop=4, flip=True)
_LARGER = Preparation(*_COLOURS, crop=8, flip=True)
_HANDWRITING = Preparation((0.1751,), (0.3333,), crop=4, flip=True)  # characters are mirrored too
_INK = Preparation((0.1307,), (0.3081,))
_GREY = Preparation((0.5,), (0.5,))
_MIDDLE = Preparation((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
_IMAGENET = Preparation((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), flip=True)

_LEAF = (
    "run LEAF's data/{0}/preprocess.sh (github.com/TalwalkarLab/leaf) and put its data folder, "
    "which holds train and test, into {{folder}}/{0}"
)


def _emnist(split: str, train: int, test: int, labels: tuple[str, ...], title: str) -> Entry:
    name = f"emnist-{split}"
    return Entry(
        name,
        title,
        _NIST,
        train,
        test,
        len(labels),
        (1, 28, 28),
        read=official.idx(f"{name}-"),
        files=FILES[name],
        preparation=_HANDWRITING,
        labels=labels,
    )


_ENTRIES = (
    Entry(
        "femnist-mini",
        "Handwritten digits and letters by 192 writers; in the package",
        _NIST,
        28_243,
        3_222,
        62,
        (1, 28, 28),
        owners=192,
        labels=_CHARACTERS,
    ),
    Entry(
        "mnist",
        "Handwritten digits",
        "usually given as CC BY-SA 3.0",
        60_000,
        10_000,
        10,
        (1, 28, 28),
        read=official.idx(),
        files=FILES["mnist"],
        preparation=_INK,
        labels=_DIGITS,
        digests=DIGESTS["mnist"],
    ),
    Entry(
        "fmnist",
        "Fashion-MNIST: clothes, in the format of MNIST",
        "MIT",
        60_000,
        10_000,
        10,
        (1, 28, 28),
        read=official.idx(),
        files=FILES["fmnist"],
        preparation=_GREY,
        labels=_CLOTHES,
        digests=DIGESTS["fmnist"],
    ),
    _emnist("byclass", 697_932, 116_323, _CHARACTERS, "EMNIST: digits and letters, unbalanced"),
    _emnist("digits", 240_000, 40_000, _DIGITS, "EMNIST: digits, balanced"),
    _emnist(
        "letters", 124_800, 20_800, _LETTERS, "EMNIST: letters, both cases as one class, balanced"
    ),
    Entry(
        "femnist",
        "LEAF's FEMNIST: handwritten digits and letters, by writer",
        _NIST,
        None,
        None,
        62,
        (1, 28, 28),
        owners=None,
        read=official.femnist,
        also=("femnist_writers.npz",),
        by_hand=_LEAF.format("femnist"),
        preparation=_INK,
        labels=_CHARACTERS,
    ),
    Entry(
        "cifar10",
        "Small photographs of animals and vehicles",
        _KRIZHEVSKY,
        50_000,
        10_000,
        10,
        (3, 32, 32),
        read=official.cifar10,
        files=FILES["cifar10"],
        local=("cifar-10-batches-py", "cifar-10-binary.tar.gz", "cifar-10-batches-bin"),
        preparation=_SMALL,
        labels=CIFAR10,
        digests=DIGESTS["cifar10"],
    ),
    Entry(
        "cifar100",
        "Small photographs of 100 things in 20 coarse classes",
        _KRIZHEVSKY,
        50_000,
        10_000,
        100,
        (3, 32, 32),
        read=official.cifar100,
        files=FILES["cifar100"],
        local=("cifar-100-python", "cifar-100-binary.tar.gz", "cifar-100-binary"),
        preparation=_SMALL,
        labels=CIFAR100_FINE,
        coarse_labels=CIFAR100_COARSE,
        digests=DIGESTS["cifar100"],
    ),
    Entry(
        "tinyimagenet",
        "Photographs of 200 things; its validation part is for testing",
        "ImageNet's terms: research and teaching alone",
        100_000,
        10_000,
        200,
        (3, 64, 64),
        read=official.tinyimagenet,
        files=FILES["tinyimagenet"],
        local=("tiny-imagenet-200",),
        preparation=_LARGER,
    ),
    Entry(
        "lc25000",
        "Microscope images of lung and colon tissue, at 128x128",
        "free to use, as its makers say; cite Borkowski 2019",
        20_000,
        5_000,
        5,
        (3, 128, 128),
        read=official.lc25000,
        local=("lung_colon_image_set", "lung_colon_image_set.zip", "LC25000.zip"),
        by_hand="get LC25000.zip, or the folder lung_colon_image_set, from its makers "
        "(github.com/tampapath/lung_colon_image_set), and put it into {folder}",
        preparation=_IMAGENET,
    ),
    Entry(
        "flowers102",
        "Oxford's flowers, at 64x64; trained on its validation part too",
        "none stated by its makers; cite Nilsback and Zisserman 2008",
        2_040,
        6_149,
        102,
        (3, 64, 64),
        read=official.flowers102,
        files=FILES["flowers102"],
        preparation=_MIDDLE,
    ),
    Entry(
        "shakespeare",
        "What the roles of the plays say, 80 characters at a time",
        "public domain",
        None,
        None,
        80,
        (80,),
        owners=None,
        read=official.shakespeare,
        also=("shakespeare_moby_by_role.jsonl.xz", "shakespeare_moby_by_role.jsonl"),
        by_hand=_LEAF.format("shakespeare"),
    ),
)

DATASETS: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
