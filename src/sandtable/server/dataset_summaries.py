"""Datasets as lists show them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.model import Dataset
from sandtable.catalog.own.records import OwnDataset


class TableSummary(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    rows: int | None
    columns: int


class DatasetSummary(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    description: str
    version: str
    as_of: str | None
    prompts: tuple[str, ...]
    tables: tuple[TableSummary, ...]
    own: bool = Field(False, description="Whether people added it here.")
    owner: str = Field("", description="Of one that was added; empty for everyone here.")
    copied: bool = Field(
        False, description="Whether it is copied from a database; such a one takes no files."
    )
    live: bool = Field(False, description="Whether its rows stay in a database: they are not pinned.")

    @classmethod
    def of(cls, dataset: Dataset, record: OwnDataset | None) -> DatasetSummary:
        """`record`: of one that people added."""
        tables = tuple(
            TableSummary(name=t.name, description=t.description, rows=t.rows, columns=len(t.columns))
            for t in dataset.tables
        )
        return cls(
            id=dataset.id,
            title=dataset.title,
            description=dataset.description,
            version=dataset.version,
            as_of=dataset.as_of,
            prompts=dataset.prompts,
            tables=tables,
            own=record is not None,
            owner=record.owner if record else "",
            copied=record is not None and any(source.copied for source in record.current.sources),
            live=dataset.live is not None,
        )
