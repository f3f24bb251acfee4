"""Named tables: which a plan defines, and which of them it reads.

Invariant: a defined table is visible only to later definitions and to the plan itself; its columns
are the output columns of its plan, with the types and units that resolving that plan found.
"""

from __future__ import annotations

from collections.abc import Callable

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.engines.duckdb.types import NAMES
from sandtable.plan.findings import Findings, TooManyProblems
from sandtable.plan.model import Definition, PlanBody
from sandtable.plan.problems import did_you_mean, listed
from sandtable.plan.resolved import Defined, ResolvedPlan
from sandtable.plan.units import units_of
from sandtable.plan.walking import zoned_type
from sandtable.quoting import quote

ResolveBody = Callable[[PlanBody, Dataset, Table, frozenset[str], Findings], ResolvedPlan]

_NO_FILE = "0" * 64


class Definitions:
    """The dataset as it grows by one table per definition."""

    def __init__(self, dataset: Dataset, found: Findings, resolve_body: ResolveBody) -> None:
        self._dataset, self._found, self._resolve_body = dataset, found, resolve_body
        self._made: dict[str, Defined] = {}
        self._failed: set[str] = set()

    def add(self, definition: Definition, place: str) -> None:
        name = definition.name
        clash = self._clash(name)
        if clash:
            self._found.add(f"{place}.name", clash, "Choose another name.")
            return
        inner = Findings()
        try:
            plan = self.resolve(definition.plan, inner)
        except TooManyProblems:
            plan = None
        for problem in inner.problems:
            self._found.add(f"{place}.plan.{problem.field}", problem.message, problem.suggestion)
        if plan is None or inner.problems:
            self._failed.add(name.lower())
            return
        made = Defined(_table(name, plan, self._dataset), plan)
        self._made[made.table.name] = made
        self._dataset = self._dataset.model_copy(update={"tables": (*self._dataset.tables, made.table)})

    def _clash(self, name: str) -> str | None:
        if name.lower() in self._failed or any(name.lower() == made.lower() for made in self._made):
            return f"two definitions are called {quote(name)}"
        table = self._dataset.table(name)
        return f"{quote(name)} is the name of a table of {self._dataset.id}" if table else None

    def resolve(self, plan: PlanBody, found: Findings) -> ResolvedPlan | None:
        """A plan over the dataset and what is defined so far; None when its table is not there."""
        table = self._dataset.table(plan.table)
        if table is not None:
            return self._resolve_body(plan, self._dataset, table, frozenset(self._made), found)
        if plan.table.lower() not in self._failed:
            names = [t.name for t in self._dataset.tables]
            message = f"no table {quote(plan.table)} in {self._dataset.id}{did_you_mean(plan.table, names)}"
            found.add("table", message, f"Tables: {listed(names)}.")
        return None

    def read_by(self, plan: ResolvedPlan) -> tuple[Defined, ...]:
        """The definitions that `plan` reads, directly or through each other, in their own order."""
        chain: list[Defined] = []
        while plan.table in self._made:
            chain.append(self._made[plan.table])
            plan = chain[-1].plan
        return tuple(reversed(chain))


def _table(name: str, plan: ResolvedPlan, dataset: Dataset) -> Table:
    types = {o.name: o.expr.type for o in plan.outputs} | {d.name: d.type for d in plan.shown}
    units = units_of(plan, dataset)
    zoned = {o.name: moment for o in plan.outputs if (moment := zoned_type(o.expr)) is not None}
    columns = tuple(
        Column(name=column, type=type_, sql_type=zoned.get(column, NAMES[type_]), unit=units[column])
        for column, type_ in types.items()
    )
    return Table(name=name, file="", sha256=_NO_FILE, columns=columns)


def with_defined(plan: ResolvedPlan, dataset: Dataset) -> Dataset:
    """The dataset with the tables that the plan defines and reads added."""
    made = tuple(item.table for item in plan.defined)
    return dataset.model_copy(update={"tables": (*dataset.tables, *made)}) if made else dataset
