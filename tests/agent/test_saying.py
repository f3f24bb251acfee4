"""Answers as Markdown: bounded, inert, and with the reason when there is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.agent.saying import MOST_COLUMNS, MOST_ROWS, failure_text, table_of, whole_answer
from sandtable.agent.state import TurnNotes
from sandtable.agent.streaming import MOST_PIECES, PIECE, pieces
from sandtable.agent.tools import CELL_CHARS, ROWS_SHOWN, report_of
from sandtable.capsule.query import SqlQuery
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.job import Limits, ResultColumn
from tests.agent.house import SHOP


def run_of(rows: list[tuple[Any, ...]], columns: tuple[str, ...] = ("region", "n"), **more: Any) -> Run:
    return Run(
        id="run_1",
        status="succeeded",
        request=RunRequest(dataset_id="shop", query=SqlQuery("SELECT 1")),
        dataset_version=SHOP.version,
        limits=Limits.model_validate({}),
        created_at="2025-01-01T00:00:00.000Z",
        sql="SELECT 1",
        columns=tuple(ResultColumn(name=name, type="VARCHAR") for name in columns),
        rows=tuple(rows),
        row_count=len(rows),
        **more,
    )


def test_a_table_shows_the_first_rows_and_says_so() -> None:
    text = table_of(run_of([(f"r{n}", n) for n in range(25)]))
    assert text.count("\n| r") == MOST_ROWS
    assert text.endswith("Shown: the first 10 of 25 rows.")


def test_a_wide_table_is_cut() -> None:
    wide = tuple(f"c{n}" for n in range(30))
    text = table_of(run_of([tuple(range(30))], wide))
    assert text.splitlines()[0].count("|") == MOST_COLUMNS + 1
    assert "12 of 30 columns" in text


@given(st.lists(st.tuples(st.text(max_size=200), st.none() | st.floats() | st.integers() | st.booleans())))
def test_cells_never_break_the_table(rows: list[tuple[Any, ...]]) -> None:
    lines = table_of(run_of(rows)).split("\n\nShown")[0].splitlines()
    assert len(lines) == 2 + min(len(rows), MOST_ROWS)
    assert {line.replace("\\|", "").count("|") for line in lines} == {3}


def test_one_value_needs_no_table() -> None:
    assert whole_answer("There are 3.", run_of([(3,)], ("n",)), TurnNotes()) == "There are 3."


def test_the_reading_stands_below() -> None:
    text = whole_answer(
        "Yes.", run_of([("a", 1), ("b", 2)]), TurnNotes(reading="orders by region", used=["x read as y"])
    )
    assert text.endswith("*Read as: orders by region*  \n*x read as y*")


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_failure_has_words(code: ErrorCode) -> None:
    text = failure_text(Problem(code=code, message="why", suggestion="what to do"), None, repairs=0)
    assert ": why." in text and "What to do." in text and "times" not in text


def test_a_cancelled_run_is_called_so() -> None:
    run = run_of([]).model_copy(update={"status": "cancelled", "rows": None})
    assert "cancelled" in failure_text(None, run, repairs=0)


def test_a_tools_report_is_bounded() -> None:
    report = report_of(run_of([("x" * 1000, n) for n in range(50)]))
    assert len(report["rows"]) == ROWS_SHOWN
    assert len(report["rows"][0][0]) == CELL_CHARS + 1
    assert report["row_count"] == 50


@given(st.text())
def test_pieces_lose_nothing(text: str) -> None:
    made = list(pieces(text))
    assert "".join(made) == text
    assert len(made) <= MOST_PIECES + 1 or all(len(piece) >= PIECE for piece in made[:-1])
