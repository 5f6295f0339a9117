"""``python -m fedkeel`` is ``fedkeel``."""

from __future__ import annotations

from fedkeel.cli import script

if __name__ == "__main__":
    script()
