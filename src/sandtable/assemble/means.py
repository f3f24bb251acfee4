"""Parts → what a turn can do (`Means`): with the built-in planner or the chat model that the settings name."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack

from sandtable.agent.analysis.coder import coder_of
from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.looking import looking_of
from sandtable.agent.means import Means
from sandtable.agent.models import open_proposer
from sandtable.agent.observed import observed_coder, observed_proposer
from sandtable.agent.planning.planners import Planners
from sandtable.agent.proposer import Proposer
from sandtable.assemble import Parts
from sandtable.observing import Tracer
from sandtable.planner.candidates.network.loading import has_reader
from sandtable.planner.candidates.network.reader import the_reader
from sandtable.settings import Settings


def means_of(
    parts: Parts,
    stack: AsyncExitStack,
    *,
    proposer: Proposer | None = None,
    planner_only: bool = False,
    serving: bool = False,
) -> Means:
    """Raises ModelTrouble when the settings name a chat model that cannot be opened."""
    observer = parts.telemetry.observer
    builtin = _builtin(parts.settings, stack, observer.tracer, serving=serving)
    chosen = proposer or (None if planner_only else open_proposer(parts.settings)) or builtin
    return Means(
        datasets=parts.datasets,
        runs=parts.runs,
        check=parts.check,
        read_sql=parts.read_sql,
        proposer=observed_proposer(chosen, observer),
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
        coder=observed_coder(coder_of(chosen), chosen.name, observer),
        expect_code=parts.expect_code,
        observer=observer,
    )


def _builtin(settings: Settings, stack: AsyncExitStack, tracer: Tracer, *, serving: bool) -> BuiltinProposer:
    """Without the learned reader no planner processes: planning takes no longer than sending the question to one."""
    if not (settings.reader and has_reader()):
        return BuiltinProposer(tracer=tracer)
    most = planners_of(settings) if serving else 0
    if not most:
        return BuiltinProposer(the_reader, tracer=tracer)
    planners = Planners(most, tracer)
    stack.push_async_callback(planners.aclose)
    return BuiltinProposer(the_reader, planners, tracer)


def planners_of(settings: Settings) -> int:
    """The number of planner processes of a server; some processor time is left for the server itself."""
    if settings.planners is not None:
        return settings.planners
    return 2 if len(os.sched_getaffinity(0)) > 2 else 1
