"""How the report page is set."""

from __future__ import annotations

PAGE = """
* { box-sizing: border-box }
html { font-size: 17px; -webkit-text-size-adjust: 100% }
body {
  margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
main {
  max-width: 1060px; margin: 0 auto; padding: clamp(2rem,6vw,5rem) clamp(1.1rem,4vw,3rem) 4rem;
}
h1, h2, h3, .lede {
  font-family: "Iowan Old Style", "Palatino Linotype", Palatino, Charter, "Liberation Serif", serif;
  font-weight: 400; text-wrap: balance;
}
h1 {
  font-size: clamp(2rem,5vw,3.1rem); line-height: 1.12; letter-spacing: -.015em;
  margin: .35rem 0 1.1rem; overflow-wrap: anywhere;
}
h2 { font-size: 1.55rem; line-height: 1.25; margin: 4.2rem 0 .35rem }
h3 { font-size: 1.1rem; margin: 0 0 .6rem }
.lede {
  font-size: clamp(1.12rem,2.2vw,1.32rem); line-height: 1.5; color: var(--soft); max-width: 46em;
  margin: 0; text-wrap: pretty; overflow-wrap: anywhere;
}
.kind {
  font-size: .74rem; letter-spacing: .14em; text-transform: uppercase; color: var(--faint);
  margin: 0;
}
.note {
  color: var(--soft); font-size: .88rem; max-width: 44em; margin: .2rem 0 1.6rem;
  text-wrap: pretty;
}
.warn {
  border-left: 3px solid var(--alarm); padding: .1rem 0 .1rem 1rem; margin: 2rem 0 0;
  font-size: .9rem; overflow-wrap: anywhere;
}
.warn p { margin: .25rem 0 }
figure { margin: 0 }
figure + h3 { margin-top: 2.8rem }
.narrow { display: none }
.panels {
  display: grid; grid-template-columns: repeat(auto-fit,minmax(min(100%,380px),1fr));
  gap: 2.4rem 2.6rem;
}
.legend {
  display: flex; flex-wrap: wrap; gap: .3rem 1.6rem; list-style: none; padding: 0;
  margin: 0 0 1.6rem; font-size: .88rem;
}
.dot {
  display: inline-block; width: .62em; height: .62em; border-radius: 50%;
  background: currentColor; margin-right: .6em; flex: none;
}
.dot.dashed { background: none; border: 2px solid currentColor }
table {
  border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums;
}
th {
  font-weight: 500; font-size: .76rem; color: var(--soft); text-align: left;
  vertical-align: bottom; padding: 0 1.2rem .55rem 0; border-bottom: 1px solid var(--ink);
}
td {
  padding: .62rem 1.2rem .62rem 0; border-bottom: 1px solid var(--rule); vertical-align: middle;
}
th:last-child, td:last-child { padding-right: 0 }
.targets, .skew { max-width: 36em }
.skew { margin: 1.4rem 0 0 }
.skew td { padding-top: .3rem; padding-bottom: .3rem }
.skew .name { font-weight: 400 }
.skew + .note { margin: 1.4rem 0 .8rem }
.skew + h3 { margin-top: 3.2rem }
.terms {
  display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.4rem; margin: 0;
  font-size: .88rem; color: var(--soft);
}
.terms dt { color: var(--ink) }
.terms dd { margin: 0 }
.num { text-align: right; white-space: nowrap }
.name { font-weight: 600; overflow-wrap: anywhere; min-width: 6em }
.lead-value { font-weight: 600 }
.soft { color: var(--soft) }
.strip { width: 170px }
.strip svg.figure { width: 160px }
code {
  font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace;
  font-size: .8rem; line-height: 1.5; overflow-wrap: anywhere; white-space: pre-wrap;
  user-select: all; -webkit-user-select: all;
}
tr.first:not(:first-child) td { border-top: 1px solid var(--faint) }
.name .detail, .name .narrow { color: var(--soft); font-weight: 400; margin-left: .5em }
.runs td { border-bottom: 0; padding-bottom: 0 }
.runs tr.repeat td { padding: .1rem 0 .75rem; border-bottom: 1px solid var(--rule) }
.failed { color: var(--alarm); font-size: .85rem; overflow-wrap: anywhere }
.repeat code { color: var(--soft); display: block }
details { margin-top: .15rem }
summary { cursor: pointer; font-size: .76rem; color: var(--faint); width: fit-content }
summary:hover { color: var(--ink) }
details code {
  background: var(--raised); border-radius: 5px; padding: .55rem .8rem; margin-top: .3rem;
}
footer {
  margin-top: 4.5rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: .8rem;
}
footer p { margin: .2rem 0; overflow-wrap: anywhere }
@media screen and (max-width: 720px) {
  html { font-size: 16px }
  .wide, .strip { display: none }
  .narrow { display: block; max-width: 520px }
  h2 { margin-top: 3.2rem }
  thead { display: none }
  table, tbody { display: block }
  tr {
    display: grid; grid-template-columns: 1.4rem 1.25fr 1.25fr .7fr; gap: .4rem .9rem;
    padding: .8rem 0; border-bottom: 1px solid var(--rule);
  }
  .targets tr { grid-template-columns: 1fr 1fr }
  .skew { display: table; font-size: .84rem }
  .skew thead { display: table-header-group }
  .skew tbody { display: table-row-group }
  .skew tr { display: table-row }
  .skew th { padding: 0 .5rem .3rem 0 }
  .skew td { padding: .3rem .5rem .3rem 0; border-bottom: 1px solid var(--rule) }
  .skew .num { text-align: right }
  .terms { display: block }
  .terms dd { margin-bottom: .5rem }
  td, tr.first:not(:first-child) td { padding: 0; border: 0 }
  .num { text-align: left }
  .name { grid-column: 1/-1 }
  td:empty { display: none }
  .name .narrow { display: inline }
  td[data-label]::before {
    content: attr(data-label); display: block; font-size: .72rem; color: var(--faint);
    font-weight: 400;
  }
  .runs tr { border: 0; padding: 1rem 0 0; grid-template-columns: repeat(4,1fr) }
  .runs tr.repeat { display: block; padding: .5rem 0 0 }
}
@media print {
  :root {
    --paper: #fff; --raised: #f6f6f6; --ink: #000; --soft: #444;
    --faint: #666; --rule: #ccc; --alarm: #b3401a;
    --s0: #877e7c; --s1: #296ec4; --s2: #c3831c; --s3: #296d00; --s4: #744978; --s5: #542b15;
    --s6: #2f99e5; --s7: #391e80; color-scheme: light;
  }
  html { font-size: 12px }
  main { max-width: none; padding: 0 }
  h2 { margin-top: 2.4rem }
  h2, h3, .note { break-after: avoid }
  .panels { grid-template-columns: repeat(2, 1fr) }
  figure, tr { break-inside: avoid }
  .runs tr:not(.repeat) { break-after: avoid }
  summary { display: none }
  details::details-content { content-visibility: visible; height: auto }
}
"""
"""The page: one calm column, wide enough for a figure, narrow enough to read."""
