"""What is kept of a cell, and what its replies are read as, at the edges."""

from __future__ import annotations

import json

import pytest

from sandtable.agent.analysis.coder import MOST_STEPS
from sandtable.agent.analysis.observing import LONGEST_OUTPUT, MOST_ROWS, names_made, seen_of
from sandtable.agent.analysis.reply import LONGEST_CODE, read_code, read_steps
from sandtable.agent.model_reply import ModelReply
from sandtable.agent.nodes.draw import shown_at_the_end
from sandtable.capsule.query import CodeQuery
from sandtable.errors import Problem
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.artifact import TableArtifact
from sandtable.sandbox.job import Limits, ResultColumn


def test_a_cell_is_kept_bounded() -> None:
    columns = tuple(ResultColumn(name=f"c{n}", type="VARCHAR") for n in range(100))
    rows = tuple(("x" * 5_000,) * 100 for _ in range(200))
    shown = TableArtifact(id="table-1", columns=columns, rows=rows, row_count=200, truncated=True)
    run = Run(
        id="run-1",
        status="succeeded",
        request=RunRequest(dataset_id="shop", query=CodeQuery("x")),
        dataset_version="sha256:" + "0" * 64,
        limits=Limits(),
        created_at="2026-01-01T00:00:00Z",
        artifacts=(shown,) * 1,
        stdout="first" + "y" * 100_000 + "last",
        stderr='File "<cell>", line 4, in f\nFile "<cell>", line 7, in g\n',
    )
    seen = seen_of(run, 2, "Goal")
    assert len(seen.stdout) < LONGEST_OUTPUT + 100
    assert seen.stdout.startswith("first") and seen.stdout.endswith("last")
    assert (len(seen.tables[0].rows), seen.tables[0].row_count, seen.line) == (MOST_ROWS, 200, 7)
    assert len(json.dumps(seen.model_dump(mode="json"))) < 60_000


def test_names_that_code_made() -> None:
    code = (
        "a = 1\nb, c = 2, 3\nd: int = 4\nif a == 1:\n    e = 5\nf[0] = 1\ng == 2\ndef h():\n    i = 1\na = 2"
    )
    assert names_made([code, "j = a"]) == ["a", "b", "c", "d", "h", "j"]


def test_more_steps_than_there_may_be_are_put_together() -> None:
    steps = read_steps(ModelReply(json.dumps({"steps": [f"Do {n}." for n in range(1, 12)]})))
    assert not isinstance(steps, Problem)
    assert len(steps) == MOST_STEPS
    assert steps[-1] == "Do 8.; then: Do 9.; then: Do 10.; then: Do 11."


@pytest.mark.parametrize(
    "text", ["", "no", '{"steps": []}', '{"steps": "x"}', "[]", '{"steps": [1, null]}', "[" * 9_999]
)
def test_no_steps(text: str) -> None:
    assert isinstance(read_steps(ModelReply(text)), Problem)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        '{"code": ""}',
        '{"code": 3}',
        '{"thought": "x"}',
        json.dumps({"code": "x" * (LONGEST_CODE + 1)}),
    ],
)
def test_no_code(text: str) -> None:
    assert isinstance(read_code(ModelReply(text)), Problem)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("fig = px.bar(x)", "fig = px.bar(x)\nfig"),
        ("fig = px.bar(x)\nfig\n", "fig = px.bar(x)\nfig\n"),
        ("fig = px.bar(x)\nshow(fig)", "fig = px.bar(x)\nshow(fig)"),
        ("px.bar(x)", "px.bar(x)"),
        (
            "fig = px.bar(x)\nfig.update_layout(title='a')",
            "fig = px.bar(x)\nfig.update_layout(title='a')\nfig",
        ),
    ],
)
def test_a_figure_is_shown(code: str, shown: str) -> None:
    assert shown_at_the_end(code) == shown
