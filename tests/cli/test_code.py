"""`run` and `check` with Python, over a scripted house."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandtable.capsule.model import UNCHECKED
from sandtable.errors import ErrorCode
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.cli.conftest import Invoke
from tests.runs.test_code import FIGURE, NOTHING, PLOT, PLOTTED, SHOWN, TABLE
from tests.server.house import House

SHOP_ARGS = ("--dataset", "shop")
Prepare = list[Callable[[House], None]]
ROWS = "region\ttotal\nNorth\t2.0\nSouth\t1.5\n"


def scripted(script: Script, text: str = "orders") -> Callable[[House], None]:
    return lambda house: house.executor.on(text, script)


def run(invoke: Invoke, prepare: Prepare, script: Script, *more: str) -> str:
    prepare.append(scripted(script))
    done = invoke("run", *SHOP_ARGS, "--python", "orders", *more)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_what_is_shown_stands_where_it_was_shown(invoke: Invoke, prepare: Prepare) -> None:
    script = replace(SHOWN, stdout="before\n[[table-1]]\nafter\n")
    assert run(invoke, prepare, script) == f"before\nBy region\n{ROWS}after\n"


def test_the_last_expression_comes_last(invoke: Invoke, prepare: Prepare) -> None:
    out = run(invoke, prepare, replace(PLOTTED, stdout="[[table-1]]\nafter\n"))
    assert out.startswith(f"By region\n{ROWS}after\n")
    assert "█" in out.removeprefix(f"By region\n{ROWS}after\n")


def test_text_alone(invoke: Invoke, prepare: Prepare) -> None:
    prepare.append(scripted(NOTHING))
    done = invoke("run", *SHOP_ARGS, "--python", "-", stdin="orders")
    assert (done.exit_code, done.stdout) == (0, "7\n")
    assert done.stderr.startswith("done · ")


@pytest.mark.parametrize(
    ("artifact", "shown"),
    [
        pytest.param(
            {"kind": "markdown", "text": "# Hi\n[[table-1]]\nend"}, f"# Hi\nBy region\n{ROWS}end\n", id="prose"
        ),
        pytest.param({"kind": "mermaid", "text": "graph TD"}, "graph TD\n", id="diagram"),
        pytest.param({"kind": "html", "html": "<b>x</b>"}, "[html-1]: a page; --json has it", id="page"),
        pytest.param({"kind": "plot", "format": "svg", "svg": "<svg/>"}, "[plot-1]: a plot (svg); --json", id="svg"),
        pytest.param(
            {"kind": "plot", "format": "vega-lite", "spec": {}}, "[plot-1]: a plot (vega-lite); --json", id="vega"
        ),
        pytest.param(
            {"kind": "plot", "format": "plotly", "figure": {"data": [{"type": "surface"}], "layout": {}}},
            "[plot-1]: a plot that cannot be drawn in a terminal; --json",
            id="a figure of no known kind",
        ),
        pytest.param(
            {"kind": "markdown", "title": "T\x1b[31m", "text": "\x1b]0;x\x07"},
            "T\\x1b[31m\n\\x1b]0;x\\x07\n",
            id="control",
        ),
    ],
)  # fmt: skip
def test_each_kind_of_artifact(
    invoke: Invoke, prepare: Prepare, artifact: dict[str, str], shown: str
) -> None:
    made = {"id": f"{artifact['kind']}-1", "title": "", **artifact}
    out = run(invoke, prepare, replace(SHOWN, stdout="", output={"artifacts": [made, TABLE]}))
    assert out.startswith(shown) if not shown.endswith("\n") else shown in out


def test_a_tag_of_nothing_is_text(invoke: Invoke, prepare: Prepare) -> None:
    script = replace(NOTHING, stdout="[[table-9]]\n[[table-9]]\nsee [[table-1]]\n")
    assert run(invoke, prepare, script) == "[[table-9]]\n[[table-9]]\nsee [[table-1]]\n"


def test_code_that_fails(invoke: Invoke, prepare: Prepare) -> None:
    error = JobError(code=ErrorCode.VALIDATION_ERROR, type="KeyError", message="'b'", suggestion="use `a`")
    prepare.append(scripted(Script(error=error, stdout="so far\n", stderr='File "<cell>", line 1')))
    done = invoke("run", *SHOP_ARGS, "--python", "orders")
    assert (done.exit_code, done.stdout) == (1, "so far\n")
    assert "File \"<cell>\", line 1\nerror[VALIDATION_ERROR]: KeyError: 'b'\n  → use `a`\n" in done.stderr


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_refusal_points_at_the_construct(invoke: Invoke, command: str) -> None:
    done = invoke(command, *SHOP_ARGS, "--python", "-", stdin="x = 1\nimport os")
    assert done.exit_code == 3
    lines = done.stderr.splitlines()
    at = lines.index("2 | import os")
    assert lines[at + 1 : at + 4] == [
        "    ^^^^^^^^^",
        "error[PYTHON_POLICY_VIOLATION]: `os` cannot be imported",
        "  → Leave it out.",
    ]


def test_check_approves(invoke: Invoke) -> None:
    done = invoke("check", *SHOP_ARGS, "--python", "orders")
    assert (done.exit_code, done.stdout) == (0, "approved\norders\n")
    found = json.loads(invoke("check", *SHOP_ARGS, "--python", "orders", "--json").stdout)
    assert (found["verdict"], found["python"], "sql" in found) == ("approved", "orders", False)


def test_the_capsule_of_code_verifies(invoke: Invoke, prepare: Prepare, tmp_path: Path) -> None:
    made = run(invoke, prepare, PLOTTED, "--json")
    capsule = json.loads(made)["capsule"]
    assert [record["artifact"] for record in capsule["artifacts"]] == [TABLE, PLOT]
    (tmp_path / "capsule.json").write_text(made)
    done = invoke("verify", str(tmp_path / "capsule.json"))
    assert done.exit_code == 0, done.stdout
    assert "  ✓ artifacts\n  ✓ stdout\nverified\n" in done.stdout


def test_many_lines_of_every_kind(invoke: Invoke, prepare: Prepare, tmp_path: Path) -> None:
    prepare.append(scripted(PLOTTED))
    lines = [
        {"id": 1, "python": "orders"},
        {"id": 2, "sql": "SELECT 1"},
        {"id": 3, "python": "import os"},
        {"id": 4, "python": "1", "sql": "SELECT 1"},
        {"id": 5, "python": 7},
    ]
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = invoke("run", *SHOP_ARGS, "--jsonl", str(file))
    assert done.exit_code == 0, done.stderr
    first, second, third, fourth, fifth = map(json.loads, done.stdout.splitlines())
    assert (first["status"], first["stdout"], first["rows"]) == ("succeeded", PLOTTED.stdout, TABLE["rows"])
    assert first["artifacts"][1]["figure"] == FIGURE
    assert (second["status"], "artifacts" in second) == ("succeeded", False)
    assert third["error"]["code"] == "PYTHON_POLICY_VIOLATION"
    assert "both `sql` and `python`" in fourth["error"]["message"]
    assert fifth["error"]["message"] == "line 5: `python` is not text"
    done = invoke("check", *SHOP_ARGS, "--jsonl", str(file))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["verdict"] for line in told] == ["approved", "approved", "refused", "refused", "refused"]
    assert told[0]["python"] == "orders" and "python" not in told[1]


def test_options_reach_the_sandbox(invoke: Invoke, prepare: Prepare) -> None:
    seen: list[House] = []
    prepare += [scripted(SHOWN), seen.append]
    invoke("run", *SHOP_ARGS, "--python", "orders", "--timeout", "0.5")
    [job] = seen[0].executor.jobs
    assert (job.mode, job.limits.wall_ms, job.options["check"]) == ("python", 500, True)


def test_without_the_check(invoke: Invoke, prepare: Prepare, tmp_path: Path) -> None:
    seen: list[House] = []
    prepare.append(seen.append)
    done = invoke("run", *SHOP_ARGS, "--python", "import os", "--no-check")
    assert done.exit_code == 0, done.stderr
    assert f"note: {UNCHECKED}\n" in done.stderr
    assert seen[0].executor.jobs[0].options["check"] is False
    file = tmp_path / "lines.jsonl"
    file.write_text('{"id": 1, "python": "import os"}\n{"id": 2, "sql": "SELECT read_csv"}\n')
    done = invoke("run", *SHOP_ARGS, "--jsonl", str(file), "--no-check")
    code, sql = map(json.loads, done.stdout.splitlines())
    assert (code["status"], code["warnings"]) == ("succeeded", [UNCHECKED])
    assert sql["status"] == "rejected"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("--sql", "SELECT 1", "--no-check"), "--no-check goes with --python", id="SQL"),
        pytest.param(("--python", "1", "--dry-run"), "--dry-run is for a plan or SQL", id="dry run"),
        pytest.param(("--python", "1", "--sql", "SELECT 1"), "Give exactly one of", id="both"),
    ],
)
def test_options_that_do_not_go_together(invoke: Invoke, arguments: tuple[str, ...], says: str) -> None:
    done = invoke("run", *SHOP_ARGS, *arguments)
    assert done.exit_code == 2
    assert says in done.stderr


def test_rows_go_to_a_file(invoke: Invoke, prepare: Prepare, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    out = run(invoke, prepare, SHOWN, "--output", str(file))
    assert out == "hello\n"
    assert file.read_text().splitlines() == ["region,total", "North,2.0", "South,1.5"]


def test_runs_lists_code(invoke: Invoke, prepare: Prepare) -> None:
    run(invoke, prepare, SHOWN)
    assert invoke("runs").stdout.endswith("\tshop\torders\n")
    [listed] = json.loads(invoke("runs", "--json").stdout)
    assert (listed["python"], "artifacts" in listed) == ("orders", False)
