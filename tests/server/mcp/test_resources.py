"""Resources, prompts and completions."""

from __future__ import annotations

import json

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from sandtable.server.mcp import card
from tests.server.mcp.conftest import Connect


async def read(connect: Connect, uri: str) -> types.TextResourceContents:
    async with connect() as client:
        [found] = (await client.read_resource(uri)).contents
    assert isinstance(found, types.TextResourceContents)
    return found


async def test_what_is_listed_can_be_read(connect: Connect) -> None:
    async with connect() as client:
        listed = (await client.list_resources()).resources
        assert {"sandtable://datasets", "sandtable://plan-schema", card.URI, "sandtable://datasets/shop"} == {
            each.uri for each in listed
        }
        for each in listed:
            [found] = (await client.read_resource(each.uri)).contents
            assert isinstance(found, types.TextResourceContents) and found.text
            assert found.mime_type == each.mime_type
        templates = (await client.list_resource_templates()).resource_templates
        assert {each.name for each in templates} == {"dataset", "run", "rows", "capsule"}


@pytest.mark.parametrize("mode", ["2026-07-28"])
async def test_the_card_loads_nothing_and_asks_for_nothing(connect: Connect) -> None:
    page = await read(connect, card.URI)
    assert page.mime_type == "text/html;profile=mcp-app"
    assert page.meta is not None and set(map(len, page.meta["ui"]["csp"].values())) == {0}
    # The only address is the name of the namespace of drawings.
    assert page.text.count("://") == page.text.count("http://www.w3.org/2000/svg")
    assert len(page.text) < 40_000


async def test_what_there_is_not_is_an_error_of_the_protocol(connect: Connect) -> None:
    async with connect() as client:
        for uri in (
            "sandtable://datasets/none",
            "sandtable://runs/run_0",
            "sandtable://runs/run_0/rows",
            "sandtable://else",
            "file:///etc/passwd",
            "sandtable://[",
            "ui://sandtable/other.html",
        ):
            with pytest.raises(MCPError) as raised:
                await client.read_resource(uri)
            assert (raised.value.code, raised.value.data["code"]) == (types.INVALID_PARAMS, "NOT_FOUND"), uri


@pytest.mark.parametrize("mode", ["2026-07-28"])
async def test_prompts_are_about_the_datasets_that_there_are(connect: Connect) -> None:
    async with connect() as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["explore", "verify", "about-shop"]
        for name, arguments, holds in (
            ("explore", {"dataset_id": "shop"}, "describe_dataset"),
            ("verify", {"run_id": "run_1"}, "verify_run"),
            ("about-shop", {"question": "How many?"}, "How many?"),
        ):
            [message] = (await client.get_prompt(name, arguments)).messages
            assert isinstance(message.content, types.TextContent) and holds in message.content.text
        for name, arguments in (("none", {}), ("explore", {}), ("about-none", {"question": "x"})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)
        found = await client.complete(
            types.PromptReference(name="explore"), {"name": "dataset_id", "value": "sh"}
        )
        assert found.completion.values == ["shop"]


@pytest.mark.parametrize("mode", ["2026-07-28"])
async def test_the_plan_schema_is_the_one_of_the_language(connect: Connect) -> None:
    assert json.loads((await read(connect, "sandtable://plan-schema")).text)["title"]
