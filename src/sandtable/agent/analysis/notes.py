"""An analysis under way, as stored in the turn's notes: the steps, the position, and the results of the cells.

Invariant: plain JSON, so that it waits for a person's approval in a checkpoint like everything else.
"""

from __future__ import annotations

from typing import Any, TypedDict

from sandtable.agent.analysis.coder import MOST_CALLS, MOST_REPAIRS, Advice, Seen, Task
from sandtable.agent.proposer import Asked

CHART = "Draw a chart of the result"


class Analysis(TypedDict, total=False):
    steps: list[str]
    at: int
    """The current step, from 1; the one after the last is the chart."""
    code: str
    """What runs next."""
    thought: str
    """The coder's explanation of that code."""
    by_person: bool
    """A person changed that code."""
    alone: bool
    """The gate refused that code outside the session, and no person approved it: it must not run with session state."""
    repairs: int
    """Repairs of the current step."""
    calls: int
    cells: list[dict[str, Any]]
    """`Seen`, oldest first."""
    advice: dict[str, Any] | None
    problem: dict[str, Any] | None
    """Why the analysis was abandoned."""
    next: str
    """The node that follows, where a node decides it."""
    replayed: int
    """Earlier cells that had to be run again, because the session had ended."""


def cells_of(analysis: Analysis) -> tuple[Seen, ...]:
    return tuple(Seen.model_validate(kept) for kept in analysis.get("cells") or ())


def draws(analysis: Analysis) -> bool:
    """Whether the step in work is the chart."""
    return analysis.get("at", 1) > len(analysis.get("steps") or ())


def goal_of(analysis: Analysis) -> str:
    return CHART if draws(analysis) else (analysis.get("steps") or [""])[analysis.get("at", 1) - 1]


def calls_left(analysis: Analysis) -> int:
    """One call is reserved for the conclusion."""
    return MOST_CALLS - 1 - analysis.get("calls", 0)


def task_of(asked: Asked, analysis: Analysis) -> Task:
    advice = analysis.get("advice")
    return Task(
        asked=asked,
        steps=tuple(analysis.get("steps") or ()),
        step=analysis.get("at", 0),
        goal=goal_of(analysis) if analysis.get("steps") else "",
        cells=cells_of(analysis),
        advice=Advice.model_validate(advice) if advice else None,
        calls=max(1, min(MOST_REPAIRS + 1, calls_left(analysis))),
    )


def main_of(cells: tuple[Seen, ...], steps: int) -> Seen | None:
    """The cell that holds the result: the newest with a table, else the newest that worked."""
    worked = [cell for cell in cells if cell.succeeded and cell.step <= steps]
    with_table = [cell for cell in worked if cell.tables]
    return (with_table or worked or [None])[-1]


def changed_to(analysis: Analysis, **changes: Any) -> Analysis:
    made = Analysis()
    made.update(analysis)
    made.update(changes)  # pyright: ignore[reportCallIssue, reportArgumentType] - names of fields, as above
    return made
