"""Parts → one question. A separate module from `conversation`, because it loads no LangGraph."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from sandtable.agent.one_turn import OneTurn
from sandtable.assemble import Parts
from sandtable.assemble.means import means_of


@asynccontextmanager
async def one_turn(parts: Parts) -> AsyncGenerator[OneTurn, None]:
    """Answers a question that no other follows: nothing of it is kept but its runs.

    Raises ModelTrouble when the settings name a chat model that cannot be opened.
    """
    async with AsyncExitStack() as stack:
        yield OneTurn(means_of(parts, stack))
