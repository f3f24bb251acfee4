"""The page of an evaluation: nothing on it is active, whatever questions and data hold, and nothing is missing."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sandtable.cli.evaluation.cases import Item
from sandtable.cli.evaluation.expected import Expected
from sandtable.cli.evaluation.outcome import Judged
from sandtable.cli.evaluation.page import MOST_ROWS, Shown, page
from sandtable.cli.evaluation.score import Score
from sandtable.cli.turn import ShownAnswer
from sandtable.runs.described import described
from sandtable.sandbox.job import ResultColumn
from tests.cli.analysts import FakeAnalyst, ended, line
from tests.cli.conftest import Invoke, Write

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></pre></details><script src=//example.org/x></script>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "\u202egnp.exe\ud800\x00\x1b[31m",
]


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(made: str) -> Reader:
    reader = Reader()
    reader.feed(made.encode("utf-8").decode("utf-8"))
    reader.close()
    return reader


def shown(text: str, rows: int = 1) -> Shown:
    item = Item(text, text, "answer", Expected(([[text, 1]],)), (text,))
    turn = ShownAnswer(
        "answered",
        text,
        reading=text,
        columns=described([ResultColumn(name=text, type="VARCHAR"), ResultColumn(name="n", type="BIGINT")]),
        rows=((text, 1),) * rows,
        row_count=rows,
        plan={"table": text},
        sql=text,
        confidence=0.5,
    )
    return Shown(Judged(item, text, "question", "answered", "wrong", turn), None)


def page_of(*parts: Shown, title: str = "Answers") -> str:
    score = Score()
    for part in parts:
        score.count(part.judged)
    return page(title, score, parts, "-----BEGIN PUBLIC KEY-----\n")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_of_others_becomes_active(text: str) -> None:
    """Compared with the page of a harmless text: the same elements with the same attributes."""
    harmless, hostile = read(page_of(shown("word"), title="word")), read(page_of(shown(text), title=text))
    assert [(tag, sorted(found)) for tag, found in hostile.tags] == [
        (t, sorted(found)) for t, found in harmless.tags
    ]
    assert all(tag != "script" for tag, _ in hostile.tags)
    for tag, found in hostile.tags:
        assert not any(name.startswith("on") or name == "src" for name in found), tag
        assert (found.get("href") or "data:").startswith("data:")
    if text.isprintable():
        assert sum(text in each for each in hostile.texts) >= 6
    assert not set("\u202e\ud800\x00\x1b") & set("".join(hostile.texts))


def test_the_page_needs_nothing_else() -> None:
    made = page_of(shown("word"))
    assert "http://" not in made and "https://" not in made and "url(" not in made and "@import" not in made
    policy = next(found["content"] for tag, found in read(made).tags if "http-equiv" in found)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_long_results_are_cut_and_said_to_be() -> None:
    made = read(page_of(shown("word", rows=MOST_ROWS + 5)))
    assert f"{MOST_ROWS + 5} rows, the first {MOST_ROWS} of them here" in made.texts


def test_everything_is_on_it(invoke: Invoke, analyst: FakeAnalyst, write: Write, tmp_path: Path) -> None:
    analyst.script["what?"] = ended("asked", "Which one?\n\nYou could ask:\n- How many?")
    target = tmp_path / "page.html"
    source = write(line("a", "what?", expect="ask"), line("b", "what?", answer=42, tags=["count"]))
    assert invoke("eval", source, "--html", str(target)).exit_code == 0
    made = read(target.read_text("utf-8"))
    text = " ".join(" ".join(made.texts).split())
    for piece in (
        "rightly asked",
        "Which one?",
        "- How many?",
        "by tag",
        "RS(10)",
        "of the ambiguous: 100.0 %",
    ):
        assert piece in text, piece
    assert json.dumps(42) in text


def test_a_place_that_cannot_be_written_is_found_first(
    invoke: Invoke, analyst: FakeAnalyst, write: Write
) -> None:
    done = invoke("eval", write(line("a")), "--html", "/nowhere/page.html")
    assert done.exit_code == 2
    assert "cannot write /nowhere/page.html" in done.stderr
    assert analyst.asked == []
