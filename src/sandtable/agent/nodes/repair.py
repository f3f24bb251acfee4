"""Returns a refused or failed proposal to its proposer with the validator's message, at most twice."""

from __future__ import annotations

from sandtable.agent.events import Log
from sandtable.agent.means import Means
from sandtable.agent.state import State, TurnNotes, changed, turn_of
from sandtable.agent.streaming import emit
from sandtable.errors import ErrorCode

MOST_REPAIRS = 2

_MENDABLE = frozenset(
    {ErrorCode.VALIDATION_ERROR, ErrorCode.SQL_POLICY_VIOLATION, ErrorCode.RUNNER_INTERNAL_ERROR}
)
"""What another proposal can avoid. A time-out or a full memory would only come again, and cost as much."""
_NOT_OF_THE_QUERY = frozenset(
    {"DatabaseUnavailable", "CredentialRefused", "NoFreeConnection", "DatabaseStopped", "ConnectionLost"}
)
"""Types of errors of a connected database that no other query avoids."""


def may_repair(means: Means, turn: TurnNotes) -> bool:
    problem = turn.get("problem")
    return bool(
        problem
        and problem["code"] in _MENDABLE
        and problem.get("details", {}).get("type") not in _NOT_OF_THE_QUERY
        and turn.get("origin")
        # The planner that stood in for the model would say the same again.
        and not turn.get("note")
        and not turn.get("given_up")
        and len(turn.get("attempts") or ()) < MOST_REPAIRS
    )


async def repair(state: State) -> State:
    turn = turn_of(state)
    problem = turn.get("problem")
    assert problem is not None
    run_id = next(iter(turn.get("run_ids") or ()), None)
    emit(Log(run_id=run_id, text=f"{problem['code']}: {problem['message']}"))
    plan = turn.get("plan")
    attempt = {"plan": plan, "sql": None if plan is not None else turn.get("sql"), "problem": problem}
    attempts = [*(turn.get("attempts") or ()), attempt]
    return State(turn=changed(turn, TurnNotes(attempts=attempts, call=None)))
