"""What the networks say: shapes, the layers by an independent hand, and one-line errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel import models
from fedkeel.models.vgg11 import VGG

IMAGES = {
    "cnn": (4, 7),
    "cnn_zmg": (4, 7),
    "cnn_zmg_cifar": (4, 7),
    "lenet": (12, 14),
    "cnn_ecgr": (8, 17),
    "cnn_gcfl": (16, 19),
    "vit": (4, 8),
}


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_least_image_and_one_that_is_not_square(name: str, channels: int) -> None:
    small, large = IMAGES[name]
    for height, width in ((small, small), (small, large), (large, small)):
        shape = (channels, height, width)
        model = getattr(models, name)(5, shape).eval()
        assert model(torch.rand(2, *shape)).shape == (2, 5)


@pytest.mark.parametrize("name", IMAGES)
def test_grey_images_need_no_channel(name: str) -> None:
    shape = (16, 20)
    torch.manual_seed(0)
    model = getattr(models, name)(5, shape).eval()
    x = torch.rand(2, *shape)
    assert torch.equal(model(x), model(x[:, None]))


@pytest.mark.parametrize(
    ("stem", "norm"), [("3x3", "group"), ("imagenet", "group"), ("imagenet", "batch")]
)
def test_resnet_takes_images_of_eight_pixels_and_more(stem: str, norm: str) -> None:
    model = models.resnet18(3, (1, 8, 8), norm, stem).eval()
    assert model(torch.rand(2, 1, 8, 8)).shape == (2, 3)
    assert model(torch.rand(1, 9, 12)).shape == (1, 3)


def test_resnet_halves_three_times_with_its_small_stem_and_five_times_with_the_large() -> None:
    for stem, left in (("3x3", 4), ("imagenet", 1)):
        model = models.resnet18(3, (3, 32, 32), stem=stem)
        seen: list[Tensor] = []
        model.get_submodule("layer4").register_forward_hook(lambda *a, s=seen: s.append(a[2]))
        model(torch.rand(1, 3, 32, 32))
        assert seen[0].shape == (1, 512, left, left)


def test_vgg_pools_what_is_left_to_seven_by_seven() -> None:
    model = VGG(1, 5, width=2, hidden=8).eval()
    assert [model(torch.rand(2, 1, side, side)).shape for side in (32, 40, 64)] == [(2, 5)] * 3


def convolved(x: Tensor, model: nn.Module, name: str, padding: int) -> Tensor:
    w = model.state_dict()
    x = F.conv2d(x, w[f"{name}.weight"], w.get(f"{name}.bias"), padding=padding)
    return x.clamp_min(0)


def pooled(x: Tensor) -> Tensor:
    height, width = (side // 2 * 2 for side in x.shape[-2:])
    return x[..., :height, :width].unfold(2, 2, 2).unfold(3, 2, 2).amax((-2, -1))


def linear(x: Tensor, model: nn.Module, name: str) -> Tensor:
    w = model.state_dict()
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


@pytest.mark.parametrize(("name", "padding"), [("cnn", 2), ("cnn_zmg", 2), ("cnn_gcfl", 0)])
def test_nets_of_two_convolutions_by_hand(name: str, padding: int) -> None:
    model, x = getattr(models, name)(5, (3, 21, 16)).double(), torch.rand(2, 3, 21, 16).double()
    h = pooled(convolved(x, model, "conv1", padding))
    h = linear(pooled(convolved(h, model, "conv2", padding)).flatten(1), model, "fc1")
    h = h if name == "cnn_gcfl" else h.clamp_min(0)  # GCFL: no activation after fc1
    torch.testing.assert_close(model(x), linear(h, model, "fc2"))


def test_the_cifar_net_of_fedzmg_by_hand() -> None:
    model = models.cnn_zmg_cifar(5, (3, 9, 8)).double().eval()
    x = torch.rand(2, 3, 9, 8).double()
    h = convolved(convolved(x, model, "conv1", 1), model, "conv2", 1)
    h = convolved(convolved(pooled(h), model, "conv3", 1), model, "conv4", 1)
    h = linear(pooled(h).flatten(1), model, "fc1").clamp_min(0)
    torch.testing.assert_close(model(x), linear(h, model, "fc"))


def test_cnn_ecgr_gives_log_chances_which_cross_entropy_takes_for_logits() -> None:
    model = models.cnn_ecgr(6, (3, 8, 8)).double()
    x, y = torch.rand(4, 3, 8, 8, dtype=torch.float64), torch.tensor([0, 5, 2, 1])
    said = model(x)
    torch.testing.assert_close(said.exp().sum(1), torch.ones(4, dtype=torch.float64))
    head: list[Tensor] = []
    model.get_submodule("fc").register_forward_hook(lambda *a: head.append(a[2]))
    again = model(x)
    torch.testing.assert_close(F.cross_entropy(again, y), F.cross_entropy(head[0], y))


@pytest.mark.parametrize("name", ["cnn_zmg_cifar", "vit"])
def test_dropout_drops_in_training_alone(name: str) -> None:
    options: dict[str, Any] = {"dropout": 0.5, "width": 12, "depth": 1} if name == "vit" else {}
    model, x = getattr(models, name)(5, (3, 8, 8), **options), torch.rand(2, 3, 8, 8)
    assert not torch.equal(model.train()(x), model(x))
    assert torch.equal(model.eval()(x), model(x))


def test_dropout_of_the_papers() -> None:
    def shares(model: nn.Module) -> list[float]:
        return [m.p for m in model.modules() if isinstance(m, nn.Dropout)]

    assert shares(models.cnn_zmg_cifar(10, (3, 8, 8))) == [0.25, 0.25, 0.5]
    assert shares(VGG(3, 10, width=2, hidden=4)) == [0.5, 0.5]
    assert set(shares(models.vit(10, (3, 8, 8), width=12, depth=2, dropout=0.1))) == {0.1}


@pytest.mark.parametrize("build", [models.gru, models.gpt])
def test_tokens_of_any_integer_type_give_logits_for_every_step_or_the_last(
    build: Callable[..., nn.Module],
) -> None:
    small = {"embed": 4, "hidden": 6} if build is models.gru else {"width": 8, "depth": 1}
    torch.manual_seed(0)
    every = build(9, (5,), **small).eval()
    last = build(9, (5,), targets="last", **small).eval()
    last.load_state_dict(every.state_dict())
    x = torch.randint(0, 9, (3, 5))
    assert every(x).shape == (3, 5, 9)
    torch.testing.assert_close(last(x), every(x)[:, -1])
    for kind in (torch.int16, torch.int32, torch.uint8):
        assert torch.equal(every(x.to(kind)), every(x))


# --- errors ---


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: models.gru(66, (3, 32, 32)), "'gru' tokens (3, 32, 32) mlp resnet18 vgg11 vit"),
        (lambda: models.gpt(66, (28, 28)), "'gpt' tokens (28, 28) mlp cnn lenet"),
        (lambda: models.cnn(5, (80,)), "'cnn' images (80,) mlp gru gpt"),
        (lambda: models.vit(5, (80,)), "'vit' images (80,) mlp gru gpt"),
        (lambda: models.vgg11(5, (3, 28, 28)), "'vgg11' 32 (3, 28, 28) cnn_gcfl resnet18"),
        (lambda: models.cnn_gcfl(5, (1, 15, 28)), "'cnn_gcfl' 16 (1, 15, 28) lenet"),
        (lambda: models.cnn_ecgr(5, (1, 7, 7)), "'cnn_ecgr' 8 (1, 7, 7) mlp cnn_zmg"),
        (lambda: models.cnn_zmg(5, (1, 2, 3, 4)), "'cnn_zmg' images (1, 2, 3, 4) mlp"),
        (lambda: models.cnn_zmg_cifar(5, (3, 3, 3)), "'cnn_zmg_cifar' 4 (3, 3, 3) mlp"),
        (lambda: models.vit(5, (3, 30, 28)), "'vit' patch=4 30x28 another"),
        (lambda: models.vit(5, (3, 28, 28), patch=0), "patch=0 >= 1"),
        (lambda: models.vit(5, (3, 28, 28), width=100), "width=100 multiple heads=3"),
        (lambda: models.vit(5, (3, 28, 28), depth=0), "depth=0 >= 1"),
        (lambda: models.gpt(5, (80,), heads=True), "heads=True >= 1"),
        (lambda: models.gpt(5, (80,), dropout=1.0), "dropout=1.0 [0, 1)"),
        (lambda: models.gpt(5, (80,), targets="lst"), "'lst' 'last' all"),
        (lambda: models.gru(5, (80,), targets="every"), "'every' all, last"),
        (lambda: models.gru(5, (80,), hidden=0), "hidden=0 >= 1"),
        (lambda: models.gru(5, (80,), embed=2.5), "embed=2.5 >= 1"),
        (lambda: models.resnet18(5, (3, 32, 32), norm="grup"), "norm 'grup' 'group' batch"),
        (lambda: models.resnet18(5, (3, 32, 32), stem="7x7"), "stem '7x7' 3x3, imagenet"),
        (lambda: models.gru(5, (4,), embed=2, hidden=2)(torch.rand(2, 4)), "'gru' tokens mlp"),
        (lambda: models.gpt(5, (4,), width=8)(torch.rand(2, 4)), "'gpt' tokens mlp"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(fk.InputError) as raised:
        call()
    said = str(raised.value)
    assert "\n" not in said
    assert [word for word in re.findall(r"\([^)]*\)|\S+", words) if word not in said] == []


def test_models_that_fit_do_fit() -> None:
    """What an error suggests can be built."""
    for shape in ((1, 4, 4), (1, 8, 9), (3, 12, 12), (3, 16, 16), (3, 32, 36)):
        with pytest.raises(fk.InputError) as raised:
            models.gru(5, shape)
        suggested = str(raised.value).partition("models that fit are ")[2].split(", ")
        with torch.device("meta"):
            for name in suggested:
                getattr(models, name)(5, shape)
            for name in set(models.__all__) - set(suggested):
                with pytest.raises(fk.InputError):
                    getattr(models, name)(5, shape)
