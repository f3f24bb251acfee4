"""Figures as text: each kind, narrow and wide, with blocks and without, and whatever else a figure may hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from sandtable.chart.figure import chart_of
from sandtable.cli.terminal_chart import terminal_chart
from sandtable.plan.validate import parse_plan

Rows = list[list[Any]]


def drawn(figure: dict[str, Any] | None, width: int = 60, *, blocks: bool = True) -> list[str]:
    assert figure is not None
    return [
        "".join(span.text for span in line).rstrip() for line in terminal_chart(figure, width, blocks=blocks)
    ]


def bars(labels: list[Any], values: list[Any], **more: Any) -> dict[str, Any]:
    return {"data": [{"type": "bar", "x": labels, "y": values, **more}], "layout": {"title": {"text": "T"}}}


def test_bars_are_as_long_as_their_values() -> None:
    lines = drawn(bars(["a", "bb", "c"], [10, 5, 0]), 40)
    assert lines == [
        "T",
        "a  █████████████████████████████████ 10",
        "bb ████████████████▌                  5",
        "c                                     0",
    ]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (True, ["T", "a  █████████████████                   4", "bb ██████████████████████████████████  8",
                "in each bar: █ x  █ y"]),
        (False, ["T", "a  ####*************                   4", "bb ##########################********  8",
                 "# x  * y"]),
    ],
)  # fmt: skip
def test_stacked_bars_are_one_line_of_parts(blocks: bool, expected: list[str]) -> None:
    parts = [
        bars(["a", "bb"], values, name=name)["data"][0] for name, values in (("x", [1, 6]), ("y", [3, 2]))
    ]
    figure = {"data": parts, "layout": {"title": {"text": "T"}, "barmode": "stack"}}
    assert drawn(figure, 40, blocks=blocks) == expected


def test_bars_lie_as_they_stand() -> None:
    upright, lying = bars(["a", "b"], [1, 2]), bars([1, 2], ["a", "b"], orientation="h")
    assert drawn(upright) == drawn(lying)


def test_bars_in_ascii() -> None:
    lines = drawn(bars(["naïve", "b" * 60], [3, 1.5]), 40, blocks=False)
    assert all(line.isascii() for line in lines)
    assert lines[1].count("#") == 21 and lines[2].count("#") == 11


def test_a_small_value_leaves_a_trace_and_none_does_not() -> None:
    lines = drawn(bars(["much", "little", "none", "empty"], [1_000_000, 1, 0, None]))
    assert "▏" in lines[2]
    assert "▏" not in lines[3] + lines[4]
    assert lines[4] == "empty"


def test_negative_bars_go_to_the_left() -> None:
    lines = drawn(bars(["up", "down"], [5, -5]), 40)
    up, down = lines[1].index("█"), lines[2].index("█")
    assert down < up == lines[2].rindex("█") + 1


def test_groups_have_a_legend_in_their_order() -> None:
    figure = {
        "data": [
            {"type": "bar", "name": "2023 &amp; before", "x": ["a", "b"], "y": [1, 2]},
            {"type": "bar", "name": "2024", "x": ["a", "b"], "y": [3, 4]},
        ]
    }
    lines = drawn(figure)
    assert [line[:1] for line in lines[:4]] == ["a", " ", "b", " "]
    assert lines[-1] == "in each group: █ 2023 & before  █ 2024"


def colours(figure: dict[str, Any]) -> list[str | None]:
    """Of the bars, each once, in their order."""
    spans = [span for line in terminal_chart(figure, 60) for span in line if "█" in span.text]
    return list(dict.fromkeys(span.colour for span in spans))


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (bars(["a"], [1], marker={"color": "#123456"}), ["#123456"]),
        (bars(["a"], [1]), [None]),
        (bars(["a"], [1], marker={"color": "red on blue"}), [None]),
        (
            {
                "data": [{"type": "bar", "x": ["a"], "y": [1]}] * 2,
                "layout": {"colorway": ["#111111", "#222222"]},
            },
            ["#111111", "#222222"],
        ),
        (
            {
                "data": [
                    {"type": "pie", "labels": ["a", "b"], "values": [1, 2], "marker": {"colors": ["#abcdef"]}}
                ]
            },
            ["#abcdef", None],
        ),
    ],
    ids=["of the trace", "none", "not a colour", "of the colourway", "of slices"],
)
def test_the_colours_are_those_of_the_figure(figure: dict[str, Any], expected: list[str | None]) -> None:
    assert colours(figure) == expected


def test_bars_are_called_as_their_axis_calls_them() -> None:
    days = {"type": "date", "tickformat": "%b %Y"}
    figure = bars(["2024-01-01", "2024-02-01T00:00:00", "x"], [1, 2, 3]) | {"layout": {"xaxis": days}}
    assert [line[:8].strip(" █▌▋▏▎▍▊▉") for line in drawn(figure)] == ["Jan 2024", "Feb 2024", "x"]
    named = {"type": "category", "tickvals": ["a", "b"], "ticktext": ["Alpha", "B &amp; co"]}
    lying = bars([1, 2], ["a", "b"], orientation="h") | {"layout": {"yaxis": named}}
    assert [line[:6].strip() for line in drawn(lying)] == ["Alpha", "B & co"]


def test_the_ends_of_a_line_are_called_as_its_axis_calls_them() -> None:
    shown = [{"bucket": "month_of_year", "column": "d"}, {"agg": "count"}]
    plan = parse_plan({"dataset_id": "shop", "table": "orders", "select": shown})
    figure = chart_of([("d", "BIGINT"), ("count", "BIGINT")], [[n, n] for n in range(1, 13)], plan=plan)
    assert drawn(figure)[-1].split() == ["Jan", "Dec"]


def test_points_have_the_signs_of_the_figure() -> None:
    trace = {"type": "scatter", "mode": "markers", "x": [1, 2], "y": [1, 2]}
    figure = {"data": [{**trace, "name": sign, "marker": {"symbol": sign}} for sign in ("star", "square")]}
    assert drawn(figure)[-1] == "★ star  ■ square"
    assert drawn(figure, blocks=False)[-1] == "% star  o square"


def test_percentages_are_said_as_such() -> None:
    columns = [("category", "VARCHAR"), ("return_rate", "DOUBLE")]
    figure = chart_of(columns, [["Electronics", 0.1423], ["Toys", 0.031]])
    assert drawn(figure)[1].endswith("14.2 %")


def test_many_bars_are_cut() -> None:
    lines = drawn(bars([str(n) for n in range(100)], list(range(100))))
    assert len(lines) == 42
    assert lines[-1] == "and 60 more"


def test_wide_characters_keep_their_places() -> None:
    lines = drawn(bars(["東京", "Rio"], [1, 1]), 40)
    assert len({cell_len(line) for line in lines[1:]}) == 1


def test_a_course_has_its_ends_below_and_its_scale_beside() -> None:
    rows: Rows = [[f"2024-{month:02d}-01", 100 + month] for month in range(1, 13)]
    lines = drawn(chart_of([("month", "DATE"), ("n", "BIGINT")], rows, question="orders per month"))
    assert len(lines) == 1 + 12 + 2
    assert lines[1].lstrip().startswith("112 ┤")
    assert lines[12].lstrip().startswith("101 ┤")
    assert lines[-1].split() == ["2024-01-01", "2024-12-01"]
    assert any("⠁" <= character <= "⣿" for line in lines for character in line)


def test_a_rising_line_rises() -> None:
    figure = {"data": [{"type": "scatter", "mode": "lines", "x": list(range(10)), "y": list(range(10))}]}
    lines = drawn(figure, 40, blocks=False)
    marks = {row: line.index(mark) for row, line in enumerate(lines[:12]) for mark in "*" if mark in line}
    assert [marks[row] for row in sorted(marks)] == sorted(marks.values(), reverse=True)


def test_an_empty_value_breaks_the_line() -> None:
    whole = {"data": [{"type": "scatter", "mode": "lines", "x": [1, 2, 3, 4, 5], "y": [1, 1, 1, 1, 1]}]}
    broken = {
        "data": [{"type": "scatter", "mode": "lines", "x": [1, 2, None, 4, 5], "y": [1, 1, None, 1, 1]}]
    }

    def dots(figure: dict[str, Any]) -> int:
        return sum("⠁" <= character <= "⣿" for line in drawn(figure) for character in line)

    assert 0 < dots(broken) < dots(whole)


def test_several_lines_have_a_mark_each() -> None:
    rows: Rows = [
        [f"2024-{m:02d}-01", r, m * (n + 1)] for m in range(1, 7) for n, r in enumerate(("EU", "US"))
    ]
    columns = [("month", "DATE"), ("region", "VARCHAR"), ("n", "BIGINT")]
    figure = chart_of(columns, rows, question="orders per month by region")
    lines = drawn(figure)
    assert lines[-1] == "● EU  ■ US"
    assert sum(line.count("●") for line in lines[:-1]) >= 4
    plain = drawn(figure, blocks=False)
    assert plain[-1] == "* EU  o US" and all(line.isascii() for line in plain)


def test_points_and_the_numbers_below() -> None:
    rows: Rows = [[n / 10, n * n / 100] for n in range(20)]
    lines = drawn(chart_of([("a", "DOUBLE"), ("b", "DOUBLE")], rows, question="a versus b"))
    assert lines[-1].split() == ["0", "1.9"]


def test_a_histogram_counts_every_value() -> None:
    rows: Rows = [[n % 17 + 0.5] for n in range(200)]
    lines = drawn(chart_of([("a", "DOUBLE")], rows, question="distribution of a"))
    assert len(lines) == 13
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines[1:]) == 200


def test_a_pie_is_bars() -> None:
    figure = {
        "data": [{"type": "pie", "labels": ["a", "b"], "values": [1, 3], "texttemplate": "%{value:,d}"}]
    }
    assert [line.split()[0] for line in drawn(figure)] == ["a", "b"]


def test_a_map_has_shades_and_a_scale() -> None:
    rows: Rows = [[f"c{i}", f"d{j}", i * j] for i in range(20) for j in range(9)]
    lines = drawn(chart_of([("c", "VARCHAR"), ("d", "VARCHAR"), ("n", "BIGINT")], rows), 80)
    assert lines[1].count("░") == 60 and lines[9].rstrip().endswith("█")
    assert lines[-2].strip() == "c0 … c19"
    assert lines[-1].strip() == "░ 0  █ 152"


_STRANGE: dict[str, Any] = {
    "nothing": {},
    "no traces": {"data": []},
    "traces that are text": {"data": "bars"},
    "a trace that is text": {"data": ["bar"]},
    "an unknown kind": {"data": [{"type": "sankey"}]},
    "mixed kinds": {"data": [{"type": "bar", "x": [1], "y": [1]}, {"type": "pie"}]},
    "bars without values": {"data": [{"type": "bar"}]},
    "fewer values than labels": bars(["a", "b"], [1]),
    "words for values": bars(["a", "b"], ["x", "y"]),
    "not a number": bars(["a", "b"], [float("nan"), 1]),
    "endless": bars(["a", "b"], [float("inf"), 1]),
    "as large as numbers are": bars(["a", "b"], [1e299, -1e299]),
    "objects for labels": bars([{"a": 1}, ["b"]], [1, 2]),
    "a title that is a list": {"data": [{"type": "bar", "x": ["a"], "y": [1]}], "layout": {"title": ["x"]}},
    "a layout that is text": {"data": [{"type": "bar", "x": ["a"], "y": [1]}], "layout": "wide"},
    "one point": {"data": [{"type": "scatter", "mode": "lines", "x": [1], "y": [1]}]},
    "points without places": {"data": [{"type": "scatter", "x": [None, {}], "y": [1, 2]}]},
    "dates that are none": {"data": [{"type": "scatter", "x": ["2024-13-45", "2024-99-99"], "y": [1, 2]}]},
    "a map without values": {"data": [{"type": "heatmap", "x": ["a"], "y": ["b"], "z": [[None]]}]},
    "a map that is ragged": {
        "data": [{"type": "heatmap", "x": ["a", "b"], "y": ["c", "d"], "z": [[1], [2, 3, 4]]}]
    },
    "a map of another size": {"data": [{"type": "heatmap", "x": ["a"], "y": [], "z": [[1], [2]]}]},
    "a histogram of one value": {"data": [{"type": "histogram", "x": [5, 5, 5]}]},
    "a histogram of nothing": {"data": [{"type": "histogram", "x": []}]},
    "a histogram of the widest": {"data": [{"type": "histogram", "x": [-1e299, 1e299]}]},
}


@pytest.mark.parametrize("blocks", [True, False], ids=["blocks", "ascii"])
@pytest.mark.parametrize("width", [0, 10, 24, 60, 500])
@pytest.mark.parametrize("figure", _STRANGE.values(), ids=list(_STRANGE))
def test_strange_figures(figure: dict[str, Any], width: int, blocks: bool) -> None:
    assert all(cell_len(line) <= width for line in drawn(figure, width, blocks=blocks))


def test_no_text_drives_the_terminal() -> None:
    evil = "\x1b[2J\x07\u202eevil"
    for figure in (
        bars([evil, "b"], [1, 2]) | {"layout": {"title": {"text": evil}}},
        {"data": [{"type": "scatter", "name": evil, "x": [evil, "b"], "y": [1, 2]}] * 2},
        {"data": [{"type": "heatmap", "x": [evil, "b"], "y": [evil], "z": [[1, 2]]}]},
    ):
        text = "".join(drawn(figure))
        assert text and not {"\x1b", "\x07", "\u202e"} & set(text)


_cells = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=12), st.dates().map(str))
_traces = st.fixed_dictionaries(
    {"type": st.sampled_from(["bar", "scatter", "histogram", "pie", "heatmap"])},
    optional={
        "x": st.lists(_cells, max_size=8),
        "y": st.lists(_cells, max_size=8),
        "labels": st.lists(_cells, max_size=8),
        "values": st.lists(_cells, max_size=8),
        "z": st.lists(st.lists(_cells, max_size=5), max_size=5),
        "mode": st.sampled_from(["lines", "markers"]),
        "orientation": st.just("h"),
        "name": st.text(max_size=10),
    },
)


@given(st.lists(_traces, max_size=3), st.integers(0, 120), st.booleans())
def test_any_figure_fits(traces: list[dict[str, Any]], width: int, blocks: bool) -> None:
    figure = {"data": traces, "layout": {"title": {"text": "a title"}}}
    for line in drawn(figure, width, blocks=blocks):
        assert cell_len(line) <= max(width, 0)
        assert blocks or line.isascii()


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ({**bars(["a"], [1200]), "layout": {"yaxis": {"tickprefix": "€"}}}, "€1,200"),
        ({**bars(["a"], [12.5]), "layout": {"yaxis": {"ticksuffix": " h"}}}, "12.5 h"),
        ({**bars(["a"], [12.5]), "layout": {"yaxis": {"ticksuffix": "\x1b[31m &lt;b&gt; more"}}}, "12.5\\x1b[31m <b>"),
        ({"data": [{"type": "pie", "labels": ["a"], "values": [3], "texttemplate": "%{label}<br>€%{value:,d}"}]}, "€3"),
    ],
)  # fmt: skip
def test_amounts_have_the_signs_of_the_figure(figure: dict[str, Any], expected: str) -> None:
    assert drawn(figure)[-1].endswith(f" {expected}")


def test_a_tick_of_two_lines_is_one() -> None:
    figure = {
        **bars(["2024-05-01"], [1]),
        "layout": {"xaxis": {"type": "date", "tickformat": "%b\n%Y"}},
    }
    assert drawn(figure)[-1].startswith("May 2024 ")


def test_each_panel_has_its_heading_and_its_signs() -> None:
    traces = [
        {"type": "scatter", "x": [1, 2], "y": [5, 7], "name": "a"},
        {"type": "scatter", "x": [1, 2], "y": [0.5, 0.7], "yaxis": "y2", "name": "b"},
    ]
    notes = [
        {"name": "panel", "text": "One &amp; two"},
        {"name": "other", "text": "x"},
        {"name": "panel", "text": "Three"},
    ]
    layout = {"annotations": notes, "yaxis": {"tickprefix": "€"}, "yaxis2": {"tickformat": ".0%"}}
    lines = drawn({"data": traces, "layout": layout})
    at = lines.index("Three")
    assert lines[0] == "One & two" and lines[1].startswith("€7 ") and "%" not in "".join(lines[:at])
    assert "70.0 %" in lines[at + 1]


def test_parts_of_a_hundred_fill_every_bar() -> None:
    parts = [
        bars(["a", "b"], values, name=name)["data"][0] for name, values in (("x", [1, 6]), ("y", [3, 2]))
    ]
    layout = {"barmode": "stack", "barnorm": "percent", "yaxis": {"ticksuffix": "%"}}
    assert [line[-5:] for line in drawn({"data": parts, "layout": layout}, 40)[:2]] == [" 100%", " 100%"]
