"""Sketches as people write them in the training domains: `rides: city, sum(fare) | time last_month | desc #2`.

`read_sketch` gives the tokens of the sketch; the notation is described in `training/README.md`. A text that cannot be
read, or names what the dataset does not hold, raises `NotationError` with what is wrong.
"""

from __future__ import annotations

import datetime as dt

from sandtable.catalog.model import Dataset
from sandtable.planner.candidates.network.sketch import (
    AGGREGATES,
    BUCKETS,
    DAY_NAMES,
    ELAPSED,
    Item,
    Token,
    is_sketch,
)
from training.reader import windows
from training.reader.cursor import Cursor, NotationError, Part, written

_OPERATORS = {">": ">", ">=": ">=", "<": "<", "<=": "<=", "=": "==", "!=": "!="}
_DERIVED = {"share": "share_of", "growth": "growth", "change": "change", "running": "running", "rank": "rank"}


def read_sketch(text: str, dataset: Dataset) -> tuple[Token, ...]:
    """The sketch's tokens; values, numbers and windows as items without a place in a question."""
    if text.split()[:1] == ["none"]:
        return ("none",)
    sketch = tuple(_Parser(text, dataset).sketch())
    if not is_sketch(sketch):
        raise NotationError(f"not a sketch of the grammar: {text}")
    return sketch


class _Parser(Cursor):
    def __init__(self, text: str, dataset: Dataset) -> None:
        head, colon, rest = text.partition(":")
        if not colon:
            raise NotationError("a sketch begins with TABLE:")
        super().__init__(dataset, head.strip())
        sections = [section.strip() for section in _outside_quotes(rest)]
        self.items_text, self.sections = sections[0], sections[1:]

    def sketch(self) -> list[Token]:
        made: list[Token] = [Item("table", self.home)]
        self._load(self.items_text)
        made += self._item()
        while self._takes(","):
            made += self._item()
        self._end()
        order = ("where", "time", "having", "derive", "top", "desc", "asc", "limit")
        last = -1
        for section in self.sections:
            word, _, rest = section.partition(" ")
            if word not in order:
                raise NotationError(f"no part is called {word!r}")
            place = min(order.index(word), order.index("desc")) if word == "asc" else order.index(word)
            if place < last:
                raise NotationError(f"{word!r} comes too late")
            last = place
            made += self._section(word, rest)
        return [*made, "end"]

    def _section(self, word: str, rest: str) -> list[Token]:
        if word == "time":
            return ["time", *self._window(rest)]
        self._load(rest)
        made: list[Token] = []
        match word:
            case "where":
                made = ["where", *self._condition()]
                while self._takes(","):
                    made += ["where", *self._condition()]
            case "having":
                made = ["having", *self._having()]
                while self._takes(","):
                    made += ["having", *self._having()]
            case "derive":
                made = self._derived()
                while self._takes(","):
                    made += self._derived()
            case "top":
                number = self._number()
                self._expect("per")
                group = self._reference()
                self._expect("by")
                made = ["top", number, group, "desc", self._reference()]
                if self._takes("asc"):
                    made[3] = "asc"
            case "desc" | "asc":
                made = [word, self._key()]
                while self._takes(","):
                    direction = self._next().text if self._peek() in {"desc", "asc"} else word
                    made += [direction, self._key()]
            case _:
                made = ["limit", self._number()]
        self._end()
        return made

    def _item(self) -> list[Token]:
        if self._takes("*"):
            return ["rows"]
        word = self._peek()
        if word in BUCKETS and self._peek(1) == "(":
            self._next()
            return [word, self._in_brackets(time=True)]
        if word in ELAPSED and self._peek(1) == "(":
            return self._elapsed()
        if self._peek(1) != "(":
            return [self._column()]
        left = self._measure()
        op = {"/": "per", "-": "minus", "+": "plus"}.get(self._peek())
        if op is None:
            return left
        self._next()
        return [op, *left, *self._measure()]

    def _measure(self) -> list[Token]:
        word = self._next().text
        self._expect("(")
        made: list[Token]
        if word == "count":
            made = ["count"]
        elif word == "metric":
            name = self._next().text
            if self.dataset.metric(name) is None:
                raise NotationError(f"no metric is called {name}")
            made = ["metric", Item("metric", self.dataset.metric(name).table, self.dataset.metric(name).name)]
        elif word == "share":
            made = ["share", *self._condition()]
            while self._takes(",") or self._takes("&"):
                made += ["&", *self._condition()]
            self._expect(")")
            return made
        elif word == "corr":
            one = self._column()
            self._expect(",")
            made = ["corr", one, self._column()]
            self._expect(")")
            return made
        elif word in AGGREGATES:
            made = [word, *self._argument()]
        else:
            raise NotationError(f"no measure is called {word!r}")
        self._expect(")")
        if self._takes("if"):
            made += ["if", *self._condition()]
            while self._takes("&"):
                made += ["&", *self._condition()]
        return made

    def _argument(self) -> list[Token]:
        if self._peek() in ELAPSED and self._peek(1) == "(":
            return self._elapsed()
        left = self._column()
        op = {"*": "times", "-": "less", "/": "over", "+": "added"}.get(self._peek())
        if op is None:
            return [left]
        self._next()
        return [op, left, self._column()]

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
        op = _OPERATORS.get(self._peek())
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
        op = _OPERATORS.get(self._next().text)
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

    def _having(self) -> list[Token]:
        reference = self._reference()
        op = _OPERATORS.get(self._next().text)
        if op is None or op == "!=":
            raise NotationError("a comparison is missing in having")
        if self._takes("avg"):
            return ["above_mean" if op in {">", ">="} else "below_mean", reference]
        return [op, reference, self._number()]

    def _derived(self) -> list[Token]:
        word = self._next().text
        self._expect("(")
        first = self._reference()
        made: list[Token]
        if word in {"diff", "pct"}:
            self._expect(",")
            made = [word, first, self._reference()]
        elif word == "share" and self._takes("within"):
            made = ["share_in", first, self._reference()]
        elif word in _DERIVED:
            made = [_DERIVED[word], first]
        else:
            raise NotationError(f"nothing derived is called {word!r}")
        self._expect(")")
        return made

    def _key(self) -> Token:
        return self._reference() if self.parts[self.at].kind == "ref" else self._column()

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


def _outside_quotes(text: str) -> list[str]:
    """The sections between bars."""
    found, quoted = [""], False
    for letter in text:
        if letter == "'":
            quoted = not quoted
        if letter == "|" and not quoted:
            found.append("")
        else:
            found[-1] += letter
    return found
