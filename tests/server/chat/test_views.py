"""What `POST /chat` puts together of an analysis in Python."""

from __future__ import annotations

from sandtable.agent.events import ArtifactShown, Chart, Code, Message, Planned, RunState, Table
from sandtable.runs.described import DescribedTable, described
from sandtable.sandbox.job import ResultColumn
from sandtable.server.chat.views import Gathering

COLUMNS = described([ResultColumn(name="n", type="BIGINT")])
TABLE = DescribedTable(id="table-1", columns=COLUMNS, rows=((4,),), row_count=1, truncated=False)


def test_an_analysis_in_one_piece() -> None:
    gathering = Gathering("t")
    for event in (
        Planned(plan={"steps": ["Count."]}, reading="In Python: Count."),
        Code(step=1, goal="Count.", code="bad"),
        RunState(run_id="run-1", status="failed"),
        Code(step=1, goal="Count.", code="len(df)"),
        RunState(run_id="run-2", status="succeeded"),
        ArtifactShown(run_id="run-2", artifact=TABLE),
        Table(run_id="run-2", columns=COLUMNS, rows=((4,),), row_count=1, truncated=False),
        Chart(run_id="run-2", figure={"data": []}),
        Message(text="There are 4.\n\n[[table-1]]", ending="answered", run_ids=("run-2",)),
    ):
        gathering.add(event)
    answer = gathering.answer()
    assert [(step.step, step.code) for step in answer.steps] == [(1, "bad"), (1, "len(df)")]
    assert answer.artifacts == (TABLE,)
    assert (answer.plan, answer.status, answer.chart) == ({"steps": ["Count."]}, "succeeded", {"data": []})
    assert answer.result is not None and answer.result.rows == ((4,),)


def test_a_run_that_a_model_looked_at_is_not_the_result() -> None:
    gathering = Gathering("t")
    for event in (
        RunState(run_id="look", status="succeeded"),
        Table(run_id="look", columns=COLUMNS, rows=((4,),), row_count=1, truncated=False),
        RunState(run_id="run", status="failed"),
        Message(text="It failed.", ending="failed", run_ids=("run", "look")),
    ):
        gathering.add(event)
    assert (gathering.answer().result, gathering.answer().status) == (None, "failed")
