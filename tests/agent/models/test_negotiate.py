"""Structured replies are asked for in the best way that the endpoint takes, which is tried out once."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from sandtable.agent.models import ModelTrouble, choose_endpoint
from sandtable.agent.negotiate import LADDERS, Negotiated
from sandtable.agent.proposer import PlanProposal
from tests.agent.models.asking import GOOD, PLAN, asking
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Fail, Feature, Say, Scripted, start_scripted

EVERYTHING: tuple[Feature, ...] = ("json_schema", "tools", "json_object")


def _ways(server: Scripted) -> list[str]:
    return [",".join(sorted(request.features)) or "text" for request in server.requests]


@pytest.mark.parametrize(
    ("wire", "refuses", "ways"),
    [
        pytest.param("openai", (), ["json_schema"], id="openai-takes-all"),
        pytest.param("openai", ("json_schema",), ["json_schema", "tools"], id="openai-tools"),
        pytest.param(
            "openai", ("json_schema", "tools"), ["json_schema", "tools", "json_object"], id="openai-json-mode"
        ),
        pytest.param("openai", EVERYTHING, ["json_schema", "tools", "json_object", "text"], id="openai-text"),
        pytest.param("ollama", (), ["json_schema"], id="ollama-takes-all"),
        pytest.param("ollama", ("json_schema",), ["json_schema", "tools"], id="ollama-tools"),
        pytest.param("ollama", EVERYTHING, ["json_schema", "tools", "json_object", "text"], id="ollama-text"),
        pytest.param("anthropic", (), ["tools"], id="anthropic-takes-all"),
        pytest.param("anthropic", ("tools",), ["tools", "text"], id="anthropic-text"),
    ],
)
async def test_the_best_way_is_found_and_remembered(
    wire: str, refuses: tuple[Feature, ...], ways: list[str], opened: Open
) -> None:
    with start_scripted([Say(GOOD)], refuses=refuses) as server:
        first = opened(server, wire)
        assert (await first.propose(asking())).what == PlanProposal(PLAN)
        assert _ways(server) == ways
        await first.propose(asking())
        assert _ways(server) == [*ways, ways[-1]], "the second question makes no failed probe"
        await opened(server, wire).propose(asking())
        assert _ways(server) == [*ways, ways[-1], ways[-1]], "nor does another process"


async def test_a_stale_entry_heals_itself(opened: Open, tmp_path: Path) -> None:
    with start_scripted([Say(GOOD)], refuses=("json_schema",)) as server:
        settings = server.settings("openai", tmp_path)
        endpoint = choose_endpoint(settings)
        assert endpoint is not None
        Negotiated(tmp_path / "models.json").worked(endpoint, "json_schema")
        await opened(server, "openai").propose(asking())
        await opened(server, "openai").propose(asking())
    assert _ways(server) == ["json_schema", "tools", "tools"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"methods": 3}', '{"methods": {"openai:scripted": "telepathy"}}', "\udcff"]
)
async def test_an_unreadable_memory_is_replaced(content: str, opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "openai").propose(asking())
    kept = json.loads(path.read_text("utf-8"))["methods"]
    assert kept == {f"openai:scripted {server.url}/v1": "json_schema"}


async def test_a_memory_that_cannot_be_written_is_only_forgotten(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "models.json").mkdir()
    with start_scripted([Say(GOOD)], refuses=("json_schema",)) as server:
        proposer = opened(server, "openai")
        await proposer.propose(asking())
        await proposer.propose(asking())
    assert _ways(server) == ["json_schema", "tools", "tools"]


async def test_endpoints_are_remembered_apart(opened: Open, tmp_path: Path) -> None:
    with start_scripted([Say(GOOD)], refuses=("json_schema",)) as one, start_scripted([Say(GOOD)]) as other:
        await opened(one, "openai").propose(asking())
        await opened(other, "openai").propose(asking())
        await opened(other, "openai", model="openai:second").propose(asking())
        await opened(other, "ollama").propose(asking())
    kept = json.loads((tmp_path / "models.json").read_text("utf-8"))["methods"]
    assert kept == {
        f"openai:scripted {one.url}/v1": "function_calling",
        f"openai:scripted {other.url}/v1": "json_schema",
        f"openai:second {other.url}/v1": "json_schema",
        f"ollama:scripted {other.url}": "json_schema",
    }
    assert stat.S_IMODE((tmp_path / "models.json").stat().st_mode) & 0o077 == 0


async def test_an_address_is_kept_without_its_password(opened: Open, tmp_path: Path) -> None:
    with start_scripted([Say(GOOD)]) as server:
        address = server.url.replace("//", "//ada:pa55word@") + "/v1"
        proposer = opened(server, "openai", model_base_url=address)
        await proposer.propose(asking())
    kept = (tmp_path / "models.json").read_text("utf-8")
    settings = server.settings("openai", tmp_path, model_base_url=address)
    shown = kept + repr(settings) + repr(choose_endpoint(settings)) + repr(proposer)
    assert "pa55word" not in shown


@pytest.mark.parametrize("wire", list(LADDERS))
async def test_a_request_that_is_wrong_in_every_way_is_told(wire: str, opened: Open) -> None:
    told = "the seed must be 1"
    with start_scripted([Fail(400, told)]) as server, pytest.raises(ModelTrouble, match=told) as caught:
        await opened(server, wire).propose(asking())
    assert caught.value.kind == "rejected"
    assert len(server.requests) == len(LADDERS[wire])  # type: ignore[index]  (the keys themselves)


async def test_a_model_that_cannot_be_forced_to_call_a_tool(opened: Open) -> None:
    """It is asked with the tool and without force; after a reply in prose it is asked again, with the reason."""
    with start_scripted([Say(GOOD), Say("Sure."), Say(GOOD), Say(GOOD)]) as server:
        proposer = opened(server, "anthropic", model="anthropic:claude-sonnet-5-5")
        for _ in range(3):
            assert (await proposer.propose(asking())).what == PlanProposal(PLAN)
    assert _ways(server) == ["tools"] * 4
    assert "holds no JSON object" in server.requests[2].prompt
    assert "tool_choice" not in server.requests[0].body


async def test_a_404_that_speaks_of_the_method_is_no_unknown_model(opened: Open) -> None:
    told = Fail(404, "No endpoints found that support tool use")
    with start_scripted(lambda request: told if request.features else Say(GOOD)) as server:
        await opened(server, "openai").propose(asking())
    assert _ways(server) == ["json_schema", "tools", "json_object", "text"]


async def test_an_address_without_its_path_is_suspected(opened: Open) -> None:
    with start_scripted([Fail(404)]) as server, pytest.raises(ModelTrouble) as caught:
        await opened(server, "openai", model_base_url=server.url).propose(asking())
    assert "most end in /v1" in caught.value.suggestion
