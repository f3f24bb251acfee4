"""`eval`: every line gets its judgement, in order, and the sum is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sandtable.agent.events import Planned
from sandtable.cli.evaluation.cases import BadCase, Case, read_case
from sandtable.errors import ErrorCode, Problem
from tests.cli.analysts import PLAN, FakeAnalyst, answered, broke, ended, judged, line
from tests.cli.conftest import Invoke, Write
from tests.server.house import House

CONTRACT = {"id", "status", "rows", "columns", "answer_text", "plan", "sql", "correct"}


def test_every_line_is_judged(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    analyst.script |= {
        "what?": ended("asked", "Which?", suggestions=["How many?"]),
        "hello": ended("conversed", "Hello."),
        "drop": ended("refused", "No.", Problem(code=ErrorCode.SQL_POLICY_VIOLATION, message="no")),
        "slow": ended("failed", "Too slow.", Problem(code=ErrorCode.RUNNER_TIMEOUT, message="too slow")),
        "broken": broke(),
        "many": answered([42], truncated=True),
    }
    source = write(
        line("right", answer=42),
        line("wrong", answer=41),
        line("ungraded"),
        line("abstained", "what?", answer=42),
        line("rightly abstained", "what?", answer=None),
        line("small talk", "hello", answer=42),
        line("refused", "drop", answer=None),
        line("slow", "slow", answer=42),
        line("broken", "broken", answer=42),
        line("cut off", "many", answer=42),
        line("nothing there", answer=None),
    )
    done = invoke("eval", source, "--json")
    assert done.exit_code == 0, done.output
    lines, summary = judged(done.stdout)
    assert all(set(each) >= CONTRACT for each in lines)
    assert [(each["id"], each["status"], each["correct"]) for each in lines] == [
        ("right", "answered", True),
        ("wrong", "answered", False),
        ("ungraded", "answered", None),
        ("abstained", "abstained", False),
        ("rightly abstained", "abstained", True),
        ("small talk", "abstained", False),
        ("refused", "abstained", True),
        ("slow", "failed", False),
        ("broken", "failed", False),
        ("cut off", "answered", False),
        ("nothing there", "answered", False),
    ]
    first = lines[0]
    assert (first["rows"], first["columns"], first["plan"]) == ([[42]], ["n"], PLAN)
    assert (
        first["sql"] == "SELECT count(*) AS n FROM orders" and first["answer_text"] == "There are 42 orders."
    )
    assert {name: summary[name] for name in ("questions", "answered", "abstained", "failed", "graded", "correct")} == {
        "questions": 11, "answered": 5, "abstained": 4, "failed": 2, "graded": 10, "correct": 3,
    }  # fmt: skip
    assert (summary["accuracy"], summary["coverage"], summary["precision"]) == (0.3, 0.4545, 0.25)
    assert summary["p50_ms"] <= summary["p95_ms"]


_BAD = {
    "not JSON": ("{", "line 2: not JSON"),
    "a list": ("[]", "line 2: not a JSON object"),
    "no question": ('{"id": 7, "dataset": "shop"}', "line 2: `question` is missing"),
    "an empty question": ('{"question": "  ", "dataset": "shop"}', "line 2: the question is empty"),
    "a number for a question": ('{"question": 5, "dataset": "shop"}', "line 2: `question` is missing"),
    "no data": ('{"question": "x"}', "line 2: the line has neither"),
    "both": ('{"question": "x", "dataset": "shop", "data": ["a.csv"]}', "line 2: the line has both"),
    "a dataset that is a number": ('{"question": "x", "dataset": 5}', "line 2: `dataset` is not text"),
    "data that is a number": ('{"question": "x", "data": 5}', "line 2: `data` is not a list"),
    "no files": ('{"question": "x", "data": []}', "line 2: `data` is not a list"),
    "files that are numbers": ('{"question": "x", "data": [5]}', "line 2: `data` is not a list"),
    "an object for an answer": (
        '{"question": "x", "dataset": "shop", "answer": {}}',
        "line 2: `answer` is neither",
    ),
    "an unknown dataset": ('{"question": "x", "dataset": "shoop"}', "no dataset `shoop`"),
    "a huge line": (
        '{"question": "' + "x" * 100_000 + '", "dataset": "shop"}',
        "line 2: the question has 100,000",
    ),
}


@pytest.mark.parametrize(("bad", "says"), _BAD.values(), ids=list(_BAD))
def test_a_bad_line_is_told_of_and_the_rest_goes_on(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, bad: str, says: str
) -> None:
    source = write(line(1, answer=42), bad, "", line(3, answer=42))
    done = invoke("eval", source, "--json")
    assert done.exit_code == 0
    lines, summary = judged(done.stdout)
    assert [each["status"] for each in lines] == ["answered", "failed", "answered"]
    assert says in lines[1]["error"]["message"]
    assert lines[1]["error"]["suggestion"]
    assert (summary["questions"], summary["failed"], summary["correct"]) == (3, 1, 2)
    assert says in invoke("eval", source).stdout


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    case = read_case(b'{"question": "\xff"}', 9, tmp_path)
    assert isinstance(case, BadCase)
    assert case.problem.message == "line 9: not UTF-8"


def test_a_line_without_an_id_has_its_number(tmp_path: Path) -> None:
    case = read_case(b'{"question": " x? ", "dataset": "shop", "other": 1}', 9, tmp_path)
    assert isinstance(case, Case)
    [asking] = case.askings
    assert (case.id, asking.question, asking.items[0].graded) == (9, "x?", False)


def test_files_are_beside_the_questions_and_read_once(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, prepare: list[Callable[[House], None]], tmp_path: Path
) -> None:
    seen: list[House] = []
    prepare.append(seen.append)
    lines = [{"id": n, "question": "x?", "data": ["a.csv", "sub/b.csv"], "answer": 42} for n in range(4)]
    absolute = {"id": 9, "question": "x?", "data": "/elsewhere/c.csv"}
    done = invoke("eval", write(*map(json.dumps, [*lines, absolute])), "--json")
    assert done.exit_code == 0
    assert seen[0].datasets.added == [
        (tmp_path / "a.csv", tmp_path / "sub/b.csv"),
        (Path("/elsewhere/c.csv"),),
    ]
    assert len(analyst.asked) == 5


def test_answers_come_in_order_however_long_each_takes(
    invoke: Invoke, analyst: FakeAnalyst, write: Write
) -> None:
    analyst.delays = {"first": 0.2, "second": 0.05}
    source = write(*(line(name, name) for name in ("first", "second", "third")))
    lines, _ = judged(invoke("eval", source, "--json", "--jobs", "3").stdout)
    assert [each["id"] for each in lines] == ["first", "second", "third"]


def test_each_question_stands_alone(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    invoke("eval", write(line(1), line(2)))
    assert [thread for _, _, thread in analyst.asked] == [None, None]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ((), 0, ""),
        (("--min-accuracy", "0.5"), 0, ""),
        (("--min-accuracy", "0.51"), 1, "the accuracy should be at least 0.51, but it is 0.5000"),
        (("--min-precision", "0.6"), 1, "the precision should be at least 0.6, but it is 0.5000"),
        (("--min-accuracy", "2"), 2, "2"),
        (("--min-accuracy", "nan"), 2, "nan is not a number"),
    ],
    ids=["none", "reached", "accuracy missed", "precision missed", "no share", "no number"],
)
def test_what_is_asked_for_decides_the_exit_code(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, options: tuple[str, ...], code: int, says: str
) -> None:
    done = invoke("eval", write(line(1, answer=42), line(2, answer=41)), *options)
    assert done.exit_code == code
    assert says in done.stderr


def test_nothing_to_compare_falls_short(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    assert invoke("eval", write(line(1)), "--min-accuracy", "0").exit_code == 1


def test_what_a_person_reads(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    done = invoke("eval", write(line("a", answer=42), line("b\x1b", answer=[1, 2]), line("c")))
    lines = done.stdout.splitlines()
    assert lines[0] == "✓ a  answered  How many?"
    assert lines[1] == "✗ b\\x1b  answered  How many?"
    assert lines[2] == "    expected [1, 2]; it said: There are 42 orders."
    assert lines[3] == "– c  answered  How many?"
    table = [text.split() for text in lines[4:] if text.strip()]
    assert table[0] == [
        "all",
        "right",
        "wrong",
        "asked",
        "rightly",
        "failed",
        "prec.",
        "RS(0)",
        "RS(5)",
        "RS(10)",
    ]
    assert table[2] == ["all", "3", "1", "1", "0", "0", "0", "50.0", "50.0", "-200.0", "-450.0"]
    assert (
        "3 questions: 3 answered, 0 abstained, 0 failed · accuracy 50.0 % · coverage 100.0 %" in done.stdout
    )
    assert "of the answerable: 50.0 % right, 50.0 % wrong" in done.stdout


@pytest.mark.parametrize("content", ["", "\n\n"], ids=["empty", "blank"])
def test_a_file_without_questions(invoke: Invoke, analyst: FakeAnalyst, write: Write, content: str) -> None:
    done = invoke("eval", write(content))
    assert done.exit_code == 2
    assert "has no questions" in done.stderr


def test_a_file_that_is_not_there(invoke: Invoke, analyst: FakeAnalyst) -> None:
    done = invoke("eval", "missing.jsonl", "--json")
    assert done.exit_code == 2
    assert "missing.jsonl" in json.loads(done.stdout)["error"]["message"]


def test_confidence_makes_the_curve(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    for question, confidence in (("sure", 0.9), ("less so", 0.6)):
        events = answered([42])
        place = next(n for n, event in enumerate(events) if isinstance(event, Planned))
        events[place] = Planned(plan=PLAN, reading="the number of orders", confidence=confidence)
        analyst.script[question] = events
    source = write(line(1, "less so", answer=41), line(2, "sure", answer=42))
    lines, summary = judged(invoke("eval", source, "--json").stdout)
    assert [each["confidence"] for each in lines] == [0.6, 0.9]
    assert [(point["share"], point["precision"]) for point in summary["precision_at_coverage"]][4::5] == [
        (0.5, 1.0),
        (1.0, 0.5),
    ]
    assert "10% 100.0 %" in invoke("eval", source).stdout


def test_totals_show_neither_questions_nor_answers(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, tmp_path: Path
) -> None:
    totals = tmp_path / "totals.json"
    source = write(line("a", "Who is it?", answer=42, tags=["count"]), line("b", "Who is it?", answer=41))
    done = invoke("eval", source, source, "--only-totals", "--summary", str(totals))
    assert "tag count" in done.stdout and "source shop" in done.stdout
    assert "Who is it?" not in done.output and "There are" not in done.output and "42" not in done.output
    made = json.loads(totals.read_text("utf-8"))
    assert (made["questions"], made["by"]["tag"]["count"]["correct"]) == (4, 2)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDTABLE_MODEL", "ollama:tiny")


@pytest.mark.usefixtures("model")
def test_a_model_and_the_planner_side_by_side(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, tmp_path: Path
) -> None:
    analyst.planner = FakeAnalyst(script={"b": answered([41]), "c": ended("asked", "Which?")})
    source = write(
        *(line(name, name, answer=wanted) for name, wanted in (("a", 42), ("b", 41), ("c", 42), ("d", 1)))
    )
    done = invoke("eval", source, "--compare")
    assert done.exit_code == 0, done.output
    assert "✓ a  ollama:tiny  answered  a" in done.stdout and "✗ c  builtin  asked  c" in done.stdout
    assert "passed by both: 1, only by ollama:tiny: 1, only by builtin: 1, by neither: 1" in done.stdout
    lines, summary = judged(invoke("eval", source, "--compare", "--json").stdout)
    assert [each["proposer"] for each in lines] == ["ollama:tiny"] * 4 + ["builtin"] * 4
    assert summary["compared"]["both"] == {"both": 1, "only the first": 1, "only the second": 1, "neither": 1}
    assert {name: side["outcomes"]["wrong"] for name, side in summary["compared"]["sides"].items()} == {
        "ollama:tiny": 2,
        "builtin": 1,
    }
    assert summary["correct"] == 2


def test_comparing_needs_a_model(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    done = invoke("eval", write(line("a")), "--compare")
    assert done.exit_code == 2
    assert "SANDTABLE_MODEL" in done.stderr
    assert analyst.asked == []


@pytest.mark.usefixtures("model")
def test_stdin_cannot_be_compared(invoke: Invoke, analyst: FakeAnalyst) -> None:
    done = invoke("eval", "-", "--compare", stdin=line("a"))
    assert done.exit_code == 2
    assert "cannot be read twice" in done.stderr
