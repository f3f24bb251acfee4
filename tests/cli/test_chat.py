"""`chat`: piped, and with a person at the terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandtable.agent.read_as.model import Choice, ReadAs, ReadPart, Words
from sandtable.cli.lines import lines_of
from tests.capsule.samples import SHOP
from tests.cli.analysts import FakeAnalyst, answered, ended
from tests.cli.conftest import Invoke

ROOT = Path(__file__).resolve().parents[2]
ARGS = ("chat", "--dataset", "shop")


Give = Callable[[bytes], None]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Give:
    """Real stdin, as `lines_of` reads it; a test runner's has no descriptor."""

    def give(content: bytes) -> None:
        path = tmp_path / "questions"
        path.write_bytes(content)
        monkeypatch.setattr("sandtable.cli.chat.lines_of", lambda source: lines_of(str(path)))

    return give


def test_questions_one_per_line(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    piped(b"How many?\n\n  and by region?  \n/sql\n/plan\n/nope\n/quit\nnever asked\n")
    done = invoke(*ARGS)
    assert done.exit_code == 0, done.output
    assert analyst.asked == [("How many?", "shop", "thread-1"), ("and by region?", "shop", "thread-1")]
    assert "> How many?\nThere are 42 orders." in done.stdout
    assert "SELECT count(*) AS n FROM orders" in done.stdout
    assert '"table": "orders"' in done.stdout
    assert "There is no /nope; /help lists" in done.stdout


def test_json_lines(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    analyst.script["what?"] = ended("asked", "Which?")
    piped(b"How many?\nwhat?\n" + b"\xff\n" + b"x" * 100_000 + b"\n")
    done = invoke(*ARGS, "--json")
    lines = [json.loads(line) for line in done.stdout.replace("}\n{", "}\x00{").split("\x00")]
    assert [line.get("status") for line in lines[:2]] == ["answered", "abstained"]
    assert "line 3 is not UTF-8" in lines[2]["error"]["message"]
    assert "100,000 characters" in lines[3]["error"]["message"]
    assert done.exit_code == 0


def test_without_a_person_nothing_is_approved(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    analyst.script["run it"] = ended("waiting", "May I?")
    piped(b"run it\n")
    done = invoke(*ARGS)
    assert analyst.decided == [{"type": "reject"}]
    assert "You declined the query." in done.stdout


def test_nothing_yet_to_show(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    piped(b"/sql\n/plan\n/help\n")
    done = invoke(*ARGS)
    assert "No SQL yet." in done.stdout and "No plan yet." in done.stdout and "/quit" in done.stdout


OTHER = {"table": "orders", "select": [{"agg": "avg", "column": "amount"}]}
READ = ReadAs(
    question="How many orders please?",
    parts=(
        ReadPart(
            kind="measure",
            label="number of orders",
            source="words",
            words=(Words(text="How many orders", start=0, end=15),),
            choices=(
                Choice(label="total amount", message="Read it as the total", plan={"table": "orders"}),
                Choice(label="average \x1b[31mamount", message="Read it as the average", plan=OTHER),
            ),
        ),
        ReadPart(kind="limit", label="the first 5", source="default"),
    ),
    aside=(Words(text="please", start=16, end=22),),
)


def test_a_part_is_changed_without_asking_again(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    text = "There are 42.\n\n*Read as: number of orders · the first 5*"
    analyst.script["How many orders please?"] = answered([42], text=text, read_as=READ)
    piped(b"How many orders please?\n/change\n/change 1 b\n")
    done = invoke(*ARGS)
    assert done.stdout.count("Read as: ") == 2, "once for each answer"
    assert "Read as: 1 number of orders · 2 the first 5 (assumed)" in done.stdout
    assert "Left aside: “please”" in done.stdout
    assert "1 number of orders (“How many orders”)\n  a  total amount\n" in done.stdout
    assert "2 the first 5 (no word of the question asks for it)\n  nothing else to choose" in done.stdout
    assert analyst.asked[1:] == [("Read it as the average", "shop", "thread-1")]
    assert analyst.plans == [None, OTHER]
    assert "\x1b[31m" not in done.stdout


def test_joins_are_shown_once_below_the_reading(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    read = READ.model_copy(update={"joins": ("orders.customer_id = customers.i\x1b[31md",)})
    text = f"It is 42.\n\n*Read as: {read.line}*  \n*{read.joined}*"
    analyst.script["How many?"] = answered([42], text=text, read_as=read)
    piped(b"How many?\n")
    done = invoke(*ARGS)
    assert done.stdout.count("Joined by: ") == 1
    assert "(assumed)\nJoined by: orders.customer_id = customers.i" in done.stdout
    assert "\x1b[31m" not in done.stdout


def test_a_likely_part_is_shown_with_its_words(invoke: Invoke, analyst: FakeAnalyst, piped: Give) -> None:
    words = (Words(text="taki\x1b[31mngs", start=0, end=12),)
    likely = ReadPart(kind="measure", label="total amount", source="likely", words=words)
    kept = ReadPart(kind="by", label="region", source="likely")
    read = ReadAs(question="takings", parts=(likely, kept), trust=("proposed_by_model",))
    text = f"It is 42.\n\n*Read as: {read.line}*"
    analyst.script["takings"] = answered([42], text=text, read_as=read)
    piped(b"takings\n/change\n")
    done = invoke(*ARGS)
    assert done.stdout.count("Read as: ") == 1
    line = r"1 total amount (likely: “taki\x1b[31mngs”) · 2 by region (likely, as in the answer before)"
    assert f"Read as: {line}\n" in done.stdout, done.stdout
    assert "proposed by a model" in done.stdout
    assert "\n2 region (likely, as in the answer before)\n" in done.stdout
    assert "\x1b[31m" not in done.stdout


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/change 3", "The parts are 1 to 2"),
        ("/change x", "The parts are 1 to 2"),
        ("/change 0 a", "The parts are 1 to 2"),
        ("/change 1 c", "Part 1 has no choice c."),
        ("/change 1 ab", "Part 1 has no choice ab."),
        ("/change ²", "The parts are 1 to 2"),
    ],
)
def test_a_change_that_is_none(
    invoke: Invoke, analyst: FakeAnalyst, piped: Give, line: str, says: str
) -> None:
    analyst.default = answered([42], read_as=READ)
    piped(f"/change\nHow many?\n{line}\n".encode())
    done = invoke(*ARGS)
    assert "There is no reading yet that could be changed." in done.stdout and says in done.stdout
    assert len(analyst.asked) == 1 and done.exit_code == 0


class Terminal:
    """A person's end of a terminal with the program at the other."""

    def __init__(self, home: Path) -> None:
        self._ours, theirs = pty.openpty()
        environment = {
            **os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "SANDTABLE_HOME": str(home), "TERM": "xterm",
            "COLUMNS": "100", "NO_COLOR": "1",
        }  # fmt: skip
        self.program = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.chat_program", str(home), *ARGS],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=ROOT, start_new_session=True,
            preexec_fn=_take_the_terminal,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def expect(self, text: str, seconds: float = 30) -> str:
        """Read on until this comes; what came before it."""
        until = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self._ours], [], [], max(0, until - time.monotonic()))
            assert ready, f"waited for {text!r}, but saw {self.seen!r}"
            try:
                chunk = os.read(self._ours, 4096)
            except OSError:
                chunk = b""
            assert chunk, f"waited for {text!r}, but saw {self.seen!r} and the end"
            self.seen += chunk.decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        return self.program.wait(20)

    def close(self) -> None:
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        os.close(self._ours)


def _take_the_terminal() -> None:
    """So that Ctrl-C typed there becomes a signal here."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    made.close()


def test_a_conversation(terminal: Terminal) -> None:
    greeting = terminal.expect("/help says what else there is.")
    assert all(prompt in greeting for prompt in SHOP.prompts)
    terminal.expect("> ")
    terminal.type("How many?\n")
    terminal.expect("There are 42 orders.")
    terminal.expect("> ")
    terminal.type("/sql\n")
    terminal.expect("SELECT count(*) AS n FROM orders")
    terminal.type("approve\n")
    terminal.expect("Run it? [y/N] ")
    terminal.type("y\n")
    terminal.expect("There are 42 orders.")
    terminal.expect("> ")
    terminal.type("\x04")
    terminal.expect("closed in order")
    assert terminal.ended() == 0


def test_ctrl_c_stops_the_answer_and_keeps_the_chat(terminal: Terminal) -> None:
    terminal.expect("> ")
    terminal.type("hang\n")
    terminal.expect("Thinking")
    terminal.type("\x03")
    terminal.expect("Stopped.")
    terminal.expect("> ")
    terminal.type("half a line")
    terminal.expect("half a line")
    # The line editor must be waiting for a key again: a signal before that is heard only with the next one.
    time.sleep(0.2)
    terminal.type("\x03")
    terminal.expect("> ")
    terminal.type("How many?\n")
    terminal.expect("There are 42 orders.")
    terminal.expect("> ")
    terminal.type("/quit\n")
    terminal.expect("closed in order")
    terminal.expect("asked ['hang', 'How many?'] stopped ['hang']")
    assert terminal.ended() == 0


def test_sigterm_closes_in_order(terminal: Terminal) -> None:
    terminal.expect("> ")
    terminal.type("hang\n")
    terminal.expect("Thinking")
    terminal.program.send_signal(signal.SIGTERM)
    terminal.expect("closed in order")
    terminal.expect("stopped ['hang']")
    assert terminal.ended() == 143


def test_earlier_questions_are_remembered(terminal: Terminal, tmp_path: Path) -> None:
    terminal.expect("> ")
    terminal.type("How many?\n")
    terminal.expect("There are 42 orders.")
    terminal.expect("> ")
    terminal.type("\x04")
    assert terminal.ended() == 0
    path = tmp_path / "chat_history"
    assert "How many?" in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
