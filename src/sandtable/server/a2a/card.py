"""The agent card: what can be asked here, and over which bindings.

Invariant: the addresses in it are those that the client reached the server by, so they work for that client.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from email.utils import formatdate
from typing import Any

from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from google.protobuf.json_format import MessageToDict

from sandtable import __version__
from sandtable.catalog.model import Dataset
from sandtable.server.a2a.artifacts import JSON, MARKDOWN, PLOTLY
from sandtable.server.a2a.incoming import INPUT_MODES

VERSION = "1.0"
MAX_AGE_S = 60
MOST_SKILLS = 100
MOST_EXAMPLES = 10
_DESCRIPTION = (
    "Answers questions about tabular data. A plan or SQL is judged, run in a sealed sandbox, and proved by a signed"
    ' capsule. Say which dataset a question is about with a data part: {"dataset": "…"}.'
)


def card_of(datasets: Sequence[Dataset], jsonrpc: str, rest: str, grpc: str | None = None) -> AgentCard:
    """With the address of each binding; None for one that is not offered to this client."""
    offered = [("JSONRPC", jsonrpc), ("HTTP+JSON", rest), ("GRPC", grpc)]
    return AgentCard(
        name="Sandtable",
        description=_DESCRIPTION,
        version=__version__,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=binding, protocol_version=VERSION)
            for binding, url in offered
            if url
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=INPUT_MODES,
        default_output_modes=[MARKDOWN, JSON, PLOTLY],
        skills=[_skill(dataset) for dataset in datasets[:MOST_SKILLS]],
    )


def _skill(dataset: Dataset) -> AgentSkill:
    tables = ", ".join(table.name for table in dataset.tables[:20])
    about = dataset.description or dataset.title or dataset.id
    return AgentSkill(
        id=dataset.id,
        name=dataset.title or dataset.id,
        description=f'{about.rstrip(".")}. Tables: {tables}. Begin with "{dataset.id}:".',
        tags=["tabular data", dataset.id],
        # As they can be sent.
        examples=[f"{dataset.id}: {prompt}" for prompt in dataset.prompts[:MOST_EXAMPLES]],
    )


class Cards:
    """Cards as JSON, with the headers by which a client keeps one."""

    def __init__(self) -> None:
        self._since: dict[str, str] = {}
        """When this server first had a card: by its tag, the newest last."""

    def answer(
        self, datasets: Sequence[Dataset], jsonrpc: str, rest: str, grpc: str | None
    ) -> tuple[dict[str, Any], dict[str, str]]:
        body = MessageToDict(card_of(datasets, jsonrpc, rest, grpc))
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
        if tag not in self._since:
            self._since = dict(list(self._since.items())[-99:])
            self._since[tag] = formatdate(usegmt=True)
        headers = {
            "ETag": tag,
            "Last-Modified": self._since[tag],
            # Private: what it names may depend on who asks.
            "Cache-Control": f"private, max-age={MAX_AGE_S}",
        }
        return body, headers
