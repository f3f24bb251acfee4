"""What a sandbox that was taken over may say of artifacts: it is believed only in the agreed form."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.sandbox.job import DataRef, Job, Limits
from sandtable.sandbox.wire import read_answer

_JOB = Job(
    id="j", mode="python", data=(DataRef(table="orders", path="o"),), limits=Limits(rows=2, log_bytes=100)
)
_TABLE: dict[str, Any] = {
    "id": "table-1",
    "kind": "table",
    "title": "",
    "columns": [{"name": "x", "type": "BIGINT"}],
    "rows": [[1]],
    "row_count": 1,
    "truncated": True,
}
_HTML = {"id": "html-1", "kind": "html", "title": "", "html": "x"}


def _answer(*artifacts: Any, **output: Any) -> dict[str, Any]:
    given = {"artifacts": list(artifacts), "displayed": None, "loaded": {}, **output}
    return {"status": "succeeded", "stdout": "", "stderr": "", "output": given}


def test_a_good_answer() -> None:
    answer = _answer(_TABLE, _HTML, displayed="html-1", loaded={"orders": ["x"]})
    result = read_answer(_JOB, answer, "native words")
    assert result.status == "succeeded", result.error
    assert (result.rows, result.row_count, result.truncated) == (((1,),), 1, True)
    assert result.stderr == "native words"


def test_rows_of_its_own_are_not_believed() -> None:
    result = read_answer(_JOB, {**_answer(), "rows": [[7]], "row_count": 1}, "")
    assert result.rows == ()


_BAD: dict[str, dict[str, Any]] = {
    "no list": _answer() | {"output": {"artifacts": 7}},
    "an unknown kind": _answer({"id": "pdf-1", "kind": "pdf"}),
    "an unknown field": _answer({**_HTML, "script": "x"}),
    "an id with markup": _answer({**_HTML, "id": "html-1<b>"}),
    "an id of another kind": _answer({**_HTML, "id": "table-1"}),
    "an id twice": _answer(_HTML, _HTML),
    "too many": _answer(*({**_HTML, "id": f"html-{index + 1}"} for index in range(21))),
    "too many rows": _answer({**_TABLE, "rows": [[1]] * 3, "row_count": 3}),
    "a false count": _answer({**_TABLE, "row_count": 9}),
    "a row too wide": _answer({**_TABLE, "rows": [[1, 2]]}),
    "a figure that is no object": _answer(
        {"id": "plot-1", "kind": "plot", "title": "", "format": "plotly", "figure": [1]}
    ),
    "displayed but not there": _answer(_HTML, displayed="html-2"),
    "a table that the job does not have": _answer(loaded={"secrets": "all"}),
    "columns that are numbers": _answer(loaded={"orders": [1]}),
    "an output of its own": _answer(admin=True),
    "too much output": {**_answer(), "stdout": "x" * 1000},
    "a long title": _answer({**_HTML, "title": "x" * 500}),
}


@pytest.mark.parametrize("answer", _BAD.values(), ids=list(_BAD))
def test_a_bad_answer(answer: dict[str, Any]) -> None:
    result = read_answer(_JOB, answer, "")
    assert result.error is not None
    assert result.error.type == "BadAnswer"
    assert result.output == {}
