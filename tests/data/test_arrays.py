"""A user's own arrays."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedkeel.data import IID, Natural, from_arrays
from fedkeel.errors import InputError

X = np.arange(24, dtype=np.float32).reshape(6, 4)
Y = np.array([0, 1, 2, 0, 1, 2])


def test_arrays_and_tensors_are_the_same() -> None:
    a = from_arrays(X, Y, X, Y)
    b = from_arrays(torch.from_numpy(X), torch.from_numpy(Y), torch.from_numpy(X), Y.astype("u1"))
    assert a.sha256 == b.sha256
    assert (a.name, a.classes, a.train.y.dtype) == ("arrays", 3, torch.int64)


def test_nothing_is_copied_that_need_not_be() -> None:
    source = from_arrays(X, Y, X, Y)
    assert source.train.x.data_ptr() == X.__array_interface__["data"][0]
    assert source.train.y.data_ptr() == Y.__array_interface__["data"][0]


def test_awkward_memory_is_taken() -> None:
    frozen = X.copy()
    frozen.setflags(write=False)
    for x in (frozen, X[::-1][::-1], X.astype(">f4"), np.asfortranarray(X), X.tolist()):
        assert torch.equal(from_arrays(x, Y, x, Y).train.x.float(), torch.from_numpy(X))


def test_gradients_are_left_behind() -> None:
    x = torch.ones(6, 4, requires_grad=True)
    assert not from_arrays(x, Y, x, Y).train.x.requires_grad


def test_large_finite_numbers_are_not_taken_for_infinite() -> None:
    x = np.full((6, 4), 1e308)
    assert from_arrays(x, Y, x, Y).train.x.dtype == torch.float64


def test_floating_targets() -> None:
    source = from_arrays(X, X[:, :2], X, X[:, :2])
    assert source.classes is None
    assert source.split(IID(), 3).sizes.tolist() == [2, 2, 2]


def test_classes_can_be_more_than_seen() -> None:
    assert from_arrays(X, Y, X, Y, classes=10).classes == 10
    assert from_arrays(X, Y, X, Y + 4).classes == 7


def test_a_share_is_held_out_without_a_test_part() -> None:
    owner = np.arange(6)
    source = from_arrays(X, Y, owner=owner, test_share=0.3, seed=1)
    again = from_arrays(X, Y, owner=owner, test_share=0.3, seed=1)
    other = from_arrays(X, Y, owner=owner, test_share=0.3, seed=2)
    assert (len(source.train.y), len(source.test.y)) == (4, 2)
    rows = torch.cat([source.train.x, source.test.x])
    assert torch.equal(rows[rows[:, 0].argsort()], torch.from_numpy(X))
    assert source.owner is not None
    assert source.train.x[:, 0].tolist() == [4.0 * k for k in source.owner]
    assert source.sha256 == again.sha256 != other.sha256


def test_owner_feeds_the_natural_partition() -> None:
    source = from_arrays(X, Y, X, Y, owner=torch.tensor([5, 5, 2, 2, 9, 5]))
    assert source.split(Natural()).sizes.tolist() == [2, 3, 1]


def _with(array: np.ndarray, place: tuple, value: float) -> np.ndarray:
    changed = array.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((X, Y[:5], X, Y), {}, r"x has 6 samples and y the shape \(5,\)"),
        ((X, Y, X, Y[:5]), {}, r"x_test has 6 samples and y_test the shape \(5,\)"),
        ((X, Y[0], X, Y), {}, r"y the shape \(\)"),
        ((X, Y, X), {}, "y_test is missing"),
        ((X, Y, None, Y), {}, "x_test is missing"),
        ((X[:0], Y[:0], X, Y), {}, "it is empty"),
        ((X, Y, X[:0], Y[:0]), {}, "x_test has shape .* it is empty"),
        ((X[:, 0], Y, X, Y), {}, "two dimensions or more"),
        ((_with(X, (3, 1), np.nan), Y, X, Y), {}, "x holds 1 values .* first in sample 3"),
        ((X, Y, _with(X, (0, 0), -np.inf), Y), {}, "x_test holds 1 values .* NaN or infinite"),
        ((X, _with(X[:, 0], (2,), np.inf), X, X[:, 0]), {}, "y holds 1 values"),
        ((X, Y - 1, X, Y), {}, "y holds the label -1"),
        ((X, Y, X, Y), {"classes": 2}, "the label 2: with classes=2 it must be below 2"),
        ((X, Y, X, Y), {"classes": 0}, "classes=0"),
        ((X, X[:, 0], X, X[:, 0]), {"classes": 3}, "classes=3, but y is torch.float32"),
        ((X, Y[:, None], X, Y), {}, r"y has shape \(6, 1\)"),
        ((X, Y, X[:, :3], Y), {}, r"of x_test differ in shape: \(4,\) and \(3,\)"),
        ((X, Y, X.astype("u1"), Y), {}, "give both the same type"),
        ((X, Y, X, Y.astype(float)), {}, "give both the same type"),
        ((X.astype(bool), Y, X, Y), {}, "x is bool: it must be uint8"),
        ((X, Y.astype(str), X, Y), {}, "y must be an array of numbers"),
        ((X.astype(object), Y, X, Y), {}, "x must be an array of numbers"),
        ((X.astype(complex), Y, X, Y), {}, "x must be an array of numbers"),
        (([[1.0], [1.0, 2.0]], Y, X, Y), {}, "x must be an array of numbers"),
        ((X, torch.zeros(6, dtype=torch.complex64), X, Y), {}, "y is complex"),
        ((X, Y), {"test_share": 1.0}, "test_share=1.0"),
        ((X[:1], Y[:1]), {}, "two are needed"),
        ((X, Y, X, Y), {"owner": np.zeros(5, int)}, "for each of 6 samples"),
        ((X, Y, X, Y), {"owner": np.full(6, -1)}, "owner holds -1"),
        ((X, Y, X, Y), {"owner": np.zeros(6)}, "owner is float64"),
    ],
)
def test_what_is_refused(arguments: tuple, options: dict, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        from_arrays(*arguments, **options)
    assert "\n" not in str(caught.value)
