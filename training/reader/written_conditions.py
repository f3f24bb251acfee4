"""Conditions of sketches as people write them: `fare > 20`, `not exists rides`, `days(a, b) > 2 weeks`."""

from __future__ import annotations

import datetime as dt

from sandtable.planner.candidates.network.sketch import DAY_NAMES, ELAPSED, Item, Token
from training.reader import windows
from training.reader.cursor import Cursor, NotationError, Part, written

OPERATORS = {">": ">", ">=": ">=", "<": "<", "<=": "<=", "=": "==", "!=": "!="}


class Conditions(Cursor):
    def _elapsed(self) -> list[Token]:
        unit = self._next().text
        self._expect("(")
        start = self._column()
        self._expect(",")
        end: Token = "now" if self._takes("now") else self._column()
        self._expect(")")
        return [unit, start, end]

    def _condition(self) -> list[Token]:
        if self._takes("not"):
            return ["not", *self._condition()]
        if self._takes("("):
            made: list[Token] = ["either", *self._condition()]
            count = 1
            while self._takes("or"):
                made += ["or", *self._condition()]
                count += 1
            self._expect(")")
            return made if count > 1 else made[1:]
        if self._peek() == "exists":
            return self._exists()
        if self._peek() in {"time", "weekend", "weekday", "day_name"} and self._peek(1) == "(":
            return self._timed()
        return self._compared()

    def _timed(self) -> list[Token]:
        word = self._next().text
        if word == "time":
            self._expect("(")
            begin = self.at
            while self._peek() != ")":
                self._next()
            text = written(self.parts[begin : self.at])
            self._expect(")")
            return ["when", *self._window(text)]
        column = self._in_brackets(time=True)
        if word == "day_name":
            if self._takes("in"):
                return self._listed(lambda: ["on_day", column, self._day()])
            if self._takes("!="):
                return ["not", "on_day", column, self._day()]
            self._expect("=")
            return ["on_day", column, self._day()]
        return ["weekend", column] if word == "weekend" else ["not", "weekend", column]

    def _day(self) -> str:
        day = self._next().text
        if day not in DAY_NAMES:
            raise NotationError(f"{day!r} is no day of the week")
        return day

    def _exists(self) -> list[Token]:
        self._expect("exists")
        made: list[Token] = ["exists"]
        if self.parts[self.at].kind == "number":
            made = ["at_least", self._number()]
        table = self._table(self._next().text)
        made.append(Item("table", table))
        outer, self.home = self.home, table
        if self._takes("("):
            made += ["&", *self._condition()]
            while self._takes(",") or self._takes("&"):
                made += ["&", *self._condition()]
            self._expect(")")
        self.home = outer
        return made

    def _compared(self) -> list[Token]:
        if self._peek() in ELAPSED and self._peek(1) == "(":
            subject = self._elapsed()
            return self._against_number(subject)
        column = self._column()
        if self._takes("is"):
            negative = self._takes("not")
            self._expect("null")
            return ["not", "null", column] if negative else ["null", column]
        word = self._peek()
        if word in {"contains", "startswith", "endswith"}:
            self._next()
            return [word, column, Item("text", value=self._next().text.replace("''", "'"))]
        if word == "not" and self._peek(1) == "in":
            self._next()
            self._next()
            return ["not", *self._listed(lambda: self._equal(column))]
        if self._takes("in"):
            return self._listed(lambda: self._equal(column))
        if word == "between":
            return self._between([column], column)
        return self._against(column)

    def _against(self, column: Item) -> list[Token]:
        op = OPERATORS.get(self._peek())
        if op is None:
            raise NotationError(f"{self._peek()!r} is no comparison")
        part = self.parts[self.at + 1] if self.at + 1 < len(self.parts) else Part("", "")
        if part.kind in {"text", "date"} and self._is_time(column):
            self._next()
            return self._dated(column, op, self._next().text)
        if part.kind == "word" and part.text in {"true", "false"}:
            self._next()
            positive = (self._next().text == "true") == (op == "==")
            return ["yes", column] if positive else ["not", "yes", column]
        if part.kind == "text":
            if op not in {"==", "!="}:
                raise NotationError("a text can only be equal or not")
            self._next()
            value = self._value(column)
            return [value] if op == "==" else ["not", value]
        if part.kind in {"word", "name"}:
            return self._against_word(column, op)
        return self._against_number([column], column)

    def _against_word(self, column: Item, op: str) -> list[Token]:
        self._next()
        if self._peek() in {"avg", "max", "min", "median"} and self._peek(1) == "(":
            whole = self._next().text
            if self._in_brackets() != column or op not in {">", "<", "=="}:
                raise NotationError("only > < = against an aggregate of the same column")
            return [{">": "whole>", "<": "whole<", "==": "whole="}[op], column, whole]
        other = self._column()
        if op == "!=":
            return ["not", "col=", column, other]
        return ["col=" if op == "==" else f"col{op}", column, other]

    def _against_number(self, subject: list[Token], column: Item | None = None) -> list[Token]:
        if self._peek() == "between":
            return self._between(subject, column)
        op = OPERATORS.get(self._next().text)
        if op is None:
            raise NotationError("a comparison is missing")
        number = self._number()
        if op == "!=":
            return ["not", "==", *subject, number]
        return [op, *subject, number]

    def _between(self, subject: list[Token], column: Item | None) -> list[Token]:
        self._expect("between")
        first = self.parts[self.at]
        if column is not None and first.kind in {"text", "date"} and self._is_time(column):
            low = self._next().text
            self._expect("and")
            window = windows.frozen({"from": low, "to": self._next().text})
            return ["when", Item("window", value=window), "on", column]
        low_number = self._number()
        self._expect("and")
        return ["between", *subject, low_number, self._number()]

    def _dated(self, column: Item, op: str, day: str) -> list[Token]:
        date, one = dt.date.fromisoformat(day[:10]), dt.timedelta(days=1)
        window = {
            ">": {"from": (date + one).isoformat()},
            ">=": {"from": date.isoformat()},
            "<": {"to": (date - one).isoformat()},
            "<=": {"to": date.isoformat()},
        }.get(op, {"from": date.isoformat(), "to": date.isoformat()})
        made: list[Token] = ["when", Item("window", value=windows.frozen(window)), "on", column]
        return ["not", *made] if op == "!=" else made

    def _listed(self, one: object) -> list[Token]:
        assert callable(one)
        self._expect("(")
        made: list[Token] = list(one())
        count = 1
        while self._takes(","):
            made += ["or", *one()]
            count += 1
        self._expect(")")
        return ["either", *made] if count > 1 else made

    def _equal(self, column: Item) -> list[Token]:
        if self.parts[self.at].kind == "number":
            return ["==", column, self._number()]
        return [self._value(column)]

    def _value(self, column: Item) -> Item:
        part = self._next()
        if part.kind != "text":
            raise NotationError(f"{part.text!r}: a value stands in quotes")
        return Item("value", column.table, column.name, part.text.replace("''", "'"))

    def _window(self, text: str) -> list[Token]:
        text, _, column = text.partition(" on ")
        try:
            window = windows.read_window(text.strip(), self.dataset.as_of)
        except ValueError as error:
            raise NotationError(str(error)) from error
        made: list[Token] = [Item("window", value=window)]
        if column:
            made += ["on", self._named(column.strip().strip('"'))]
        return made
