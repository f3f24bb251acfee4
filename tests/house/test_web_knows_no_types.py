"""What runs in a browser reads the kind and the unit of a column, and knows none of the engine's type names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandtable.engines.duckdb.types import TABLE

ROOT = Path(__file__).parents[2]
APP = ROOT / "web" / "app" / "src"
SANDTABLE = ROOT / "src" / "sandtable"
SERVER = SANDTABLE / "server"
GENUI, DRAWING, CARD = SERVER / "langgraph" / "genui", SANDTABLE / "drawing", SERVER / "mcp" / "card"
_WORDS = {
    "DATE",
    "TIME",
    "TEXT",
    "LONG",
    "SHORT",
    "INTERVAL",
    "STRING",
    "CHAR",
    "BIT",
    "REAL",
    "ENUM",
    "NUMERIC",
}
"""Type names that are also plain words, and names of constants: found only in quotes."""
_NAMES = re.compile(
    rf"\b(?:{'|'.join(sorted({name.split()[0] for name in TABLE} - _WORDS - {'JSON'}))})\b"
    rf"|(?<=[\"'`])(?:{'|'.join(sorted(_WORDS))})(?=[\"'`])"
)


def _sources() -> list[Path]:
    written = [
        path
        for path in (*APP.rglob("*.ts"), *APP.rglob("*.tsx"))
        if ".test." not in path.name and not path.name.endswith(".d.ts")
    ]
    return sorted([*written, *(path for folder in (GENUI, DRAWING, CARD) for path in folder.glob("*.js"))])


def test_all_sources_are_searched() -> None:
    assert {APP / "format" / "cell.ts", APP / "runs" / "diff_table.tsx", DRAWING / "format.js"} <= set(
        _sources()
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("const NUMBERS = /^(U?(TINY|BIG)?INT(EGER)?|FLOAT)/i;", True),
        ('type: days ? "DATE" : type', True),
        ("/TZ|WITH TIME ZONE/i.test(TIMESTAMP)", True),
        ("const DATE = /^\\d{4}-\\d\\d$/;", False),
        ('kind === "timestamp" ? JSON.stringify(value) : "float"', False),
    ],
)
def test_a_type_name_is_found(line: str, found: bool) -> None:
    assert bool(_NAMES.search(line)) is found


@pytest.mark.parametrize("path", _sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_type_name_of_the_engine(path: Path) -> None:
    lines = enumerate(path.read_text("utf-8").splitlines(), start=1)
    assert [f"{number}: {line.strip()}" for number, line in lines if _NAMES.search(line)] == []
