"""What a person is told when a chat model cannot be used, and that no key is ever among it."""

from __future__ import annotations

import asyncio
import logging
import socket
import traceback
from pathlib import Path

import pytest

from sandtable.agent.model_trouble import scrubbed
from sandtable.agent.models import ModelTrouble, open_proposer
from sandtable.errors import ErrorCode
from tests.agent.models.asking import GOOD, asking, ended
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import KEY, Fail, Hangup, Say, Stall, Step, start_scripted

every_wire = pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
QUOTED = f"Incorrect API key provided: {KEY}"


@every_wire
@pytest.mark.parametrize(
    ("step", "kind", "code", "message", "suggestion", "calls"),
    [
        pytest.param(Fail(401), "refused_key", "UNAUTHORIZED", "refused the key", "API_KEY", 1, id="401"),
        pytest.param(Fail(403), "refused_key", "UNAUTHORIZED", "refused the key", "may use", 1, id="403"),
        pytest.param(Fail(404), "unknown_model", "NOT_FOUND", "there is no", "SANDTABLE_MODEL", 1, id="404"),
        pytest.param(
            Fail(429, headers={"Retry-After": "30"}),
            "rate_limit",
            "RUNNER_RESOURCE_EXCEEDED",
            "takes no more requests",
            "in 30 s",
            1,
            id="429-retry-after",
        ),
        pytest.param(
            Fail(429), "rate_limit", "RUNNER_RESOURCE_EXCEEDED", "no more requests", "in a while", 1, id="429"
        ),
        pytest.param(
            Fail(500),
            "provider_error",
            "RUNNER_INTERNAL_ERROR",
            "failed (HTTP 500)",
            "builtin",
            3,
            id="500-always",
        ),
        pytest.param(
            Hangup(), "unreachable", "RUNNER_INTERNAL_ERROR", "no connection to", "", 3, id="hangup-always"
        ),
        pytest.param(
            Fail(400, "This model's maximum context length is 8192 tokens"),
            "too_long",
            "RUNNER_RESOURCE_EXCEEDED",
            "too long",
            "shorter",
            1,
            id="context-overflow",
        ),
        pytest.param(
            Fail(400, "Your credit balance is too low"),
            "no_credit",
            "RUNNER_RESOURCE_EXCEEDED",
            "no credit left",
            "another model",
            1,
            id="no-credit",
        ),
        pytest.param(
            Fail(429, "You exceeded your current quota", headers={"Retry-After": "1"}),
            "no_credit",
            "RUNNER_RESOURCE_EXCEEDED",
            "no credit left",
            "another model",
            1,
            id="no-quota",
        ),
        pytest.param(
            Say('{"intent": "plan", "plan": {"table"', finish="length"),
            "too_long",
            "RUNNER_RESOURCE_EXCEEDED",
            "cut off",
            "less",
            1,
            id="reply-too-long",
        ),
    ],
)
async def test_each_trouble_has_its_words(
    wire: str, step: Step, kind: str, code: str, message: str, suggestion: str, calls: int, opened: Open
) -> None:
    with start_scripted([step]) as server:
        with pytest.raises(ModelTrouble) as caught:
            await opened(server, wire).propose(asking())
        assert len(server.requests) == calls
    problem = caught.value.problem
    assert (caught.value.kind, problem.code, problem.details["kind"]) == (kind, code, kind)
    assert message in problem.message and suggestion in problem.suggestion
    assert problem.details["model"] == f"{wire}:scripted"
    assert KEY not in problem.model_dump_json()


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_filtered_reply(wire: str, opened: Open) -> None:
    declined = [Say("I cannot help with that.", finish="filtered")]
    with start_scripted(declined) as server, pytest.raises(ModelTrouble, match="declined") as caught:
        await opened(server, wire).propose(asking())
    assert caught.value.kind == "filtered"


@every_wire
@pytest.mark.parametrize("after", ["nothing", "first_piece"])
async def test_a_stalled_reply_ends_at_the_limit(wire: str, after: str, opened: Open) -> None:
    with start_scripted([Stall(after)]) as server:  # type: ignore[arg-type]  (parametrized)
        with pytest.raises(ModelTrouble, match=r"within 0\.6 s") as caught:
            await opened(server, wire, model_timeout_s=0.6).propose(asking())
        assert len(server.requests) == 1
    assert caught.value.code is ErrorCode.RUNNER_TIMEOUT


@every_wire
async def test_a_person_who_cancels_waits_no_longer(wire: str, opened: Open) -> None:
    with start_scripted([Stall()]) as server:
        asking_model = asyncio.create_task(opened(server, wire).propose(asking()))
        while not server.requests:
            await asyncio.sleep(0.01)
        asking_model.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking_model


@every_wire
async def test_pauses_between_retries_count_against_the_limit(wire: str, tmp_path: Path) -> None:
    with start_scripted([Fail(429, headers={"Retry-After": "5"})]) as server:
        proposer = open_proposer(server.settings(wire, tmp_path, model_timeout_s=0.6))
        assert proposer is not None
        with pytest.raises(ModelTrouble) as caught:
            await proposer.propose(asking())
    assert caught.value.kind == "timeout"


@every_wire
async def test_retries_wait_as_long_as_they_are_told(wire: str, opened: Open, pauses: list[float]) -> None:
    with start_scripted([Fail(429, headers={"Retry-After": "2"}), Fail(502), Say(GOOD)]) as server:
        await opened(server, wire).propose(asking())
    assert pauses == [2.0, 1.0]


@every_wire
async def test_nobody_listens(wire: str, opened: Open, pauses: list[float]) -> None:
    with start_scripted([Say(GOOD)]) as server, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(ModelTrouble, match=f"no connection to {wire}:scripted at {address}") as caught:
            await opened(server, wire, model_base_url=address).propose(asking())
    assert caught.value.kind == "unreachable" and caught.value.suggestion
    assert pauses == []


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "step",
    [Fail(401, QUOTED), Fail(400, QUOTED), Fail(500, QUOTED), Say(QUOTED), Say(GOOD)],
    ids=["401", "400", "500", "quoted-in-reply", "good"],
)
async def test_a_key_is_in_no_log_error_or_repr(
    wire: str, step: Step, opened: Open, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    with start_scripted([step]) as server:
        settings = server.settings(wire, Path("/nowhere"))
        proposer = opened(server, wire)
        try:
            proposed = await proposer.propose(asking())
            shown.append(repr(proposed))
        except ModelTrouble as trouble:
            shown += [repr(trouble), trouble.problem.model_dump_json(), *traceback.format_exception(trouble)]
        worded = await proposer.word(asking(), ended((("North", 3),)), "North has 3.")
        shown.append(repr(worded) if step != Say(QUOTED) else "")
    shown += [repr(settings), str(settings), settings.model_dump_json(), repr(proposer), repr(vars(proposer))]
    shown += [caplog.text, *capfd.readouterr()]
    assert all(KEY not in text for text in shown)
    sent = "\n".join(request.prompt for request in server.requests)
    assert KEY not in sent and KEY not in server.said()


def test_a_cause_with_a_key_is_scrubbed_and_cut() -> None:
    assert scrubbed(f"bad  key\n{KEY}!", [KEY]) == "bad key …!"
    assert len(scrubbed("x" * 5000, [])) < 400
