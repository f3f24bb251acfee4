"""Code on the awards, in the real sandbox: what agents are promised."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import sandtable
import sbirtools
from sbirtools import DownloadError, RunResult, SandboxSession
from tests.library.pages import replay
from tests.sbirtools.awards import COLUMNS, awards, write_csv
from tests.sbirtools.web import Web


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One set of sandboxes for all these tests, and none for others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANDTABLE_HOME", str(tmp_path_factory.mktemp("sbirtools")))
        patch.setenv("SANDTABLE_STANDBY", "0")
        patch.setenv("SANDTABLE_PRESEALED", "0")
        yield
        sandtable.close()


@pytest.fixture
def here(cache: Path) -> Path:
    """The awards are on this machine."""
    return write_csv(cache, 200)


@pytest.mark.usefixtures("here")
class TestRun:
    def test_the_shape(self) -> None:
        result = sbirtools.run("print(award_data.shape)")
        assert isinstance(result, RunResult)
        assert (result.success, result.error_message) == (True, None)
        assert result.stdout == f"(200, {len(COLUMNS)})\n"

    def test_the_columns_are_those_of_the_file(self) -> None:
        assert sbirtools.run("print(award_data.columns.tolist())").stdout == f"{list(COLUMNS)}\n"

    def test_the_head(self) -> None:
        result = sbirtools.run("print(award_data.head())")
        assert result.success and "Company" in result.stdout

    def test_figures_agree_with_the_file(self) -> None:
        code = "print(round(award_data[award_data['Phase'] == 'Phase II']['Award Amount'].sum()))"
        expected = sum(float(a["Award Amount"]) for a in awards(200) if a["Phase"] == "Phase II")
        assert sbirtools.run(code).stdout == f"{round(expected)}\n"

    def test_sql_works_too(self) -> None:
        code = """print(sql('SELECT count(*) AS n FROM award_data WHERE "Program" = \\'STTR\\'').n[0])"""
        assert sbirtools.run(code).stdout == f"{sum(a['Program'] == 'STTR' for a in awards(200))}\n"

    @pytest.mark.parametrize(
        "code",
        [
            "import os",
            "from subprocess import run",
            "open('/etc/passwd')",
            "exec('1')",
            "eval('1')",
            "compile('1', '', 'exec')",
            "__import__('os').system('id')",
            "print.__self__.__dict__",
            "().__class__.__bases__",
            "globals()",
            "award_data.to_csv('/tmp/x.csv')",
            "pd.read_csv('/etc/passwd')",
        ],
    )
    def test_forbidden_code_is_a_result(self, code: str) -> None:
        result = sbirtools.run(code)
        assert (result.success, result.stdout) == (False, "")
        assert result.error_message

    def test_over_time(self) -> None:
        result = sbirtools.run("while True: pass", timeout=0.5)
        assert (result.success, result.code) == (False, "RUNNER_TIMEOUT")

    def test_too_much_code(self) -> None:
        result = sbirtools.run("x = 1\n" * 20_000)
        assert not result.success
        assert result.error_message

    def test_too_much_output_is_cut_with_a_note(self) -> None:
        result = sbirtools.run("for n in range(100_000): print('award', n)")
        assert result.success
        assert 1 << 20 <= len(result.stdout) < (1 << 20) + 100
        assert "truncated" in result.stdout[-200:]


@pytest.mark.usefixtures("here")
class TestSession:
    def test_data_and_variables_stay(self) -> None:
        with SandboxSession() as session:
            assert session.run("recent = award_data[award_data['Award Year'] >= 2018]").success
            wanted = sum(int(a["Award Year"]) >= 2018 for a in awards(200))
            assert session.run("print(len(recent))").stdout == f"{wanted}\n"
            assert session.run("print(len(award_data))").stdout == "200\n"

    def test_forbidden_code_is_refused_and_ends_nothing(self) -> None:
        with SandboxSession() as session:
            session.run("kept = 1")
            assert not session.run("import os").success
            assert session.run("print(kept)").stdout == "1\n"

    def test_over_time_the_next_run_works(self) -> None:
        with SandboxSession(timeout=0.5) as session:
            session.run("1", timeout=30)
            result = session.run("while True: pass")
            assert (result.success, result.code) == (False, "RUNNER_TIMEOUT")
            assert session.run("print(len(award_data))", timeout=30).stdout == "200\n"

    def test_closing_is_idempotent(self) -> None:
        session = SandboxSession()
        session.run("1")
        session.close()
        session.close()

    def test_threads_may_share_it(self) -> None:
        with SandboxSession() as session:
            session.run("total = 0")
            threads = [
                threading.Thread(target=session.run, args=("total = total + len(award_data)",))
                for _ in range(3)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert session.run("print(total)").stdout == "600\n"


def test_what_is_not_here_is_fetched(web: Web) -> None:
    assert sbirtools.run("print(len(award_data))").stdout == "400\n"
    assert len(web.asked) == 1


def test_what_cannot_be_fetched_raises(web: Web) -> None:
    web.statuses = [404, 404]
    with pytest.raises(DownloadError, match="404"):
        sbirtools.run("1")
    with pytest.raises(DownloadError, match="404"):
        SandboxSession()


@pytest.mark.usefixtures("here")
def test_every_example_of_the_page_prints_what_it_says() -> None:
    seen = 0
    for code, printed, said in replay("sbirtools.md"):
        assert printed == said, code
        seen += 1
    assert seen == 4


def test_the_docstring_tells_an_agent_what_it_needs() -> None:
    told = inspect.getdoc(sbirtools.run) or ""
    for word in ("award_data", "stdout", "Award Amount", "Agency", "success", "timeout", "pd, np", "network"):
        assert word in told
