"""A plan split into pieces: one for each thing that it computes, groups by, filters by or sorts by.

Invariant: pure and total. Any JSON object gives pieces; what is not understood gives fewer of them, never an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from sandtable.planner.conscience.pieces import (
    ADDED_UP,
    SAID,
    Json,
    Path,
    Piece,
    aggregates,
    listed,
    objects_in,
    says_no,
    spoken,
    texts_in,
    unit_asked,
)
from sandtable.planner.language.words import split_name, stem
from sandtable.planner.schema.entries import ColumnEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex


@dataclass(frozen=True, slots=True)
class _Output:
    columns: tuple[ColumnEntry, ...]
    does: frozenset[str]
    names: frozenset[str] = frozenset()


def pieces_of(plan: Json, index: SchemaIndex) -> tuple[Piece, ...]:
    """The pieces of a plan and of the plans that it defines."""
    walk = _Walk(index)
    for at, definition in enumerate(objects_in(plan.get("define"))):
        body = definition.get("plan")
        if isinstance(body, Mapping):
            walk.body(cast("Json", body), ("define", at, "plan"))
            walk.defined[str(definition.get("name", "")).lower()] = dict(walk.outputs)
    walk.body(plan, ())
    return tuple(walk.found)


class _Walk:
    def __init__(self, index: SchemaIndex) -> None:
        self.index = index
        self.found: list[Piece] = []
        self.defined: dict[str, dict[str, _Output]] = {}
        self.outputs: dict[str, _Output] = {}
        self.table: TableEntry | None = None
        self.source: dict[str, _Output] = {}

    def body(self, plan: Json, prefix: Path) -> None:
        name = str(plan.get("table", ""))
        self.table, self.source, self.outputs = (
            self.index.table(name),
            self.defined.get(name.lower(), {}),
            {},
        )
        stems = frozenset(stem(word) for word in split_name(name))
        self.found.append(
            Piece("shape", (*prefix, "table"), f"rows of {name}", table=self.table, names=stems)
        )
        self._select(plan, prefix)
        self._conditions(plan.get("filters"), (*prefix, "filters"))
        if isinstance(plan.get("time"), Mapping):
            self._window(cast("Json", plan["time"]), (*prefix, "time"))
        self._derive(plan, prefix)
        self._conditions(plan.get("having"), (*prefix, "having"), outputs=True)
        self._order(plan, prefix)

    # What is shown.

    def _select(self, plan: Json, prefix: Path) -> None:
        items = objects_in(plan.get("select"))
        computed = any(aggregates(item) for item in items)
        grouped = computed or bool(plan.get("group_by"))
        for at, item in enumerate(items):
            path = (*prefix, "select", at)
            piece = self._item(item, path)
            bucket = "bucket" in piece.does
            if piece.kind == "measure" and not aggregates(item):
                piece = replace(piece, kind="by" if bucket or (grouped and "column" in item) else "shape")
            self._keep(piece, item)
        for at, key in enumerate(listed(plan.get("group_by"))):
            if isinstance(key, str) and key.lower() not in self.outputs:
                self._group({"column": key}, (*prefix, "group_by", at))
            elif isinstance(key, Mapping):
                self._group(cast("Json", key), (*prefix, "group_by", at))

    def _group(self, item: Json, path: Path) -> None:
        self._keep(replace(self._item(item, path), kind="by"), item)

    def _keep(self, piece: Piece, item: Json) -> None:
        self.found.append(piece)
        output = _Output(piece.columns, piece.does, piece.names)
        for name in (item.get("as"), item.get("metric"), item.get("bucket"), item.get("column")):
            if isinstance(name, str):
                self.outputs.setdefault(name.lower(), output)
                self.outputs.setdefault(name.rpartition(".")[2].lower(), output)
        if isinstance(item.get("agg"), str):
            self.outputs.setdefault(f"{item['agg']}_{item.get('column', '')}".strip("_").lower(), output)

    def _item(self, item: Json, path: Path) -> Piece:
        """The parts of an expression; its conditions become separate pieces."""
        if "agg" in item:
            return self._aggregate(item, path)
        if "metric" in item:
            return self._metric(str(item["metric"]), path, item)
        if "bucket" in item:
            column = item.get("column") or (self.table.time_column if self.table else None)
            columns = self._columns(column)
            unit = str(item["bucket"])
            if isinstance(of := item.get("of"), Mapping):
                inner = self._item(cast("Json", of), (*path, "of"))
                return replace(inner, does=inner.does | {"bucket", unit})
            label = f"{unit.replace('_', ' ')}{' of ' + spoken(columns[0]) if columns else ''}"
            return Piece("measure", path, label, columns, frozenset({"bucket", unit}))
        if "elapsed" in item:
            ends = [*self._columns(item.get("from")), *self._columns(item.get("to"))]
            does = frozenset({"elapsed", "difference", str(item["elapsed"])})
            return Piece("measure", path, f"time in {item['elapsed']}s", tuple(ends), does)
        if "holds" in item:
            self._conditions(item["holds"], (*path, "holds"))
            return Piece("measure", path, "yes or no", (), frozenset({"holds"}))
        if "op" in item:
            return self._arithmetic(item, path)
        if item.get("column") == "*" and self.table is not None:
            return Piece("measure", path, "all columns", self.table.columns, frozenset({"all"}))
        columns = self._columns(item.get("column"))
        output = self.source.get(str(item.get("column", "")).lower())
        label = spoken(columns[0]) if columns else str(item.get("column", ""))
        return Piece("measure", path, label, columns, output.does if output else frozenset())

    def _aggregate(self, item: Json, path: Path) -> Piece:
        agg = str(item["agg"])
        inner = item.get("of")
        columns = [*self._columns(item.get("column")), *self._columns(item.get("with"))]
        known = self.source.get(str(item.get("column", "")).lower())
        does = {agg} | (known.does & {"share", "ratio", "change"} if known is not None else frozenset[str]())
        if isinstance(inner, Mapping):
            of = self._item(cast("Json", inner), (*path, "of"))
            columns += of.columns
            does |= (
                of.does if "elapsed" in of.does else of.does & {"product", "difference", "ratio", "addition"}
            )
        if item.get("distinct") or agg == "count_distinct":
            does.add("distinct")
        if item.get("where"):
            does.add("some")
        if item.get("within") is not None:
            does.add("within")
        self._conditions(item.get("where"), (*path, "where"))
        what = spoken(columns[0]) if columns else "rows"
        number = item.get("q") if isinstance(item.get("q"), int | float) else None
        label = f"{what}, {ADDED_UP.get(agg, agg)}"
        return Piece(
            "measure",
            path,
            label,
            tuple(dict.fromkeys(columns)),
            frozenset(does),
            number=number,
            unit=unit_asked(item),
        )

    def _metric(self, name: str, path: Path, item: Json) -> Piece:
        entry = next((m for m in self.index.metrics if m.metric.name.lower() == name.lower()), None)
        self._conditions(item.get("where"), (*path, "where"))
        if entry is None:
            return Piece("measure", path, name, names=frozenset(stem(w) for w in split_name(name)))
        home = self.table
        self.table = self.index.table(entry.metric.table) or home
        inner = _Walk(self.index)
        inner.table = self.table
        sides = [
            inner._item(part, path)
            for part in (entry.metric.numerator, entry.metric.denominator)
            if part is not None
        ]
        self.table = home
        columns = [c for side in sides for c in side.columns]
        columns += [c for condition in inner.found for c in condition.columns]
        does = frozenset(mark for side in sides for mark in side.does) | {"metric"}
        if len(sides) > 1:
            does |= {"ratio", "share"} if entry.metric.format == "percent" else {"ratio"}
        values = (str(v) for condition in inner.found for v in condition.values)
        told = frozenset(stem(word) for text in values for word in split_name(text))
        names = frozenset(entry.stems) | entry.description_stems | told
        kept, label = tuple(dict.fromkeys(columns)), " ".join(entry.words)
        return Piece("measure", path, label, kept, does, names=names, unit=unit_asked(item))

    def _arithmetic(self, item: Json, path: Path) -> Piece:
        sides: list[Piece] = []
        factors: list[float] = []
        for side in ("left", "right"):
            operand = item.get(side)
            if isinstance(operand, Mapping) and "value" in operand:
                factors += [float(operand["value"])] if isinstance(operand["value"], int | float) else []
            elif isinstance(operand, Mapping):
                sides.append(self._item(cast("Json", operand), (*path, side)))
        does = frozenset(mark for side in sides for mark in side.does)
        mark = {"/": "ratio", "*": "product", "-": "difference", "+": "addition"}.get(str(item.get("op")), "")
        if len(sides) > 1:
            does |= {mark}
            if mark == "ratio" and "some" in sides[0].does and "some" not in sides[1].does:
                does |= {"share"}
        columns = tuple(dict.fromkeys(c for side in sides for c in side.columns))
        names = frozenset(n for side in sides for n in side.names)
        joined = f" {item.get('op')} ".join(side.label for side in sides)
        factors += [f for side in sides for f in side.factors]
        return Piece(
            "measure",
            path,
            "share" if "share" in does else joined,
            columns,
            does,
            names=names,
            factors=tuple(factors),
            unit=unit_asked(item),
        )

    def _columns(self, ref: object) -> tuple[ColumnEntry, ...]:
        if isinstance(ref, Mapping):
            return self._item(cast("Json", ref), ()).columns
        if not isinstance(ref, str):
            return ()
        known = self.source.get(ref.lower())
        if known is not None:
            return known.columns
        column = self.table.column(ref) if self.table else None
        if column is None and "." in ref:
            table, _, name = ref.partition(".")
            column = self.index.column(table, name)
        return (column,) if column else ()

    def _output(self, ref: object) -> _Output:
        known = self.outputs.get(str(ref).lower())
        return known or _Output(self._columns(ref), frozenset())

    # Which rows.

    def _conditions(self, conditions: object, path: Path, *, outputs: bool = False) -> None:
        for at, condition in enumerate(objects_in(conditions)):
            self._condition(condition, (*path, at), negative=False, either=False, outputs=outputs)

    def _condition(self, condition: Json, path: Path, *, negative: bool, either: bool, outputs: bool) -> None:
        for word in ("any", "all"):
            parts = objects_in(condition.get(word))
            for at, part in enumerate(parts):
                several = word == "any" and len(parts) > 1
                self._condition(
                    part, (*path, word, at), negative=negative, either=either or several, outputs=outputs
                )
            if parts:
                return
        if isinstance(condition.get("not"), Mapping):
            inner = cast("Json", condition["not"])
            self._condition(inner, (*path, "not"), negative=not negative, either=either, outputs=outputs)
        elif isinstance(condition.get("time"), Mapping):
            self._window(cast("Json", condition["time"]), (*path, "time"), negative=negative)
        elif isinstance(condition.get("exists"), Mapping):
            self._exists(cast("Json", condition["exists"]), (*path, "exists"), negative, either)
        else:
            self.found.append(self._leaf(condition, path, negative, either, outputs))

    def _exists(self, rows: Json, path: Path, negative: bool, either: bool) -> None:
        """Rows of another table. Their own conditions are not negated when there must be none of them."""
        name = str(rows.get("table", ""))
        words, number = split_name(name), rows.get("at_least", 1)
        least = f"at least {number} " if number != 1 else ""
        does = frozenset({"exists", "or"} if either else {"exists"})
        home = self.table, self.source
        self.table, self.source = self.index.table(name), {}
        self.found.append(
            Piece(
                "where", path, f"{'not: ' if negative else ''}with {least}{' '.join(words)}", does=does, op=">=",
                values=(number,), negative=negative, table=self.table, names=frozenset(map(stem, words)),
            )
        )  # fmt: skip
        self._conditions(rows.get("where"), (*path, "where"))
        self.table, self.source = home

    def _leaf(self, leaf: Json, path: Path, negative: bool, either: bool, outputs: bool) -> Piece:
        output = (
            self._output(leaf.get("column"))
            if outputs
            else _Output(self._columns(leaf.get("column")), frozenset())
        )
        columns, does = list(output.columns), set(output.does)
        for side in ("of", "than"):
            if isinstance(leaf.get(side), Mapping):
                piece = self._item(cast("Json", leaf[side]), (*path, side))
                columns += piece.columns
                does |= piece.does
        if leaf.get("other_column") or "than" in leaf or "zscore" in does:
            does.add("against")
            columns += self._columns(leaf.get("other_column"))
        op = str(leaf.get("op", ""))
        value = leaf.get("value")
        values = tuple(cast("Iterable[Any]", value)) if isinstance(value, list | tuple) else (value,)
        values = tuple(v for v in values if v is not None)
        if either or (op == "in" and len(values) > 1):
            does.add("or")
        if outputs:
            does.add("having")
        against = says_no(columns[0] if columns else None, op, values)
        what = spoken(columns[0]) if columns else str(leaf.get("column", "")) if not outputs else "count"
        label = (
            f"{'not: ' if negative else ''}{what} {SAID.get(op, op)} {', '.join(map(str, values))}".strip()
        )
        return Piece(
            "where", path, label, tuple(columns), frozenset(does), op, values,
            negative=against != negative, names=output.names,
        )  # fmt: skip

    def _window(self, window: Json, path: Path, *, negative: bool = False) -> None:
        column = window.get("column") or (self.table.time_column if self.table else None)
        said = ", ".join(f"{k} {v}" for k, v in window.items() if k != "column")
        self.found.append(Piece("when", path, said, self._columns(column), window=window, negative=negative))

    # Over the finished rows.

    def _derive(self, plan: Json, prefix: Path) -> None:
        marks = {
            "share_of_total": {"share"}, "change": {"change", "difference"}, "running_total": {"running"},
            "zscore": {"zscore", "avg"}, "previous": {"previous"}, "next": {"next"},
        }  # fmt: skip
        grouped = any(piece.kind == "by" for piece in self.found)
        for at, item in enumerate(objects_in(plan.get("derive"))):
            path = (*prefix, "derive", at)
            for key, does in marks.items():
                if key in item:
                    output = self._output(item[key])
                    # The share of a single row in itself is always 1.
                    kept = does if grouped or key != "share_of_total" else set[str]()
                    if item.get("kind") == "percent":
                        kept = kept | {"percent"}
                    label = f"{key.replace('_', ' ')} of {item[key]}"
                    piece = Piece("measure", path, label, output.columns, output.does | kept)
                    self._keep(piece, item)
                    self.outputs[str(item.get("as", "")).lower()] = _Output(
                        output.columns, frozenset(kept), output.names
                    )
                    break
            else:
                self._derived(item, path)

    def _derived(self, item: Json, path: Path) -> None:
        for key in ("rank", "position"):
            if key in item:
                output = self._output(item[key])
                way = str(item.get("dir", "desc" if key == "rank" else "asc"))
                does = frozenset({"rank", way})
                piece = Piece("order", path, f"place by {item[key]}", output.columns, output.does | does)
                self.found.append(piece)
                self.outputs[str(item.get("as", "")).lower()] = _Output(output.columns, does)
                return
        if "run" in item:
            self._conditions(item["run"], (*path, "run"), outputs=True)
            piece = Piece("measure", path, "rows in a row", (), frozenset({"run"}))
            self._keep(piece, item)
            return
        self._keep(self._item(item, path), item)

    def _order(self, plan: Json, prefix: Path) -> None:
        for at, item in enumerate(objects_in(plan.get("order_by"))):
            output = self._output(item.get("expr"))
            way = str(item.get("dir", "asc"))
            label = f"by {item.get('expr')}, {'highest' if way == 'desc' else 'lowest'} first"
            does = (output.does - {"asc", "desc"}) | {way}
            self.found.append(
                Piece("order", (*prefix, "order_by", at), label, output.columns, does, names=output.names)
            )
        if isinstance(plan.get("limit"), int):
            number = plan["limit"]
            self.found.append(Piece("limit", (*prefix, "limit"), f"first {number}", number=number))
        top = plan.get("top_per_group")
        if isinstance(top, Mapping):
            self._top(cast("Json", top), (*prefix, "top_per_group"))

    def _top(self, top: Json, path: Path) -> None:
        output = self._output(top.get("order_by"))
        way, number = str(top.get("dir", "desc")), top.get("n")
        self.found.append(
            Piece("order", path, f"first {number} of each", output.columns, output.does | {way, "top"})
        )
        if isinstance(number, int):
            self.found.append(Piece("limit", (*path, "n"), f"first {number} of each", number=number))
        for at, key in enumerate(texts_in(top.get("by"))):
            columns = self._output(key).columns
            self.found.append(Piece("by", (*path, "by", at), f"for each {key}", columns, frozenset({"top"})))
