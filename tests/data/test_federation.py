"""Sources, splits of them, and what a federation says of its clients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from fedkeel.data import IID, Dirichlet, Federation, File, Natural, Source, from_arrays
from fedkeel.errors import InputError


def _source(samples: int = 60, classes: int = 3, **more) -> Source:
    x = np.arange(samples * 2, dtype=np.float32).reshape(samples, 2)
    return from_arrays(x, np.arange(samples) % classes, x[:6], np.arange(6) % classes, **more)


def test_indices_are_ascending_and_cover_everything_once() -> None:
    federation = _source().split(Dirichlet(0.5), clients=5)
    rows = [federation.indices(k) for k in range(5)]
    assert all((np.diff(row) > 0).all() for row in rows)
    assert sorted(np.concatenate(rows)) == list(range(60))
    assert [len(row) for row in rows] == federation.sizes.tolist()


def test_indices_by_hand() -> None:
    federation = Federation(_source(6), np.array([2, 0, -1, 2, -2, 0]), "file", 4)
    assert [federation.indices(k).tolist() for k in range(4)] == [[1, 5], [], [0, 3], []]
    assert federation.sizes.tolist() == [2, 0, 2, 0]
    assert federation.label_counts.tolist() == [[0, 1, 1], [0, 0, 0], [2, 0, 0], [0, 0, 0]]
    assert federation.server is not None
    assert federation.server.x.tolist() == [[8.0, 9.0]]
    assert federation.server.y.tolist() == [1]


def test_indices_become_tensors_without_a_warning() -> None:
    federation = _source().split(IID(), 3)
    assert torch.from_numpy(federation.indices(1)).dtype == torch.int64


@pytest.mark.parametrize("client", [-1, 5])
def test_no_such_client(client: int) -> None:
    with pytest.raises(InputError, match=f"client={client}"):
        _source().split(IID(), 5).indices(client)


def test_clients_by_default() -> None:
    assert _source(200).split(IID()).clients == 100
    assert _source(200).split(Dirichlet(10.0, min_size=0)).clients == 100
    assert _source(60, owner=np.arange(60) // 7).split(Natural()).clients == 9


def test_empty_clients_at_the_end_are_counted() -> None:
    federation = _source(100).split(Dirichlet(0.01, min_size=0), clients=90, seed=3)
    assert federation.clients == len(federation.sizes) == 90
    assert (federation.sizes == 0).any()


def test_the_server_takes_its_share_first() -> None:
    federation = _source(owner=np.arange(60) % 4).split(Natural(), server=0.1)
    assert federation.server is not None
    assert len(federation.server.y) == 6
    assert federation.sizes.sum() == 54
    assert _source().split(IID(), 4).server is None


def test_the_server_keeps_the_same_whatever_the_partition() -> None:
    a = _source().split(IID(), 4, seed=1, server=0.2)
    b = _source().split(Dirichlet(1.0), 6, seed=1, server=0.2)
    c = _source().split(IID(), 4, seed=2, server=0.2)
    assert np.array_equal(a.owner == -2, b.owner == -2)
    assert not np.array_equal(a.owner == -2, c.owner == -2)


def test_a_small_share_is_one_sample_at_least() -> None:
    assert (_source().split(IID(), 4, server=1e-6).owner == -2).sum() == 1


@pytest.mark.parametrize("server", [-0.1, 1.0, float("nan"), 0.999, "0.1"])
def test_server_share_out_of_range(server: float) -> None:
    with pytest.raises(InputError, match=r"^server="):
        _source().split(IID(), 4, server=server)


def test_the_file_says_what_is_the_servers(tmp_path: Path) -> None:
    first = _source().split(IID(), 4, server=0.2)
    np.savez(tmp_path / "partition.npz", owner=first.owner)
    again = _source().split(File(tmp_path / "partition.npz"))
    assert again.sha256 == first.sha256
    with pytest.raises(InputError, match="cannot go with partition='file'"):
        _source().split(File(tmp_path / "partition.npz"), server=0.2)


@pytest.mark.parametrize("clients", [0, -3, 2.0, True])
def test_wrong_number_of_clients(clients: object) -> None:
    with pytest.raises(InputError, match=r"^clients="):
        _source().split(IID(), clients)


@pytest.mark.parametrize("partition", ["dirichlet", IID])
def test_a_partition_is_an_object(partition: object) -> None:
    with pytest.raises(InputError, match="must be an object such as"):
        _source().split(partition, 4)


def test_sha256_knows_values_shapes_types_and_owners() -> None:
    x, y = torch.zeros(8, 4), torch.arange(8) % 2
    kinds = [
        from_arrays(x, y, x[:2], y[:2]),
        from_arrays(x.reshape(8, 2, 2), y, x[:2].reshape(2, 2, 2), y[:2]),
        from_arrays(x.half(), y, x[:2].half(), y[:2]),
        from_arrays(x.bfloat16(), y, x[:2].bfloat16(), y[:2]),
        from_arrays(x + 1, y, x[:2], y[:2]),
        from_arrays(x, 1 - y, x[:2], y[:2]),
        from_arrays(x, y, x[:2], 1 - y[:2]),
    ]
    assert len({source.sha256 for source in kinds}) == len(kinds)
    splits = [kinds[0].split(IID(), 2, seed=seed) for seed in (0, 0, 1)]
    assert splits[0].sha256 == splits[1].sha256 != splits[2].sha256


def test_sha256_does_not_see_memory_layout() -> None:
    x, y = torch.arange(24.0).reshape(4, 6), torch.arange(8) % 2
    turned = from_arrays(x.T, y[:6], x.T, y[:6])
    plain = from_arrays(x.T.contiguous(), y[:6], x.T.contiguous(), y[:6])
    assert turned.sha256 == plain.sha256


def test_owner_must_fit() -> None:
    with pytest.raises(InputError, match="has 5 entries"):
        Federation(_source(6), np.zeros(5, dtype=np.int64), "file", 1)
    with pytest.raises(InputError, match="from 0 to 1"):
        Federation(_source(6), np.array([0, 1, 2, 0, 0, 0]), "file", 2)


def test_floating_targets_have_no_counts() -> None:
    x = np.ones((6, 2), dtype=np.float32)
    federation = from_arrays(x, x[:, 0], x, x[:, 0]).split(IID(), 2)
    assert federation.classes is None
    with pytest.raises(InputError, match="no classes to count"):
        _ = federation.label_counts


def test_many_clients_are_two_arrays() -> None:
    x = np.zeros((50_000, 1), dtype=np.uint8)
    source = from_arrays(x, np.arange(50_000) % 10, x[:10], np.arange(10))
    federation = source.split(Dirichlet(0.1, min_size=0), clients=10_000)
    assert federation.sizes.sum() == 50_000
    assert federation.label_counts.shape == (10_000, 10)
    assert np.array_equal(federation.label_counts.sum(axis=1), federation.sizes)
