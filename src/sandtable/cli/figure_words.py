"""Reads labels, numbers, colours and marks from a Plotly figure, for a terminal.

Invariant: total and pure. A figure may come from untrusted code, so a part that is invalid in Plotly is ignored, and
no text can send control characters to the terminal. Nothing is added that the figure does not say.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandtable.cli.show import clean

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_MOMENT_FORMAT = re.compile(r"(?:%[bdY]|[ \n,.-])+")
_PLACED = re.compile(r"([^<>{}]*)%\{value[^}]*\}([^<>{}]*)$")
_LONGEST_SIGN = 12
_MARKS = {
    "circle": "●*", "square": "■o", "diamond": "◆+", "triangle-up": "▲x", "x": "✕#", "cross": "✚@", "star": "★%",
}  # fmt: skip
"""For each Plotly symbol a Unicode character and an ASCII one."""


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def label(value: Any) -> str:
    """One line, without Plotly's escapes."""
    text = f"{value}" if isinstance(value, int | float) else text_of(value)
    return clean(" ".join(html.unescape(text).split()))


def text_of(value: Any) -> str:
    """The text of a title or a name, which may be a string or an object with one."""
    return str(as_dict(value).get("text", "") or "") if isinstance(value, dict) else str(value or "")


def tick(axis: dict[str, Any], value: Any) -> str:
    """The axis label of a value: from the tick texts, else from the time format, else the value itself."""
    known = dict(zip(map(str, as_list(axis.get("tickvals"))), as_list(axis.get("ticktext")), strict=False))
    if str(value) in known:
        return label(known[str(value)])
    given = str(axis.get("tickformat") or "")
    if axis.get("type") == "date" and isinstance(value, str) and _MOMENT_FORMAT.fullmatch(given):
        try:
            return datetime.fromisoformat(value).strftime(given.replace("\n", " "))
        except ValueError:
            return label(value)
    return label(f"{value:.6g}" if isinstance(value, float) else str(value).removesuffix("T00:00:00"))


def number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def amount(value: float, *, percent: bool) -> str:
    if percent:
        return f"{value * 100:.1f} %"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if 1e-3 <= size < 1e15:
        decimals = 2 if size >= 10 else 3 if size >= 1 else 4
        return f"{value:,.{decimals}f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def signs(layout: dict[str, Any], trace: dict[str, Any]) -> tuple[str, str]:
    """What the figure writes before and after the amounts of a trace, such as a currency."""
    if trace.get("type") == "pie":
        found = _PLACED.search(str(trace.get("texttemplate", "")))
        given = found.groups() if found else ("", "")
    else:
        across = trace.get("orientation") == "h" or trace.get("type") == "histogram"
        axis = as_dict(layout.get("xaxis" if across else "yaxis"))
        scale = as_dict(trace.get("colorbar")) if trace.get("type") == "heatmap" else axis
        given = (scale.get("tickprefix") or "", scale.get("ticksuffix") or "")
    before, after = (clean(html.unescape(str(part)))[:_LONGEST_SIGN] for part in given)
    return before, after


@dataclass(frozen=True, slots=True)
class PanelWords:
    """The traces of one plot of a figure, and its layout as a figure of its own."""

    heading: str
    traces: list[dict[str, Any]]
    layout: dict[str, Any]


def panels_of(layout: dict[str, Any], traces: list[dict[str, Any]]) -> list[PanelWords]:
    """One for each vertical axis, in their order; a figure with one has one panel without a heading."""
    names = list(dict.fromkeys(_vertical(trace) for trace in traces))
    if len(names) < 2:
        return [PanelWords("", traces, layout)]
    notes = [
        text_of(note) for note in as_list(layout.get("annotations")) if as_dict(note).get("name") == "panel"
    ]
    return [
        PanelWords(
            label(notes[at]) if at < len(notes) else "",
            [trace for trace in traces if _vertical(trace) == name],
            {**layout, "yaxis": layout.get(f"yaxis{name[1:]}")},
        )
        for at, name in enumerate(names)
    ]


def _vertical(trace: dict[str, Any]) -> str:
    return str(trace.get("yaxis") or "y")


def number_said(trace: dict[str, Any]) -> tuple[str, str]:
    """A single number with its signs, and its change where the figure has one."""
    shown, meta = as_dict(trace.get("number")), as_dict(trace.get("meta"))
    before, after = (clean(html.unescape(str(shown.get(part) or "")))[:24] for part in ("prefix", "suffix"))
    value, change = number(trace.get("value")), number(meta.get("change"))
    in_percent = str(shown.get("valueformat") or "").endswith("%")
    text = "" if value is None else f"{before}{amount(value, percent=in_percent)}{after}"
    if change is None:
        return text, ""
    written = amount(change, percent=bool(meta.get("relative")))
    return text, f"+{written}" if change > 0 else written


def is_percent(layout: dict[str, Any], trace: dict[str, Any]) -> bool:
    """Whether the amounts of a trace are shown as per cent: by its axis, its scale or its texts."""
    across = trace.get("orientation") == "h" or trace.get("type") == "histogram"
    axis, scale = as_dict(layout.get("xaxis" if across else "yaxis")), as_dict(trace.get("colorbar"))
    formats = (axis.get("tickformat"), scale.get("tickformat"))
    return any(str(given or "").endswith("%") for given in formats) or str(
        trace.get("texttemplate", "")
    ).endswith("%}")


def colours_of(layout: dict[str, Any], traces: list[dict[str, Any]]) -> list[str | None]:
    """One for each trace: its own, otherwise from the figure's colourway, as in Plotly."""
    way = [_colour(one) for one in as_list(layout.get("colorway"))]
    return [
        _colour(as_dict(trace.get("marker")).get("color")) or (way[at % len(way)] if way else None)
        for at, trace in enumerate(traces)
    ]


def slice_colours(trace: dict[str, Any], slices: int) -> list[str | None]:
    given = [_colour(one) for one in as_list(as_dict(trace.get("marker")).get("colors"))]
    return [given[at] if at < len(given) else None for at in range(slices)]


def _colour(value: Any) -> str | None:
    return value if isinstance(value, str) and _COLOUR.fullmatch(value) else None


def mark_of(trace: dict[str, Any], at: int, *, blocks: bool) -> str:
    """The mark of a trace's points; without symbols in the figure, marks are assigned in order."""
    symbol = as_dict(trace.get("marker")).get("symbol")
    marks = _MARKS.get(symbol) if isinstance(symbol, str) else None
    return (marks or list(_MARKS.values())[at % len(_MARKS)])[0 if blocks else 1]
