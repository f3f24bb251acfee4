"""Events as messages: what a listener is told of each kind, and in which form."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas
import plotly.io
import pytest

from sandtable.agent.events import EVENT
from sandtable.conversations.model import JournalEntry
from sandtable.sandbox.job import ResultColumn
from sandtable.server.v2.wire import HEAD, SoFar, StreamMessage, decoded, messages_of, table_json

FIGURE: dict[str, Any] = {"data": [{"type": "bar", "x": ["a"], "y": [1]}], "layout": {"title": {"text": "t"}}}
FIGURE_JSON = json.dumps(FIGURE, separators=(",", ":"))
COLUMNS = [{"name": "city", "type": "VARCHAR"}, {"name": "n", "type": "BIGINT"}]
ROWS = [["Berlin", 3], ["Köln", None]]
TABLE = {"columns": COLUMNS, "rows": ROWS, "row_count": 2, "truncated": False}
TABLE_JSON = '{"city":{"0":"Berlin","1":"Köln"},"n":{"0":3,"1":null}}'
PROBLEM = {"code": "RUNNER_TIMEOUT", "message": "it took too long", "suggestion": "Ask for less."}
TROUBLE = "RUNNER_TIMEOUT: it took too long. Ask for less."


def told(*events: dict[str, Any]) -> list[tuple[str, str]]:
    said: list[StreamMessage] = []
    so_far = SoFar()
    for event in events:
        more, so_far = messages_of(EVENT.validate_python(event), so_far)
        said += more
    return [(one.type, one.payload) for one in said]


def run(status: str, run_id: str = "r1", **more: Any) -> dict[str, Any]:
    return {"type": "run", "run_id": run_id, "status": status, **more}


def shown(artifact: dict[str, Any]) -> dict[str, Any]:
    return {"type": "artifact", "run_id": "r1", "artifact": artifact}


def log(text: str, run_id: str | None = "r1") -> dict[str, Any]:
    return {"type": "log", "run_id": run_id, "text": text}


def message(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "text": text, "ending": "answered", **more}


CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "thought": ([{"type": "thought", "text": "Hm…"}], [("thought", "Hm…")]),
    "the plan in words": ([{"type": "plan", "plan": {}, "reading": "by city"}], [("thought", "by city")]),
    "sql": ([{"type": "sql", "sql": "SELECT 1"}], [("code", "SELECT 1")]),
    "python": ([{"type": "code", "code": "df.head()", "step": 1}], [("code", "df.head()")]),
    "a run": (
        [run("pending"), run("running"), run("succeeded", exec_time_ms=3.2)],
        [("log", "Executing code cell 1..."), ("log", "Code cell 1 is done in 3 ms.")],
    ),
    "runs are counted": (
        [run("pending"), run("succeeded"), run("pending", "r2")],
        [
            ("log", "Executing code cell 1..."),
            ("log", "Code cell 1 is done."),
            ("log", "Executing code cell 2..."),
        ],
    ),
    "a run that ran before": (
        [run("succeeded")],
        [("log", "Code cell 1 ran before on the same data: this is its result.")],
    ),
    "a run that was cancelled": ([run("cancelled")], [("log", "Code cell 1 was cancelled.")]),
    "output": ([run("pending"), log("12 rows\n")], [("log", "Executing code cell 1..."), ("log", "12 rows\n")]),
    "output of code that failed": (
        [run("failed"), log("so far"), log("Traceback (most recent call last):\nKeyError: 'City '")],
        [
            ("log", "so far"),
            (
                "error",
                "Error occurred while executing code cell 1: "
                "Traceback (most recent call last):\nKeyError: 'City '",
            ),
        ],
    ),
    "a refusal that is repaired": (
        [run("rejected"), log("SQL_POLICY_VIOLATION: no files here")],
        [("error", "Error occurred while executing code cell 1: SQL_POLICY_VIOLATION: no files here")],
    ),
    "output that looks like an error of code that worked": (
        [run("succeeded"), log("Traceback (just kidding)")],
        [
            ("log", "Code cell 1 ran before on the same data: this is its result."),
            ("log", "Traceback (just kidding)"),
        ],
    ),
    "table": ([{"type": "table", "run_id": "r1", **TABLE}], [("table", TABLE_JSON)]),
    "chart": ([{"type": "chart", "run_id": "r1", "figure": FIGURE}], [("chart", FIGURE_JSON)]),
    "more rows than the run keeps": (
        [{"type": "table", "run_id": "r1", **TABLE, "row_count": 1200, "truncated": True}],
        [("table", TABLE_JSON), ("log", "The table shows the first 2 of 1,200 or more rows.")],
    ),
    "a result that its cell has shown": (
        [
            shown({"id": "table-1", "kind": "table", **TABLE}),
            shown({"id": "plot-1", "kind": "plot", "format": "plotly", "figure": FIGURE}),
            {"type": "table", "run_id": "r1", **TABLE},
            {"type": "chart", "run_id": "r1", "figure": FIGURE},
        ],
        [("table", TABLE_JSON), ("chart", FIGURE_JSON)],
    ),
    "what has no message of its own": (
        [
            shown({"id": "html-1", "kind": "html", "title": "A page", "html": "<b>hi</b>"}),
            shown({"id": "markdown-1", "kind": "markdown", "text": "**hi**"}),
            shown({"id": "plot-1", "kind": "plot", "format": "svg", "svg": "<svg/>"}),
        ],
        [
            ("log", "Shown: html-1 “A page”, kept with run r1."),
            ("log", "**hi**"),
            ("log", "Shown: plot-1, kept with run r1."),
        ],
    ),
    "pieces of the message": ([{"type": "delta", "text": "The"}], []),
    "answer": ([message("It is **Berlin**.")], [("final_response", "It is **Berlin**.")]),
    "artifacts in their places": (
        [
            shown({"id": "table-1", "kind": "table", **TABLE, "row_count": 9}),
            shown({"id": "mermaid-1", "kind": "mermaid", "text": "graph TD"}),
            shown({"id": "plot-1", "kind": "plot", "title": "By city", "format": "plotly", "figure": FIGURE}),
            message("See\n\n[[table-1]]\n\n[[mermaid-1]]\n\n[[plot-1]] [[table-7]]"),
        ],
        [
            ("table", TABLE_JSON),
            ("log", "The table shows the first 2 of 9 rows."),
            ("log", "Shown: mermaid-1, kept with run r1."),
            ("chart", FIGURE_JSON),
            (
                "final_response",
                "See\n\n| city | n |\n| --- | ---: |\n| Berlin | 3 |\n| Köln |  |\n\n*… and 7 more rows*\n\n"
                "```mermaid\ngraph TD\n```\n\n*Plot: By city* [[table-7]]",
            ),
        ],
    ),
    "more than a message holds": (
        [
            shown({"id": "markdown-1", "kind": "markdown", "text": "x" * 20_000}),
            shown({"id": "markdown-2", "kind": "markdown", "title": "More", "text": "y" * 20_000}),
            message("[[markdown-1]] [[markdown-2]]"),
        ],
        [
            ("log", "x" * 20_000),
            ("log", "y" * 20_000),
            ("final_response", f"```markdown\n{'x' * 16_000}\n…\n``` *Markdown: More*"),
        ],
    ),
    "failure": (
        [message("I could not.", ending="failed", problem=PROBLEM)],
        [("error", TROUBLE), ("final_response", "I could not.")],
    ),
    "broken machinery": (
        [{"type": "error", "problem": PROBLEM}],
        [("error", TROUBLE), ("final_response", "There is no answer: it took too long. Ask for less.")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("events", "expected"), CASES.values(), ids=CASES.keys())
def test_what_a_listener_is_told(events: list[dict[str, Any]], expected: list[tuple[str, str]]) -> None:
    assert told(*events) == expected


def test_a_table_is_what_pandas_writes_and_reads() -> None:
    frame = pandas.DataFrame({"city": ["Berlin", "Köln"], "n": [3.5, None], "open": [True, False]})
    columns = [ResultColumn(name=name, type="ANY") for name in frame.columns]
    rows = [
        tuple(None if pandas.isna(cell) else cell for cell in row) for row in frame.itertuples(index=False)
    ]
    made = table_json(columns, rows)
    assert json.loads(made) == json.loads(frame.to_json() or "")
    pandas.testing.assert_frame_equal(pandas.read_json(io.StringIO(made)), frame, check_dtype=False)


def test_a_table_is_cut_and_says_so() -> None:
    rows = [[f"c{n}", n] for n in range(150)]
    said = told(
        {
            "type": "table",
            "run_id": "r1",
            "columns": COLUMNS,
            "rows": rows,
            "row_count": 150,
            "truncated": False,
        }
    )
    frame = pandas.read_json(io.StringIO(said[0][1]))
    assert frame.shape == (HEAD, 2) and list(frame["n"]) == list(range(HEAD))
    assert said[1] == ("log", "The table shows the first 100 of 150 rows.")


@pytest.mark.parametrize(
    ("names", "made"),
    [
        pytest.param(["n", "n", "n"], ["n", "n_2", "n_3"], id="the same"),
        pytest.param(["n", "n", "n_2"], ["n", "n_3", "n_2"], id="taken"),
        pytest.param([], [], id="none"),
    ],
)
def test_columns_of_the_same_name_all_stay(names: list[str], made: list[str]) -> None:
    columns = [ResultColumn(name=name, type="INTEGER") for name in names]
    row = list(range(len(names)))
    assert json.loads(table_json(columns, [row])) == {name: {"0": n} for n, name in enumerate(made)}


def test_what_json_cannot_say_is_null() -> None:
    columns = [ResultColumn(name="x", type="DOUBLE")]
    assert table_json(columns, [[float("nan")], [float("inf")]]) == '{"x":{"0":null,"1":null}}'


def test_a_chart_is_what_plotly_reads() -> None:
    ((_, payload),) = told({"type": "chart", "run_id": "r1", "figure": FIGURE})
    assert plotly.io.from_json(payload).to_dict()["data"][0]["type"] == "bar"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        pytest.param("begun", {"attempt": 1}, id="the beginning"),
        pytest.param("ui", {"type": "ui", "name": "answer"}, id="generative UI"),
        pytest.param("event", {"type": "hologram"}, id="an event of the future"),
        pytest.param("event", {"type": "thought", "tone": "grim"}, id="another form of an event"),
        pytest.param("event", ["thought"], id="no event"),
        pytest.param("step", {"answer": {"messages": []}}, id="a step"),
        pytest.param("custom", {"type": "thought", "text": "Hm."}, id="a chunk of a journal of LangGraph's"),
        pytest.param("error", {"error": "x", "message": "y"}, id="an error of a journal of LangGraph's"),
    ],
)
def test_what_is_not_for_listeners_is_passed_over(kind: str, data: Any) -> None:
    assert decoded(JournalEntry(1, kind, json.dumps(data)), SoFar()) == ([], SoFar())


def test_a_failure_after_the_answer_is_told_alone() -> None:
    data = json.dumps({"error": "StoreUnavailable", "message": "the disk is full"})
    said, _ = decoded(JournalEntry(9, "failed", data), SoFar(ended=True))
    assert said == [StreamMessage("error", "StoreUnavailable: the disk is full")]
