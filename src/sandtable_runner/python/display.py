"""What code can call to show something, and how the last expression of a cell is shown.

Invariant: an object's own HTML is never used; only frames and figures of the known libraries are drawn, everything else
is text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import plotly.basedatatypes
import polars as pl
from pandas.io.formats.style import Styler

from sandtable_runner.python.artifacts import Artifacts
from sandtable_runner.python.output import Output
from sandtable_runner.python.plain import plain
from sandtable_runner.python.tabular import table_content

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,16}")
_SVG_START = re.compile(r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]", re.DOTALL)
_FRAMES = (pd.DataFrame, pd.Series, pd.Index, Styler, pl.DataFrame, pl.Series, pl.LazyFrame)
_FIGURES = (plotly.basedatatypes.BaseFigure, alt.TopLevelMixin)
_CHARTS = "a Plotly figure, an Altair chart or a text of SVG"


class Display:
    """The show functions of one session."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts
        self.limits: dict[str, int] = {}

    def functions(self) -> dict[str, Callable[..., None]]:
        return {
            "show": self.show,
            "display": self.show,
            "show_table": self.show_table,
            "show_plot": self.show_plot,
            "show_html": self.show_html,
            "show_mermaid": self.show_mermaid,
            "show_markdown": self.show_markdown,
        }

    def show(self, value: Any, title: str | None = None) -> None:
        """Show a table or a plot; anything else is printed."""
        if isinstance(value, _FRAMES):
            self.show_table(value, title)
        elif isinstance(value, _FIGURES):
            self.show_plot(value, title)
        else:
            print(value if isinstance(value, str) else text_of(value))

    def show_table(self, value: Any, title: str | None = None) -> None:
        """Show a DataFrame, a Series, a list of dicts or a dict of columns as a table."""
        self._announce(self._table(value, title))

    def show_plot(self, value: Any, title: str | None = None) -> None:
        """Show a Plotly figure, an Altair chart, or a text of SVG."""
        self._announce(self._plot(value, title))

    def show_html(self, value: Any, title: str | None = None) -> None:
        """Show a piece of HTML, in a frame of its own without scripts."""
        self._announce(self._artifacts.add("html", title, {"html": _text_only(value, "show_html", "HTML")}))

    def show_mermaid(self, value: Any, title: str | None = None) -> None:
        """Show a diagram written in Mermaid's language."""
        text = _text_only(value, "show_mermaid", "a Mermaid diagram")
        self._announce(self._artifacts.add("mermaid", title, {"text": text}))

    def show_markdown(self, value: Any, title: str | None = None) -> None:
        """Show text written in Markdown."""
        text = _text_only(value, "show_markdown", "Markdown")
        self._announce(self._artifacts.add("markdown", title, {"text": text}))

    def last_expression(self, value: Any) -> str | None:
        """Shown as in a notebook. Returns the artifact's id, if it became one."""
        if isinstance(value, _FRAMES):
            return self._table(value, None)
        if isinstance(value, _FIGURES):
            return self._plot(value, None)
        if value is not None:
            print(text_of(value))
        return None

    def _announce(self, artifact: str) -> None:
        out = sys.stdout
        start = "" if not isinstance(out, Output) or out.at_line_start else "\n"
        out.write(f"{start}[[{artifact}]]\n")

    def _table(self, value: Any, title: str | None) -> str:
        content, size = table_content(_framed(value), self.limits, self._artifacts)
        return self._artifacts.add("table", title, content, size)

    def _plot(self, value: Any, title: str | None) -> str:
        if isinstance(value, plotly.basedatatypes.BaseFigure):
            drawn = plain(value.to_plotly_json())
            figure = {"data": drawn.get("data", []), "layout": drawn.get("layout", {})}
            title = title if title is not None else _plotly_title(figure["layout"])
            return self._artifacts.add("plot", title, {"format": "plotly", "figure": figure})
        if isinstance(value, alt.TopLevelMixin):
            spec = plain(value.to_dict())
            title = title if title is not None else _vega_title(spec)
            return self._artifacts.add("plot", title, {"format": "vega-lite", "spec": spec})
        if isinstance(value, str) and _SVG_START.match(value):
            return self._artifacts.add("plot", title, {"format": "svg", "svg": value})
        raise TypeError(f"show_plot takes {_CHARTS}, not {type(value).__name__}")


def text_of(value: Any) -> str:
    """`repr` without memory addresses, which differ from run to run."""
    text = repr(value)
    return _ADDRESS.sub("", text) if len(text) < 100_000 else text


def _framed(value: Any) -> pd.DataFrame | pl.DataFrame:
    if isinstance(value, pd.DataFrame | pl.DataFrame):
        return value
    if isinstance(value, pd.Series):
        return value.to_frame("value" if value.name is None else value.name)
    if isinstance(value, pd.Index):
        return value.to_frame(index=False)
    if isinstance(value, pl.Series):
        return value.to_frame(value.name or "value")
    if isinstance(value, Styler):
        return value.data
    if isinstance(value, pl.LazyFrame):
        return value.collect()
    if isinstance(value, dict) and not any(isinstance(item, list | tuple | dict) for item in value.values()):
        return pd.DataFrame({"name": list(value.keys()), "value": list(value.values())})
    return pd.DataFrame(value)


def _text_only(value: Any, function: str, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{function} takes {what} as text, not {type(value).__name__}")
    return value


def _plotly_title(layout: dict[str, Any]) -> str | None:
    title = layout.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    return text if isinstance(text, str) else None


def _vega_title(spec: dict[str, Any]) -> str | None:
    title = spec.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    return text if isinstance(text, str) else None
