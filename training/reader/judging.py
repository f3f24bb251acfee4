"""Whether a plan gives what a question asks for: by what it computes, and by its rows.

Two plans that are written differently often give the same answer (`max` of the one row that there is, a name beside a
value). So plans over our own domains are executed on drawn rows, several times, beside the gold plan; where only
cells are known, as in WikiTableQuestions, the plan is executed on the rows of the set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evals.public.relations import Database
from evals.public.wtq import is_answer
from sandtable.catalog.model import Dataset
from sandtable.cli.evaluation.expected import Expected
from sandtable.errors import SandtableError
from sandtable.planner.candidates.network.fitting import plan_for
from sandtable.planner.ranking.essence import core, essence, shows
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex
from training.reader.example import Example
from training.reader.furnishing import furnished, relations_of

INSTANCES = 4
_LEAST = 2
"""Instances on which the gold plan finds something, so that its rows can say what is right."""
_MORE = 2
"""Columns that may stand beside those that were asked for."""
_OWN = frozenset({"own", "none", "dialogue"})
Rows = list[list[Any]]
Right = Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class Ground:
    """A dataset with rows to execute plans on; without databases, plans are compared by what they compute alone."""

    dataset: Dataset
    index: SchemaIndex
    databases: tuple[Database, ...] = ()

    def judge(self, example: Example) -> Right:
        """What says of a plan whether it is right."""
        if example.answers:
            return lambda plan: self._has_cells(plan, example.answers)
        gold = plan_for(example.sketch, self.index)
        if gold is None:
            return lambda _: False
        ordered = example.before is not None and "order_by" in gold
        wanted = self._wanted(gold, ordered) if self.databases else []
        return lambda plan: answers(plan, gold, self.index, ordered=ordered) or self._gives(plan, wanted)

    def close(self) -> None:
        for database in self.databases:
            database.close()

    def _has_cells(self, plan: Json, cells: Sequence[str]) -> bool:
        rows = self._rows(self.databases[0], plan)
        return rows is not None and is_answer(cells, rows)

    def _wanted(self, gold: Json, ordered: bool) -> list[Expected | None]:
        found: list[Expected | None] = []
        for database in self.databases:
            rows = self._rows(database, gold)
            told = rows is not None and any(cell not in (None, 0) for row in rows for cell in row)
            found.append(Expected((_without_fixed(gold, rows),), ordered=ordered) if rows and told else None)
        return found

    def _gives(self, plan: Json, wanted: Sequence[Expected | None]) -> bool:
        if sum(each is not None for each in wanted) < _LEAST:
            return False
        return all(
            expected.accepts(self._rows(database, plan))
            for database, expected in zip(self.databases, wanted, strict=True)
            if expected is not None
        )

    def _rows(self, database: Database, plan: Json) -> Rows | None:
        try:
            return database.run(plan, self.dataset)
        except SandtableError:
            return None


def ground_of(examples: Sequence[Example]) -> Ground:
    """The ground of examples over one dataset."""
    one = examples[0]
    if one.relations:
        index = SchemaIndex.build(one.dataset, one.profile)
        return Ground(one.dataset, index, (Database(one.relations),))
    if one.source not in _OWN or one.dataset.tables[0].rows == 0:
        return Ground(one.dataset, SchemaIndex.build(one.dataset, one.profile))
    sketches = [example.sketch for example in examples]
    drawn = [relations_of(one.dataset, one.profile, sketches, seed) for seed in range(INSTANCES)]
    dataset, profile = furnished(one.dataset, one.profile, drawn[0])
    return Ground(dataset, SchemaIndex.build(dataset, profile), tuple(Database(each) for each in drawn))


def _without_fixed(gold: Json, rows: Rows) -> Rows:
    """Without the columns that a condition of the plan fixes to one value: it is what the question itself says."""
    fixed = {f["column"] for f in gold.get("filters", ()) if f.get("op") == "=" and "column" in f}
    shown = gold.get("select", ())
    kept = [
        at for at, each in enumerate(shown) if set(each) - {"as"} != {"column"} or each["column"] not in fixed
    ]
    if not kept or len(kept) == len(shown) or any(len(row) < len(shown) for row in rows):
        return rows
    return [[row[at] for at in (*kept, *range(len(shown), len(row)))] for row in rows]


def answers(plan: Json, gold: Json, index: SchemaIndex, *, ordered: bool = False) -> bool:
    """Whether the plan computes what the gold plan computes, with `ordered` in the same order.

    Two more columns beside those asked for are no harm, and rows may be shown by other columns of theirs.
    """
    if ordered and _order(plan, index) != _order(gold, index):
        return False
    if essence(plan, index, ordered=False) == essence(gold, index, ordered=False):
        return True
    if core(plan, index, measures=False) != core(gold, index, measures=False):
        return False
    shown, asked = shows(plan, index), shows(gold, index)
    whole = any('"*"' in each for each in (*shown, *asked))
    listed = not any('"agg"' in each for each in asked)
    return (listed and (whole or asked <= shown)) or (asked <= shown and len(shown) <= len(asked) + _MORE)


def _order(plan: Json, index: SchemaIndex) -> object:
    return json.loads(essence(plan, index)).get("order")
