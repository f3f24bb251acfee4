"""Planning in a trace: the wait, and the parts of the planner's work, whether it plans here or in another process."""

from __future__ import annotations

import pytest

from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.planning.planners import Planners
from sandtable.agent.proposer import Asked, PlanProposal
from sandtable.planner.candidates.network.reader import the_reader
from tests.agent.house import PROFILE, SHOP
from tests.telemetry.kept import Kept

QUESTION = "total amount by region"
PARTS = {"plan.linking", "plan.candidates", "plan.ranking", "plan.network", "plan.conscience"}


async def traced(kept: Kept, proposer: BuiltinProposer) -> None:
    with kept.tracer.root("propose"):
        proposed = await proposer.propose(Asked(question=QUESTION, dataset=SHOP, profile=PROFILE))
    assert isinstance(proposed.what, PlanProposal)
    kept.require_one_trace()
    assert kept.below("propose") == ["plan"]
    said = str([(span.name, dict(span.attributes or {})) for span in kept.all])
    assert not any(word in said for word in ("total", "region", "amount", SHOP.id))


async def test_planning_here_says_what_its_parts_took() -> None:
    kept = Kept()
    await traced(kept, BuiltinProposer(the_reader, tracer=kept.tracer))
    found = kept.below("plan")
    assert found[:2] == ["plan.index", "plan.wait"]
    assert set(found[2:]) == PARTS


async def test_rules_alone_have_no_network() -> None:
    kept = Kept()
    await traced(kept, BuiltinProposer(tracer=kept.tracer))
    assert "plan.network" not in kept.spans
    assert {"plan.linking", "plan.candidates", "plan.conscience"} <= set(kept.below("plan"))


async def test_a_planner_process_sends_what_its_parts_took() -> None:
    kept = Kept()
    planners = Planners(1, kept.tracer)
    try:
        proposer = BuiltinProposer(the_reader, planners, kept.tracer)
        await traced(kept, proposer)
    finally:
        await planners.aclose()
    found = kept.below("plan")
    assert found[:3] == ["plan.wait", "plan.start", "plan.index"]
    assert set(found[3:]) == PARTS


@pytest.mark.parametrize("traces", [True, False], ids=["no trace is open", "nothing is traced"])
async def test_outside_a_trace_nothing_is_timed(traces: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a stopwatch was started")

    monkeypatch.setattr("sandtable.agent.builtin.Stopwatch", refused)
    kept = Kept()
    proposer = BuiltinProposer(tracer=kept.tracer) if traces else BuiltinProposer()
    proposed = await proposer.propose(Asked(question=QUESTION, dataset=SHOP, profile=PROFILE))
    assert isinstance(proposed.what, PlanProposal) and not kept.all
