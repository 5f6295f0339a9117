"""Which tensors GC-Fed's clients centre: by head, by share of tensors, by share of modules."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from fedkeel.testing.oracles import local_set
from fedkeel.testing.oracles.gcfed import floor_share


def net() -> nn.Module:
    """Five modules that own two tensors each, and one name that begins like another."""
    layers = {
        "conv1": nn.Conv2d(1, 2, 2),
        "up": nn.ConvTranspose2d(2, 2, 2),
        "norm": nn.BatchNorm2d(2),
        "fc1": nn.Linear(2, 2),
        "fc10": nn.Linear(2, 2),
    }
    return nn.ModuleDict(layers)


def test_a_head_means_whole_path_components() -> None:
    everything = [name for name, _ in net().named_parameters()]
    assert local_set(net(), head="fc1") == [n for n in everything if not n.startswith("fc1.")]
    assert "fc10.weight" in local_set(net(), head="fc1")
    assert local_set(net(), head=["fc1", "fc10.bias"])[-1] == "fc10.weight"
    nested = nn.Sequential(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)), nn.Linear(1, 1))
    assert local_set(nested, head="0") == ["1.weight", "1.bias"]


@pytest.mark.parametrize("head", ["fc", "fc2", ["fc1", "fc100"]])
def test_a_head_that_names_nothing_is_refused(head: str | list[str]) -> None:
    with pytest.raises(ValueError, match="names no trainable tensor"):
        local_set(net(), head=head)


@pytest.mark.parametrize("rules", [{}, {"head": "fc1", "tensors": 0.5}])
def test_exactly_one_rule_is_given(rules: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        local_set(net(), **rules)


@pytest.mark.parametrize(
    ("share", "count", "floor"),
    [
        (0.0, 62, 0),
        (0.5, 62, 31),
        (0.85, 62, 52),
        (0.9, 62, 55),
        (0.95, 62, 58),
        (0.97, 62, 60),
        (1.0, 62, 62),
        (0.85, 8, 6),
        (0.9, 8, 7),
        (0.95, 8, 7),
        (0.9, 10, 9),
        (0.29, 100, 29),  # 28.999999999999996 in binary
        (0.57, 100, 57),  # 56.99999999999999
        (0.999, 10, 9),
    ],
)
def test_a_share_is_floored_as_it_is_written(share: float, count: int, floor: int) -> None:
    assert floor_share(share, count) == floor


def test_shares_count_trainable_tensors_and_the_modules_that_own_them() -> None:
    model = net()
    assert local_set(model, tensors=0.3) == ["conv1.weight", "conv1.bias", "up.weight"]
    expected = ["conv1.weight", "conv1.bias", "up.weight", "up.bias"]
    assert local_set(model, modules=0.4) == expected
    model.get_submodule("conv1").requires_grad_(False)
    assert local_set(model, tensors=0.25) == ["up.weight", "up.bias"]
    assert local_set(model, modules=0.5) == ["up.weight", "up.bias", "norm.weight", "norm.bias"]
