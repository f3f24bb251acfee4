"""A sketch as a plan of the plan language.

Invariant: total over sketches of the grammar. A sketch that means no plan (`none`, or a reference to an output that is
not there) gives None; `check_plan` checks whether the plan fits the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandtable.catalog.units import canonical
from sandtable.planner.candidates.network.conditions import (
    Conditions,
    Json,
    NoPlan,
    plain_number,
    whole_number,
)
from sandtable.planner.candidates.network.sketch import (
    AGGREGATES,
    BUCKETS,
    ELAPSED,
    OF_TWO,
    Item,
    Token,
    is_sketch,
)

_PREFIX = {"avg": "average", "sum": "total", "distinct": "number_of"}
_ARITHMETIC = {"times": "*", "less": "-", "over": "/", "added": "+", "per": "/", "minus": "-", "plus": "+"}
_KEEPING = frozenset({"sum", "avg", "min", "max", "median", "quantile", "stddev"})
"""Aggregates whose values have the unit of what they aggregate."""
_OVER = {"count": "groups", "avg": "average", "sum": "total"}
"""What a measure over groups is called."""
_LONGEST_NAME, _LONGEST_TABLE = 100, 60


def plan_of(
    sketch: tuple[Token, ...], dataset_id: str, units: Mapping[tuple[str, str], str] | None = None
) -> Json | None:
    """The plan, or None when the sketch says that there is none.

    `units` are those of the columns, by table and name; in a column of `fraction`, 20 % is 0.2.
    """
    if not is_sketch(sketch) or sketch[0] == "none":
        return None
    try:
        return _Reader(list(sketch), units or {}).plan(dataset_id)
    except NoPlan:
        return None


@dataclass(slots=True)
class _Output:
    name: str
    column: Item | None = None
    bucket: bool = False
    unit: str = ""


@dataclass(slots=True)
class _Reader(Conditions):
    outputs: list[_Output] = field(default_factory=list[_Output])

    def plan(self, dataset_id: str) -> Json:
        self.home = self.item().table
        plan: Json = {"dataset_id": dataset_id, "table": self.home, "select": [self.selected()]}
        while not self.comes(
            "where", "time", "having", "top", "desc", "asc", "limit", "end", "then", *_DERIVES
        ):
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
        ranks = [each["as"] for each in plan.get("derive", ()) if "rank" in each]
        if ranks and not having:
            plan.setdefault("order_by", [{"expr": ranks[0], "dir": "asc"}])
        if self.comes("limit"):
            self.next()
            plan["limit"] = whole_number(self.number())
        return self.over(plan) if self.comes("then") else plan

    def over(self, plan: Json) -> Json:
        """A measure over the rows of the plan, which become a defined table."""
        self.next()
        word = self.word()
        made: Json = {"agg": "count"}
        if word == "share":
            made = {"op": "/", "left": {"agg": "count", "where": [self.kept()]}, "right": made}
        elif word != "count":
            made = {"agg": word, "column": self.output().name}
        inner = {field: value for field, value in plan.items() if field != "dataset_id"}
        key = re.sub(r"\W+", "_", self.outputs[0].name).removesuffix("_id")
        name = self.named(f"per_{key}"[:_LONGEST_TABLE])
        return {
            "dataset_id": plan["dataset_id"],
            "define": [{"name": name, "plan": inner}],
            "table": name,
            "select": [{**made, "as": _OVER.get(word, word)}],
        }

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
            unit = self.unit(made, self.unit_of(token))
            self.outputs.append(_Output(named, token, unit=unit))
            return made
        if token in BUCKETS:
            unit, column = self.word(), self.item()
            named = self.named(unit, column.name)
            self.outputs.append(_Output(named, bucket=True))
            return {"bucket": unit, "column": self.ref(column), "as": named}
        if token in ELAPSED:
            made = self.elapsed()
            named = self.named(f"{token}_between")
            self.outputs.append(_Output(named, unit=str(token)))
            return {**made, "as": named}
        if token in OF_TWO:
            made, name = self.of_two()
            named = self.named(name)
            self.outputs.append(_Output(named))
            return {**made, "as": named}
        unit = "fraction" if self.comes("share") else ""
        made, name = self.measure()
        if "agg" in made or "metric" in made:
            unit = str(made.get("unit") or self.unit_of_measure(made))
        named = self.named(name)
        self.outputs.append(_Output(named, unit=unit))
        return {**made, "as": named}

    def unit(self, made: Json, unit: str) -> str:
        """The unit of an item: its own, or the one that the question asks for, which the item then has."""
        if not self.comes("in"):
            return unit
        self.next()
        made["unit"] = canonical(str(self.item().value))
        return str(made["unit"])

    def unit_of_measure(self, made: Json) -> str:
        of: Json = made.get("of", {})
        if "elapsed" in of:
            return f"{of['elapsed']}s"
        table, dot, name = str(made.get("column", "")).rpartition(".")
        return self.units.get((table if dot else self.home, name), "") if made.get("agg") in _KEEPING else ""

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
        made["of"], name = self.of_two()
        return self.limited(made), f"{_PREFIX.get(word, word)}_{name}"

    def of_two(self) -> tuple[Json, str]:
        op, left, right = self.word(), self.item(), self.item()
        made: Json = {"left": {"column": self.ref(left)}, "right": {"column": self.ref(right)}}
        return {"op": _ARITHMETIC[op], **made}, f"{left.name}_{op}_{right.name}"

    def limited(self, measure: Json) -> Json:
        if self.comes("if"):
            self.next()
            measure["where"] = [self.condition(), *self.more()]
        self.unit(measure, "")
        return measure

    def output(self) -> _Output:
        place = int(self.word()[1:]) - 1
        if place >= len(self.outputs) or self.outputs[place].name == "*":
            raise NoPlan
        return self.outputs[place]

    def kept(self) -> Json:
        if not isinstance(self.tokens[self.at], str):
            value = self.item()
            shown = [o for o in self.outputs if o.column and _place(o.column) == _place(value)]
            if not shown:
                raise NoPlan
            return {"column": shown[0].name, "op": "=", "value": value.value}
        word = self.word()
        output = self.output()
        if word in {"above_mean", "below_mean"}:
            mean: Json = {"agg": "avg", "column": output.name}
            return {"column": output.name, "op": ">" if word == "above_mean" else "<", "than": mean}
        number = plain_number(self.number(), output.unit)
        return {"column": output.name, "op": "=" if word == "==" else word, "value": number}

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
        unit = "fraction" if word in {"share_of", "share_in", "growth", "pct"} else ""
        self.outputs.append(_Output(named, unit=unit))
        return {**made, "as": named}

    def top(self) -> Json:
        self.next()
        number, group, direction = self.number(), self.output(), self.word()
        return {"n": whole_number(number), "by": [group.name], "order_by": self.key(), "dir": direction}

    def key(self) -> str:
        token = self.tokens[self.at]
        if isinstance(token, Item):
            self.next()
            return self.ref(token)
        return self.output().name

    def named(self, *parts: str) -> str:
        """A name that no output has yet: the first part, or with the others behind it, or numbered."""
        taken = {output.name.lower() for output in self.outputs}
        tries = ["_".join(reversed(parts[:count])) for count in range(1, len(parts) + 1)]
        tries += [f"{parts[0]}_{number}" for number in range(2, 20)]
        return next(name for name in (each[:_LONGEST_NAME] for each in tries) if name.lower() not in taken)


_DERIVES = ("share_of", "share_in", "growth", "change", "running", "rank", "diff", "pct")


def _place(item: Item) -> tuple[str, str]:
    return item.table, item.name
