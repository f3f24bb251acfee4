"""`sandtable kernel` as a person starts it, with Jupyter's own client, and everything that can end it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandtable.cli import main
from sandtable.sandbox.local import kernels
from tests.sandbox.jupyter.client import connected
from tests.sandbox.local.processes import family, gone

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("kernels")
    (home / "prices.csv").write_text("item,price\napple,3\npear,4\n")
    return {**os.environ, "SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src")}


@contextmanager
def _started(environment: dict[str, str], *more: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    data = Path(environment["SANDTABLE_HOME"]) / "prices.csv"
    process = subprocess.Popen(
        [*PROGRAM, "kernel", "--data", str(data), *more],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield process, Path(line.strip() if "--json" not in more else json.loads(line)["connection_file"])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.needs("userns")
async def test_a_client_works_with_it_and_shuts_it_down(environment: dict[str, str], tmp_path: Path) -> None:
    wanted = tmp_path / "mine.json"
    with _started(environment, "--connection-file", str(wanted), "--json") as (process, file):
        assert file == wanted
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        folder = Path(json.loads(file.read_text())["ip"]).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        async with connected(file) as client:
            assert (
                await client.value("int(df['price'].sum()), len(prices), len(sql('from prices'))")
                == "(7, 2, 2)"
            )
            assert (await client.run("open('/etc/passwd')")).error.startswith("FileNotFoundError")
            everyone = family(process.pid)
            await client.shut_down()
        assert await asyncio.to_thread(process.wait, 20) == 0
        assert not await gone(everyone)
        assert not file.exists()
        assert not folder.parent.exists()


@pytest.mark.needs("userns")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)],
    ids=["Ctrl-C", "SIGTERM", "SIGKILL"],
)
async def test_nothing_is_left_however_it_ends(environment: dict[str, str], number: int, code: int) -> None:
    with _started(environment) as (process, file):
        everyone = family(process.pid)
        assert len(everyone) > 3
        process.send_signal(number)
        assert await asyncio.to_thread(process.wait, 20) == code
        assert not await gone(everyone, within_s=5)
        assert not file.parent.parent.exists()


@pytest.mark.needs("userns")
async def test_what_runs_is_interrupted_from_where_it_was_started(environment: dict[str, str]) -> None:
    with _started(environment) as (process, file):
        assert process.stderr is not None
        told = process.stderr.readline() + process.stderr.readline()
        assert f"jupyter console --existing {file}" in told and "Ctrl-\\ here interrupts" in told
        async with connected(file) as client:
            await client.run("kept = 7")
            endless = asyncio.create_task(client.run("print('begun', flush=True)\nwhile True: pass"))
            async with asyncio.timeout(60):
                while not endless.done():
                    process.send_signal(signal.SIGQUIT)
                    await asyncio.sleep(0.2)
            assert endless.result().error.startswith("KeyboardInterrupt")
            assert await client.value("kept") == "7"
            await client.shut_down()
        assert await asyncio.to_thread(process.wait, 20) == 0


@pytest.mark.needs("userns")
async def test_a_kernel_that_dies_is_told_of(environment: dict[str, str]) -> None:
    with _started(environment) as (process, file):
        async with connected(file) as client:
            client.jupyter.execute("import ctypes; ctypes.string_at(0)")
            assert await asyncio.to_thread(process.wait, 20) == 1
        assert process.stderr is not None
        assert "crashed (SIGSEGV)" in process.stderr.read()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    with pytest.raises(kernels.SandboxUnavailable) as refused:
        kernels.require_jupyter()
    assert "sandtable[jupyter]" in refused.value.suggestion


def test_it_needs_data() -> None:
    done = CliRunner().invoke(main, ["kernel"])
    assert done.exit_code == 2
    assert "--data" in done.output
