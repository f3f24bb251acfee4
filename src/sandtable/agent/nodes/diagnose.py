"""Diagnoses failed code before it is rewritten: what was wrong, and what to write instead."""

from __future__ import annotations

from sandtable.agent.analysis.coder import Advice
from sandtable.agent.analysis.notes import cells_of, draws
from sandtable.agent.events import Thought
from sandtable.agent.markdown import sentence
from sandtable.agent.means import Means
from sandtable.agent.nodes.coding import analysis_of, ask, coder_in, noted
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.state import State, turn_of
from sandtable.agent.streaming import emit
from sandtable.errors import Problem


async def diagnose(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    analysis = analysis_of(turn)
    emit(Thought(text="Looking at the error…"))
    found, spent = await ask(means, state, dataset, coder_in(means).diagnose)
    # The error's own words are a diagnosis, too.
    advice = _of(cells_of(analysis)[-1].problem) if isinstance(found, Problem) else found
    said = f"{sentence(advice.diagnosis)} {sentence(advice.suggestion)}".strip()
    emit(Thought(text=said))
    cells = list(analysis.get("cells") or ())
    cells[-1] = {**cells[-1], "diagnosis": said}
    repairs = analysis.get("repairs", 0) + 1
    return State(turn=noted(spent, cells=cells, advice=advice.model_dump(), repairs=repairs))


def _of(problem: Problem | None) -> Advice:
    if problem is None:
        return Advice(diagnosis="The code gave no result.")
    kind = str(problem.details.get("type") or problem.code)
    return Advice(diagnosis=f"{kind}: {problem.message}", suggestion=problem.suggestion)


def after_diagnose(state: State) -> str:
    return "draw" if draws(analysis_of(turn_of(state))) else "write_code"
