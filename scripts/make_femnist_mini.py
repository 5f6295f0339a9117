"""Make the embedded data set from a file of LEAF's FEMNIST by writer.

python scripts/make_femnist_mini.py femnist_writers.npz

The file holds x_train, y_train, writer_train, x_test, y_test, writer_test (28x28 uint8, ink high),
``classes`` (the 62 characters) and ``writers`` (NIST's names of the writers). Everything in it is
kept. The result is the same, byte for byte, each time it is made by the same zlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src" / "fedkeel" / "data" / "femnist_mini.npz"
LIMIT = 4_000_000
ARRAYS = (
    "x_train", "y_train", "writer_train", "x_test", "y_test", "writer_test", "classes", "writers",
)  # fmt: skip


def main(source: str) -> None:
    """Repack the arrays with zlib, which every Python has, and check what was written."""
    with np.load(source, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in ARRAYS}
    np.savez_compressed(TARGET, **arrays)
    with np.load(TARGET, allow_pickle=False) as written:
        assert all(np.array_equal(written[name], arrays[name]) for name in ARRAYS)
    size = TARGET.stat().st_size
    assert size <= LIMIT, f"{size} bytes are more than the {LIMIT} that a package should carry"
    print(f"{TARGET}: {size} bytes, {len(arrays['x_train'])} + {len(arrays['x_test'])} images")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
