"""Parts → a conversation. A separate module, because LangGraph takes most of a second to import.

Threads are kept in `threads.db`, one SQLite file beside the runs.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from sandtable.agent.analysis.coder import coder_of
from sandtable.agent.analyst import Analyst
from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.agent.looking import looking_of
from sandtable.agent.means import Means
from sandtable.agent.models import open_proposer
from sandtable.agent.planning.planners import Planners
from sandtable.agent.proposer import Proposer
from sandtable.assemble import Parts
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.planner.candidates.network.reader import has_reader, the_reader
from sandtable.settings import Settings

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
        builtin = _builtin(parts.settings, stack, serving=serving)
        chosen = proposer or (None if planner_only else open_proposer(parts.settings)) or builtin
        means = Means(
            datasets=parts.datasets,
            runs=parts.runs,
            check=parts.check,
            read_sql=parts.read_sql,
            proposer=chosen,
            max_rows=parts.settings.max_rows,
            understands=builtin.understands,
            approval=parts.settings.approval,
            prepare=builtin.prepare,
            python=parts.python,
            planner=None if chosen is builtin else builtin,
            account=None if chosen is builtin else builtin.account,
            hint=None if chosen is builtin else builtin.hint,
            looking=looking_of(chosen, parts.settings.model_tool_calls),
            read_as=builtin.read_as,
            coder=coder_of(chosen),
            expect_code=parts.expect_code,
        )
        yield Analyst(means, checkpointer)


def _builtin(settings: Settings, stack: AsyncExitStack, *, serving: bool) -> BuiltinProposer:
    """Without the learned reader no planner processes: planning takes no longer than sending the question to one."""
    if not (settings.reader and has_reader()):
        return BuiltinProposer()
    most = planners_of(settings) if serving else 0
    if not most:
        return BuiltinProposer(the_reader)
    planners = Planners(most)
    stack.push_async_callback(planners.aclose)
    return BuiltinProposer(the_reader, planners)


def planners_of(settings: Settings) -> int:
    """The number of planner processes of a server; some processor time is left for the server itself."""
    if settings.planners is not None:
        return settings.planners
    return 2 if len(os.sched_getaffinity(0)) > 2 else 1
