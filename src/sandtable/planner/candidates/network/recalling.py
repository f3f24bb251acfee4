"""The previous plan as input of the network: words, and the items among them that a sketch may point at.

Invariant: total over plans. The plan is written in plain words in the order of a sketch; an unknown field is
written by its name. Names that a plan gives to its outputs are left out: what is counted is called
`first`, `second`, so that a plan reads alike whatever proposed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from sandtable.planner.candidates.network.sketch import Item
from sandtable.planner.language.words import split_name, split_words
from sandtable.planner.schema.entries import ColumnEntry, Json
from sandtable.planner.schema.index import SchemaIndex

_COMPARED = {
    "=": "is", "!=": "is not", ">": "over", ">=": "at least", "<": "under", "<=": "at most", "in": "is",
    "not_in": "is not", "is_null": "empty", "not_null": "not empty",
}  # fmt: skip
_COMPUTED = {"+": "plus", "-": "minus", "*": "times", "/": "per"}
_TEXTS = frozenset({"contains", "startswith", "endswith"})
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_SILENT = frozenset(
    {
        "as", "dataset_id", "group_by", "chart", "notes", "table", "select", "filters", "time", "having", "derive",
        "top_per_group", "order_by", "limit", "define", "nulls", "ties",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recalled:
    words: tuple[str, ...]
    item: Item | None = None
    column: str = ""
    """The reference of the column that the words name."""


def recall(plan: Json, index: SchemaIndex) -> list[Recalled]:
    """The plan in words."""
    found: list[Recalled] = []
    for definition in plan.get("define", ()):
        inner = cast("Json", definition.get("plan", {}))
        found += _Teller(index, str(inner.get("table", ""))).body(inner)
        found.append(Recalled(("then",)))
    return [*found, *_Teller(index, str(plan.get("table", ""))).body(plan)]


class _Teller:
    def __init__(self, index: SchemaIndex, home: str) -> None:
        self.index = index
        self.home = home
        self.outputs: dict[str, int] = {}

    def body(self, plan: Json) -> Iterator[Recalled]:
        yield from self.table(self.home)
        for place, item in enumerate(plan.get("select", ())):
            name = str(item.get("as") or item.get("metric") or item.get("column", ""))
            self.outputs.setdefault(name.rpartition(".")[2].lower(), place)
            self.outputs.setdefault(name.lower(), place)
            yield from self.expression(item)
        shown = {str(item.get("column")) for item in plan.get("select", ())}
        for condition in plan.get("filters", ()):
            if condition.get("op") == "not_null" and condition.get("column") in shown:
                # Groups of empty cells are left out: no question said so.
                continue
            yield Recalled(("where",))
            yield from self.condition(condition)
        if plan.get("time"):
            yield from self.window(plan["time"])
        for condition in plan.get("having", ()):
            yield Recalled(("having",))
            yield from self.condition(condition)
        for derived in plan.get("derive", ()):
            self.outputs.setdefault(str(derived.get("as", "")).lower(), len(self.outputs))
            yield from self.fields({k: v for k, v in derived.items() if k != "as"})
        # The order of all rows is how they are shown, and changes nothing that a message may be about.
        for part in ("top_per_group", "order_by", "limit") if "limit" in plan else ("top_per_group",):
            if plan.get(part):
                yield Recalled((part.split("_")[0],))
                yield from self.node(plan[part])
        yield from self.fields({k: v for k, v in plan.items() if k not in _SILENT})

    def table(self, name: str) -> Iterator[Recalled]:
        entry = self.index.table(name)
        if entry is not None:
            yield Recalled(entry.words or (name.lower(),))

    def named(self, ref: str) -> Iterator[Recalled]:
        """A column, or an output by its place."""
        if ref == "*":
            yield Recalled(("rows",))
            return
        column = self.column(ref)
        if column is not None:
            yield Recalled(column.words[:8], column=column.ref)
        elif ref.lower() in self.outputs:
            yield Recalled((_PLACES[min(self.outputs[ref.lower()], len(_PLACES) - 1)],))
        else:
            yield Recalled(split_name(ref) or (ref.lower(),))

    def column(self, ref: str) -> ColumnEntry | None:
        table, _, name = ref.rpartition(".")
        return self.index.column(table or self.home, name)

    def expression(self, item: Json) -> Iterator[Recalled]:
        if "left" in item:
            yield from self.node(item["left"])
            yield Recalled((_COMPUTED.get(str(item.get("op")), "and"),))
            yield from self.node(item.get("right"))
        elif "elapsed" in item:
            yield Recalled((f"{item['elapsed']}s", "from"))
            yield from self.named(str(item.get("from", "")))
            yield Recalled(("to",))
            yield from self.named(str(item["to"])) if "to" in item else iter([Recalled(("now",))])
        else:
            yield from self.measured(item)
        if item.get("where"):
            yield Recalled(("if",))
            for condition in item["where"]:
                yield from self.condition(condition)
        if item.get("unit"):
            yield Recalled(("in",))
            yield Recalled((str(item["unit"]).lower(),), Item("unit", value=item["unit"]))

    def measured(self, item: Json) -> Iterator[Recalled]:
        for field in ("agg", "bucket"):
            if field in item:
                yield Recalled(split_name(str(item[field])))
        if "metric" in item:
            entry = next((m for m in self.index.metrics if m.metric.name == item["metric"]), None)
            yield Recalled(entry.words[:5] if entry is not None else (str(item["metric"]).lower(),))
        for field in ("column", "with"):
            if field in item:
                yield from self.named(str(item[field]))
        if "of" in item:
            yield from self.node(item["of"])
        known = {"agg", "bucket", "metric", "column", "with", "of", "as", "where", "unit"}
        yield from self.fields({k: v for k, v in item.items() if k not in known})

    def condition(self, item: Json) -> Iterator[Recalled]:
        for field, between in (("any", "or"), ("all", "and")):
            for place, each in enumerate(item.get(field, ())):
                if place:
                    yield Recalled((between,))
                yield from self.condition(each)
        if "not" in item:
            yield Recalled(("not",))
            yield from self.condition(item["not"])
        elif "time" in item:
            yield from self.window(item["time"])
        elif "exists" in item:
            yield from self.existing(item["exists"])
        elif "op" in item:
            yield from self.compared(item)

    def existing(self, item: Json) -> Iterator[Recalled]:
        yield Recalled(("has",))
        yield from self.fields({k: v for k, v in item.items() if k not in {"table", "where", "filters"}})
        other = _Teller(self.index, str(item.get("table", "")))
        yield from other.table(other.home)
        for condition in (*item.get("where", ()), *item.get("filters", ())):
            yield from other.condition(condition)

    def compared(self, item: Json) -> Iterator[Recalled]:
        ref, op = str(item.get("column", "")), str(item["op"])
        column = self.column(ref) if ref else None
        yield from self.named(ref) if ref else self.node(item.get("of"))
        yield Recalled(tuple(_COMPARED.get(op, op.replace("_", " ")).split()))
        if "other_column" in item:
            yield from self.named(str(item["other_column"]))
        if "than" in item:
            yield from self.node(item["than"])
        value: Any = item.get("value")
        for each in cast("list[Any]", value) if isinstance(value, list) else [value]:
            yield from self.cell(each, column, text=op in _TEXTS)

    def cell(self, value: Any, column: ColumnEntry | None, *, text: bool) -> Iterator[Recalled]:
        if value is None:
            return
        if isinstance(value, bool):
            yield Recalled(("yes" if value else "no",))
        elif isinstance(value, int | float):
            yield from self.node(value)
        else:
            item = Item("text", value=str(value)) if text else None
            if column is not None and not text:
                item = Item("value", column.table, column.name, value)
            yield Recalled(tuple(w.lower for w in split_words(str(value)))[:6] or ("empty",), item)

    def window(self, window: Json) -> Iterator[Recalled]:
        bounds = {field: value for field, value in window.items() if field != "column"}
        words = ["time"]
        for field, value in sorted(bounds.items()):
            words += [
                *(() if field in {"period", "unit"} else (field,)),
                *str(value).lower().replace("_", " ").split(),
            ]
        pieces = tuple(part for word in words for part in word.split("-"))
        yield Recalled(pieces, Item("window", value=tuple(sorted(bounds.items()))))
        if window.get("column"):
            yield Recalled(("on",))
            yield from self.named(str(window["column"]))

    def fields(self, item: Json) -> Iterator[Recalled]:
        for field, value in item.items():
            yield Recalled(split_name(field))
            yield from self.node(value)

    def node(self, value: Any) -> Iterator[Recalled]:
        """Anything: an expression, a list of such, a number, a name."""
        if isinstance(value, list | tuple):
            for each in cast("list[Any]", value):
                yield from self.node(each)
        elif isinstance(value, dict):
            given = cast("Json", value)
            if "expr" in given:
                yield Recalled((str(given.get("dir", "asc")),))
                yield from self.named(str(given["expr"]))
            else:
                yield from self.expression(given)
        elif isinstance(value, bool) or value is None:
            yield Recalled(("yes" if value else "no",))
        elif isinstance(value, int | float):
            yield Recalled((f"{value:g}",), Item("number", value=float(value)))
        else:
            yield from self.named(str(value))
