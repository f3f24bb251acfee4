"""WikiSQL, split `tune`: the planner's plan and the gold plan, executed; `evals/wikisql_data.py` says what is right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from evals.engine import Engine
from evals.public.measure import Measured, Planner, measure_question, sample
from evals.wikisql import is_lookup
from evals.wikisql_data import Question, Sheet, catalog_of, read_questions, read_sheets, run_plan
from sandtable.planner.schema.index import SchemaIndex


@dataclass(frozen=True, slots=True)
class WikiSqlWork:
    sheet: Sheet
    asked: tuple[Question, ...]

    def measure(self, planner: Planner) -> list[Measured]:
        index, engine = SchemaIndex.build(*catalog_of(self.sheet)), Engine()
        measured: list[Measured] = []
        for number, one in enumerate(self.asked):

            def judge(plan: dict[str, Any], gold: dict[str, Any] = one.plan) -> bool | None:
                try:
                    found = run_plan(plan, self.sheet) if is_lookup(plan) else engine.run(plan, self.sheet)
                except duckdb.Error:
                    return None
                return found == run_plan(gold, self.sheet)

            name = f"{self.sheet.id}.{number}"
            measured.append(measure_question(name, ("all",), one.text, index, planner, judge))
        return measured


def works(folder: Path, split: str, limit: int | None) -> list[WikiSqlWork]:
    sheets = read_sheets(folder)
    by_table: dict[str, list[Question]] = {}
    for one in sample(read_questions(folder, split, sheets), lambda one: f"{one.table} {one.text}", limit):
        by_table.setdefault(one.table, []).append(one)
    return [WikiSqlWork(sheets[table], tuple(found)) for table, found in by_table.items()]
