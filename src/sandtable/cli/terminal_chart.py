"""A Plotly figure as lines of text: bars, courses, points and maps of shades.

Invariant: total and pure. Whatever the figure holds, the answer is lines no wider than `width`, or none; no
text of it can drive the terminal. Colours are names for the caller, who knows whether there are any.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size

from sandtable.cli.plot_area import Series, draw_area
from sandtable.cli.show import clean

COLOURS = ("blue", "yellow", "green", "magenta", "cyan", "red", "white")
_NARROWEST = 24
_MOST_BARS = 40
_MOST_LABEL = 28
_MOST_DOWN = 40
_BINS = 12
_SHADES = {True: " ░▒▓█", False: " .:*#"}
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    colour: str | None = None


ChartLine = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class _Paper:
    width: int
    blocks: bool
    """Whether the terminal can show more than ASCII."""
    percent: bool
    stacked: bool = False


def terminal_chart(figure: dict[str, Any], width: int, *, blocks: bool = True) -> list[ChartLine]:
    traces = [t for t in _list(figure.get("data")) if isinstance(t, dict)]
    draw = _DRAW.get(_kind(traces))
    if draw is None or width < _NARROWEST:
        return []
    stacked = _dict(figure.get("layout")).get("barmode") == "stack"
    paper = _Paper(width, blocks, _in_percent(figure, traces), stacked)
    try:
        body = draw(traces, paper)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        # Figures are made for Plotly, which forgives more than this does; the table shows the same rows.
        return []
    title = _label(_text(_dict(figure.get("layout")).get("title")))
    heading: list[ChartLine] = [(Span(_cut(title, width)),)] if title and body else []
    lines = [*heading, *body]
    return lines if blocks else [tuple(Span(_ascii(s.text), s.colour) for s in line) for line in lines]


def _ascii(text: str) -> str:
    return text.replace("…", ".").encode("ascii", "replace").decode("ascii")


def _kind(traces: list[dict[str, Any]]) -> str:
    kinds = {str(trace.get("type", "scatter")) for trace in traces}
    return kinds.pop() if len(kinds) == 1 else ""


# Bars


def _bars(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    rows: list[tuple[str, float | None, int]] = []
    sideways = [trace.get("orientation") == "h" for trace in traces]
    keys = [_list(t.get("y" if flat else "x")) for t, flat in zip(traces, sideways, strict=True)]
    values = [_list(t.get("x" if flat else "y")) for t, flat in zip(traces, sideways, strict=True)]
    if not traces or any(len(k) != len(v) for k, v in zip(keys, values, strict=True)):
        return []
    if paper.stacked:
        numbers = [[_number(value) or 0.0 for value in series] for series in values]
        return [*_stacks([_label(key) for key in keys[0]], numbers, paper), *_legend(traces, paper)]
    for index, key in enumerate(keys[0]):
        for number, series in enumerate(values):
            if index < len(series):
                rows.append((_label(key) if number == 0 else "", _number(series[index]), number))
    return [*_bar_lines(rows, paper), *_legend(traces, paper)]


def _stacks(names: list[str], series: list[list[float]], paper: _Paper) -> list[ChartLine]:
    """One line for each name: its parts one behind the other, and their sum."""
    shown = names[:_MOST_BARS]
    totals = [sum(parts[at] for parts in series if at < len(parts)) for at in range(len(shown))]
    texts = [_said(total, paper) for total in totals]
    label = min(_MOST_LABEL, paper.width // 3, max(map(cell_len, shown), default=0))
    room = paper.width - label - max(map(cell_len, texts), default=0) - 3
    longest = max(totals, default=0.0)
    if room < 4 or longest <= 0 or not math.isfinite(longest) or min(map(min, series)) < 0:
        return []
    lines: list[ChartLine] = []
    for at, (name, text) in enumerate(zip(shown, texts, strict=True)):
        spans, sum_so_far, drawn = [Span(_fit(name, label) + " ")], 0.0, 0
        for number, parts in enumerate(series):
            sum_so_far += parts[at] if at < len(parts) else 0.0
            end = round(sum_so_far / longest * room)
            mark = "█" if paper.blocks else "#*+o=%@"[number % 7]
            spans.append(Span(mark * (end - drawn), COLOURS[number % len(COLOURS)]))
            drawn = end
        lines.append((*spans, Span(" " * (room - drawn) + " " + text.rjust(paper.width - label - room - 2))))
    if len(names) > len(shown):
        lines.append((Span(_cut(f"and {len(names) - len(shown)} more", paper.width)),))
    return lines


def _pie(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    labels, values = _list(traces[0].get("labels")), _list(traces[0].get("values"))
    rows = [(_label(label), _number(value), 0) for label, value in zip(labels, values, strict=False)]
    return _bar_lines(rows, paper)


def _histogram(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    numbers = [n for n in map(_number, _list(traces[0].get("x"))) if n is not None]
    if not numbers:
        return []
    low, high = min(numbers), max(numbers)
    step = (high - low) / _BINS
    if step == 0 or not math.isfinite(step):
        return _bar_lines([(_said(low, paper), float(len(numbers)), 0)], _counting(paper))
    counts = [0] * _BINS
    for number in numbers:
        counts[min(int((number - low) / step), _BINS - 1)] += 1
    dash = " – " if paper.blocks else " - "
    edges = [low + step * index for index in range(_BINS + 1)]
    names = [f"{_said(edges[i], paper)}{dash}{_said(edges[i + 1], paper)}" for i in range(_BINS)]
    rows = [(name, float(count), 0) for name, count in zip(names, counts, strict=True)]
    return _bar_lines(rows, _counting(paper))


def _counting(paper: _Paper) -> _Paper:
    return _Paper(paper.width, paper.blocks, percent=False)


def _bar_lines(rows: Sequence[tuple[str, float | None, int]], paper: _Paper) -> list[ChartLine]:
    shown = rows[:_MOST_BARS]
    numbers = [value for _, value, _ in shown if value is not None]
    if not numbers:
        return []
    low, high = min(0.0, *numbers), max(0.0, *numbers)
    texts = ["" if value is None else _said(value, paper) for _, value, _ in shown]
    widest = max(map(cell_len, texts))
    label = min(_MOST_LABEL, paper.width // 3, max(cell_len(name) for name, _, _ in shown))
    room = paper.width - label - widest - 3
    if room < 4 or not math.isfinite(high - low):
        return []
    lines: list[ChartLine] = []
    for (name, value, series), text in zip(shown, texts, strict=True):
        bar = _bar(value or 0.0, low, high, room, paper.blocks)
        colour = COLOURS[series % len(COLOURS)]
        said = " " * (widest - cell_len(text)) + text
        lines.append((Span(_fit(name, label) + " "), Span(bar, colour), Span(f" {said}")))
    if len(rows) > len(shown):
        lines.append((Span(_cut(f"and {len(rows) - len(shown)} more", paper.width)),))
    return lines


def _bar(value: float, low: float, high: float, room: int, blocks: bool) -> str:
    """From the zero line to the value; a small value that is not zero leaves a trace."""
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
            _list(trace.get("x")),
            [_number(value) for value in _list(trace.get("y"))],
            joined="lines" in str(trace.get("mode", "lines")),
        )
        for trace in traces
    ]
    area = draw_area(series, paper.width, lambda value: _said(value, paper), blocks=paper.blocks)
    lines: list[ChartLine] = [
        tuple(Span(text, None if n is None else COLOURS[n % len(COLOURS)]) for text, n in line)
        for line in area.lines
    ]
    if len(traces) > 1:
        lines += _legend(traces, paper, area.marks)
    return lines


def _legend(traces: list[dict[str, Any]], paper: _Paper, marks: str = "") -> list[ChartLine]:
    """A mark for each series; bars, which have none, are told apart by their order where there is no colour."""
    if len(traces) < 2:
        return []
    bars = "" if marks else "█" if paper.blocks else "#"
    if paper.stacked and not paper.blocks:
        bars, marks = "", "#*+o=%@"
    spans = [] if marks else [Span("in each bar: " if paper.stacked else "in each group: ")]
    left = paper.width - sum(cell_len(span.text) for span in spans)
    for number, trace in enumerate(traces):
        name = _label(trace.get("name", f"series {number + 1}"))
        mark = bars or marks[number % len(marks)]
        shown = _cut(name, max(0, left - 4))
        if cell_len(shown) + 4 > left:
            break
        spans += [Span(f"{mark} ", COLOURS[number % len(COLOURS)]), Span(f"{shown}  ")]
        left -= cell_len(shown) + 4
    return [tuple(spans)]


# Maps


def _heatmap(traces: list[dict[str, Any]], paper: _Paper) -> list[ChartLine]:
    trace = traces[0]
    across, down = [_label(x) for x in _list(trace.get("x"))], [_label(y) for y in _list(trace.get("y"))]
    grid = [[_number(value) for value in _list(row)] for row in _list(trace.get("z"))][:_MOST_DOWN]
    numbers = [value for row in grid for value in row if value is not None]
    if not numbers or not across or len(down) < len(grid):
        return []
    label = min(_MOST_LABEL, paper.width // 3, max(map(cell_len, down)))
    each = min(3, (paper.width - label - 1) // len(across))
    if each < 1:
        return []
    low, high = min(numbers), max(numbers)
    shades = _SHADES[paper.blocks]
    lines: list[ChartLine] = []
    for name, row in zip(down, grid, strict=False):
        cells = "".join(_shade(value, low, high, shades) * each for value in row[: len(across)])
        lines.append((Span(_fit(name, label) + " "), Span(cells, COLOURS[0])))
    ends = f"{across[0]} … {across[-1]}" if paper.blocks else f"{across[0]} ... {across[-1]}"
    scale = f"{shades[1]} {_said(low, paper)}  {shades[-1]} {_said(high, paper)}"
    indent = " " * (label + 1)
    lines.append((Span(_cut(indent + ends, paper.width)),))
    lines.append((Span(_cut(indent + scale, paper.width)),))
    return lines


def _shade(value: float | None, low: float, high: float, shades: str) -> str:
    if value is None:
        return shades[0]
    share = (value - low) / (high - low) if high > low else 1.0
    return shades[1 + min(len(shades) - 2, int(share * (len(shades) - 1)))]


# Words and numbers


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return str(_dict(value).get("text", "") or "") if isinstance(value, dict) else str(value or "")


def _label(value: Any) -> str:
    """One line, without Plotly's escapes."""
    return clean(
        " ".join(html.unescape(_text(value) if not isinstance(value, int | float) else f"{value}").split())
    )


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def _said(value: float, paper: _Paper) -> str:
    if paper.percent:
        return f"{value * 100:.1f} %"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if 1e-3 <= size < 1e15:
        decimals = 2 if size >= 10 else 3 if size >= 1 else 4
        return f"{value:,.{decimals}f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def _in_percent(figure: dict[str, Any], traces: list[dict[str, Any]]) -> bool:
    layout = _dict(figure.get("layout"))
    sideways = any(trace.get("orientation") == "h" for trace in traces)
    axis = _dict(layout.get("xaxis" if sideways or _kind(traces) == "histogram" else "yaxis"))
    bar = _dict(traces[0].get("colorbar")) if traces else {}
    shown = str(traces[0].get("texttemplate", "")) if traces else ""
    formats = (axis.get("tickformat"), bar.get("tickformat"))
    return any(str(given or "").endswith("%") for given in formats) or shown.endswith("%}")


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
}
