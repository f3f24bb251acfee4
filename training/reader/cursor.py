"""The parts of a written sketch, one after the other, and the names in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.catalog.model import Dataset
from sandtable.catalog.units import canonical, units_like
from sandtable.planner.candidates.network.sketch import Item, Token

_NOT_UNITS = frozenset({"in"})
"""Units whose word means something else in a sketch."""

_TOKEN = re.compile(
    r"\s*(?:(?P<window>(?:\d{4}(?:-[QH]\d|-\d\d(?:-\d\d)?)?)?\.\.(?:\d{4}(?:-[QH]\d|-\d\d(?:-\d\d)?)?)?"
    r"|\d{4}-(?:[QH]\d|\d\d)(?![-\d]))"
    r"|(?P<date>\d{4}-\d\d-\d\d)|(?P<number>-?\d+(?:\.\d+)?%?)|'(?P<text>(?:[^']|'')*)'"
    r"|\"(?P<name>[^\"]+)\"|(?P<ref>#\d)|(?P<word>[A-Za-z_][\w.]*)|(?P<sign><=|>=|!=|[<>=(),*/&|:+-]))"
)


class NotationError(ValueError):
    pass


@dataclass(slots=True)
class Part:
    kind: str
    text: str


def _parts(text: str) -> list[Part]:
    found: list[Part] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise NotationError(f"cannot be read from {text[at:]!r}")
        kind = str(match.lastgroup)
        found.append(Part(kind, match.group(kind)))
        at = match.end()
    return found


class Cursor:
    """Where the reading of a sketch stands, over the table whose columns need no table's name."""

    def __init__(self, dataset: Dataset, home: str) -> None:
        self.dataset = dataset
        self.home = self._table(home)
        self.parts: list[Part] = []
        self.at = 0

    def _number(self) -> Token:
        part = self._next()
        if part.kind != "number":
            raise NotationError(f"{part.text!r} is no number")
        value = float(part.text.rstrip("%"))
        unit = "%" if part.text.endswith("%") else ""
        if not unit and self._peek() and units_like(self._peek()) and self._peek() not in _NOT_UNITS:
            unit = canonical(self._next().text)
        return Item("number", name=unit, value=value)

    def _reference(self) -> str:
        part = self._next()
        if part.kind != "ref":
            raise NotationError(f"{part.text!r} is no reference such as #2")
        return part.text

    def _in_brackets(self, *, time: bool = False) -> Item:
        self._expect("(")
        if time and self._takes(")"):
            return self._main_time()
        column = self._column()
        self._expect(")")
        return column

    def _main_time(self) -> Item:
        table = self.dataset.table(self.home)
        if table is not None and table.time_column:
            return Item("column", self.home, table.time_column)
        raise NotationError(f"{self.home} has no main time column: name one")

    def _column(self) -> Item:
        part = self._next()
        if part.kind not in {"word", "name"}:
            raise NotationError(f"{part.text!r} is no column")
        return self._named(part.text)

    def _named(self, name: str) -> Item:
        home = self.dataset.table(self.home)
        assert home is not None
        own = home.column(name)
        if own is not None:
            return Item("column", home.name, own.name)
        table_name, dot, column_name = name.partition(".")
        other = self.dataset.table(table_name) if dot else None
        column = other.column(column_name) if other is not None else None
        if other is None or column is None:
            raise NotationError(f"no column is called {name!r} (home table {self.home})")
        return Item("column", other.name, column.name)

    def _is_time(self, column: Item) -> bool:
        table = self.dataset.table(column.table)
        found = table.column(column.name) if table else None
        return found is not None and found.type.value in {"date", "timestamp"}

    def _table(self, name: str) -> str:
        table = self.dataset.table(name)
        if table is None:
            raise NotationError(f"no table is called {name!r}")
        return table.name

    def _load(self, text: str) -> None:
        self.parts, self.at = _parts(text), 0

    def _peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        if place >= len(self.parts) or self.parts[place].kind == "text":
            return ""
        return self.parts[place].text

    def _next(self) -> Part:
        if self.at >= len(self.parts):
            raise NotationError("ends too early")
        self.at += 1
        return self.parts[self.at - 1]

    def _takes(self, text: str) -> bool:
        if self._peek() == text:
            self.at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            raise NotationError(f"{text!r} is missing before {self._peek() or 'the end'!r}")

    def _end(self) -> None:
        if self.at < len(self.parts):
            raise NotationError(f"{written(self.parts[self.at :])!r} is too much")


def written(parts: list[Part]) -> str:
    return " ".join(part.text for part in parts)
