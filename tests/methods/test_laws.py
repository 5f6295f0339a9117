"""What holds of a method whatever the data: laws, and properties of P, momentum and clip."""

from __future__ import annotations

from math import prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.composition import Together
from fedkeel.names import METHODS
from fedkeel.testing.laws import Law, laws
from fedkeel.testing.worlds import Lab, apart, network
from fedkeel.transforms import centred

LAWS = laws()


@pytest.mark.parametrize("law", LAWS, ids=[f"{law.method}: {law.statement}" for law in LAWS])
def test_law(law: Law) -> None:
    assert law.error() <= law.bound


def test_every_method_has_a_law() -> None:
    assert {law.method for law in LAWS} == {method.name for method in METHODS}


# --- P, on networks of every kind and vectors of every size ---


def zoo() -> nn.Module:
    """Every kind of tensor that P knows."""
    return nn.ModuleDict(
        {
            "linear": nn.Linear(4, 3),
            "single": nn.Linear(1, 3),
            "conv1d": nn.Conv1d(2, 4, 3),
            "conv2d": nn.Conv2d(2, 4, (3, 2)),
            "conv3d": nn.Conv3d(2, 3, 2),
            "depthwise": nn.Conv2d(3, 6, 2, groups=3),
            "pointwise": nn.Conv2d(3, 3, 1, groups=3),
            "back1d": nn.ConvTranspose1d(4, 2, 3),
            "back2d": nn.ConvTranspose2d(4, 6, 2, groups=2),
            "backdepth": nn.ConvTranspose2d(3, 3, 1, groups=3),
            "embedding": nn.Embedding(5, 3),
            "bag": nn.EmbeddingBag(4, 2),
            "norm": nn.GroupNorm(2, 4),
            "gru": nn.GRU(3, 2),
            "attention": nn.MultiheadAttention(4, 2),
        }
    )


LAYOUT = fk.Layout.of(zoo())
SLOTS = {slot.name: slot for slot in LAYOUT.slots}


def vectors(count: int) -> st.SearchStrategy[list[Tensor]]:
    """Vectors of very different sizes and directions."""

    def build(seed: int, sizes: list[float]) -> list[Tensor]:
        made = torch.Generator().manual_seed(seed)
        return [
            10**size * torch.randn(LAYOUT.size, generator=made, dtype=torch.float64)
            for size in sizes
        ]

    exponents = st.lists(st.floats(-3, 3), min_size=count, max_size=count)
    return st.builds(build, st.integers(0, 2**32), exponents)


projections = st.builds(
    fk.Centralise,
    center_1d=st.booleans(),
    embedding=st.sampled_from(["none", "vocab", "feature"]),
    axes=st.sampled_from(["fan_in", "23", "1", "2", "0"]),
    scope=st.sampled_from(["row", "tensor", "vector"]),
)
many = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def applied(transform: fk.Transform, *given: Tensor) -> list[Tensor]:
    """Apply a transform to vectors one after another."""
    state, results = transform.init(given[0]), []
    for vector in given:
        result, state = transform.update(vector, state, fk.Point(torch.zeros_like(vector), LAYOUT))
        results.append(result)
    return results


def close(one: Tensor, other: Tensor, scale: Tensor) -> bool:
    return float((one - other).abs().max()) <= 1e-12 * (1 + float(scale.abs().max()))


@many
@given(projections, vectors(1))
def test_p_is_idempotent(p: fk.Centralise, given: list[Tensor]) -> None:
    (once,) = applied(p, *given)
    assert close(applied(p, once)[0], once, given[0])


@many
@given(projections, vectors(2))
def test_p_is_symmetric(p: fk.Centralise, given: list[Tensor]) -> None:
    g, h = given
    pg, ph = (applied(p, v)[0] for v in given)
    assert abs(float(pg @ h - g @ ph)) <= 1e-12 * float(g.norm() * h.norm())
    assert float(pg @ g) == pytest.approx(float(pg @ pg), rel=1e-9)


@many
@given(projections, vectors(2), st.floats(-2, 2))
def test_p_is_linear_and_never_lengthens(
    p: fk.Centralise, given: list[Tensor], factor: float
) -> None:
    g, h = given
    (pg,), (ph,), (both,) = (applied(p, v) for v in (g, h, g + factor * h))
    assert close(both, pg + factor * ph, g.abs() + h.abs())
    assert float(pg.norm()) <= float(g.norm()) * (1 + 1e-12)
    for name, tensor in LAYOUT.open(pg).items():
        assert tensor.norm() <= LAYOUT.open(g)[name].norm() * (1 + 1e-12) or p.scope == "vector"


@many
@given(vectors(2))
def test_distances_shrink_by_the_difference_of_the_means(given: list[Tensor]) -> None:
    """|P G1 - P G2|^2 = |G1 - G2|^2 - m sum_o (mu1_o - mu2_o)^2, tensor by tensor."""
    p = fk.Centralise()
    before = [LAYOUT.open(g) for g in given]
    after = [LAYOUT.open(applied(p, g)[0]) for g in given]
    for name in ("linear.weight", "conv1d.weight", "conv3d.weight", "depthwise.weight"):
        one, other = (b[name].flatten(1) for b in before)
        means = one.mean(1) - other.mean(1)
        left = (after[0][name] - after[1][name]).square().sum()
        right = (one - other).square().sum() - one.shape[1] * means.square().sum()
        assert float(left) == pytest.approx(float(right), rel=1e-9, abs=1e-12)


@many
@given(projections, vectors(3), st.floats(0, 0.99), st.booleans())
def test_p_commutes_with_momentum(
    p: fk.Centralise, given: list[Tensor], beta: float, nesterov: bool
) -> None:
    momentum = fk.Momentum(beta, nesterov)
    after = [applied(p, u)[0] for u in applied(momentum, *given)]
    before = applied(momentum, *(applied(p, g)[0] for g in given))
    scale = sum((g.abs() for g in given), torch.zeros(()))
    assert all(close(a, b, scale) for a, b in zip(after, before, strict=True))


@many
@given(projections, vectors(3), st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_p_commutes_with_averaging(
    p: fk.Centralise, given: list[Tensor], weights: list[float]
) -> None:
    def mean(vectors: list[Tensor]) -> Tensor:
        return sum((w * v for w, v in zip(weights, vectors, strict=True)), torch.zeros(()))

    centred_first = mean([applied(p, g)[0] for g in given])
    scale = sum((g.abs() for g in given), torch.zeros(()))
    assert close(centred_first, applied(p, mean(given))[0], scale)


def test_p_does_not_commute_with_clip_decay_or_adam() -> None:
    made = torch.Generator().manual_seed(0)
    g, w = (torch.randn(LAYOUT.size, generator=made, dtype=torch.float64) for _ in range(2))
    p, adam = fk.Centralise(), fk.Adaptive()

    def clip(v: Tensor) -> Tensor:
        return v * (0.5 / v.norm()).clamp_max(1.0)

    (pg,) = applied(p, g)
    assert not close(clip(pg), applied(p, clip(g))[0], g)
    assert not close(pg + 0.1 * w, applied(p, g + 0.1 * w)[0], g)
    assert not close(applied(adam, pg)[0], applied(p, applied(adam, g)[0])[0], g)


def test_the_two_orders_of_clip_and_gcfed_are_two_methods() -> None:
    lab = Lab("conv")
    one, other = (
        lab.run(*p)[-1] for p in ((fk.Clip(0.1), fk.gc_fed()), (fk.gc_fed(), fk.Clip(0.1)))
    )
    assert apart(one.state_dict(), other.state_dict()) > 1e-6


# --- which axes, tensor by tensor, by hand ---


def sums(name: str, tensor: Tensor) -> Tensor:
    """Return the sums that P makes zero: over the fan-in of each output unit."""
    if name.startswith("back"):  # stored (in, out / g, ...)
        groups = SLOTS[name].groups
        split = tensor.reshape(groups, -1, *tensor.shape[1:])
        return split.sum((1, *range(3, split.dim())))
    return tensor.flatten(1).sum(1)


def test_the_fan_in_of_every_kind_of_layer() -> None:
    g = torch.randn(LAYOUT.size, dtype=torch.float64)
    before, after = LAYOUT.open(g), LAYOUT.open(applied(fk.Centralise(), g)[0])
    whole = {
        "linear.weight", "conv1d.weight", "conv2d.weight", "conv3d.weight", "depthwise.weight",
        "back1d.weight", "back2d.weight", "gru.weight_ih_l0", "gru.weight_hh_l0",
        "attention.in_proj_weight", "attention.out_proj.weight",
    }  # fmt: skip
    assert set(fk.Centralise().names(LAYOUT)) == whole
    for name in before:
        if name in whole:
            assert sums(name, after[name]).abs().max() < 1e-12
            assert not torch.equal(after[name], before[name])
        else:
            assert torch.equal(after[name], before[name])


def test_a_transposed_convolution_against_the_equivalent_convolution() -> None:
    """The gradient of each output channel is centred over every weight that reaches it."""
    g = torch.arange(4 * 3 * 2 * 2, dtype=torch.float64).sin().view(4, 3, 2, 2)
    layout = fk.Layout.of(nn.ConvTranspose2d(4, 6, 2, groups=2, bias=False))
    moved = fk.Centralise().update(g.flatten(), (), fk.Point(g.flatten(), layout))[0].view_as(g)
    for group in range(2):
        inputs = slice(2 * group, 2 * group + 2)
        for channel in range(3):
            rows = g[inputs, channel]
            torch.testing.assert_close(moved[inputs, channel], rows - rows.mean())


@pytest.mark.parametrize(("how", "dim"), [("none", None), ("vocab", 0), ("feature", 1)])
@pytest.mark.parametrize("name", ["embedding.weight", "bag.weight"])
def test_an_embedding_has_three_readings(name: str, how: str, dim: int | None) -> None:
    g = torch.randn(LAYOUT.size, dtype=torch.float64)
    before, after = LAYOUT.open(g), LAYOUT.open(applied(fk.Centralise(embedding=how), g)[0])
    expected = before[name] if dim is None else before[name] - before[name].mean(dim, keepdim=True)
    torch.testing.assert_close(after[name], expected)


@pytest.mark.parametrize(
    ("axes", "dims"), [("fan_in", (1, 2, 3)), ("23", (2, 3)), ("1", (1,)), ("2", (2,)), ("0", (0,))]
)
def test_the_axes_are_those_of_two_dimensional_convolutions_alone(
    axes: str, dims: tuple[int, ...]
) -> None:
    g = torch.randn(LAYOUT.size, dtype=torch.float64)
    p = fk.Centralise(axes=axes)
    before, after = LAYOUT.open(g), LAYOUT.open(applied(p, g)[0])
    expected = before["conv2d.weight"] - before["conv2d.weight"].mean(dims, keepdim=True)
    torch.testing.assert_close(after["conv2d.weight"], expected)
    for name in ("linear.weight", "conv1d.weight", "conv3d.weight"):
        assert sums(name, after[name]).abs().max() < 1e-12


def test_a_mean_over_one_weight_would_freeze_it_and_is_skipped() -> None:
    for name in ("single.weight", "pointwise.weight", "backdepth.weight"):
        slot = SLOTS[name]
        assert prod(slot.shape[1:]) == 1 or slot.kind == "transposed"
        assert name not in fk.Centralise().names(LAYOUT)
    scalar = fk.Layout.of(nn.ParameterDict({"a": nn.Parameter(torch.ones(()))}))
    assert fk.Centralise(center_1d=True).names(scalar) == ()
    one = fk.Layout.of(nn.Linear(3, 1))
    assert fk.Centralise(center_1d=True).names(one) == ("weight",)


def test_one_dimensional_tensors_are_centred_whole_where_asked() -> None:
    g = torch.randn(LAYOUT.size, dtype=torch.float64)
    after = LAYOUT.open(applied(fk.Centralise(center_1d=True), g)[0])
    assert all(abs(float(t.sum())) < 1e-12 for t in after.values() if t.dim() == 1)


def test_channels_last_vectors_are_centred_alike() -> None:
    model = nn.Conv2d(3, 4, 2)
    tensors = {n: torch.randn_like(p, dtype=torch.float64) for n, p in model.named_parameters()}
    opened = []
    for last in (False, True):
        layout = fk.Layout.of(model, channels_last=last)
        g = layout.pack(tensors)
        assert torch.equal(layout.open(g)["weight"], tensors["weight"])
        moved = fk.Centralise().update(g, (), fk.Point(g, layout))[0]
        opened.append(layout.open(moved))
    torch.testing.assert_close(*opened)


# --- where GC-Fed's head begins ---


def tensors(count: int) -> fk.Layout:
    """A network of so many tensors."""
    return fk.Layout.of(nn.ParameterList([nn.Parameter(torch.ones(2, 2)) for _ in range(count)]))


@pytest.mark.parametrize(
    ("count", "share", "local"),
    [
        (62, 0.5, 31), (62, 0.85, 52), (62, 0.9, 55), (62, 0.95, 58), (62, 0.97, 60), (62, 1, 62),
        (8, 0.85, 6), (8, 0.9, 7), (8, 0.95, 7), (8, 0, 0), (10, 0.9, 9), (100, 0.58, 58),
        (100, 0.29, 29),
    ],
)  # fmt: skip
def test_the_share_of_tensors(count: int, share: float, local: int) -> None:
    head = fk.Head(tensors=share).of(tensors(count))
    assert head == tensors(count).names[local:]


def test_the_share_of_modules_and_the_names() -> None:
    layout = fk.Layout.of(network("conv"), ("fc",))
    every = ("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc.weight", "fc.bias")
    assert layout.names == every
    assert fk.Head(modules=0.5).of(layout) == every[2:]
    assert fk.Head(modules=0.67).of(layout) == every[4:]
    assert fk.Head().of(layout) == every[4:]
    assert fk.Head(("fc.bias",)).of(layout) == ("fc.bias",)
    assert fk.Head(("fc", "conv1")).of(layout) == (*every[:2], *every[4:])


def test_a_name_means_whole_path_components() -> None:
    layout = fk.Layout.of(nn.ModuleDict({"fc1": nn.Linear(2, 2), "fc10": nn.Linear(2, 2)}))
    assert layout.matching("fc1") == ("fc1.weight", "fc1.bias")
    with pytest.raises(fk.InputError, match="did you mean 'fc10'"):
        layout.matching("fc100")


def test_what_is_centred_at_each_end() -> None:
    layout = fk.Layout.of(network("conv"), ("fc",))
    weights = ("conv1.weight", "conv2.weight", "fc.weight")
    assert centred(fk.gc_fed(), layout) == {"client": weights[:2], "server": weights}
    assert centred(fk.gc_fed(scope="non_local"), layout)["server"] == weights[2:]
    assert centred(fk.gc_fed(server=False), layout) == {"client": weights[:2]}
    assert centred(fk.fed_zmg(), layout) == {"client": weights}
    assert centred(fk.FedProx(), layout) == {}


# --- momentum, FedOpt, clip ---


@many
@given(vectors(3), st.floats(0, 0.99))
def test_momentum_is_torch_sgd(given: list[Tensor], beta: float) -> None:
    for nesterov in (False, beta > 0):
        weight = torch.zeros(LAYOUT.size, dtype=torch.float64, requires_grad=True)
        sgd = torch.optim.SGD([weight], lr=1.0, momentum=beta, nesterov=nesterov)
        for g in given:
            weight.grad = g.clone()
            sgd.step()
        walked = sum(applied(fk.Momentum(beta, nesterov), *given), torch.zeros(()))
        assert close(walked, -weight.detach(), sum((g.abs() for g in given), torch.zeros(())))


@many
@given(vectors(3), st.floats(1e-3, 1), st.floats(0, 0.99), st.floats(0, 0.999))
def test_adam_with_bias_correction_is_torch_adam(
    given: list[Tensor], lr: float, b1: float, b2: float
) -> None:
    weight = torch.zeros(LAYOUT.size, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=lr, betas=(b1, b2), eps=1e-3)
    for g in given:
        weight.grad = g.clone()
        adam.step()
    ours = applied(fk.Adaptive("adam", lr, b1, b2, 1e-3, True), *given)
    torch.testing.assert_close(sum(ours), -weight.detach(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", ["adam", "yogi", "adagrad"])
def test_the_second_step_of_fedopt_by_hand(rule: str) -> None:
    g, h = torch.tensor([3.0, -4.0]).double(), torch.tensor([1.0, 5.0]).double()
    layout = fk.Layout.of(nn.Linear(1, 1))
    how, state = fk.Adaptive(rule, 0.1, 0.9, 0.99, 1e-3), None
    first = how.init(g)
    _, state = how.update(g, first, fk.Point(g, layout))
    step, (m, v, t) = how.update(h, state, fk.Point(g, layout))
    expected = torch.tensor([0.1 * 0.9 * 3 + 0.1, -0.1 * 0.9 * 4 + 0.5]).double()
    torch.testing.assert_close(m, expected)
    squares = {
        "adam": [0.99 * (0.99e-6 + 0.09) + 0.01, 0.99 * (0.99e-6 + 0.16) + 0.25],
        "yogi": [1e-6 + 0.09 + 0.01, 1e-6 + 0.16 + 0.25],
        "adagrad": [1e-6 + 9 + 1, 1e-6 + 16 + 25],
    }
    torch.testing.assert_close(v, torch.tensor(squares[rule]).double())
    torch.testing.assert_close(step, 0.1 * m / (v.sqrt() + 1e-3))
    assert float(t) == 2


@many
@given(vectors(1), st.floats(1e-3, 1e3))
def test_clip_shortens_to_the_bound_and_turns_nothing(given: list[Tensor], norm: float) -> None:
    (g,) = given
    clipped = fk.Clip(norm, "server").merge(g, (), _replies(), _server())[0]
    length = float(g.norm())
    assert float(clipped.norm()) == pytest.approx(min(norm, length), rel=1e-9)
    assert close(clipped * max(1.0, length / norm), g, g)


def test_clip_leaves_a_vector_of_zeros() -> None:
    zero = torch.zeros(4)
    assert torch.equal(fk.Clip(1.0, "server").merge(zero, (), _replies(), _server())[0], zero)


def _replies() -> fk.Replies:
    nothing = torch.zeros(0)
    return fk.Replies(nothing, nothing, nothing, nothing, (), ())


def _server() -> fk.Server:
    return fk.Server(fk.Task(nn.Linear(1, 1)), torch.zeros(2), 0, 1)


# --- what may not be said ---


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: fk.FedProx(-0.1),
        lambda: fk.FedProx(float("nan")),
        lambda: fk.Clip(0.0),
        lambda: fk.Clip(1.0, "middle"),
        lambda: fk.fed_avg_m(1.0),
        lambda: fk.fed_adam(lr=0.0),
        lambda: fk.fed_adam(b1=1.0),
        lambda: fk.fed_yogi(b2=-0.1),
        lambda: fk.fed_adagrad(tau=0.0),
        lambda: fk.local_gc(axes="3"),
        lambda: fk.local_gc(embedding="both"),
        lambda: fk.fed_zmg(scope="rows"),
        lambda: fk.gc_fed(scope="some"),
        lambda: fk.gc_fed(head="fc", tensors=0.5),
        lambda: fk.gc_fed(tensors=1.5),
        lambda: fk.gc_fed(modules=-0.5),
    ],
)
def test_what_is_out_of_range_is_refused_in_one_line(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(fk.InputError) as error:
        wrong()
    assert isinstance(error.value, ValueError) and "\n" not in str(error.value)


def test_parts_side_by_side_are_values() -> None:
    assert fk.compose(fk.FedProx(), fk.gc_fed()) == fk.compose(fk.FedProx(), fk.gc_fed())
    assert fk.compose() == Together(()) and hash(fk.compose(fk.FedAvg())) is not None
    assert fk.compose(fk.compose(fk.FedAvg(), fk.Clip()), fk.Clip()).parts == (
        fk.FedAvg(),
        fk.Clip(),
        fk.Clip(),
    )
    with pytest.raises(fk.InputError, match="not a Part"):
        fk.compose(fk.FedAvg)  # type: ignore[arg-type]


def test_a_method_may_choose_the_order_of_decay_and_the_user_overrules_it() -> None:
    assert fk.algorithm(fk.fed_zmg()).local.decay == "decoupled"
    assert fk.algorithm(fk.fed_zmg(), fk.fed_adam()).local.decay == "decoupled"
    assert fk.algorithm(fk.local_gc()).local.decay == "coupled"
    assert fk.algorithm(fk.fed_zmg(), decay="coupled").local.decay == "coupled"


@many
@given(st.integers(0, 60), st.floats(0, 0.99), st.booleans())
def test_travel_is_what_a_gradient_of_one_moves(
    steps: int, momentum: float, nesterov: bool
) -> None:
    local = fk.Local(momentum=momentum, nesterov=nesterov, lr=0.5)
    weight = torch.zeros((), dtype=torch.float64, requires_grad=True)
    sgd = torch.optim.SGD([weight], 0.5, momentum, nesterov=nesterov and momentum > 0)
    for _ in range(steps):
        weight.grad = torch.ones((), dtype=torch.float64)
        sgd.step()
    assert local.travel(steps, 0.5) == pytest.approx(-float(weight.detach()), rel=1e-9)
    assert fk.Local(momentum=0.9).travel(40, 1.0) == pytest.approx(311.33, abs=5e-3)
