"""The chart of an analysis: code like any other step, unless there is a plot already or nothing to plot."""

from __future__ import annotations

import re

from sandtable.agent.analysis.coder import Seen, Written
from sandtable.agent.analysis.notes import Analysis, cells_of, main_of
from sandtable.agent.events import Log, Thought
from sandtable.agent.means import Means
from sandtable.agent.nodes.coding import analysis_of, ask, coder_in, noted, tell
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.state import State, turn_of
from sandtable.agent.streaming import emit
from sandtable.errors import Problem

_SHOWS = re.compile(r"\b(?:show|show_plot|display)\s*\(")
_FIGURE = re.compile(r"^fig\s*=", re.MULTILINE)


async def draw(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    analysis = analysis_of(turn)
    if not analysis.get("advice") and not wants_chart(analysis):
        return State(turn=noted(turn, next="conclude"))
    emit(Thought(text="Drawing a chart…"))
    written, spent = await ask(means, state, dataset, coder_in(means).draw)
    if isinstance(written, Problem):
        # The result exists; only the chart is missing.
        emit(Log(text=f"No chart: {written.message}"))
        return State(turn=noted(spent, next="conclude"))
    code = shown_at_the_end(written.code)
    tell(Written(thought=written.thought, code=code), analysis)
    follows = "approve_cell" if means.approval == "sql" else "run_cell"
    return State(
        turn=noted(spent, code=code, thought=written.thought, by_person=False, alone=False, next=follows)
    )


def wants_chart(analysis: Analysis) -> bool:
    cells = cells_of(analysis)
    result = main_of(cells, len(analysis.get("steps") or ()))
    return not any(cell.plots for cell in cells if cell.succeeded) and result is not None and _plots(result)


def _plots(result: Seen) -> bool:
    """A single value, or a single row of names, makes no chart."""
    return any(table.row_count > 1 and len(table.columns) > 1 for table in result.tables[-1:])


def shown_at_the_end(code: str) -> str:
    """A figure that is only assigned would not be shown."""
    if _FIGURE.search(code) and not _SHOWS.search(code) and code.rstrip().splitlines()[-1] != "fig":
        return f"{code.rstrip()}\nfig"
    return code
