"""Parse Python text with CPython's parser: its syntax tree as plain JSON values.

Runs in a sealed, single-use process: the text is hostile until judged. Invariant: `parse` never raises, never runs what
it reads, and its answer is bounded in depth and in number of nodes. Places are `[line, column, end line, end column]`:
lines from 1, columns in characters from 0.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from bisect import bisect_left
from itertools import accumulate
from typing import Any

MAX_DEPTH = 200
"""Nested nodes. A node and the list that contains it are two levels of JSON."""

MAX_NODES = 25_000

MAX_TEXT = 2_000
"""Characters of one string or bytes literal; truncation is marked."""

_MAX_DIGITS = 20

_LINE_END = re.compile(r"\r\n|\r|\n")

_PLACELESS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def parse(text: str) -> dict[str, Any]:
    """`{ok: true, tree}`, or `{ok: false, error_type: syntax|too_deep|too_large, message, line, column}`.

    A node is `{"_": its type, "at": its place, field: value…}` without empty fields; operators and contexts are their
    name alone. Identifiers are normalised as Python does (NFKC).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, "<cell>", "exec")
        return _bounded(tree, text)
    except SyntaxError as error:
        return _syntax(error)
    except RecursionError:
        return _failure("too_deep", "The code is nested too deep.")
    except MemoryError:
        return _failure("too_deep", "The code is nested too deep, or too large to be read.")
    except ValueError as error:
        return _failure("syntax", f"The code is not text that Python can read: {_clean(str(error))}")


def _bounded(tree: ast.Module, text: str) -> dict[str, Any]:
    nodes = 0
    stack: list[tuple[ast.AST, int]] = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        nodes += 1
        if nodes > MAX_NODES:
            return _failure("too_large", f"The code has more than {MAX_NODES:,} parts.", node)
        if depth > MAX_DEPTH:
            return _failure("too_deep", "The code is nested too deep.", node)
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return {"ok": True, "tree": _Writer(text).node(tree)}


class _Writer:
    """Syntax nodes as JSON values. Columns are counted in bytes by the parser, in characters here."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE_END.split(text)
        self._starts: dict[int, list[int]] = {}

    def node(self, node: ast.AST) -> dict[str, Any]:
        if isinstance(node, ast.Constant):
            return {"_": "Constant", **self._place(node), **_constant(node.value)}
        written: dict[str, Any] = {"_": type(node).__name__, **self._place(node)}
        for field, value in ast.iter_fields(node):
            if value is not None and value != []:
                written[field] = self._value(value)
        return written

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(v) for v in value]
        if isinstance(value, _PLACELESS):
            return type(value).__name__
        if isinstance(value, ast.AST):
            return self.node(value)
        if isinstance(value, str):
            return _clean(value)
        if value is None or isinstance(value, (bool, int)):
            return value
        # The remaining case is a bare value of a pattern (`case None:` is handled above).
        return _constant(value)

    def _place(self, node: ast.AST) -> dict[str, list[int]]:
        line, end_line = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        column, end_column = getattr(node, "col_offset", None), getattr(node, "end_col_offset", None)
        if line is None or end_line is None or column is None or end_column is None:
            return {}
        return {
            "at": [line, self._characters(line, column), end_line, self._characters(end_line, end_column)]
        }

    def _characters(self, line: int, byte_column: int) -> int:
        if not 1 <= line <= len(self._lines):
            return 0
        text = self._lines[line - 1]
        if text.isascii():
            return min(byte_column, len(text))
        if line not in self._starts:
            self._starts[line] = list(accumulate((len(c.encode()) for c in text), initial=0))
        return min(bisect_left(self._starts[line], byte_column), len(text))


def _constant(value: Any) -> dict[str, Any]:
    if value is None:
        return {"kind": "none"}
    if value is ...:
        return {"kind": "ellipsis"}
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, int):
        return {"kind": "int", "value": value if abs(value) < 10**_MAX_DIGITS else _digits(value)}
    if isinstance(value, float):
        return {"kind": "float", "value": value if math.isfinite(value) else repr(value)}
    if isinstance(value, complex):
        return {"kind": "complex", "value": repr(value)}
    whole = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    written: dict[str, Any] = {
        "kind": "bytes" if isinstance(value, bytes) else "str",
        "value": _clean(whole[:MAX_TEXT]),
    }
    if len(whole) > MAX_TEXT:
        written["cut"] = True
    return written


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        # Python refuses to convert very long integers to decimal.
        return f"an integer of {value.bit_length()} bits"


def _clean(text: str) -> str:
    """A literal can contain a lone surrogate; JSON text cannot."""
    return text.encode(errors="replace").decode()


def _syntax(error: SyntaxError) -> dict[str, Any]:
    failure = _failure("syntax", _clean(error.msg or "invalid syntax"))
    failure["line"] = max(error.lineno or 1, 1)
    failure["column"] = max((error.offset or 1) - 1, 0)
    return failure


def _failure(error_type: str, message: str, node: ast.AST | None = None) -> dict[str, Any]:
    line = getattr(node, "lineno", 1)
    return {"ok": False, "error_type": error_type, "message": message, "line": line, "column": 0}
