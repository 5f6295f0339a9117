"""The comparison: groups, the baseline, refusals, and its two forms."""

from __future__ import annotations

import io
import json
import re

import pytest

from fedkeel.errors import InputError
from fedkeel.results import Refused, tables
from fedkeel.results.folders import read, read_all


@pytest.fixture
def compared(write_run, tmp_path):
    """Compare runs given as (method, seed, final, further keywords)."""

    def compare(*runs, **options):
        for number, (method, seed, final, more) in enumerate(runs):
            write_run(f"all/{number}", method, seed, final, **more)
        return tables.compare(read(tmp_path / "all"), **options)

    return compare


def seeds(method, *finals, **more):
    return [(method, seed, final, more) for seed, final in enumerate(finals)]


def test_runs_that_differ_in_their_seed_alone_are_one_row(compared):
    (row,) = compared(*seeds("fedavg", 0.4, 0.6)).rows
    assert row.values == {0: 0.4, 1: 0.6}
    assert row.mean == pytest.approx(0.5)
    assert row.std == pytest.approx(0.02**0.5)
    assert row.group.varying == {}


def test_the_run_table_and_what_was_resolved_do_not_tell_groups_apart(compared):
    other = {"recipe": {"run.engine": "sequential", "resolved.engine": "none"}}
    assert len(compared(*seeds("fedavg", 0.4), ("fedavg", 1, 0.5, other)).rows) == 1


def test_every_other_key_tells_groups_apart_and_is_shown(compared):
    other = {"recipe": {"data.alpha": 1.0, "rounds": 9}}
    rows = compared(("fedavg", 0, 0.4, other), *seeds("fedavg", 0.4)).rows
    assert [row.group.varying for row in rows] == [
        {"rounds": 3, "data.alpha": 0.1},
        {"rounds": 9, "data.alpha": 1.0},
    ]


def test_one_client_is_not_all_clients(compared):
    one, every = {"recipe": {"cohort": 1}}, {"recipe": {"cohort": 1.0}}
    assert len(compared(("fedavg", 0, 0.4, one), ("fedavg", 1, 0.4, every)).rows) == 2


def test_a_key_that_only_some_have_is_none_in_the_others(compared):
    rows = compared(*seeds("fedavg", 0.4), ("fedavg", 0, 0.4, {"recipe": {"local.steps": 7}})).rows
    assert [row.group.varying["local.steps"] for row in rows] == [None, 7]


def test_methods_are_compared_with_their_options_written_out(compared):
    full = "gcfed(center_1d=false)"
    (row,) = compared(
        ("gcfed", 0, 0.4, {"method_resolved": full}), ("GCFed()", 1, 0.5, {"method_resolved": full})
    ).rows
    assert row.group.method == "gcfed"


def test_two_methods_that_were_written_alike_are_named_in_full(compared):
    rows = compared(
        ("gcfed", 0, 0.4, {"method_resolved": "gcfed(x=1)"}),
        ("gcfed", 0, 0.5, {"method_resolved": "gcfed(x=2)"}),
    ).rows
    assert [row.group.method for row in rows] == ["gcfed(x=1)", "gcfed(x=2)"]


def test_fedavg_is_the_baseline_where_it_is(compared):
    found = compared(*seeds("gcfed", 0.5, 0.7), *seeds("FedAvg", 0.4, 0.5))
    assert [(row.group.method, row.baseline) for row in found.rows] == [
        ("FedAvg", True),
        ("gcfed", False),
    ]
    assert found.rows[0].paired is None
    assert found.rows[1].paired is not None
    assert found.rows[1].paired.difference == pytest.approx(0.15)


def test_another_baseline_can_be_named(compared):
    found = compared(
        *seeds("fedavg", 0.4, 0.5), *seeds("clip + gcfed", 0.5, 0.7), baseline="clip+GCFed"
    )
    assert found.baseline == "clip + gcfed"
    assert found.rows[1].paired is not None
    assert found.rows[1].paired.difference == pytest.approx(-0.15)


def test_without_fedavg_there_is_no_baseline(compared):
    found = compared(*seeds("gcfed", 0.5, 0.7), *seeds("localgc", 0.4, 0.5))
    assert found.baseline is None
    assert all(row.paired is None and not row.baseline for row in found.rows)


def test_an_unknown_baseline_is_named_with_those_there_are(compared):
    with pytest.raises(InputError, match="unknown baseline 'fedav': did you mean 'fedavg'"):
        compared(*seeds("fedavg", 0.4), baseline="fedav")


def test_each_setting_has_its_own_baseline(compared):
    high = {"recipe": {"data.alpha": 1.0}}
    runs = [*seeds("fedavg", 0.4, 0.5), *seeds("gcfed", 0.5, 0.6)]
    runs += [*seeds("fedavg", 0.6, 0.8, **high), *seeds("gcfed", 0.9, 0.9, **high)]
    differences = [r.paired.difference for r in compared(*runs).rows if r.paired is not None]
    assert differences == pytest.approx([0.1, 0.2])


def test_methods_tuned_apart_are_measured_against_the_only_baseline(compared):
    tuned = {"recipe": {"local.lr": 0.1}}
    rows = compared(*seeds("fedavg", 0.4, 0.5), *seeds("gcfed", 0.5, 0.6, **tuned)).rows
    assert rows[1].paired is not None


def test_other_tasks_are_not_measured_against_each_other(compared):
    other = {"recipe": {"cohort": 2}}
    rows = compared(*seeds("fedavg", 0.4, 0.5), *seeds("gcfed", 0.5, 0.6, **other)).rows
    assert all(row.paired is None for row in rows)


def test_a_single_seed_has_no_std_and_no_test(compared):
    rows = compared(*seeds("fedavg", 0.4), *seeds("gcfed", 0.5)).rows
    assert [(row.std, row.paired) for row in rows] == [(None, None), (None, None)]


def test_a_failed_run_is_left_out_with_a_notice(compared):
    failed = {"failed": {"round": 2, "reason": "diverged", "detail": "nan"}}
    found = compared(*seeds("fedavg", 0.4), ("fedavg", 1, 0.1, failed))
    assert found.rows[0].values == {0: 0.4}
    assert len(found.notices) == 1
    assert found.notices[0].endswith("is left out: it diverged in round 2")


def test_a_seed_counts_once(compared):
    again = {"recipe": {"run.engine": "sequential"}}
    found = compared(*seeds("fedavg", 0.4), ("fedavg", 0, 0.4, again))
    assert found.rows[0].values == {0: 0.4}
    assert "repeats seed 0" in found.notices[0]


def test_a_run_without_the_metric_is_left_out_with_a_notice(compared):
    found = compared(*seeds("fedavg", 0.4), ("fedavg", 1, None, {}))
    assert found.rows[0].values == {0: 0.4}
    assert "no value of 'final'" in found.notices[0]


def test_no_finished_run_is_refused(compared):
    failed = {"failed": {"round": 2, "reason": "interrupted", "detail": ""}}
    with pytest.raises(Refused, match=r"no finished run.*was interrupted in round 2"):
        compared(("fedavg", 0, 0.1, failed))
    with pytest.raises(Refused, match="no finished run"):
        tables.compare([])


def test_runs_without_any_value_are_refused(compared):
    with pytest.raises(Refused, match="no finished run has a value of 'final'"):
        compared(("fedavg", 0, None, {}))


def test_seeds_that_draw_their_own_split_are_not_refused(compared):
    assert len(compared(*seeds("fedavg", 0.4, 0.5, 0.6)).rows[0].values) == 3


@pytest.mark.parametrize(
    ("other_seed", "data_seed"), [(0, -1), (1, 7)], ids=["same seed", "fixed split"]
)
def test_other_data_inside_a_group_is_refused(compared, other_seed, data_seed):
    fixed = {"recipe": {"data.seed": data_seed}}
    with pytest.raises(Refused, match=r"all/0.*all/1.*did not see the same data"):
        compared(
            ("fedavg", 0, 0.4, {**fixed, "data_sha256": "a"}),
            ("fedavg", other_seed, 0.4, {**fixed, "data_sha256": "b"}),
        )


def test_other_data_inside_a_pair_is_refused(compared):
    with pytest.raises(Refused, match="did not see the same data"):
        compared(*seeds("fedavg", 0.4, 0.5), *seeds("gcfed", 0.5, 0.6, data_sha256="other"))


@pytest.mark.parametrize(
    ("metric", "mean"),
    [("best", 0.4), ("accuracy.last", 0.4), ("seconds.total", 2.5), ("round_median", 0.5)],
)
def test_any_number_of_the_summary_is_a_metric(compared, metric, mean):
    assert compared(*seeds("fedavg", 0.4), metric=metric).rows[0].mean == mean


def test_an_unknown_metric_is_named_with_those_there_are(compared):
    with pytest.raises(InputError) as error:
        compared(*seeds("fedavg", 0.4), metric="fnal")
    assert "unknown metric 'fnal': did you mean 'final'?" in str(error.value)
    assert "seconds.total" in str(error.value)


def test_a_metric_that_is_two_keys_is_an_error(compared):
    with pytest.raises(InputError, match=r"write extra\.total or seconds\.total"):
        compared(*seeds("fedavg", 0.4, extra={"total": 3}), metric="total")


def test_json_has_exactly_the_promised_fields(compared, tmp_path):
    found = json.loads(
        tables.to_json(compared(*seeds("fedavg", 0.5, 0.25), *seeds("gcfed", 0.75, 1)))
    )
    assert found[0] == {
        "method": "fedavg",
        "group": {},
        "seeds": [0, 1],
        "n": 2,
        "metric": "final",
        "mean": 0.375,
        "std": pytest.approx(0.1767766953),
        "values": [0.5, 0.25],
        "baseline": True,
        "paired": None,
        "runs": [str(tmp_path / "all" / "0"), str(tmp_path / "all" / "1")],
    }
    assert set(found[1]["paired"]) == {"n", "difference", "std", "t", "p"}
    assert found[1]["paired"]["difference"] == 0.5


def test_json_of_equal_differences_has_no_t_and_no_p(compared):
    found = json.loads(
        tables.to_json(compared(*seeds("fedavg", 0.5, 0.25), *seeds("gcfed", 0.75, 0.5)))
    )
    assert found[1]["paired"] == {"n": 2, "difference": 0.25, "std": 0.0, "t": None, "p": None}


def test_plain_text_is_aligned_and_without_control_codes(compared):
    file = io.StringIO()
    runs = [*seeds("fedavg", 0.4, 0.5), *seeds("[bold]gcfed", 0.5, 0.7)]
    tables.write(compared(*runs), file)
    lines = file.getvalue().splitlines()
    assert lines[0].split() == ["method", "n", "final", "accuracy,", "%", "vs", "fedavg", "p"]
    assert lines[1].split() == ["fedavg", "2", "45.0", "±", "7.1", "baseline"]
    assert lines[2].split() == [
        "[bold]gcfed",
        "2",
        "60.0",
        "±",
        "14.1",
        "+15.0",
        "±",
        "7.1",
        "0.20",
    ]
    assert "\x1b" not in file.getvalue()
    assert len({line.index("±") for line in lines[1:3]}) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_the_same_cells_are_drawn(compared, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = Terminal()
    tables.write(compared(*seeds("fedavg", 0.4, 0.5), *seeds("[bold]gcfed", 0.5, 0.7)), file)
    assert "[bold]gcfed" in file.getvalue()
    assert "+15.0 ± 7.1" in file.getvalue()
    shown = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert max(map(len, shown.splitlines())) <= 80


def test_a_metric_that_is_no_share_is_not_shown_in_percent(compared):
    file = io.StringIO()
    tables.write(compared(*seeds("fedavg", 0.4, 0.5), metric="seconds.total"), file)
    assert "2.500 ± 0.000" in file.getvalue()
    assert "%" not in file.getvalue()


def test_formats():
    tables.check_format("text")
    tables.check_format("json")
    with pytest.raises(InputError, match="'latex' is not in this version"):
        tables.check_format("latex")
    with pytest.raises(InputError, match="unknown format 'jsn': did you mean 'json'"):
        tables.check_format("jsn")


def test_order_of_folders_does_not_matter_for_pairs(write_run):
    paths = [write_run(f"r{s}", "gcfed", s, 0.5 + s / 10) for s in (2, 0, 1)]
    paths += [write_run(f"b{s}", "fedavg", s, 0.4 - s / 10) for s in (1, 2, 0)]
    rows = tables.compare(read_all(paths)).rows
    assert list(rows[1].values) == [0, 1, 2]
    assert rows[1].paired is not None
    assert rows[1].paired.difference == pytest.approx(0.3)
