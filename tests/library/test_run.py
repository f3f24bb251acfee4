"""Python through the library, in the real sandbox: what it answers, and that it never raises for the code's faults."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pandas
import pytest

import sandtable
from sandtable import InvalidInput, NotFound, QueueFull, SandboxUnavailable, aio
from sandtable.store.run_store import queue_full

FRAME = pandas.DataFrame({"city": ["Bonn", "Cork", "Bonn"], "amount": [3, 5, 4]})


def test_what_is_printed_is_the_answer(sales: Path) -> None:
    result = sandtable.run("print(df.amount.sum(), len(sales))", data=sales)
    assert (result.success, result.stdout, result.stderr, result.error_message) == (True, "12 3\n", "", None)
    assert result.code is None and result.artifacts == ()


def test_the_last_line_is_shown(sales: Path) -> None:
    result = sandtable.run("df.groupby('city', as_index=False).amount.sum()", data=sales)
    assert result.table is not None
    assert result.table.records() == [{"city": "Bonn", "amount": 7}, {"city": "Cork", "amount": 5}]
    assert [artifact.id for artifact in result.artifacts] == ["table-1"]


def test_a_figure_is_the_chart(sales: Path) -> None:
    result = sandtable.run("px.bar(df, x='city', y='amount')", data=sales)
    assert result.chart is not None and result.chart["data"][0]["type"] == "bar"


@pytest.mark.parametrize(
    ("data", "code", "printed"),
    [
        (FRAME, "print(df.shape)", "(3, 2)"),
        ({"a": FRAME, "b": FRAME.iloc[:1]}, "print(len(a), len(b), sorted(tables))", "3 1 ['a', 'b']"),
        ("sensors", "print('reading' in tables or len(tables) > 0)", "True"),
        (None, "print(6 * 7)", "42"),
    ],
    ids=["frame", "dict", "builtin", "nothing"],
)
def test_data_is_there_by_name(data: object, code: str, printed: str) -> None:
    assert sandtable.run(code, data=data).stdout.strip() == printed


def test_tables_may_have_further_names(sales: Path) -> None:
    assert sandtable.run("print(len(award_data))", sales, names={"award_data": "sales"}).stdout == "3\n"
    with pytest.raises(NotFound, match="stand for the table `sale`"):
        sandtable.run("1", sales, names={"x": "sale"})


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        ("import os", "PYTHON_POLICY_VIOLATION", "os"),
        ("open('/etc/passwd')", "PYTHON_POLICY_VIOLATION", "open"),
        ("__import__('os').system('id')", "PYTHON_POLICY_VIOLATION", "__import__"),
        ("print(", "VALIDATION_ERROR", ""),
        ("1/0", "VALIDATION_ERROR", "division by zero"),
        ("df['ammount']", "VALIDATION_ERROR", "ammount"),
        ("x" * 200_000, None, ""),
        ("x" * 3_000_000, "VALIDATION_ERROR", "Shorten it"),
    ],
    ids=["import", "open", "dunder", "syntax", "exception", "column", "200 KB", "3 MB"],
)
def test_faults_of_the_code_are_results(code: str, error: str | None, says: str, sales: Path) -> None:
    result = sandtable.run(code, sales)
    assert not result.success
    assert error is None or result.code == error
    assert result.error_message is not None and says in result.error_message


def test_the_sandbox_holds_where_the_check_is_off() -> None:
    result = sandtable.run("print(open('/etc/passwd').read())", check=False)
    assert not result.success
    assert "root:" not in result.stdout


def test_over_time_is_a_result() -> None:
    result = sandtable.run("while True: pass", timeout=0.5)
    assert (result.success, result.code) == (False, "RUNNER_TIMEOUT")
    assert result.error_message


def test_more_than_the_settings_give_can_be_asked_for(sales: Path) -> None:
    assert sandtable.run("print(1)", timeout=120).success
    many = sandtable.run("pd.DataFrame({'n': range(500)})", max_rows=400, timeout=120)
    assert many.table is not None and len(many.table.rows) == 400 and many.table.truncated


@pytest.mark.parametrize(
    "arguments",
    [
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": 4000},
        {"timeout": float("nan")},
        {"timeout": "5"},
        {"timeout": True},
        {"max_rows": 0},
        {"max_rows": 10**6},
        {"max_rows": 1.5},
        {"code": b"1"},
        {"code": Path("x.py")},
        {"names": {"no good": "no_data"}},
    ],
    ids=str,
)
def test_arguments_that_cannot_be_used_raise(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        sandtable.run(**{"code": "1", **arguments})  # type: ignore[arg-type]  # wrong on purpose


def test_every_run_leaves_a_record(sales: Path) -> None:
    good, refused = sandtable.run("print(len(df))", sales), sandtable.run("import os", sales)
    assert good.capsule()["capsule"]["status"] == "succeeded"
    assert refused.capsule()["capsule"]["status"] == "rejected"
    assert good.capsule()["capsule"]["python"] == "print(len(df))"
    json.dumps([good.capsule(), good.as_dict(), refused.as_dict()])


def test_what_was_not_recorded_has_no_capsule() -> None:
    with pytest.raises(LookupError, match="has no capsule"):
        sandtable.run("x" * 3_000_000).capsule()


def test_an_identical_run_is_answered_from_the_record(sales: Path) -> None:
    code = "print('only', len(df))"
    first, second, third = (sandtable.run(code, sales, cache=cache) for cache in (True, True, False))
    cached = [each.capsule()["capsule"]["cached_from"] for each in (first, second, third)]
    assert cached == [None, first.run_id, None]
    assert first.stdout == second.stdout == third.stdout


async def test_from_another_loop_many_at_once(sales: Path) -> None:
    results = await asyncio.gather(*(aio.run(f"print({n} + len(df))", sales) for n in range(5)))
    assert [result.stdout for result in results] == [f"{n + 3}\n" for n in range(5)]


async def test_inside_a_running_loop_one_may_wait_too() -> None:
    assert sandtable.run("print(1)").stdout == "1\n"


async def test_who_gives_up_stops_the_code() -> None:
    task = asyncio.ensure_future(aio.run("while True: pass", timeout=60))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # With one worker left busy for a minute this would wait.
    assert (await aio.run("print(2)")).stdout == "2\n"


def test_a_full_queue_has_an_exception_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise queue_full(2)

    monkeypatch.setattr("sandtable.runs.desk.Runs.submit", full)
    with pytest.raises(QueueFull, match="2 runs are waiting") as caught:
        sandtable.run("1", cache=False)
    assert caught.value.code == "QUEUE_FULL" and not isinstance(caught.value, SandboxUnavailable)


def test_threads_share_it(sales: Path) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(sandtable.run(f"print({n})", sales).stdout))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["0\n", "1\n", "2\n", "3\n"]


_PROGRAM = """
import sys, multiprocessing
import sandtable

print(sandtable.run("print('parent')").stdout, end="", flush=True)

def child():
    print(sandtable.run("print('child')").stdout, end="", flush=True)

if "fork" in sys.argv:
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    print(sandtable.run("print('parent again')").stdout, end="")
sys.exit(process.exitcode if "fork" in sys.argv else 0)
"""


@pytest.mark.parametrize(
    ("argument", "printed"),
    [("", ["parent"]), ("fork", ["parent", "child", "parent again"])],
    ids=["plain", "fork"],
)
def test_a_program_ends_and_leaves_nothing(argument: str, printed: list[str], tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SANDTABLE_HOME": str(tmp_path / "home"),
    }
    # Newer Pythons warn of every fork of a process with threads.
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", _PROGRAM, argument]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, printed, "")
    assert list((tmp_path / "home" / "instances").iterdir()) == []
    assert [path.name for path in (tmp_path / "home" / "handover").iterdir()] == ["instances"]
    assert str(tmp_path) not in subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout


def test_the_import_is_quick_and_brings_nothing_heavy() -> None:
    code = "import sys, sandtable; print(*{'pandas', 'duckdb', 'pydantic', 'sandtable.library'} & {*sys.modules})"
    places = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=places, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_the_library_itself_loads_neither_pandas_nor_an_engine() -> None:
    code = "import sys, sandtable; sandtable.run; print(*{'pandas', 'polars', 'numpy', 'duckdb'} & {*sys.modules})"
    places = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=places, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
