"""Pieces of code that share their variables, in the real sandbox; what ends a session, and what survives."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from pathlib import Path

import pytest

import sandtable
from sandtable import InvalidInput, NotFound, Session, aio


def test_variables_are_kept(sales: Path) -> None:
    with Session(sales) as session:
        assert session.run("top = df[df.amount > 3]\ncount = len(top)").stdout == ""
        result = session.run("print(count)\ntop")
        assert (result.success, result.stdout, result.warnings) == (True, "2\n", ())
        assert result.table is not None and len(result.table.rows) == 2
        assert result.run_id is not None
        proof = result.capsule()["capsule"]
        assert (proof["status"], [cell["python"] for cell in proof["before"]]) == (
            "succeeded",
            ["top = df[df.amount > 3]\ncount = len(top)"],
        )


def test_artifacts_are_numbered_through(sales: Path) -> None:
    with Session(sales) as session:
        ids = [session.run("df").artifacts[0].id for _ in range(2)]
    assert ids == ["table-1", "table-2"]


def test_faults_of_the_code_end_nothing(sales: Path) -> None:
    with Session(sales) as session:
        session.run("kept = 7")
        refused = session.run("import os")
        assert (refused.success, refused.code) == (False, "PYTHON_POLICY_VIOLATION")
        failed = session.run("1/0")
        assert (failed.success, failed.code) == (False, "VALIDATION_ERROR")
        assert "ZeroDivisionError" in failed.stderr
        assert session.run("print(kept)").stdout == "7\n"


def test_over_time_is_interrupted_and_the_state_kept(sales: Path) -> None:
    with Session(sales, timeout=30) as session:
        session.run("kept = 7")
        result = session.run("while True: pass", timeout=0.3)
        assert (result.success, result.code) == (False, "RUNNER_TIMEOUT")
        again = session.run("print(kept)")
        assert (again.stdout, again.warnings) == ("7\n", ())


_CRASH = "np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40,), (8,))[1 << 38]"
_LOOK = """
try:
    print(kept)
except NameError:
    print("gone")
"""


def test_too_much_memory_is_a_result(sales: Path) -> None:
    with Session(sales) as session:
        died = session.run("x = []\nwhile True: x.append('y' * 10_000_000)")
        assert (died.success, died.code) == (False, "RUNNER_RESOURCE_EXCEEDED")
        assert session.run("print(len(df))").stdout == "3\n"


def test_after_a_crash_it_is_rebuilt_and_says_so(sales: Path) -> None:
    with Session(sales, check=False) as session:
        session.run("kept = 7")
        assert session.run(_LOOK).stdout == "7\n"
        assert not session.run(_CRASH).success
        again = session.run(_LOOK)
        assert again.stdout == "7\n"
        assert any("2 earlier cells were run again first" in said for said in again.warnings)
        assert not any("run again" in said for said in session.run("1").warnings)


def test_closing_twice_is_once_and_then_it_is_over(sales: Path) -> None:
    session = Session(sales)
    session.close()
    session.close()
    with pytest.raises(InvalidInput, match="the session is closed"):
        session.run("1")


@pytest.mark.parametrize("arguments", [{"timeout": 0}, {"timeout": 5000}])
def test_arguments_are_looked_at_before_anything_starts(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        Session(**arguments)  # type: ignore[arg-type]  # a table of wrong values


def test_further_names(sales: Path) -> None:
    with Session(sales, names={"award_data": "sales"}) as session:
        assert session.run("print(len(award_data))").stdout == "3\n"
    with Session(sales, names={"x": "nothing"}) as session, pytest.raises(NotFound, match="nothing"):
        session.run("1")


def test_sessions_do_not_see_each_other(sales: Path) -> None:
    with Session(sales) as one, Session(sales) as other:
        one.run("mine = 1")
        assert not other.run("print(mine)").success


def test_threads_take_turns(sales: Path) -> None:
    with Session(sales) as session:
        session.run("seen = []")
        threads = [
            threading.Thread(target=session.run, args=(f"seen.append({n})\nseen.append({n})",))
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run("print(all(a == b for a, b in zip(seen[::2], seen[1::2])), len(seen))").stdout == (
            "True 8\n"
        )


async def test_awaited(sales: Path) -> None:
    async with aio.Session(sales) as session:
        await session.run("n = len(df)")
        first, second = await asyncio.gather(session.run("print(n)"), session.run("print(n + 1)"))
        assert (first.stdout, second.stdout) == ("3\n", "4\n")


def test_it_outlives_a_closed_library(sales: Path) -> None:
    with Session(sales) as session:
        session.run("kept = 7")
        sandtable.close()
        again = session.run("print(len(df), kept)")
        assert again.stdout == "3 7\n"
        assert again.warnings == ("the session had ended: 1 earlier cell was run again first",)


def test_a_forgotten_session_gives_its_process_back(sales: Path) -> None:
    session = Session(sales)
    session.run("1")
    opened = session._live._opened
    assert opened is not None
    inner = opened.parts.sessions._of(session._live._id)[0].session
    assert inner is not None and inner.alive
    del session
    gc.collect()
    give_up = time.monotonic() + 20
    while inner.alive and time.monotonic() < give_up:
        time.sleep(0.02)
    assert not inner.alive
