"""The server that the A2A project's test kit is run against (docs/a2a.md): the product's adapter over a scripted agent.

The kit names in a message's id what the agent must do. Nothing of that is in the product: here a scripted analyst takes
the place of the real one, and makes the artifacts of other kinds that the kit asks for.

    python -m tests.server.a2a.tck 9999
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from a2a.types import Artifact, Message, Part, SendMessageRequest

from sandtable.agent.analyst import Analyst
from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.events import Message as Closing
from sandtable.agent.folding import FoldedAnswer
from sandtable.agent.means import Means
from sandtable.agent.turn_events import StreamEvent
from sandtable.assemble.memory import open_memory
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.engine import TurnEngine
from sandtable.conversations.store import ThreadStore
from sandtable.server import logs
from sandtable.server.a2a import agent, beginning, task_fold
from sandtable.server.a2a.artifacts import Documents, data_part
from sandtable.server.a2a.ports import opened
from sandtable.server.a2a.task_fold import TaskFold, said_by_agent
from sandtable.server.acceptor import room_here
from sandtable.server.app import begin_shutdown, create_app
from sandtable.server.opening import line_of
from sandtable.server.standing import Server, bound, configured, stopping
from sandtable.settings import Settings
from tests.server.house import open_house

SLOW_S = 4.0
_FILE: dict[str, Any] = {"media_type": "text/plain", "filename": "output.txt"}
ARTIFACTS: dict[str, Part] = {
    "tck-artifact-file-url": Part(url="https://example.com/output.txt", **_FILE),
    "tck-artifact-file": Part(raw=b"tck", **_FILE),
    "tck-stream-artifact-file": Part(raw=b"tck", **_FILE),
    "tck-artifact-data": data_part({"key": "value", "count": 42}),
    "tck-artifact-text": Part(text="Generated text content"),
    "tck-stream": Part(text="Streamed text content"),
}
"""The longest prefix of a name comes first."""


class Scripted(Analyst):
    """Ends each turn as the id of its message says."""

    store: ThreadStore

    async def turn(
        self, *given: Any, turn_id: str | None = None, **more: Any
    ) -> AsyncGenerator[StreamEvent, None]:
        turn = await self.store.turn_named(turn_id or "")
        name = str(turn.metadata["message_id"]) if turn else ""
        if name.startswith("test-resubscribe-message-id"):
            await asyncio.sleep(SLOW_S)
        if name.startswith("tck-input-required"):
            yield Closing(text="Which one?", ending="asked")
        elif name.startswith("tck-reject-task"):
            yield Closing(text="rejected", ending="refused")
        else:
            yield Closing(text=name, ending="answered")


async def artifacts_of(number: int, answer: FoldedAnswer, documents: Documents) -> list[Artifact]:
    name = answer.end.text if isinstance(answer.end, Closing) else ""
    part = next((made for prefix, made in ARTIFACTS.items() if name.startswith(prefix)), None)
    return [Artifact(artifact_id=f"artifact-{number}", parts=[part])] if part else []


class Beginning(beginning.Beginning):
    async def begin(self, params: SendMessageRequest, user: str) -> TaskFold | Message:
        if params.message.message_id.startswith("tck-message-response"):
            return said_by_agent("tck", [Part(text="Direct message response")], params.message.context_id)
        return await super().begin(params, user)


@asynccontextmanager
async def _conversation(parts: Any) -> AsyncGenerator[Conversation, None]:
    async with AsyncExitStack() as stack:
        store, saver = await open_memory(parts.settings, stack)
        means = Means(
            datasets=parts.datasets,
            runs=parts.runs,
            check=parts.check,
            read_sql=parts.read_sql,
            proposer=BuiltinProposer(),
            max_rows=200,
            understands=lambda *_: False,
        )
        analyst, line = Scripted(means, saver), line_of(parts.settings)
        analyst.store = store
        turns = TurnEngine(analyst, store, line)
        stack.push_async_callback(line.aclose)
        stack.push_async_callback(turns.aclose)
        yield Conversation(analyst, turns, store, line)


async def serve(port: int) -> None:
    logs.configure("warning")
    task_fold.artifacts_of = artifacts_of
    agent.Beginning = Beginning
    with tempfile.TemporaryDirectory() as home, bound("127.0.0.1", port) as listening:
        settings = Settings(home=Path(home), a2a=True, a2a_port=port + 2, a2a_grpc_port=port + 1)
        async with opened(settings) as ports, open_house(Path(home), settings) as house:
            app = create_app(house, open_conversation=_conversation)  # pyright: ignore[reportArgumentType] - a double of Parts
            room = room_here()
            server = Server(
                configured(app, grace_s=2, room=room),
                lambda: print("ready", flush=True),
                partial(begin_shutdown, app, 2),
            )
            assert ports is not None
            with stopping(server):
                async with ports.serving(app, room, 2):
                    await server.serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
