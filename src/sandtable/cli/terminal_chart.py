"""A Plotly figure as lines of text: bars, lines, points and heatmaps.

Invariant: total and pure. Whatever the figure holds, the result is lines no wider than `width`, or none, without
control characters. Kind, order, labels and colours are the figure's (`figure_words`); the caller decides whether
colours are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len, set_cell_size

from sandtable.cli.figure_words import (
    PanelWords,
    amount,
    as_dict,
    as_list,
    colours_of,
    is_percent,
    label,
    mark_of,
    number,
    number_said,
    panels_of,
    signs,
    slice_colours,
    text_of,
    tick,
)
from sandtable.cli.plot_area import Series, draw_area

_NARROWEST = 24
_MOST_BARS = 40
_MOST_LABEL = 28
_MOST_DOWN = 40
_BINS = 12
_SHADES = {True: " ░▒▓█", False: " .:*#"}
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_IN_STACK = "#*+o=%@"
"""Characters that distinguish the parts of a stacked bar in ASCII."""


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    colour: str | None = None


ChartLine = tuple[Span, ...]
_Bar = tuple[str, float | None, str | None]
"""Name, value and colour."""


@dataclass(frozen=True, slots=True)
class _Paper:
    width: int
    blocks: bool
    """Whether the terminal can show block characters, which are not ASCII."""
    layout: dict[str, Any]
    colours: list[str | None]
    """One for each trace."""
    percent: bool
    signs: tuple[str, str]
    """What stands before and after an amount."""

    @property
    def stacked(self) -> bool:
        return self.layout.get("barmode") == "stack"

    def axis(self, name: str) -> dict[str, Any]:
        return as_dict(self.layout.get(name))

    def said(self, value: float) -> str:
        before, after = self.signs
        return f"{before}{amount(value, percent=self.percent)}{after}"


def terminal_chart(figure: dict[str, Any], width: int, *, blocks: bool = True) -> list[ChartLine]:
    traces = [t for t in as_list(figure.get("data")) if isinstance(t, dict)]
    draw = _DRAW.get(_kind(traces))
    if draw is None or width < _NARROWEST:
        return []
    layout = as_dict(figure.get("layout"))
    try:
        body = [line for panel in panels_of(layout, traces) for line in _panel(panel, draw, width, blocks)]
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        # Plotly accepts more than this code does; the table shows the same rows.
        return []
    title = label(text_of(layout.get("title")))
    heading: list[ChartLine] = [(Span(_cut(title, width)),)] if title and body else []
    lines = [*heading, *(_said_below(layout, width) if body else []), *body]
    return lines if blocks else [tuple(Span(_ascii(s.text), s.colour) for s in line) for line in lines]


def _said_below(layout: dict[str, Any], width: int) -> list[ChartLine]:
    """What the figure says below its title, and which values its reference lines have."""
    notes = [
        note for note in map(as_dict, as_list(layout.get("annotations"))) if note.get("name") == "reference"
    ]
    texts = [text_of(as_dict(layout.get("title")).get("subtitle")), *map(text_of, notes)]
    return [(Span(_cut(label(text), width)),) for text in texts if text]


def _panel(
    panel: PanelWords,
    draw: Callable[[list[dict[str, Any]], _Paper], list[ChartLine]],
    width: int,
    blocks: bool,
) -> list[ChartLine]:
    amounts = is_percent(panel.layout, panel.traces[0]), signs(panel.layout, panel.traces[0])
    paper = _Paper(width, blocks, panel.layout, colours_of(panel.layout, panel.traces), *amounts)
    heading: list[ChartLine] = [(Span(_cut(panel.heading, width)),)] if panel.heading else []
    return [*heading, *draw(panel.traces, paper)]


def _ascii(text: str) -> str:
    return text.replace("…", ".").encode("ascii", "replace").decode("ascii")


def _kind(traces: list[dict[str, Any]]) -> str:
    kinds = {str(trace.get("type", "scatter")) for trace in traces}
    return kinds.pop() if len(kinds) == 1 else ""


# Bars


def _bars(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    rows: list[_Bar] = []
    sideways = [trace.get("orientation") == "h" for trace in traces]
    keys = [as_list(t.get("y" if flat else "x")) for t, flat in zip(traces, sideways, strict=True)]
    values = [as_list(t.get("x" if flat else "y")) for t, flat in zip(traces, sideways, strict=True)]
    if not traces or any(len(k) != len(v) for k, v in zip(keys, values, strict=True)):
        return []
    names = [tick(paper.axis("yaxis" if sideways[0] else "xaxis"), key) for key in keys[0]]
    if paper.stacked:
        numbers = [[number(value) or 0.0 for value in series] for series in values]
        if paper.layout.get("barnorm") == "percent":
            numbers = _parts(numbers)
        return [*_stacks(names, numbers, paper), *_legend(traces, paper)]
    for index, name in enumerate(names):
        for at, series in enumerate(values):
            if index < len(series):
                rows.append((name if at == 0 else "", number(series[index]), paper.colours[at]))
    return [*_bar_lines(rows, paper), *_legend(traces, paper)]


def _parts(series: list[list[float]]) -> list[list[float]]:
    """Of a hundred, for each bar, as Plotly does it."""
    whole = [sum(parts) for parts in zip(*series, strict=True)]
    return [
        [100 * part / of if of else 0.0 for part, of in zip(parts, whole, strict=True)] for parts in series
    ]


def _stacks(names: list[str], series: list[list[float]], paper: _Paper) -> list[ChartLine]:
    """One line for each name: its parts one after the other, and their sum."""
    shown = names[:_MOST_BARS]
    totals = [sum(parts[at] for parts in series if at < len(parts)) for at in range(len(shown))]
    texts = [paper.said(total) for total in totals]
    margin = min(_MOST_LABEL, paper.width // 3, max(map(cell_len, shown), default=0))
    room = paper.width - margin - max(map(cell_len, texts), default=0) - 3
    longest = max(totals, default=0.0)
    if room < 4 or longest <= 0 or not math.isfinite(longest) or min(map(min, series)) < 0:
        return []
    lines: list[ChartLine] = []
    for at, (name, text) in enumerate(zip(shown, texts, strict=True)):
        spans, sum_so_far, drawn = [Span(_fit(name, margin) + " ")], 0.0, 0
        for place, parts in enumerate(series):
            sum_so_far += parts[at] if at < len(parts) else 0.0
            end = round(sum_so_far / longest * room)
            mark = "█" if paper.blocks else _IN_STACK[place % len(_IN_STACK)]
            spans.append(Span(mark * (end - drawn), paper.colours[place]))
            drawn = end
        lines.append((*spans, Span(" " * (room - drawn) + " " + text.rjust(paper.width - margin - room - 2))))
    if len(names) > len(shown):
        lines.append((Span(_cut(f"and {len(names) - len(shown)} more", paper.width)),))
    return lines


def _pie(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    """Its slices as bars, in their order."""
    labels, values = as_list(traces[0].get("labels")), as_list(traces[0].get("values"))
    colours = slice_colours(traces[0], len(labels))
    parts = zip(labels, values, colours, strict=False)
    return _bar_lines([(label(name), number(value), colour) for name, value, colour in parts], paper)


def _histogram(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    numbers = [n for n in map(number, as_list(traces[0].get("x"))) if n is not None]
    if not numbers:
        return []
    low, high = min(numbers), max(numbers)
    step = (high - low) / _BINS
    if step == 0 or not math.isfinite(step):
        return _bar_lines([(paper.said(low), float(len(numbers)), paper.colours[0])], _counting(paper))
    counts = [0] * _BINS
    for value in numbers:
        counts[min(int((value - low) / step), _BINS - 1)] += 1
    dash = " – " if paper.blocks else " - "
    edges = [low + step * index for index in range(_BINS + 1)]
    names = [f"{paper.said(edges[i])}{dash}{paper.said(edges[i + 1])}" for i in range(_BINS)]
    rows = [(name, float(count), paper.colours[0]) for name, count in zip(names, counts, strict=True)]
    return _bar_lines(rows, _counting(paper))


def _counting(paper: _Paper) -> _Paper:
    return replace(paper, percent=False, signs=("", ""))


def _bar_lines(rows: Sequence[_Bar], paper: _Paper) -> list[ChartLine]:
    shown = rows[:_MOST_BARS]
    numbers = [value for _, value, _ in shown if value is not None]
    if not numbers:
        return []
    low, high = min(0.0, *numbers), max(0.0, *numbers)
    texts = ["" if value is None else paper.said(value) for _, value, _ in shown]
    widest = max(map(cell_len, texts))
    margin = min(_MOST_LABEL, paper.width // 3, max(cell_len(name) for name, _, _ in shown))
    room = paper.width - margin - widest - 3
    if room < 4 or not math.isfinite(high - low):
        return []
    lines: list[ChartLine] = []
    for (name, value, colour), text in zip(shown, texts, strict=True):
        bar = _bar(value or 0.0, low, high, room, paper.blocks)
        said = " " * (widest - cell_len(text)) + text
        lines.append((Span(_fit(name, margin) + " "), Span(bar, colour), Span(f" {said}")))
    if len(rows) > len(shown):
        lines.append((Span(_cut(f"and {len(rows) - len(shown)} more", paper.width)),))
    return lines


def _bar(value: float, low: float, high: float, room: int, blocks: bool) -> str:
    """From the zero line to the value; a small non-zero value stays visible."""
    span = high - low
    if span == 0:
        return " " * room
    zero = round(-low / span * room)
    if value < 0:
        length = min(zero, max(1, round(-value / span * room)))
        return " " * (zero - length) + ("█" if blocks else "#") * length + " " * (room - zero)
    eighths = min(8 * (room - zero), round(value / span * room * 8))
    if value > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, 8)
    if blocks:
        bar = "█" * full + (_EIGHTHS[rest] if rest else "")
    else:
        bar = "#" * max(full + (rest >= 4), 1 if value > 0 else 0)
    return (" " * zero + bar).ljust(room)[:room]


# Lines and points


def _scatter(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    series = [
        Series(
            as_list(trace.get("x")),
            [number(value) for value in as_list(trace.get("y"))],
            joined="lines" in str(trace.get("mode", "lines")),
            mark=mark_of(trace, at, blocks=paper.blocks),
        )
        for at, trace in enumerate(traces)
    ]
    axis = paper.axis("xaxis")
    area = draw_area(series, paper.width, paper.said, lambda x: tick(axis, x), blocks=paper.blocks)
    lines: list[ChartLine] = [
        tuple(Span(text, None if n is None else paper.colours[n]) for text, n in line) for line in area
    ]
    return [*lines, *_legend(traces, paper, "".join(one.mark for one in series))]


def _legend(traces: list[dict[str, Any]], paper: _Paper, marks: str = "") -> list[ChartLine]:
    """A mark for each series; bars have none, and without colours only their order distinguishes them."""
    if len(traces) < 2:
        return []
    bars = "" if marks else "█" if paper.blocks else "#"
    if paper.stacked and not paper.blocks:
        bars, marks = "", _IN_STACK
    spans = [] if marks else [Span("in each bar: " if paper.stacked else "in each group: ")]
    left = paper.width - sum(cell_len(span.text) for span in spans)
    for at, trace in enumerate(traces):
        name = label(trace.get("name", f"series {at + 1}"))
        mark = bars or marks[at % len(marks)]
        shown = _cut(name, max(0, left - 4))
        if cell_len(shown) + 4 > left:
            break
        spans += [Span(f"{mark} ", paper.colours[at]), Span(f"{shown}  ")]
        left -= cell_len(shown) + 4
    return [tuple(spans)]


# Maps


def _heatmap(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    trace = traces[0]
    across, down = (
        [tick(paper.axis(f"{name}axis"), value) for value in as_list(trace.get(name))] for name in ("x", "y")
    )
    grid = [[number(value) for value in as_list(row)] for row in as_list(trace.get("z"))][:_MOST_DOWN]
    numbers = [value for row in grid for value in row if value is not None]
    if not numbers or not across or len(down) < len(grid):
        return []
    margin = min(_MOST_LABEL, paper.width // 3, max(map(cell_len, down)))
    each = min(3, (paper.width - margin - 1) // len(across))
    if each < 1:
        return []
    low, high = min(numbers), max(numbers)
    shades = _SHADES[paper.blocks]
    lines: list[ChartLine] = []
    for name, row in zip(down, grid, strict=False):
        cells = "".join(_shade(value, low, high, shades) * each for value in row[: len(across)])
        lines.append((Span(_fit(name, margin) + " "), Span(cells, paper.colours[0])))
    ends = f"{across[0]} … {across[-1]}" if paper.blocks else f"{across[0]} ... {across[-1]}"
    scale = f"{shades[1]} {paper.said(low)}  {shades[-1]} {paper.said(high)}"
    indent = " " * (margin + 1)
    lines.append((Span(_cut(indent + ends, paper.width)),))
    lines.append((Span(_cut(indent + scale, paper.width)),))
    return lines


def _shade(value: float | None, low: float, high: float, shades: str) -> str:
    if value is None:
        return shades[0]
    share = (value - low) / (high - low) if high > low else 1.0
    return shades[1 + min(len(shades) - 2, int(share * (len(shades) - 1)))]


# Single numbers


def _numbers(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    """A line for each: the number, its change, and what it is."""
    lines: list[ChartLine] = []
    for trace in traces:
        text, change = number_said(trace)
        name = label(text_of(trace.get("title")))
        parts = "  ".join(part for part in (text, change, name) if part)
        lines.append((Span(_cut(parts, paper.width)),))
    return lines if all(number(trace.get("value")) is not None for trace in traces) else []


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _fit(text: str, width: int) -> str:
    return set_cell_size(_cut(text, width), width)


_DRAW: dict[str, Callable[[list[dict[str, Any]], _Paper], list[ChartLine]]] = {
    "bar": _bars,
    "pie": _pie,
    "histogram": _histogram,
    "scatter": _scatter,
    "heatmap": _heatmap,
    "indicator": _numbers,
}
