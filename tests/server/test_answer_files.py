"""Answers as files over HTTP: of a run, and of a conversation."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from httpx import AsyncClient

from sandtable.agent.messages import WrittenMessage
from sandtable.answer_files.thread import answers_in, sentence_of
from sandtable.proof_page.page import parted
from sandtable.proof_page.said import opened
from sandtable.proof_page.verify import verify_page
from tests.server.house import House
from tests.server.talking import Served, served
from tests.server.test_exports import a_run

FORMS = ("page", "markdown", "notebook", "csv")


@pytest.mark.parametrize("form", FORMS)
async def test_a_run_is_exported(client: AsyncClient, form: str) -> None:
    run_id = await a_run(client, question="How many are there?")
    answer = await client.get(f"/runs/{run_id}/export/{form}")
    ending = {"page": "html", "markdown": "md", "notebook": "ipynb", "csv": "zip"}[form]
    assert answer.status_code == 200
    named = f'attachment; filename="how-many-are-there.{ending}"'
    assert answer.headers["content-disposition"] == named
    assert answer.headers["x-content-type-options"] == "nosniff"
    if form == "csv":
        assert (
            zipfile.ZipFile(io.BytesIO(answer.content)).read("01-how-many-are-there.csv")
            == b"answer\r\n42\r\n"
        )
    elif form != "page":
        assert "How many are there?" in answer.text and run_id in answer.text


async def test_the_page_of_a_run_verifies(client: AsyncClient, house: House) -> None:
    run_id = await a_run(client, question="How many are there?")
    text = (await client.get(f"/runs/{run_id}/export/page")).text
    keys = {house.key.keyid: house.key.private.public_key()}
    report = await verify_page(text, keys, house.verify, house.datasets.version)
    assert report.ok, report
    assert [link.status for link in report.links] == ["ok"] * 5
    assert report.capsules[0].run_id == run_id


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


async def ask(server: Served, message: str, **body: Any) -> dict[str, Any]:
    wanted = body or {"dataset_id": "shop"}
    return (await server.client.post("/chat", json={"message": message, **wanted})).json()


async def test_a_conversation_is_exported_in_its_own_words(server: Served) -> None:
    first = await ask(server, "plan it")
    await ask(server, "What is what?", thread_id=first["thread_id"])
    address = f"/threads/{first['thread_id']}/export"
    page = await server.client.get(f"{address}/page")
    assert page.status_code == 200 and page.headers["content-disposition"].endswith('.html"')
    content, _ = parted(page.text)
    key = server.house.key
    said = opened(content.statement, {key.keyid: key.private.public_key()})
    assert [one.question for one in said.answers] == ["plan it", "What is what?"]
    assert said.answers[0].sentence and said.answers[0].sentence in first["message"]
    assert "|" not in said.answers[0].sentence and "Read as" not in said.answers[0].sentence
    assert said.answers[0].reading == first["reading"]
    assert len(said.answers[0].capsules) == len(first["run_ids"])
    markdown = (await server.client.get(f"{address}/markdown")).text
    assert markdown.index("## plan it") < markdown.index("## What is what")
    book = json.loads((await server.client.get(f"{address}/notebook")).content)
    assert any("sandtable.ask('plan it'" in cell["source"] for cell in book["cells"])
    archive = zipfile.ZipFile(io.BytesIO((await server.client.get(f"{address}/csv")).content))
    assert archive.namelist()[0] == "01-plan-it.csv"


async def test_a_run_that_is_gone_is_named(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandtable.errors import NotFound

    first = await ask(server, "plan it")

    async def gone(run_id: str) -> Any:
        raise NotFound(f"no run {run_id}")

    monkeypatch.setattr(server.house.runs, "get", gone)
    text = (await server.client.get(f"/threads/{first['thread_id']}/export/page")).text
    content, _ = parted(text)
    key = server.house.key
    [answer] = opened(content.statement, {key.keyid: key.private.public_key()}).answers
    assert answer.sentence and answer.capsules == () and "1 of 1 are not kept any more" in answer.note


async def test_a_conversation_without_answers_has_no_file(server: Served) -> None:
    thread = (await server.client.post("/langgraph/threads", json={})).json()["thread_id"]
    answer = await server.client.get(f"/threads/{thread}/export/page")
    assert answer.status_code == 404 and "has no answer yet" in answer.json()["error"]["message"]


async def test_what_is_not_there_says_so(server: Served) -> None:
    for path in ("/runs/run_nothing/export/page", "/threads/nothing/export/page"):
        answer = await server.client.get(path)
        assert answer.status_code == 404 and answer.json()["error"]["code"] == "NOT_FOUND", answer.text
    assert (await server.client.get("/runs/run_nothing/export/pdf")).status_code == 422


def _about(**about: Any) -> dict[str, Any]:
    return {"sandtable": {"ending": "answered", "run_ids": [], **about}}


def test_answers_are_read_from_messages() -> None:
    values: dict[str, Any] = {
        "messages": [
            WrittenMessage("ai", "Hello!", "0", _about()),
            WrittenMessage("human", "two things?", "1"),
            WrittenMessage("ai", "", "2"),
            WrittenMessage("tool", "{}", "3"),
            WrittenMessage(
                "ai", "one", "4", _about(text="One.\n\n| a |\n| - |\n\n*Read as: x*", remaining=1)
            ),
            WrittenMessage("ai", "Two.", "5", _about(run_ids=["run_b"])),
            WrittenMessage("human", "under way", "6"),
        ],
        "ui": [
            {"name": "answer", "metadata": {"message_id": "5"}, "props": {"reading": "both"}},
            {"name": "progress", "metadata": None, "props": None},
        ],
    }
    found = answers_in(values)
    assert [(one.question, one.sentence, one.reading, one.run_ids) for one in found] == [
        ("two things?", "One.", "", ()),
        ("two things?", "Two.", "both", ("run_b",)),
    ]
    assert answers_in({}) == []


def test_the_sentence_is_without_what_the_page_shows_beside_it() -> None:
    text = (
        "It rose.\n\n*A remark.*\n\n| a | b |\n| - | - |\n\nShown: the first 10 of 12 rows.\n\n*Read as: x*  "
    )
    assert sentence_of(text) == "It rose.\n\n*A remark.*"
