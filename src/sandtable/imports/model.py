"""An import: one arrival of files, or of tables of a connected database, that becomes a dataset, tables of one, or a
new version of one."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.recipe import FileQuestion, Repair
from sandtable.errors import Problem

IMPORT_ID = "imp_[0-9a-f]{32}"
ImportState = Literal["reading", "asks", "ready", "failed", "cancelled"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ImportedFile(_Frozen):
    name: str
    bytes: int


class ImportProgress(_Frozen):
    done: int
    total: int
    """0 where it is not known."""
    what: Literal["waiting", "fetching", "copying", "reading", "converting"]


class TableMisfit(_Frozen):
    """A cell that does not fit the type of the rest of its column."""

    table: str
    column: str
    row: int
    value: str


class Import(_Frozen):
    id: str = Field(pattern=f"^{IMPORT_ID}$")
    state: ImportState = "reading"
    """`asks`: questions are open, or the files were refused and repairs are offered; `problem` says why. `failed`: only
    other files can help."""
    files: tuple[ImportedFile, ...] = ()
    """Of a database, its tables; their bytes are known when they were copied."""
    source: str | None = None
    """The connected database whose tables are copied."""
    progress: ImportProgress | None = None
    questions: tuple[FileQuestion, ...] = ()
    repairs: tuple[Repair, ...] = ()
    misfits: tuple[TableMisfit, ...] = ()
    notes: tuple[str, ...] = ()
    problem: Problem | None = None
    dataset_id: str | None = None
    version: str | None = None
    changes: tuple[str, ...] = ()
    """Of a new version, against the one before."""
    created_at: str

    @property
    def ended(self) -> bool:
        return self.state in ("ready", "failed", "cancelled")


class ImportOrder(_Frozen):
    """What is to be imported: uploads, the file at an address, tables of a connected database, or the kept files of a
    dataset again."""

    uploads: tuple[str, ...] = ()
    url: str = ""
    dataset_id: str | None = None
    """The dataset that gets the tables, or whose kept files are read again."""
    source: str = ""
    """The connected database, and the id of the dataset that its tables become."""
    tables: tuple[str, ...] = ()
    """Of the database; those that the dataset has when empty."""
    title: str = ""
    user: str
    owner: str = ""
    """Whose the dataset becomes; empty for everyone here."""

    @property
    def again(self) -> bool:
        return not self.uploads and not self.url and not self.source


class ImportRecord(_Frozen):
    """An import on disk."""

    shown: Import
    order: ImportOrder
    answers: dict[str, str] = Field(default_factory=dict)
    agreed: tuple[str, ...] = ()
    """Repairs that a person agreed to."""
    changed_at: float
    owner: str = ""
    """The server that reads it, or read it last. Empty in records of earlier versions."""
