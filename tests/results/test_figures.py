"""Figures: valid, escaped, and readable whatever the numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from fedkeel.results import figures, scales, style
from fedkeel.results.dots import merged, named, order
from fedkeel.results.folders import read
from fedkeel.results.series import Series, of_runs, thinned

SVG = "{http://www.w3.org/2000/svg}"


def line(name="gcfed", n=5, seeds=3, color=1):
    rounds = tuple(range(n))
    mean = tuple(10.0 + r for r in rounds)
    return Series(
        name, rounds, mean, tuple(v - 1 for v in mean), tuple(v + 1 for v in mean), seeds, color
    )


def parsed(figure: str) -> ET.Element:
    return ET.fromstring(figure)


def marks(root: ET.Element, tag: str, kind: str = "") -> list[ET.Element]:
    return [e for e in root.iter(SVG + tag) if not kind or e.get("class") == kind]


@pytest.mark.parametrize("width", [380.0, 960.0])
def test_curves_have_a_line_and_a_band_and_a_name_for_each_method(width):
    root = parsed(figures.curves([line("fedavg", color=0), line()], width=width))
    assert len(marks(root, "path", "line")) == 2
    assert len(marks(root, "path", "band")) == 2
    assert [e.text for e in marks(root, "text", "name")] == ["fedavg", "gcfed"]
    assert (
        root.find(f"{SVG}title").text
        == "Test accuracy by round: fedavg ends at 14 % and gcfed ends at 14 %."
    )


def test_every_round_tells_its_value_over_the_seeds():
    root = parsed(figures.curves([line()]))
    tips = [e.find(f"{SVG}title").text for e in marks(root, "circle", "stop")]
    assert tips[0] == "gcfed, round 0: 10 % (9 to 11 over 3 seeds)"


def test_a_single_seed_has_no_band():
    assert not marks(parsed(figures.curves([line(seeds=1)])), "path", "band")


def test_names_are_escaped_and_characters_that_xml_forbids_are_replaced():
    figure = figures.curves([line("<script>alert('1')</script>\x00&")])
    assert "<script" not in figure
    assert "\x00" not in figure
    parsed(figure)


def test_nothing_evaluated_is_said():
    empty = Series("fedavg", (), (), (), ())
    assert "No round was evaluated" in figures.curves([empty])
    assert "No round was evaluated" in figures.curves([])


def test_a_single_point_can_be_drawn():
    parsed(figures.curves([line(n=1)]))


def test_a_long_name_stands_above_the_lines_and_leaves_them_their_width():
    root = parsed(figures.curves([line("mymethods:Damped(strength=0.5) + gcfed(head=fc2)")]))
    (path,) = marks(root, "path", "line")
    assert max(float(step.split()[0]) for step in path.get("d")[1:].split("L")) > 900


def test_labels_at_the_ends_do_not_touch():
    many = [replace(line(f"method {i}"), color=i) for i in range(6)]
    root = parsed(figures.curves(many))
    places = sorted(float(e.get("y")) for e in marks(root, "text", "name"))
    assert min(np.diff(places)) >= 16.9


def test_colours_repeat_dashed():
    assert [figures.color(n) for n in (0, 7, 8, 14, 15)] == [
        "s0", "s7", "s1 dashed", "s7 dashed", "s1 dashed"
    ]  # fmt: skip
    assert all(f".s{n}{{" in style.FIGURE for n in range(8))


def test_many_rounds_are_averaged_to_what_can_be_told_apart():
    found = thinned(line(n=1000))
    assert len(found.rounds) == 334
    assert found.rounds[0] == 2
    assert found.mean[0] == pytest.approx(11.0)
    assert thinned(line(n=400)) == line(n=400)


def test_a_series_is_the_mean_over_the_rounds_that_all_have(write_run, tmp_path):
    write_run("all/a", seed=0, final=0.5)
    write_run("all/b", seed=1, final=None)
    found = of_runs("fedavg", read(tmp_path / "all"))
    assert found.rounds == (0, 1, 2)
    assert found.mean == pytest.approx((10.0, 20.0, 40.0))
    assert found.seeds == 2


@pytest.mark.parametrize("clients", [1, 10, 100, 1000])
@pytest.mark.parametrize("classes", [1, 10, 62, 500])
@pytest.mark.parametrize("width", [380.0, 960.0])
def test_labels_are_readable_for_few_and_many(clients, classes, width):
    rng = np.random.default_rng(0)
    counts = (rng.dirichlet([0.1] * classes, clients) * 100).astype(int)
    root = parsed(figures.label_picture(counts, (), width=width))
    _, _, wide, tall = map(float, root.get("viewBox").split())
    assert wide == width
    assert tall < 1000
    assert len(marks(root, "circle")) < 10000
    bars = marks(root, "rect", "bar")
    assert 1 <= len(bars) <= clients
    assert all(float(bar.get("x")) + float(bar.get("width")) <= width for bar in bars)
    texts = "".join(e.text for e in marks(root, "text", "title"))
    assert f"{clients:,} client" in texts


def test_a_dot_is_as_large_as_its_count():
    root = parsed(figures.label_picture(np.array([[100, 25], [0, 25]]), ("a", "b")))
    tipped = {
        e.find(f"{SVG}title").text: float(e.get("r"))
        for e in marks(root, "circle")
        if e.find(f"{SVG}title") is not None
    }
    assert set(tipped) == {"client 0, a: 100", "client 0, b: 25", "client 1, b: 25"}
    assert tipped["client 0, a: 100"] == pytest.approx(2 * tipped["client 0, b: 25"], abs=0.02)


def test_names_of_classes_are_escaped():
    assert "<b>" not in figures.label_picture(np.array([[1, 2]]), ("<b>", "&"))


def test_clients_without_samples_can_be_drawn():
    parsed(figures.label_picture(np.zeros((3, 4), int)))


def test_clients_stand_by_class_then_by_purity_and_empty_ones_last():
    assert order(np.array([[0, 9], [0, 0], [5, 4], [8, 0], [0, 0]])).tolist() == [3, 2, 0, 1, 4]


def test_the_picture_says_how_many_clients_have_nothing_and_what_is_counted():
    root = parsed(figures.label_picture(np.array([[3], [0], [0]]), noun="symbol"))
    assert marks(root, "text", "title")[0].text == "Symbols a client, up to 3; 2 have none"
    assert marks(root, "text", "axis")[-1].text == "symbols"
    one = parsed(figures.label_picture(np.array([[3], [0]])))
    assert marks(one, "text", "title")[0].text == "Samples a client, up to 3; 1 has none"


def test_bars_are_held_against_the_largest_client_though_it_is_not_shown():
    counts = np.ones((1000, 1), int)
    counts[501] = 10  # the purest of one class alike: their order is that of their numbers
    root = parsed(figures.label_picture(counts))
    tall = {float(bar.get("height")) for bar in marks(root, "rect", "bar")}
    assert tall <= {4.4, 44.0}
    assert marks(root, "text", "title")[0].text == "Samples a client, up to 10"


def test_names_that_cannot_be_seen_are_quoted_and_long_ones_cut():
    assert named(["\n", " ", "a", "abcdefghijklm"], 4) == ("'\\n'", "' '", "a", "abcdefghijk…")
    assert named(["a"], 2) == ("0", "1")
    assert merged(np.ones((1, 4), int), ["abcdefghijk…"] * 4, 2)[1] == ["abcdefghijk… …"] * 2


@pytest.mark.parametrize("clients", [2, 10, 30])
def test_the_key_lies_below_the_caption_and_inside(clients):
    root = parsed(figures.label_picture(np.full((clients, 3), 50)))
    caption = float(marks(root, "text", "title")[1].get("y"))
    tall = float(root.get("viewBox").split()[3])
    key = [c for c in marks(root, "circle") if c.find(f"{SVG}title") is None]
    assert all(float(c.get("cy")) - float(c.get("r")) >= caption for c in key)
    assert all(float(c.get("cy")) + float(c.get("r")) <= tall for c in key)


def test_neighbouring_classes_are_summed_where_there_are_too_many():
    counts, names = merged(np.arange(10).reshape(2, 5), list("abcde"), 3)
    assert counts.tolist() == [[1, 5, 4], [11, 15, 9]]
    assert names == ["a to b", "c to d", "e"]


def test_a_standalone_file_has_its_style_for_light_and_dark():
    figure = figures.standalone(figures.curves([line()]))
    root = parsed(figure)
    assert "prefers-color-scheme: dark" in root.find(f"{SVG}style").text
    assert root.get("viewBox").startswith("-20 -20 ")
    assert figure.count("http") == 1  # the name of the SVG namespace


def test_a_strip_shows_each_seed_and_their_mean():
    root = parsed(figures.strip([40.0, 50.0], (40.0, 60.0), "s1", " %"))
    assert [float(e.get("cx")) for e in marks(root, "circle")] == [6.0, 80.0]
    assert float(marks(root, "line", "mean")[0].get("x1")) == 43.0
    parsed(figures.strip([40.0], (40.0, 40.0), "s1"))


def test_ticks_are_round_and_inside():
    assert scales.ticks(0, 1, 4) == [0.0, 0.5, 1.0]
    assert scales.ticks(0.013, 0.091, 4) == [0.02, 0.04, 0.06, 0.08]
    assert scales.limits([5.0, 5.0], 2) == (4.5, 5.5)


def test_labels_that_are_moved_apart_keep_their_order_and_the_limits():
    found = scales.spread([49.0, 50.0, 12.0, 11.0, 10.0], 5.0, 0.0, 50.0)
    assert found == [45.0, 50.0, 16.0, 11.0, 6.0]
    assert min(scales.spread([0.0] * 4, 5.0, 0.0, 50.0)) == 0.0
