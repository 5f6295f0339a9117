"""The contract for a part, and the conformance suite that runs on the user's own machine."""

from .conformance import Check, verify
from .contract import PartError, check_part

__all__ = ["Check", "PartError", "check_part", "verify"]
