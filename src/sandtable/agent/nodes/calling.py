"""The message that calls a tool, the one that answers it, and the progress shown beside them."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.graph.ui import push_ui_message

from sandtable.agent.state import TurnNotes, query_in
from sandtable.agent.streaming import new_id
from sandtable.agent.tools import EXECUTE_PLAN, EXECUTE_PYTHON, EXECUTE_SQL, as_text
from sandtable.capsule.query import PlanQuery, SqlQuery


def new_call(turn: TurnNotes, dataset_id: str) -> AIMessage:
    match query_in(turn):
        case PlanQuery(plan):
            return tool_call(EXECUTE_PLAN, {"dataset_id": dataset_id, "plan": plan})
        case SqlQuery(sql):
            return tool_call(EXECUTE_SQL, {"dataset_id": dataset_id, "sql": sql})


def code_call(dataset_id: str, code: str, step: int, goal: str) -> AIMessage:
    return tool_call(EXECUTE_PYTHON, {"dataset_id": dataset_id, "code": code, "step": step, "goal": goal})


def tool_call(name: str, args: dict[str, Any]) -> AIMessage:
    """A call that a chat model made itself."""
    call = {"name": name, "args": args, "id": f"call_{new_id()}"}
    message = AIMessage(content="", id=new_id(), tool_calls=[call])
    progress(ids_of(message), "checked", None, None)
    return message


def reply_of(call: dict[str, str], report: dict[str, Any], *, failed: bool) -> ToolMessage:
    """What came of a call, for readers of the thread."""
    return ToolMessage(
        as_text(report),
        name=call["name"],
        tool_call_id=call["call"],
        id=new_id(),
        status="error" if failed else "success",
    )


def ids_of(message: AIMessage) -> dict[str, str]:
    call = message.tool_calls[0]
    return {"message": str(message.id), "call": str(call["id"]), "name": call["name"]}


def progress(call: dict[str, str], stage: str, run_id: str | None, status: str | None) -> None:
    """One UI message for each call, changed as the run goes on."""
    link: AnyMessage = AIMessage(content="", id=call["message"])
    props = {"stage": stage, "run_id": run_id, "status": status}
    push_ui_message("progress", props, id=f"progress_{call['call']}", message=link, merge=True)
