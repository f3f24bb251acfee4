"""The group: quick to load, lists every command, ends each the same way."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sandtable.catalog import registry
from sandtable.cli import main
from sandtable.cli.group import BRIEF, COMMANDS, SANDBOXED
from sandtable.cli.reference import reference_page
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import RunnerBroken

ROOT = Path(__file__).resolve().parents[2]


def test_help_loads_no_command() -> None:
    code = (
        "import sys\nfrom sandtable.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('pydantic', 'rich', 'fastapi', 'sqlglot', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(name in done.stdout for name in COMMANDS)


def test_no_command_loads_the_conversation_before_it_is_needed() -> None:
    """LangGraph takes most of a second."""
    code = (
        "import sys\nfrom importlib import import_module\n"
        f"for name in {list(COMMANDS)}: import_module(f'sandtable.cli.{{name}}')\n"
        "print([m for m in ('langgraph', 'langchain_core', 'fastapi', 'duckdb') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_commands_that_are_named_exist() -> None:
    assert set(COMMANDS) >= BRIEF > SANDBOXED


@pytest.mark.parametrize(("command", "few"), [("datasets", True), ("doctor", False)])
def test_only_commands_that_end_soon_seldom_collect_garbage(tmp_path: Path, command: str, few: bool) -> None:
    code = (
        "import gc, sys\nfrom sandtable.cli import main\n"
        f"sys.argv = ['sandtable', '{command}', '--help']\n"
        "try: main()\nfinally: print(gc.get_threshold()[0], gc.get_freeze_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "src"), "SANDTABLE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    threshold, frozen = map(int, done.stdout.splitlines()[-1].split())
    assert (threshold > 10_000) is few
    assert frozen > 10_000


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_as_the_list_says(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert inspect.cleandoc(command.help or "").splitlines()[0] == COMMANDS[name]
    for each in command.commands.values() if isinstance(command, click.Group) else (command,):
        assert any(parameter.name == "as_json" for parameter in each.params)


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs/cli.md").read_text("utf-8")
    assert written == reference_page(), "run `make docs`"


def test_a_misspelt_command_hears_the_nearest() -> None:
    done = CliRunner().invoke(main, ["verfy"])
    assert done.exit_code == 2
    assert "Did you mean `verify`?" in done.output


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["run", "--sql", "SELECT 1"], id="no dataset"),
        pytest.param(["run", "--dataset", "x", "--data", "f.csv", "--sql", "SELECT 1"], id="two datasets"),
        pytest.param(["run", "--dataset", "x"], id="nothing to run"),
        pytest.param(["check", "--dataset", "x", "--sql", "y", "--plan", "z"], id="two queries"),
        pytest.param(["schema"], id="no schema"),
        pytest.param(["run", "--dataset", "x", "--sql", "y", "--max-rows", "0"], id="no rows"),
        pytest.param(["run", "--dataset", "x", "--sql", "y", "--timeout", "nan"], id="no time"),
        pytest.param(["datasets", "--bogus"], id="no such option"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "Usage:" in done.stderr and "Error:" in done.stderr
    as_json = CliRunner().invoke(main, [*arguments, "--json"])
    assert (as_json.exit_code, as_json.stderr) == (2, "")
    problem = json.loads(as_json.stdout)["error"]
    assert problem["code"] == "VALIDATION_ERROR" and problem["message"]
    assert problem["suggestion"] == f"See `sandtable {arguments[0]} --help`."


def test_an_expected_error_is_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(main, ["schema", "ecomerce"])
    assert done.exit_code == 2
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first == "error[NOT_FOUND]: no dataset `ecomerce`; did you mean `ecommerce`?"
    assert second.startswith("  → The datasets are:")


def test_an_expected_error_is_an_object_with_json() -> None:
    done = CliRunner().invoke(main, ["schema", "ecomerce", "--json"])
    assert done.exit_code == 2
    assert done.stderr == ""
    assert json.loads(done.stdout)["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(KeyboardInterrupt(), 130, id="ctrl-c"),
        pytest.param(RunnerBroken("broken"), 1, id="broken"),
        pytest.param(ZeroDivisionError("secret"), 1, id="unforeseen"),
        pytest.param(PermissionError(13, "Permission denied", "/some/file"), 1, id="disk"),
    ],
)
def test_how_a_command_ends(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr("sandtable.cli.datasets.known_datasets", broken)
    assert CliRunner().invoke(main, ["datasets"]).exit_code == code


@pytest.mark.parametrize(
    ("error", "says"),
    [
        pytest.param(ZeroDivisionError("by what?"), "ZeroDivisionError: by what?", id="defect"),
        pytest.param(PermissionError(13, "Permission denied", "/x/y"), "/x/y: Permission denied", id="file"),
        pytest.param(OSError(28, "No space left on device"), "No space left", id="full disk"),
    ],
)
def test_what_nobody_foresaw_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr("sandtable.cli.datasets.known_datasets", broken)
    done = CliRunner().invoke(main, ["datasets"])
    assert done.stderr.startswith("error[RUNNER_INTERNAL_ERROR]: ") and says in done.stderr
    assert "  → " in done.stderr and "Traceback" not in done.output
    as_json = CliRunner().invoke(main, ["datasets", "--json"])
    assert says in json.loads(as_json.stdout)["error"]["message"]
    monkeypatch.setenv("SANDTABLE_LOG_LEVEL", "debug")
    assert "Traceback" in CliRunner().invoke(main, ["datasets"]).stderr


@pytest.mark.parametrize(
    ("redirect", "arguments", "code"),
    [
        pytest.param("<&-", "check --dataset x --plan -", 2, id="stdin"),
        pytest.param(">&-", "datasets", 0, id="stdout"),
        pytest.param(">&-", "datasets --json", 0, id="stdout, json"),
        pytest.param("2>&-", "nonsense", 2, id="stderr"),
        pytest.param("> /dev/full", "datasets", 1, id="full"),
    ],
)
def test_a_closed_or_full_stream_is_no_crash(redirect: str, arguments: str, code: int) -> None:
    command = f"{sys.executable} -c 'from sandtable.cli import main; main()' {arguments} {redirect}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_closed_stdout_is_not_taken_by_another_file(tmp_path: Path) -> None:
    """Else what a command prints would be written into the next file it opens."""
    code = (
        "import os, sys\nfrom sandtable.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "os._exit(0 if os.open(sys.argv[1], os.O_RDWR | os.O_CREAT) > 2 else 1)"
    )
    command = f'exec {sys.executable} -c "$0" {tmp_path / "file"} <&- >&- 2>&-'
    environment = {"PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run(["/bin/sh", "-c", command, code], env=environment).returncode == 0


def test_a_wrong_setting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDTABLE_PORT", "many")
    done = CliRunner().invoke(main, ["datasets"])
    assert done.exit_code == 2
    assert "port" in done.stderr.lower() and "SANDTABLE_" in done.stderr


def test_datasets_and_schema_need_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [dataset.id for dataset in registry.load_catalog(registry.registry_folder(), column_type).values()]
    listed = CliRunner().invoke(main, ["datasets", "--json"])
    assert [dataset["id"] for dataset in json.loads(listed.stdout)] == ids
    for name in ids:
        shown = CliRunner().invoke(main, ["schema", name])
        assert shown.exit_code == 0 and "version sha256:" in shown.stdout
        whole = CliRunner().invoke(main, ["schema", name, "--json"])
        assert json.loads(whole.stdout)["id"] == name


def test_the_key_is_the_installations() -> None:
    first, second = (CliRunner().invoke(main, ["key", *more]) for more in ([], ["--json"]))
    assert first.stdout.startswith("-----BEGIN PUBLIC KEY-----")
    assert json.loads(second.stdout)["pem"] == first.stdout
