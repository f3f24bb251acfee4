"""A task is reached through any of the servers that share a database."""

from __future__ import annotations

from pathlib import Path

import pytest
from a2a.types import CancelTaskRequest, SubscribeToTaskRequest, TaskState

from tests.server.a2a.asking import reached, says, state, text


@pytest.mark.needs("postgres")
async def test_a_task_is_followed_answered_and_cancelled_on_another_server(
    tmp_path: Path, postgres_url: str
) -> None:
    shared = {"database_url": postgres_url}
    async with (
        reached(tmp_path / "one", shared) as one,
        reached(tmp_path / "two", shared) as two,
        one.asking() as here,
        two.asking("GRPC", stream=True) as there,
    ):
        task = await here.send(says("slow one"), return_immediately=True)
        await one.served.script.waiting.wait()
        coming = there.client.subscribe(SubscribeToTaskRequest(id=task.id), context=there.call)
        assert (await anext(coming)).task.id == task.id
        cancelled = await there.client.cancel_task(CancelTaskRequest(id=task.id))
        assert state(cancelled) == "CANCELED"
        last = [update async for update in coming][-1]
        assert last.status_update.status.state == TaskState.TASK_STATE_CANCELED
        assert state(await here.get(task.id)) == "CANCELED"
        asked = await here.send(says("unsure what it takes"))
        *_, end = await there.events(says("1", task_id=asked.id))
        assert end.status_update.status.state == TaskState.TASK_STATE_COMPLETED
        answered = await here.get(asked.id)
        assert state(answered) == "COMPLETED" and text(answered)
