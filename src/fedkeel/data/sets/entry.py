"""What is known of a data set that has a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..preparation import Preparation
from .arrival import Remote
from .official import Reader

_AS_IT_IS = Preparation()


@dataclass(frozen=True)
class Entry:
    """A data set that can be had by its name.

    Attributes:
        name: What it is called in a recipe.
        title: What it is, in a line.
        licence: Under which terms it may be used.
        train: How many training samples it has, as published; None: its maker decides.
        test: How many test samples.
        classes: How many classes.
        shape: The shape of a sample.
        owners: How many natural owners it has; 0: none; None: its maker decides.
        read: Makes arrays of its official files; None: it lies inside the package.
        files: Its official files, where anybody may fetch them.
        local: What its official files or folders are called otherwise, once they are on a machine.
        also: Further names of files that serve as well, of arrays or of text.
        by_hand: What to fetch or to make where there is no address, and where to put it.
        preparation: How its images are normalised, and moved about in training.
        labels: The names of its classes, where its files do not say them.
        coarse_labels: The names of its coarse classes.
        digests: The SHA-256 of its arrays as they are stored, where they are known.
    """

    name: str
    title: str
    licence: str
    train: int | None
    test: int | None
    classes: int
    shape: tuple[int, ...]
    owners: int | None = 0
    read: Reader | None = None
    files: tuple[Remote, ...] = ()
    local: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    by_hand: str = ""
    preparation: Preparation = _AS_IT_IS
    labels: tuple[str, ...] = ()
    coarse_labels: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def packaged(self) -> bool:
        """Whether it came with the package."""
        return self.read is None

    @property
    def tokens(self) -> bool:
        """Whether a sample is a sequence of tokens."""
        return len(self.shape) == 1

    def home(self, folder: Path) -> Path:
        """Return where in a folder of data sets its official files belong.

        Several get a folder of their own, since those of two data sets may have the same names.
        """
        return folder / self.name if len(self.files) > 1 else folder
