"""Sequences with a target at each step: masks, losses, accuracy, in every engine."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.data import Federation, from_arrays
from fedkeel.session import Session, prepare
from fedkeel.settings import Settings
from fedkeel.testing.worlds import apart, untraced

SIZES, STEPS, SYMBOLS = (5, 1, 7, 3), 6, 5
METHODS = {
    "fedavg": fk.FedAvg(),
    "fedprox + gcfed": fk.compose(fk.FedProx(0.5), fk.gc_fed()),
    "fedzmg": fk.fed_zmg(),
    "clip + fedadam": fk.compose(fk.Clip(0.5), fk.fed_adam()),
}


class Net(nn.Module):
    """A running sum of embeddings; says something at every step, or at the last."""

    def __init__(self, last: bool = False) -> None:
        super().__init__()
        rng = np.random.default_rng(3)
        self.last = last
        self.embedding, self.fc = nn.Embedding(SYMBOLS, 4), nn.Linear(4, SYMBOLS)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.from_numpy(rng.normal(0, 0.5, p.shape)))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.fc(self.embedding(x).cumsum(1).tanh())
        return logits[:, -1] if self.last else logits


def federation(last: bool = False) -> Federation:
    rng, n = np.random.default_rng(0), sum(SIZES)
    x = rng.integers(0, SYMBOLS, (n + 9, STEPS)).astype(np.int16)
    y = rng.integers(0, SYMBOLS, (n + 9, STEPS))
    for row, length in enumerate(rng.integers(1, STEPS + 1, n + 9)):
        y[row, length:] = -100
    y = rng.integers(0, SYMBOLS, n + 9) if last else y
    source = from_arrays(x[:n], y[:n], x[n:], y[n:], classes=SYMBOLS)
    return Federation(source, np.repeat(np.arange(4), SIZES), "file", 4)


def session(part: fk.Part, engine: str, last: bool = False, **local: object) -> Session:
    base = {"lr": 0.3, "batch_size": 3, "epochs": 2, "weight_decay": 1e-2, "momentum": 0.9}
    method = fk.algorithm(part, **{**base, **local})  # type: ignore[arg-type]
    settings = Settings(rounds=3, cohort=3, precision="float64", engine=engine, compile=False)
    return prepare(method, fk.Task(Net(last)), federation(last), settings)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_engines_agree(name: str, last: bool) -> None:
    reference = list(session(METHODS[name], "sequential", last).rounds())
    stacked = session(METHODS[name], "stacked", last)
    for one in (stacked, untraced(stacked)):
        played = list(one.rounds())
        assert apart(played[-1].state_dict(), reference[-1].state_dict()) < 1e-9
        assert played[-1].loss == pytest.approx(reference[-1].loss, abs=1e-9)
        assert played[-1].train_loss == pytest.approx(reference[-1].train_loss, abs=1e-9)


def plain_loss(logits: Tensor, y: Tensor) -> Tensor:
    """Mean over sequences of the mean over their targets."""
    losses = []
    for said, wanted in zip(logits, y, strict=True):
        steps = [F.cross_entropy(a, b) for a, b in zip(said, wanted, strict=True) if b >= 0]
        losses.append(torch.stack(steps).mean())
    return torch.stack(losses).mean()


def test_a_round_as_a_plain_loop_plays_it() -> None:
    played = session(
        fk.FedAvg(), "stacked", batch_size=99, epochs=1, momentum=0.0, weight_decay=0.0
    )
    found = list(played.rounds())[1]
    held, start = federation(), Net().double()
    total: dict[str, Tensor] = {}
    losses = []
    for k in found.cohort:
        mine = copy.deepcopy(start)
        rows = torch.from_numpy(held.indices(k))
        loss = plain_loss(mine(held.train.x[rows].long()), held.train.y[rows])
        loss.backward()
        losses.append((loss.item(), len(rows)))
        share = len(rows) / sum(SIZES[i] for i in found.cohort)
        for name, p in mine.named_parameters():
            assert p.grad is not None
            step = share * (p.detach() - 0.3 * p.grad)
            total[name] = total[name] + step if name in total else step
    assert apart(found.state_dict(), total) < 1e-12
    rows_seen = sum(n for _, n in losses)
    assert found.train_loss == pytest.approx(sum(v * n for v, n in losses) / rows_seen, abs=1e-12)

    final, right, loss, count = Net().double(), 0, 0.0, 0
    final.load_state_dict(total)
    for x, y in zip(*held.test, strict=True):
        said = final(x.long()[None])[0]
        for logits, target in zip(said, y, strict=True):
            if target >= 0:
                right += int(logits.argmax() == target)
                loss += F.cross_entropy(logits, target).item()
                count += 1
    assert found.accuracy == pytest.approx(right / count, abs=1e-12)
    assert found.loss == pytest.approx(loss / count, abs=1e-12)


def test_labels_are_counted_by_target() -> None:
    held = federation()
    for k in range(4):
        mine = held.train.y[held.indices(k)]
        counted = [int((mine == symbol).sum()) for symbol in range(SYMBOLS)]
        assert held.label_counts[k].tolist() == counted


def test_a_model_that_says_too_little_is_told() -> None:
    method = fk.algorithm(fk.FedAvg())
    with pytest.raises(fk.InputError, match=r"logits \(5,\) a sample where its targets are \(6,\)"):
        fk.train(method, fk.Task(Net(last=True)), federation(), rounds=1, cohort=2)


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        (np.zeros((3, 4), np.int32), np.full((3, 4), -1), "holds the label -1"),
        (np.full((3, 4), -2), np.zeros((3, 4), int), "holds the token -2"),
        (np.zeros((3, 4), int), np.zeros((3, 1), int), r"\(3, 1\)"),
        (np.zeros((3, 4), int), np.zeros((3, 4, 2), int), r"\(3, 4, 2\)"),
        (np.zeros((3, 4), np.uint16), np.zeros(3, int), "x is uint16"),
        (np.zeros((3, 4), int), np.full((3, 4), -100), "sequence 0 of y has no target"),
    ],
)
def test_what_tokens_and_labels_may_be(x: np.ndarray, y: np.ndarray, says: str) -> None:
    with pytest.raises(fk.InputError, match=says):
        from_arrays(x, y, x, y)
