"""The steps of an analysis, in which a chat model writes code: the part of the graph (`steps`) that few turns have."""

from __future__ import annotations

from functools import partial

from sandtable.agent.means import Means
from sandtable.agent.nodes.approve_cell import after_approve_cell, approve_cell
from sandtable.agent.nodes.conclude import conclude
from sandtable.agent.nodes.diagnose import after_diagnose, diagnose
from sandtable.agent.nodes.draw import draw
from sandtable.agent.nodes.ending import DONE, after_answer
from sandtable.agent.nodes.plan_steps import after_plan_steps, plan_steps
from sandtable.agent.nodes.run_cell import after_run_cell, run_cell
from sandtable.agent.nodes.write_code import after_code, write_code
from sandtable.agent.steps import FIRST, Step


def analysis_steps(means: Means) -> dict[str, Step]:
    coded = ("approve_cell", "run_cell", "conclude")
    after_cell = ("write_code", "diagnose", "draw", "conclude")
    return {
        "plan_steps": Step(
            partial(plan_steps, means), after_plan_steps, ("write_code", "validate", "converse")
        ),
        "write_code": Step(partial(write_code, means), after_code, coded),
        "approve_cell": Step(partial(approve_cell, means), after_approve_cell, ("run_cell", "converse")),
        "run_cell": Step(partial(run_cell, means), after_run_cell, after_cell),
        "diagnose": Step(partial(diagnose, means), after_diagnose, ("write_code", "draw")),
        "draw": Step(partial(draw, means), after_code, coded),
        "conclude": Step(partial(conclude, means), after_answer, (FIRST, DONE)),
    }
