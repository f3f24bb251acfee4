"""Tables of text for the tests of stage two: columns in, a decision and typed values out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from sandtable_runner import engine
from sandtable_runner.intake import typing
from sandtable_runner.intake.checking import failed_column
from sandtable_runner.intake.text_table import TextTable

Columns = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Typed:
    decision: typing.Decision
    values: dict[str, list[Any]]
    types: dict[str, str]

    def column(self, name: str) -> dict[str, Any]:
        return next(column for column in self.decision.columns if column["name"] == name)


class Bench:
    """Does what the ingest job does, with a table in memory."""

    def __init__(self) -> None:
        # Not `engine.connect`, which replaces a module of this process.
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("SET TimeZone = 'UTC'")

    def table(self, columns: Columns) -> TextTable:
        declared = ", ".join(
            f"unnest(?::VARCHAR[]) AS c{position}" for position in range(1, len(columns) + 1)
        )
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE cells AS SELECT {declared}",
            [list(cells) for cells in columns.values()],
        )
        return TextTable("", "cells", tuple(columns), {"kind": "csv"}, 1)

    def decide(
        self,
        columns: Columns,
        answers: Mapping[str, str] | None = None,
        repairs: Collection[str] = (),
        given: Sequence[Mapping[str, Any]] | None = None,
    ) -> Typed:
        table = self.table(columns)
        decision = typing.decide(self.connection, table, given, answers or {}, repairs, "orders")
        try:
            return self._typed(table, decision, prove=given is None)
        except engine.ENGINE_ERRORS as error:
            assert failed_column(error), error
            decision = typing.decide(
                self.connection, table, given, answers or {}, repairs, "orders", all_rows=True
            )
            return self._typed(table, decision, prove=False)

    def _typed(self, table: TextTable, decision: typing.Decision, *, prove: bool) -> Typed:
        query = typing.select(table, decision.columns, prove=prove)
        described = self.connection.execute(f"DESCRIBE {query}").fetchall()
        names = [row[0] for row in described]
        # Python gets moments with a zone as text: the driver needs another module for them.
        wanted = [
            f"CAST({engine.quote(name)} AS VARCHAR)" if kind.endswith("ZONE") else engine.quote(name)
            for name, kind, *_ in described
        ]
        found = self.connection.execute(f"SELECT {', '.join(wanted)} FROM ({query})").fetchall()
        values = {name: [row[index] for row in found] for index, name in enumerate(names)}
        return Typed(decision, values, {row[0]: row[1] for row in described})
