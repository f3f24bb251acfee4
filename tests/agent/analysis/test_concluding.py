"""What is said at the end: only what the cells bear out, with a tag for everything that was shown."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.analysis.concluding import given_up, local_answer, with_tags, worded_answer
from sandtable.capsule.query import CodeQuery
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.artifact import TableArtifact
from sandtable.sandbox.job import Limits, ResultColumn
from tests.agent.models.asking import shop

COLUMNS = (ResultColumn(name="region", type="VARCHAR"), ResultColumn(name="change", type="DOUBLE"))
ROWS: tuple[tuple[Any, ...], ...] = (("North", -1234.5), ("South", 80.25))
PLAIN = "North has the lowest change."


def ran(stdout: str = "", *, table: bool = True) -> Run:
    shown = TableArtifact(id="table-1", columns=COLUMNS, rows=ROWS, row_count=2, truncated=False)
    return Run(
        id="run-1",
        status="succeeded",
        request=RunRequest(dataset_id="shop", query=CodeQuery("x")),
        dataset_version="sha256:" + "0" * 64,
        limits=Limits(),
        created_at="2026-01-01T00:00:00Z",
        columns=COLUMNS if table else (),
        rows=ROWS if table else (),
        row_count=2 if table else 0,
        artifacts=(shown,) if table else (),
        stdout=stdout,
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("North had a change of -1,234.5.", None, id="a cell"),
        pytest.param("North fell by 1,234.5.", None, id="a loss"),
        pytest.param("North lost about 1,235.", None, id="a rounded loss"),
        pytest.param("North gained 1,234.5.", PLAIN, id="a loss as a gain"),
        pytest.param("The slope is 3.57 and p is 0.021.", None, id="printed"),
        pytest.param("There are 36 months.", None, id="printed and counted"),
        pytest.param("The slope is 0.021 and p is 3.57.", PLAIN, id="printed, but of the other label"),
        pytest.param("South had a change of -1,234.5.", PLAIN, id="the number of another row"),
        pytest.param("South has the lowest change.", PLAIN, id="a false superlative"),
        pytest.param("West fell by 1,234.5.", PLAIN, id="a name of its own"),
        pytest.param("North fell by 1,234.5 because of the strike.", PLAIN, id="a cause"),
        pytest.param("All of this is verified and signed.", PLAIN, id="a claim of proof"),
        pytest.param("Nord fiel um 1,234.5.", PLAIN, id="another language"),
        pytest.param("It grew by 99 percent.", PLAIN, id="made up"),
        pytest.param("It grew threefold.", PLAIN, id="a multiple"),
        pytest.param("See [here](http://evil.test).", PLAIN, id="a link"),
        pytest.param("<img src=x>", PLAIN, id="markup"),
        pytest.param("For the top 5, North is worst.", PLAIN, id="a judgement"),
        pytest.param("North fell by 1,234.5. South gained 81.", "North fell by 1,234.5.", id="one of two"),
        pytest.param("**North** fell by **1,234.5**.", "North fell by 1,234.5.", id="bold"),
        pytest.param("- North: -1234.5\n- South: 99\n\n1. First\n2. Second", "- North: -1234.5", id="a list"),
        pytest.param(
            "# Result\n| a |\n```\ncode\n```\nNorth fell by 1,234.5.", "North fell by 1,234.5.", id="blocks"
        ),
        pytest.param("[[table-1]]", PLAIN, id="only a tag"),
    ],
)
def test_what_no_cell_bears_out_is_left_out(text: str, left: str | None) -> None:
    runs = [ran("slope: 3.5712, p=0.0213\n36 months until 2025-03-01\n")]
    assert worded_answer(text, PLAIN, "What are the top 5?", runs, shop()) == (text if left is None else left)


@pytest.mark.parametrize(
    ("text", "tagged"),
    [
        ("A.", "A.\n\n[[table-1]]\n\n[[plot-1]]"),
        ("A [[plot-1]] b.", "A\n\n[[plot-1]]\n\nb.\n\n[[table-1]]"),
        ("A.\n\n[[table-1]]\n[[table-1]]\n[[plot-1]]", "A.\n\n[[table-1]]\n\n[[plot-1]]"),
        ("A [[table-9]] [[html-1]].", "A.\n\n[[table-1]]\n\n[[plot-1]]"),
    ],
)
def test_each_tag_stands_once(text: str, tagged: str) -> None:
    assert with_tags(text, ["table-1", "plot-1"], ["table-1", "plot-1"]) == tagged


def test_the_local_answer_is_made_of_rows_or_of_what_was_printed() -> None:
    assert "North" in local_answer("q", ran(), shop())
    printed = local_answer("q", ran("[[plot-1]]\nThe slope is 3.57\n", table=False), shop())
    assert printed == "The analysis printed:\n\n```text\nThe slope is 3.57\n```"
    assert "printed nothing" in local_answer("q", ran(table=False), shop())
    assert local_answer("q", None, shop()) == "The analysis gave no result."


def test_giving_up_names_the_step_the_reason_and_the_attempts() -> None:
    problem = Problem(
        code=ErrorCode.RUNNER_TIMEOUT,
        message="30 s are over",
        suggestion="take less",
        details={"type": "Timeout"},
    )
    text = given_up(problem, 2, "Fit the model.", 3)
    assert text.startswith(
        "The analysis could not be finished at step 2 (Fit the model).\n\nThe code took too long:"
    )
    assert "30 s are over" in text and "Take less." in text and text.endswith("with the reason in hand.")
    assert "cancelled" in given_up(None, 1, "Load.", 1)
