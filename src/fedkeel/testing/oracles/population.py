"""P_k, each client's share of the whole federation: for the sums that run over all clients.

SCAFFOLD's c, FedDyn's h and FedVARP's y are means over all N clients of which a round renews only
the cohort's terms. Their weights are not renormalised over the cohort, so that c = sum_k P_k c_k
stays true in every round, whoever takes part. With the weighting "uniform" P_k = 1 / N.
"""

from __future__ import annotations

from .plain import Setting, one_of


def population_weights(setting: Setting) -> list[float]:
    """P_k of every client of the federation; they sum to 1, the cohort's own to less.

    A client without samples is never visited and counts for nothing under both weightings.
    """
    one_of("weighting", setting.weighting, ("samples", "uniform"))
    if sum(setting.population) == 0:
        raise ValueError("this method sums over all clients: give Setting.population, every n_k")
    if setting.weighting == "uniform":
        held = sum(n_k > 0 for n_k in setting.population)
        return [float(n_k > 0) / held for n_k in setting.population]
    return [n_k / sum(setting.population) for n_k in setting.population]
