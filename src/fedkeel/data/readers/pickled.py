"""Plain data out of a pickle, without running it: dicts, lists, texts, numbers and arrays."""

from __future__ import annotations

import math
import pickletools
import re
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .sound import sound

_T = TypeVar("_T")
_NUMBERS = ("INT", "LONG", "LONG1", "LONG4", "BININT", "BININT1", "BININT2", "FLOAT", "BINFLOAT")
_UNICODE = ("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_BYTES = ("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8")
_VALUES = frozenset((*_NUMBERS, *_UNICODE, *_BYTES))
_TEXTS = ("STRING", "BINSTRING", "SHORT_BINSTRING")  # Python 2's, which are bytes
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_NAMES = (
    "numpy.ndarray",
    "numpy.dtype",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct",
    "numpy.core.numeric._frombuffer",
    "numpy._core.numeric._frombuffer",
    "_codecs.encode",
    "__builtin__.bytes",
)


def read_pickle(data: bytes, called: str) -> dict[str, Any]:
    """Return the dict that a pickle holds, arrays in it as arrays, and keys as text.

    The pickle's opcodes are read one by one and a few of them understood. No name in it is looked
    up and nothing is called, so that a file from anywhere can do no harm.

    Args:
        data: The pickle, of any protocol.
        called: What to call it in an error.
    """
    with sound(called):
        found = _Machine(called).run(data)
        if not isinstance(found, dict):
            raise InputError(f"{called} holds a {type(found).__name__}: a dict is needed")
        return {key: _array(value) for key, value in found.items()}


class _Name(str):
    """A name that a pickle mentions."""


class _Made:
    """What a pickle says is made by a name of some values, and then filled with a state."""

    def __init__(self, name: str, values: tuple[Any, ...]) -> None:
        self.name = name.rpartition(".")[2]
        self.values = values
        self.state: tuple[Any, ...] = ()


class _Machine:
    """A stack, marks on it and a memo, as a pickle expects them."""

    def __init__(self, called: str) -> None:
        self._called = called
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        for opcode, argument, _ in pickletools.genops(data):
            if not (self._value(opcode.name, argument) or self._memory(opcode.name, argument)):
                self._gather(opcode.name, argument)
        return self._stack.pop()

    def _value(self, name: str, argument: Any) -> bool:
        """Put a value on the stack, if the opcode does that."""
        if name in _VALUES:
            self._stack.append(argument)
        elif name in _TEXTS:
            self._stack.append(argument.encode("latin-1"))
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in ("EMPTY_LIST", "EMPTY_DICT"):
            self._stack.append([] if name == "EMPTY_LIST" else {})
        elif name in _TUPLES:
            self._stack.append(tuple(self._cut(_TUPLES[name])))
        else:
            return False
        return True

    def _memory(self, name: str, argument: Any) -> bool:
        """Remember or recall a value, or set a mark, if the opcode does that or means nothing."""
        if name == "MEMOIZE":
            self._memo[len(self._memo)] = self._stack[-1]
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[argument] = self._stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self._stack.append(self._memo[argument])
        elif name == "MARK":
            self._marks.append(len(self._stack))
        elif name not in ("PROTO", "FRAME", "STOP"):
            return False
        return True

    def _gather(self, name: str, argument: Any) -> None:
        """Make something of what is on the stack."""
        match name:
            case "TUPLE" | "LIST":
                values = self._marked()
                self._stack.append(tuple(values) if name == "TUPLE" else values)
            case "DICT":
                self._stack.append(_pairs(self._marked()))
            case "APPEND" | "APPENDS":
                items = self._cut(1) if name == "APPEND" else self._marked()
                _of(list, self._stack[-1]).extend(items)
            case "SETITEM" | "SETITEMS":
                items = self._cut(2) if name == "SETITEM" else self._marked()
                _of(dict, self._stack[-1]).update(_pairs(items))
            case "GLOBAL":
                self._stack.append(self._name(argument.replace(" ", ".")))
            case "STACK_GLOBAL":
                self._stack.append(self._name(".".join(map(_text, self._cut(2)))))
            case "REDUCE":
                made, values = self._cut(2)
                self._stack.append(_reduced(_of(_Name, made), _of(tuple, values)))
            case "BUILD":
                (state,) = self._cut(1)
                _of(_Made, self._stack[-1]).state = _of(tuple, state)
            case _:
                raise InputError(f"{self._called} holds {name.lower()}: plain arrays have none")

    def _name(self, name: str) -> _Name:
        if name not in _NAMES:
            raise InputError(f"{self._called} holds code ({name!r}): only plain arrays are read")
        return _Name(name)

    def _cut(self, count: int) -> list[Any]:
        start = len(self._stack) - count
        if start < (self._marks[-1] if self._marks else 0):
            raise ValueError("the stack is too short")
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _marked(self) -> list[Any]:
        return self._cut(len(self._stack) - self._marks.pop())


def _of(kind: type[_T], value: Any) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} is needed")
    return value


def _pairs(items: list[Any]) -> dict[str, Any]:
    # Text alone: a key is hashed, which for tuples in tuples in tuples would never end.
    return {_text(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _reduced(name: _Name, values: tuple[Any, ...]) -> Any:
    if name == "__builtin__.bytes" and not values:
        return b""
    if name != "_codecs.encode":
        return _Made(name, values)
    text, encoding = values
    if encoding not in ("latin1", b"latin1"):
        raise ValueError("another encoding")
    return text.encode("latin-1")


def _array(value: Any) -> Any:
    """Return an array where a pickle says one is made, and anything else as it is."""
    if not isinstance(value, _Made):
        return value
    if value.name == "_frombuffer":
        data, kind, shape, order = value.values
        content = data if isinstance(data, bytes) else bytes(_of(bytearray, data))
        return _shaped(content, kind, shape, _text(order))
    if value.name != "_reconstruct" or value.values[0] != "numpy.ndarray":
        raise ValueError("no array")
    _, shape, kind, fortran, data = value.state
    return _shaped(data, kind, shape, "F" if fortran else "C")


def _shaped(data: bytes, kind: _Made, shape: tuple[int, ...], order: str) -> NDArray[Any]:
    code = _text(kind.values[0])
    if kind.name != "dtype" or not re.fullmatch("[biuf][1248]", code):
        raise ValueError("an array of something else than numbers")
    big = bool(kind.state) and _text(kind.state[1]) == ">"
    dtype = np.dtype(f"{'>' if big else '<'}{code}")
    if math.prod(shape) * dtype.itemsize != len(data) or order not in ("C", "F"):
        raise ValueError("an array of another size than its shape")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="C" if order == "C" else "F")


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else _of(str, value)
