"""Each network has as many weights as its paper says, and its modules have the promised names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import fedkeel as fk
from fedkeel import models

EMNIST, CIFAR, TINY, IMAGENET = (1, 28, 28), (3, 32, 32), (3, 64, 64), (3, 224, 224)
Build = Callable[..., nn.Module]
STOCK = {"norm": "batch", "stem": "imagenet"}


def built(build: Build, *args: object, **options: object) -> nn.Module:
    """Build a network without its numbers, which may be many."""
    with torch.device("meta"):
        return build(*args, **options)


@pytest.mark.parametrize(
    ("build", "classes", "shape", "options", "count"),
    [
        (models.mlp, 62, EMNIST, {}, 549_182),
        (models.cnn, 10, CIFAR, {}, 2_156_490),
        (models.cnn, 100, CIFAR, {}, 2_202_660),
        (models.lenet, 10, EMNIST, {}, 61_706),
        (models.cnn_zmg, 62, EMNIST, {}, 1_690_046),
        (models.cnn_zmg_cifar, 100, CIFAR, {}, 2_214_532),
        (models.cnn_ecgr, 10, CIFAR, {}, 1_167_872),
        (models.cnn_ecgr, 100, CIFAR, {}, 1_536_512),
        (models.cnn_gcfl, 10, CIFAR, {}, 3_353_034),
        (models.cnn_gcfl, 100, CIFAR, {}, 3_537_444),
        (models.cnn_gcfl, 62, EMNIST, {}, 2_278_334),
        (models.vgg11, 100, CIFAR, {}, 129_176_036),
        (models.vgg11, 200, TINY, {}, 129_585_736),
        (models.vgg11, 1000, IMAGENET, {}, 132_863_336),
        (models.resnet18, 100, CIFAR, {}, 11_220_132),
        (models.resnet18, 200, TINY, {}, 11_271_432),
        (models.resnet18, 100, CIFAR, {"norm": "batch"}, 11_220_132),
        (models.resnet18, 1000, IMAGENET, STOCK, 11_689_512),
        (models.resnet18, 5, (3, 128, 128), STOCK, 11_179_077),
        (models.gru, 66, (80,), {}, 4_022_850),
        (models.gru, 80, (80,), {}, 4_040_784),
    ],
)
def test_a_network_has_the_published_number_of_weights(
    build: Build, classes: int, shape: tuple[int, ...], options: dict[str, str], count: int
) -> None:
    model = built(build, classes, shape, **options)
    assert sum(p.numel() for p in model.parameters()) == count
    assert all(p.requires_grad for p in model.parameters())


def transformer(width: int, depth: int) -> int:
    """Count the weights of the blocks and of the last norm by hand."""
    attention = 3 * (width * width + width) + width * width + width
    linear = 2 * 4 * width * width + 4 * width + width
    return depth * (attention + linear + 2 * 2 * width) + 2 * width


def test_transformers_have_the_weights_that_their_size_gives() -> None:
    gpt = built(models.gpt, 80, (80,), width=32, depth=3, heads=2)
    assert sum(p.numel() for p in gpt.parameters()) == transformer(32, 3) + (80 + 80 + 80) * 32
    vit = built(models.vit, 100, CIFAR, width=36, depth=2, patch=8)
    patches = (3 * 8 * 8 + 1) * 36 + 16 * 36
    assert sum(p.numel() for p in vit.parameters()) == transformer(36, 2) + patches + 37 * 100


HEADS = {
    "mlp": ("fc3", (6,)),
    "cnn": ("fc2", CIFAR),
    "lenet": ("fc3", CIFAR),
    "cnn_zmg": ("fc2", CIFAR),
    "cnn_zmg_cifar": ("fc", CIFAR),
    "cnn_ecgr": ("fc", CIFAR),
    "cnn_gcfl": ("fc2", CIFAR),
    "vgg11": ("classifier.6", CIFAR),
    "resnet18": ("fc", CIFAR),
    "gru": ("fc", (80,)),
    "vit": ("fc", CIFAR),
    "gpt": ("fc", (80,)),
}


def test_every_model_is_looked_at() -> None:
    assert set(HEADS) == set(models.__all__)


@pytest.mark.parametrize("name", HEADS)
def test_the_head_is_the_last_linear_layer(name: str) -> None:
    head, shape = HEADS[name]
    task = fk.Task(built(getattr(models, name), 7, shape))
    assert (task.head, task.classes) == (head, 7)


@pytest.mark.parametrize("build", [models.cnn, models.cnn_zmg, models.cnn_gcfl])
def test_the_small_nets_name_their_layers_alike(build: Build) -> None:
    names = [name for name, _ in built(build, 10, CIFAR).named_children()]
    assert names == ["conv1", "conv2", "fc1", "fc2"]


def shapes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def layer(name: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def test_vgg11_has_the_state_dict_of_torchvision() -> None:
    expected: dict[str, tuple[int, ...]] = {}
    before = 3
    for place, after in zip(
        (0, 3, 6, 8, 11, 13, 16, 18), (64, 128, 256, 256, 512, 512, 512, 512), strict=True
    ):
        expected |= layer(f"features.{place}", (after, before, 3, 3))
        before = after
    expected |= layer("classifier.0", (4096, 25088))
    expected |= layer("classifier.3", (4096, 4096))
    expected |= layer("classifier.6", (100, 4096))
    found = shapes(built(models.vgg11, 100, CIFAR))
    assert found == expected
    assert list(found) == list(expected)


def norm(name: str, width: int, batch: bool) -> dict[str, tuple[int, ...]]:
    held = layer(name, (width,))
    if batch:
        held |= {f"{name}.running_mean": (width,), f"{name}.running_var": (width,)}
        held[f"{name}.num_batches_tracked"] = ()
    return held


def resnet(batch: bool, stem: int) -> dict[str, tuple[int, ...]]:
    """Write torchvision's names and shapes down, in its order."""
    held: dict[str, tuple[int, ...]] = {"conv1.weight": (64, 3, stem, stem)}
    held |= norm("bn1", 64, batch)
    before = 64
    for number, width in enumerate((64, 128, 256, 512), 1):
        for block in (0, 1):
            place = f"layer{number}.{block}"
            held[f"{place}.conv1.weight"] = (width, before, 3, 3)
            held |= norm(f"{place}.bn1", width, batch)
            held[f"{place}.conv2.weight"] = (width, width, 3, 3)
            held |= norm(f"{place}.bn2", width, batch)
            if before != width:
                held[f"{place}.downsample.0.weight"] = (width, before, 1, 1)
                held |= norm(f"{place}.downsample.1", width, batch)
            before = width
    return held | layer("fc", (5, 512))


@pytest.mark.parametrize(("name", "stem", "size"), [("group", "3x3", 3), ("batch", "imagenet", 7)])
def test_resnet18_has_the_state_dict_of_torchvision(name: str, stem: str, size: int) -> None:
    model = built(models.resnet18, 5, IMAGENET, norm=name, stem=stem)
    expected = resnet(name == "batch", size)
    assert shapes(model) == expected
    assert list(shapes(model)) == list(expected)
    assert len(list(model.parameters())) == 62
    groups = {m.num_groups for m in model.modules() if isinstance(m, nn.GroupNorm)}
    assert groups == (set() if name == "batch" else {32})


@pytest.mark.parametrize("name", HEADS)
def test_buffers_are_statistics_alone(name: str) -> None:
    model = built(getattr(models, name), 7, HEADS[name][1])
    assert all("running" in n or "batches" in n for n, _ in model.named_buffers())
