"""`ask`: what it prints, what it answers in JSON, and how it exits."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.events import Event, Message, RunState
from sandtable.agent.read_as.model import Offer
from sandtable.cli.turn import gather
from sandtable.cli.turn_show import prose
from sandtable.errors import ErrorCode, Problem, RunnerBroken
from tests.cli.analysts import FIGURE, PLAN, FakeAnalyst, answered, broke, ended
from tests.cli.conftest import Invoke
from tests.server.house import House

Prepare = list[Callable[[House], None]]
SHOP = ("--dataset", "shop")
FIELDS = {
    "status", "answer_text", "reading", "read_as", "columns", "rows", "row_count", "truncated", "plan", "sql", "run_id",
    "chart", "suggestions", "choices", "error", "others",
}  # fmt: skip


def test_an_answer_is_printed_with_its_table_chart_reading_and_run(
    invoke: Invoke, analyst: FakeAnalyst
) -> None:
    columns = (("region", "VARCHAR"), ("n", "BIGINT"))
    text = "North has **3**.\n\n| region | n |\n| --- | ---: |\n| north | 3 |\n\nShown: 2 of 2."
    analyst.default = answered(["north", 3], ["south", 1], columns=columns, text=text, chart=FIGURE)
    done = invoke("ask", "Orders by region?", *SHOP)
    assert done.exit_code == 0, done.output
    assert analyst.asked == [("Orders by region?", "shop", "thread-1")]
    lines = done.stdout.splitlines()
    assert lines[0].strip() == "North has 3."
    assert "| north |" not in done.stdout, "the table is shown once"
    header = next(line for line in lines if "region" in line and "n" in line.split())
    row = next(line for line in lines if line.strip().startswith("north"))
    assert row.rstrip().endswith("3") and row.rindex("3") == header.rindex("n"), "numbers stand to the right"
    assert any("█" in line for line in lines)
    assert "Read as: the number of orders" in done.stdout
    assert lines[-1] == "2 rows · 1.5 ms · sandtable verify run_1"
    assert done.stderr == "", "nobody watches, so nothing is shown of the progress"
    assert "\x1b" not in done.stdout


def test_one_value_needs_no_table(invoke: Invoke, analyst: FakeAnalyst) -> None:
    done = invoke("ask", "How many?", *SHOP)
    assert done.stdout.splitlines() == [
        "There are 42 orders.",
        "Read as: the number of orders",
        "1 row · 1.5 ms · sandtable verify run_1",
    ]


def test_json(invoke: Invoke, analyst: FakeAnalyst) -> None:
    analyst.default = answered([42], chart=FIGURE)
    done = invoke("ask", "How many?", *SHOP, "--json")
    made = json.loads(done.stdout)
    assert made.keys() == FIELDS
    assert (made["status"], made["columns"], made["rows"]) == ("answered", ["n"], [[42]])
    assert (made["plan"], made["sql"]) == (PLAN, "SELECT count(*) AS n FROM orders")
    assert (made["run_id"], made["row_count"], made["truncated"]) == ("run_1", 1, False)
    assert (made["chart"], made["error"]) == (FIGURE, None)


_REFUSED = Problem(
    code=ErrorCode.SQL_POLICY_VIOLATION, message="`read_csv` reads files", suggestion="Ask otherwise."
)
_TIMEOUT = Problem(code=ErrorCode.RUNNER_TIMEOUT, message="too slow")
_NO_SANDBOX = Problem(code=ErrorCode.SANDBOX_UNAVAILABLE, message="no sandbox")
_FULL = Problem(code=ErrorCode.QUEUE_FULL, message="2 runs are waiting")


@pytest.mark.parametrize(
    ("events", "status", "code"),
    [
        pytest.param(answered([42]), "answered", 0, id="answered"),
        pytest.param(
            ended("asked", "Which one?", suggestions=["How many orders?"]), "abstained", 4, id="abstained"
        ),
        pytest.param(ended("conversed", "Hello."), "conversed", 0, id="small talk"),
        pytest.param(ended("refused", "No.", _REFUSED), "refused", 3, id="refused"),
        pytest.param(ended("refused", "You declined."), "refused", 3, id="declined"),
        pytest.param(ended("failed", "It took too long.", _TIMEOUT), "failed", 1, id="failed"),
        pytest.param(ended("failed", "It failed."), "failed", 1, id="failed without a code"),
        pytest.param(ended("failed", "Nowhere.", _NO_SANDBOX), "failed", 4, id="no sandbox"),
        pytest.param(ended("failed", "Not now.", _FULL), "failed", 1, id="queue full"),
        pytest.param(ended("waiting", "May I?"), "waiting", 3, id="waits for a person who is not there"),
        pytest.param(broke(), "failed", 1, id="broken"),
        pytest.param(broke(ErrorCode.NOT_FOUND), "failed", 2, id="not found"),
    ],
)
def test_every_end_has_its_status_and_exit_code(
    invoke: Invoke, analyst: FakeAnalyst, events: list[Event], status: str, code: int
) -> None:
    analyst.default = events
    done = invoke("ask", "x?", *SHOP, "--json")
    made = json.loads(done.stdout)
    assert (made["status"], done.exit_code) == (status, code)
    assert made.keys() == FIELDS
    plain = invoke("ask", "x?", *SHOP)
    assert plain.exit_code == code
    assert plain.output.strip()


def test_without_a_person_nothing_runs_and_it_is_said(invoke: Invoke, analyst: FakeAnalyst) -> None:
    analyst.default = ended("waiting", "May I run this?")
    done = invoke("ask", "x?", *SHOP)
    assert "May I run this?" in done.stdout
    assert "Nothing was run" in done.stderr
    assert analyst.decided == []


@pytest.mark.parametrize(("said", "decision", "code"), [("y", "approve", 0), ("n", "reject", 3)])
def test_a_person_decides(
    invoke: Invoke, analyst: FakeAnalyst, monkeypatch: pytest.MonkeyPatch, said: str, decision: str, code: int
) -> None:
    analyst.script["x?"] = ended("waiting", "May I run this?")
    monkeypatch.setattr(
        "click.testing._NamedTextIOWrapper.isatty", lambda self: self.name == "<stdin>", raising=False
    )
    done = invoke("ask", "x?", *SHOP, stdin=f"{said}\n")
    assert analyst.decided == [{"type": decision}]
    assert done.exit_code == code


def test_an_abstention_says_what_could_be_asked(invoke: Invoke, analyst: FakeAnalyst) -> None:
    analyst.default = ended(
        "asked", "I did not understand `foo`.", suggestions=["How many orders?", "By region?"]
    )
    done = invoke("ask", "foo?", *SHOP)
    assert "I did not understand foo." in done.stdout
    assert "  How many orders?\n  By region?\n" in done.stdout


def test_readings_to_choose_from_are_an_abstention(invoke: Invoke, analyst: FakeAnalyst) -> None:
    choice = Offer(label="Number of orders", message="Read it as “Number of orders”", plan=PLAN)
    text = "Not sure.\n\nDo you mean this?\n1. Number of orders"
    analyst.default = [Message(text=text, ending="asked", choices=(choice,))]
    done = invoke("ask", "busy?", *SHOP, "--json")
    made = json.loads(done.stdout)
    assert (made["status"], done.exit_code) == ("abstained", 4)
    assert made["choices"] == [choice.model_dump(mode="json")]
    assert "1 Number of orders" in invoke("ask", "busy?", *SHOP).stdout


@pytest.mark.parametrize(
    ("question", "says"),
    [
        pytest.param("", "the question is empty", id="empty"),
        pytest.param(" \n\t ", "the question is empty", id="blank"),
        pytest.param("why " * 25_000, "the question has 99,999 characters", id="100 KB"),
    ],
)
@pytest.mark.parametrize("stdin", [False, True], ids=["argument", "stdin"])
def test_what_is_no_question(
    invoke: Invoke, analyst: FakeAnalyst, question: str, says: str, stdin: bool
) -> None:
    done = invoke("ask", "-" if stdin else question, *SHOP, stdin=question if stdin else None)
    assert done.exit_code == 2
    assert says in done.stderr and "  → " in done.stderr
    assert analyst.asked == []


def test_a_question_from_stdin(invoke: Invoke, analyst: FakeAnalyst) -> None:
    assert invoke("ask", "-", *SHOP, stdin="How many\norders?\n").exit_code == 0
    assert analyst.asked[0][0] == "How many\norders?"
    assert invoke("ask", "-", *SHOP, stdin=b"\xff").exit_code == 2


@pytest.mark.parametrize("given", [(), (*SHOP, "--data", "a.csv")], ids=["neither", "both"])
def test_the_data_must_be_named_once(invoke: Invoke, given: tuple[str, ...]) -> None:
    done = invoke("ask", "x?", *given)
    assert done.exit_code == 2
    assert "--dataset ID or --data FILE" in done.stderr


def test_files_become_a_dataset(invoke: Invoke, analyst: FakeAnalyst, prepare: Prepare) -> None:
    seen: list[House] = []
    prepare.append(seen.append)
    assert invoke("ask", "x?", "--data", "a.csv", "--data", "b.csv").exit_code == 0
    assert seen[0].datasets.added == [(Path("a.csv"), Path("b.csv"))]


def test_an_unknown_dataset_is_told_of(invoke: Invoke, analyst: FakeAnalyst) -> None:
    done = invoke("ask", "x?", "--dataset", "shoop", "--json")
    assert done.exit_code == 2
    assert "did you mean `shop`" in json.loads(done.stdout)["error"]["message"]


_HOSTILE = "\x1b[31mred\x1b[0m \x07 ]8;;http://evil\x07 \u202e"


def test_nothing_in_an_answer_drives_the_terminal(invoke: Invoke, analyst: FakeAnalyst) -> None:
    figure = {
        "data": [{"type": "bar", "x": [_HOSTILE, "b"], "y": [1, 2]}],
        "layout": {"title": {"text": _HOSTILE}},
    }
    analyst.default = answered(
        [_HOSTILE, 1], ["b", 2],
        columns=((_HOSTILE, "VARCHAR"), ("n", "BIGINT")), text=f"It is {_HOSTILE} [here](http://evil.example).",
        chart=figure, reading=_HOSTILE,
    )  # fmt: skip
    done = invoke("ask", "x?", *SHOP)
    assert done.exit_code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(done.output)


def test_long_tables_are_cut_and_it_is_said(invoke: Invoke, analyst: FakeAnalyst) -> None:
    columns = tuple((f"c{n}", "BIGINT") for n in range(15))
    analyst.default = answered(*[[n] * 15 for n in range(50)], columns=columns, truncated=True)
    done = invoke("ask", "x?", *SHOP)
    assert "Shown: the first 20 of 50 rows, 12 of 15 columns; --json has them all." in done.stdout
    assert "50 rows (more were cut off)" in done.stdout
    assert len(done.stdout.splitlines()) < 35
    assert len(json.loads(invoke("ask", "x?", *SHOP, "--json").stdout)["rows"]) == 50


@pytest.mark.parametrize(
    "script",
    [
        [RunState(run_id="x", status="running")],
        [Message(text="One.", ending="answered", remaining=1)],
    ],
    ids=["no message", "a question left"],
)
async def test_a_conversation_that_stops_early_is_broken(script: list[Event]) -> None:
    async def events() -> AsyncGenerator[Event, None]:
        for event in script:
            yield event

    with pytest.raises(RunnerBroken):
        await gather(events())


@pytest.mark.parametrize(
    ("markdown", "kept"),
    [
        ("One.", "One."),
        ("One.\n\n| a |\n| --- |\n| 1 |\n\n*Read as: x*", "One.\n\n*Read as: x*"),
        ("One | two.\n\nThree.", "One | two.\n\nThree."),
        ("One.\n\n| a |\n| - |\n\nShown: the first 10 of 20 rows.", "One."),
        ("", ""),
    ],
    ids=["plain", "a table", "a bar in a sentence", "the count below", "nothing"],
)
def test_prose_is_the_answer_without_its_table(markdown: str, kept: str) -> None:
    assert prose(markdown) == kept


def test_progress_is_one_line_for_who_watches(
    invoke: Invoke, analyst: FakeAnalyst, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("sandtable.cli.turn_show.Status.update", lambda self, text: shown.append(str(text)))
    monkeypatch.setattr(
        "click.testing._NamedTextIOWrapper.isatty", lambda self: self.name == "<stderr>", raising=False
    )
    done = invoke("ask", "How many?", *SHOP)
    assert done.exit_code == 0
    assert shown == [
        "Thinking…", "Reading the question…", "The run is running…", "The run is succeeded…", "Writing the answer…",
    ]  # fmt: skip
