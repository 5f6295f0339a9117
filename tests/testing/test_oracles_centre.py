"""P against brute force: which weights reach an output is found by looking at the layer itself."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor, nn

from fedkeel.testing.oracles import Centring, centre


def draw(*shape: int) -> Tensor:
    """Numbers without a pattern, from a generator of their own."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


LAYERS = {
    "linear": (nn.Linear(4, 3), (2, 4)),
    "conv1d": (nn.Conv1d(2, 3, 2), (2, 2, 5)),
    "conv2d": (nn.Conv2d(2, 4, (2, 3)), (1, 2, 4, 5)),
    "conv3d": (nn.Conv3d(2, 2, 2), (1, 2, 3, 3, 3)),
    "grouped": (nn.Conv2d(4, 6, 2, groups=2), (1, 4, 3, 3)),
    "depthwise": (nn.Conv2d(3, 3, 2, groups=3), (1, 3, 3, 3)),
    "transpose1d": (nn.ConvTranspose1d(3, 2, 2), (1, 3, 3)),
    "transpose2d": (nn.ConvTranspose2d(3, 2, 2), (1, 3, 3, 3)),
    "transpose2d grouped": (nn.ConvTranspose2d(4, 6, (2, 3), groups=2), (1, 4, 3, 3)),
    "transpose2d depthwise": (nn.ConvTranspose2d(3, 3, 2, groups=3), (1, 3, 3, 3)),
    "transpose3d grouped": (nn.ConvTranspose3d(2, 2, 2, groups=2), (1, 2, 2, 2, 2)),
}


def weights_that_reach(layer: nn.Module, shape: tuple[int, ...], channel: int) -> Tensor:
    """Where the weight has an influence on one output channel of the layer."""
    weight = layer.get_parameter("weight")
    out = layer(draw(*shape).abs() + 1.0)
    (g,) = torch.autograd.grad(out.select(1, channel).sum(), weight)
    return g != 0


@pytest.mark.parametrize("name", LAYERS)
def test_each_output_loses_the_mean_of_the_weights_that_reach_it(name: str) -> None:
    layer, shape = LAYERS[name][0].double(), LAYERS[name][1]
    channels = layer(draw(*shape)).shape[1]
    g = draw(*layer.get_parameter("weight").shape)
    centred = centre(layer, "weight", g, Centring())
    covered = torch.zeros_like(g)
    for channel in range(channels):
        mask = weights_that_reach(layer, shape, channel)
        covered += mask
        assert torch.allclose(centred[mask], g[mask] - g[mask].sum() / mask.sum(), atol=1e-14)
    assert torch.equal(covered, torch.ones_like(g))


def test_a_gate_unit_of_a_gru_is_an_output_row() -> None:
    cell = nn.GRUCell(3, 2)
    for name in ("weight_ih", "weight_hh"):
        g = draw(*cell.get_parameter(name).shape)
        for row, centred in zip(g, centre(cell, name, g, Centring()), strict=True):
            assert torch.allclose(centred, row - row.sum() / len(row), atol=1e-14)


def test_attention_projections_are_centred_by_row() -> None:
    attention = nn.MultiheadAttention(4, 2)
    g = draw(12, 4)
    expected = g - g.sum(1, keepdim=True) / 4
    assert torch.allclose(centre(attention, "in_proj_weight", g, Centring()), expected, atol=1e-14)


def test_one_dimensional_tensors_only_when_asked_and_then_over_the_whole_vector() -> None:
    layer, g = nn.Linear(2, 3), torch.tensor([1.0, 2.0, 6.0])
    assert torch.equal(centre(layer, "bias", g, Centring()), g)
    assert centre(layer, "bias", g, Centring(center_1d=True)).tolist() == [-2.0, -1.0, 3.0]


class Odd(nn.Module):
    """Parameters of its own: a scalar, and three axes."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.cube = nn.Parameter(torch.ones(2, 2, 2))


def test_scalars_pass_and_unknown_tensors_follow_the_general_rule() -> None:
    everything = Centring(True, "vocab", "23")
    assert centre(Odd(), "scale", torch.tensor(3.0), everything).item() == 3.0
    g = torch.arange(8.0).reshape(2, 2, 2)
    centred = centre(Odd(), "cube", g, everything).reshape(2, 4).tolist()
    assert centred == [[-1.5, -0.5, 0.5, 1.5]] * 2


@pytest.mark.parametrize(
    ("layer", "name", "how"),
    [
        (nn.Linear(1, 3), "weight", Centring()),
        (nn.Linear(3, 1), "bias", Centring(center_1d=True)),
        (nn.Conv2d(3, 3, 1, groups=3), "weight", Centring()),
        (nn.Conv2d(3, 3, 1), "weight", Centring(axes="23")),
        (nn.Conv2d(3, 3, 2, groups=3), "weight", Centring(axes="1")),
        (nn.ConvTranspose2d(3, 3, 1, groups=3), "weight", Centring()),
        (nn.Embedding(1, 3), "weight", Centring(embedding="vocab")),
        (nn.Embedding(3, 1), "weight", Centring(embedding="feature")),
    ],
)
def test_a_mean_over_one_entry_is_skipped(layer: nn.Module, name: str, how: Centring) -> None:
    g = draw(*layer.get_parameter(name).shape)
    assert torch.equal(centre(layer, name, g, how), g)


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
def test_the_three_readings_of_an_embedding(kind: type[nn.Module]) -> None:
    table, g = kind(2, 2), torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert torch.equal(centre(table, "weight", g, Centring()), g)
    vocab = centre(table, "weight", g, Centring(embedding="vocab"))
    assert vocab.tolist() == [[-1.0, -2.0], [1.0, 2.0]]
    feature = centre(table, "weight", g, Centring(embedding="feature"))
    assert feature.tolist() == [[-0.5, 0.5], [-1.5, 1.5]]


@pytest.mark.parametrize(("axes", "kept"), [("23", "oi"), ("1", "ohw"), ("2", "oiw"), ("0", "ihw")])
def test_the_axes_of_a_convolution_by_loops(axes: str, kept: str) -> None:
    g = draw(2, 3, 2, 2)
    groups: dict[tuple[int, ...], list[float]] = {}
    keys = {}
    for place in itertools.product(*(range(n) for n in g.shape)):
        keys[place] = tuple(place["oihw".index(letter)] for letter in kept)
        groups.setdefault(keys[place], []).append(float(g[place]))
    centred = centre(nn.Conv2d(3, 2, 2), "weight", g, Centring(axes=axes))
    for place, key in keys.items():
        mean = sum(groups[key]) / len(groups[key])
        assert float(centred[place]) == pytest.approx(float(g[place]) - mean, abs=1e-14)


@pytest.mark.parametrize(
    "layer", [nn.Linear(4, 3), nn.Conv1d(2, 3, 2), nn.ConvTranspose2d(3, 2, 2)]
)
def test_axes_concern_two_dimensional_convolutions_alone(layer: nn.Module) -> None:
    g = draw(*layer.get_parameter("weight").shape)
    usual = centre(layer, "weight", g, Centring())
    assert torch.equal(centre(layer, "weight", g, Centring(axes="0")), usual)


@pytest.mark.parametrize("how", [Centring(embedding="vocabulary"), Centring(axes="3")])
def test_misspelt_options_are_refused(how: Centring) -> None:
    with pytest.raises(ValueError, match="allowed are"):
        centre(nn.Linear(2, 2), "weight", draw(2, 2), how)


def test_p_is_a_projection() -> None:
    layer, a, b = nn.ConvTranspose2d(4, 6, 2, groups=2), draw(4, 3, 2, 2), draw(4, 3, 2, 2).roll(1)
    pa, pb = (centre(layer, "weight", g, Centring()) for g in (a, b))
    assert torch.allclose(centre(layer, "weight", pa, Centring()), pa, atol=1e-14)
    assert float((pa * b).sum()) == pytest.approx(float((a * pb).sum()))
    assert float((pa * a).sum()) == pytest.approx(float((pa * pa).sum()))
