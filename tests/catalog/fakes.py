"""A converter that parses nothing: it reads the header line and calls every column text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sandtable.catalog.convert import (
    CompareRequest,
    Comparison,
    ConvertedColumn,
    ConvertRequest,
    ConvertResult,
)
from sandtable.catalog.store import DataStore
from sandtable.engines.duckdb.types import column_type


@dataclass
class FakeConvert:
    store: DataStore
    types: dict[str, str] = field(default_factory=dict)
    latest: dict[str, str] = field(default_factory=dict)
    before: Callable[[ConvertRequest], None] | None = None
    compared: Callable[[CompareRequest], Comparison] | None = None
    requests: list[ConvertRequest] = field(default_factory=list)
    comparisons: list[CompareRequest] = field(default_factory=list)

    async def __call__(self, request: ConvertRequest, /) -> ConvertResult:
        self.requests.append(request)
        if self.before is not None:
            self.before(request)
        lines = (self.store.root / request.source).read_text("utf-8").splitlines()
        declared = request.columns or [
            (name, self.types.get(name, "VARCHAR")) for name in lines[0].split(",")
        ]
        output = f"{request.table}.out"
        (self.store.root / request.staging / output).write_text(f"converted {request.table}", "utf-8")
        columns = tuple(ConvertedColumn(name, sql_type, column_type(sql_type)) for name, sql_type in declared)
        return ConvertResult(columns=columns, rows=len(lines) - 1, output=output, latest=self.latest)

    async def compare(self, request: CompareRequest, /) -> Comparison:
        """Nothing matches anything, unless the test says so."""
        self.comparisons.append(request)
        if self.compared is not None:
            return self.compared(request)
        return Comparison((None,) * len(request.ones), ((0, None),) * len(request.pairs))
