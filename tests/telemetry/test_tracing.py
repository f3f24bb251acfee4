"""What begins a trace, what continues one, and what is said of a failure."""

from __future__ import annotations

import asyncio
import time

import pytest

from sandtable.observing import UNOBSERVED, Stopwatch, link_from, report_planning, timed_part, trace_of
from sandtable.runs.sandbox_spans import report_stages
from sandtable.sandbox.job import JobResult
from tests.telemetry.kept import Kept

LINK = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_a_part_of_nothing_is_no_span_but_a_root_is_one(kept: Kept) -> None:
    with kept.tracer.span("part"):
        assert kept.tracer.link == ""
    kept.tracer.passed("past", 1.0, 2.0)
    with kept.tracer.root("turn", turn_id="t", nothing=None), kept.tracer.span("step"):
        kept.tracer.passed("past", 1.0, 2.0)
    assert set(kept.spans) == {"turn", "step", "past"}
    turn, step, past = (kept.spans[name] for name in ("turn", "step", "past"))
    assert turn.parent is None and dict(turn.attributes or {}) == {"sandtable.turn_id": "t"}
    assert (step.parent, past.parent) == (turn.get_span_context(), step.get_span_context())
    assert (past.start_time, past.end_time) == (1_000_000_000, 2_000_000_000)


def test_a_link_is_continued_elsewhere(kept: Kept) -> None:
    with kept.tracer.under(LINK):
        assert kept.tracer.link == LINK
        with kept.tracer.root("run"):
            pass
    parent = kept.spans["run"].parent
    assert parent is not None and parent.is_remote
    assert f"{parent.trace_id:032x}-{parent.span_id:016x}" == LINK[3:-3]
    assert trace_of(LINK) == {"trace_id": LINK[3:35]} and trace_of("") == {}


@pytest.mark.parametrize(
    "link",
    [
        "",
        "x",
        LINK[:-1],
        LINK.replace("0af7", "0AF7"),
        f"ff{LINK[2:]}",
        f"00-{'0' * 32}{LINK[35:]}",
        f"{LINK}\n",
        f"{LINK}-more",
        f"01{LINK[2:]}-{'x' * 600}",
    ],
)
def test_what_is_no_link_is_left_out(kept: Kept, link: str) -> None:
    with kept.tracer.under(link):
        assert kept.tracer.link == ""
    assert link_from([link]) == ""


def test_a_request_has_one_link_of_a_version_that_may_be_newer() -> None:
    newer = f"01{LINK[2:]}-more"
    assert (link_from([LINK]), link_from([newer])) == (LINK, newer)
    assert link_from([]) == link_from([LINK, LINK]) == ""


@timed_part("candidates")
def candidates() -> float:
    time.sleep(0.01)
    return conscience() + conscience()


@timed_part("conscience")
def conscience() -> float:
    time.sleep(0.01)
    return 1.0


def test_a_moment_of_planning_counts_for_its_innermost_part(kept: Kept) -> None:
    assert candidates() == 2.0, "where no stopwatch runs, nothing is timed"
    with Stopwatch() as watch:
        began = time.perf_counter()
        candidates()
        took = time.perf_counter() - began
    found = watch.spent
    assert list(found) == ["candidates", "conscience"] and found["conscience"].times == 2
    assert found["candidates"].seconds >= 0.01 and found["conscience"].seconds >= 0.02
    assert sum(each.seconds for each in found.values()) <= took
    with kept.tracer.root("plan"):
        report_planning(kept.tracer, found, 100.0, 110.0)
    first, second = kept.spans["plan.candidates"], kept.spans["plan.conscience"]
    assert first.end_time == second.start_time and second.end_time == 110_000_000_000
    assert dict(second.attributes or {}) == {"sandtable.times": 2}


def test_of_a_failure_only_the_type_is_told(kept: Kept) -> None:
    with pytest.raises(ValueError, match="secret"), kept.tracer.root("run"):
        raise ValueError("secret")
    with pytest.raises(asyncio.CancelledError), kept.tracer.root("turn"):
        raise asyncio.CancelledError("secret")
    run, turn = kept.spans["run"], kept.spans["turn"]
    assert dict(run.attributes or {}) == {"error.type": "ValueError"} and not run.events
    assert not run.status.is_ok and run.status.description is None
    assert dict(turn.attributes or {}) == {"sandtable.cancelled": True} and turn.status.is_unset


def test_a_sandbox_cannot_place_its_stages_outside_its_time(kept: Kept) -> None:
    metrics = {"seal_ms": 2_000.0, "query_ms": 500.0, "fetch_ms": 1e15}
    result = JobResult(job_id="x", status="succeeded", metrics=metrics)
    with kept.tracer.root("sandbox"):
        report_stages(kept.tracer, result, 100.0, 101.0)
        honest = {"seal_ms": 100.0, "query_ms": 200.0, "fetch_ms": 300.0}
        report_stages(kept.tracer, result.model_copy(update={"metrics": honest}), 200.0, 201.0)
    for span in kept.spans.values():
        if span.name != "sandbox":
            assert span.start_time is not None and span.end_time is not None
            assert 200.4e9 - 1e3 <= span.start_time <= span.end_time <= 201e9 + 1e3
    report_stages(UNOBSERVED.tracer, result, 0.0, 1.0)


def test_a_job_without_these_stages_is_one_stage(kept: Kept) -> None:
    with kept.tracer.root("sandbox"):
        code = JobResult(job_id="x", status="failed", exec_time_ms=50.0, metrics={"seal_ms": 1.0})
        report_stages(kept.tracer, code, 10.0, 11.0)
    assert {"sandbox.seal", "sandbox.run"} <= kept.spans.keys()
