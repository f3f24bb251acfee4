"""The columns of a result as interfaces get them: with the logical kind of each, and its unit where one is known.

Invariant: derived when a view or an event is made, never stored with a run and never signed. `kind` follows from the
type of the column, `unit` from the one description of result columns (`plan.result_columns`), so no interface needs to
know type names or to guess units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import Discriminator, Tag, model_validator

from sandtable.capsule.query import plan_of
from sandtable.catalog.model import ColumnType, Dataset
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.result_columns import describe_result
from sandtable.plan.units import FRACTION
from sandtable.runs.model import Run
from sandtable.sandbox.artifact import (
    Artifact,
    HtmlArtifact,
    MarkdownArtifact,
    MermaidArtifact,
    PlotlyArtifact,
    SvgArtifact,
    TableArtifact,
    VegaArtifact,
    form_of,
)
from sandtable.sandbox.job import ResultColumn


class DescribedColumn(ResultColumn):
    """A column of a result. `kind` is its logical type. `unit` is empty where none is known, as for every column of SQL
    and of Python; `fraction` is shown in percent (0.25 is 25 %), and `%` is a number already in percent."""

    kind: ColumnType
    unit: str = ""

    @model_validator(mode="before")
    @classmethod
    def _with_kind(cls, given: Any) -> Any:
        """Events of earlier versions have no kind: it follows from the type."""
        if isinstance(given, dict) and isinstance(given.get("type"), str) and "kind" not in given:
            return {**given, "kind": column_type(given["type"])}
        return given

    @property
    def is_fraction(self) -> bool:
        return self.unit == FRACTION


class DescribedTable(TableArtifact, frozen=True):
    columns: tuple[DescribedColumn, ...]


DescribedArtifact = Annotated[
    Annotated[DescribedTable, Tag("table")]
    | Annotated[PlotlyArtifact, Tag("plotly")]
    | Annotated[VegaArtifact, Tag("vega-lite")]
    | Annotated[SvgArtifact, Tag("svg")]
    | Annotated[HtmlArtifact, Tag("html")]
    | Annotated[MermaidArtifact, Tag("mermaid")]
    | Annotated[MarkdownArtifact, Tag("markdown")],
    Discriminator(form_of),
]


def described_run(run: Run, dataset: Dataset | None = None) -> tuple[DescribedColumn, ...]:
    """Without the `dataset`, units are those that the plan itself gives."""
    return described(run.columns, plan_of(run.request.query), dataset)


def described(
    columns: Sequence[ResultColumn], plan: dict[str, Any] | None = None, dataset: Dataset | None = None
) -> tuple[DescribedColumn, ...]:
    meanings = describe_result(plan, [column.name for column in columns], dataset)
    return tuple(
        DescribedColumn(name=column.name, type=column.type, kind=column_type(column.type), unit=meaning.unit)
        for column, meaning in zip(columns, meanings, strict=True)
    )


def described_artifacts(artifacts: Iterable[Artifact]) -> tuple[DescribedArtifact, ...]:
    return tuple(map(_described_artifact, artifacts))


def _described_artifact(artifact: Artifact) -> DescribedArtifact:
    if not isinstance(artifact, TableArtifact):
        return artifact
    fields = {name: getattr(artifact, name) for name in TableArtifact.model_fields}
    return DescribedTable(**{**fields, "columns": described(artifact.columns)})
