"""Errors of code, for its author: the author's own lines, and what to try instead."""

from __future__ import annotations

import difflib
import re
import traceback
import zoneinfo
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

import duckdb
import pandas as pd
import polars as pl

from sandtable_runner import engine
from sandtable_runner.complaint import explain
from sandtable_runner.python.artifacts import TooMuch

Outcome = dict[str, Any]
_MOST_FRAMES = 20
_LONGEST = 4000
_LONGEST_KIND = 200
_SMALLER = "work on fewer rows or columns at once: select columns first, filter, or aggregate with sql(…)"
_NO_ATTRIBUTE = re.compile(r"object has no attribute '(\w+)'")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
_NO_TABLE = re.compile(r"Table with name (\w+) does not exist")
_OUT_OF_MEMORY = ("bad_alloc", "memory allocation", "Unable to allocate", "out of memory", "Out of memory")


def failure(code: str, kind: str, message: str, suggestion: str = "") -> Outcome:
    error = {
        "code": code,
        "type": kind[:_LONGEST_KIND],
        "message": message[:_LONGEST],
        "suggestion": suggestion[:1000],
    }
    return {"status": "failed", "error": error}


def syntax_failure(error: SyntaxError) -> Outcome:
    place = f" (line {error.lineno}, column {error.offset})" if error.lineno else ""
    return failure(
        "VALIDATION_ERROR", type(error).__name__, f"{error.msg}{place}", "correct the syntax at that place"
    )


def describe(error: BaseException, namespace: Mapping[str, Any]) -> Outcome:
    """The failed outcome of code that raised this."""
    kind = type(error).__name__
    message = _message(error)
    if isinstance(error, TooMuch):
        return failure("RUNNER_RESOURCE_EXCEEDED", "ResultTooLarge", message, error.suggestion)
    if isinstance(error, MemoryError) or _ran_out(error, message):
        what = "the code needed more memory than it may use" + (f": {message}" if message else "")
        return failure("RUNNER_RESOURCE_EXCEEDED", "MemoryError", what, _SMALLER)
    if isinstance(error, SystemExit):
        return failure(
            "VALIDATION_ERROR", "SystemExit", f"the code ended itself with exit({message})",
            "leave the exit out: code ends at its last line",
        )  # fmt: skip
    if isinstance(error, duckdb.Error):
        return failure("VALIDATION_ERROR", kind, message, _advice(error, namespace))
    return failure("VALIDATION_ERROR", kind, message or kind, _suggestion(error, message, namespace))


def _advice(error: duckdb.Error, namespace: Mapping[str, Any]) -> str:
    missing = _NO_TABLE.search(str(error))
    if missing and _is_frame(namespace.get(missing[1])):
        return f'a frame is a table only where it is passed: sql("…", {missing[1]}={missing[1]})'
    return explain(str(error))[1]


def _ran_out(error: BaseException, message: str) -> bool:
    if isinstance(error, duckdb.Error):
        return engine.is_exhaustion(error)
    return isinstance(error, pl.exceptions.PanicException | OSError | RuntimeError) and any(
        word in message for word in _OUT_OF_MEMORY
    )


def _message(error: BaseException) -> str:
    """The error's message; an error class of the code may fail to give one."""
    try:
        if isinstance(error, KeyError) and len(error.args) == 1:
            return repr(error.args[0])
        return explain(str(error))[0] if isinstance(error, duckdb.Error) else str(error)
    except Exception as worse:
        return f"(its message cannot be shown: {type(worse).__name__})"


def _suggestion(error: BaseException, message: str, namespace: Mapping[str, Any]) -> str:
    if isinstance(error, ImportError):
        return "use the modules that are already here; nothing else can be loaded"
    if isinstance(error, zoneinfo.ZoneInfoNotFoundError):
        return "name a zone of the time zone database, such as 'Europe/Berlin'"
    if isinstance(error, KeyError):
        return _nearest_column(str(error.args[0]) if error.args else "", namespace)
    if isinstance(error, pl.exceptions.ColumnNotFoundError):
        return _nearest_column(message.split("\n")[0].strip('"'), namespace)
    if isinstance(error, NameError) and (found := _NO_NAME.search(message)):
        return _nearest(found[1], (name for name in namespace if not name.startswith("_")), "name")
    if isinstance(error, AttributeError) and (found := _NO_ATTRIBUTE.search(message)):
        if "DataFrame" in message:
            return _nearest_column(found[1], namespace)
        return _nearest(found[1], _public(getattr(error, "obj", None)), "attribute")
    if isinstance(error, RecursionError):
        return "the code calls itself without end; use a loop"
    if isinstance(error, OSError):
        return "code here has no files and no network: use the tables, sql(…) and show(…)"
    return "see the line that the traceback names"


def _public(value: Any) -> list[str]:
    return [] if value is None else [name for name in dir(value) if not name.startswith("_")]


def _nearest_column(wanted: str, namespace: Mapping[str, Any]) -> str:
    frames = [value for name, value in namespace.items() if not name.startswith("_") and _is_frame(value)]
    return _nearest(
        wanted, dict.fromkeys(str(c) for frame in frames for c in list(frame.columns)[:2000]), "column"
    )


def _is_frame(value: Any) -> bool:
    return isinstance(value, pd.DataFrame | pl.DataFrame)


def _nearest(wanted: str, known: Iterable[str], what: str) -> str:
    names = list(known)
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(wanted.lower(), folded, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(repr(folded[match]) for match in close)}?"
    if what == "column" and names:
        return f"the columns are {', '.join(map(repr, names[:20]))}"
    return f"check the {what}'s spelling"


def user_traceback(error: BaseException, names: Mapping[str, str], source: Mapping[str, list[str]]) -> str:
    """`names`: the display name of each cell; `source`: its lines. Frames of libraries are left out."""
    frames = [frame for frame in _frames(error.__traceback__) if frame[0] in names]
    lines = ["Traceback (most recent call last):"] if frames else []
    if len(frames) > _MOST_FRAMES:
        half = _MOST_FRAMES // 2
        left_out = f"  … {len(frames) - _MOST_FRAMES} more frames …"
        kept = [*frames[:half], None, *frames[-half:]]
    else:
        left_out, kept = "", list(frames)
    for frame in kept:
        if frame is None:
            lines.append(left_out)
            continue
        file, number, function = frame
        lines.append(f'  File "{names[file]}", line {number}, in {function}')
        text = source.get(file, [])
        if 0 < number <= len(text):
            lines.append(f"    {text[number - 1].strip()[:500]}")
    if isinstance(error, SyntaxError):
        error.filename = names.get(str(error.filename), error.filename)
        lines += [line.rstrip("\n")[:_LONGEST] for line in traceback.format_exception_only(error)]
    else:
        message = _message(error)[:_LONGEST]
        lines.append(f"{type(error).__name__}: {message}" if message else type(error).__name__)
    return "\n".join(lines) + "\n"


def _frames(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return found
