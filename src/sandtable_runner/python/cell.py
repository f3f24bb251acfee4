"""One piece of code, split into the statements and the last expression, whose value is shown."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import CodeType
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    tree: ast.Module
    body: CodeType
    last: CodeType | None

    def execute(self, namespace: dict[str, Any]) -> Any:
        """The value of the last expression; None when the code does not end in one."""
        exec(self.body, namespace)  # noqa: S102 - this is what the sandbox is for
        return None if self.last is None else eval(self.last, namespace)  # noqa: S307 - as above


def read_cell(code: str, file: str) -> Cell:
    """Raises SyntaxError with the file's name for every error of the compiler."""
    try:
        tree = ast.parse(code, file)
        whole = ast.Module(list(tree.body), tree.type_ignores)
        last = None
        if tree.body and isinstance(expression := tree.body[-1], ast.Expr):
            whole.body.pop()
            last = compile(ast.Expression(expression.value), file, "eval", dont_inherit=True)
        return Cell(tree, compile(whole, file, "exec", dont_inherit=True), last)
    except RecursionError:
        raise _unreadable("the code is nested too deeply", file) from None
    except (ValueError, MemoryError) as error:
        raise _unreadable(str(error) or "the code is too large or nested too deeply", file) from None


def _unreadable(message: str, file: str) -> SyntaxError:
    return SyntaxError(message, (file, None, None, None))
