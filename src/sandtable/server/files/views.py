"""The request and response models of imports, files and readings: the source of their OpenAPI description."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.model import Dataset, Meaning
from sandtable.catalog.own.records import OwnDataset, OwnVersion
from sandtable.catalog.own.uploads import UPLOAD_ID
from sandtable.catalog.profile import Profile
from sandtable.catalog.proposed.meanings import meaning_of
from sandtable.catalog.recipe import Misfit, Recipe, Repair
from sandtable.errors import InvalidInput
from sandtable.imports.fetching import LONGEST_ADDRESS
from sandtable.server.files.form import MOST_FILES

_KINDS = {"uploads": "array", "url": "string", "text": "string"}
_CHOICES: list[Any] = [
    {
        "required": [name],
        "properties": {other: {"type": _KINDS[name] if other == name else "null"} for other in _KINDS},
    }
    for name in _KINDS
]
_MOST_ANSWERS = 1000
_LONGEST_ANSWER = 300


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class ImportBody(_Body):
    """Exactly one of `uploads`, `url` and `text`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": _CHOICES})

    uploads: list[str] | None = Field(
        None,
        min_length=1,
        max_length=MOST_FILES,
        description="Ids of uploads that are complete.",
        json_schema_extra={"items": {"type": "string", "pattern": f"^{UPLOAD_ID}$"}},
    )
    url: str | None = Field(
        None,
        min_length=1,
        max_length=LONGEST_ADDRESS,
        description="Address of a file, `https://…` or `http://…`, that the server fetches.",
    )
    text: str | None = Field(
        None, min_length=1, description="A table as text, as it is pasted from a spreadsheet."
    )
    name: str = Field("pasted", min_length=1, max_length=200, description="What the pasted table is called.")
    dataset_id: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="A dataset that was added before: it gets the tables, or newer ones of the same names.",
    )
    title: str = Field("", max_length=1000)

    def require_one(self) -> None:
        """Raises InvalidInput."""
        given = [name for name in _KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            what = " and ".join(f"`{name}`" for name in given) or "nothing to import"
            raise InvalidInput(
                f"the body has {what}", suggestion="Send exactly one of `uploads`, `url` and `text`."
            )


class AnswersBody(_Body):
    answers: dict[str, str] = Field(
        default_factory=dict,
        max_length=_MOST_ANSWERS,
        description="By the id of a question, such as `orders.ordered`.",
    )
    repairs: list[str] = Field(
        default_factory=list, max_length=_MOST_ANSWERS, description="Ids of the repairs to make."
    )

    def require_some(self) -> None:
        """Raises InvalidInput."""
        if not self.answers and not self.repairs:
            raise InvalidInput("there are no answers and no repairs", suggestion="Send some of them.")
        if any(len(text) > _LONGEST_ANSWER for pair in self.answers.items() for text in pair):
            raise InvalidInput(
                "an answer is too long", suggestion="Send the `answer` of one of the question's choices."
            )


class FileView(_Shown):
    id: str
    name: str
    bytes: int
    sha256: str
    dataset_id: str
    tables: tuple[str, ...]
    added_at: str

    @classmethod
    def all_of(cls, record: OwnDataset) -> Iterator[FileView]:
        current = record.current
        for source in current.sources:
            yield cls(
                id=file_id(record.id, source.table),
                name=source.name,
                bytes=source.bytes,
                sha256=source.sha256,
                dataset_id=record.id,
                tables=tuple(t for t, table in current.table_sources.items() if table == source.table),
                added_at=_first_at(record.versions, source.sha256),
            )


def file_id(dataset_id: str, table: str) -> str:
    """Stays the same when a newer file of the same name replaces it."""
    place = f"{dataset_id}/{table}"
    return f"file_{hashlib.sha256(place.encode()).hexdigest()[:32]}"


def _first_at(versions: Sequence[OwnVersion], sha256: str) -> str:
    return next(v.at for v in versions if any(source.sha256 == sha256 for source in v.sources))


class TableReading(_Shown):
    table: str
    file: str
    recipe: Recipe | None
    """None where the columns of an earlier version of Sandtable were kept as they were."""
    misfits: tuple[Misfit, ...]
    """The first of the cells that do not fit the rest of their column."""
    misfit_counts: dict[str, int]
    notes: tuple[str, ...]
    repairs: tuple[Repair, ...]


class VersionView(_Shown):
    version: str
    at: str
    changes: tuple[str, ...]
    """Against the version before."""


class Reading(_Shown):
    tables: tuple[TableReading, ...]
    versions: tuple[VersionView, ...]
    """Newest first."""

    @classmethod
    def of(cls, record: OwnDataset) -> Reading:
        current = record.current
        tables = tuple(
            TableReading(
                table=table.name,
                file=table.file,
                recipe=table.recipe,
                **dict(current.findings[table.name])
                if table.name in current.findings
                else {"misfits": (), "misfit_counts": {}, "notes": (), "repairs": ()},
            )
            for table in current.dataset.tables
        )
        versions = tuple(
            VersionView(version=each.dataset.version, at=each.at, changes=each.changes.in_words)
            for each in reversed(record.versions)
        )
        return cls(tables=tables, versions=versions)


class ColumnMeaningView(_Shown):
    column: str
    meaning: Meaning
    why: str
    personal: bool


class TableMeanings(_Shown):
    table: str
    columns: tuple[ColumnMeaningView, ...]


class Meanings(_Shown):
    tables: tuple[TableMeanings, ...]

    @classmethod
    def of(cls, dataset: Dataset, profile: Profile) -> Meanings:
        known = {(t.name, c.name): c for t in profile.tables for c in t.columns}
        tables: list[TableMeanings] = []
        for table in dataset.tables:
            found = [(c, meaning_of(c, known.get((table.name, c.name)), table)) for c in table.columns]
            columns = tuple(
                ColumnMeaningView(column=c.name, meaning=m.meaning, why=m.why, personal=m.personal)
                for c, m in found
            )
            tables.append(TableMeanings(table=table.name, columns=columns))
        return cls(tables=tuple(tables))
