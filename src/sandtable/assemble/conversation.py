"""Parts → a conversation. A separate module, because LangGraph takes most of a second to import.

Threads are kept in `threads.db`, one SQLite file beside the runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from sandtable.agent.analyst import Analyst
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.agent.proposer import Proposer
from sandtable.assemble import Parts
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.assemble.means import means_of

THREADS = "threads.db"


@asynccontextmanager
async def converse(
    parts: Parts,
    *,
    checkpointer: Checkpoints | None = None,
    proposer: Proposer | None = None,
    planner_only: bool = False,
    serving: bool = False,
) -> AsyncGenerator[Analyst, None]:
    """The analyst over these parts. `checkpointer` and `proposer` replace those of the settings.

    With `planner_only` the built-in planner proposes, whatever model the settings name. A server plans in separate
    processes: it has many users, and one event loop serves all of them.

    Raises ModelTrouble when the settings name a chat model that cannot be opened.
    """
    async with AsyncExitStack() as stack:
        if checkpointer is None:
            checkpointer = await stack.enter_async_context(sqlite_checkpoints(parts.settings.home / THREADS))
        means = means_of(parts, stack, proposer=proposer, planner_only=planner_only, serving=serving)
        yield Analyst(means, checkpointer)
