"""GlobalGC: the server centres the mean update.

GC-Fed (arXiv 2503.13180), Definition 2: the clients are FedAvg's, w_{t+1} = w_t - server_lr P D.
The row means of every centred tensor therefore never change.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from .centre import Centring, centre
from .plain import Round, Server, Setting, Tensors, client_update


def globalgc(
    module: nn.Module,
    rounds: Sequence[Round],
    setting: Setting,
    *,
    center_1d: bool = False,
    embedding: str = "none",
    axes: str = "fan_in",
) -> Tensors:
    """Run GlobalGC over the rounds and return the final global state dict."""
    how = Centring(center_1d, embedding, axes)
    server = Server(module, setting)
    for cohort in rounds:
        models = [client_update(server.send(v), v.batches, setting.local) for v in cohort]
        delta = server.collect(cohort, models)
        server.step({name: centre(server.model, name, d, how) for name, d in delta.items()})
    return server.state()
