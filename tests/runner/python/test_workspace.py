"""What a cell finds, shows, keeps and complains about."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

from sandtable_runner.python.tables import fetch
from tests.runner.python.conftest import Run


def _ok(outcome: dict[str, Any]) -> dict[str, Any]:
    assert outcome["status"] == "succeeded", outcome
    json.dumps(outcome, allow_nan=False)
    return outcome


def _artifact(outcome: dict[str, Any]) -> dict[str, Any]:
    (artifact,) = _ok(outcome)["output"]["artifacts"]
    return artifact


_TEXTS = {
    "number": ("1 + 1", "2\n"),
    "text": ("'a'", "'a'\n"),
    "none": ("None", ""),
    "list": ("[1, 'a']", "[1, 'a']\n"),
    "a statement last": ("x = 1", ""),
    "a print before": ("print('a')\n2", "a\n2\n"),
    "nothing": ("", ""),
    "a comment": ("# just that", ""),
    "an object without its address": ("object()", "<object object>\n"),
    "an object with HTML of its own": (
        "class A:\n    def _repr_html_(self):\n        return '<b>x</b>'\n    def __repr__(self):\n"
        "        return 'A'\nA()",
        "A\n",
    ),
    "show of a text": ("show('a')", "a\n"),
    "show of a number": ("show(3)", "3\n"),
}


@pytest.mark.parametrize(("code", "text"), _TEXTS.values(), ids=list(_TEXTS))
def test_text_is_printed(run: Run, code: str, text: str) -> None:
    outcome = _ok(run(code))
    assert outcome["stdout"] == text
    assert outcome["output"]["artifacts"] == []


_SHOWN = {
    "frame": ("orders.head(2)", "table", None),
    "series": ("orders['id'].head()", "table", None),
    "index": ("orders.columns", "table", None),
    "polars frame": ("pl.DataFrame({'a': [1]})", "table", None),
    "polars series": ("pl.Series('a', [1])", "table", None),
    "polars plan": ("pl.DataFrame({'a': [1]}).lazy()", "table", None),
    "styled frame": ("orders.head(1).style", "table", None),
    "plotly figure": ("go.Figure(go.Bar(x=[1], y=[2]))", "plot", "plotly"),
    "plotly express": ("px.bar(orders, x='region', y='amount')", "plot", "plotly"),
    "altair chart": ("alt.Chart(orders).mark_bar().encode(x='region', y='amount')", "plot", "vega-lite"),
}


@pytest.mark.parametrize(("code", "kind", "form"), _SHOWN.values(), ids=list(_SHOWN))
def test_the_last_expression_is_displayed(run: Run, code: str, kind: str, form: str | None) -> None:
    outcome = run(code)
    artifact = _artifact(outcome)
    assert (artifact["id"], artifact["kind"], artifact.get("format")) == (f"{kind}-1", kind, form)
    assert outcome["output"]["displayed"] == artifact["id"]
    assert outcome["stdout"] == ""


_CALLS = {
    "table": ("show(orders.head(1), title='T')", "table"),
    "table by name": ("show_table([{'a': 1}], 'T')", "table"),
    "table of a dict": ("show_table({'a': 1, 'b': 2}, 'T')", "table"),
    "display": ("display(orders.head(1), 'T')", "table"),
    "plot": ("show_plot(px.line(orders, x='id', y='amount'), title='T')", "plot"),
    "svg": ("show_plot('<svg viewBox=\"0 0 1 1\"></svg>', title='T')", "plot"),
    "html": ("show_html('<b>x</b>', title='T')", "html"),
    "mermaid": ("show_mermaid('graph TD; a-->b', title='T')", "mermaid"),
    "markdown": ("show_markdown('# a', title='T')", "markdown"),
}


@pytest.mark.parametrize(("code", "kind"), _CALLS.values(), ids=list(_CALLS))
def test_what_is_shown_prints_its_tag(run: Run, code: str, kind: str) -> None:
    outcome = run(f"print('before', end='')\n{code}\nprint('after')")
    artifact = _artifact(outcome)
    assert (artifact["kind"], artifact["title"]) == (kind, "T")
    assert outcome["stdout"] == f"before\n[[{kind}-1]]\nafter\n"
    assert outcome["output"]["displayed"] is None


@pytest.mark.parametrize("code", ["px.bar(orders, x='id', y='amount').show()", "alt.Chart(orders).show()"])
def test_a_figures_own_show_shows_here(run: Run, code: str) -> None:
    outcome = run(code.replace("alt.Chart(orders)", "alt.Chart(orders).mark_bar().encode(x='id')"))
    assert _artifact(outcome)["kind"] == "plot"
    assert outcome["stdout"] == "[[plot-1]]\n"


def test_ids_count_by_kind_and_over_cells(run: Run) -> None:
    first = _ok(run("show(orders.head(1))\nshow_html('a')\norders.head(2)"))
    assert [a["id"] for a in first["output"]["artifacts"]] == ["table-1", "html-1", "table-2"]
    second = _ok(run("orders.head(1)"))
    assert [a["id"] for a in second["output"]["artifacts"]] == ["table-3"]


def test_plotly_arrays_are_plain_lists_without_nan(run: Run) -> None:
    figure = _artifact(run("go.Figure(go.Scatter(x=np.array([1.0, np.nan]), y=np.array([1, 2])))"))["figure"]
    assert figure["data"][0]["x"] == [1.0, None]
    assert figure["data"][0]["y"] == [1, 2]


def test_a_plots_title_is_the_artifacts(run: Run) -> None:
    assert _artifact(run("px.bar(orders, x='id', y='amount', title='Sales')"))["title"] == "Sales"
    assert _artifact(run("alt.Chart(orders, title='B').mark_bar().encode(x='id')"))["title"] == "B"


def test_a_chart_holds_its_data(run: Run) -> None:
    spec = _artifact(run("alt.Chart(orders.head(2)).mark_bar().encode(x='region')"))["spec"]
    (rows,) = spec["datasets"].values()
    assert [row["region"] for row in rows] == ["north", "south"]


_LIMITED = {
    "too many": ("for i in range(21): show_html('a')", {}, "at most 20"),
    "too large": ("show_html('a' * 5000)", {"result_bytes": 1000}, "5"),
    "too large in all": ("for i in range(9): show_html('a' * 200)", {"result_bytes": 1000}, "left"),
    "a large plot": ("px.line(y=list(range(5000)))", {"result_bytes": 1000}, "plot"),
}


@pytest.mark.parametrize(("code", "limits", "words"), _LIMITED.values(), ids=list(_LIMITED))
def test_too_much_is_told(run: Run, code: str, limits: dict[str, int], words: str) -> None:
    outcome = run(code, **limits)
    error = outcome["error"]
    assert (error["code"], error["type"]) == ("RUNNER_RESOURCE_EXCEEDED", "ResultTooLarge")
    assert words in error["message"]
    assert error["suggestion"]


_MISTAKES = {
    "syntax": ("x = = 1", "SyntaxError", "line 1, column 5", "syntax"),
    "nul": ("x = 'a\0'", "SyntaxError", "null", ""),
    "a column": ("orders['amuont']", "KeyError", "'amuont'", "'amount'"),
    "a column of another case": ("orders['Amount']", "KeyError", "'Amount'", "'amount'"),
    "a column like none": ("orders['zzz']", "KeyError", "'zzz'", "'region'"),
    "an attribute": ("orders.amuont", "AttributeError", "amuont", "'amount'"),
    "a polars column": (
        "p = pl.from_pandas(orders)\np.select('amuont')",
        "ColumnNotFoundError",
        "amuont",
        "'amount'",
    ),
    "a name": ("ordres", "NameError", "ordres", "check"),
    "a division": ("1 / 0", "ZeroDivisionError", "division by zero", "traceback"),
    "a module": ("import os", "ImportError", "'os'", "already here"),
    "a part of a module": ("import scipy.signal", "ImportError", "scipy.signal", "already here"),
    "an exit": ("raise SystemExit(3)", "SystemExit", "exit(3)", "leave the exit out"),
    "an endless recursion": ("def f(): return f()\nf()", "RecursionError", "recursion", "loop"),
    "a query": ("sql('select amuont from orders')", "BinderException", "amuont", "amount"),
    "a frame in a query": ("f = orders\nsql('select * from f')", "CatalogException", "f", "f=f"),
    "not a query": ("sql(3)", "TypeError", "sql takes a query", ""),
    "html that is none": ("show_html(3)", "TypeError", "show_html", ""),
    "a plot that is none": ("show_plot(3)", "TypeError", "Plotly", ""),
    "no table": ("tables['x']", "KeyError", "'orders'", ""),
    "tables are read-only": ("tables['x'] = 1", "TypeError", "assignment", ""),
    "an assertion": ("assert 1 == 2", "AssertionError", "AssertionError", ""),
}


@pytest.mark.parametrize(("code", "kind", "message", "suggestion"), _MISTAKES.values(), ids=list(_MISTAKES))
def test_mistakes_are_told(run: Run, code: str, kind: str, message: str, suggestion: str) -> None:
    outcome = run(code)
    error = outcome["error"]
    assert (outcome["status"], error["code"], error["type"]) == ("failed", "VALIDATION_ERROR", kind)
    assert message in error["message"]
    assert suggestion in error["suggestion"]
    assert error["suggestion"]
    assert kind in outcome["stderr"]


def test_memory_is_a_limit_not_a_mistake(run: Run) -> None:
    error = run("raise MemoryError")["error"]
    assert (error["code"], error["type"]) == ("RUNNER_RESOURCE_EXCEEDED", "MemoryError")


def test_a_traceback_has_the_authors_lines_only(run: Run) -> None:
    code = "def f(frame):\n    return frame['nope']\n\nf(orders)"
    assert run(code)["stderr"] == (
        "Traceback (most recent call last):\n"
        '  File "<cell>", line 4, in <module>\n    f(orders)\n'
        "  File \"<cell>\", line 2, in f\n    return frame['nope']\n"
        "KeyError: 'nope'\n"
    )


def test_a_traceback_through_an_earlier_cell(run: Run) -> None:
    _ok(run("def f():\n    return 1 / 0"))
    text = run("f()")["stderr"]
    assert 'File "<cell>", line 1, in <module>\n    f()' in text
    assert 'File "<cell 1>", line 2, in f\n    return 1 / 0' in text


def test_what_was_shown_before_a_mistake_is_kept(run: Run) -> None:
    outcome = run("print('a')\nshow(orders.head(1))\n1 / 0")
    assert outcome["stdout"] == "a\n[[table-1]]\n"
    assert len(outcome["output"]["artifacts"]) == 1


def test_warnings_name_no_file(run: Run) -> None:
    outcome = run("np.float64(1) / 0", log_bytes=1000)
    assert "site-packages" not in outcome["stderr"]


def test_state_is_kept_over_cells(run: Run) -> None:
    _ok(run("x = 41\ndef more(n): return n + 1"))
    assert _ok(run("more(x)"))["stdout"] == "42\n"
    assert run("nope()")["status"] == "failed"
    assert _ok(run("x"))["stdout"] == "41\n"


def test_only_needed_columns_are_read(run: Run) -> None:
    outcome = _ok(run("orders.groupby('region')['amount'].sum()"))
    assert outcome["output"]["loaded"] == {"orders": ["region", "amount"]}
    assert _ok(run("1"))["output"]["loaded"] == {}


def test_a_later_cell_gets_what_it_needs(run: Run) -> None:
    assert _ok(run("orders['id'].sum()"))["output"]["loaded"] == {"orders": ["id"]}
    assert _ok(run("orders['amount'].sum()"))["output"]["loaded"] == {"orders": ["id", "amount"]}
    assert _ok(run("orders.shape"))["stdout"] == "(10, 4)\n"
    assert _ok(run("orders['id'].sum()"))["output"]["loaded"] == {"orders": "all"}


def test_a_name_taken_over_is_left_alone(run: Run) -> None:
    _ok(run("orders = orders[orders['id'] > 7]"))
    assert _ok(run("len(orders)"))["stdout"] == "2\n"
    assert _ok(run("len(df), len(tables['orders'])"))["stdout"] == "(10, 10)\n"


def test_a_changed_frame_stays_changed(run: Run) -> None:
    _ok(run("orders['twice'] = orders['amount'] * 2"))
    assert (
        _ok(run("orders['twice'].max(), df['twice'].max()"))["stdout"]
        == "(np.float64(27.0), np.float64(27.0))\n"
    )


def test_a_deleted_name_comes_back(run: Run) -> None:
    _ok(run("del orders"))
    assert _ok(run("len(orders)"))["stdout"] == "10\n"


def test_aliases(run: Run) -> None:
    assert _ok(run("len(award_data)", names={"award_data": "orders"}))["stdout"] == "10\n"
    assert _ok(run("df is orders"))["stdout"] == "True\n"
    assert run("other", names={"other": "no_such_table"})["error"]["type"] == "NameError"


def test_the_mapping_of_tables(run: Run) -> None:
    assert _ok(run("list(tables), len(tables), tables"))["stdout"] == "(['orders'], 1, tables: orders)\n"
    assert _ok(run("tables['orders'] is orders"))["stdout"] == "True\n"


def test_frames_of_ones_own_in_a_query(run: Run) -> None:
    code = "f = pd.DataFrame({'a': [1, 2]})\np = pl.DataFrame({'b': [3]})\n"
    outcome = _ok(run(code + "sql('select sum(a) + max(b) as s from f, p', f=f, p=p)"))
    assert outcome["output"]["artifacts"][0]["rows"] == [[6.0]]
    assert run("sql('select * from f')")["status"] == "failed", "it is a table for that one query"


def test_imports_of_what_is_there(run: Run) -> None:
    code = (
        "import pandas as pd, numpy\nimport plotly.express as px\nfrom plotly import graph_objects\n"
        "from scipy import stats\nfrom collections.abc import Mapping\nfrom datetime import date\n"
        "from plotly.subplots import make_subplots\ndate(2024, 1, 2).year"
    )
    assert _ok(run(code))["stdout"] == "2024\n"


_RANDOM = (
    "random.random(), np.random.rand(), np.random.default_rng().random(), orders.sample(1)['id'].item(), "
    "scipy.stats.norm.rvs(), sql('select random() r')['r'].item(), "
    "pl.Series(range(100)).sample(1).item(), np.random.default_rng().random()"
)


def test_random_numbers_are_those_of_the_seed(run: Run) -> None:
    first, again, other = (_ok(run(_RANDOM, seed=seed))["stdout"] for seed in (7, 7, 8))
    assert first == again
    assert first != other
    numbers = first.strip("()\n").split(", ")
    assert numbers[2] != numbers[7], "a second generator gives numbers of its own"


def test_a_seed_of_ones_own_counts(run: Run) -> None:
    code = "np.random.default_rng(3).random()"
    assert run(code, seed=1)["stdout"] == run(code, seed=2)["stdout"]


_FETCHED = {
    "decimal": ("1.5::DECIMAL(5,2)", "float64", 1.5),
    "date": ("DATE '2024-01-02'", "datetime64[us]", "2024-01-02 00:00:00"),
    "moment": ("TIMESTAMP '2024-01-02 03:04:05'", "datetime64[us]", "2024-01-02 03:04:05"),
    "huge": ("12::HUGEINT", "float64", 12.0),
    "text": ("'a'", "str", "a"),
    "duration": ("INTERVAL 90 MINUTE", "timedelta64[us]", "0 days 01:30:00"),
    "list": ("[1, 2]", "object", "[1 2]"),
    "uuid": ("'00000000-0000-0000-0000-000000000001'::UUID", "str", "00000000-0000-0000-0000-000000000001"),
    "enum": ("'a'::ENUM('a', 'b')", "str", "a"),
}


@pytest.mark.parametrize(("value", "dtype", "cell"), _FETCHED.values(), ids=list(_FETCHED))
def test_types_of_the_engine(
    connection: duckdb.DuckDBPyConnection, value: str, dtype: str, cell: Any
) -> None:
    frame = fetch(connection, f'SELECT {value} AS "a b", 1 AS "a b"')
    assert list(frame.columns) == ["a b", "a b"]
    assert str(frame.dtypes.iloc[0]) == dtype
    assert str(frame.iloc[0, 0]) == str(cell)


@pytest.mark.parametrize(
    ("value", "dtype"), [("7", "float64"), ("9007199254740993", "Int64")], ids=["small", "long"]
)
def test_whole_numbers_with_gaps_keep_their_digits(
    connection: duckdb.DuckDBPyConnection, value: str, dtype: str
) -> None:
    frame = fetch(connection, f"SELECT unnest([{value}::BIGINT, NULL]) AS x;")
    column: Any = frame["x"]
    assert str(column.dtype) == dtype
    assert int(column[0]) == int(value)
    assert column.isna().tolist() == [False, True]
