"""PyTorch data sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from fedkeel.data import from_torch
from fedkeel.errors import InputError


class _Squares(Dataset):
    """As most data sets are: a length, and samples that do not end by themselves."""

    def __init__(self, samples: list | None = None) -> None:
        self.samples = [(torch.full((1, 2, 2), float(i)), i % 2) for i in range(4)]
        self.samples = self.samples if samples is None else samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int) -> tuple:
        return self.samples[i % 4]


class _Stream(IterableDataset):
    def __iter__(self) -> Iterator[tuple]:
        return iter(_Squares().samples)


def test_map_style_tensors_and_streams_are_the_same() -> None:
    x = torch.arange(4.0).reshape(4, 1, 1, 1).expand(4, 1, 2, 2)
    tensors = TensorDataset(x, torch.tensor([0, 1, 0, 1]))
    hashes = {from_torch(data, data).sha256 for data in (_Squares(), _Stream(), tensors)}
    assert len(hashes) == 1


def test_a_share_is_held_out() -> None:
    source = from_torch(_Squares(), test_share=0.25, owner=np.arange(4))
    assert (len(source.train.y), len(source.test.y)) == (3, 1)
    assert source.classes == 2


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (_Squares([]), "dataset is empty"),
        (_Squares([torch.ones(2)]), r"dataset\[0\] is Tensor: it must be a pair"),
        (_Squares([("a picture", 1)]), r"x of dataset\[0\] must be an array of numbers"),
        (_Squares([(torch.ones(2), 0), (torch.ones(3), 0)]), r"dataset\[1\] has \(3,\)"),
        (TensorDataset(torch.ones(3, 2)), "has 1 tensors"),
        (Dataset(), "has no length"),
    ],
)
def test_what_is_refused(dataset: Dataset, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_torch(dataset)


def test_a_loader_is_no_data_set() -> None:
    loader = DataLoader(TensorDataset(torch.zeros(4, 2), torch.zeros(4, dtype=torch.long)))
    with pytest.raises(InputError, match="is a DataLoader: give"):
        from_torch(loader)  # type: ignore[arg-type]
