"""What a sandbox says of a file is used only when it has the agreed form and size."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.convert import ConvertRequest, Reference
from sandtable.catalog.recipe import Recipe
from sandtable.errors import ErrorCode, InvalidInput, RunnerBroken
from sandtable.sandbox.bounds import RUNNERS_CODES, breach_of
from sandtable.sandbox.convert import SandboxedConvert
from sandtable.sandbox.job import Job, JobError, JobResult

COLUMN = {"name": "x", "sql_type": "BIGINT", "nullable": True}
READING = {"header": "x", "name": "x", "read_as": "integer"}
TABLE: dict[str, Any] = {
    "table": "t",
    "output": "t.parquet",
    "rows": 2,
    "columns": [COLUMN],
    "latest": {},
    "recipe": {"text": {"kind": "csv"}, "columns": [READING]},
    "misfits": [{"column": "x", "row": 7, "value": "abc"}],
    "misfit_counts": {"x": 1},
    "notes": ["Two title rows were skipped."],
    "repairs": [{"id": "misfits-empty:x", "label": "Leave 1 cell of x empty"}],
}
CHOICES = [{"label": "Day first", "answer": "day-first"}, {"label": "Text", "answer": "text"}]
QUESTION = {"id": "t.x", "text": "Which?", "choices": CHOICES}
REQUEST = ConvertRequest("t", "incoming/x/t.csv", "csv", None, "staging/x")


class Answering:
    def __init__(self, output: dict[str, Any], error: JobError | None = None) -> None:
        self._output, self._error = output, error
        self.jobs: list[Job] = []

    async def submit(self, job: Job) -> None:
        self.jobs.append(job)

    async def result(self, job_id: str) -> JobResult:
        status = "failed" if self._error else "succeeded"
        return JobResult(job_id=job_id, status=status, output=self._output, error=self._error)


def convert(executor: Any) -> SandboxedConvert:
    return SandboxedConvert(executor, threads=1)


async def test_an_honest_answer_is_read() -> None:
    result = await convert(Answering({"tables": [TABLE], "questions": []}))(REQUEST)
    (table,) = result.tables
    assert (table.table, table.rows, table.columns[0].sql_type) == ("t", 2, "BIGINT")
    assert table.recipe is not None and table.recipe.plain
    assert (table.misfits[0].row, table.misfit_counts, table.repairs[0].id) == (
        7,
        {"x": 1},
        "misfits-empty:x",
    )


async def test_keys_that_a_file_declares_are_read() -> None:
    declared = {"key": ["x"], "references": [{"column": "x", "table": "s", "referred": "id"}]}
    (table,) = (
        await convert(Answering({"tables": [{**TABLE, **declared}], "questions": []}))(REQUEST)
    ).tables
    assert (table.key, table.references) == (("x",), (Reference("x", "s", "id"),))


async def test_a_question_is_read() -> None:
    output = {"tables": [{**TABLE, "output": None}], "questions": [QUESTION]}
    result = await convert(Answering(output))(REQUEST)
    assert [choice.answer for choice in result.questions[0].choices] == ["day-first", "text"]


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": None}, {"columns": {}}, {"columns": [1]}, {"columns": [{}]}, {"columns": [{"name": "x"}]},
        {"columns": [{**COLUMN, "name": 1}]}, {"columns": [{**COLUMN, "nullable": "yes"}]}, {"columns": [COLUMN] * 2},
        {"key": ["y"]}, {"key": "x"}, {"key": ["x"] * 101}, {"references": [{"column": "x", "table": "s"}]},
        {"references": [{"column": "y", "table": "s", "referred": "x"}]},
        {"rows": -1}, {"rows": "many"}, {"rows": 1.5}, {"rows": None}, {"output": 7}, {"latest": []},
        {"latest": {"a": 1}}, {"admin": 1}, {"table": "../t"}, {"table": "t/u"}, {"table": ""}, {"table": "1t"},
        {"table": "x" * 61}, {"recipe": {"columns": [{**READING, "name": "y"}]}}, {"recipe": {"format": 2}},
        {"recipe": {"text": {"kind": "exe"}}}, {"recipe": {"columns": [{**READING, "unit": "x" * 1001}]}},
        {"recipe": {"columns": [{**READING, "empty": ["a"] * 201}]}},
        {"misfits": [{"column": "x", "row": 0, "value": ""}]},
        {"misfits": [{"column": "x", "row": 1, "value": "a" * 201}]}, {"misfits": TABLE["misfits"] * 101},
        {"misfit_counts": {"x": -1}}, {"notes": ["a" * 4001]}, {"notes": [""] * 201}, {"repairs": [{"id": "a"}]},
        {"repairs": TABLE["repairs"] * 201},
    ],
    ids=lambda changes: str(changes)[:60],
)  # fmt: skip
async def test_a_lying_conversion_is_one_clear_error(changes: dict[str, Any]) -> None:
    with pytest.raises(RunnerBroken, match="agreed form"):
        await convert(Answering({"tables": [{**TABLE, **changes}], "questions": []}))(REQUEST)


@pytest.mark.parametrize(
    "output",
    [
        {}, {"tables": [], "questions": []}, {"tables": [TABLE]}, {"tables": [TABLE], "questions": [QUESTION]},
        {"tables": [{**TABLE, "output": None}], "questions": [{**QUESTION, "choices": CHOICES[:1]}]},
        {"tables": [{**TABLE, "output": None}], "questions": [QUESTION] * 1001},
    ],
    ids=["nothing", "no table", "no list of questions", "asked and written", "one choice", "too many"],
)  # fmt: skip
async def test_a_lying_answer_is_one_clear_error(output: dict[str, Any]) -> None:
    with pytest.raises(RunnerBroken, match="agreed form"):
        await convert(Answering(output))(REQUEST)


async def test_a_refusal_has_its_repairs() -> None:
    error = JobError(
        code=ErrorCode.VALIDATION_ERROR, type="BadFile", message="row 3 is short", suggestion="Mend it."
    )
    offered = [{"id": "pad-rows", "label": "Fill it"}]
    with pytest.raises(InvalidInput, match="row 3 is short") as caught:
        await convert(Answering({"repairs": offered}, error))(REQUEST)
    assert caught.value.details == {"repairs": offered, "questions": []}
    with pytest.raises(RunnerBroken, match="agreed form"):
        await convert(Answering({"repairs": [{"id": 7, "label": ""}]}, error))(REQUEST)


async def test_recipes_answers_and_repairs_are_handed_on() -> None:
    executor = Answering({"tables": [TABLE], "questions": []})
    recipe = Recipe.model_validate(TABLE["recipe"])
    request = ConvertRequest(
        "t", "incoming/x/t.csv", "csv", None, "staging/x", {"t": recipe}, {"t.x": "text"}, ("pad-rows",)
    )
    await convert(executor)(request)
    options = executor.jobs[0].options
    assert options["recipes"] == [{"table": "t", "recipe": recipe.model_dump(mode="json")}]
    assert (options["answers"], options["repairs"]) == ({"t.x": "text"}, ["pad-rows"])
    assert (options["table"], options["source"], options["format"]) == ("t", "t.csv", "csv")


def test_an_answer_with_other_fields_is_out_of_bounds() -> None:
    job = Job(id="j", mode="ingest")
    assert breach_of(job, {"output": {"tables": [], "questions": []}}, RUNNERS_CODES) is None
    assert breach_of(job, {"output": {"rows": 1}}, RUNNERS_CODES) == "an output of 1 unknown fields"
