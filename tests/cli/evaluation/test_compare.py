"""A real model server and the built-in planner, asked the same questions by one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandtable.cli import main
from tests.agent.models.scripted import Request, Say, Step, start_scripted

pytestmark = pytest.mark.needs("userns")


def _script(request: Request) -> Step:
    """A model that counts, whatever is asked."""
    return Say({"intent": "plan", "plan": {"table": "sales", "select": [{"agg": "count", "as": "n"}]}})


def test_each_side_proposes_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sales.csv").write_text("region,units\nNorth,3\nSouth,5\n")
    asked = {"total units": 8, "how many sales?": 2}
    lines = [{"id": q, "question": q, "data": ["sales.csv"], "answer": a} for q, a in asked.items()]
    source = tmp_path / "questions.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with start_scripted(_script) as server:
        settings = server.settings("ollama", tmp_path / "home")
        for place in ("cli.session", "cli.eval"):
            monkeypatch.setattr(f"sandtable.{place}.load_settings", lambda: settings)
        done = CliRunner().invoke(main, ("eval", str(source), "--compare", "--json"), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    *judged, last = [json.loads(line) for line in done.stdout.splitlines()]
    model = settings.model
    assert [(line["proposer"], line["id"], line["rows"], line["outcome"]) for line in judged] == [
        (model, "total units", [[2]], "wrong"),
        (model, "how many sales?", [[2]], "right"),
        ("builtin", "total units", [[8]], "right"),
        ("builtin", "how many sales?", [[2]], "right"),
    ]
    assert [line["confidence"] is None for line in judged] == [True, True, False, False]
    assert last["summary"]["compared"]["both"] == {
        "both": 1, "only the first": 0, "only the second": 1, "neither": 0,
    }  # fmt: skip
