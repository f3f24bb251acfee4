"""The first message of a conversation in the stock chat interface: datasets and questions to choose from.

That interface shows nothing before the first message, so the server writes the first message.
"""

from __future__ import annotations

from uuid import uuid4

from sandtable.catalog.model import Dataset
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.model import Thread, ThreadFilter, now
from sandtable.quoting import inert
from sandtable.server.langgraph.wire import GREETING


async def greeting_thread(talk: Conversation, dataset: Dataset, datasets: list[Dataset], user: str) -> str:
    """The id of a thread of this user without a question. A page that is opened often leaves one such thread."""
    metadata = {"graph_id": dataset.id, GREETING: dataset.version, "by": user}
    for thread in await talk.store.search(ThreadFilter(metadata=metadata, limit=20)):
        if thread.opening is None:
            return thread.id
    at = now()
    thread = Thread(id=str(uuid4()), user=user, created_at=at, updated_at=at, metadata=metadata)
    await talk.add(thread)
    await _greet(talk, thread.id, dataset, datasets)
    return thread.id


async def _greet(talk: Conversation, thread_id: str, dataset: Dataset, datasets: list[Dataset]) -> None:
    message_id = str(uuid4())
    props = {
        "dataset_id": dataset.id,
        "datasets": [{"id": d.id, "title": d.title, "description": d.description} for d in datasets],
        "prompts": list(dataset.prompts),
    }
    welcome = {
        "type": "ui",
        "id": f"welcome_{message_id}",
        "name": "welcome",
        "props": props,
        "metadata": {"message_id": message_id},
    }
    said = (
        f"Ask a question about **{inert(dataset.title or dataset.id)}** in plain words, or pick one of these."
    )
    greeting = {"type": "ai", "id": message_id, "content": said}
    values = {"messages": [greeting], "ui": [welcome], "dataset_id": dataset.id}
    await talk.threads.add_answer(thread_id, values)
