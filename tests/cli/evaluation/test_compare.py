"""A real model server and the built-in planner, asked the same questions by one command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandtable.cli import main
from sandtable.cli.evaluation.cases import Item
from sandtable.cli.evaluation.expected import Expected
from sandtable.cli.evaluation.outcome import Judged, Outcome
from sandtable.cli.evaluation.report import show_comparison
from sandtable.cli.evaluation.score import Score
from sandtable.cli.turn import ShownAnswer
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
        page, totals = tmp_path / "page.html", tmp_path / "totals.json"
        options = ("--compare", "--json", "--html", str(page), "--summary", str(totals))
        done = CliRunner().invoke(main, ("eval", str(source), *options), catch_exceptions=False)
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
    assert json.loads(totals.read_text())["compared"] == last["summary"]["compared"]
    sides = last["summary"]["compared"]["sides"]
    assert [sides[name]["reliability"] for name in (model, "builtin")] == [
        {"0": 0.5, "5": -2.0, "10": -4.5}, {"0": 1.0, "5": 1.0, "10": 1.0},
    ]  # fmt: skip
    shown = " ".join(re.sub(r"<[^>]*>", " ", page.read_text("utf-8")).split())
    assert f"{model} 2 1 1 0 0 0 0 50.0 % 50.0 % -200.0 % -450.0 %" in shown
    assert "builtin 2 2 0 0 0 0 0 100.0 % 100.0 % 100.0 % 100.0 %" in shown
    differ = shown.split("where they differ")[1].split(f"{model} of the answerable")[0]
    assert "total units total units wrong right" in differ and "how many sales?" not in differ


def test_the_table_shows_them_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    item = Item("a", "how many?", "answer", Expected((1,)))
    outcomes: dict[str, Outcome] = {"openai:small": "wrong", "builtin": "right"}
    scores = {name: Score() for name in outcomes}
    for name, outcome in outcomes.items():
        scores[name].count(Judged(item, "shop", "question", "answered", outcome, ShownAnswer("answered", "")))
    show_comparison(scores, {"both": 0, "only the first": 0, "only the second": 1, "neither": 0})
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "all right wrong asked rightly failed prec. RS(0) RS(5) RS(10)" in lines
    assert "openai:small 1 0 1 0 0 0 0.0 0.0 -500.0 -1000.0" in lines
    assert "builtin 1 1 0 0 0 0 100.0 100.0 100.0 100.0" in lines
