"""A suggestion tells a person what to do: it begins with a capital."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "sandtable"


def _suggestions(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "suggestion":
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refusal":
            yield from node.args[1:2]


def _openings(value: ast.expr) -> Iterator[str]:
    """The text that each alternative begins with; nothing for what is computed."""
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from _openings(body)
            yield from _openings(orelse)
        case ast.BinOp(left=left):
            yield from _openings(left)
        case _:
            return


@pytest.mark.parametrize(
    "path", sorted(SOURCES.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCES))
)
def test_suggestions_begin_with_a_capital(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    found = [text for value in _suggestions(tree) for text in _openings(value)]
    assert [text for text in found if text[:1].islower()] == []
