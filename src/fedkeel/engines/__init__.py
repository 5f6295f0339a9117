"""Who calls the verbs of a client, and for how many clients at once."""

from .base import Answers, Engine, Errand, Pool
from .sequential import Sequential
from .stacked import Stacked

__all__ = ["Answers", "Engine", "Errand", "Pool", "Sequential", "Stacked"]
