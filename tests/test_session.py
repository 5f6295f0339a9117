"""``run`` and ``train``: what they yield, what they refuse, and what they leave alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fedkeel as fk
from fedkeel.session import Round
from fedkeel.settings import Settings
from fedkeel.testing.worlds import LOCAL, Lab, apart, federation, network

METHOD = fk.algorithm(fk.gc_fed(), **LOCAL)
QUICK: dict[str, Any] = {"rounds": 3, "cohort": 4, "engine": "sequential"}


def task(net: str = "mlp") -> fk.Task:
    return fk.Task(network(net))


def play(net: str = "mlp", shape: tuple[int, ...] = (6,), **changed: Any) -> list[Round]:
    return list(fk.run(METHOD, task(net), federation(shape), **{**QUICK, **changed}))


# --- what a round holds ---


def test_round_zero_is_the_model_as_it_came() -> None:
    mine = task()
    first, *others = fk.run(METHOD, mine, federation(), **QUICK)
    assert [first.number, *(r.number for r in others)] == [0, 1, 2, 3]
    assert first.cohort == () and first.train_loss is None
    assert (first.steps, first.samples, first.bytes_up, first.bytes_down) == (0, 0, 0, 0)
    assert apart(first.state_dict(), mine.model.state_dict()) == 0
    test = federation().test
    with torch.no_grad():
        logits = mine.model(test.x.float())
    assert first.loss == pytest.approx(float(F.cross_entropy(logits, test.y)), rel=1e-6)
    assert first.accuracy == pytest.approx(float((logits.argmax(1) == test.y).float().mean()))


def test_the_fields_of_a_round() -> None:
    last = play()[-1]
    assert list(last.line()) == [
        "round", "accuracy", "loss", "train_loss", "cohort", "steps", "samples", "seconds",
        "bytes_up", "bytes_down", "extra",
    ]  # fmt: skip
    sizes = federation().sizes[list(last.cohort)]
    assert sorted(last.cohort) == list(last.cohort) and len(set(last.cohort)) == 4
    assert all(type(k) is int for k in last.cohort)
    assert last.samples == 2 * sizes.sum() and last.steps == 2 * sum(-(-n // 4) for n in sizes)
    assert last.seconds > 0 and last.line()["cohort"] == list(last.cohort) and last.extra == {}
    assert "number=3" in repr(last)


def test_accuracy_and_loss_are_those_of_the_global_model() -> None:
    last, test = play("batch", (2, 4, 4))[-1], federation((2, 4, 4)).test
    model = last.module().eval()
    with torch.no_grad():
        logits = model(test.x.float())
    assert last.loss == pytest.approx(float(F.cross_entropy(logits, test.y)), rel=1e-5)
    assert last.accuracy == pytest.approx(float((logits.argmax(1) == test.y).float().mean()))


def test_a_state_dict_is_a_copy_and_a_module_is_new() -> None:
    last = play("batch", (2, 4, 4))[-1]
    one, model = last.state_dict(), last.module()
    assert list(one) == list(network("batch").state_dict())
    assert type(model) is type(network("batch")) and last.module() is not model
    assert apart(model.state_dict(), one) == 0
    for tensor in one.values():
        tensor.zero_()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert float(last.state_dict()["fc.weight"].abs().sum()) > 0
    assert apart(last.module().state_dict(), last.state_dict()) == 0


def test_rounds_stay_what_they_were_while_the_run_goes_on() -> None:
    held = [(r, r.state_dict()) for r in fk.run(METHOD, task(), federation(), **QUICK)]
    assert all(apart(r.state_dict(), then) == 0 for r, then in held)
    assert apart(held[1][1], held[2][1]) > 0


# --- what stays as it was ---


def test_the_module_and_everything_global_stay_as_they_were() -> None:
    model = network("batch")
    model.get_parameter("conv1.bias").requires_grad_(False)
    model.eval()
    model.get_submodule("conv2").train()
    before = {name: t.clone() for name, t in model.state_dict().items()}
    modes = [m.training for m in model.modules()]
    wants = [p.requires_grad for p in model.parameters()]

    def world() -> tuple[Any, ...]:
        return (
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
            torch.backends.cuda.matmul.allow_tf32,
            torch.backends.cudnn.allow_tf32,
            torch.backends.mkldnn.enabled,
            torch.are_deterministic_algorithms_enabled(),
            torch.get_float32_matmul_precision(),
            torch.get_rng_state().tolist(),
            [int(n) for n in np.random.get_state()[1][:8]],
        )

    was = world()
    more = torch.get_num_threads() + 1
    for changed in (
        {},
        {"threads": more, "precision": "tf32"},
        {"engine": "stacked", "cohort": 1},
    ):
        given: dict[str, Any] = {**QUICK, "rounds": 1, "compile": False, **changed}
        for _ in fk.run(METHOD, fk.Task(model), federation((2, 4, 4)), **given):
            assert world() == was
    assert world() == was
    assert apart(before, model.state_dict()) == 0
    assert modes == [m.training for m in model.modules()]
    assert wants == [p.requires_grad for p in model.parameters()]
    assert all(p.grad is None for p in model.parameters())
    assert all(not m._forward_pre_hooks for m in model.modules())


@pytest.mark.parametrize("around", [torch.no_grad, torch.inference_mode])
def test_the_callers_gradient_mode_does_not_matter(around: Callable[[], Any]) -> None:
    expected = play(engine="sequential")[-1].state_dict()
    with around():
        assert apart(play(engine="sequential")[-1].state_dict(), expected) == 0


def test_an_abandoned_run_leaves_threads_as_they_were() -> None:
    threads = torch.get_num_threads()
    rounds = fk.run(METHOD, task(), federation(), threads=threads + 1, **QUICK)
    next(rounds)
    assert torch.get_num_threads() == threads
    rounds.close()
    assert torch.get_num_threads() == threads


# --- the same bits ---


@pytest.mark.parametrize("engine", ["sequential", "stacked"])
def test_the_same_seed_gives_the_same_bits(engine: str) -> None:
    one, again, other = (
        play("dropout", (2, 4, 4), engine=engine, seed=s, rounds=1, cohort=2)[-1] for s in (3, 3, 4)
    )
    assert apart(one.state_dict(), again.state_dict()) == 0 and one.cohort == again.cohort
    assert apart(one.state_dict(), other.state_dict()) > 0


def test_more_rounds_change_no_bit_of_those_before() -> None:
    few, many = play(rounds=2), play(rounds=5, eval_every=2)
    for a, b in zip(few, many, strict=False):
        assert apart(a.state_dict(), b.state_dict()) == 0
        assert (a.cohort, a.train_loss, a.steps) == (b.cohort, b.train_loss, b.steps)


@pytest.mark.parametrize("engine", ["sequential", "stacked"])
def test_two_runs_in_two_threads_give_what_each_gives_alone(engine: str) -> None:
    def work(seed: int, into: dict[int, dict[str, Tensor]]) -> None:
        played = play("dropout", (2, 4, 4), seed=seed, rounds=2, engine=engine, compile=False)
        into[seed] = played[-1].state_dict()

    alone: dict[int, dict[str, Tensor]] = {}
    together: dict[int, dict[str, Tensor]] = {}
    for seed in (0, 1):
        work(seed, alone)
    threads = [threading.Thread(target=work, args=(seed, together)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(apart(alone[seed], together[seed]) == 0 for seed in (0, 1))


def test_two_runs_of_one_task_side_by_side() -> None:
    """Generators that take turns do not disturb each other."""
    mine = task("batch")
    alone = play("batch", (2, 4, 4))
    pair = [fk.run(METHOD, mine, federation((2, 4, 4)), **QUICK) for _ in range(2)]
    for expected, one, other in zip(alone, *pair, strict=True):
        assert apart(one.state_dict(), expected.state_dict()) == 0
        assert apart(other.state_dict(), expected.state_dict()) == 0


# --- how long, how often, with whom ---


def test_no_round_is_allowed() -> None:
    (only,) = play(rounds=0)
    assert only.number == 0 and only.accuracy is not None
    assert fk.train(METHOD, task(), federation(), rounds=0).number == 0


def test_evaluation_every_so_many_rounds_and_at_the_end() -> None:
    tested = [r.number for r in play(rounds=5, eval_every=2) if r.accuracy is not None]
    assert tested == [0, 2, 4, 5]
    assert all((r.accuracy is None) == (r.loss is None) for r in play(rounds=3, eval_every=2))


@pytest.mark.parametrize(
    ("cohort", "clients", "drawn"),
    [
        (1, 12, 1), (1.0, 12, 12), (12, 12, 12), (0.5, 12, 6), (0.01, 12, 1), (0.25, 10, 3),
        (0.35, 10, 4), (0.29, 50, 15), (0.15, 10, 2), (0.125, 12, 2), (0.1, 100, 10),
    ],
)  # fmt: skip
def test_a_share_is_rounded_half_up(cohort: float, clients: int, drawn: int) -> None:
    assert Settings(cohort=cohort).clients(clients, clients) == drawn


def test_one_client_is_not_all_clients() -> None:
    assert len(play(cohort=1)[-1].cohort) == 1
    assert len(play(cohort=1.0)[-1].cohort) == 12


def test_clients_without_samples_are_never_drawn() -> None:
    held = federation(sizes=(4, 0, 3, 0, 5))
    for last in fk.run(METHOD, task(), held, rounds=3, cohort=1.0, compile=False):
        assert last.number == 0 or last.cohort == (0, 2, 4)
    with pytest.raises(fk.InputError, match="2 of 5 hold no sample"):
        fk.run(METHOD, task(), held, cohort=4)


def test_a_last_linear_that_does_not_give_the_logits() -> None:
    """Registered last, used first: its width is not that of the logits."""

    class Turned(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.second, self.first = nn.Linear(2, 3), nn.Linear(6, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.second(self.first(x))

    with pytest.raises(fk.InputError, match="head"):
        fk.train(METHOD, fk.Task(Turned()), federation(), **QUICK)
    last = fk.train(METHOD, fk.Task(Turned(), head="second"), federation(), **QUICK)
    assert last.number == 3


def test_a_model_that_is_its_own_head() -> None:
    """Logistic regression: all of it is the head, so GC-Fed centres at the server alone."""
    mine = fk.Task(nn.Linear(6, 3))
    ends = [
        fk.train(fk.algorithm(part), mine, federation(), precision="float64", **QUICK).state_dict()
        for part in (fk.gc_fed(), fk.global_gc())
    ]
    assert apart(*ends) < 1e-12


def test_a_federation_that_holds_nothing_is_refused() -> None:
    held = federation()
    empty = replace(held, owner=np.full(len(held.owner), -1))
    with pytest.raises(fk.InputError, match="no client holds a sample"):
        fk.train(METHOD, task(), empty, rounds=1, cohort=1.0)


def test_numbers_of_numpy_are_numbers() -> None:
    settings = Settings(rounds=np.int64(3), cohort=np.int32(4), seed=np.int64(0))  # type: ignore[arg-type]
    assert settings.clients(12, 12) == 4


# --- what is refused, before anything begins ---

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "rounds": ({"rounds": -1}, "rounds=-1"),
    "rounds as a float": ({"rounds": 1.5}, "integer"),
    "cohort": ({"cohort": 0}, "cohort=0"),
    "cohort above one": ({"cohort": 1.5}, "share"),
    "cohort of nothing": ({"cohort": 0.0}, "cohort=0.0"),
    "cohort as a bool": ({"cohort": True}, "cohort=True"),
    "more than there are": ({"cohort": 13}, "more than the 12 clients"),
    "seed": ({"seed": -1}, "seed=-1"),
    "engine": ({"engine": "stack"}, "did you mean 'stacked'"),
    "device": ({"device": "gpu"}, "unknown device 'gpu'"),
    "precision": ({"precision": "float16"}, "did you mean 'bfloat16'|did you mean 'float32'"),
    "buffers": ({"buffers": "averaged"}, "did you mean 'average'"),
    "on_nonfinite": ({"on_nonfinite": "skip"}, "skip_client"),
    "eval_every": ({"eval_every": 0}, "eval_every=0"),
    "chunk": ({"chunk": -1}, "chunk=-1"),
    "threads": ({"threads": -1}, "threads=-1"),
    "compile": ({"compile": "yes"}, "unknown compile"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_arguments_are_refused_in_one_line_before_anything_begins(name: str) -> None:
    changed, said = WRONG[name]
    with pytest.raises(fk.InputError, match=said) as error:
        fk.run(METHOD, task(), federation(), **{"cohort": 4, **changed})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"epochs": 1, "steps": 1}, "exactly one"),
        ({"epochs": 0}, "epochs=0"),
        ({"steps": 2.5}, "integer"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batches": "kept"}, "did you mean 'keep'"),
        ({"lr": -0.1}, "lr=-0.1"),
        ({"lr": float("nan")}, "lr=nan"),
        ({"momentum": 1.0}, "momentum=1.0"),
        ({"weight_decay": -1.0}, "weight_decay=-1.0"),
        ({"decay": "couple"}, "did you mean 'coupled'"),
        ({"schedule": "halve"}, "halve"),
        ({"schedule": "linear(3)"}, "unknown schedule"),
        ({"schedule": "halve(0)"}, "halve"),
        ({"weighting": "sample"}, "did you mean 'samples'"),
        ({"server_lr": -1.0}, "server_lr=-1.0"),
    ],
)
def test_bad_local_training_is_refused_in_one_line(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(fk.InputError, match=said) as error:
        fk.algorithm(fk.FedAvg(), **changed)
    assert "\n" not in str(error.value)


def test_a_part_in_place_of_an_algorithm() -> None:
    with pytest.raises(fk.InputError, match=r"fedkeel\.algorithm"):
        fk.run(fk.FedAvg(), task(), federation())


def test_a_head_that_is_not_there() -> None:
    with pytest.raises(fk.InputError, match="did you mean 'fc3'"):
        fk.Task(network("mlp"), head="fc33")
    with pytest.raises(fk.InputError, match="is a tensor"):
        fk.Task(network("mlp"), head="fc3.weight")
    with pytest.raises(fk.InputError, match="did you mean 'fc3'"):
        fk.run(fk.algorithm(fk.gc_fed(head="fc33")), task(), federation(), cohort=4)


def test_a_model_that_has_too_few_logits_or_nothing_to_train() -> None:
    with pytest.raises(fk.InputError, match="gives 2 logits: it needs 3"):
        fk.run(fk.algorithm(fk.FedAvg()), fk.Task(nn.Linear(6, 2)), federation())
    model = nn.Linear(6, 3).requires_grad_(False)
    with pytest.raises(fk.InputError, match="no trainable parameter"):
        fk.run(METHOD, fk.Task(model), federation())
    with pytest.raises(fk.InputError, match=r"torch\.nn\.Module, not function"):
        fk.Task(network)  # type: ignore[arg-type]


# --- tasks that are not classification ---


def squares(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.squeeze(-1) - targets) ** 2


def spread(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.squeeze(-1) - targets).abs()


def regression() -> fk.data.Federation:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 6))
    y = x @ rng.normal(size=6)
    source = fk.data.from_arrays(x[:30], y[:30], x[30:], y[30:])
    return fk.data.Federation(source, np.arange(30) % 5, "file", 5)


@pytest.mark.parametrize("engine", ["sequential", "stacked"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_regression(engine: str, precision: str) -> None:
    torch.manual_seed(0)
    mine = fk.Task(nn.Linear(6, 1), criterion=squares, metric=spread)
    assert mine.classes is None
    method = fk.algorithm(fk.FedProx(0.01), fk.global_gc(), lr=0.05, batch_size=4)
    first, *_, last = fk.run(
        method, mine, regression(), rounds=8, cohort=3, engine=engine, precision=precision,
        compile=False,
    )  # fmt: skip
    assert last.accuracy is not None and first.accuracy is not None
    assert last.accuracy < 0.7 * first.accuracy and last.loss < 0.5 * first.loss


def test_floating_targets_need_a_criterion() -> None:
    with pytest.raises(fk.InputError, match="not classes"):
        fk.run(METHOD, fk.Task(nn.Linear(6, 1)), regression())


def test_a_metric_may_return_its_mean_and_a_criterion_may_not() -> None:
    mine = fk.Task(nn.Linear(6, 1), criterion=squares, metric=lambda o, t: spread(o, t).mean())
    per_row = fk.Task(mine.model, criterion=squares, metric=spread)
    method = fk.algorithm(fk.FedAvg())
    given: dict[str, Any] = {"rounds": 1, "cohort": 3, "engine": "sequential"}
    ends = [fk.train(method, t, regression(), **given) for t in (mine, per_row)]
    assert ends[0].accuracy == pytest.approx(ends[1].accuracy)
    wrong = fk.Task(nn.Linear(6, 1), criterion=lambda o, t: squares(o, t).mean(), metric=spread)
    with pytest.raises(fk.InputError, match="must return a value for each"):
        fk.train(method, wrong, regression(), **given)


def test_a_criterion_of_several_outputs_a_sample_is_averaged_within_the_sample() -> None:
    def each(outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets.unsqueeze(1)) ** 2

    def mean(outputs: Tensor, targets: Tensor) -> Tensor:
        return each(outputs, targets).mean(1)

    model = nn.Linear(6, 3)
    ends = [
        fk.train(fk.algorithm(fk.FedAvg()), fk.Task(model, criterion=c, metric=c), regression(),
                 rounds=1, cohort=3, precision="float64", engine="sequential")
        for c in (each, mean)
    ]  # fmt: skip
    assert apart(ends[0].state_dict(), ends[1].state_dict()) < 1e-12


# --- bytes that are uint8, and precisions ---


def test_bytes_are_scaled_to_one() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (98, 6), dtype=np.uint8), rng.integers(0, 3, 98)
    owner = federation().owner
    ends = []
    for form in (x, x / 255):
        source = fk.data.from_arrays(form[:78], y[:78], form[78:], y[78:], classes=3)
        held = fk.data.Federation(source, owner, "file", 12)
        ends.append(fk.train(METHOD, task(), held, precision="float64", **QUICK).state_dict())
    assert apart(*ends) < 1e-12


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16", "float64"])
def test_every_precision_runs(precision: str) -> None:
    exact = play(precision="float64")[-1].state_dict()
    last = play(precision=precision)[-1]
    wanted = torch.float64 if precision == "float64" else torch.float32
    assert {t.dtype for t in last.state_dict().values()} == {wanted}
    bound = {"float64": 1e-12, "bfloat16": 0.1}.get(precision, 1e-4)
    assert apart(exact, last.state_dict()) <= bound
    if precision == "bfloat16":
        assert apart(play()[-1].state_dict(), last.state_dict()) > 0


# --- what goes over the wire ---


@dataclass(frozen=True)
class Talking(fk.Part):
    """Sends three numbers down and two up, a client."""

    def brief(self, params: Tensor, state: Any, server: fk.Server) -> tuple[Tensor, Any]:
        return params, (params.new_zeros(2), {"one": params.new_zeros(())})

    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, Any, Any]:
        return update, update[:2], visit.memory


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_bytes_are_four_a_weight_or_note_element_whatever_the_precision(precision: str) -> None:
    size = sum(p.numel() for p in network("mlp").parameters())
    last = play(precision=precision)[-1]
    assert last.bytes_up == last.bytes_down == 4 * 4 * size
    talked = fk.algorithm(Talking(), **LOCAL)
    last = fk.train(talked, task(), federation(), precision=precision, **QUICK)
    assert last.bytes_down == 4 * 4 * (size + 3) and last.bytes_up == 4 * 4 * (size + 2)


@pytest.mark.parametrize(
    ("policy", "carried"), [("average", True), ("local", False), ("freeze", False)]
)
def test_buffers_go_in_their_own_type_where_they_are_averaged(policy: str, carried: bool) -> None:
    size = sum(p.numel() for p in network("batch").parameters())
    statistics = 4 * 4 + 4 * 4 + 8 if carried else 0
    last = play("batch", (2, 4, 4), buffers=policy, precision="float64")[-1]
    assert last.bytes_up == last.bytes_down == 4 * (4 * size + statistics)


# --- what is not finite ---


@dataclass(frozen=True)
class Bursting(fk.Part):
    """One client sends what is no number, from some round on."""

    client_size: int
    since: int = 1

    def finish(
        self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
    ) -> tuple[Tensor, Any, Any]:
        whole = visit.label_counts.sum() == self.client_size
        bad = whole & (visit.round >= self.since)
        return torch.where(bad, torch.full_like(update, torch.nan), update), (), visit.memory


SIZES = federation().sizes.tolist()


def bursting(on_nonfinite: str, *, client: int = 11, **changed: Any) -> Iterator[Round]:
    method = fk.algorithm(Bursting(SIZES[client]), **LOCAL)
    given = {
        "rounds": 3,
        "cohort": 1.0,
        "on_nonfinite": on_nonfinite,
        "engine": "sequential",
        **changed,
    }
    return fk.run(method, task(), federation(), **given)


@pytest.mark.parametrize("engine", ["sequential", "stacked"])
def test_divergence_says_in_which_round_and_who(engine: str) -> None:
    seen: list[Round] = []
    with pytest.raises(fk.Diverged, match=r"round 2.*client 11") as error:
        for played in bursting("stop", engine=engine):
            seen.append(played)
    assert error.value.round == 2 and "client 11" in error.value.detail
    assert [r.number for r in seen] == [0, 1]
    assert all(t.isfinite().all() for t in seen[-1].state_dict().values())


@pytest.mark.parametrize("weighting", ["samples", "uniform"])
@pytest.mark.parametrize("engine", ["sequential", "stacked"])
def test_skipping_drops_the_right_client_and_renormalises(engine: str, weighting: str) -> None:
    """It is the run in which that client has no vote."""

    @dataclass(frozen=True)
    class Silent(Bursting):
        def finish(
            self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
        ) -> tuple[Tensor, Any, Any]:
            return update, (), visit.memory

        def weigh(self, weights: Tensor, replies: fk.Replies) -> Tensor:
            return torch.where(replies.ids == 11, torch.zeros_like(weights), weights)

    ends = []
    for part in (Bursting(SIZES[11], since=0), Silent(SIZES[11])):
        method = fk.algorithm(part, weighting=weighting, **LOCAL)
        last = fk.train(
            method, task(), federation(), rounds=2, cohort=1.0, on_nonfinite="skip_client",
            engine=engine, precision="float64", compile=False,
        )  # fmt: skip
        ends.append(last.state_dict())
        assert len(last.cohort) == 12
    assert apart(*ends) < 1e-12


def test_when_all_are_dropped_the_run_has_diverged() -> None:
    with pytest.raises(fk.Diverged, match="round 2"):
        list(bursting("skip_client", client=SIZES.index(SIZES[11]), cohort=1, seed=_alone()))


def _alone() -> int:
    """A seed whose second round has client 11 alone."""
    from fedkeel.data.plan import cohort

    return next(s for s in range(500) if cohort(np.arange(12), 1, seed=s, round=1)[0] == 11)


def test_merged_weights_and_test_losses_that_are_not_finite() -> None:
    @dataclass(frozen=True)
    class Breaking(fk.Part):
        to: float

        def merge(
            self, update: Tensor, state: Any, replies: fk.Replies, server: fk.Server
        ) -> tuple[Tensor, Any, Any]:
            return update * self.to, state, replies.ledger

    for to, said in ((float("inf"), "merged weights"), (1e37, "test loss|merged")):
        with pytest.raises(fk.Diverged, match=f"round 1.*({said})"):
            fk.train(fk.algorithm(Breaking(to)), task(), federation(), **QUICK)


def test_notes_that_are_not_finite_count_too() -> None:
    @dataclass(frozen=True)
    class Shouting(fk.Part):
        def finish(
            self, update: Tensor, trajectory: fk.Trajectory, visit: fk.Visit
        ) -> tuple[Tensor, Any, Any]:
            return update, update.new_tensor(torch.inf), visit.memory

    with pytest.raises(fk.Diverged, match="round 1"):
        fk.train(fk.algorithm(Shouting()), task(), federation(), **QUICK)


def test_a_diverged_run_keeps_its_lab_clean() -> None:
    """After a divergence the same process runs on as if nothing had been."""
    expected = Lab().run(fk.FedAvg())[-1].state_dict()
    with pytest.raises(fk.Diverged):
        list(bursting("stop"))
    assert apart(Lab().run(fk.FedAvg())[-1].state_dict(), expected) == 0
