"""The operations of A2A over the turn engine: the same for all three bindings.

Invariant: a task is in our store before a client gets its id, and is seen by those who may see its conversation.
The SDK brings the wire and its types; its task store, its queues and its executor are not used.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers.request_handler import RequestHandler, validate_request_params
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    InternalError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    UnsupportedOperationError,
)
from a2a.utils.task import apply_history_length, validate_history_length

from sandtable.conversations.conversation import Conversation
from sandtable.conversations.model import TurnRecord
from sandtable.server.a2a.beginning import Beginning
from sandtable.server.a2a.following import Waiting, follow, follow_task
from sandtable.server.a2a.listing import listed
from sandtable.server.a2a.problems import translated
from sandtable.server.a2a.task_fold import CANCELLED_MARK, TaskFold
from sandtable.server.a2a.tasks import Tasks
from sandtable.server.shutdown import Shutdown

WAIT_S = 600.0
"""How long SendMessage waits for the end of a task; it then answers with the task as it is."""
CANCEL_S = 20.0
_NO_PUSH = PushNotificationNotSupportedError(
    "this server sends no push notifications; stream or poll the task"
)


class TurnRequests(RequestHandler):
    def __init__(
        self, talk: Conversation, tasks: Tasks, beginning: Beginning, shutdown: Shutdown, waiting: Waiting
    ) -> None:
        self._talk = talk
        self._tasks = tasks
        self._beginning = beginning
        self._shutdown = shutdown
        self._waiting = waiting

    @validate_request_params
    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        with translated(), self._waiting.join(_user(context)):
            validate_history_length(params.configuration)
            begun = await self._beginning.begin(params, _user(context))
            if isinstance(begun, Message):
                return begun
            if not params.configuration.return_immediately:
                await self._end_of(begun)
            return apply_history_length(begun.task, params.configuration)

    async def _end_of(self, fold: TaskFold) -> None:
        try:
            async with asyncio.timeout(WAIT_S), aclosing(follow(self._talk, fold, self._shutdown)) as updates:
                async for _ in updates:
                    continue
        except TimeoutError:
            return

    @validate_request_params
    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        with translated(), self._waiting.join(_user(context)):
            validate_history_length(params.configuration)
            begun = await self._beginning.begin(params, _user(context))
            if isinstance(begun, Message):
                yield begun
                return
            yield apply_history_length(_copy(begun.task), params.configuration)
            async with aclosing(follow(self._talk, begun, self._shutdown)) as updates:
                async for update in updates:
                    yield update

    @validate_request_params
    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        with translated(), self._waiting.join(_user(context)):
            found = await self._tasks.find(params.id)
            fold = await self._tasks.fold(found)
            if fold.ended:
                raise UnsupportedOperationError(
                    f"the task has ended as {fold.state_name}; GetTask answers with it"
                )
            yield _copy(fold.task)
            updates = follow_task(self._talk, self._tasks, found, fold, self._shutdown)
            async with aclosing(updates) as coming:
                async for update in coming:
                    yield update

    @validate_request_params
    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        with translated():
            validate_history_length(params)
            found = await self._tasks.find(params.id)
            return apply_history_length((await self._tasks.fold(found)).task, params)

    @validate_request_params
    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        with translated():
            return await listed(self._tasks, params)

    @validate_request_params
    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        with translated():
            found = await self._tasks.find(params.id)
            fold = await self._tasks.fold(found, artifacts=False)
            if fold.ended:
                raise TaskNotCancelableError(f"the task has ended as {fold.state_name}")
            for turn in reversed(found.turns):
                if turn.under_way:
                    await self._cancel_turn(turn)
            if not found.last.under_way:
                await self._talk.store.mark_ended(found.last, {CANCELLED_MARK: True})
            after = await self._tasks.fold(await self._tasks.find(params.id))
            if not after.ended:
                raise InternalError("the server that works on the task did not answer; try again")
            if after.state != TaskState.TASK_STATE_CANCELED:
                raise TaskNotCancelableError(f"the task has ended as {after.state_name}")
            return after.task

    async def _cancel_turn(self, turn: TurnRecord) -> None:
        """Whether it was, the store says afterwards."""
        try:
            async with asyncio.timeout(CANCEL_S):
                await self._talk.turns.cancel(turn, wait=True)
        except TimeoutError:
            return

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        raise _NO_PUSH

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        raise _NO_PUSH

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        raise _NO_PUSH

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        raise _NO_PUSH

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        raise UnsupportedOperationError("there is no extended card: the public one says everything")


def _user(context: ServerCallContext) -> str:
    return context.user.user_name


def _copy(task: Task) -> Task:
    """As it is now: the fold goes on changing its own."""
    copy = Task()
    copy.CopyFrom(task)
    return copy
