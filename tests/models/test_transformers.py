"""Attention by a plain loop, what may be seen and what may not, and dropout."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from fedkeel import models
from fedkeel.draws import TakenOver
from fedkeel.models._blocks import Attention, Size

STEPS, CLASSES = 6, 5


def gpt(**options: float) -> nn.Module:
    size = {"width": 8, "depth": 2, "heads": 2} | options
    model = models.gpt(CLASSES, (STEPS,), **size).double()
    for parameter in model.parameters():  # as far from its small start as a trained one
        nn.init.normal_(parameter, 0.0, 0.5)
    return model


def tokens(rows: int = 3) -> Tensor:
    return torch.randint(0, CLASSES, (rows, STEPS))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [1, 3])
def test_attention_by_a_plain_loop(causal: bool, heads: int) -> None:
    layer = Attention(Size(6, 1, heads, 0.0), causal).double()
    x, each = torch.randn(2, 4, 6, dtype=torch.float64), 6 // heads
    expected = torch.zeros_like(x)
    for b in range(2):
        query, key, value = layer.qkv(x[b]).split(6, dim=-1)  # (T, 6) each
        for head in range(heads):
            mine = slice(head * each, (head + 1) * each)
            for t in range(4):
                seen = t + 1 if causal else 4
                score = [query[t, mine] @ key[s, mine] / each**0.5 for s in range(seen)]
                weight = [s.exp() / sum(other.exp() for other in score) for s in score]
                expected[b, t, mine] = sum(weight[s] * value[s, mine] for s in range(seen))
    torch.testing.assert_close(layer(x), layer.out(expected))


@pytest.mark.parametrize("at", range(STEPS))
def test_what_comes_later_does_not_change_what_was_said(at: int) -> None:
    model, x = gpt(), tokens()
    changed = x.clone()
    changed[:, at] = (changed[:, at] + 1) % CLASSES
    said, otherwise = model(x), model(changed)
    assert torch.equal(said[:, :at], otherwise[:, :at])
    assert (said[:, at:] != otherwise[:, at:]).any(-1).all()


def test_a_shorter_sequence_is_the_beginning_of_a_longer_one() -> None:
    model, x = gpt(), tokens()
    torch.testing.assert_close(model(x[:, :4]), model(x)[:, :4])


def test_places_count() -> None:
    same = torch.zeros(1, STEPS, dtype=torch.int64)
    assert len(gpt()(same)[0].unique(dim=0)) == STEPS
    model = models.vit(5, (1, 8, 8), width=6, depth=1, heads=1).double()
    x = torch.rand(1, 1, 8, 8).double()
    assert not torch.allclose(model(x), model(x.flip(-1)))


def test_a_vit_sees_every_patch_in_every_logit() -> None:
    model = models.vit(5, (1, 8, 12), patch=4, width=6, depth=1, heads=1).double()
    x = torch.rand(1, 1, 8, 12, dtype=torch.float64, requires_grad=True)
    for logit in model(x)[0]:
        (slope,) = torch.autograd.grad(logit, x, retain_graph=True)
        assert slope.unfold(2, 4, 4).unfold(3, 4, 4).abs().amax((-2, -1)).gt(0).all()


def test_the_head_has_weights_of_its_own() -> None:
    model = gpt()
    model.get_parameter("fc.weight").data.zero_()
    assert not model(tokens()).any()
    assert model.get_parameter("tokens.weight").any()


@pytest.mark.parametrize("name", ["gpt", "vit"])
def test_all_random_numbers_are_taken_over(name: str) -> None:
    """One draw for the embeddings, and three a block: attention, and what each half adds."""
    size = {"width": 8, "depth": 2, "heads": 2, "dropout": 0.3}
    shape, x = ((STEPS,), tokens(2)) if name == "gpt" else ((1, 8, 8), torch.rand(2, 1, 8, 8))
    model = getattr(models, name)(CLASSES, shape, **size)
    before, recorder = torch.get_rng_state(), TakenOver()
    with recorder:
        model(x)
    assert torch.equal(before, torch.get_rng_state())
    steps = STEPS if name == "gpt" else 4
    block = [(2, 2, steps, steps), (2, steps, 8), (2, steps, 8)]
    assert recorder.shapes == [(2, steps, 8), *block, *block]
