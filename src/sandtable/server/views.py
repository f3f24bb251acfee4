"""The request and response models of the REST adapter: the source of its OpenAPI description."""

from __future__ import annotations

import keyword
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from sandtable.capsule.model import Asker, Origin, VerdictRecord
from sandtable.capsule.query import Mode, Query, fields_of, fitted_plan, query_of
from sandtable.capsule.trust import Mark
from sandtable.catalog.model import Column, Dataset, Metric, Relationship, Table
from sandtable.errors import InvalidInput, Problem
from sandtable.plan.reading import bounded
from sandtable.policy.verdict import Approved, Fix, Verdict
from sandtable.runs.described import DescribedArtifact, DescribedColumn, described_artifacts, described_run
from sandtable.runs.model import LONGEST_NAME, LONGEST_QUESTION, MOST_NAMES, Run, RunRequest
from sandtable.sandbox.job import Limits
from sandtable.store.run_store import Status

PLAN_EXAMPLE: dict[str, Any] = {
    "dataset_id": "ecommerce",
    "table": "order_items",
    "select": [{"column": "category"}, {"metric": "return_rate"}],
    "group_by": ["category"],
    "order_by": [{"expr": "return_rate", "dir": "desc"}],
}
SQL_EXAMPLE = "SELECT category, count(*) AS n FROM order_items GROUP BY category ORDER BY n DESC"
PYTHON_EXAMPLE = 'order_items.groupby("category", as_index=False)["quantity"].sum()'


def _bounded_plan(plan: Any) -> Any:
    """Before anything that recurses over it."""
    problem = bounded(plan)
    if problem is not None:
        raise InvalidInput(problem.message, suggestion=problem.suggestion, field="plan")
    return plan


PlanJson = Annotated[
    dict[str, Any] | None,
    BeforeValidator(_bounded_plan),
    Field(description="A query plan; docs/plan.md and GET /plan/schema describe the language."),
]


def _whole(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


Count = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
"""A positive integer as JSON Schema has it: `5.0` is one."""


def _exactly_one(*, of_sql: dict[str, Any], of_python: dict[str, Any]) -> dict[str, Any]:
    """The rule for the OpenAPI document. What else holds for a plan or SQL, and for Python, as JSON Schemas of
    fields."""
    kinds = {"plan": "object", "sql": "string", "python": "string"}
    choices = [
        {
            "required": [name],
            "properties": {
                **{other: {"type": kinds[name] if other == name else "null"} for other in kinds},
                **(of_python if name == "python" else of_sql),
            },
        }
        for name in kinds
    ]
    return {"oneOf": choices}


_PYTHON_NAME: dict[str, Any] = {
    "pattern": r"^[^\W\d_]\w*$",
    "maxLength": LONGEST_NAME,
    "not": {"enum": keyword.kwlist},
}


class CheckBody(BaseModel):
    """Exactly one of `plan`, `sql` and `python`."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        json_schema_extra=_exactly_one(of_sql={"names": {"maxProperties": 0}}, of_python={}),
    )

    dataset_id: str = Field(min_length=1, max_length=128, description="Which dataset it is about.")
    plan: PlanJson = None
    sql: str | None = Field(None, description="One SELECT in DuckDB's dialect.")
    python: str | None = Field(
        None,
        description="Python code, where the server has it switched on. It finds each table as a DataFrame of that "
        "name; its last expression and what it hands to `show` are its answer.",
    )
    names: dict[str, str] = Field(
        default_factory=dict,
        max_length=MOST_NAMES,
        description="Further names under which Python finds tables: from the name to the table.",
        json_schema_extra={"propertyNames": _PYTHON_NAME},
    )

    @property
    def query(self) -> Query:
        """Raises InvalidInput for a body with none or several of the three."""
        return query_of(**self._query_fields(), what="a check")

    def _query_fields(self) -> dict[str, Any]:
        plan = None if self.plan is None else fitted_plan(self.plan, self.dataset_id)
        return {"plan": plan, "sql": self.sql, "python": self.python, "names": self.names}


class RunBody(CheckBody):
    """Exactly one of `plan`, `sql` and `python`."""

    model_config = ConfigDict(
        json_schema_extra=_exactly_one(
            of_sql={"mode": {"enum": ["sql", "dry_run"]}, "names": {"maxProperties": 0}},
            of_python={"mode": {"enum": ["sql", "python"]}},
        )
    )

    question: str = Field(
        "",
        description="What a person asked; kept in the capsule.",
        json_schema_extra={"maxLength": LONGEST_QUESTION},
    )
    mode: Mode = Field(
        "sql", description="`dry_run` binds SQL and explains only; of Python it is always `python`."
    )
    max_rows: Count | None = Field(None, description="Fewer rows than the server allows.")
    timeout_ms: Count | None = Field(None, description="Less time than the server allows.")
    cache: bool = Field(True, description="Whether an earlier, identical run may answer.")
    chart: bool = Field(
        False, description="Whether a Plotly figure is to be made of the result, where one fits."
    )

    @property
    def query(self) -> Query:
        """Raises InvalidInput for a body with none or several of the three, and for a mode that is not for it."""
        return query_of(**self._query_fields(), mode=self.mode)

    def request(self, user: str) -> RunRequest:
        """Raises InvalidInput."""
        return RunRequest(
            dataset_id=self.dataset_id,
            query=self.query,
            question=self.question,
            user=user,
            max_rows=self.max_rows,
            timeout_ms=self.timeout_ms,
            cache=self.cache,
            chart=self.chart,
        )


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class Sample(_Shown):
    """The first rows of a table, from a run like any other; or why there are none."""

    run_id: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    error: Problem | None = None


class TableSchema(_Shown):
    name: str
    description: str
    file: str
    rows: int | None
    time_column: str | None
    columns: tuple[Column, ...]
    sample: Sample

    @classmethod
    def of(cls, table: Table, sample: Sample) -> TableSchema:
        return cls(
            name=table.name,
            description=table.description,
            file=table.file,
            rows=table.rows,
            time_column=table.time_column,
            columns=table.columns,
            sample=sample,
        )


class DatasetSchema(_Shown):
    dataset_id: str
    version: str
    catalog_version: str
    as_of: str | None
    tables: tuple[TableSchema, ...]
    relationships: tuple[Relationship, ...]
    metrics: tuple[Metric, ...]


_OF_QUERY = frozenset({"mode", "plan", "python", "names"})
"""Fields of a run's view that are its query's; `sql` is also the run's own, compiled from a plan."""


class RunView(_Shown):
    """A run, as far as it has come."""

    run_id: str
    status: Status
    dataset_id: str
    dataset_version: str
    catalog_version: str
    """Of what the catalog said about the dataset; empty for a run from before catalogs had versions."""
    mode: Mode
    question: str
    plan: dict[str, Any] | None
    sql: str | None
    """As submitted, or compiled from the plan."""
    executed_sql: str | None
    """The gate's canonical text: what ran."""
    python: str | None
    """The code as submitted, which is what ran."""
    names: dict[str, str]
    """Further names that the code had for tables."""
    verdict: VerdictRecord | None
    """`unchecked` for code that a person ran on their own machine without a check."""
    warnings: tuple[str, ...]
    columns: tuple[DescribedColumn, ...]
    rows: tuple[tuple[Any, ...], ...] | None
    row_count: int | None
    truncated: bool
    exec_time_ms: float | None
    output: dict[str, Any]
    """What a dry run explains."""
    artifacts: tuple[DescribedArtifact, ...]
    """What the code showed, in order; `[[id]]` in `stdout` marks its place. Untrusted output: a client must draw it as
    such. Not in lists."""
    chart: dict[str, Any] | None
    """The Plotly figure made of the result, as it is in the capsule, or the last one that code showed; not in lists."""
    asked_by: Asker
    origin: Origin | None
    """Who proposed the plan or SQL, when a conversation did."""
    stdout: str
    stderr: str
    error: Problem | None
    fixes: tuple[Fix, ...] = ()
    """For a run that was rejected or whose names could not be bound: corrections that the gate approves; not in
    lists."""
    trust: tuple[Mark, ...] = ()
    """For a run that a question led to, how the question became what ran; derived, never claimed. Not in lists."""
    cached_from: str | None = Field(description="The earlier run that answered; `hidden` for another user's.")
    replayed: int
    """How many earlier cells of its session were run again first, because the session had ended."""
    limits: Limits
    created_at: str
    started_at: str | None
    finished_at: str | None
    stats: dict[str, float]

    @classmethod
    def of(
        cls,
        run: Run,
        fixes: tuple[Fix, ...] = (),
        trust: tuple[Mark, ...] = (),
        dataset: Dataset | None = None,
    ) -> RunView:
        """`dataset` is the version that was queried; without it, units are those that the plan itself gives."""
        request = run.request
        asked = {name: value for name, value in fields_of(request.query).items() if name in _OF_QUERY}
        same = {name: getattr(run, name) for name in cls.model_fields if name in Run.model_fields}
        same |= {"columns": described_run(run, dataset), "artifacts": described_artifacts(run.artifacts)}
        return cls(
            run_id=run.id,
            dataset_id=request.dataset_id,
            question=request.question,
            asked_by=Asker.of(request.user),
            origin=request.origin,
            fixes=fixes,
            trust=trust,
            **asked,
            **same,
        )


class RunPage(_Shown):
    runs: tuple[RunView, ...]
    """Newest first, without rows."""
    next: str | None
    """Give it as `before` to get the next page; nothing on the last page."""


# Not a BaseModel, which has an attribute `construct` of its own.
@dataclass(frozen=True, slots=True)
class VerdictView:
    verdict: Literal["approved", "refused"]
    sql: str | None = None
    """What would run: the gate's canonical text."""
    python: str | None = None
    """The code that would run."""
    tables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    code: str | None = None
    construct: str | None = None
    position: int | None = None
    length: int | None = None
    message: str | None = None
    suggestion: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    fixes: tuple[Fix, ...] = ()
    """Corrections that the gate approves, the likeliest first."""

    @classmethod
    def of(cls, verdict: Verdict, *, of_code: bool = False) -> VerdictView:
        if isinstance(verdict, Approved):
            return cls(
                verdict="approved",
                sql=None if of_code else verdict.sql,
                python=verdict.sql if of_code else None,
                tables=verdict.tables,
                functions=verdict.functions,
                warnings=verdict.warnings,
                volatile=verdict.volatile,
            )
        return cls(
            verdict="refused",
            code=verdict.code,
            construct=verdict.construct,
            position=verdict.position,
            length=verdict.length,
            message=verdict.message,
            suggestion=verdict.suggestion,
            details=dict(verdict.details),
            fixes=verdict.fixes,
        )


class PublicKey(_Shown):
    keyid: str
    algorithm: Literal["Ed25519"] = "Ed25519"
    pem: str


class Keys(_Shown):
    keys: tuple[PublicKey, ...]


class Check(_Shown):
    name: str
    ok: bool
    detail: str = ""


class Readiness(_Shown):
    ready: bool
    checks: tuple[Check, ...]
