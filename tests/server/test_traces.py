"""One question, one trace: exported to a real OTLP/HTTP receiver, and nested from the request to the sandbox."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.builtin import BuiltinProposer
from sandtable.assemble.telemetry import open_telemetry, traces_endpoint
from sandtable.errors import InvalidInput
from sandtable.sandbox.fake import FakeExecutor
from sandtable.sandbox.job import JobResult
from sandtable.settings import Settings
from tests.own_logs import LogLines
from tests.server.talking import Served, served
from tests.telemetry.receiver import Receiver, SeenSpan, children, one, receiver

QUESTION = "plan the secret merger of Ada Lovelace"
OUTSIDE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{OUTSIDE}-b7ad6b7169203331-01"
IDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}")
STARTS_MS = 2
"""A run's acceptance is stored in whole milliseconds."""


def configured(home: Path, to: str, **settings: Any) -> Settings:
    given = {"home": home, "SANDTABLE_OTLP_ENDPOINT": to, **settings}
    return Settings(**given)


@asynccontextmanager
async def traced(home: Path, to: str, **settings: Any) -> AsyncGenerator[Served, None]:
    """What was traced has been exported when this ends."""
    chosen = configured(home, to, **settings)
    async with (
        open_telemetry(chosen, serving=True) as telemetry,
        served(home, chosen, telemetry=telemetry, executor=Measured()) as server,
    ):
        yield server


class Measured(FakeExecutor):
    """Its answers have the times that a runner reports."""

    async def result(self, job_id: str) -> JobResult:
        result = await super().result(job_id)
        metrics = {"seal_ms": 0.2, "query_ms": 0.3, "fetch_ms": 1e12}
        return result.model_copy(update={"metrics": metrics})


async def chat(server: Served, message: str = QUESTION, **headers: str) -> dict[str, Any]:
    body = {"message": message, "dataset_id": "shop"}
    answer = await server.client.post("/chat", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def require_nested(spans: list[SeenSpan]) -> None:
    by_id = {span.id: span for span in spans}
    for span in spans:
        assert span.began <= span.ended, span.name
        if span.parent in by_id:
            parent = by_id[span.parent]
            slack = STARTS_MS * 1_000_000
            assert parent.began - slack <= span.began and span.ended <= parent.ended, (span.name, parent.name)


async def test_one_question_is_one_trace_whose_spans_nest(tmp_path: Path, log_lines: LogLines) -> None:
    with receiver() as collector:
        async with traced(tmp_path, collector.url) as server:
            told = await chat(server)
        spans = collector.spans
    assert len({span.trace for span in spans}) == 1
    root = one(spans, lambda span: not span.parent)
    assert root.name == "POST /chat" and root.attributes["http.response.status_code"] == 200
    require_nested(spans)
    turn = one(children(spans, root), "turn")
    steps = {span.name for span in children(spans, turn)}
    assert {"turn.wait", "classify", "propose", "validate", "run", "wording"} <= steps
    step = one(children(spans, turn), "run")
    assert {span.name for span in children(spans, step)} == {"queue", "run"}
    run = one(children(spans, step), "run")
    stages = {span.name for span in children(spans, run)}
    assert {"resolve", "compile", "judge", "recall", "sandbox", "chart", "capsule", "store"} <= stages
    sandbox = one(children(spans, run), "sandbox")
    within = children(spans, sandbox)
    assert [span.name for span in within] == ["sandbox.seal", "sandbox.query", "sandbox.fetch"]
    assert run.attributes["sandtable.run_id"] == told["run_ids"][0]
    assert run.attributes["sandtable.status"] == "succeeded"
    assert turn.attributes["sandtable.dataset_id"] == "shop"
    assert collector.resource["service.name"] == "sandtable"
    # The logs say to which trace their lines belong.
    lines = log_lines()
    [request] = [line for line in lines if line["event"] == "request" and line["path"] == "/chat"]
    [ended] = [line for line in lines if line["event"] == "run_finished"]
    assert request["trace_id"] == ended["trace_id"] == root.trace
    assert root.attributes["sandtable.request_id"] == request["request_id"]


async def test_what_the_planner_did_is_in_the_trace_of_the_question(tmp_path: Path) -> None:
    with receiver() as collector:
        chosen = configured(tmp_path, collector.url)
        async with open_telemetry(chosen, serving=True) as telemetry:
            planner = BuiltinProposer(tracer=telemetry.observer.tracer)
            together = {"telemetry": telemetry, "executor": Measured(), "proposer": planner}
            async with served(tmp_path, chosen, **together) as server:
                assert (await chat(server, "How many orders are there?"))["ending"] == "answered"
        spans = collector.spans
    assert len({span.trace for span in spans}) == 1
    require_nested(spans)
    turn = one(children(spans, one(spans, "POST /chat")), "turn")
    plan = one(children(spans, one(children(spans, turn), "propose")), "plan")
    found = {span.name for span in children(spans, plan)}
    assert {"plan.index", "plan.linking", "plan.candidates", "plan.conscience"} <= found, found
    sandbox = one(spans, "sandbox")
    assert {span.name for span in children(spans, sandbox)} >= {"sandbox.query"}


async def test_a_trace_holds_no_word_of_the_question_and_no_value(tmp_path: Path) -> None:
    secret = "h4x-secret-value"
    with receiver() as collector:
        async with traced(tmp_path, collector.url) as server:
            await chat(server, Authorization=f"Bearer {secret}", Cookie=f"sid={secret}")
            broke = {"message": "boom with Lovelace", "dataset_id": "shop"}
            assert (await server.client.post("/chat", json=broke)).status_code == 500
            sql = f"SELECT * FROM orders WHERE name = '{secret}'"
            await server.client.post(f"/runs?wait=5&note={secret}", json={"dataset_id": "shop", "sql": sql})
            await server.client.get(f"/runs/{secret}")
            await server.client.get(f"/{secret}/nowhere")
        sent = b"".join(collector.bodies)
        spans = collector.spans
    assert len(spans) > 20
    for word in (secret, "Lovelace", "merger", "SELECT", "the inside of the server"):
        assert word.encode() not in sent, word
    # The value of the answer; an id may hold these digits, too.
    told = [str(value) for span in spans for value in (span.name, *span.attributes.values())]
    assert not any(re.search(r"\b42\b", IDS.sub("", each)) for each in told)
    assert {span.name for span in spans if not span.parent} == {
        "POST /chat", "POST /runs", "GET /runs/{run_id}", "GET other",
    }  # fmt: skip
    # A defect is told by its type.
    assert "RuntimeError" in {span.attributes.get("error.type") for span in spans}
    assert len({span.trace for span in spans}) == 5


@pytest.mark.parametrize("trusted", [True, False])
async def test_only_a_trusted_proxy_says_which_trace_it_is(tmp_path: Path, trusted: bool) -> None:
    proxies = (ip_network("127.0.0.1/32"),) if trusted else ()
    with receiver() as collector:
        async with traced(tmp_path, collector.url, trusted_proxies=proxies) as server:
            await chat(server, traceparent=TRACEPARENT)
            await chat(server, traceparent="00-nonsense")
        spans = collector.spans
    first, second = [span for span in spans if span.name == "POST /chat"]
    assert (first.trace == OUTSIDE) == trusted
    assert first.parent == ("b7ad6b7169203331" if trusted else "")
    assert second.trace != OUTSIDE and not second.parent
    assert {span.trace for span in spans} == {first.trace, second.trace}


async def test_a_caller_may_say_not_to_record(tmp_path: Path) -> None:
    with receiver() as collector:
        async with traced(tmp_path, collector.url, trusted_proxies=(ip_network("127.0.0.1/32"),)) as server:
            await chat(server, traceparent=TRACEPARENT.removesuffix("01") + "00")
        assert collector.spans == []


async def test_probes_metrics_and_files_are_not_traced(tmp_path: Path) -> None:
    with receiver() as collector:
        async with traced(tmp_path, collector.url) as server:
            for path in ("/healthz", "/readyz", "/metrics", "/datasets"):
                assert (await server.client.get(path)).status_code in (200, 503)
        assert [span.name for span in collector.spans] == ["GET /datasets"]


def broken(collector: Receiver, how: str) -> str:
    match how:
        case "away":
            return "http://127.0.0.1:9"
        case "refuses":
            collector.status = 400
        case "fails":
            collector.status = 503
        case _:
            collector.delay_s = 30.0
    return collector.url


@pytest.mark.parametrize("how", ["away", "refuses", "fails", "hangs"])
async def test_a_broken_collector_costs_an_answer_nothing(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch, log_lines: LogLines
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    monkeypatch.setattr("sandtable.telemetry.tracing.CLOSE_S", 0.3)
    with receiver() as collector:
        async with traced(tmp_path, broken(collector, how)) as server:
            for _ in range(3):
                assert (await chat(server))["ending"] == "answered"
            began = time.monotonic()
        assert time.monotonic() - began < 8, "it ends without its collector"
    said = [line for line in log_lines() if str(line.get("logger", "")).startswith("opentelemetry")]
    assert len(said) <= 1


@pytest.mark.parametrize(
    ("given", "endpoint"),
    [
        ({}, None),
        ({"SANDTABLE_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318/v1/traces"),
        ({"SANDTABLE_OTLP_ENDPOINT": "http://c:4318/"}, "http://c:4318/v1/traces"),
        ({"SANDTABLE_OTLP_ENDPOINT": "https://c/otlp"}, "https://c/otlp/v1/traces"),
        ({"SANDTABLE_OTLP_ENDPOINT": "https://c/x/v1/traces"}, "https://c/x/v1/traces"),
        ({"SANDTABLE_OTLP_ENDPOINT": "http://c:4318", "tracing": "off"}, None),
        ({"tracing": "on"}, "http://localhost:4318/v1/traces"),
    ],
)
def test_where_traces_go(tmp_path: Path, given: dict[str, Any], endpoint: str | None) -> None:
    assert traces_endpoint(Settings(home=tmp_path, **given)) == endpoint


def test_an_address_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no http or https address"):
        traces_endpoint(configured(tmp_path, "collector:4317"))


async def test_without_the_package_traces_are_off_unless_they_are_demanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: LogLines
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sandtable.telemetry.tracing", None)
    async with open_telemetry(configured(tmp_path, "http://c:4318"), serving=True) as telemetry:
        assert telemetry.tracer is None
    assert [line["event"] for line in log_lines()] == ["tracing_not_installed"]
    with pytest.raises(InvalidInput, match="not installed"):
        async with open_telemetry(Settings(home=tmp_path, tracing="on"), serving=True):
            pass
