"""Noise on what clients hold: exact counts, never the original label, and a record of where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedkeel.data import IID, Federation, Source, from_arrays
from fedkeel.data.federation import SERVER, UNUSED, Samples
from fedkeel.data.noise.adding import add_noise
from fedkeel.data.noise.corruptions import CORRUPTIONS, corrupt
from fedkeel.data.noise.rates import count, rates
from fedkeel.errors import InputError
from fedkeel.numerics.random import generator

CLASSES = 5


def source(samples: int = 200, classes: int = CLASSES, side: int = 4, channels: int = 1) -> Source:
    """Return images whose pixels say which sample they are."""
    x = np.arange(samples).repeat(channels * side * side).reshape(samples, channels, side, side)
    y = np.arange(samples) % classes
    return from_arrays(x.astype(np.uint8), y, x[:20].astype(np.uint8), y[:20], classes=classes)


def federation(
    clients: int = 4, samples: int = 200, server: float = 0.1, **more: Any
) -> Federation:
    """Return a split in which some samples are the server's and some nobody's."""
    split = source(samples, **more).split(IID(), clients, seed=3, server=server)
    owner = split.owner.copy()
    owner[np.flatnonzero(owner >= 0)[:7]] = UNUSED
    return replace(split, owner=owner)


def labels(of: Federation) -> np.ndarray:
    return of.train.y.numpy()


def changed(before: Federation, after: Federation) -> np.ndarray:
    return labels(before) != labels(after)


# --- rates ---


@given(st.integers(0, 1000), st.integers(0, 10**6))
def test_a_count_is_the_whole_part_of_the_product(thousandths: int, size: int) -> None:
    """Of the floating-point product, as the formula int(rate n) says: 28 for 0.29 of 100."""
    found, exact = count(thousandths / 1000, size), thousandths * size // 1000
    assert count(0.29, 100) == 28
    if thousandths * size % 1000:
        assert found == exact
    else:  # a whole number may be rounded to just below it
        assert found == exact - (thousandths / 1000 * size < exact)


def test_a_rate_is_a_number_a_list_or_a_range() -> None:
    assert rates("label", 1, 3, 0, "label-noise").tolist() == [1, 1, 1]
    assert rates("label", [0, 0.5, 1], 3, 0, "label-noise").tolist() == [0, 0.5, 1]
    assert rates("label", np.array([0.1, 0.2]), 2, 0, "label-noise").tolist() == [0.1, 0.2]
    drawn = rates("label", {"low": 0.2, "high": 0.6}, 500, 9, "label-noise")
    own = [0.2 + (0.6 - 0.2) * generator(9, "label-noise", 1, k).random() for k in range(500)]
    assert drawn.tolist() == own
    assert 0.2 <= drawn.min() < 0.22
    assert 0.58 < drawn.max() <= 0.6


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (
            1.5,
            r"^label=1\.5 is out of range: it must be a rate in \[0, 1\], a list of one a client",
        ),
        (-0.1, r"^label=-0\.1"),
        (float("nan"), r"^label=nan"),
        (True, r"^label=True"),
        ("0.4", r"^label='0\.4'"),
        (None, r"^label=None"),
        (
            [0.1, 0.2],
            r"^label has 2 rates and there are 4 clients: give one number, or a list of 4",
        ),
        ([0.1, 0.2, 2, 0.1], r"^label\[2\]=2 is out of range"),
        ({"low": 0.1}, "low.*high"),
        ({"low": 0.1, "high": 0.4, "mean": 0.2}, "low.*high"),
        ({"low": 0.4, "high": 0.1}, "low is not above its high"),
        ({"low": -1, "high": 0.1}, r"^label\.low=-1"),
        ({"low": 0, "high": "x"}, r"^label\.high='x'"),
    ],
)
def test_wrong_rates(rate: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        add_noise(federation(), label=rate)
    assert "\n" not in str(caught.value)


# --- wrong labels ---


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.integers(0, 100), min_size=4, max_size=4),
    st.sampled_from(["symmetric", "pairwise"]),
    st.integers(0, 2**40),
)
def test_each_client_gets_exactly_its_count_of_wrong_labels(
    percent: list[int], kind: str, seed: int
) -> None:
    before = federation()
    after = add_noise(before, label=[p / 100 for p in percent], kind=kind, seed=seed)
    wrong = changed(before, after)
    for k in range(4):
        rows = before.indices(k)
        assert wrong[rows].sum() == percent[k] * len(rows) // 100
    assert not wrong[before.owner < 0].any()
    assert 0 <= labels(after).min() <= labels(after).max() < CLASSES
    if any(percent):
        assert_array_equal(after.clean, ~wrong)


def test_what_was_given_stays_as_it_was() -> None:
    before, fresh = federation(), federation()
    after = add_noise(before, label=0.5, attribute=0.5, open_set=0.5, foreign=[0])
    assert before.sha256 == fresh.sha256
    assert before.clean is None
    assert after.sha256 != before.sha256
    assert after.name == before.name
    assert (after.clients, after.partition, after.seed) == (4, "iid", 3)


def test_wrong_labels_leave_images_and_test_set_alone() -> None:
    before = federation()
    after = add_noise(before, label=0.5)
    assert after.train.x is before.train.x
    assert after.test is before.test
    assert_array_equal(after.owner, before.owner)


def test_pairwise_is_the_next_class() -> None:
    before = federation()
    after = add_noise(before, label=1.0, kind="pairwise")
    held = before.owner >= 0
    assert_array_equal(labels(after)[held], (labels(before)[held] + 1) % CLASSES)


def test_symmetric_is_uniform_over_the_other_classes() -> None:
    before = source(8000, side=1).split(IID(), 2)
    after = add_noise(before, label=1.0)
    table = np.zeros((CLASSES, CLASSES))
    np.add.at(table, (labels(before), labels(after)), 1)
    others = table[~np.eye(CLASSES, dtype=bool)]
    assert not table.diagonal().any()
    assert np.abs(others - 400).max() < 5 * np.sqrt(400 * 0.75)


def test_two_classes_swap() -> None:
    before = federation(classes=2)
    after = add_noise(before, label=1.0)
    held = before.owner >= 0
    assert_array_equal(labels(after)[held], 1 - labels(before)[held])


def test_a_higher_rate_keeps_the_noise_of_a_lower_one() -> None:
    before = federation(samples=400)
    less, more = (add_noise(before, label=rate, attribute=rate) for rate in (0.2, 0.7))
    assert less.clean is not None
    assert more.clean is not None
    wrong = changed(before, less)
    assert_array_equal(labels(less)[wrong], labels(more)[wrong])
    assert not more.clean[~less.clean].any()
    spoilt = (less.train.x != before.train.x).flatten(1).any(1)
    assert (less.train.x[spoilt] == more.train.x[spoilt]).all()


def test_a_clients_noise_does_not_depend_on_the_others() -> None:
    before = federation()
    alone = replace(before, owner=np.where(before.owner == 2, 2, UNUSED))
    both = [add_noise(of, label=0.4, attribute=0.4, foreign=[1], open_set=0.5)
            for of in (before, alone)]  # fmt: skip
    rows = before.indices(2)
    for part in range(2):
        a, b = (of.train[part][rows] for of in both)
        assert (a == b).all()
    assert_array_equal(both[0].owner[rows], both[1].owner[rows])


def test_seeds() -> None:
    before = federation()
    first, again, other = (add_noise(before, label=0.4, seed=seed) for seed in (0, 0, 1))
    assert first.sha256 == again.sha256 != other.sha256
    assert before.with_noise(label=0.4).sha256 == add_noise(before, label=0.4, seed=3).sha256
    assert before.with_noise(label=0.4, seed=1).sha256 == other.sha256


def test_draws_are_the_same_everywhere() -> None:
    """Written down once: these are drawn as integers and may not change."""
    before = Federation(source(12), np.arange(12) % 2, "file", 2)
    after = add_noise(before, label=0.5, foreign=[4], open_set=1.0, seed=5)
    assert labels(before).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert labels(after).tolist() == [0, 2, 3, 3, 0, 0, 1, 2, 3, 3, 3, 3]
    assert after.clean is not None
    assert np.flatnonzero(~after.clean).tolist() == [1, 2, 4, 9, 10, 11]


# --- foreign classes ---


def foreign_case(rate: Any, **more: Any) -> tuple[Federation, Federation, np.ndarray]:
    before = federation()
    after = add_noise(before, open_set=rate, foreign=[1, 3], **more)
    return before, after, np.isin(labels(before), [1, 3])


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0, [0.0, 0.25, 0.5, 1.0]])
def test_an_exact_share_of_foreign_samples_stays(rate: Any) -> None:
    before, after, strange = foreign_case(rate)
    for k in range(4):
        rows = before.indices(k)
        rows = rows[strange[rows]]
        share = rate[k] if isinstance(rate, list) else rate
        assert (after.owner[rows] == k).sum() == count(share, len(rows))
        assert set(after.owner[rows]) <= {k, UNUSED}
    assert after.clean is not None
    assert_array_equal(~after.clean, strange)
    assert (labels(after)[strange & (after.owner < 0)] == 0).all()


def test_the_other_classes_are_numbered_anew() -> None:
    before, after, strange = foreign_case(0.5)
    assert after.classes == 3
    for old, new in ((0, 0), (2, 1), (4, 2)):
        assert (labels(after)[labels(before) == old] == new).all()
    assert_array_equal(after.owner[~strange], before.owner[~strange])
    assert after.train.x is before.train.x
    assert after.label_counts.shape == (4, 3)


def test_test_set_and_server_keep_the_other_classes_alone() -> None:
    before, after, strange = foreign_case(1.0)
    assert (before.owner[strange] == SERVER).any()
    assert not (after.owner[strange] == SERVER).any()
    assert (after.owner[strange & (before.owner < 0)] == UNUSED).all()
    assert before.test.y.tolist() == [0, 1, 2, 3, 4] * 4
    assert after.test.y.tolist() == [0, 1, 2] * 4
    assert after.test.x[:, 0, 0, 0].tolist() == [i for i in range(20) if i % 5 not in (1, 3)]


def test_foreign_samples_get_any_other_label() -> None:
    before = source(3000, side=1).split(IID(), 2)
    after = add_noise(before, open_set=1.0, foreign=[0])
    found = np.bincount(labels(after)[labels(before) == 0], minlength=4)
    assert np.abs(found - 150).max() < 5 * np.sqrt(150 * 0.75)


def test_names_and_parents_follow_the_classes() -> None:
    named = replace(source(), labels=tuple("abcde"), parents=(0, 0, 1, 1, 2))
    after = add_noise(named.split(IID(), 4), foreign=["b", 3, "b"])
    assert after.source.labels == ("a", "c", "e")
    assert after.source.parents == (0, 1, 2)
    assert after.noise["foreign"] == [1, 3]


def test_a_client_may_be_left_with_nothing() -> None:
    before = Federation(source(10), np.where(np.arange(10) % 5 == 1, 0, 1), "file", 2)
    after = add_noise(before, foreign=[1])
    assert after.sizes.tolist() == [0, 8]
    assert add_noise(before, foreign=[1], label=0.5).sizes.tolist() == [0, 8]


@pytest.mark.parametrize(
    ("foreign", "message"),
    [
        ([5], "^foreign holds 5: it must hold classes of 'arrays', integers from 0 to 4"),
        ([-1], "^foreign holds -1"),
        ([True], "^foreign holds True"),
        ([1.0], r"^foreign holds 1\.0"),
        (["b"], "^foreign holds 'b'"),
        ("1", "^foreign='1' is out of range: it must be a list of classes"),
        (3, "^foreign=3"),
        ([0, 1, 2, 3, 4], r"leaves 'arrays' 0 of 5 classes: two at least are needed"),
        ([0, 1, 2, 3], r"^foreign=\[0, 1, 2, 3\] leaves 'arrays' 1 of 5 classes"),
        ([], "^open_set has nothing to mix in: give foreign"),
    ],
)
def test_wrong_foreign_classes(foreign: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        add_noise(federation(), open_set=0.5, foreign=foreign)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_told_the_nearest() -> None:
    named = replace(source(), labels=("cat", "dog", "frog", "ship", "truck"))
    with pytest.raises(InputError, match="unknown foreign class 'frg': did you mean 'frog'"):
        add_noise(named.split(IID(), 4), foreign=["frg"])


def test_a_test_set_of_foreign_classes_alone_is_refused() -> None:
    full = source()
    only = replace(full, test=Samples(full.test.x[:1], full.test.y[:1]))
    with pytest.raises(InputError, match="all test samples of 'arrays' are of foreign classes"):
        add_noise(only.split(IID(), 4), foreign=[0])


# --- corrupted images ---


@pytest.mark.parametrize("rate", [0.3, 1.0, [0.0, 0.25, 0.5, 1.0]])
def test_an_exact_share_of_images_is_corrupted(rate: Any) -> None:
    before = federation(channels=3, side=8)
    after = add_noise(before, attribute=rate, corruptions=["brightness"], severity=1)
    spoilt = (before.train.x != after.train.x).flatten(1).any(1).numpy()
    for k in range(4):
        share = rate[k] if isinstance(rate, list) else rate
        assert spoilt[before.indices(k)].sum() == count(share, len(before.indices(k)))
    assert not spoilt[before.owner < 0].any()
    assert_array_equal(after.clean, ~spoilt)
    assert after.train.x.dtype == torch.uint8
    assert after.train.y is before.train.y
    assert after.test is before.test


def test_corruptions_are_drawn_uniformly_and_each_image_has_its_own_generator() -> None:
    before = Federation(source(90, side=8), np.zeros(90, dtype=np.int64), "file", 1)
    after = add_noise(before, attribute=1.0, severity=4, seed=2)
    rng = generator(2, "attribute", 0, 0)
    rows = rng.permutation(90)
    names = np.array(list(CORRUPTIONS))[rng.integers(9, size=90)]
    rngs = [generator(2, "attribute", 2, row) for row in rows]
    expected = corrupt(before.train.x.numpy()[rows], names, 4, rngs)
    assert_array_equal(after.train.x.numpy()[rows], expected)
    assert len(set(names)) == 9


def test_corruptions_are_a_set() -> None:
    before = federation(side=8)
    a, b = (
        add_noise(before, attribute=0.5, corruptions=names)
        for names in (["fog", "jpeg", "fog"], ("jpeg", "fog"))
    )
    assert a.sha256 == b.sha256


def test_attribute_noise_is_not_where_label_noise_is() -> None:
    before = federation(samples=400, side=8)
    where = [add_noise(before, **{kind: 0.5}).clean for kind in ("label", "attribute")]
    assert where[0] is not None
    assert where[1] is not None
    both = (~where[0] & ~where[1]).sum() / (before.owner >= 0).sum()
    assert 0.15 < both < 0.35  # a quarter


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (torch.zeros(20, 1, 4, 4), r"float32 of shape \(20, 1, 4, 4\)"),
        (torch.zeros(20, 16, dtype=torch.uint8), r"uint8 of shape \(20, 16\)"),
        (torch.zeros(20, 2, 4, 4, dtype=torch.uint8), r"uint8 of shape \(20, 2, 4, 4\)"),
        (torch.zeros(20, 4, dtype=torch.int64), r"int64 of shape \(20, 4\)"),
    ],
)
def test_attribute_noise_needs_images(x: torch.Tensor, kind: str) -> None:
    split = from_arrays(x, torch.arange(20) % 4, x[:4], torch.arange(4)).split(IID(), 4)
    with pytest.raises(InputError, match=f"^attribute noise needs uint8 images .* is {kind}"):
        add_noise(split, attribute=0.5)
    assert add_noise(split, label=0.5).clean is not None


# --- several, none, wrong ones ---


def test_all_three_in_their_order() -> None:
    before = federation(samples=400, side=8)
    mixed = add_noise(before, open_set=0.5, foreign=[0])
    after = add_noise(before, open_set=0.5, foreign=[0], label=0.4, attribute=0.3)
    assert_array_equal(after.owner, mixed.owner)
    wrong = labels(after) != labels(mixed)
    spoilt = (after.train.x != before.train.x).flatten(1).any(1).numpy()
    for k in range(4):
        rows = mixed.indices(k)
        assert wrong[rows].sum() == count(0.4, len(rows))
        assert spoilt[rows].sum() <= count(0.3, len(rows))
    assert mixed.clean is not None
    assert after.clean is not None
    assert not after.clean[wrong | spoilt | ~mixed.clean].any()
    assert after.clean[(before.owner < 0) & (labels(before) != 0)].all()


@pytest.mark.parametrize("zero", [0, 0.0, [0.0] * 4, {"low": 0, "high": 0}])
def test_no_noise_is_the_same_federation(zero: Any) -> None:
    before = federation()
    assert add_noise(before, label=zero, open_set=zero, attribute=zero) is before


def test_noise_says_itself_as_a_recipe_does() -> None:
    before = federation(side=8)
    after = add_noise(
        before,
        label=(0.25, 0, 0, 1),
        open_set={"low": 0, "high": 1},
        foreign=(3, 1),
        attribute=np.float64(0.5),
        corruptions=("jpeg", "fog"),
        severity=2,
    )
    assert after.noise == {
        "open_set_noise": {"low": 0.0, "high": 1.0},
        "foreign": [1, 3],
        "label_noise": [0.25, 0.0, 0.0, 1.0],
        "label_noise_kind": "symmetric",
        "attribute_noise": 0.5,
        "corruptions": ["fog", "jpeg"],
        "severity": 2,
    }
    again = add_noise(
        before,
        label=after.noise["label_noise"],
        open_set=after.noise["open_set_noise"],
        foreign=after.noise["foreign"],
        attribute=after.noise["attribute_noise"],
        corruptions=after.noise["corruptions"],
        severity=after.noise["severity"],
    )
    assert again.sha256 == after.sha256


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "pair"}, "unknown kind of label noise 'pair': did you mean 'pairwise'"),
        ({"severity": 0}, "severity=0 is out of range: it must be an integer from 1 to 5"),
        ({"severity": 2.0}, r"severity=2\.0"),
        ({"severity": True}, "severity=True"),
        ({"corruptions": ["frots"]}, r"unknown corruption 'frots': did you mean 'frost'\? Allowed"),
        ({"corruptions": [3]}, "unknown corruption '3'"),
        ({"corruptions": "fog"}, "corruptions='fog' is out of range: it must be a list of names"),
        ({"corruptions": None}, "corruptions=None"),
    ],
)
def test_wrong_choices(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        add_noise(federation(), **wrong)


def test_noise_is_put_on_once() -> None:
    noisy = add_noise(federation(), label=0.5)
    with pytest.raises(InputError, match="'arrays' has noise already"):
        add_noise(noisy, label=0.5)


@pytest.mark.parametrize(
    ("noise", "named"), [({"label": 0.5}, "label"), ({"foreign": [0], "open_set": 1.0}, "open-set")]
)
def test_labels_are_needed(noise: dict[str, Any], named: str) -> None:
    x = torch.ones(20, 6)
    floating = from_arrays(x, x, x, x).split(IID(), 4)
    tokens = from_arrays(x.long(), x.long(), x.long(), x.long()).split(IID(), 4)
    with pytest.raises(InputError, match=f"^{named} noise needs one class .* has floating targets"):
        add_noise(floating, **noise)
    with pytest.raises(InputError, match=f"^{named} noise needs one class .* step of a sequence"):
        add_noise(tokens, **noise)


def test_one_class_has_no_wrong_label() -> None:
    with pytest.raises(InputError, match=r"^label noise needs two classes, and 'arrays' has 1"):
        add_noise(federation(classes=1), label=0.5)
