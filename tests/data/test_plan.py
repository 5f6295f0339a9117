"""Who sees which sample when: by address alone, every sample once a pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedkeel.data.plan import Rows, cohort, plan
from fedkeel.errors import InputError
from fedkeel.numerics.random import PURPOSES, _philox, generator, orders, words

LONG = 512  # where one way of drawing gives over to the other
many = settings(max_examples=60, deadline=None, derandomize=True, database=None)
sizes = st.lists(st.integers(0, 40), min_size=1, max_size=5)


def planned(lengths: list[int], clients: list[int] | None = None, **changed: Any) -> list[Rows]:
    how = {"batch_size": 4, "epochs": 2, "steps": None, "batches": "keep", "seed": 0, "round": 0}
    rows = [np.arange(n) for n in lengths]
    return plan(rows, clients or list(range(len(lengths))), **{**how, **changed})


def passes(rows: np.ndarray, epochs: int) -> list[list[int]]:
    """Return the samples of every pass, padding left out."""
    return [sorted(r[r >= 0].tolist()) for r in rows.reshape(epochs, -1)]


@many
@given(sizes, st.integers(1, 9), st.integers(1, 3), st.integers(0, 5))
def test_every_sample_once_a_pass(lengths: list[int], batch: int, epochs: int, number: int) -> None:
    for n, made in zip(
        lengths, planned(lengths, batch_size=batch, epochs=epochs, round=number), strict=True
    ):
        steps = epochs * -(-n // batch)
        assert made.shape == (steps, batch)
        if n:
            assert passes(made, epochs) == [list(range(n))] * epochs
            short = [n % batch or batch if t % (steps // epochs) == steps // epochs - 1 else batch
                     for t in range(steps)]  # fmt: skip
            assert (made >= 0).sum(1).tolist() == short


@many
@given(sizes, st.integers(1, 9))
def test_drop_leaves_the_short_last_batch_out(lengths: list[int], batch: int) -> None:
    made = planned(lengths, batch_size=batch, batches="drop")
    for n, one in zip(lengths, made, strict=True):
        assert one.shape == (2 * (n // batch), batch) and (one >= 0).all()
        for samples in passes(one, 2) if n >= batch else []:
            assert len(set(samples)) == len(samples) == n // batch * batch


@many
@given(sizes, st.integers(1, 9))
def test_pad_repeats_the_first_samples_before_the_shuffle(lengths: list[int], batch: int) -> None:
    made = planned(lengths, batch_size=batch, batches="pad")
    for n, one in zip(lengths, made, strict=True):
        full = -(-n // batch) * batch
        expected = sorted(i % n for i in range(full)) if n else []
        assert one.shape == (2 * full // batch, batch) and (one >= 0).all()
        if n:
            assert passes(one, 2) == [expected, expected]


def test_pad_goes_round_where_a_client_holds_less_than_a_batch() -> None:
    (made,) = planned([3], batch_size=8, batches="pad", epochs=1)
    assert sorted(made[0].tolist()) == [0, 0, 0, 1, 1, 1, 2, 2]


@many
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 30))
def test_steps_take_batches_of_successive_passes(n: int, batch: int, steps: int) -> None:
    (made,) = planned([n], batch_size=batch, epochs=None, steps=steps)
    (longer,) = planned([n], batch_size=batch, epochs=40)
    assert np.array_equal(made, longer[:steps]) and len(made) == steps


def test_steps_of_who_has_no_full_batch_are_none() -> None:
    empty, short, full = planned([0, 3, 4], epochs=None, steps=5, batches="drop")
    assert (len(empty), len(short), len(full)) == (0, 0, 5)


def test_coresets_are_places_of_the_clients_list() -> None:
    how: dict[str, Any] = {"steps": None, "batches": "keep", "seed": 0, "round": 0}
    (made,) = plan([np.array([3, 8, 11])], [0], batch_size=2, epochs=1, **how)
    assert passes(made, 1) == [[3, 8, 11]]


@many
@given(st.lists(st.integers(1, 700), min_size=1, max_size=4), st.integers(0, 9), st.integers(0, 9))
def test_a_plan_does_not_depend_on_who_else_is_there(
    lengths: list[int], seed: int, number: int
) -> None:
    """The drawings side by side (short lists) and one by one (long lists) are the same numbers."""
    clients = [7 * i + 2 for i in range(len(lengths))]
    together = planned(lengths, clients, seed=seed, round=number)
    turned = planned(lengths[::-1], clients[::-1], seed=seed, round=number)[::-1]
    for n, client, one, other in zip(lengths, clients, together, turned, strict=True):
        (alone,) = planned([n], [client], seed=seed, round=number)
        assert np.array_equal(one, alone) and np.array_equal(one, other)


@pytest.mark.parametrize("n", [1, 5, LONG - 1, LONG, LONG + 1])
def test_the_order_is_that_of_the_words_at_the_address(n: int) -> None:
    (made,) = planned([n], [9], seed=3, round=4, epochs=2)
    for epoch, rows in enumerate(made.reshape(2, -1)):
        draws = generator(3, "batches", 4, 9, epoch).bit_generator.random_raw(n)
        assert np.array_equal(rows[rows >= 0], np.argsort(draws, kind="stable"))


def test_rounds_clients_passes_and_seeds_differ() -> None:
    def order(**changed: int) -> tuple[int, ...]:
        who = changed.pop("client", 0)
        (made,) = planned([30], [who], epochs=1, **changed)
        return tuple(made.flatten().tolist())

    seen = {order(), order(round=1), order(client=1), order(seed=1)}
    (two,) = planned([30], epochs=2)
    assert len(seen) == 4 and not np.array_equal(two[:8], two[8:])
    assert order() == tuple(two[:8].flatten().tolist())  # more passes change none before


# --- the cohort ---


@many
@given(st.integers(1, 60), st.data())
def test_a_cohort_is_drawn_without_replacement_and_sorted(n: int, data: st.DataObject) -> None:
    eligible = 3 * np.arange(n)
    size = data.draw(st.integers(1, n))
    drawn = cohort(eligible, size, seed=1, round=2)
    assert len(set(drawn.tolist())) == size and set(drawn) <= set(eligible)
    assert sorted(drawn) == drawn.tolist()
    assert np.array_equal(drawn, cohort(eligible, size, seed=1, round=2))


def test_every_client_has_the_same_chance() -> None:
    counts = np.zeros(10)
    for number in range(2000):
        counts[cohort(np.arange(10), 3, seed=0, round=number)] += 1
    assert abs(counts / 2000 - 0.3).max() < 5 * (0.3 * 0.7 / 2000) ** 0.5


# --- the numbers themselves ---


@many
@given(
    st.integers(0, 2**63 - 1),
    st.sampled_from(PURPOSES),
    st.integers(0, 2**31),
    st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**20)), min_size=1, max_size=4),
    st.integers(1, 13),
)
def test_words_are_numpys_philox(
    seed: int, purpose: str, a: int, addresses: list[tuple[int, int]], n: int
) -> None:
    b, c = (np.array(column, dtype=np.int64) for column in zip(*addresses, strict=True))
    ours = words(seed, purpose, a, b, c, n)
    for row, (second, third) in zip(ours, addresses, strict=True):
        theirs = generator(seed, purpose, a, second, third).bit_generator.random_raw(n)
        assert np.array_equal(row, theirs)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
        ),
        (
            (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
            (0x452821E638D01377, 0xBE5466CF34E90C6C),
            (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
        ),
    ],
)
def test_the_authors_known_answers(
    counter: tuple[int, ...], key: tuple[int, int], expected: tuple[int, ...]
) -> None:
    """Philox 4x64-10, from the test vectors of Random123."""
    mixed = _philox([np.array([[word]], dtype=np.uint64) for word in counter], key)
    assert tuple(int(word[0, 0]) for word in mixed) == expected


def test_streams_of_one_seed_are_apart() -> None:
    streams = [
        generator(0, p, *at).random() for p in PURPOSES for at in ((), (1,), (0, 1), (0, 0, 1))
    ]
    assert len(set(streams)) == len(streams)
    with pytest.raises(InputError, match="did you mean 'batches'"):
        generator(0, "batch")


def test_orders_are_stable() -> None:
    draws = np.array([[3, 1, 3, 1]], dtype=np.uint64)
    assert orders(draws).tolist() == [[1, 3, 0, 2]]
