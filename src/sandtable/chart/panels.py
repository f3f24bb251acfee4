"""Small multiples: one below the other, along one axis, for series that one plot cannot show.

Invariant: panels stand in the order of their columns or of the rows, and panels of one measure have one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandtable.chart.layout import Axis, Figure, Trace, figure, value_axis
from sandtable.chart.shape import Field, Reading

MOST_MEASURES = 4
MOST_PANELS = 6
MOST_LINES = 12
PANEL_PX = 132
HEADING_PX = 26
AROUND_PX = 96


@dataclass(frozen=True, slots=True)
class Panel:
    heading: str
    """Escaped."""
    traces: list[Trace]
    measure: Field


def panelled(panels: Sequence[Panel], heading: str, along: Axis, reading: Reading, **layout: Any) -> Figure:
    """Each trace gets the axis of its panel; a title above a panel says what is in it."""
    each = PANEL_PX + HEADING_PX
    whole = len(panels) * each
    axes: dict[str, Axis] = {}
    notes: list[dict[str, Any]] = []
    shared = len({panel.measure.column.index for panel in panels}) == 1
    for n, panel in enumerate(panels):
        name = "y" if n == 0 else f"y{n + 1}"
        top = 1 - (n * each + HEADING_PX) / whole
        axis = value_axis(panel.measure, reading) | {
            "domain": [round(top - PANEL_PX / whole, 4), round(top, 4)],
            "title": {"text": ""},
            "nticks": 4,
        }
        if shared and n:
            axis["matches"] = "y"
        axes[f"yaxis{name[1:]}"] = axis
        for trace in panel.traces:
            trace["yaxis"] = name
        notes.append(_note(panel.heading, round(top, 4)))
    traces = [trace for panel in panels for trace in panel.traces]
    anchored = along | {"anchor": f"y{len(panels)}" if len(panels) > 1 else "y"}
    height = AROUND_PX + whole
    return figure(traces, heading, xaxis=anchored, **axes, annotations=notes, height=height, **layout)


def _note(text: str, top: float) -> dict[str, Any]:
    return {
        "name": "panel",
        "text": text,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
