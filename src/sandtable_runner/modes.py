"""The modes of a sandbox: one function for each, job in, outcome out."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import duckdb

from sandtable_runner import compare, engine, escape, export, parse, parse_python, profile
from sandtable_runner.complaint import explain
from sandtable_runner.encode import CellTooLarge, Inexact, encode_row
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.convert import convert
from sandtable_runner.outcomes import Outcome, Table, cell_too_large, failure
from sandtable_runner.type_names import INEXACT

Job = dict[str, Any]

_BATCH = 256
# The author of the query can fix these; all others are ours or the host's.
_AUTHORS_FAULT = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.InvalidInputException,
    duckdb.InvalidTypeException,
    duckdb.TypeMismatchException,
    duckdb.NotImplementedException,
    duckdb.ConstraintException,
    duckdb.PermissionException,
)


def _engine_failure(error: duckdb.Error) -> Outcome:
    kind = type(error).__name__
    message, advice = explain(str(error))
    if engine.is_exhaustion(error):
        what = f"the query needed more memory or scratch space than it may use: {message}"
        return failure(
            "RUNNER_RESOURCE_EXCEEDED",
            kind,
            what,
            "filter or aggregate earlier, or ask for less data at once",
        )
    if isinstance(error, _AUTHORS_FAULT):
        return failure("VALIDATION_ERROR", kind, message, advice)
    return failure(
        "RUNNER_INTERNAL_ERROR", kind, message, "run it again; if it fails again, report it with the run's id"
    )


def run_sql(connection: engine.Connection, job: Job) -> Outcome:
    """Runs the canonical text, with a limit of one row more than may be shown, so that truncation is detected."""
    limits = job["limits"]
    query = f"SELECT * FROM ({job['text']}\n) LIMIT {limits['rows'] + 1}"
    began = time.perf_counter()
    try:
        cursor = connection.execute(query)
        queried = time.perf_counter()
        columns = _columns(cursor)
        inexact = {index for index, column in enumerate(columns) if column["type"] in INEXACT}
        while True:
            if inexact:
                cursor = connection.execute(_as_text(query, len(columns), inexact))
            try:
                outcome = _fetch(cursor, columns, limits, inexact)
                fetched = time.perf_counter()
                outcome["metrics"] = {
                    "query_ms": (queried - began) * 1e3, "fetch_ms": (fetched - queried) * 1e3,
                }  # fmt: skip
                return outcome
            except Inexact as found:
                inexact.add(found.args[0])
    except duckdb.Error as error:
        return _engine_failure(error)


def _as_text(query: str, width: int, inexact: set[int]) -> str:
    """The same rows, with the engine's text for columns whose values Python cannot represent."""
    names = [f"c{index}" for index in range(width)]
    items = [f"CAST({name} AS VARCHAR)" if index in inexact else name for index, name in enumerate(names)]
    return f"SELECT {', '.join(items)} FROM ({query}) AS t({', '.join(names)})"


def _columns(cursor: engine.Connection) -> list[dict[str, str]]:
    return [{"name": entry[0], "type": str(entry[1])} for entry in cursor.description or []]


def _fetch(
    cursor: engine.Connection, columns: list[dict[str, str]], limits: dict[str, int], texts: set[int]
) -> Outcome:
    table = Table(columns, limits)
    if failed := table.checked():
        return failed
    while batch := cursor.fetchmany(_BATCH):
        for row in batch:
            if table.is_full:
                return table.outcome(truncated=True)
            try:
                cells, length = encode_row(row, limits["cell_bytes"], texts)
            except CellTooLarge as error:
                index, size = error.args
                return cell_too_large(columns, index, size, limits["cell_bytes"])
            if failed := table.add(cells, length):
                return failed
    return table.outcome(truncated=False)


def dry_run(connection: engine.Connection, job: Job) -> Outcome:
    """Binds and explains; reads no row."""
    try:
        described = connection.execute(f"DESCRIBE {job['text']}").fetchall()
        plan = connection.execute(f"EXPLAIN {job['text']}").fetchall()
    except duckdb.Error as error:
        return _engine_failure(error)
    columns = [{"name": row[0], "type": row[1]} for row in described]
    return {"status": "succeeded", "columns": columns, "output": {"explain": plan[0][1] if plan else ""}}


def fetch_schema(connection: engine.Connection, job: Job) -> Outcome:
    """The schema as the engine sees it, with row counts."""
    tables: list[dict[str, Any]] = []
    try:
        for entry in job["data"]:
            name = engine.quote(entry["table"])
            columns = connection.execute(f"DESCRIBE {name}").fetchall()
            (rows,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
            listed = [{"name": column[0], "sql_type": column[1]} for column in columns]
            tables.append({"table": entry["table"], "rows": rows, "columns": listed})
    except duckdb.Error as error:
        return _engine_failure(error)
    return {"status": "succeeded", "output": {"tables": tables}}


def parse_text(connection: engine.Connection, job: Job) -> Outcome:
    if job["options"].get("language") == "python":
        return {"status": "succeeded", "output": parse_python.parse(job["text"])}
    return {
        "status": "succeeded",
        "output": parse.parse(connection, job["text"], job["options"]["float_columns"]),
    }


def run_ingest(connection: engine.Connection, job: Job) -> Outcome:
    outcome = _ingest(connection, job)
    return {**outcome, "metrics": {"peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}}


def _ingest(connection: engine.Connection, job: Job) -> Outcome:
    try:
        output = (compare.compare if "pairs" in job["options"] else convert)(connection, job)
    except BadFile as error:
        refused = failure("VALIDATION_ERROR", "BadFile", error.message, error.suggestion)
        return {**refused, "output": {"repairs": list(error.repairs)}}
    except duckdb.Error as error:
        return _engine_failure(error)
    return {"status": "succeeded", "output": output}


def run_profile(connection: engine.Connection, job: Job) -> Outcome:
    try:
        output = profile.profile(connection, job)
    except duckdb.Error as error:
        return _engine_failure(error)
    return {"status": "succeeded", "output": output}


def run_export(connection: engine.Connection, job: Job) -> Outcome:
    try:
        output = export.export(connection, job)
    except export.TooLarge as error:
        return failure(
            "RUNNER_RESOURCE_EXCEEDED", "ResultTooLarge", str(error), "select fewer columns or rows"
        )
    except duckdb.Error as error:
        return _engine_failure(error)
    return {"status": "succeeded", "output": output}


def probe(connection: engine.Connection, job: Job) -> Outcome:
    """Real escape attempts, made from inside."""
    return {"status": "succeeded", "output": {"attempts": escape.attempt_all()}}


MODES: dict[str, Callable[[engine.Connection, Job], Outcome]] = {
    "sql": run_sql,
    "dry_run": dry_run,
    "fetch_schema": fetch_schema,
    "parse": parse_text,
    "ingest": run_ingest,
    "profile": run_profile,
    "export": run_export,
    "probe": probe,
}
