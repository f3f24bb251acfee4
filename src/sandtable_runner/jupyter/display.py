"""How a notebook shows things: frames as HTML, figures as the MIME types that Jupyter's front ends draw."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import altair as alt
import plotly.basedatatypes
from IPython.core.formatters import DisplayFormatter
from IPython.display import HTML, SVG, Markdown
from IPython.display import display as publish

from sandtable_runner.python.artifacts import Artifacts
from sandtable_runner.python.display import Display, _framed
from sandtable_runner.python.plain import plain

PLOTLY = "application/vnd.plotly.v1+json"
VEGA_LITE = f"application/vnd.vegalite.{alt.SCHEMA_VERSION.split('.')[0]}+json"
_FENCE = re.compile(r"`{3,}")

Bundle = dict[str, Any]


class Screen(Display):
    """The same functions as elsewhere; in a cell that is not measured they publish instead of keeping."""

    def __init__(self, artifacts: Artifacts) -> None:
        super().__init__(artifacts)
        self.measured = False

    def functions(self) -> dict[str, Callable[..., None]]:
        return {**super().functions(), "display": self.display}

    def display(self, *values: Any, **options: Any) -> None:
        """The notebook's own `display`, in a cell that is not measured."""
        if self.measured:
            self.show(*values, **options)
        else:
            publish(*values, **options)

    def show(self, value: Any, title: str | None = None) -> None:
        if self.measured:
            super().show(value, title)
        else:
            _publish(value, title)

    def show_table(self, value: Any, title: str | None = None) -> None:
        if self.measured:
            super().show_table(value, title)
        else:
            _publish(_framed(value), title)

    def show_plot(self, value: Any, title: str | None = None) -> None:
        if self.measured:
            super().show_plot(value, title)
        else:
            _publish(SVG(value) if isinstance(value, str) else value, title)

    def show_html(self, value: Any, title: str | None = None) -> None:
        if self.measured:
            super().show_html(value, title)
        else:
            _publish(HTML(value), title)

    def show_mermaid(self, value: Any, title: str | None = None) -> None:
        if self.measured:
            super().show_mermaid(value, title)
        else:
            _publish(Markdown(f"```mermaid\n{_FENCE.sub('', value)}\n```"), title)

    def show_markdown(self, value: Any, title: str | None = None) -> None:
        if self.measured:
            super().show_markdown(value, title)
        else:
            _publish(Markdown(value), title)


def _publish(value: Any, title: str | None) -> None:
    if title:
        publish(Markdown(f"**{title}**"))
    publish(value)


def teach(formatter: DisplayFormatter) -> None:
    """Figures as data, not as a page that loads scripts from elsewhere."""
    for kind, bundle in (
        (plotly.basedatatypes.BaseFigure, _plotly),
        (alt.TopLevelMixin, _vega_lite),
    ):
        formatter.ipython_display_formatter.for_type(kind, _not_by_itself)
        formatter.formatters["text/html"].for_type(kind, _not_by_itself)
        formatter.mimebundle_formatter.for_type(kind, bundle)


def _not_by_itself(value: Any) -> None:
    """A figure's own representations need a browser or external scripts; a formatter declines by raising this."""
    raise NotImplementedError


def _plotly(figure: Any, include: Any = None, exclude: Any = None) -> Bundle:
    drawn = plain(figure.to_plotly_json())
    data = {"data": drawn.get("data", []), "layout": drawn.get("layout", {})}
    return {PLOTLY: data, "text/plain": f"<a Plotly figure, {len(data['data'])} traces>"}


def _vega_lite(chart: Any, include: Any = None, exclude: Any = None) -> Bundle:
    return {VEGA_LITE: plain(chart.to_dict()), "text/plain": f"<an Altair {type(chart).__name__}>"}
