"""The report page: whole, by itself, escaped, and never in place of somebody else's file."""

from __future__ import annotations

import re
import shlex
from html.parser import HTMLParser

import numpy as np
import pytest

from fedkeel.errors import InputError
from fedkeel.results import Refused, page, sentences
from fedkeel.results.folders import read

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and gathers what a reader sees."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.code: list[str] = []
        self.said = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["title"]):
            self.said += data
        if self.open[-1:] == ["code"]:
            self.code[-1] += data


def demo(write_run, **more):
    for method, finals in (("fedavg", (0.4, 0.5, 0.45)), ("gcfed", (0.5, 0.7, 0.6))):
        for seed, final in enumerate(finals):
            path = write_run(f"demo/{method}-s{seed}", method, seed, final, **more)
            counts = np.array([[3, 0], [0, 4], [1, 1]])
            np.savez(
                path / "partition.npz",
                owner=np.zeros(9, int),
                label_counts=counts,
                labels=["a", "b"],
            )
    return path.parent


def test_the_page_holds_all_its_parts(write_run):
    shown = Page(page.render(read(demo(write_run, recipe={"run.target": 0.4})))).said
    assert "fedavg and gcfed on femnist-mini" in shown
    assert "Test accuracy by round" in shown
    assert "45.0 ± 5.0" in shown
    assert "+15.0 ± 5.0" in shown
    assert "rounds to 40 %" in shown
    assert "2.0 ± 0.0 (3 of 3)" in shown
    assert "How labels lie across the clients" in shown
    assert "fedkeel 0.1.0" in shown


def test_one_sentence_says_what_was_compared(write_run):
    runs = read(demo(write_run))
    assert sentences.what(runs) == (
        "fedavg and gcfed train the model mlp on femnist-mini, split over 4 clients (dirichlet,"
        " alpha 0.1), for 3 rounds of 5 clients and 5 local epochs each (learning rate 0.05), with"
        " seeds 0, 1 and 2."
    )


def test_what_differs_is_said(write_run, tmp_path):
    write_run("all/a", recipe={"data.alpha": 1.0, "cohort": 0.1})
    write_run("all/b", recipe={"data.alpha": 0.05, "cohort": 1})
    said = sentences.what(read(tmp_path / "all"))
    assert "alpha 0.05 or 1)" in said
    assert "rounds of 10 % of the clients or 1 client and" in said


def test_nothing_is_loaded_from_anywhere(write_run):
    text = page.render(read(demo(write_run)))
    found = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "a", "base"} & set(found.tags)
    assert not {"src", "href", "srcset", "xlink:href"} & {name for name, _ in found.attributes}
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert set(re.findall(r"\w+://[^\"' <]*", text)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in text
    assert "@import" not in text


def test_everything_from_a_recipe_is_escaped(write_run, tmp_path):
    evil = "<script>alert(1)</script>"
    changes = {
        "data.name": f"/x/{evil}",
        "model.name": f"m:{evil}",
        "local.lr": evil,
        "data.alpha": evil,
    }
    failed = {"round": 2, "reason": "error", "detail": evil}
    versions = {evil: evil}
    for seed, end in enumerate((None, None, failed)):
        path = write_run(f"all/{seed}", evil, seed, recipe=changes, failed=end, versions=versions)
        np.savez(path / "partition.npz", label_counts=np.ones((2, 2), int), labels=[evil, evil])
    write_run("all/other", f'"{evil}', 0, recipe={"data.alpha": 0.5}, metric=evil)
    text = page.render(read(tmp_path / "all"))
    assert "<script" not in text.lower()
    assert Page(text).said.count(evil) > 10


def test_the_same_folders_give_the_same_page(write_run):
    runs = read(demo(write_run))
    assert page.render(runs) == page.render(runs)


def test_every_run_has_the_two_commands_that_repeat_it(write_run):
    runs = read(demo(write_run, recipe={"local.epochs": 2, "data.file": "/a b/c.npz"}))
    code = Page(page.render(runs)).code
    assert len(code) == 12
    assert shlex.split(code[0]) == ["fedkeel", "run", str(runs[0].path / "recipe.toml")]
    assert shlex.split(code[3]) == [
        "fedkeel", "run", "method=fedavg", "rounds=3", "cohort=5", "seed=1", "data.clients=4",
        "data.partition=dirichlet", "data.file=/a b/c.npz", "local.epochs=2", "local.lr=0.05",
        "model.name=mlp",
    ]  # fmt: skip


def test_without_label_counts_that_part_is_left_out(write_run):
    path = write_run("one")
    np.savez(path / "partition.npz", owner=np.zeros(3, int))
    assert "How labels lie" not in page.render(read(path))


def test_a_damaged_partition_is_named(write_run):
    path = write_run("one")
    (path / "partition.npz").write_bytes(b"not a zip")
    with pytest.raises(InputError, match=r"partition\.npz' is damaged"):
        page.render(read(path))


def test_a_single_run_needs_no_table_of_methods(write_run):
    text = page.render(read(write_run("one", "gcfed")))
    assert "gcfed on femnist-mini" in text
    assert "What each method reached" not in text
    assert "Rounds to target" not in text


def test_failed_runs_are_named_and_listed_but_in_no_mean(write_run, tmp_path):
    failed = {"round": 2, "reason": "diverged", "detail": "client 7"}
    write_run("all/0", seed=0, final=0.4)
    write_run("all/1", seed=1, final=0.5)
    write_run("all/2", seed=2, final=0.1, failed=failed)
    shown = Page(page.render(read(tmp_path / "all"))).said
    assert "is left out: it diverged in round 2" in shown
    assert "This run diverged in round 2: client 7." in shown
    assert "45.0 ± 7.1" in shown


def test_runs_that_all_failed_are_shown_all_the_same(write_run):
    failed = {"round": 2, "reason": "interrupted", "detail": None}
    nothing = {"last": None, "best": None, "final": None}
    path = write_run("one", failed=failed, accuracy=nothing)
    assert "was interrupted in round 2." in Page(page.render(read(path))).said


def test_settings_have_a_picture_each(write_run, tmp_path):
    for number, (method, alpha) in enumerate(
        (m, a) for m in ("fedavg", "gcfed") for a in (0.5, 0.1)
    ):
        write_run(f"all/{number}", method, recipe={"data.alpha": alpha})
    text = page.render(read(tmp_path / "all"))
    assert re.findall(r"<h3>(alpha [\d.]+)</h3>", text) == ["alpha 0.1", "alpha 0.5"]


def test_a_metric_that_is_not_accuracy_is_not_shown_in_percent(write_run, tmp_path):
    for seed in (0, 1):
        write_run(f"all/{seed}", seed=seed, final=12.5, metric="error")
    shown = Page(page.render(read(tmp_path / "all"))).said
    assert "Test error by round" in shown
    assert "12.50 ± 0.00" in shown
    assert "%" not in shown


def test_other_data_inside_a_group_are_refused(write_run, tmp_path):
    write_run("all/a", data_sha256="a")
    write_run("all/b", data_sha256="b")
    with pytest.raises(Refused):
        page.report(read(tmp_path / "all"), tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()


def test_a_report_replaces_a_report_and_nothing_else(write_run, tmp_path):
    runs = read(write_run("one"))
    out = tmp_path / "new" / "report.html"
    assert page.report(runs, out) == out
    page.report(runs, out)
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]
    out.write_text("<!DOCTYPE html>\n<html>mine</html>")
    with pytest.raises(InputError, match="was not written by fedkeel"):
        page.report(runs, out)
    assert "mine" in out.read_text()


def test_a_place_that_cannot_be_written_is_named(write_run, tmp_path):
    runs = read(write_run("one"))
    with pytest.raises(InputError, match="is a folder"):
        page.report(runs, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        page.report(runs, tmp_path / "file" / "report.html")
