"""Known failures: the list is exact, or it is a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.cli.evaluation.known import KnownFailures
from sandtable.errors import InvalidInput
from tests.cli.analysts import FakeAnalyst, ended, line
from tests.cli.conftest import Invoke, Write


@pytest.fixture
def source(analyst: FakeAnalyst, write: Write) -> str:
    analyst.script["what?"] = ended("asked", "Which?")
    return write(
        line("good", answer=42),
        line("bad", answer=41),
        line("shy one", "what?", answer=42),
        line("wise", "what?", expect="decline"),
        line("free"),
    )


@pytest.mark.parametrize(
    ("named", "faults"),
    [
        pytest.param("# a note\n\nwrong bad\nasked shy one\n", [], id="exact"),
        pytest.param("asked shy one\n", ["bad: wrong, and it is not a known failure"], id="not named"),
        pytest.param(
            "asked bad\nasked shy one\n", ["bad: wrong, and it is known as asked"], id="another way"
        ),
        pytest.param(
            "wrong good\nwrong bad\nasked shy one\n",
            ["good: it passes now, and is still named as a failure"],
            id="passes now",
        ),
        pytest.param(
            "wrong bad\nasked shy one\nwrong gone\n", ["gone: there is no such question"], id="not there"
        ),
        pytest.param(
            "wrong bad\nasked shy one\nasked wise\n", ["wise: it passes now"], id="rightly declined"
        ),
    ],
)
def test_a_list_is_exact_or_at_fault(
    invoke: Invoke, source: str, tmp_path: Path, named: str, faults: list[str]
) -> None:
    known = tmp_path / "known.txt"
    known.write_text(named, "utf-8")
    done = invoke("eval", source, "--known", str(known))
    assert done.exit_code == (1 if faults else 0)
    said = [text for text in done.stderr.splitlines() if "differ from" not in text]
    assert len(said) == len(faults)
    assert all(text.startswith(fault) for text, fault in zip(said, faults, strict=True))
    assert known.read_text("utf-8") == named


def test_an_updated_list_is_exact(invoke: Invoke, source: str, tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    assert invoke("eval", source, "--known", str(known), "--update-known").exit_code == 0
    assert known.read_text("utf-8").splitlines()[1:] == ["wrong bad", "asked shy one"]
    assert invoke("eval", source, "--known", str(known)).exit_code == 0


@pytest.mark.parametrize(
    "text", ["bad\n", "right good\n", "wrong bad\nasked bad\n"], ids=["no outcome", "passes", "twice"]
)
def test_a_list_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    known = tmp_path / "known.txt"
    known.write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        KnownFailures.read(known)
    assert caught.value.suggestion


def test_an_id_names_one_question(invoke: Invoke, analyst: FakeAnalyst, write: Write, tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    done = invoke(
        "eval", write(line(1), line(1, answer=42), line(1, answer=1)), "--known", str(known), "--update-known"
    )
    assert done.exit_code == 2
    assert "two questions have the id `1`" in done.stderr
    assert not known.exists()


def test_updating_needs_a_file(invoke: Invoke, source: str) -> None:
    done = invoke("eval", source, "--update-known")
    assert done.exit_code == 2
    assert "--known FILE" in done.stderr
