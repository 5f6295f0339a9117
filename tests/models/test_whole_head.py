"""What GC-Fed takes for the head of VGG11 where nobody says: its whole classifier."""

from __future__ import annotations

import torch

import fedkeel as fk
from fedkeel.models.vgg11 import VGG
from fedkeel.transforms import centred


def test_the_classifier_is_the_head() -> None:
    task = fk.Task(VGG(3, 10, width=2, hidden=4))
    assert task.head == "classifier.6" and task.classes == 10
    locally = centred(fk.gc_fed(), task.layout)["client"]
    assert locally and not [name for name in locally if name.startswith("classifier")]
    one = centred(fk.gc_fed(head="classifier.6"), task.layout)["client"]
    assert {"classifier.0.weight", "classifier.3.weight"} == set(one) - set(locally)


def test_a_head_that_is_named_wins() -> None:
    task = fk.Task(VGG(3, 10, width=2, hidden=4), head="classifier")
    assert task.layout.head == ("classifier",)
    said, _ = task.forward(task.initial(), {}, torch.zeros(1, 3, 32, 32), training=False)
    assert said.features.shape == (1, 784)
