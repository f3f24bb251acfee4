"""With privacy `schema`, what a cell gave is told without a single value of the data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandtable.agent.analysis.coder import Seen, SeenTable
from sandtable.agent.analysis.secrecy import shown_cell, shown_code, shown_error
from sandtable.errors import ErrorCode, Problem
from sandtable.sandbox.job import ResultColumn
from sandtable.store.run_store import Status
from tests.agent.models.asking import CANARY, CANARY_NUMBER, asking

CODE = 'grown = orders["total"].sum()\norders.groupby("regoin")\nlable'


def failed(kind: str, message: str, status: Status = "failed", **more: Any) -> Seen:
    problem = Problem(
        code=ErrorCode.VALIDATION_ERROR,
        message=message,
        suggestion=f"did you mean {CANARY}?",
        details={"type": kind} if kind else {},
    )
    return Seen(
        step=1, goal="g", code=CODE, run_id="r", status=status, problem=problem, line=2, stdout="1", **more
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("KeyError", "'regoin'"),
        ("KeyError", "'Column not found: regoin'"),
        ("NameError", "name 'lable' is not defined"),
        ("AttributeError", "'DataFrame' object has no attribute 'total'"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("TypeError", "'Series' object is not callable"),
        ("TypeError", "agg function failed [how->sum,dtype->object]"),
    ],
)
def test_what_quotes_only_the_code_passes(kind: str, message: str) -> None:
    shown = shown_error(failed(kind, message), asking(), "schema")
    assert shown == {"code": "VALIDATION_ERROR", "type": kind, "line": 2, "message": message}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("ValueError", f"could not convert string to float: '{CANARY}'"),
        ("ValueError", f"Unknown datetime string format, unable to parse: {CANARY}, at position 0"),
        ("KeyError", f"'{CANARY}'"),
        ("KeyError", str(CANARY_NUMBER)),
        ("AttributeError", f"'DataFrame' object has no attribute '{CANARY.split('-')[0]}'"),
        ("TypeError", f"{CANARY}"),
        ("TypeError", f"'DataFrame' object has no attribute 'total' {CANARY}"),
        ("AssertionError", f"regoin {CANARY_NUMBER}"),
        ("NameError", f"name 'lable' is not defined\n{CANARY}"),
    ],
)
def test_what_may_quote_a_cell_is_withheld(kind: str, message: str) -> None:
    shown = shown_error(failed(kind, message), asking(), "schema")
    assert shown == {"code": "VALIDATION_ERROR", "type": kind, "line": 2, "message": "(withheld)"}
    open_ = shown_error(failed(kind, message), asking(), "off")
    assert open_["message"] == message


@pytest.mark.parametrize(("kind", "status"), [("", "rejected"), ("SyntaxError", "failed")])
def test_a_refusal_has_seen_the_code_only(kind: str, status: Status) -> None:
    shown = shown_error(failed(kind, "`os` cannot be imported", status), asking(), "schema")
    assert shown["message"] == "`os` cannot be imported" and shown["suggestion"]


def test_tables_are_told_by_shape_and_type() -> None:
    names = ("region", "grown", CANARY, "2025-01")
    table = SeenTable(
        id="table-1",
        title=CANARY,
        columns=tuple(ResultColumn(name=name, type="DOUBLE") for name in names),
        rows=((CANARY, CANARY_NUMBER, 1, 2),),
        row_count=9,
    )
    cell = Seen(
        step=1,
        goal="g",
        code=CODE,
        run_id="r",
        status="succeeded",
        stdout=CANARY,
        tables=(table,),
        plots=("plot-1",),
    )
    shown = shown_cell(cell, asking(), "schema", whole=True)
    told = json.dumps(shown)
    assert CANARY not in told and str(CANARY_NUMBER) not in told and "2025-01" not in told
    assert shown["tables"] == [
        {
            "tag": "[[table-1]]",
            "row_count": 9,
            "columns": {
                "region": "DOUBLE",
                "grown": "DOUBLE",
                "(withheld) 3": "DOUBLE",
                "(withheld) 4": "DOUBLE",
            },
        }
    ]
    assert CANARY in json.dumps(shown_cell(cell, asking(), "off", whole=True))


def test_earlier_code_loses_the_texts_that_nobody_typed() -> None:
    code = f'some = orders[orders["region"] == "{CANARY}"]\nother = "North"'
    asked = asking("only North please")
    assert shown_code(code, asked, "off") == code
    assert shown_code(code, asked, "schema") == (
        'some = orders[orders["region"] == \'(withheld)\']\nother = "North"'
    )
