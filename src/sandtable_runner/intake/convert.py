"""The ingest job: a source file becomes the Parquet files of its tables, or questions.

Runs inside a sandbox only. The file's folder is the current one and read-only; what is written goes to `job["out"]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake import declared, evidence
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.checking import failed_column, in_sql
from sandtable_runner.intake.opening import open_tables
from sandtable_runner.intake.reading import Reading
from sandtable_runner.intake.scanning import Unproven
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.typing import Decision, decide, select
from sandtable_runner.intake.wide import (
    MOST_AT_ONCE,
    common_only,
    planned_for,
    refuse_for_memory,
    rows_in_group,
)
from sandtable_runner.type_names import is_moment

_DATABASES = ("postgresql", "mysql")
_MOST_SAID = 200
"""Notes and repairs of a table."""


@dataclass(slots=True)
class _Made:
    """A table of the file, and what is known of it so far."""

    name: str
    text: TextTable
    decision: Decision
    described: dict[str, Any] | None = None


def convert(connection: engine.Connection, job: dict[str, Any]) -> dict[str, Any]:
    """The tables of the file, written where no question is open."""
    options = job["options"]
    connection.execute(f"SET memory_limit = '{max(64, job['limits']['memory_mb'] * 7 // 10)}MiB'")
    connection.execute(f"SET threads = {job['threads']}")
    try:
        if options["columns"] and options["format"] != "parquet":
            return {"tables": [_convert_declared(connection, job)], "questions": []}
        return _Conversion(connection, job).run()
    except BadFile as error:
        source = Path(options["source"]).name
        if source not in error.message:
            error.message = f"{source}: {error.message}"
        raise


def _convert_declared(connection: engine.Connection, job: dict[str, Any]) -> dict[str, Any]:
    options = job["options"]
    source, table = Path(options["source"]).name, options["table"]
    target = f"{job['out']}/{table}.parquet"
    exact = options["format"] in _DATABASES
    declared.convert_csv(connection, source, target, options["columns"], exact=exact)
    return _answer(table, describe(connection, target), None)


class _Conversion:
    """Of one file whose columns are decided by a recipe or by evidence."""

    def __init__(self, connection: engine.Connection, job: dict[str, Any]) -> None:
        self._connection = connection
        self._out = Path(job["out"])
        self._options = job["options"]
        self._width = 0
        """Of the widest table."""
        self._memory_mb = job["limits"]["memory_mb"]
        self._repairs = frozenset(self._options["repairs"])
        self._recipes: list[dict[str, Any]] | None = self._options["recipes"]

    def run(self) -> dict[str, Any]:
        try:
            return self._run_until_it_holds()
        except engine.ENGINE_ERRORS as error:
            if engine.is_exhaustion(error) and self._width > MOST_AT_ONCE:
                name = Path(self._options["source"]).name
                raise refuse_for_memory(name, self._width, self._memory_mb) from error
            raise

    def _run_until_it_holds(self) -> dict[str, Any]:
        """First without reading CSV files to their end before they are used: most are as they seem. If one is not, or
        if anything else fails, again with proof, which names the first thing that is wrong."""
        unproven = Unproven()
        try:
            answer = self._run(unproven)
            if unproven.holds():
                return answer
        except (BadFile, UnicodeDecodeError, engine.ENGINE_ERRORS) as error:
            exhausted = isinstance(error, engine.ENGINE_ERRORS) and engine.is_exhaustion(error)
            if not unproven or exhausted:
                raise
        finally:
            unproven.stop()
        return self._run(None)

    def _run(self, unproven: Unproven | None) -> dict[str, Any]:
        options = self._options
        texts = None if self._recipes is None else [entry["recipe"]["text"] for entry in self._recipes]
        tables = open_tables(
            self._connection,
            Path(options["source"]),
            options["format"],
            self._out,
            texts,
            self._repairs,
            file_mb=options["file_mb"],
            unproven=unproven,
        )
        self._width = max((len(table.headers) for table in tables), default=0)
        names = self._names(tables)
        made = [_Made(name, text, self._decide(name, text)) for name, text in zip(names, tables, strict=True)]
        for table in made:
            if not any(entry.decision.questions for entry in made):
                self._write(table)
        questions = [question for table in made for question in table.decision.questions]
        if questions:
            for table in made:
                self._target(table).unlink(missing_ok=True)
            if unproven is not None:
                unproven.read(self._connection)
        return {
            "tables": [
                {**self._answer(table, asked=bool(questions)), **_keys(table, made)} for table in made
            ],
            "questions": questions,
        }

    def _names(self, tables: Sequence[TextTable]) -> list[str]:
        base = self._options["table"]
        if self._recipes is not None:
            if len(self._recipes) != len(tables):
                raise BadFile(
                    f"the file has {len(tables)} tables, its recipes are for {len(self._recipes)}",
                    "Give a recipe for each table, or none",
                )
            return [entry["table"] for entry in self._recipes]
        if len(tables) == 1 and not tables[0].alone:
            return [base]
        names: list[str] = []
        for position, table in enumerate(tables, 1):
            own = re.sub(r"\W+", "_", table.name).strip("_")
            wanted = own if table.alone and own else f"{base}_{own or position}"
            wanted = (f"t_{wanted}" if wanted[0].isdigit() else wanted)[:60].rstrip("_")
            taken = {other.lower() for other in names}
            numbered = (f"{wanted[:55]}_{number}" for number in count(position))
            names.append(next(name for name in chain([wanted], numbered) if name.lower() not in taken))
        return names

    def _decide(self, name: str, text: TextTable, *, all_rows: bool = False) -> Decision:
        if text.reading.get("kind") == "parquet":
            return Decision([])
        return decide(
            self._connection,
            text,
            self._given(name),
            self._options["answers"],
            self._repairs,
            name,
            all_rows=all_rows,
        )

    def _given(self, name: str) -> Sequence[Mapping[str, Any]] | None:
        if self._recipes is None:
            return None
        return next(entry["recipe"]["columns"] for entry in self._recipes if entry["table"] == name)

    def _target(self, table: _Made) -> Path:
        return self._out / f"{table.name}.parquet"

    def _write(self, table: _Made) -> None:
        """One pass that checks every cell. If a sample misled, the evidence of all rows decides."""
        try:
            self._copy(table, prove=self._recipes is None)
        except engine.ENGINE_ERRORS as error:
            if (damaged := self._damaged(table, error)) is not None:
                raise damaged from error
            if failed_column(error) is None:
                raise
            table.decision = self._decide(table.name, table.text, all_rows=True)
            if table.decision.questions:
                return
            self._copy(table, prove=False)
        table.described = describe(self._connection, str(self._target(table)))

    def _damaged(self, table: _Made, error: engine.ENGINE_ERRORS) -> BadFile | None:
        """A Parquet file is read for the first time when its table is written."""
        if table.decision.columns or engine.is_exhaustion(error):
            return None
        name = table.text.name or Path(self._options["source"]).name
        reason = str(error).splitlines()[0]
        return BadFile(
            f"{name} cannot be read as Parquet: {reason}", "Export it again; the file seems damaged"
        )

    def _copy(self, table: _Made, *, prove: bool) -> None:
        columns = table.decision.columns
        target = engine.literal(str(self._target(table)))
        with planned_for(self._connection, len(columns)):
            checked_before = common_only(self._connection, table.text, columns)
            query = select(table.text, columns, prove=prove, common_only=checked_before)
            if not columns:
                query = f"SELECT * FROM {table.text.relation}"
            group = rows_in_group(len(columns))
            self._connection.execute(f"COPY ({query}) TO {target} (FORMAT parquet, ROW_GROUP_SIZE {group})")

    def _answer(self, table: _Made, *, asked: bool) -> dict[str, Any]:
        decision = table.decision
        notes = [*table.text.notes, *decision.notes]
        described = None if asked else table.described
        if described is not None:
            _give_reasons(decision.columns, described)
            notes += self._empty_words(table)
        answer = _answer(
            table.name,
            described or _undescribed(decision.columns),
            {"format": 1, "text": table.text.reading, "columns": decision.columns},
            written=described is not None,
        )
        return {
            **answer,
            "misfits": decision.misfits,
            "misfit_counts": decision.misfit_counts,
            "notes": notes[:_MOST_SAID],
            "repairs": [*table.text.repairs, *decision.repairs][:_MOST_SAID],
        }

    def _empty_words(self, table: _Made) -> list[str]:
        """Which words were taken for empty cells, and how often."""
        columns = [
            (position, column)
            for position, column in enumerate(table.decision.columns, 1)
            if any(column["empty"])
        ]
        counted = evidence.count_words(self._connection, table.text, columns)
        return [
            f"Cells of column {name} are empty where they say {_listed(counts)}."
            for name, counts in counted.items()
            if counts
        ]


def _keys(table: _Made, made: Sequence[_Made]) -> dict[str, Any]:
    """What the file declares, with the names that its tables and columns have now."""
    declared = table.text.keys
    names = _names_in(table)
    primary = [names.get(column.lower(), "") for column in declared.primary]
    references: list[dict[str, str]] = []
    for column, other, referred in declared.references:
        for one in made:
            same_file = one.text.reading["member"] == table.text.reading["member"]
            if same_file and one.text.reading["sheet"].lower() == other.lower():
                found = (names.get(column.lower()), _names_in(one).get(referred.lower()))
                if found[0] and found[1]:
                    references.append({"column": found[0], "table": one.name, "referred": found[1]})
    return {"key": primary if all(primary) else [], "references": references}


def _names_in(table: _Made) -> dict[str, str]:
    """Of the columns, by what they are called in the file, in lower case."""
    return {column["header"].lower(): column["name"] for column in table.decision.columns}


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{word} ({rows:,})" for word, rows in counts.items())


def _give_reasons(columns: list[dict[str, Any]], described: Mapping[str, Any]) -> None:
    present = described["present"]
    for column in columns:
        if column["read_as"] != "text" and not column["reason"]:
            rows = present[column["name"]]
            column["reason"] = "its only row" if rows == 1 else f"all {rows:,} rows"


def _answer(
    table: str, described: Mapping[str, Any], recipe: dict[str, Any] | None, *, written: bool = True
) -> dict[str, Any]:
    return {
        "table": table,
        "output": f"{table}.parquet" if written else None,
        "rows": described["rows"],
        "columns": described["columns"],
        "latest": described["latest"],
        "recipe": recipe,
        "misfits": [],
        "misfit_counts": {},
        "notes": [],
        "repairs": [],
    }


def _undescribed(columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    listed = [
        {"name": column["name"], "sql_type": in_sql(Reading.of(dict(column)), "x").sql_type, "nullable": True}
        for column in columns
    ]
    return {"rows": 0, "columns": listed, "latest": {}}


def describe(connection: engine.Connection, target: str) -> dict[str, Any]:
    """Columns, row count, values in each column, and the latest of each date or timestamp column, in one pass."""
    path = engine.literal(target)
    described = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({path})").fetchall()
    moments = [row[0] for row in described if is_moment(row[1])]
    wanted = [f"count({engine.quote(row[0])})" for row in described]
    wanted += [f"max({engine.quote(name)})::VARCHAR" for name in moments]
    found = connection.execute(
        f"SELECT count(*), {', '.join(wanted)} FROM read_parquet({path})"
    ).fetchone() or (0,)
    rows, present, latest = found[0], found[1 : 1 + len(described)], found[1 + len(described) :]
    columns = [
        {"name": row[0], "sql_type": row[1], "nullable": count < rows}
        for row, count in zip(described, present, strict=True)
    ]
    dated = {name: value for name, value in zip(moments, latest, strict=True) if value is not None}
    names = [row[0] for row in described]
    return {
        "columns": columns,
        "rows": rows,
        "latest": dated,
        "present": dict(zip(names, present, strict=True)),
    }
