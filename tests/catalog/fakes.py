"""A converter that reads no types: the header line and the rows of a small text, as the tests say.

A workbook is a text whose tables begin with a line `## name`. A cell `?` fits no type but text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sandtable.catalog.convert import (
    CompareRequest,
    Comparison,
    ConvertedColumn,
    ConvertedTable,
    ConvertRequest,
    ConvertResult,
)
from sandtable.catalog.recipe import (
    ColumnReading,
    FileQuestion,
    Misfit,
    ReadAs,
    Recipe,
    Repair,
    TextReading,
)
from sandtable.catalog.stored.store import DataStore
from sandtable.engines.duckdb.types import column_type

_READ_AS: dict[str, ReadAs] = {"DATE": "date", "BIGINT": "integer", "DOUBLE": "decimal"}
_SQL_TYPES: dict[str, str] = {"text": "VARCHAR", "date": "DATE", "integer": "BIGINT", "decimal": "DOUBLE"}


@dataclass
class FakeConvert:
    store: DataStore
    types: dict[str, str] = field(default_factory=dict)
    latest: dict[str, str] = field(default_factory=dict)
    before: Callable[[ConvertRequest], None] | None = None
    compared: Callable[[CompareRequest], Comparison] | None = None
    units: dict[str, str] = field(default_factory=dict)
    questions: tuple[FileQuestion, ...] = ()
    """Open until their id is answered, in a file that has the table and the column."""
    requests: list[ConvertRequest] = field(default_factory=list)
    comparisons: list[CompareRequest] = field(default_factory=list)

    async def __call__(self, request: ConvertRequest, /) -> ConvertResult:
        self.requests.append(request)
        if self.before is not None:
            self.before(request)
        tables = tuple(self._table(request, *each) for each in self._texts(request))
        places = {f"{table.table}.{column.name}" for table in tables for column in table.columns}
        asked = () if request.recipes is not None or request.columns is not None else self.questions
        questions = tuple(q for q in asked if q.id in places and q.id not in request.answers)
        if questions:
            tables = tuple(
                ConvertedTable(table.table, table.columns, table.rows, None, recipe=table.recipe)
                for table in tables
            )
        return ConvertResult(tables, questions)

    def _texts(self, request: ConvertRequest) -> Iterator[tuple[str, list[str]]]:
        text = (self.store.root / request.source).read_text("utf-8")
        if request.format != "xlsx":
            yield request.table, text.splitlines()
            return
        for part in text.split("## ")[1:]:
            name, *lines = part.splitlines()
            yield f"{request.table}_{name}", lines

    def _table(self, request: ConvertRequest, name: str, lines: list[str]) -> ConvertedTable:
        given = (request.recipes or {}).get(name)
        header = lines[0].split(",")
        if request.columns:
            declared = list(request.columns)
        elif given is not None:
            read = {column.header: column for column in given.columns}
            declared = [(c, _SQL_TYPES[read[c].read_as] if c in read else "VARCHAR") for c in header]
        else:
            declared = [(c, self._chosen(request, name, c)) for c in header]
        output = f"{name}.out"
        (self.store.root / request.staging / output).write_text(f"converted {name}", "utf-8")
        recipe = given or self._recipe(request, declared)
        misfits = tuple(
            Misfit(column=column, row=number, value=value)
            for number, line in enumerate(lines[1:], 1)
            for (column, sql_type), value in zip(declared, line.split(","), strict=False)
            if value == "?" and given is not None and sql_type != "VARCHAR"
        )
        refused = any(m.column == c.name and c.misfits == "refuse" for m in misfits for c in recipe.columns)
        return ConvertedTable(
            table=name,
            columns=tuple(ConvertedColumn(column, each, column_type(each)) for column, each in declared),
            rows=len(lines) - 1,
            output=None if refused else output,
            latest=self.latest,
            recipe=None if request.columns else recipe,
            misfits=misfits,
            misfit_counts={misfit.column: 1 for misfit in misfits},
            repairs=tuple(
                Repair(id=f"misfits-empty:{misfit.column}", label="Leave it empty") for misfit in misfits
            ),
        )

    def _chosen(self, request: ConvertRequest, table: str, column: str) -> str:
        answer = request.answers.get(f"{table}.{column}", "")
        return _SQL_TYPES.get(answer) or self.types.get(column, "VARCHAR")

    def _recipe(self, request: ConvertRequest, declared: list[tuple[str, str]]) -> Recipe:
        columns = tuple(
            ColumnReading(
                header=column,
                name=column or "?",
                read_as=_READ_AS.get(sql_type, "text"),
                unit=self.units.get(column, ""),
                reason="all rows",
            )
            for column, sql_type in declared
        )
        return Recipe(text=TextReading(kind=request.format or "csv"), columns=columns)

    async def compare(self, request: CompareRequest, /) -> Comparison:
        """Nothing matches anything, unless the test says so."""
        self.comparisons.append(request)
        if self.compared is not None:
            return self.compared(request)
        return Comparison((None,) * len(request.ones), ((0, None),) * len(request.pairs))
