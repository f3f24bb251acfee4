"""What is gathered while a semantic layer is read: statements about the dataset's tables, and parts without a use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.catalog.registry import explain
from sandtable.catalog.semantics.exchange.metric_reading import ReadMetric
from sandtable.catalog.semantics.exchange.sql_tree import NotRead
from sandtable.catalog.semantics.model import Semantics, UnusedSemantics
from sandtable.errors import InvalidInput

_MOST_SYNONYMS = 50


Problems = Callable[[Semantics], tuple[str, ...]]
"""Why the dataset cannot be described by a document, in words."""


class Layer:
    def __init__(self, dataset: Dataset, kind: Literal["Ossie", "dbt"], problems: Problems) -> None:
        self.dataset = dataset
        self._kind = kind
        self._problems = problems
        self.said: dict[str, Any] = {}
        self.joins: list[tuple[str, str, str, str]] = []
        self.metrics: dict[str, dict[str, Any]] = {}
        self.unused: list[UnusedSemantics] = []
        self._tables: dict[str, dict[str, Any]] = {}

    def table(self, names: Iterable[str]) -> Table | None:
        """The first that exists; of `database.schema.table`, the last part counts."""
        for name in names:
            found = self.dataset.table(name) or self.dataset.table(name.split(".")[-1].strip('"`[] '))
            if found is not None:
                return found
        return None

    def say(self, table: Table, column: Column | None = None, **fields: Any) -> None:
        """What is empty says nothing. Synonyms are added to those before."""
        there = self._tables.setdefault(table.name, {"columns": {}})
        place = there if column is None else there["columns"].setdefault(column.name, {})
        own = (column or table).name
        for name, value in fields.items():
            if name == "synonyms":
                known = [*place.get(name, ()), *value]
                other = [each for each in dict.fromkeys(known) if each and each != own]
                value = other[:_MOST_SYNONYMS]
            if value not in (None, "", (), []):
                place[name] = value

    def join(self, many: tuple[Table, Column], one: tuple[Table, Column]) -> None:
        made = (many[0].name, many[1].name, one[0].name, one[1].name)
        if made not in self.joins:
            self.joins.append(made)

    def metric(self, name: str, read: ReadMetric, **fields: Any) -> None:
        """Raises NotRead where a plan could not use it. The joins are known by now."""
        made = {
            "table": read.table,
            "numerator": read.numerator,
            "denominator": read.denominator,
            **fields,
        }
        try:
            alone = Semantics.model_validate({"joins": self._joins(), "metrics": {name: made}})
        except ValidationError as error:
            raise NotRead(explain(error)) from error
        if problems := self._problems(alone):
            raise NotRead(problems[0])
        self.metrics[name] = made

    def leave(self, what: str, name: str, reason: str, content: Mapping[str, Any]) -> None:
        """A part that cannot be used, with the reason."""
        made = UnusedSemantics(
            kind=f"{self._kind} {what}"[:100], name=name[:600], reason=reason[:2000], content=dict(content)
        )
        if made not in self.unused:
            self.unused.append(made)

    def reaches(self, many: str, one: str) -> bool:
        """Whether joins lead from each row of the first table to at most one of the second."""
        ways = [(r.many_table, r.one_table) for r in self.dataset.relationships]
        ways += [(join[0], join[2]) for join in self.joins]
        known, new = {many}, [many]
        while new:
            here = new.pop()
            for there in (to for start, to in ways if start == here and to not in known):
                known.add(there)
                new.append(there)
        return one in known

    def _joins(self) -> list[dict[str, str]]:
        """Those of the dataset, and those of the layer."""
        known = [(r.many_table, r.many_column, r.one_table, r.one_column) for r in self.dataset.relationships]
        return [
            {"many": f"{many}.{column}", "one": f"{one}.{key}"}
            for many, column, one, key in dict.fromkeys([*known, *self.joins])
        ]

    def semantics(self) -> Semantics:
        document: dict[str, Any] = {
            **self.said,
            "dataset": self.dataset.id,
            "tables": self._tables,
            "joins": self._joins() if self.joins else None,
            "metrics": self.metrics or None,
            "unused": self.unused,
        }
        try:
            return Semantics.model_validate(document)
        except ValidationError as error:
            raise InvalidInput(
                f"the model cannot be used: {explain(error)[:500]}",
                suggestion="Shorten or correct that part of the model.",
            ) from error
