"""The tools: their names, what they say of themselves, their arguments and what they give.

Invariant: at most eight, and one that cannot work here is not offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.runs.model import LONGEST_QUESTION
from sandtable.server.mcp.shown import (
    AskResult,
    DatasetList,
    DescribedDataset,
    Shown,
    ShownRun,
    VerifyResult,
)

MOST_WAIT_S = 60.0


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


DATASET = Field(min_length=1, max_length=128, description="The id of a dataset; `list_datasets` has them.")
RUN = Field(min_length=1, max_length=128, description="The id of a run: it begins with `run_`.")
QUESTION = Field("", max_length=LONGEST_QUESTION, description="What a person asked; kept in the capsule.")


class ListArguments(_Arguments):
    pass


class DescribeArguments(_Arguments):
    dataset_id: str = DATASET
    detail: Literal["tables", "columns", "values"] = Field(
        "columns",
        description="`tables`: names and sizes. `columns`: also columns, relationships and metrics. `values`: also "
        "ranges and frequent values.",
    )
    table: str | None = Field(None, max_length=256, description="Only this table.")


class AskArguments(_Arguments):
    question: str = Field(
        min_length=1, max_length=LONGEST_QUESTION, description="In plain words, as a person would ask."
    )
    dataset_id: str | None = Field(
        None, min_length=1, max_length=128, description="What it is about; not needed with a `thread_id`."
    )
    thread_id: str | None = Field(
        None, min_length=1, max_length=128, description="That of the answer which this question builds on."
    )


class PlanArguments(_Arguments):
    dataset_id: str = DATASET
    plan: dict[str, Any] = Field(
        description='A query plan, such as {"table": "orders", "select": [{"agg": "count", "as": "n"}]}; the resource '
        "sandtable://plan-schema has its JSON Schema."
    )
    question: str = QUESTION


class SqlArguments(_Arguments):
    dataset_id: str = DATASET
    sql: str = Field(
        min_length=1, description="One SELECT in DuckDB's dialect, over the tables of the dataset."
    )
    question: str = QUESTION


class PythonArguments(_Arguments):
    dataset_id: str = DATASET
    code: str = Field(
        min_length=1,
        description="Python with pandas. Each table is a DataFrame of its name; the last expression is the answer. No "
        "files, no network, no variables of earlier calls.",
    )
    question: str = QUESTION


class GetRunArguments(_Arguments):
    run_id: str = RUN
    offset: int = Field(0, ge=0, description="The first row to give, from 0.")
    wait_s: float = Field(0.0, ge=0, le=MOST_WAIT_S, description="Seconds to wait for its end.")


class VerifyArguments(_Arguments):
    run_id: str = RUN


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    gives: type[Shown]
    repeatable: bool = True
    """Whether the same call again gives the same and leaves nothing more behind."""
    has_card: bool = False
    """Whether a host may show what it gives as the answer card."""


SPECS = (
    ToolSpec(
        "list_datasets",
        "List datasets",
        "The datasets that can be asked about, one line each.",
        ListArguments,
        DatasetList,
    ),
    ToolSpec(
        "describe_dataset",
        "Describe a dataset",
        "Tables, columns, relationships and metrics of a dataset, and questions that it answers. Use it before you "
        "write a plan, SQL or Python.",
        DescribeArguments,
        DescribedDataset,
    ),
    ToolSpec(
        "ask",
        "Ask a question",
        "Answer a question about a dataset in plain words. Prefer it to SQL: it says how the question was read, and "
        "asks back instead of guessing. Its numbers come from a run that can be verified; tell the person how the "
        "question was read.",
        AskArguments,
        AskResult,
        repeatable=False,
        has_card=True,
    ),
    ToolSpec(
        "run_plan",
        "Run a query plan",
        "Run a query plan (JSON) over a dataset. It is checked against the schema, and errors say what to change.",
        PlanArguments,
        ShownRun,
        has_card=True,
    ),
    ToolSpec(
        "run_sql",
        "Run SQL",
        "Run one SELECT over a dataset, in a sealed sandbox. What the gate refuses comes with a correction where one "
        "is known.",
        SqlArguments,
        ShownRun,
        has_card=True,
    ),
    ToolSpec(
        "run_python",
        "Run Python",
        "Run Python with pandas over a dataset, in a sealed sandbox without files and network.",
        PythonArguments,
        ShownRun,
        repeatable=False,
        has_card=True,
    ),
    ToolSpec(
        "get_run",
        "Look at a run",
        "A run: its status, and its rows from `offset` on.",
        GetRunArguments,
        ShownRun,
        has_card=True,
    ),
    ToolSpec(
        "verify_run",
        "Verify a run",
        "Derive a run's signed capsule again: signature, data, plan, verdict and result, link by link.",
        VerifyArguments,
        VerifyResult,
    ),
)
PYTHON = "run_python"
BY_NAME = {spec.name: spec for spec in SPECS}


def offered(*, python: bool) -> tuple[ToolSpec, ...]:
    return tuple(spec for spec in SPECS if python or spec.name != PYTHON)
