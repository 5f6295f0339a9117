"""The drawing of a round: what the server does, what a client does, and what travels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WIDTH, HEIGHT = 960, 440
FONT = 'system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif'
TITLE = (
    "A round. The server briefs the cohort: model and note go out. Each client selects samples, "
    "begins, and steps through its batches: probe, logits, penalty, gradient, SGD. It digests, "
    "finishes and sends update and note back. The server weighs, averages, merges and steps."
)


def drawing(colors: Mapping[str, str]) -> str:
    """Return the drawing as SVG in these colours."""
    marks = [
        *_server(20, "brief", ("brief",), ("keeps: state",)),
        *_client(),
        *_server(780, "merge", ("weigh", "mean", "merge", "subtract"), ("keeps: state, ledger",)),
        *_wires(),
    ]
    css = "".join(f"{rule}" for rule in _rules(colors))
    body = "\n".join(marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        f"<title>{TITLE}</title>\n<style>{css}</style>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" class="paper"/>\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" class="tip"/></marker></defs>\n'
        f"{body}\n</svg>\n"
    )


def _rules(c: Mapping[str, str]) -> Sequence[str]:
    return (
        f"text{{font:13px {FONT};fill:{c['--ink']}}}",
        f".paper{{fill:{c['--paper']}}}",
        f".box{{fill:{c['--raised']};stroke:{c['--rule']}}}",
        f".verb{{font-size:15px;font-weight:600;fill:{c['--s1']}}}",
        f".hook{{fill:{c['--paper']};stroke:{c['--faint']}}}",
        f".own{{fill:none;stroke:{c['--faint']};stroke-dasharray:3 3}}",
        f".soft{{fill:{c['--soft']};font-size:12px}}",
        f".wire{{fill:none;stroke:{c['--ink']};stroke-width:1.5}}",
        f".turn{{fill:none;stroke:{c['--s1']};stroke-width:1.5}}",
        f".tip{{fill:{c['--ink']}}}",
    )


def _server(x: int, verb: str, hooks: Sequence[str], keeps: Sequence[str]) -> list[str]:
    marks = [
        _box(x, 70, 160, 270),
        _text(x + 80, 50, "server", "soft"),
        _text(x + 80, 98, verb, "verb"),
    ]
    for i, hook in enumerate(hooks):
        marks += _hook(x + 20, 116 + 40 * i, 120, hook)
    return [*marks, *(_text(x + 80, 326 - 16 * i, line, "soft") for i, line in enumerate(keeps))]


def _client() -> list[str]:
    behind = [_box(272 + d, 70 - d, 432, 270) for d in (12, 6)]
    marks = [*behind, _box(272, 70, 432, 270), _text(488, 50, "each client of the cohort", "soft")]
    for x, verb in ((338, "begin"), (488, "step"), (638, "finish")):
        marks.append(_text(x, 98, verb, "verb"))
    marks += _column(286, 104, ("select", "begin"))
    marks += _column(428, 120, ("probe", "logits", "penalty", "gradient", "SGD"))
    marks += _column(586, 104, ("digest", "finish"))
    turn = '<path class="turn" marker-end="url(#tip)" d="M548 291h14v-160h-10"/>'
    return [
        *marks,
        turn,
        _text(488, 326, "for each batch", "soft"),
        _text(338, 326, "keeps: memory", "soft"),
    ]


def _column(x: int, width: int, hooks: Sequence[str]) -> list[str]:
    return [mark for i, hook in enumerate(hooks) for mark in _hook(x, 116 + 40 * i, width, hook)]


def _wires() -> list[str]:
    wires = (
        "M180 205H270",
        "M716 205H778",
        "M390 131H426",
        "M562 150H584",
        "M860 340V390H100V342",
    )
    said = (
        (225, 180, "model,"),
        (225, 196, "note"),
        (746, 180, "update,"),
        (746, 196, "note"),
        (480, 382, "the next round begins with the model that this one left"),
        (480, 420, "Solid boxes are hooks of a part; dashed ones are the round's own."),
    )
    return [*map(_wire, wires), *(_text(x, y, words, "soft") for x, y, words in said)]


def _hook(x: int, y: int, width: int, name: str) -> list[str]:
    own = name in ("mean", "subtract", "SGD")
    kind = "own" if own else "hook"
    rect = f'<rect x="{x}" y="{y}" width="{width}" height="30" rx="6" class="{kind}"/>'
    return [rect, _text(x + width // 2, y + 20, name, "soft" if own else "")]


def _box(x: int, y: int, width: int, height: int) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" class="box"/>'


def _wire(path: str) -> str:
    return f'<path class="wire" marker-end="url(#tip)" d="{path}"/>'


def _text(x: int, y: int, words: str, kind: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" class="{kind}">{words}</text>'
