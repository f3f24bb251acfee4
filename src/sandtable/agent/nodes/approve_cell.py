"""A person is shown the exact code of a cell and decides: as it is, changed, or not at all.

Invariant: nothing happens before the interrupt but the gate's check; the node runs again from its start when the
answer comes. Code that the gate refuses is not shown to a person: it is submitted, so that the refusal is recorded.
"""

from __future__ import annotations

from sandtable.agent.analysis.notes import goal_of
from sandtable.agent.approval import decision_of, request_of
from sandtable.agent.events import Code
from sandtable.agent.means import Means
from sandtable.agent.nodes.coding import analysis_of, noted
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.outlet import outlet
from sandtable.agent.state import ClosingMessage, State, TurnNotes, changed, turn_of
from sandtable.agent.streaming import emit
from sandtable.agent.tools import EXECUTE_PYTHON
from sandtable.capsule.query import CodeQuery
from sandtable.policy.verdict import Refused
from sandtable.quoting import in_markdown

_UNCLEAR = "That was no decision: approve it, reject it, or send it back with other code."


async def approve_cell(means: Means, state: State, config: Config) -> State:
    turn, dataset = turn_of(state), await dataset_of(means, state, config)
    analysis = analysis_of(turn)
    code, goal = analysis.get("code", ""), in_markdown(goal_of(analysis))
    if isinstance(await means.check(dataset, CodeQuery(code)), Refused):
        # Submitted outside the session, as judged here: in the session, earlier cells could redefine its names.
        return State(turn=noted(turn, alone=True))
    decision = decision_of(outlet().ask(request_of(code, goal, EXECUTE_PYTHON)))
    while decision is None:
        decision = decision_of(outlet().ask(request_of(code, f"{_UNCLEAR}\n\n{goal}", EXECUTE_PYTHON)))
    if decision.kind == "approve" or decision.text == code:
        return State(turn=turn)
    if decision.text is not None:
        emit(Code(step=analysis.get("at"), goal=goal_of(analysis), code=decision.text))
        return State(turn=noted(turn, code=decision.text, by_person=True))
    ran = "nothing was run" if not analysis.get("cells") else "nothing more was run"
    text = f"You declined the code, so {ran}." + (
        f" Your reason: {in_markdown(decision.reason)}" if decision.reason else ""
    )
    runs = [cell["run_id"] for cell in analysis.get("cells") or ()]
    return State(
        turn=changed(turn, TurnNotes(said=ClosingMessage(text=text, ending="refused", run_ids=runs)))
    )


def after_approve_cell(state: State) -> str:
    return "converse" if turn_of(state).get("said") else "run_cell"
