"""Typical calls, made once in the template: what a library loads on first use must be loaded before the seal.

Invariant: nothing here starts a thread. Polars is therefore imported and never used before the fork.
"""

from __future__ import annotations

import datetime as dt
import encodings.ascii
import encodings.idna
import encodings.latin_1  # noqa: F401 - codecs are found by name
import io
import warnings
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import plotly.io
import plotly.subplots
import scipy.stats


def rehearse() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _reckon()
        frame = _frame()
        _analyse(frame)
        _reshape(frame)
        _describe(frame)
        _draw(frame)
        _draw_more(frame)
        _chart(frame)
        _test(frame)


def _reckon() -> None:
    """Since 3.12, Python imports a module to divide very large integers."""
    divmod(10**20_000, 3**10_000)


def _frame() -> Any:
    days = pd.date_range("2024-01-01", periods=40, freq="D")
    numbers = np.random.default_rng(0).normal(size=40)
    return pd.DataFrame(
        {"k": ["a", "b"] * 20, "t": days, "v": numbers, "n": range(40), "b": [True, False] * 20}
    )


def _analyse(frame: Any) -> None:
    frame.groupby("k")["v"].sum()
    frame.groupby(["k", "b"], as_index=False).agg(total=("v", "sum"), n=("n", "count"))
    frame.groupby("k")["v"].transform("mean")
    frame.groupby("k").apply(lambda part: part["v"].max())
    frame.sort_values("v", ascending=False).head().to_string()
    frame["k"].str.upper().str.contains("A").value_counts()
    frame["k"].str.extract(r"(\w)")
    frame["t"].dt.to_period("M").astype(str)
    frame["t"].dt.strftime("%Y-%m")
    pd.to_datetime(pd.Series(["2024-01-01", "02/03/2024"]), errors="coerce", format="mixed")
    dt.datetime.strptime("2024-01-02", "%Y-%m-%d")
    pd.to_numeric(pd.Series(["1", "x"]), errors="coerce")
    frame.set_index("t")["v"].resample("W").mean()
    frame["v"].rolling(7).mean()
    frame["v"].ewm(span=3).mean()
    frame["v"].expanding().sum()
    frame.query("v > 0 and k == 'a'")
    frame.eval("w = v * 2")
    frame.sample(3, random_state=1)
    frame["t"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")


def _reshape(frame: Any) -> None:
    frame.merge(frame.head(), on="k", how="left", suffixes=("", "_r"))
    pd.merge_asof(frame, frame[["t", "n"]].rename(columns={"n": "m"}), on="t")
    pivot = frame.pivot_table(index="k", columns="b", values="v", aggfunc="sum", fill_value=0, margins=True)
    pivot.reset_index().melt(id_vars="k")
    pd.crosstab(frame["k"], frame["b"])
    pd.concat([frame, frame]).drop_duplicates().stack()
    pd.Series(pd.cut(frame["v"], 4)).value_counts().sort_index()
    pd.qcut(frame["v"], 4, labels=False)
    pd.get_dummies(frame["k"])
    frame.set_index(["k", "t"]).unstack("k")
    frame["v"].interpolate().fillna(0).cumsum().shift().rank()
    frame[["v", "n"]].corr()
    frame.explode("k")
    frame.to_csv(index=False)
    pd.read_csv(io.StringIO("a,b\n1,2024-01-01\n"), parse_dates=["b"])
    pd.read_json(io.StringIO(frame.to_json(orient="records")))
    frame.to_dict(orient="records")
    pd.json_normalize([{"a": {"b": 1}}])


def _describe(frame: Any) -> None:
    repr(frame)
    repr(frame["v"])
    str(frame.describe(include="all"))
    frame.info(buf=io.StringIO())
    frame.style.format("{}").to_html()
    frame.to_html()
    frame.memory_usage(deep=True)
    np.linalg.lstsq(np.ones((3, 1)), np.ones(3), rcond=None)
    np.polyfit([1, 2, 3], [2, 4, 6], 1)
    np.fft.fft([1, 2, 3])
    np.percentile([1, 2, 3], 50)
    repr(np.ma.array([1, 2]))
    np.polynomial.Polynomial.fit([1, 2, 3], [2, 4, 6], 1)


def _draw(frame: Any) -> None:
    figures: list[Any] = [
        px.bar(frame, x="k", y="v", color="b", title="x", barmode="group"),
        px.line(frame, x="t", y="v", color="k", markers=True),
        px.scatter(frame, x="n", y="v", color="k", size="n", trendline=None, facet_col="b"),
        px.histogram(frame, x="v", nbins=10),
        px.pie(frame, names="k", values="n"),
        px.box(frame, x="k", y="v"),
        px.violin(frame, x="k", y="v"),
        px.area(frame, x="t", y="n", color="k"),
        px.imshow(np.ones((3, 3))),
        px.density_heatmap(frame, x="n", y="v"),
        px.treemap(frame, names="k", parents="k", values="n"),
        px.sunburst(frame, names="k", parents="k", values="n"),
        px.funnel(frame, x="n", y="k"),
        frame.plot(x="t", y="v"),
        frame["k"].value_counts().plot(kind="bar"),
        frame["v"].plot.hist(),
    ]
    for figure in figures:
        figure.update_layout(title="t", xaxis_title="x").update_traces(opacity=0.9).to_plotly_json()


def _draw_more(frame: Any) -> None:
    traces = [
        go.Bar, go.Scatter, go.Histogram, go.Box, go.Violin, go.Pie, go.Heatmap, go.Table, go.Indicator,
        go.Waterfall, go.Sankey, go.Treemap, go.Sunburst, go.Funnel, go.Candlestick, go.Scatterpolar,
        go.Scatter3d, go.Surface, go.Contour, go.Choropleth, go.Scattergeo, go.Histogram2d, go.Ohlc,
        go.Scattergl, go.Icicle, go.Barpolar, go.Parcoords, go.Parcats, go.Splom, go.Funnelarea,
    ]  # fmt: skip
    for trace in traces:
        go.Figure(trace()).to_plotly_json()
    figure = plotly.subplots.make_subplots(rows=1, cols=2, specs=[[{"secondary_y": True}, {}]])
    figure.add_trace(go.Scatter(x=frame["t"], y=frame["v"], line={"dash": "dot"}), row=1, col=1)
    figure.add_hline(y=1).add_annotation(text="a", x=1, y=1).add_vrect(x0=0, x1=1)
    figure.update_xaxes(tickangle=45).update_yaxes(title_text="v")
    figure.to_plotly_json()
    figure.to_json()
    repr(figure)
    px.bar(frame, x="k", y="v", template="plotly_white")
    for name in plotly.io.templates:
        # Each template is a file, read on first use.
        repr(plotly.io.templates[name])


def _chart(frame: Any) -> None:
    base = alt.Chart(frame).encode(x="k:N", y=alt.Y("sum(v):Q", title="v"), color="b", tooltip=["k", "v"])
    bars = base.mark_bar()
    for chart in (
        bars,
        base.mark_line() + base.mark_point(),
        bars | bars,
        bars & bars,
        bars.facet("b:N"),
        bars.properties(title="t", width=300).interactive(),
        alt.Chart(frame).mark_bar().encode(alt.X("v", bin=True), y="count()"),
        alt.Chart(frame)
        .transform_filter(alt.datum.v > 0)
        .mark_circle()
        .encode(x="yearmonth(t):T", y="mean(v)"),
    ):
        chart.to_dict()
        chart.to_json()
    repr(bars)


def _test(frame: Any) -> None:
    left, right = frame["v"][:20], frame["v"][20:]
    for test in (scipy.stats.ttest_ind, scipy.stats.mannwhitneyu, scipy.stats.pearsonr, scipy.stats.spearmanr,
                 scipy.stats.ks_2samp, scipy.stats.wilcoxon, scipy.stats.f_oneway):  # fmt: skip
        test(left.to_numpy(), right.to_numpy())
    scipy.stats.chi2_contingency([[10, 20], [20, 10]])
    scipy.stats.shapiro(left)
    scipy.stats.linregress(range(20), left)
    scipy.stats.zscore(left)
    scipy.stats.norm.rvs(size=3, random_state=1)
    scipy.stats.norm.ppf(0.9)
    scipy.optimize.minimize(lambda x: (x[0] - 1) ** 2, [0.0])
    # It imports a module of the standard library, even to use one processor.
    scipy.optimize.brute(lambda x: x[0] ** 2, ((0.0, 1.0),), Ns=3, finish=None)
    scipy.optimize.curve_fit(lambda x, a, b: a * x + b, np.arange(5.0), np.arange(5.0))
    scipy.interpolate.interp1d([1, 2, 3], [1, 4, 9])(2.5)
