"""Which parts of a cell's results a chat model may see.

Invariant: with `schema`, no cell value passes. Output is withheld, tables are described by shape and types, and a
name or a message passes only if all of it comes from the schema, the code or the person.
"""

from __future__ import annotations

import re
from typing import Any

from sandtable.agent.analysis.coder import Seen, SeenTable
from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import WITHHELD
from sandtable.agent.proposer import Asked

_LONGEST_SHOWN = 2_000
_BEFORE_RUNNING = {"SyntaxError", "IndentationError", "TabError"}
_KINDS = frozenset(
    "int float str bool list dict tuple set NoneType DataFrame Series Index Timestamp Timedelta DatetimeIndex "
    "ndarray function method type DataFrameGroupBy SeriesGroupBy Expr LazyFrame datetime date object int64 "
    "float64 datetime64 module generator range".split()
)
# Messages with fixed words, except for quoted names.
_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        r"name '(\w+)' is not defined",
        r"cannot access local variable '(\w+)' where it is not associated with a value",
        r"'(\w+)' object has no attribute '(\w+)'",
        r"module '([\w.]+)' has no attribute '(\w+)'",
        r"'(\w+)' object is not (?:callable|subscriptable|iterable)",
        r"unsupported operand type\(s\) for [-+*/%&|<>=]{1,3}: '(\w+)' and '(\w+)'",
        r"'[<>=]{1,2}' not supported between instances of '(\w+)' and '(\w+)'",
        r"[\w.]+\(\) got an unexpected keyword argument '(\w+)'",
        r"agg function failed \[how->(\w+),dtype->(\w+)\]",
        r"No module named '([\w.]+)'",
        r"'Column not found: ([^'\n]{1,200})'",
        r"'([^'\n]{1,200})'",
    )
)
_TEXT = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")


def shown_cell(cell: Seen, asked: Asked, privacy: Privacy, *, whole: bool) -> dict[str, Any]:
    """`whole`: with its output and the heads of its tables."""
    shown: dict[str, Any] = {"step": cell.step, "goal": cell.goal, "status": cell.status}
    if whole:
        shown["code"] = _cut(cell.code)
    known = known_words(asked, cell.code)
    if cell.stdout.strip() and whole:
        shown["output"] = _cut(cell.stdout) if privacy == "off" else WITHHELD
    if cell.tables:
        shown["tables"] = [_table(table, known, privacy, rows=whole) for table in cell.tables]
    if cell.plots:
        shown["plots"] = [f"[[{plot}]]" for plot in cell.plots]
    if cell.problem is not None:
        shown["error"] = shown_error(cell, asked, privacy)
    return shown


def shown_error(cell: Seen, asked: Asked, privacy: Privacy) -> dict[str, Any]:
    problem = cell.problem
    if problem is None:
        return {"code": cell.status}
    kind = str(problem.details.get("type") or "")
    shown: dict[str, Any] = {"code": problem.code}
    if kind:
        shown["type"] = kind
    if cell.line is not None:
        shown["line"] = cell.line
    if privacy == "off" or cell.status == "rejected" or kind in _BEFORE_RUNNING:
        # These checks have seen only the code, so their messages hold no cell values.
        return shown | {"message": problem.message, "suggestion": problem.suggestion}
    known = known_words(asked, cell.code)
    return shown | {"message": problem.message if _telling(problem.message, known) else WITHHELD}


def shown_code(code: str, asked: Asked, privacy: Privacy) -> str:
    """Code of an earlier question: it may come from another model that was allowed to see cell values."""
    if privacy == "off":
        return code
    known = known_words(asked, "")
    return _TEXT.sub(lambda text: text[0] if is_known(text[0][1:-1], known) else f"'{WITHHELD}'", code)


def known_words(asked: Asked, code: str) -> str:
    """All text that does not come from cell values: questions, code, and names of the schema."""
    names = [asked.question, *(exchange.question for exchange in asked.history), code]
    for table in asked.dataset.tables:
        names += [table.name, *(column.name for column in table.columns)]
    names += [metric.name for metric in asked.dataset.metrics]
    return "\n".join(names)


def _table(table: SeenTable, known: str, privacy: Privacy, *, rows: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"tag": f"[[{table.id}]]", "row_count": table.row_count}
    if privacy == "off":
        shown["columns"] = {column.name: column.type for column in table.columns}
        if table.title:
            shown["title"] = table.title
        return shown | ({"first_rows": table.rows} if rows else {})
    # The column names of a pivoted table are cell values.
    names = [c.name if is_known(c.name, known) else f"{WITHHELD} {n}" for n, c in enumerate(table.columns, 1)]
    return shown | {"columns": dict(zip(names, (c.type for c in table.columns), strict=True))}


def _telling(message: str, known: str) -> bool:
    for pattern in _TELLING:
        found = pattern.fullmatch(message)
        if found:
            return all(part in _KINDS or is_known(part, known) for part in found.groups())
    return False


def is_known(name: str, known: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", known) is not None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "\n… [cut]"
