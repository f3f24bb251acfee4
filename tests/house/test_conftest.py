"""The ground itself: missing things are named, required things fail, the network is closed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sandtable.settings import Settings
from tests import needs
from tests.conftest import LiveNetwork

ROOT = Path(__file__).resolve().parents[2]
PROBE_TEST = """
import pytest

@pytest.mark.needs("unicorn")
@pytest.mark.parametrize("n", [1, 2])
def test_needs_a_unicorn(n): ...

def test_needs_nothing(): ...
"""


def _run_pytest(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Pytest in a process of its own, over a test that needs something no machine has."""
    (folder / "test_probe.py").write_text(PROBE_TEST, encoding="utf-8")
    (folder / "conftest.py").write_text(
        "from tests import needs\nneeds.PROBES['unicorn'] = lambda: 'none seen'\n"
        "from tests.conftest import *\n",
        encoding="utf-8",
    )
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            str(ROOT / "pyproject.toml"),
            ".",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_what_is_missing_is_named_in_one_closing_line(tmp_path: Path) -> None:
    done = _run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not run here: unicorn (none seen): 2 tests" in done.stdout


def test_what_is_required_and_missing_fails(tmp_path: Path) -> None:
    done = _run_pytest(tmp_path, SANDTABLE_REQUIRE="unicorn")
    assert done.returncode == 1
    assert "SANDTABLE_REQUIRE names unicorn, but: none seen" in done.stdout
    assert "1 passed" in done.stdout


def test_a_misspelt_need_is_an_error() -> None:
    with pytest.raises(LookupError, match="dokcer"):
        needs.required("dokcer, root")


@pytest.mark.parametrize("name", needs.PROBES)
def test_every_probe_answers(name: str) -> None:
    assert needs.missing(name) is None or needs.missing(name)


def test_home_is_not_the_persons(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert Settings().home.is_relative_to(tmp_path_factory.getbasetemp())


@pytest.mark.parametrize(
    "address", [("192.0.2.1", 80), ("example.invalid", 80), ("2001:db8::1", 80)], ids=str
)
def test_another_machine_cannot_be_reached(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as reaching, pytest.raises(LiveNetwork, match="tried to reach"):
        reaching.connect(address)


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()[:2]):
        pass
