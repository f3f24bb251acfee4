"""How a message becomes a turn: of which task, in which conversation, about which dataset.

Invariant: nothing is created before the message is known to be usable. A conversation that the principal may not see is
not said to exist, and one that is shared to be read is not continued: the turn engine refuses that.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from a2a.types import Message, Part, SendMessageRequest
from a2a.utils.errors import PushNotificationNotSupportedError, UnsupportedOperationError

from sandtable.agent.turn_events import with_plan
from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation, same_dataset
from sandtable.conversations.model import Thread, now
from sandtable.conversations.running import EVENTS, TurnOrder
from sandtable.conversations.text import opening_of
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.server.a2a.artifacts import Documents, data_part
from sandtable.server.a2a.incoming import (
    Incoming,
    about_dataset,
    choice_in,
    decision_in,
    question_in,
    read_message,
)
from sandtable.server.a2a.task_fold import TaskFold, said_by_agent
from sandtable.server.a2a.tasks import MARK, TASK, Found, Tasks
from sandtable.server.lazy_conversation import known_dataset

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_MOST_DATASETS = 50


class Beginning:
    def __init__(self, parts: Parts, talk: Conversation, tasks: Tasks, documents: Documents) -> None:
        self._parts = parts
        self._talk = talk
        self._tasks = tasks
        self._documents = documents

    async def begin(self, params: SendMessageRequest, user: str) -> TaskFold | Message:
        """The task, whose newest turn was accepted; a message where the client must say what it is about.

        Raises A2AError, InvalidInput, NotFound, QueueFull, QuotaFull.
        """
        message = params.message
        if params.configuration.HasField("task_push_notification_config"):
            raise PushNotificationNotSupportedError("this server sends no push notifications")
        incoming = read_message(message)
        if message.task_id:
            return await self._go_on(await self._tasks.find(message.task_id), incoming, params, user)
        thread = await self._thread(message.context_id)
        if thread is None or thread.dataset_id is None:
            incoming = about_dataset(incoming, self._parts.datasets.datasets())
        question, plan = question_in(incoming)
        dataset_id = self._dataset(incoming, thread)
        if dataset_id is None:
            return self._ask_for_dataset(message)
        thread = await self._opened(thread, message.context_id, user, dataset_id)
        order = _order(thread, dataset_id, user, incoming, question, plan=plan)
        running = await self._talk.turns.begin(order)
        fold = TaskFold(running.turn, self._documents)
        fold.begin(running.turn)
        return fold

    async def _go_on(
        self, found: Found, incoming: Incoming, params: SendMessageRequest, user: str
    ) -> TaskFold:
        """A further turn of the task."""
        if params.message.context_id not in ("", found.context_id):
            raise InvalidInput(
                "the task belongs to another context",
                suggestion="Leave `contextId` out.",
                field="message.context_id",
            )
        fold = await self._tasks.fold(found)
        if fold.ended:
            raise UnsupportedOperationError(
                f"the task has ended as {fold.state_name}; send the message with its contextId, and without taskId"
            )
        thread = await self._talk.thread(found.context_id)
        if incoming.said.dataset is not None:
            same_dataset(
                thread, incoming.said.dataset, "Leave `contextId` and `taskId` out to ask about another."
            )
        order = self._answer(fold, incoming, thread, user)
        running = await self._talk.turns.begin(order)
        fold.begin(running.turn)
        return fold

    def _answer(self, fold: TaskFold, incoming: Incoming, thread: Thread, user: str) -> TurnOrder:
        dataset_id = fold.turn.dataset_id
        if fold.awaits_decision and (decision := decision_in(incoming)) is not None:
            said = incoming.text or decision["decisions"][0]["type"]
            return _order(thread, dataset_id, user, incoming, said, task=fold.task.id, decision=decision)
        offer = choice_in(incoming, fold.offers)
        if offer is not None:
            return _order(
                thread, dataset_id, user, incoming, offer.message, plan=offer.plan, task=fold.task.id
            )
        question, plan = question_in(incoming)
        return _order(thread, dataset_id, user, incoming, question, plan=plan, task=fold.task.id)

    async def _thread(self, context_id: str) -> Thread | None:
        if not context_id:
            return None
        if not _ID.fullmatch(context_id):
            raise InvalidInput(
                "the context's id cannot be used",
                suggestion="Use up to 128 letters, digits and _ . : - or leave it out.",
                field="message.context_id",
            )
        return await self._talk.store.get(context_id)

    def _dataset(self, incoming: Incoming, thread: Thread | None) -> str | None:
        given = incoming.said.dataset
        if given is not None:
            known_dataset(self._parts, given)
            if thread is not None:
                same_dataset(thread, given, "Leave `contextId` out to ask about another dataset.")
            return given
        return None if thread is None else thread.dataset_id

    async def _opened(self, thread: Thread | None, context_id: str, user: str, dataset_id: str) -> Thread:
        if thread is not None:
            return thread if thread.dataset_id else replace(thread, dataset_id=dataset_id)
        if not context_id:
            return await self._talk.new_thread(user, dataset_id)
        at = now()
        scope = {"graph_id": dataset_id, "dataset_id": dataset_id}
        made = Thread(context_id, user, at, at, dataset_id=dataset_id, metadata=scope)
        if not await self._talk.add(made):
            raise _other_context()
        return made

    def _ask_for_dataset(self, message: Message) -> Message:
        """A message and no task: nothing was begun yet."""
        known = [dataset.id for dataset in self._parts.datasets.datasets()][:_MOST_DATASETS]
        named = ", ".join(quote(name) for name in known)
        text = (
            f"Which dataset is this about? There are {named}. Send the question again with the name of one and a"
            ' colon before it, or with a data part: {"dataset": "…"}.'
        )
        parts = [Part(text=text, media_type="text/markdown"), data_part({"datasets": known})]
        return said_by_agent(f"dataset/{message.message_id}", parts, message.context_id)


def _other_context() -> InvalidInput:
    return InvalidInput(
        "the context's id cannot be used",
        suggestion="Leave `contextId` out to begin a new one.",
        field="message.context_id",
    )


def _order(
    thread: Thread,
    dataset_id: str,
    user: str,
    incoming: Incoming,
    question: str,
    *,
    plan: dict[str, Any] | None = None,
    task: str | None = None,
    decision: dict[str, Any] | None = None,
) -> TurnOrder:
    kept = {"question": question, "message_id": incoming.message_id}
    messages = None if decision else [{"content": question, "additional_kwargs": with_plan(plan)}]
    return TurnOrder(
        thread,
        dataset_id,
        user,
        messages=messages,
        answer=decision,
        details=EVENTS,
        metadata={**MARK, **kept, **({TASK: task} if task else {})},
        opening=opening_of(question),
        streamed=False,
    )
