"""Dropout and its kin: masks by address, the same everywhere, and no generator touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.draws import TakenOver
from fedkeel.engines.base import uniform
from fedkeel.session import prepare
from fedkeel.settings import Settings
from fedkeel.testing.worlds import LOCAL, Lab, apart, federation

CPU = torch.device("cpu")


def noise(*shape: int, seed: int = 0) -> Tensor:
    return uniform(shape, (seed, 0, 0, 0), CPU)


def taken(fn: Callable[..., Tensor], *args: Any, given: Tensor, **options: Any) -> Tensor:
    before = torch.get_rng_state()
    with TakenOver((given,)):
        result = fn(*args, **options)
    assert torch.equal(before, torch.get_rng_state())
    return result


# --- the numbers ---


def test_uniform_numbers_have_the_moments_and_the_range() -> None:
    u = noise(200, 500)
    assert u.dtype == torch.float32 and float(u.min()) >= 0 and float(u.max()) < 1
    assert abs(float(u.mean()) - 1 / 2) < 5 * (1 / 12 / u.numel()) ** 0.5
    assert abs(float(u.var()) - 1 / 12) < 1e-3
    torch.testing.assert_close(u * 2**24, (u * 2**24).round())


def test_a_longer_draw_begins_with_the_shorter() -> None:
    """So a full batch whose last rows are padding draws what the short batch draws."""
    assert torch.equal(noise(5, 3)[:3], noise(3, 3))
    assert not torch.equal(noise(5, 3), noise(5, 3, seed=1))


def test_streams_of_calls_steps_clients_and_rounds_are_apart() -> None:
    addresses = [
        (0, 0, 0, 0),
        (0, 0, 0, 1),
        (0, 0, 0, 4096),
        (0, 0, 1, 0),
        (0, 1, 0, 0),
        (1, 0, 0, 0),
    ]
    first = {float(uniform((1,), at, CPU)) for at in addresses}
    assert len(first) == len(addresses)


# --- operations on given numbers ---


@pytest.mark.parametrize("p", [0.0, 0.25, 0.8, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dropout(p: float, dtype: torch.dtype) -> None:
    x, u = torch.rand(40, 50).add(1).to(dtype), noise(40, 50)
    kept = taken(F.dropout, x, p, given=u) != 0
    assert torch.equal(kept, u >= p if p < 1 else torch.zeros_like(u).bool())
    if p < 1:
        factor = torch.tensor(1 / (1 - p), dtype=torch.float64)
        y = taken(F.dropout, x, p, given=u)
        assert y.dtype == dtype
        torch.testing.assert_close(y[kept], (x.double() * factor)[kept].to(dtype))
        assert abs(float(kept.double().mean()) - (1 - p)) < 0.06


def test_dropout_of_a_layer_that_evaluates_or_drops_nothing() -> None:
    x = torch.rand(3, 4)
    with TakenOver(()):
        assert F.dropout(x, 0.5, training=False) is x
        assert torch.equal(F.dropout(x, 0.0), x)
        assert torch.equal(nn.Dropout(0.5).eval()(x), x)


@pytest.mark.parametrize(
    ("fn", "shape"),
    [(F.dropout1d, (4, 3, 5)), (F.dropout2d, (4, 3, 5, 2)), (F.dropout3d, (4, 3, 5, 2, 2))],
)
def test_dropout_of_channels(fn: Callable[..., Tensor], shape: tuple[int, ...]) -> None:
    x, u = torch.rand(shape) + 1, noise(4, 3, *[1] * (len(shape) - 2))
    y = taken(fn, x, 0.4, training=True, given=u)
    torch.testing.assert_close(y, x * (u >= 0.4) / 0.6)
    assert y.flatten(2).ne(0).all(2).sum() + y.flatten(2).eq(0).all(2).sum() == 12


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x, u = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 500))), noise(400, 500)
    y = taken(F.alpha_dropout, x, 0.3, training=True, given=u)
    assert abs(float(y.mean())) < 0.01 and abs(float(y.var()) - 1) < 0.01
    dropped = y[u < 0.3]
    assert len(dropped.unique()) == 1
    torch.manual_seed(0)
    theirs = F.alpha_dropout(x, 0.3, training=True)
    assert abs(float(theirs.var()) - 1) < 0.01
    assert float((theirs - dropped[0]).abs().min()) < 1e-6  # PyTorch drops to the same value


def test_bernoulli() -> None:
    chance, u = torch.linspace(0, 1, 2000).view(4, 500), noise(4, 500)
    expected = (u < chance).float()
    assert torch.equal(taken(torch.bernoulli, chance, given=u), expected)
    assert torch.equal(taken(chance.bernoulli, given=u), expected)
    assert torch.equal(taken(torch.empty(4, 500).bernoulli_, 0.3, given=u), (u < 0.3).float())
    assert torch.equal(taken(torch.empty(4, 500).bernoulli_, chance, given=u), expected)


def test_rand_and_randn() -> None:
    u, x = noise(300, 400), torch.zeros(300, 400, dtype=torch.float64)
    assert torch.equal(taken(torch.rand_like, x, given=u), u.double())
    assert torch.equal(taken(torch.rand, 300, 400, given=u), u)
    assert torch.equal(taken(torch.rand, (300, 400), dtype=torch.float64, given=u), u.double())
    for z in (taken(torch.randn_like, x, given=u), taken(torch.randn, 300, 400, given=u).double()):
        assert z.isfinite().all() and abs(float(z.mean())) < 0.02
        assert abs(float(z.var()) - 1) < 0.02
        assert abs(float((z.abs() < 1.96).double().mean()) - 0.95) < 0.005
    ends = torch.tensor([0.0, 1 - 2**-24])
    assert taken(torch.randn, 2, given=ends).isfinite().all()


def reference_attention(
    q: Tensor, k: Tensor, v: Tensor, keep: Tensor, p: float, mask: Tensor | None
) -> Tensor:
    score = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        score = score.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else score + mask
    return (score.softmax(-1) * keep / (1 - p)) @ v


@pytest.mark.parametrize("mask", ["none", "causal", "bool", "float"])
def test_attention_with_dropout(mask: str) -> None:
    made = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, 5, generator=made, dtype=torch.float64) for _ in range(3))
    u, lower = noise(2, 3, 4, 4), torch.ones(4, 4, dtype=torch.bool).tril()
    masks = {"none": None, "causal": None, "bool": lower, "float": torch.rand(4, 4).double()}
    given = {"attn_mask": masks[mask], "is_causal": mask == "causal"}
    ours = taken(F.scaled_dot_product_attention, q, k, v, dropout_p=0.3, given=u, **given)
    seen = lower if mask == "causal" else masks[mask]
    torch.testing.assert_close(ours, reference_attention(q, k, v, u >= 0.3, 0.3, seen))
    nothing = taken(F.scaled_dot_product_attention, q, k, v, dropout_p=0.0, given=u, **given)
    torch.testing.assert_close(nothing, reference_attention(q, k, v, torch.ones(()), 0.0, seen))


@pytest.mark.parametrize("weights", [True, False])
def test_multihead_attention_with_dropout(weights: bool) -> None:
    layer = nn.MultiheadAttention(6, 2, dropout=0.4, batch_first=True).double()
    x = torch.randn(3, 4, 6, dtype=torch.float64)
    recorder = TakenOver()
    with recorder:
        layer(x, x, x, need_weights=weights)
    (shape,) = recorder.shapes
    assert int(np.prod(shape)) == 3 * 2 * 4 * 4
    u = noise(*shape)
    with TakenOver((u,)):
        ours = layer(x, x, x, need_weights=weights)[0]
    q, k, v = (
        t.view(3, 4, 2, 3).transpose(1, 2)
        for t in F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1)
    )
    keep = (u >= 0.4).view(3, 2, 4, 4)
    mixed = reference_attention(q, k, v, keep, 0.4, None).transpose(1, 2).reshape(3, 4, 6)
    torch.testing.assert_close(ours, layer.out_proj(mixed))


# --- networks ---


class Net(nn.Module):
    """A first layer, something in the middle, a head."""

    def __init__(self, middle: Callable[[nn.Module, Tensor], Tensor], **layers: nn.Module) -> None:
        super().__init__()
        self.one, self.layers, self.middle = nn.Linear(6, 6), nn.ModuleDict(layers), middle
        self.fc = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.middle(self, self.one(x).tanh()))


def attend(net: nn.Module, x: Tensor) -> Tensor:
    tokens = x.view(len(x), 3, 2)
    return net.layers["a"](tokens, tokens, tokens, need_weights=False)[0].flatten(1)


def stochastic_depth(net: nn.Module, x: Tensor) -> Tensor:
    if not net.training:
        return x
    return x * torch.empty(len(x), 1, dtype=x.dtype).bernoulli_(0.7) / 0.7


def encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(2, 1, 4, dropout=0.3, batch_first=True)


DRAWING: dict[str, Callable[[], nn.Module]] = {
    "dropout": lambda: Net(lambda net, x: F.dropout(x, 0.3, net.training)),
    "two dropouts": lambda: Net(
        lambda net, x: net.layers["b"](net.layers["a"](x).relu()),
        a=nn.Dropout(0.2), b=nn.Dropout(0.5, inplace=True),
    ),
    "alpha dropout": lambda: Net(lambda net, x: F.alpha_dropout(x, 0.3, net.training)),
    "dropout1d": lambda: Net(
        lambda net, x: F.dropout1d(x.view(-1, 3, 2), 0.3, net.training).flatten(1)
    ),
    "noise": lambda: Net(lambda net, x: x + 0.1 * torch.randn_like(x) if net.training else x),
    "attention": lambda: Net(attend, a=nn.MultiheadAttention(2, 1, dropout=0.3, batch_first=True)),
    "encoder": lambda: Net(
        lambda net, x: net.layers["a"](x.view(-1, 3, 2)).flatten(1), a=encoder()
    ),
}  # fmt: skip


def last(model: nn.Module, engine: str, shape: tuple[int, ...] = (6,), **settings: Any) -> Any:
    method = fk.algorithm(fk.FedAvg(), **LOCAL)
    given = {"rounds": 2, "cohort": 4, "precision": "float64", "compile": False, **settings}
    return fk.train(method, fk.Task(model), federation(shape), engine=engine, **given).state_dict()


def agree(model: nn.Module, shape: tuple[int, ...] = (6,)) -> None:
    before = torch.get_rng_state()
    one, other = last(model, "sequential", shape), last(model, "stacked", shape)
    assert torch.equal(before, torch.get_rng_state())
    assert apart(one, other) < 1e-9


@pytest.mark.parametrize("name", DRAWING)
def test_engines_draw_the_same(name: str) -> None:
    model = DRAWING[name]()
    agree(model)
    masked = last(model, "sequential")
    assert apart(masked, last(model, "sequential", seed=1)) > 1e-6


def test_stochastic_depth() -> None:
    """``torch.empty(...).bernoulli_(p)``: a mask made in place of a tensor that is no one's."""
    agree(Net(stochastic_depth))


def test_draws_that_are_not_a_row_a_sample() -> None:
    """The samples are in the draw's second dimension, and there are as many steps as samples."""

    def turned(net: nn.Module, x: Tensor) -> Tensor:
        return (
            F.dropout(x.view(-1, 3, 2).transpose(0, 1), 0.3, net.training)
            .transpose(0, 1)
            .flatten(1)
        )

    agree(Net(turned))


def test_masks_do_not_depend_on_the_precision() -> None:
    """What a float32 run forgets is rounding, not the masks."""
    model = DRAWING["two dropouts"]()
    exact, rounded = last(model, "stacked"), last(model, "stacked", precision="float32")
    assert apart(exact, rounded) < 1e-5


def test_masks_have_an_address() -> None:
    """A client's masks do not depend on the size of the chunk or on a round more."""
    model = DRAWING["dropout"]()
    chunks = [last(model, "stacked", chunk=c) for c in (1, 3, 0)]
    assert max(apart(chunks[0], c) for c in chunks) < 1e-9
    method, task = fk.algorithm(fk.FedAvg(), **LOCAL), fk.Task(model)
    two, three = (list(fk.run(method, task, federation(), rounds=n, cohort=4)) for n in (2, 3))
    assert apart(two[2].state_dict(), three[2].state_dict()) == 0


REFUSED: dict[str, tuple[Callable[[nn.Module, Tensor], Tensor], dict[str, nn.Module], str]] = {
    "multinomial": (
        lambda net, x: x * torch.multinomial(x.softmax(1), 1).to(x.dtype), {}, "multinomial",
    ),
    "gumbel": (lambda net, x: F.gumbel_softmax(x), {}, "exponential"),
    "normal": (lambda net, x: x + torch.normal(0.0, 1.0, x.shape).to(x), {}, "normal"),
    "uniform": (lambda net, x: x + torch.empty_like(x).uniform_(), {}, "uniform"),
    "permutation": (lambda net, x: x[:, torch.randperm(6)], {}, "randperm"),
    "integers": (lambda net, x: x + torch.randint(3, (1,)), {}, "randint"),
    "rrelu": (lambda net, x: F.rrelu(x, training=net.training), {}, "rrelu"),
    "lstm": (
        lambda net, x: net.layers["a"](x.view(-1, 3, 2))[0].flatten(1)[:, :6],
        {"a": nn.LSTM(2, 2, 2, dropout=0.3, batch_first=True)},
        "lstm|bernoulli",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("engine", ["sequential", "stacked"])
def test_what_cannot_be_taken_over_is_refused_by_name(name: str, engine: str) -> None:
    middle, layers, word = REFUSED[name]
    model, before = Net(middle, **layers), torch.get_rng_state()
    with pytest.raises(fk.InputError, match=f"(?s)random numbers.*{word}|{word}.*random") as error:
        last(model, engine)
    assert "\n" not in str(error.value) and torch.equal(before, torch.get_rng_state())


def test_an_lstm_without_dropout_draws_nothing() -> None:
    lstm = nn.LSTM(2, 2, 2, batch_first=True)
    agree(Net(lambda net, x: net.layers["a"](x.view(-1, 3, 2))[0].flatten(1), a=lstm))


@pytest.mark.parametrize("engine", ["sequential", "stacked"])
def test_a_network_that_draws_in_evaluation(engine: str) -> None:
    """Either it is refused in a sentence, or it runs; it does not fail with an index."""
    model = Net(lambda net, x: x + 0.1 * torch.rand_like(x))
    try:
        last(model, engine)
    except fk.InputError as error:
        assert "evaluation" in str(error)


def test_a_part_that_draws_is_refused_by_name() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Shaking(fk.Part):
        def gradient(self, grad: Tensor, step: fk.Step) -> tuple[Tensor, Any]:
            return grad + torch.randn_like(grad), step.local

    with pytest.raises(fk.InputError, match="random numbers"):
        Lab().run(Shaking(), engine="stacked", compile=False)


def test_a_model_that_cannot_take_the_data_is_refused() -> None:
    with pytest.raises(fk.InputError, match=r"cannot take samples of shape \(5,\)"):
        prepare(fk.algorithm(fk.FedAvg()), fk.Task(nn.Linear(6, 3)), federation((5,)), Settings())
