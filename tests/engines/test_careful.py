"""A model that cannot be traced still trains, one client at a time, and the run says so."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.testing.worlds import apart, federation


class Branching(nn.Module):
    """Takes another way for some weights, which no graph or stack of clients can follow."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 3)
        with torch.no_grad():
            self.fc.weight.copy_(torch.arange(18.0).view(3, 6).sin())
            self.fc.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x * 2 if bool((self.fc.weight[0, 0] > 0.1).item()) else x)


def train(engine: str, out: Path | None = None) -> dict[str, Tensor]:
    method = fk.algorithm(fk.FedProx(), lr=0.1, batch_size=4)
    last = fk.train(method, fk.Task(Branching()), federation(), rounds=3, cohort=4, engine=engine,
                    precision="float64", out=out)  # fmt: skip
    return last.state_dict()


def test_auto_falls_back_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        fallen = train("auto", tmp_path / "run")
    assert apart(fallen, train("sequential")) == 0
    notices = [r.message for r in caplog.records if "one after another" in r.message]
    assert len(notices) == 1
    chosen = tomllib.loads((tmp_path / "run" / "recipe.toml").read_text())["resolved"]
    assert chosen["engine"] == "sequential" and "cannot be traced" in chosen["why"]


def test_an_engine_that_was_asked_for_is_not_given_up() -> None:
    with pytest.raises((fk.InputError, RuntimeError)):
        train("stacked")
