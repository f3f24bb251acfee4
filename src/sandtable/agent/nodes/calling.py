"""The message that calls a tool, the one that answers it, and the progress shown beside them."""

from __future__ import annotations

from typing import Any

from sandtable.agent.messages import ToolCall, WrittenMessage
from sandtable.agent.outlet import outlet
from sandtable.agent.state import TurnNotes, query_in
from sandtable.agent.streaming import new_id
from sandtable.agent.tools import EXECUTE_PLAN, EXECUTE_PYTHON, EXECUTE_SQL, as_text
from sandtable.capsule.query import PlanQuery, SqlQuery


def new_call(turn: TurnNotes, dataset_id: str) -> WrittenMessage:
    match query_in(turn):
        case PlanQuery(plan):
            return tool_call(EXECUTE_PLAN, {"dataset_id": dataset_id, "plan": plan})
        case SqlQuery(sql):
            return tool_call(EXECUTE_SQL, {"dataset_id": dataset_id, "sql": sql})


def code_call(dataset_id: str, code: str, step: int, goal: str) -> WrittenMessage:
    return tool_call(EXECUTE_PYTHON, {"dataset_id": dataset_id, "code": code, "step": step, "goal": goal})


def tool_call(name: str, args: dict[str, Any]) -> WrittenMessage:
    """A call that a chat model made itself."""
    call = ToolCall(name, args, f"call_{new_id()}")
    message = WrittenMessage("ai", "", new_id(), tool_calls=(call,))
    progress(ids_of(message), "checked", None, None)
    return message


def reply_of(call: dict[str, str], report: dict[str, Any], *, failed: bool) -> WrittenMessage:
    """What came of a call, for readers of the thread."""
    return WrittenMessage(
        "tool", as_text(report), new_id(), tool_call_id=call["call"], name=call["name"], failed=failed
    )


def ids_of(message: WrittenMessage) -> dict[str, str]:
    call = message.tool_calls[0]
    return {"message": str(message.id), "call": call.id, "name": call.name}


def progress(call: dict[str, str], stage: str, run_id: str | None, status: str | None) -> None:
    """One UI message for each call, changed as the run goes on."""
    props = {"stage": stage, "run_id": run_id, "status": status}
    shown = f"progress_{call['call']}"
    outlet().show("progress", props, id=shown, message_id=call["message"], merge=True)
