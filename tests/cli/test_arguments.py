"""With which arguments nothing heavy is started: only such as click refuses, or answers with the help."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import click
import pytest

from sandtable.cli.arguments import FORMS, may_run
from sandtable.cli.group import SANDBOXED

REFUSED: list[tuple[str, list[str], str]] = [
    ("ask", [], "Missing argument"),
    ("ask", ["how many?"], "Give either"),
    ("ask", ["how many?", "--dataset"], "requires an argument"),
    ("ask", ["how many?", "more", "--dataset", "ecommerce"], "unexpected extra argument"),
    ("ask", ["how many?", "--dataset", "ecommerce", "--bogus"], "No such option"),
    ("ask", ["how many?", "--dataset", "ecommerce", "--json=1"], "does not take a value"),
    ("ask", ["how many?", "--dataset", "ecommerce", "--data", "a.csv"], "Give either"),
    ("ask", ["--dataset", "ecommerce", "--", "how", "many"], "unexpected extra argument"),
    ("run", ["--dataset", "ecommerce"], "Give exactly one"),
    ("run", ["--sql", "SELECT 1", "--plan", "-", "--dataset", "ecommerce"], "Give exactly one"),
    ("run", ["--sql", "SELECT 1"], "Give either"),
]
TAKEN: list[tuple[str, list[str]]] = [
    ("ask", ["how many?", "--dataset", "ecommerce"]),
    ("ask", ["--dataset=ecommerce", "--json", "-"]),
    ("ask", ["--data", "a.csv", "--data", "b.csv", "--answer", "a=b", "--repair", "x", "--", "--why"]),
    ("ask", ["--dataset", "--json", "how many?"]),
    ("run", ["--dataset", "ecommerce", "--sql", "SELECT -1", "--max-rows", "3", "--dry-run"]),
    ("run", ["--data", "a.csv", "--python", "-", "--no-check", "--timeout=2"]),
]


def named(cases: list[tuple[str, list[str], str]]) -> list[object]:
    return [pytest.param(*case, id=" ".join([case[0], *case[1]])) for case in cases]


@pytest.mark.parametrize(("command", "arguments", "why"), named(REFUSED))
def test_what_is_refused_starts_nothing(command: str, arguments: list[str], why: str) -> None:
    assert not may_run(command, arguments)
    start = "import sys; from sandtable.cli import main; sys.argv[0] = 'sandtable'; main()"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", start, command, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and why in done.stderr, done.stderr[-2000:]
    assert "sandtable.cli.group" in done.stderr and "sandtable.cli.early" not in done.stderr


@pytest.mark.parametrize("command", sorted(SANDBOXED))
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_starts_nothing(command: str, option: str) -> None:
    assert not may_run(command, [option]) and not may_run(command, ["x", "--dataset", "shop", option])


@pytest.mark.parametrize(("command", "arguments"), TAKEN)
def test_what_is_taken_starts_at_once(command: str, arguments: list[str]) -> None:
    assert may_run(command, arguments)
    parsed = _command(command).make_context(command, list(arguments))
    assert parsed.params


@pytest.mark.parametrize("command", sorted(SANDBOXED))
def test_the_forms_are_those_of_the_commands(command: str) -> None:
    assert FORMS.keys() == SANDBOXED
    form, params = FORMS[command], _command(command).params
    options = [each for each in params if isinstance(each, click.Option)]
    words = [each for each in params if isinstance(each, click.Argument)]
    assert {name for each in options if not each.is_flag for name in each.opts} == form.valued
    assert {name for each in options if each.is_flag for name in each.opts} == form.flags
    assert all(each.nargs == 1 and each.required for each in words) and len(words) == form.words
    assert all(options <= form.valued for options in form.one_of)


@pytest.mark.parametrize("command", sorted(SANDBOXED))
def test_nothing_that_click_takes_is_held_back(command: str) -> None:
    """All short sequences of the command's own words: click parses what is held back only to refuse it."""
    form = FORMS[command]
    pieces = ["x", "-", "--", "--dataset", "--data=y", *sorted(form.flags)[:1], *sorted(form.valued)[-1:]]
    for length in range(5):
        for arguments in product(pieces, repeat=length):
            if not may_run(command, arguments):
                assert _is_refused(command, arguments), arguments


def _is_refused(command: str, arguments: tuple[str, ...]) -> bool:
    try:
        given = _command(command).make_context(command, list(arguments)).params
    except click.UsageError:
        return True
    # What the command itself requires.
    chosen = [given["dataset_id"], *given["data"][:1]]
    query = [given.get(name) for name in ("sql_text", "plan_file", "python_text", "lines_file")]
    return sum(each is not None for each in chosen) != 1 or (
        command == "run" and sum(each is not None for each in query) != 1
    )


def _command(name: str) -> click.Command:
    return import_module(f"sandtable.cli.{name}").command


def test_looking_at_them_loads_no_library(tmp_path: Path) -> None:
    code = "import sys, sandtable.cli.arguments; print(sorted(m for m in sys.modules if m.startswith('pydantic')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[]"
