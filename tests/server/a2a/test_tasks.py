"""Tasks over each binding: asked, streamed, continued, asked back about, cancelled, and there after a restart."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from a2a.types import CancelTaskRequest, ListTasksRequest, SubscribeToTaskRequest, Task, TaskState
from a2a.utils.errors import (
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from tests.server.a2a.asking import (
    BINDINGS,
    Reached,
    artifact,
    data_in,
    reached,
    says,
    state,
    text,
)
from tests.server.house import THIS_MACHINE


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Reached]:
    async with reached(tmp_path) as server:
        yield server


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_question_is_answered_with_its_rows_and_its_capsule(server: Reached, binding: str) -> None:
    async with server.asking(binding) as asking:
        task = await asking.send(says("plan it", message_id="m-1"))
        assert state(task) == "COMPLETED" and text(task)
        assert [(one.message_id, one.parts[0].text) for one in task.history] == [("m-1", "plan it")]
        assert await asking.get(task.id) == task
    rows = data_in(artifact(task, "table-1"))
    run_id = data_in(artifact(task, "capsule-1"))["runId"]
    run = (await server.served.client.get(f"/runs/{run_id}")).json()
    assert rows["rows"] == run["rows"] and rows["columns"] == run["columns"]
    assert artifact(task, "table-1").parts[1].text.startswith(f"| {run['columns'][0]['name']} |")
    document = next(part.raw for part in artifact(task, "capsule-1").parts if part.raw)
    kept = (await server.served.client.get(f"/runs/{run_id}/capsule")).json()
    assert json.loads(document) == kept


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_stream_adds_up_to_the_task(server: Reached, binding: str) -> None:
    async with server.asking(binding, stream=True) as asking:
        first, *updates = await asking.events(says("plan it"))
        task = Task()
        task.CopyFrom(first.task)
        assert state(task) in ("SUBMITTED", "WORKING")
        for update in updates:
            if update.HasField("artifact_update"):
                task.artifacts.append(update.artifact_update.artifact)
            else:
                task.status.CopyFrom(update.status_update.status)
        assert "Reading the question" in str(updates)
        assert state(task) == "COMPLETED" and updates[-1].HasField("status_update")
        assert task == await asking.get(task.id)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_context_goes_on(server: Reached, binding: str) -> None:
    async with server.asking(binding) as asking:
        first = await asking.send(says("something", context_id=f"my-own:{binding.partition('+')[0]}"))
        second = await asking.send(says("something else", context_id=first.context_id))
        assert second.context_id == first.context_id and second.id != first.id
        assert text(second) == "You said: something else"
        page = await asking.client.list_tasks(ListTasksRequest(context_id=first.context_id))
        assert [task.id for task in page.tasks] == [second.id, first.id]
    thread = await server.served.get(f"/threads/{first.context_id}/state")
    assert [m["content"] for m in thread["values"]["messages"] if m["type"] == "human"] == [
        "something",
        "something else",
    ]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_what_is_asked_back_is_answered_in_the_same_task(server: Reached, binding: str) -> None:
    async with server.asking(binding) as asking:
        asked = await asking.send(says("unsure what it takes"))
        assert state(asked) == "INPUT_REQUIRED"
        choices = data_in(asked.status.message)["choices"]
        assert [one["choice"] for one in choices] == [1, 2]
        assert all(one["label"] in text(asked) for one in choices)
        chosen = await asking.send(says("2", task_id=asked.id))
        assert (chosen.id, chosen.context_id, state(chosen)) == (asked.id, asked.context_id, "COMPLETED")
        assert [one.parts[0].text for one in chosen.history] == [
            "unsure what it takes",
            asked.status.message.parts[0].text,
            choices[1]["message"],
        ]
        assert "AVG(" in str(artifact(chosen, "answer-2").metadata)
        with pytest.raises(UnsupportedOperationError, match="ended"):
            await asking.send(says("1", task_id=asked.id))


@pytest.mark.parametrize("how", ["number", "label", "data"])
async def test_a_choice_can_be_named_in_three_ways(server: Reached, how: str) -> None:
    async with server.asking() as asking:
        asked = await asking.send(says("unsure what it takes"))
        label = data_in(asked.status.message)["choices"][0]["label"]
        answer = {"number": says("1"), "label": says(label.upper()), "data": says("", {"choice": 1})}[how]
        answer.task_id = asked.id
        chosen = await asking.send(answer)
    assert state(chosen) == "COMPLETED" and "SUM(" in str(artifact(chosen, "answer-2").metadata)


@pytest.mark.parametrize(("word", "ends"), [("approve", "COMPLETED"), ("no", "REJECTED")])
async def test_a_decision_is_asked_for_and_taken(tmp_path: Path, word: str, ends: str) -> None:
    async with reached(tmp_path, approval="sql") as server, server.asking() as asking:
        asked = await asking.send(says("query it"))
        assert state(asked) == "INPUT_REQUIRED" and "SELECT" in text(asked)
        assert data_in(asked.status.message) == {"decision": ["approve", "reject"]}
        decided = await asking.send(says(word, task_id=asked.id))
        assert decided.id == asked.id and state(decided) == ends, text(decided)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_task_under_way_is_cancelled(server: Reached, binding: str) -> None:
    async with server.asking(binding) as asking:
        task = await asking.send(says("slow one"), return_immediately=True)
        assert state(task) in ("SUBMITTED", "WORKING")
        await server.served.script.waiting.wait()
        cancelled = await asking.client.cancel_task(CancelTaskRequest(id=task.id))
        assert state(cancelled) == "CANCELED"
        assert state(await asking.get(task.id)) == "CANCELED"
        with pytest.raises(TaskNotCancelableError, match="ended"):
            await asking.client.cancel_task(CancelTaskRequest(id=task.id))


async def test_a_task_that_asks_back_is_cancelled_and_its_subscription_ends(server: Reached) -> None:
    async with server.asking(stream=True) as asking:
        [*_, last] = await asking.events(says("unsure what it takes"))
        task_id = last.status_update.task_id
        coming = asking.client.subscribe(SubscribeToTaskRequest(id=task_id), context=asking.call)
        assert state((await anext(coming)).task) == "INPUT_REQUIRED"
        await asking.client.cancel_task(CancelTaskRequest(id=task_id))
        rest = [one async for one in coming]
        assert [one.status_update.status.state for one in rest] == [TaskState.TASK_STATE_CANCELED]


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_subscription_follows_a_task_to_its_end(server: Reached, binding: str) -> None:
    async with server.asking(binding, stream=True) as asking:
        began = asking.stream(says("slow plan"))
        task = (await anext(began)).task
        await server.served.script.waiting.wait()
        await began.aclose()
        coming = asking.client.subscribe(SubscribeToTaskRequest(id=task.id), context=asking.call)
        assert (await anext(coming)).task.id == task.id
        server.served.script.go.set()
        rest = [one async for one in coming]
        assert rest[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
        with pytest.raises(UnsupportedOperationError, match="ended"):
            await anext(asking.client.subscribe(SubscribeToTaskRequest(id=task.id), context=asking.call))


async def test_several_questions_have_several_artifacts(server: Reached) -> None:
    async with server.asking() as asking:
        task = await asking.send(says("How many orders are there? How many customers are there?"))
    assert state(task) == "COMPLETED"
    assert [one.artifact_id for one in task.artifacts] == ["answer-1", "answer-2"]
    assert len(task.status.message.parts) == 2


async def test_tasks_are_there_after_a_restart(tmp_path: Path) -> None:
    async with reached(tmp_path) as server, server.asking() as asking:
        done = await asking.send(says("plan it"))
        asked = await asking.send(says("unsure what it takes"))
        left = await asking.send(says("slow one"), return_immediately=True)
        await server.served.script.waiting.wait()
    async with reached(tmp_path) as server, server.asking("GRPC") as asking:
        assert await asking.get(done.id) == done
        assert await asking.get(asked.id) == asked
        ended = await asking.get(left.id)
        assert state(ended) == "FAILED" and "stopped" in text(ended)
        page = await asking.client.list_tasks(ListTasksRequest(include_artifacts=True))
        assert {task.id: state(task) for task in page.tasks} == {
            done.id: "COMPLETED", asked.id: "INPUT_REQUIRED", left.id: "FAILED"
        }  # fmt: skip
        assert next(task for task in page.tasks if task.id == done.id) == done
        chosen = await asking.send(says("1", task_id=asked.id))
        assert state(chosen) == "COMPLETED"


async def test_a_task_outlives_its_journal(server: Reached) -> None:
    talk = await server.served.conversation()
    async with server.asking() as asking:
        done = await asking.send(says("plan it"))
        asked = await asking.send(says("unsure what it takes", context_id=done.context_id))
        await talk.store.drop_logs((datetime.now(UTC) + timedelta(days=1)).isoformat(), 0)
        assert await talk.store.logged(done.id, 0) == []
        again = await asking.get(done.id)
        assert (state(again), text(again)) == (state(done), text(done))
        assert artifact(again, "table-1") == artifact(done, "table-1")
        assert artifact(again, "capsule-1") == artifact(done, "capsule-1")
        assert data_in((await asking.get(asked.id)).status.message) == data_in(asked.status.message)


async def test_lists_come_in_pages_and_by_state(server: Reached) -> None:
    async with server.asking() as asking:
        made = [await asking.send(says(f"hello {number}")) for number in range(3)]
        asked = await asking.send(says("unsure what it takes"))
        wanted = [asked.id, *(task.id for task in reversed(made))]
        first = await asking.client.list_tasks(ListTasksRequest(page_size=3))
        rest = await asking.client.list_tasks(ListTasksRequest(page_size=3, page_token=first.next_page_token))
        assert [task.id for task in (*first.tasks, *rest.tasks)] == wanted
        assert (first.total_size, first.page_size, rest.next_page_token) == (4, 3, "")
        by_state = ListTasksRequest(status=TaskState.TASK_STATE_INPUT_REQUIRED)
        assert [task.id for task in (await asking.client.list_tasks(by_state)).tasks] == [asked.id]
        later = ListTasksRequest(status_timestamp_after=made[2].status.timestamp)
        assert {task.id for task in (await asking.client.list_tasks(later)).tasks} == {asked.id, made[2].id}


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_user_does_not_see_the_tasks_of_another(tmp_path: Path, binding: str) -> None:
    async with (
        reached(tmp_path, {"trusted_proxies": THIS_MACHINE}) as server,
        server.asking(binding, user="ada") as ada,
        server.asking(binding, stream=True, user="bob") as bob,
    ):
        hers = await ada.send(says("unsure what it takes"))
        for attempt in (
            bob.get(hers.id),
            bob.client.cancel_task(CancelTaskRequest(id=hers.id), context=bob.call),
            bob.send(says("1", task_id=hers.id)),
            anext(bob.client.subscribe(SubscribeToTaskRequest(id=hers.id), context=bob.call)),
        ):
            with pytest.raises(TaskNotFoundError):
                await attempt
        with pytest.raises(Exception, match="context's id cannot be used"):
            await bob.send(says("hello", context_id=hers.context_id))
        [*_, last] = await bob.events(says("hello"))
        his = last.status_update.task_id
        for asking, task_id in ((ada, hers.id), (bob, his)):
            page = await asking.client.list_tasks(ListTasksRequest(), context=asking.call)
            assert [one.id for one in page.tasks] == [task_id]
        assert state(await ada.get(hers.id)) == "INPUT_REQUIRED"
