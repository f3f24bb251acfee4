"""Each command: what it prints and how it exits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.keys import SigningKey, public_pem
from sandtable.capsule.query import PlanQuery
from sandtable.capsule.seal import seal
from sandtable.cli import inputs, run
from sandtable.errors import ErrorCode, InvalidInput, SandboxUnavailable
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from sandtable.sandbox.live.selftest import WorkerReport
from sandtable.store.run_store import queue_full
from tests.capsule.samples import KEY, SHOP, capsule
from tests.cli.conftest import Invoke
from tests.server.house import House, open_house, report

Prepare = list[Callable[[House], None]]
SHOP_ARGS = ("--dataset", "shop")

READING = "verified; how the question was read is for you to check"


def failing(code: ErrorCode) -> Callable[[House], None]:
    error = JobError(code=code, type="X", message="it broke\nbadly", suggestion="try less")
    return lambda house: house.executor.on("SELECT 1;", Script(error=error))


# run


def test_run_prints_rows_and_one_line_about_the_run(invoke: Invoke) -> None:
    done = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1")
    assert done.exit_code == 0
    assert done.stdout == "answer\n42\n"
    summary = done.stderr.splitlines()[-1]
    assert summary.startswith("1 row · ") and " · sandtable verify run_" in summary
    assert summary.count("run_") == 1


def test_what_run_prints_as_json_is_verified(invoke: Invoke, tmp_path: Path) -> None:
    done = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--question", "one?", "--json")
    made = json.loads(done.stdout)
    assert made.keys() == {"payloadType", "payload", "signatures", "capsule"}
    assert (made["capsule"]["question"], made["capsule"]["result"]["rows"]) == ("one?", [[42]])
    path = tmp_path / "capsule.json"
    path.write_text(done.stdout, "utf-8")
    for target, stdin in ((str(path), None), (made["capsule"]["run_id"], None), ("-", done.stdout)):
        verified = invoke("verify", target, stdin=stdin)
        assert (verified.exit_code, verified.stdout.splitlines()[-1]) == (0, READING), target


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        pytest.param(ErrorCode.RUNNER_TIMEOUT, 1, id="timeout"),
        pytest.param(ErrorCode.VALIDATION_ERROR, 1, id="no such column"),
        pytest.param(ErrorCode.SANDBOX_UNAVAILABLE, 4, id="no sandbox"),
    ],
)
def test_a_failed_run(invoke: Invoke, prepare: Prepare, code: ErrorCode, exit_code: int) -> None:
    prepare.append(failing(code))
    done = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1")
    assert done.exit_code == exit_code
    assert done.stdout == ""
    assert f"error[{code}]: it broke\nbadly\n  → try less\n" in done.stderr
    as_json = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--json")
    assert as_json.exit_code == exit_code
    assert json.loads(as_json.stdout)["capsule"]["error"]["code"] == code


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_refusal_points_at_the_construct(invoke: Invoke, command: str) -> None:
    done = invoke(command, *SHOP_ARGS, "--sql", "SELECT *\nFROM read_csv('x')")
    assert done.exit_code == 3
    lines = done.stderr.splitlines()
    at = lines.index("2 | FROM read_csv('x')")
    assert lines[at + 1] == "         ^^^^^^^^"
    assert lines[at + 2] == "error[SQL_POLICY_VIOLATION]: `read_csv` reads files"
    assert lines[at + 3] == "  → Query the dataset's tables."


def test_options_of_a_run_reach_the_sandbox(invoke: Invoke, prepare: Prepare) -> None:
    seen: list[House] = []
    prepare.append(seen.append)
    limits = ("--timeout", "0.5", "--max-rows", "7")
    invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--dry-run", "--no-cache", *limits)
    [job] = seen[0].executor.jobs
    assert (job.mode, job.limits.wall_ms, job.limits.rows) == ("dry_run", 500, 7)


def test_asking_for_more_on_the_command_line_is_granted(invoke: Invoke, prepare: Prepare) -> None:
    seen: list[House] = []
    prepare.append(seen.append)
    invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--timeout", "100", "--max-rows", "5000")
    assert (seen[0].settings.timeout_s, seen[0].settings.max_rows) == (100, 5000)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("{", "not JSON: Expecting property name", id="cut off"),
        pytest.param("[]", "a plan is a JSON object", id="list"),
        pytest.param("[" * 100_000, "nested too deeply", id="deep"),
        pytest.param('{"a": ' + "[" * 100 + "]" * 100 + "}", "nested too deeply", id="deeper than plans"),
        pytest.param('{"a": 1' + "0" * 5000 + "}", "number too long", id="huge number"),
        pytest.param('{"table": "a", "table": "b"}', "has `table` twice", id="key twice"),
        pytest.param(b"\xff", "stdin is not UTF-8: byte 0 is 0xff", id="not UTF-8"),
        pytest.param(" " * (inputs.MOST_TEXT + 1), "larger than 4 MiB", id="large"),
    ],
)
def test_a_plan_that_cannot_be_read(invoke: Invoke, text: str | bytes, says: str) -> None:
    done = invoke("run", *SHOP_ARGS, "--plan", "-", stdin=text)
    assert done.exit_code == 2
    assert says in done.stderr and "error[VALIDATION_ERROR]" in done.stderr
    assert "  → " in done.stderr


def test_a_plan_file_that_is_not_there(invoke: Invoke) -> None:
    done = invoke("check", *SHOP_ARGS, "--plan", "missing.json", "--json")
    assert done.exit_code == 2
    assert "cannot read missing.json" in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize(
    ("given", "on_the_fly", "becomes"),
    [
        pytest.param({}, False, "shop", id="filled in"),
        pytest.param({"dataset_id": "other"}, False, "other", id="kept"),
        pytest.param({}, True, "shop", id="filled in for files"),
        pytest.param({"dataset_id": "other"}, True, "shop", id="replaced for files"),
    ],
)
def test_the_dataset_of_a_plan(given: dict[str, Any], on_the_fly: bool, becomes: str) -> None:
    query = inputs.fitted(PlanQuery(given), SHOP, on_the_fly=on_the_fly)
    assert isinstance(query, PlanQuery) and query.plan["dataset_id"] == becomes


def test_files_become_a_dataset(invoke: Invoke, prepare: Prepare) -> None:
    seen: list[House] = []
    prepare.append(seen.append)
    done = invoke("run", "--data", "a.csv", "--data", "b.csv", "--sql", "SELECT 1")
    assert done.exit_code == 0
    assert seen[0].datasets.added == [(Path("a.csv"), Path("b.csv"))]


def test_run_many(invoke: Invoke, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(
        '{"id": 1, "sql": "SELECT 1"}\n{"id": 2, "sql": "read_csv"}\nbad\n{"id": 4, "plan": {"table": "x"}}\n'
    )
    done = invoke("run", *SHOP_ARGS, "--jsonl", str(source))
    assert done.exit_code == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    contract = {"id", "status", "columns", "rows", "error", "exec_time_ms"}
    assert all(contract <= line.keys() for line in lines)
    assert [line["status"] for line in lines] == ["succeeded", "rejected", "rejected", "rejected"]
    assert (lines[0]["columns"], lines[0]["rows"], lines[0]["error"]) == (["answer"], [[42]], None)
    codes = [line["error"]["code"] for line in lines[1:]]
    assert codes == ["SQL_POLICY_VIOLATION", "VALIDATION_ERROR", "VALIDATION_ERROR"]


# check


def test_check_approves(invoke: Invoke) -> None:
    done = invoke("check", *SHOP_ARGS, "--sql", "SELECT  1")
    assert (done.exit_code, done.stdout) == (0, "approved\nSELECT 1;\n")


def test_check_as_json(invoke: Invoke) -> None:
    good = invoke("check", *SHOP_ARGS, "--sql", "-", "--json", stdin="SELECT  1")
    assert good.exit_code == 0
    assert json.loads(good.stdout)["verdict"] == "approved"
    bad = invoke("check", *SHOP_ARGS, "--plan", "-", "--json", stdin='{"table": "x"}')
    assert bad.exit_code == 3
    verdict = json.loads(bad.stdout)
    assert (verdict["verdict"], verdict["code"]) == ("refused", "VALIDATION_ERROR")


def test_check_many(invoke: Invoke, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "sql": "SELECT 1"}\n{"id": "b", "sql": "x read_csv"}\n{"id": "c"}\n')
    done = invoke("check", *SHOP_ARGS, "--jsonl", str(source))
    assert done.exit_code == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all({"id", "verdict", "code", "construct", "message"} <= line.keys() for line in lines)
    assert [(line["id"], line["verdict"]) for line in lines] == [
        ("a", "approved"),
        ("b", "refused"),
        ("c", "refused"),
    ]
    assert (lines[1]["construct"], lines[1]["position"]) == ("read_csv", 2)


async def test_interrupting_a_command_cancels_its_runs(tmp_path: Path) -> None:
    """Else the next server would take them up."""
    async with open_house(tmp_path) as house:
        house.executor.on("SELECT 1;", Script(delay_s=60))
        lines = tmp_path / "in.jsonl"
        lines.write_text('{"id": 1, "sql": "SELECT 1"}\n{"id": 2, "sql": "SELECT 1"}\n')
        ask = run.Ask(inputs.About("shop"), "", None, None, False, True)
        work = asyncio.create_task(run._many(house, ask, str(lines)))  # pyright: ignore[reportArgumentType, reportPrivateUsage] - a double of Parts
        async with asyncio.timeout(10):
            while len(await house.runs.list(status="running")) < 2:
                await asyncio.sleep(0.01)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        assert [run.status for run in await house.runs.list()] == ["cancelled", "cancelled"]


# verify, runs, doctor


def test_verify_names_a_false_copy(invoke: Invoke, tmp_path: Path) -> None:
    made = json.loads(invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--json").stdout)
    made["capsule"]["question"] = "another"
    path = tmp_path / "capsule.json"
    path.write_text(json.dumps(made))
    done = invoke("verify", str(path))
    assert done.exit_code == 1
    assert "✗ envelope" in done.stdout and "differs from the signed payload" in done.stdout
    assert done.stdout.splitlines()[-1] == "broken: envelope"
    assert not json.loads(invoke("verify", str(path), "--json").stdout)["ok"]


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "{}", '{"error": {}}', "[" * 100_000, '{"capsule": {}, "a": 1}'], ids=repr
)
def test_verify_says_what_is_no_capsule(invoke: Invoke, text: str) -> None:
    done = invoke("verify", "-", stdin=text)
    assert done.exit_code == 1
    assert "✗ envelope" in done.stdout


def test_verify_trusts_a_key_that_is_given(invoke: Invoke, tmp_path: Path) -> None:
    foreign: SigningKey = KEY
    path = tmp_path / "capsule.json"
    path.write_text(json.dumps(seal(capsule(), foreign)))
    untrusted = json.loads(invoke("verify", str(path), "--json").stdout)
    assert next(link["name"] for link in untrusted["links"] if link["status"] == "broken") == "signer"
    pem = tmp_path / "key.pem"
    pem.write_bytes(public_pem(foreign.private.public_key()))
    trusted = json.loads(invoke("verify", str(path), "--key", str(pem), "--json").stdout)
    assert {link["name"]: link["status"] for link in trusted["links"]}["signature"] == "ok"


def test_verify_of_no_run_and_of_no_key(invoke: Invoke) -> None:
    missing = invoke("verify", "run_nothing")
    assert missing.exit_code == 2 and "no run `run_nothing`" in missing.stderr
    misspelt = invoke("verify", "capsle.json")
    assert misspelt.exit_code == 2 and "no file and no run `capsle.json`" in misspelt.stderr
    no_key = invoke("verify", "-", "--key", "missing.pem", stdin="{}")
    assert no_key.exit_code == 2 and "missing.pem" in no_key.stderr


def test_runs_are_listed(invoke: Invoke) -> None:
    invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--question", "one \x1b[31m?")
    invoke("run", *SHOP_ARGS, "--sql", "read_csv")
    listed = invoke("runs").stdout.splitlines()
    assert [line.split("\t")[1:] for line in listed] == [
        ["rejected", "shop", "read_csv"],
        ["succeeded", "shop", r"one \x1b[31m?"],
    ]
    [only] = json.loads(invoke("runs", "--status", "rejected", "--json").stdout)
    assert (only["run_id"], only["dataset_id"]) == (listed[0].split("\t")[0], "shop")


@pytest.mark.parametrize(
    ("problem", "code", "says"),
    [
        pytest.param(None, 0, "This machine can run untrusted queries.", id="fit"),
        pytest.param(
            SandboxUnavailable("it got out").problem, 4, "error[SANDBOX_UNAVAILABLE]: it got out", id="unfit"
        ),
    ],
)
def test_doctor(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, problem: Any, code: int, says: str) -> None:
    async def diagnose(settings: object) -> Any:
        return report(problem)

    async def examine_worker() -> WorkerReport:
        return WorkerReport(attempts=180)

    monkeypatch.setattr("sandtable.cli.doctor.diagnose", diagnose)
    monkeypatch.setattr("sandtable.cli.doctor.examine_worker", examine_worker)
    done = invoke("doctor")
    assert done.exit_code == code
    assert says in done.output and "✓ seccomp" in done.stdout and "– cgroup" in done.stdout
    found = json.loads(invoke("doctor", "--json").stdout)
    assert found["ok"] == (code == 0)
    assert [layer["active"] for layer in found["layers"]] == [True, False]
    assert "databases  available; 180 escape attempts" in done.stdout


@pytest.mark.parametrize(
    ("worker", "code", "says"),
    [
        (WorkerReport(unavailable="no namespaces"), 0, "databases  not available: no namespaces"),
        (WorkerReport(180, ("reach 192.0.2.1:5432",)), 4, "✗ a driver can reach 192.0.2.1:5432"),
    ],
    ids=["unavailable", "escaped"],
)
def test_doctor_of_databases(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, worker: WorkerReport, code: int, says: str
) -> None:
    async def diagnose(settings: object) -> Any:
        return report(None)

    async def examine_worker() -> WorkerReport:
        return worker

    monkeypatch.setattr("sandtable.cli.doctor.diagnose", diagnose)
    monkeypatch.setattr("sandtable.cli.doctor.examine_worker", examine_worker)
    done = invoke("doctor")
    assert done.exit_code == code
    assert says in done.stdout


def test_a_full_queue_is_no_missing_sandbox(invoke: Invoke, prepare: Prepare) -> None:
    async def full(*_: Any) -> None:
        raise queue_full(2)

    prepare.append(lambda house: setattr(house.runs, "submit", full))
    done = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1")
    assert done.exit_code == 1
    assert "error[QUEUE_FULL]: 2 runs are waiting" in done.stderr and "\n  → Try again" in done.stderr
    as_json = invoke("run", *SHOP_ARGS, "--sql", "SELECT 1", "--json")
    assert (as_json.exit_code, json.loads(as_json.stdout)["error"]["code"]) == (1, "QUEUE_FULL")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(SandboxUnavailable("no isolation here"), 4, id="no sandbox"),
        pytest.param(InvalidInput("the registry is damaged"), 2, id="bad registry"),
        pytest.param(KeyboardInterrupt(), 130, id="ctrl-c"),
    ],
)
@pytest.mark.parametrize("command", [("run", *SHOP_ARGS, "--sql", "x"), ("verify", "x")], ids=lambda c: c[0])
def test_trouble_before_anything_runs(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, command: tuple[str, ...]
) -> None:
    def broken(settings: object) -> None:
        raise error

    monkeypatch.setattr("sandtable.cli.session.assemble", broken)
    done = invoke(*command)
    assert done.exit_code == code
    assert done.stdout.strip() == "" and "Traceback" not in done.stderr
