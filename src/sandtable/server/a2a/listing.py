"""ListTasks: the tasks that the user may see, the last changed first, page by page.

Invariant: a task is read from its journal only where its turn alone does not say what is asked for.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from a2a.types import ListTasksRequest, ListTasksResponse, Task, TaskState
from a2a.utils.constants import DEFAULT_LIST_TASKS_PAGE_SIZE
from a2a.utils.errors import InvalidParamsError
from a2a.utils.task import (
    ListTasksCursor,
    apply_history_length,
    decode_list_tasks_cursor,
    encode_list_tasks_cursor,
    validate_history_length,
    validate_page_size,
)

from sandtable.server.a2a.tasks import Found, Tasks


async def listed(tasks: Tasks, params: ListTasksRequest) -> ListTasksResponse:
    validate_history_length(params)
    size = DEFAULT_LIST_TASKS_PAGE_SIZE
    if params.HasField("page_size"):
        validate_page_size(params.page_size)
        size = params.page_size
    wanted = await _wanted(tasks, params)
    rest = wanted[_place_after(params.page_token, wanted) :]
    page = rest[:size]
    token = ""
    if len(rest) > size:
        token = encode_list_tasks_cursor(ListTasksCursor(_changed(page[-1]), page[-1].id))
    return ListTasksResponse(
        tasks=[await _shown(tasks, found, params) for found in page],
        next_page_token=token,
        page_size=size,
        total_size=len(wanted),
    )


async def _wanted(tasks: Tasks, params: ListTasksRequest) -> list[Found]:
    found = [one for one in await tasks.all() if params.context_id in ("", one.context_id)]
    if params.HasField("status_timestamp_after"):
        after = params.status_timestamp_after.ToNanoseconds()
        found = [one for one in found if _changed(one) >= after]
    if params.status != TaskState.TASK_STATE_UNSPECIFIED:
        found = [one for one in found if await _state(tasks, one) == params.status]
    return sorted(found, key=_order, reverse=True)


async def _state(tasks: Tasks, found: Found) -> int:
    known = found.plain_state
    return (await tasks.fold(found, artifacts=False)).state if known is None else known


async def _shown(tasks: Tasks, found: Found, params: ListTasksRequest) -> Task:
    fold = await tasks.fold(await tasks.again(found), artifacts=params.include_artifacts)
    return apply_history_length(fold.task, params)


def _place_after(token: str, wanted: list[Found]) -> int:
    if not token:
        return 0
    cursor = decode_list_tasks_cursor(token)
    if cursor is None or cursor.timestamp_ns is None:
        raise InvalidParamsError("the page token is not one of this server")
    last = (cursor.timestamp_ns, cursor.task_id)
    return next((place for place, one in enumerate(wanted) if _order(one) < last), len(wanted))


def _order(found: Found) -> tuple[Any, ...]:
    return _changed(found), found.id


def _changed(found: Found) -> int:
    """Nanoseconds of its last turn's change."""
    at = datetime.fromisoformat(found.last.updated_at)
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1000
