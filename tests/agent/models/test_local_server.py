"""A small model behind an OpenAI-compatible address on this machine, as docs/models.md sets it up: it reads slowly,
keeps what it has read of a prompt, and writes slowly."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.events import Message
from sandtable.assemble import assemble
from sandtable.assemble.conversation import converse
from tests.agent.models.asking import asking, ended
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Late, Request, Say, Slow, Step, start_scripted

PLANS: dict[str, dict[str, Any]] = {
    "How many sales are there by region?": {
        "table": "sales", "select": [{"column": "region"}, {"agg": "count", "as": "sales"}],
    },
    "What is the total of units?": {
        "table": "sales", "select": [{"agg": "sum", "column": "units", "as": "total_units"}],
    },
}  # fmt: skip
CHARACTERS_A_SECOND = 40_000


class SmallModel:
    """Reads only what does not begin like the prompt before, as llama.cpp does."""

    def __init__(self) -> None:
        self.read: list[float] = []
        """The share of each prompt for a proposal that had to be read."""
        self._kept = ""

    def __call__(self, request: Request) -> Step:
        prompt = request.prompt
        if '<data name="draft">' in prompt:
            return Say("")
        kept = takewhile(lambda pair: pair[0] == pair[1], zip(self._kept, prompt, strict=False))
        new = len(prompt) - sum(1 for _ in kept)
        self._kept = prompt
        self.read.append(new / len(prompt))
        plan = next(plan for question, plan in PLANS.items() if question in prompt)
        return Slow(new / CHARACTERS_A_SECOND, Say({"intent": "plan", "plan": plan}))


@pytest.mark.needs("userns")
async def test_questions_are_answered_and_the_second_prompt_is_mostly_read_already(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("region,units\nNorth,3\nSouth,5\nNorth,1\n")
    model = SmallModel()
    texts: list[str] = []
    proposers: list[str] = []
    with start_scripted(model) as server:
        # No key and no time limit: only the two settings that the documentation names.
        settings = server.settings("openai", tmp_path / "home", SANDTABLE_OPENAI_API_KEY=None)
        async with assemble(settings) as parts, converse(parts) as analyst:
            dataset = await parts.datasets.add_files([tmp_path / "sales.csv"])
            for question in PLANS:
                events = [event async for event in analyst.ask(question, dataset_id=dataset.id)]
                assert isinstance(events[-1], Message) and events[-1].ending == "answered"
                texts.append(events[-1].text)
                origin = (await parts.runs.get(events[-1].run_ids[0])).request.origin
                proposers.append(origin.proposer if origin else "")
    assert "North" in texts[0] and "9" in texts[1]
    assert proposers == ["openai:scripted"] * 2
    assert model.read[0] == 1 and model.read[1] < 0.2
    first = server.requests[0].body
    assert first["temperature"] == 0 and first["max_tokens"] > 0 and not first.get("stream")


async def test_wordings_that_come_too_late_are_not_waited_for_again(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.agent.model_proposer._WORDING_S", 0.05)
    with start_scripted([Late(0.5, Say("North has 3."))]) as server:
        proposer = opened(server, "openai")
        for _ in range(4):
            assert await proposer.word(asking(), ended((("North", 3),)), "North has 3.") is None
    assert len(server.requests) == 2
