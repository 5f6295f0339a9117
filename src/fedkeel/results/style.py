"""How pictures and the page look: colours for light and dark, type, and spacing."""

from __future__ import annotations

COLORS = """
:root {
  --paper: #fdfcfa; --raised: #f5f3ee; --ink: #1d2126; --soft: #5d646d; --faint: #8b9199;
  --rule: #e3e0d8; --alarm: #b3401a;
  --s0: #877e7c; --s1: #296ec4; --s2: #c3831c; --s3: #296d00; --s4: #744978;
  --s5: #542b15; --s6: #2f99e5; --s7: #391e80; color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --raised: #1c2025; --ink: #e8e6e1; --soft: #a6acb4; --faint: #7d848d;
    --rule: #2d3239; --alarm: #f08a5d;
    --s0: #8e948e; --s1: #5675ca; --s2: #b95d2a; --s3: #8fc695; --s4: #d697e9;
    --s5: #e1e681; --s6: #9cedff; --s7: #966990;
  }
}
"""
"""Paper, ink, and eight colours that stay apart for every kind of colour vision; s0 is grey."""

FIGURE = """
svg.figure {
  display: block; width: 100%; height: auto; overflow: visible;
  font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
.figure text { font-size: 12px; fill: var(--soft); font-variant-numeric: tabular-nums }
.figure .small { font-size: 9.5px }
.figure .title { font-size: 12.5px; fill: var(--soft) }
.figure .name { font-size: 13px; font-weight: 600; fill: currentColor }
.figure .grid { stroke: var(--rule); stroke-width: 1 }
.figure .tick { stroke: var(--faint); stroke-width: 1 }
.figure .line {
  fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round;
  stroke-linecap: round;
}
.figure .dashed .line { stroke-dasharray: 6 5 }
.figure .end, .figure .bar, .figure .dots { fill: currentColor }
.figure .band { fill: currentColor; fill-opacity: .1 }
.figure .bar { fill-opacity: .55 }
.figure .dots { fill-opacity: .82 }
.figure .lead { stroke: currentColor; stroke-width: 1; stroke-opacity: .45 }
.figure .seed { fill: currentColor; fill-opacity: .55 }
.figure .mean { stroke: currentColor; stroke-width: 2.5 }
.figure .stop { fill: transparent }
.figure .stop:hover { fill: currentColor; fill-opacity: .35 }
""" + "".join(f".s{n}{{color:var(--s{n})}}" for n in range(8))
"""What the marks of a figure look like; sizes are in the units of its view box."""
