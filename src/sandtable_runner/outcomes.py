"""What a run answers, in the same words for every engine: a table within its limits, or a failure with its code."""

from __future__ import annotations

from typing import Any

from sandtable_runner.encode import json_size, text_size

Outcome = dict[str, Any]
Columns = list[dict[str, str]]

_SHORTER = "select fewer columns, shorten text with left(column, 200), or aggregate"


def failure(code: str, kind: str, message: str, suggestion: str = "") -> Outcome:
    error = {"code": code, "type": kind, "message": message[:4000], "suggestion": suggestion[:4000]}
    return {"status": "failed", "error": error}


def out_of_memory() -> Outcome:
    return failure("RUNNER_RESOURCE_EXCEEDED", "MemoryError", "the run needed more memory than it may use")


def bad_unicode(error: UnicodeEncodeError) -> Outcome:
    message = f"the text has a lone surrogate at position {error.start}: it is not valid Unicode"
    return failure("VALIDATION_ERROR", "BadText", message, "send the text as valid UTF-8")


def too_large(what: str, limit: int) -> Outcome:
    return failure("RUNNER_RESOURCE_EXCEEDED", "ResultTooLarge", f"{what}; the limit is {limit}", _SHORTER)


def cell_too_large(columns: Columns, index: int, size: int, limit: int) -> Outcome:
    return too_large(f"a value of column {columns[index]['name']!r} has {size} bytes", limit)


class Table:
    """Rows of JSON values, as long as they keep the limits of the run."""

    def __init__(self, columns: Columns, limits: dict[str, int]) -> None:
        self.columns = columns
        self.rows: list[list[Any]] = []
        self._limits = limits
        self._size = sum(text_size(column["name"]) + text_size(column["type"]) for column in columns)

    @property
    def is_full(self) -> bool:
        """A further row only says that there are more."""
        return len(self.rows) == self._limits["rows"]

    def checked(self) -> Outcome | None:
        """The failure of a table whose columns alone are too large."""
        if self._size <= self._limits["result_bytes"]:
            return None
        what = f"the names of {len(self.columns)} columns have {self._size} bytes"
        return too_large(what, self._limits["result_bytes"])

    def add(self, cells: list[Any], size: int) -> Outcome | None:
        """`size`: of the row in bytes of JSON. The failure of a result that is too large."""
        self._size += size
        if self._size > self._limits["result_bytes"]:
            return too_large(f"the result has more than {self._size} bytes", self._limits["result_bytes"])
        self.rows.append(cells)
        return None

    def add_checked(self, cells: list[Any]) -> Outcome | None:
        """Like `add`, for cells whose sizes are not known yet."""
        size = 2
        for index, cell in enumerate(cells):
            found = json_size(cell)
            if found > self._limits["cell_bytes"]:
                return cell_too_large(self.columns, index, found, self._limits["cell_bytes"])
            size += found + 1
        return self.add(cells, size)

    def outcome(self, *, truncated: bool) -> Outcome:
        return {
            "status": "succeeded",
            "columns": self.columns,
            "rows": self.rows,
            "row_count": len(self.rows),
            "truncated": truncated,
        }
