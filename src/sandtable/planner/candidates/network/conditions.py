"""Conditions of a sketch as filters of the plan language, and the token reader that all parts of a sketch share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sandtable.catalog.units import conversion
from sandtable.planner.candidates.network.sketch import (
    BETWEEN_COLUMNS,
    COMPARED,
    ELAPSED,
    SMALL,
    TEXTS,
    WITH_WHOLE,
    Item,
    Token,
)

Json = dict[str, Any]
_INVERTED = {
    "=": "!=", "!=": "=", ">": "<=", ">=": "<", "<": ">=", "<=": ">",
    "in": "not_in", "not_in": "in", "is_null": "not_null", "not_null": "is_null",
}  # fmt: skip


_SCALES = {"million": 1e6, "millions": 1e6, "mn": 1e6, "thousand": 1e3, "thousands": 1e3}
"""Columns that hold millions: 5 million is 5 in them."""


class NoPlan(Exception):
    """The sketch is grammatical but has no meaning."""


@dataclass(slots=True)
class Conditions:
    """Reads tokens one after the other, and conditions among them."""

    tokens: list[Token]
    units: Mapping[tuple[str, str], str]
    home: str = ""
    at: int = 0

    def next(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def comes(self, *words: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at] in words

    def word(self) -> str:
        token = self.next()
        assert isinstance(token, str)
        return token

    def item(self) -> Item:
        token = self.next()
        assert isinstance(token, Item)
        return token

    def number(self) -> Item | int:
        token = self.next()
        if isinstance(token, Item):
            return token
        assert token in SMALL
        return int(token)

    def ref(self, column: Item) -> str:
        return column.name if column.table == self.home else f"{column.table}.{column.name}"

    def unit_of(self, column: Item) -> str:
        return self.units.get((column.table, column.name), "")

    def elapsed(self) -> Json:
        unit, start = self.word().removesuffix("s"), self.item()
        made: Json = {"elapsed": unit, "from": self.ref(start)}
        if self.comes("now"):
            self.next()
        else:
            made["to"] = self.ref(self.item())
        return made

    def more(self) -> list[Json]:
        found: list[Json] = []
        while self.comes("&"):
            self.next()
            found.append(self.condition())
        return found

    def condition(self) -> Json:
        token = self.next()
        if isinstance(token, Item):
            return {"column": self.ref(token), "op": "=", "value": token.value}
        match token:
            case "not":
                return _negated(self.condition())
            case "either":
                found = [self.condition()]
                while self.comes("or"):
                    self.next()
                    found.append(self.condition())
                return _either(found)
            case "yes":
                return {"column": self.ref(self.item()), "op": "=", "value": True}
            case "null":
                return {"column": self.ref(self.item()), "op": "is_null"}
            case "weekend":
                of = {"bucket": "day_of_week", "column": self.ref(self.item())}
                return {"of": of, "op": "in", "value": [6, 7]}
            case "on_day":
                of = {"bucket": "day_name", "column": self.ref(self.item())}
                return {"of": of, "op": "=", "value": self.word()}
            case "when":
                return {"time": self.window()}
            case "exists":
                return self.existing(None)
            case "at_least":
                return self.existing(self.number())
            case _:
                return self.compared(token)

    def compared(self, word: str) -> Json:
        if word in COMPARED or word == "between":
            subject: Json
            if self.comes(*ELAPSED):
                unit = str(self.tokens[self.at])
                subject = {"of": self.elapsed()}
            else:
                column = self.item()
                subject = {"column": self.ref(column)}
                unit = self.unit_of(column)
            first = plain_number(self.number(), unit)
            if word == "between":
                bounds = sorted([first, plain_number(self.number(), unit)])
                return {**subject, "op": "between", "value": bounds}
            return {**subject, "op": "=" if word == "==" else word, "value": first}
        column = self.item()
        if word in BETWEEN_COLUMNS:
            op = word.removeprefix("col")
            return {"column": self.ref(column), "op": op, "other_column": self.ref(self.item())}
        if word in WITH_WHOLE:
            whole: Json = {"agg": self.word(), "column": self.ref(column)}
            return {"column": self.ref(column), "op": word.removeprefix("whole"), "than": whole}
        assert word in TEXTS
        return {"column": self.ref(column), "op": word, "value": str(self.item().value)}

    def existing(self, least: Item | int | None) -> Json:
        table = self.item().table
        made: Json = {"table": table}
        if least is not None:
            made["at_least"] = whole_number(least)
        outer, self.home = self.home, table
        if where := self.more():
            made["where"] = where
        self.home = outer
        return {"exists": made}

    def window(self) -> Json:
        made = dict(self.item().value)
        if self.comes("on"):
            self.next()
            made["column"] = self.ref(self.item())
        return made


def _negated(condition: Json) -> Json:
    op = condition.get("op")
    if condition.get("value") is True and op == "=":
        return {**condition, "value": False}
    if op in _INVERTED:
        return {**condition, "op": _INVERTED[op]}
    return {"not": condition}


def _either(found: list[Json]) -> Json:
    """Equalities of one column are one list of values."""
    subjects = {str(c.get("column") or c.get("of")) for c in found}
    if len(subjects) == 1 and all(c.get("op") == "=" and "value" in c for c in found):
        made = {key: value for key, value in found[0].items() if key in {"column", "of"}}
        return {**made, "op": "in", "value": [c["value"] for c in found]}
    return {"any": found}


def plain_number(number: Item | int, unit: str = "") -> int | float:
    """The number, in the unit of what it is compared with where the question says another one."""
    if isinstance(number, int):
        return number
    way = conversion(number.name, unit) if number.name and unit else None
    value = float(number.value)
    scale = _SCALES.get(unit.lower(), 0.0)
    if scale and abs(value) >= scale:
        value = value / scale
    if way is not None:
        value = float(Fraction(str(number.value)) * way.factor + way.offset)
    return int(value) if value.is_integer() else value


def whole_number(number: Item | int) -> int:
    value = plain_number(number)
    if not isinstance(value, int) or not 1 <= value <= 10_000:
        raise NoPlan
    return value
