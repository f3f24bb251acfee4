"""Every text that reaches a model stands in a prompt file, whose digest is in the capsule; the rest is data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from sandtable.agent.analysis.coder import Advice
from sandtable.agent.model_prompt import now_in
from sandtable.agent.prompt_files import PromptFile, prompt_file
from sandtable.agent.proposer import Attempt, Look, Usage
from sandtable.agent.tools import ARGUMENTS
from sandtable.errors import ErrorCode, Problem
from tests.agent.models.asking import GOOD, asking, ended, exchange
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Call, Request, Say, Step, start_scripted
from tests.agent.models.test_coder import cell, coder, task

_PROBLEM = Problem(code=ErrorCode.VALIDATION_ERROR, message="no such column", suggestion="Use region.")
_ADVICE = Advice(diagnosis="No such column.", suggestion="Use region.")
_DATA = re.compile(r'(<data name="\w+">)\n.*?\n(?=</data>)', re.DOTALL)
_SHORTEST = 4
"""Letters of a piece of a prompt file that is looked for: shorter ones are in any text."""


def _texts(names: tuple[str, ...]) -> list[str]:
    """The pieces of the files between the places to fill, the longest first."""
    whole = (_DATA.sub(r"\1", prompt_file(name).text) for name in names)
    pieces = [piece.strip() for text in whole for piece in re.split(r"\{\{[#^/]?\w+\}\}", text)]
    return sorted((piece for piece in pieces if len(piece) >= _SHORTEST), key=len, reverse=True)


def _not_from_files(request: Request, usage: Usage) -> str:
    """What is left of a request's text without its data and without the files whose digests are recorded."""
    for name, sha256 in usage.prompts:
        assert prompt_file(name.removesuffix(".md")).sha256 == sha256
    left = _DATA.sub(r"\1", request.prompt).replace(now_in(asking(), "off"), "")
    for piece in _texts(tuple(name.removesuffix(".md") for name, _ in usage.prompts)):
        left = left.replace(piece, "")
    return left.strip(" .\n")


def _descriptions(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            yield node["description"]
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _descriptions(inner)


@pytest.mark.parametrize("python", [False, True], ids=["without python", "with python"])
@pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
async def test_a_proposal_is_asked_for_with_files_and_data_only(
    wire: str, python: bool, opened: Open
) -> None:
    refused = (Attempt({"table": "orders"}, None, _PROBLEM),)
    with start_scripted([Say(GOOD)]) as server:
        for asked in (asking(python=python), asking(python=python, attempts=refused, history=(exchange(),))):
            proposed = await opened(server, wire).propose(asked)
            assert _not_from_files(server.requests[-1], proposed.usage) == ""
            assert list(_descriptions(_forms(server.requests[-1]))) == []


@pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
async def test_tools_are_described_by_a_file(wire: str, opened: Open) -> None:
    looked = (Look("list_datasets", {}, {"datasets": []}),)
    with start_scripted([Call("list_datasets")]) as server:
        proposed = await opened(server, wire).propose(asking(tools=tuple(ARGUMENTS), looks=looked))
    [request] = server.requests
    assert _not_from_files(request, proposed.usage) == ""
    said = list(_descriptions(_forms(request)))
    assert len(said) == len(ARGUMENTS) and all(text in prompt_file("tools").text for text in said)


async def test_a_wording_is_asked_for_with_files_and_data_only(opened: Open) -> None:
    with start_scripted([Say("North leads.")]) as server:
        worded = await opened(server, "openai").word(asking(), ended((("North", 3),)), "North has 3.")
    assert worded is not None and _not_from_files(server.requests[0], worded.usage) == ""


@pytest.mark.parametrize("step", ["plan_steps", "write_code", "diagnose", "draw", "conclude"])
async def test_an_analysis_is_asked_for_with_files_and_data_only(step: str, opened: Open) -> None:
    replies: dict[str, Step] = {
        "plan_steps": Say({"steps": ["Sum."]}),
        "diagnose": Say({"diagnosis": "No such column."}),
        "conclude": Say("North leads."),
    }
    given = task(cells=(cell(status="failed"),), advice=_ADVICE)
    with start_scripted([Say("no"), replies.get(step, Say({"code": "x = 1"}))]) as server:
        writer = coder(opened, server, "openai")
        more = ("North has 3.",) if step == "conclude" else ()
        reply = await getattr(writer, step)(given, *more)
    for request in server.requests:
        assert _not_from_files(request, reply.usage) == ""
        assert list(_descriptions(_forms(request))) == []


def test_a_text_outside_of_the_files_is_found() -> None:
    body = {"messages": [{"content": prompt_file("system").text}, {"content": "Be brief."}]}
    usage = Usage((prompt_file("system").digest,))
    assert _not_from_files(Request("openai", "/", {}, body), usage) == "Be brief"


def test_every_prompt_file_is_sent() -> None:
    """Each name is read somewhere: a file that no code reads would be a digest of nothing."""
    source = "\n".join(
        file.read_text("utf-8")
        for folder in (files("sandtable.agent"), files("sandtable.agent.analysis"))
        for file in folder.iterdir()
        if file.name.endswith(".py")
    )
    kept = [file.name.removesuffix(".md") for file in (files("sandtable.agent") / "prompts").iterdir()]
    assert kept and [name for name in kept if f'"{name}"' not in source] == []


def test_optional_parts_are_resolved_before_anything_is_filled_in() -> None:
    file = PromptFile("x.md", "{{#a}}A is {{a}}.{{/a}}{{^a}}No A.{{/a}} {{b}}", "")
    assert file.filled(a="", b="{{#a}}hm{{/a}}") == "No A. {{#a}}hm{{/a}}"
    assert file.filled(a="{{b}}", b="1") == "A is {{b}}. 1"
    assert PromptFile("y.md", "{{#yes}}Y{{/yes}}{{^yes}}N{{/yes}}", "").filled(yes=True) == "Y"


def _forms(request: Request) -> Any:
    """The schemas and tools of a request."""
    return json.loads(json.dumps([request.body.get(name) for name in ("tools", "response_format", "format")]))
