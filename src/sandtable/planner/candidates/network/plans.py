"""A sketch as a plan of the plan language.

Invariant: total over sketches of the grammar. A sketch that means no plan (`none`, or a reference to an output that is
not there) gives None; whether the plan fits the dataset is for `check_plan` to say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandtable.planner.candidates.network.sketch import (
    AGGREGATES,
    BETWEEN_COLUMNS,
    BUCKETS,
    COMPARED,
    ELAPSED,
    SMALL,
    TEXTS,
    WITH_WHOLE,
    Item,
    Token,
    is_sketch,
)

Json = dict[str, Any]
_PREFIX = {"avg": "average", "sum": "total", "distinct": "number_of"}
_ARITHMETIC = {"times": "*", "less": "-", "over": "/", "added": "+", "per": "/", "minus": "-", "plus": "+"}
_INVERTED = {
    "=": "!=", "!=": "=", ">": "<=", ">=": "<", "<": ">=", "<=": ">",
    "in": "not_in", "not_in": "in", "is_null": "not_null", "not_null": "is_null",
}  # fmt: skip
_LONGEST_NAME = 100


class NoPlan(Exception):
    """The sketch is written by the grammar and means nothing."""


def plan_of(
    sketch: tuple[Token, ...], dataset_id: str, fractions: frozenset[tuple[str, str]] = frozenset()
) -> Json | None:
    """The plan, or None when the sketch says that there is none.

    `fractions` are the columns, by table and name, in which 20 % is 0.2.
    """
    if not is_sketch(sketch) or sketch[0] == "none":
        return None
    try:
        return _Reader(list(sketch), fractions).plan(dataset_id)
    except NoPlan:
        return None


@dataclass(slots=True)
class _Output:
    name: str
    bucket: bool = False
    fraction: bool = False
    measure: bool = False


@dataclass(slots=True)
class _Reader:
    tokens: list[Token]
    fractions: frozenset[tuple[str, str]] = frozenset()
    home: str = ""
    at: int = 0
    outputs: list[_Output] = field(default_factory=list[_Output])

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

    def plan(self, dataset_id: str) -> Json:
        self.home = self.item().table
        plan: Json = {"dataset_id": dataset_id, "table": self.home, "select": [self.selected()]}
        while not self.comes("where", "time", "having", "top", "desc", "asc", "limit", "end", *_DERIVES):
            plan["select"].append(self.selected())
        while self.comes("where"):
            self.next()
            plan.setdefault("filters", []).append(self.condition())
        if self.comes("time"):
            self.next()
            plan["time"] = self.window()
        having: list[Json] = []
        while self.comes("having"):
            self.next()
            having.append(self.kept())
        while self.comes(*_DERIVES):
            plan.setdefault("derive", []).append(self.derived())
        if having:
            plan["having"] = having
        if self.comes("top"):
            plan["top_per_group"] = self.top()
        while self.comes("desc", "asc"):
            direction = self.word()
            plan.setdefault("order_by", []).append({"expr": self.key(), "dir": direction})
        if self.comes("limit"):
            self.next()
            plan["limit"] = _count(self.number())
        return plan

    def selected(self) -> Json:
        if self.comes("rows"):
            self.next()
            self.outputs.append(_Output("*"))
            return {"column": "*"}
        token = self.tokens[self.at]
        if isinstance(token, Item):
            self.next()
            made: Json = {"column": self.ref(token)}
            named = self.named(token.name, token.table)
            if named != token.name:
                made["as"] = named
            self.outputs.append(_Output(named))
            return made
        if token in BUCKETS:
            unit, column = self.word(), self.item()
            named = self.named(unit, column.name)
            self.outputs.append(_Output(named, bucket=True))
            return {"bucket": unit, "column": self.ref(column), "as": named}
        if token in ELAPSED:
            made = self.elapsed()
            named = self.named(f"{token}_between")
            self.outputs.append(_Output(named))
            return {**made, "as": named}
        fraction = self.comes("share")
        made, name = self.measure()
        named = self.named(name)
        self.outputs.append(_Output(named, fraction=fraction, measure=True))
        return {**made, "as": named}

    def measure(self) -> tuple[Json, str]:
        word = self.word()
        if word == "count":
            return self.limited({"agg": "count"}), "count"
        if word == "metric":
            metric = self.item()
            return self.limited({"metric": metric.name}), metric.name
        if word == "share":
            holds = [self.condition(), *self.more()]
            whole: Json = {"agg": "count"}
            return {"op": "/", "left": {"agg": "count", "where": holds}, "right": whole}, "share"
        if word == "corr":
            one, other = self.item(), self.item()
            return {"agg": "correlation", "column": self.ref(one), "with": self.ref(other)}, "correlation"
        if word in {"per", "minus", "plus"}:
            left, first = self.measure()
            right, second = self.measure()
            return {"op": _ARITHMETIC[word], "left": left, "right": right}, f"{first}_{word}_{second}"
        return self.aggregate(word)

    def aggregate(self, word: str) -> tuple[Json, str]:
        assert word in AGGREGATES
        made: Json = {"agg": "count_distinct" if word == "distinct" else word}
        if word.startswith("p") and word[1:].isdigit():
            made = {"agg": "quantile", "q": int(word[1:]) / 100}
        token = self.tokens[self.at]
        if isinstance(token, Item):
            self.next()
            made["column"] = self.ref(token)
            return self.limited(made), f"{_PREFIX.get(word, word)}_{token.name}"
        if token in ELAPSED:
            made["of"] = self.elapsed()
            return self.limited(made), f"{_PREFIX.get(word, word)}_{token}"
        op, left, right = self.word(), self.item(), self.item()
        made["of"] = {
            "op": _ARITHMETIC[op],
            "left": {"column": self.ref(left)},
            "right": {"column": self.ref(right)},
        }
        return self.limited(made), f"{_PREFIX.get(word, word)}_{left.name}_{op}_{right.name}"

    def limited(self, measure: Json) -> Json:
        if self.comes("if"):
            self.next()
            measure["where"] = [self.condition(), *self.more()]
        return measure

    def more(self) -> list[Json]:
        found: list[Json] = []
        while self.comes("&"):
            self.next()
            found.append(self.condition())
        return found

    def elapsed(self) -> Json:
        unit, start = self.word().removesuffix("s"), self.item()
        made: Json = {"elapsed": unit, "from": self.ref(start)}
        if self.comes("now"):
            self.next()
        else:
            made["to"] = self.ref(self.item())
        return made

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
            fraction = False
            subject: Json
            if self.comes(*ELAPSED):
                subject = {"of": self.elapsed()}
            else:
                column = self.item()
                subject = {"column": self.ref(column)}
                fraction = (column.table, column.name) in self.fractions
            first = _plain(self.number(), fraction=fraction)
            if word == "between":
                bounds = sorted([first, _plain(self.number(), fraction=fraction)])
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
            made["at_least"] = _count(least)
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

    def number(self) -> Item | int:
        token = self.next()
        if isinstance(token, Item):
            return token
        assert token in SMALL
        return int(token)

    def output(self) -> _Output:
        place = int(self.word()[1:]) - 1
        if place >= len(self.outputs) or self.outputs[place].name == "*":
            raise NoPlan
        return self.outputs[place]

    def kept(self) -> Json:
        word = self.word()
        output = self.output()
        if word in {"above_mean", "below_mean"}:
            mean: Json = {"agg": "avg", "column": output.name}
            return {"column": output.name, "op": ">" if word == "above_mean" else "<", "than": mean}
        value = _plain(self.number(), fraction=output.fraction)
        return {"column": output.name, "op": "=" if word == "==" else word, "value": value}

    def derived(self) -> Json:
        word, of = self.word(), self.output()
        made: Json
        match word:
            case "share_of":
                made, name = {"share_of_total": of.name}, f"share_of_{of.name}"
            case "share_in":
                made, name = (
                    {"share_of_total": of.name, "within": [self.output().name]},
                    f"share_of_{of.name}",
                )
            case "rank":
                made, name = {"rank": of.name}, "rank"
            case "diff" | "pct":
                made, name = {"change": of.name, "from": self.output().name}, f"change_of_{of.name}"
                if word == "pct":
                    made["kind"] = "percent"
            case _:
                along = next((o.name for o in self.outputs if o.bucket), None)
                if along is None:
                    raise NoPlan
                key = "running_total" if word == "running" else "change"
                made, name = {key: of.name, "along": along}, f"{word}_of_{of.name}"
                if word == "growth":
                    made["kind"] = "percent"
        named = self.named(name)
        fraction = word in {"share_of", "share_in", "growth", "pct"}
        self.outputs.append(_Output(named, fraction=fraction, measure=True))
        return {**made, "as": named}

    def top(self) -> Json:
        self.next()
        number, group, direction = self.number(), self.output(), self.word()
        return {"n": _count(number), "by": [group.name], "order_by": self.key(), "dir": direction}

    def key(self) -> str:
        token = self.tokens[self.at]
        if isinstance(token, Item):
            self.next()
            return self.ref(token)
        return self.output().name

    def ref(self, column: Item) -> str:
        return column.name if column.table == self.home else f"{column.table}.{column.name}"

    def named(self, *parts: str) -> str:
        """A name that no output has yet: the first part, or with the others behind it, or numbered."""
        taken = {output.name.lower() for output in self.outputs}
        tries = ["_".join(reversed(parts[:count])) for count in range(1, len(parts) + 1)]
        tries += [f"{parts[0]}_{number}" for number in range(2, 20)]
        return next(name for name in (each[:_LONGEST_NAME] for each in tries) if name.lower() not in taken)


_DERIVES = ("share_of", "share_in", "growth", "change", "running", "rank", "diff", "pct")


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


def _plain(number: Item | int, *, fraction: bool = False) -> int | float:
    if isinstance(number, int):
        return number
    value = float(number.value) / 100 if number.name == "%" and fraction else float(number.value)
    return int(value) if value.is_integer() else value


def _count(number: Item | int) -> int:
    value = _plain(number)
    if not isinstance(value, int) or not 1 <= value <= 10_000:
        raise NoPlan
    return value
