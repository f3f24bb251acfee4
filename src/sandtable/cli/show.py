"""Output for a person: tables, carets, and text without control characters.

Invariant: nothing that came from data, a query or a file reaches a terminal before `clean`.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sandtable.engines.duckdb.types import facts

_LONGEST_CELL = 2000
_LONGEST_LINE = 160


def clean(text: str, *, newlines: bool = False) -> str:
    """Escapes control, format and surrogate characters: no colours, cursor movement or reordering."""
    return "".join(
        c if (newlines and c in "\n\t") or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else _escaped(c)
        for c in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def print_json(value: Any, *, indent: int | None = 2) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    sys.stdout.flush()
    # A lone surrogate has no UTF-8 form; its backslash escape is the JSON escape.
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()


def console() -> Console:
    return Console(file=sys.stdout, highlight=False, soft_wrap=False)


def on_terminal() -> bool:
    return sys.stdout.isatty()


def grid(*headers: str) -> Table:
    return Table(*headers, box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return clean(text if len(text) <= _LONGEST_CELL else text[:_LONGEST_CELL] + "…")


def print_rows(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> None:
    """A table on a terminal; tab-separated lines, for other programs, elsewhere."""
    if not on_terminal():
        click.echo("\t".join(clean(name) for name, _ in columns))
        for row in rows:
            click.echo("\t".join(cell(value) for value in row))
        return
    table = grid()
    for name, kind in columns:
        side = "right" if facts(kind).numeric else "left"
        table.add_column(Text(clean(name)), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(Text("null", style="dim") if v is None else Text(cell(v)) for v in row))
    console().print(table)


def caret(text: str, position: int, length: int) -> list[str]:
    """The line of `text` that holds `position`, and a line of carets under the construct."""
    position = min(max(position, 0), len(text))
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : len(text) if end < 0 else end]
    before, rest = line[: position - start], line[position - start :]
    # Of a very long line, only the part around the position is shown.
    lead = before if len(before) <= _LONGEST_LINE // 2 else "…" + before[-_LONGEST_LINE // 2 :]
    tail = rest if len(rest) <= _LONGEST_LINE else rest[:_LONGEST_LINE] + "…"
    marked = clean(rest[: max(1, min(length, len(tail)))])
    number = f"{text.count(chr(10), 0, position) + 1} | "
    return [
        number + clean(lead) + clean(tail),
        " " * (len(number) + len(clean(lead))) + "^" * max(1, len(marked)),
    ]
