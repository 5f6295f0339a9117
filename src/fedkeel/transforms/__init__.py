"""Pure transforms of a gradient. The same ones serve a client's step and the server's."""

from .adaptive import Adaptive
from .base import AtClient, AtServer, Transform
from .centralise import Centralise, Head, centred
from .momentum import Momentum

__all__ = [
    "Adaptive",
    "AtClient",
    "AtServer",
    "Centralise",
    "Head",
    "Momentum",
    "Transform",
    "centred",
]
