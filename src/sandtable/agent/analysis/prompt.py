"""The prompts for planning, writing, repairing, charting and concluding an analysis.

Invariant: as in `agent.model_prompt`, all external text is JSON inside `<data>` tags, and nothing that `privacy`
withholds is included. However large the results of the cells are, a prompt is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandtable.agent.analysis.coder import Seen, Task
from sandtable.agent.analysis.observing import names_made
from sandtable.agent.analysis.secrecy import shown_cell, shown_error
from sandtable.agent.endpoint import Privacy
from sandtable.agent.model_prompt import history_data, now_in, question_data, schema_of, values_data
from sandtable.agent.prompt_files import as_data, prompt_file
from sandtable.errors import Problem

PLAN_STEPS, WRITE_CODE, DIAGNOSE, DRAW, CONCLUDE = (
    "plan_steps",
    "write_code",
    "diagnose",
    "draw",
    "conclude",
)
MOST_WHOLE = 3
"""A prompt holds code, output and table rows of this many newest cells; of older ones, only a summary."""
MOST_CELLS = 12
MOST_NAMES = 60
_LONGEST_CODE = 6_000


def plan_prompt(task: Task, privacy: Privacy, refused: Problem | None) -> str:
    return prompt_file(PLAN_STEPS).filled(
        schema=schema_of(task.asked, privacy),
        as_of=now_in(task.asked, privacy),
        history=history_data(task.asked, privacy),
        variables=_variables(task),
        refused=_refused(refused),
        question=question_data(task.asked),
        values=values_data(task.asked, privacy),
    )


def code_prompt(task: Task, privacy: Privacy, refused: Problem | None) -> str:
    return prompt_file(WRITE_CODE).filled(
        only_table=len(task.asked.dataset.tables) == 1,
        schema=schema_of(task.asked, privacy),
        as_of=now_in(task.asked, privacy),
        history=history_data(task.asked, privacy),
        variables=_variables(task),
        plan=as_data(task.steps),
        cells=_cells(task, task.cells, privacy),
        advice=_advice(task),
        refused=_refused(refused),
        step=as_data({"number": task.step, "of": len(task.steps), "goal": task.goal}),
        question=question_data(task.asked),
        values=values_data(task.asked, privacy),
    )


def diagnose_prompt(task: Task, privacy: Privacy, refused: Problem | None) -> str:
    failed = task.cells[-1]
    return prompt_file(DIAGNOSE).filled(
        schema=schema_of(task.asked, privacy),
        cells=_cells(task, task.cells[:-1], privacy),
        step=as_data(task.goal),
        code=as_data(failed.code[:_LONGEST_CODE]),
        error=as_data(shown_error(failed, task.asked, privacy)),
        refused=_refused(refused),
    )


def draw_prompt(task: Task, privacy: Privacy, refused: Problem | None) -> str:
    return prompt_file(DRAW).filled(
        question=question_data(task.asked),
        variables=_variables(task),
        cells=_cells(task, task.cells, privacy),
        advice=_advice(task),
        refused=_refused(refused),
    )


def conclude_prompt(task: Task, plain: str) -> str:
    """Only where the model may see cells."""
    worked = tuple(cell for cell in task.cells if cell.succeeded)
    return prompt_file(CONCLUDE).filled(
        question=question_data(task.asked),
        plan=as_data(task.steps),
        cells=_cells(task, worked, "off"),
        tags=as_data([f"[[{name}]]" for name in shown_ids(worked)]),
        draft=as_data(plain),
    )


def shown_ids(cells: Iterable[Seen]) -> list[str]:
    return [name for c in cells for name in (*(table.id for table in c.tables), *c.plots, *c.others)]


def _cells(task: Task, cells: tuple[Seen, ...], privacy: Privacy) -> str:
    kept = cells[-MOST_CELLS:]
    whole = len(kept) - MOST_WHOLE
    shown: list[dict[str, Any]] = [
        shown_cell(cell, task.asked, privacy, whole=place >= whole) for place, cell in enumerate(kept)
    ]
    return as_data(shown)


def _variables(task: Task) -> str:
    before = [code for exchange in task.asked.history for code in exchange.code]
    return as_data(names_made([*before, *(cell.code for cell in task.cells if cell.succeeded)])[-MOST_NAMES:])


def _advice(task: Task) -> str:
    return "" if task.advice is None else as_data(task.advice.model_dump())


def _refused(problem: Problem | None) -> str:
    return "" if problem is None else as_data({"message": problem.message, "suggestion": problem.suggestion})
