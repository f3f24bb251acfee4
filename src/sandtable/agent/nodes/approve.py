"""A person is shown the exact SQL and decides: as it is, changed, or not at all.

Invariant: nothing happens before the question; the node runs again from its start when the answer comes.
"""

from __future__ import annotations

from sandtable.agent.approval import decision_of, request_of
from sandtable.agent.messages import WrittenMessage
from sandtable.agent.nodes.calling import progress
from sandtable.agent.outlet import outlet
from sandtable.agent.state import ClosingMessage, State, TurnNotes, changed, turn_of
from sandtable.agent.streaming import new_id
from sandtable.quoting import in_markdown

_UNCLEAR = "That was no decision: approve it, reject it, or send it back with other SQL."


async def approve(state: State) -> State:
    turn = turn_of(state)
    sql = turn.get("exact") or turn.get("sql") or ""
    reading = turn.get("reading") or ""
    decision = decision_of(outlet().ask(request_of(sql, reading)))
    while decision is None:
        decision = decision_of(outlet().ask(request_of(sql, f"{_UNCLEAR}\n\n{reading}")))
    if decision.kind == "approve" or decision.text == sql:
        return State(turn=turn)
    if decision.text is not None:
        # The person wrote it: no proposer is recorded as its origin, and the gate judges it like any other text.
        return State(turn=changed(turn, TurnNotes(sql=decision.text, plan=None, reading="", origin="")))
    return _declined(turn, decision.reason)


def _declined(turn: TurnNotes, reason: str) -> State:
    call = turn.get("call") or {}
    progress(call, "declined", None, None)
    noted = "declined by a person; nothing was run"
    reply = WrittenMessage("tool", noted, new_id(), tool_call_id=call["call"], failed=True)
    text = "You declined the query, so nothing was run." + (
        f" Your reason: {in_markdown(reason)}" if reason else ""
    )
    return State(
        turn=changed(turn, TurnNotes(said=ClosingMessage(text=text, ending="refused"))), messages=[reply]
    )


def after_approve(state: State) -> str:
    return "converse" if turn_of(state).get("said") else "run"
