"""What cannot be the data set that it is said to be is told so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedkeel.data.raw import Raw
from fedkeel.data.sets.catalogue import known
from fedkeel.data.sets.conformity import check_published, conform, published_counts
from fedkeel.data.sets.store import digests
from fedkeel.errors import InputError
from tests.data.raws import coarse, digits, plays

HERE = Path("there.npz")


def test_names_are_added_where_there_are_none() -> None:
    assert conform(known("mnist"), digits(), HERE).labels == tuple("0123456789")
    named = digits()._replace(labels=tuple("abcdefghij"))
    assert conform(known("mnist"), named, HERE).labels == named.labels
    both = conform(known("cifar100"), coarse(), HERE)
    assert (len(both.labels), len(both.coarse_labels)) == (100, 20)
    fine = conform(known("cifar100"), coarse()._replace(coarse_train=None, coarse_test=None), HERE)
    assert fine.coarse_labels == ()


def test_plays_and_a_set_without_a_test_part_are_fine() -> None:
    assert conform(known("shakespeare"), plays(), HERE).labels == ()
    alone = digits()._replace(x_test=None, y_test=None)
    assert conform(known("femnist"), alone, HERE).x_test is None


GOOD = digits()


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("mnist", GOOD._replace(x_test=None, y_test=None), "it has no test part"),
        ("mnist", GOOD._replace(x_train=GOOD.x_train[:, :, :27]), r"x_train is .*\(n, 1, 28, 28\)"),
        ("mnist", GOOD._replace(x_test=GOOD.x_test[:, :, :27]), r"x_test is .*\(n, 1, 28, 28\)"),
        ("mnist", GOOD._replace(x_train=GOOD.x_train / 255), "x_train is float64"),
        ("mnist", GOOD._replace(x_train=GOOD.x_train[:0]), "x_train is empty"),
        ("mnist", GOOD._replace(y_train=GOOD.y_train[:-1]), "y_train is .* each of 20 samples"),
        ("mnist", GOOD._replace(y_train=GOOD.y_train + 1), "y_train holds 10: .* from 0 to 9"),
        ("mnist", GOOD._replace(y_test=GOOD.y_test - 1), "y_test holds -1"),
        ("mnist", GOOD._replace(y_train=GOOD.y_train / 2), "y_train is float64"),
        ("mnist", GOOD._replace(y_test=None), "y_test is missing"),
        ("mnist", GOOD._replace(owner=np.zeros(3, int)), "the owners is int64"),
        ("femnist", GOOD._replace(owner=np.full(20, -1)), "the owners holds -1: .* 0 or more"),
        ("cifar10", GOOD, r"uint8 \(n, 3, 32, 32\)"),
        ("shakespeare", GOOD, r"uint8 \(n, 81\)"),
        ("cifar100", coarse()._replace(coarse_test=np.full(100, 20)), "coarse_test holds 20"),
    ],
)
def test_what_cannot_be_it(name: str, raw: Raw, words: str) -> None:
    with pytest.raises(InputError, match=f"'there.npz' cannot be {name}: .*{words}") as caught:
        conform(known(name), raw, HERE)
    assert "\n" not in str(caught.value)


def test_fewer_classes_are_a_part_to_try_with() -> None:
    raw = digits(side=64, channels=3)._replace(labels=tuple("abcdefghij"))
    assert conform(known("tinyimagenet"), raw, HERE) == raw


def test_known_content_is_checked() -> None:
    check_published(known("femnist"), digits(), HERE)
    entry = replace(known("mnist"), digests=digests(digits()))
    check_published(entry, digits(), HERE)
    with pytest.raises(InputError, match="its x_train differs from the published"):
        check_published(known("mnist"), digits(), HERE)
    turned = digits()._replace(y_test=digits().y_test[::-1].copy())
    with pytest.raises(InputError, match="its y_test differs"):
        check_published(entry, turned, HERE)


def test_known_counts_are_compared() -> None:
    said = "20 + 10 samples where 60,000 + 10,000 were published"
    assert published_counts(known("mnist"), digits()) == said
    assert published_counts(known("femnist"), digits()) == ""
    assert published_counts(replace(known("mnist"), train=20, test=10), digits()) == ""
