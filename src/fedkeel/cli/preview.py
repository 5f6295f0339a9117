"""What a run would do: its recipe, the tensors it centres, its traffic and its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..recipe import Job
    from ..session import Session


class Facts(NamedTuple):
    """What can be said of a run before it begins; bytes are for the whole cohort of a round."""

    method_resolved: str
    parameters: int
    tensors: tuple[str, ...]
    centred: dict[str, tuple[str, ...]]
    clients: int
    cohort: int
    bytes_down: int
    bytes_up: int
    memory_bytes: int
    resolved: dict[str, Any]


def facts(job: Job, session: Session) -> Facts:
    """Work out what a run would do, without a round."""
    from ..transforms import centred

    layout, cohort = job.task.layout, session.world.cohort
    buffers = sum(b.numel() * b.element_size() for b in job.task.model.buffers())
    one_way = cohort * (4 * layout.size + buffers)  # no method of today sends a note
    return Facts(
        method_resolved=job.method_resolved,
        parameters=layout.size,
        tensors=layout.names,
        centred=centred(job.algorithm.part, layout),
        clients=job.federation.clients,
        cohort=cohort,
        bytes_down=one_way,
        bytes_up=one_way,
        memory_bytes=_memory(job, cohort),
        resolved=dict(session.resolved),
    )


def _memory(job: Job, cohort: int) -> int:
    """Count the samples, two models at the server, and four vectors for each client of a round."""
    samples = (job.federation.train.x, job.federation.test.x)
    data = sum(x.numel() * x.element_size() for x in samples)
    return data + job.settings.dtype.itemsize * job.task.layout.size * (2 + 4 * cohort)


def write(job: Job, facts: Facts) -> None:
    """Print the recipe as TOML and the facts as its comments, so that all is a recipe again."""
    from .console import output

    output().print(job.recipe.to_toml(), markup=False, highlight=False, soft_wrap=True)
    for line in lines(facts):
        output().print(f"# {line}", style="dim", markup=False, highlight=False, soft_wrap=True)


def lines(facts: Facts) -> list[str]:
    """Say the facts."""
    from ..results.words import amount

    return [
        f"method     {facts.method_resolved}",
        f"model      {facts.parameters:,} weights in {len(facts.tensors)} tensors",
        *(f"centred    at the {end}: {', '.join(names)}" for end, names in facts.centred.items()),
        *([] if facts.centred else ["centred    none"]),
        f"a round    {facts.cohort} of {facts.clients} clients, "
        f"{amount(facts.bytes_down)} down, {amount(facts.bytes_up)} up",
        f"memory     about {amount(facts.memory_bytes)} for data, weights and updates",
        f"engine     {facts.resolved['engine']}: {facts.resolved['why']}",
        "nothing was written",
    ]
