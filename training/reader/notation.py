"""Sketches as people write them in the training domains: `rides: city, sum(fare) | time last_month | desc #2`.

`read_sketch` gives the tokens of the sketch; the notation is described in `training/README.md`. A text that cannot be
read, or names what the dataset does not hold, raises `NotationError` with what is wrong.
"""

from __future__ import annotations

from sandtable.catalog.model import Dataset
from sandtable.catalog.units import canonical
from sandtable.planner.candidates.network.sketch import (
    AGGREGATES,
    BUCKETS,
    ELAPSED,
    Item,
    Token,
    is_sketch,
)
from training.reader.cursor import NotationError
from training.reader.written_conditions import OPERATORS, Conditions

_DERIVED = {"share": "share_of", "growth": "growth", "change": "change", "running": "running", "rank": "rank"}


def read_sketch(text: str, dataset: Dataset) -> tuple[Token, ...]:
    """The sketch's tokens; values, numbers and windows as items without a place in a question."""
    if text.split()[:1] == ["none"]:
        return ("none",)
    sketch = tuple(_Parser(text, dataset).sketch())
    if not is_sketch(sketch):
        raise NotationError(f"not a sketch of the grammar: {text}")
    return sketch


class _Parser(Conditions):
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
        self.shown: list[Item | None] = []
        while not self.shown or self._takes(","):
            item = self._item()
            self.shown.append(item[0] if isinstance(item[0], Item) else None)
            made += item
        self._end()
        order = ("where", "time", "having", "derive", "top", "desc", "asc", "limit", "then")
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
            case "where" | "having":
                one = self._condition if word == "where" else self._having
                made = [word, *one()]
                while self._takes(","):
                    made += [word, *one()]
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
            case "then":
                made = ["then", *self._over()]
            case _:
                made = ["limit", self._number()]
        self._end()
        return made

    def _over(self) -> list[Token]:
        word = self._next().text
        self._expect("(")
        made: list[Token] = [word]
        if word == "share":
            made += self._having()
        elif word != "count":
            made.append(self._reference())
        self._expect(")")
        return made

    def _unit(self) -> list[Token]:
        if not self._takes("in"):
            return []
        return ["in", Item("unit", value=canonical(self._next().text))]

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
            made = self._argument()
            return [*made, *self._unit()] if len(made) == 1 else made
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
        return made if word == "count" else [*made, *self._unit()]

    def _argument(self) -> list[Token]:
        if self._peek() in ELAPSED and self._peek(1) == "(":
            return self._elapsed()
        left = self._column()
        op = {"*": "times", "-": "less", "/": "over", "+": "added"}.get(self._peek())
        if op is None:
            return [left]
        self._next()
        return [op, left, self._column()]

    def _having(self) -> list[Token]:
        reference = self._reference()
        op = OPERATORS.get(self._next().text)
        if op is None or op == "!=":
            raise NotationError("a comparison is missing in having")
        if self.parts[self.at].kind == "text":
            return [self._value(self._shown(reference))]
        if self._takes("avg"):
            return ["above_mean" if op in {">", ">="} else "below_mean", reference]
        return [op, reference, self._number()]

    def _shown(self, reference: str) -> Item:
        """The column that an output shows."""
        place = int(reference[1:]) - 1
        column = self.shown[place] if place < len(self.shown) else None
        if column is None:
            raise NotationError(f"{reference} shows no column")
        return column

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
