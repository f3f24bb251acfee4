"""The answer of an ingest job, read strictly: it comes from a program that has read an untrusted file.

Invariant: what passes has bounded counts and lengths. Names of tables are file names, too; the columns of a recipe are
those of its table; and while a question is open there is no output.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field, TypeAdapter, model_validator

from sandtable.catalog.convert import ConvertedColumn, ConvertedTable, ConvertResult, Reference
from sandtable.catalog.reading.filenames import table_name
from sandtable.catalog.recipe import FileChoice, FileQuestion, Misfit, Recipe, Repair
from sandtable.engines.duckdb.types import column_type

_MOST_COLUMNS = 100_000
_MOST_TABLES = 1000
_MOST_QUESTIONS = 1000
_MOST_CHOICES = 30
_MOST_MISFITS = 100
_MOST_NOTES = 200
_MOST_IN_KEY = 100
_MOST_WORDS = 200
"""Of a list of words that are empty, true or false."""
_LONGEST_NAME = 1000
_LONGEST_CELL = 200
_LONGEST_TEXT = 4000

_Name = Annotated[str, Field(max_length=_LONGEST_NAME)]
_Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
_Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class _Column(_Strict):
    name: str
    sql_type: str
    nullable: bool


class _Repair(_Strict):
    id: _Name
    label: _Text


class _Misfit(_Strict):
    column: _Name
    row: int = Field(ge=1)
    value: str = Field(max_length=_LONGEST_CELL)


class _Reference(_Strict):
    column: _Name
    table: _Name
    referred: _Name


class _Choice(_Strict):
    label: _Text
    answer: _Name


class _Question(_Strict):
    id: _Name
    text: _Text
    choices: list[_Choice] = Field(min_length=2, max_length=_MOST_CHOICES)


_Repairs = Annotated[list[_Repair], FailFast(), Field(max_length=_MOST_NOTES)]


class _Table(_Strict):
    table: _Name
    output: _Name | None
    rows: _Count
    columns: Annotated[list[_Column], FailFast()] = Field(max_length=_MOST_COLUMNS)
    latest: dict[str, str] = Field(max_length=_MOST_COLUMNS)
    recipe: Annotated[Recipe, Field(strict=False)] | None
    misfits: Annotated[list[_Misfit], FailFast()] = Field(max_length=_MOST_MISFITS)
    misfit_counts: dict[_Name, _Count] = Field(max_length=_MOST_COLUMNS)
    notes: Annotated[list[_Text], FailFast()] = Field(max_length=_MOST_NOTES)
    repairs: _Repairs
    key: Annotated[list[_Name], Field(max_length=_MOST_IN_KEY)] = []
    references: Annotated[list[_Reference], FailFast(), Field(max_length=_MOST_COLUMNS)] = []

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if table_name(self.table) != self.table:
            raise ValueError("the name of a table is none")
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError("two columns have one name")
        if not {*self.key, *(each.column for each in self.references)} <= set(names):
            raise ValueError("a key has a column that the table lacks")
        if self.recipe is not None:
            _require_bounded(self.recipe, names)
        return self


class Answered(_Strict):
    tables: Annotated[list[_Table], FailFast()] = Field(min_length=1, max_length=_MOST_TABLES)
    questions: Annotated[list[_Question], FailFast()] = Field(max_length=_MOST_QUESTIONS)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.questions and any(table.output is not None for table in self.tables):
            raise ValueError("a table was written while a question is open")
        return self


_REFUSAL = TypeAdapter(_Repairs)


def repairs_in(output: dict[str, Any]) -> tuple[Repair, ...]:
    """Of a file that was refused. Raises ValidationError."""
    return _repairs(_REFUSAL.validate_python(output.get("repairs", [])))


def _require_bounded(recipe: Recipe, names: list[str]) -> None:
    text, columns = recipe.text, recipe.columns
    if columns and [column.name for column in columns] != names:
        raise ValueError("a recipe has other columns than its table")
    if max(len(text.repairs), *(len(c.empty) + len(c.true) + len(c.false) for c in columns), 0) > _MOST_WORDS:
        raise ValueError("a recipe has too many words")
    texts = [text.member, text.sheet, text.encoding, text.delimiter, *text.repairs]
    for column in columns:
        texts += (column.header, column.format, column.unit, column.reason)
        texts += (*column.empty, *column.true, *column.false)
    if max(map(len, texts)) > _LONGEST_NAME:
        raise ValueError("a text of a recipe is too long")


def _repairs(found: list[_Repair]) -> tuple[Repair, ...]:
    return tuple(Repair(id=repair.id, label=repair.label) for repair in found)


def result_of(answered: Answered, *, declared: bool) -> ConvertResult:
    """`declared`: a registry names the columns, so a recipe says nothing."""
    tables = tuple(_table(table, declared) for table in answered.tables)
    questions = tuple(
        FileQuestion(
            id=question.id,
            text=question.text,
            choices=tuple(FileChoice(label=c.label, answer=c.answer) for c in question.choices),
        )
        for question in answered.questions
    )
    return ConvertResult(tables, questions)


def _table(found: _Table, declared: bool) -> ConvertedTable:
    return ConvertedTable(
        table=found.table,
        columns=tuple(
            ConvertedColumn(c.name, c.sql_type, column_type(c.sql_type), c.nullable) for c in found.columns
        ),
        rows=found.rows,
        output=found.output,
        latest=found.latest,
        recipe=None if declared else found.recipe,
        misfits=tuple(Misfit(column=m.column, row=m.row, value=m.value) for m in found.misfits),
        misfit_counts=found.misfit_counts,
        notes=tuple(found.notes),
        repairs=_repairs(found.repairs),
        key=tuple(found.key),
        references=tuple(Reference(each.column, each.table, each.referred) for each in found.references),
    )
