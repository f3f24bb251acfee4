"""What commands load: each module costs milliseconds of every start, and some libraries hundreds of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_START = "import sys; from sandtable.cli import main; sys.argv[0] = 'sandtable'; main()"
_CHAT = {"langgraph", "langchain_core", "langsmith", "requests"}
_SERVER = {"fastapi", "starlette", "uvicorn", "websockets"}
_COMPUTING = {"duckdb", "numpy", "onnxruntime", "pandas"}
_QUESTIONS = {"sandtable.planner.planner", "sandtable.agent", "sandtable.chart"}
_HTTP = {"httpx", "httpx2", "httpcore", "httpcore2", "h11", "http.client"}
_MODELS = {
    "sandtable.agent.analysis_steps",
    "sandtable.agent.grounding",
    "sandtable.agent.nodes.look",
}
"""For chat models alone."""


def loaded_by(home: Path, *arguments: str) -> set[str]:
    """Also packages of what was loaded."""
    environment = {"PATH": "/usr/bin:/bin", "SANDTABLE_HOME": str(home / "home"), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", _START, *arguments],
        capture_output=True, text=True, env=environment, cwd=home, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    names = [line.rpartition("|")[2].strip() for line in lines]
    return {
        ".".join(parts[:n]) for parts in (name.split(".") for name in names) for n in range(1, len(parts) + 1)
    }


def test_a_list_of_runs_loads_what_reads_the_store(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "runs")
    assert "sandtable.store.sqlite.run_store" in loaded
    unwanted = {"sandtable.assemble", "sandtable.sandbox.local", "sandtable.planner", "sandtable.policy.walk"}
    assert sorted(loaded & (unwanted | _CHAT | _SERVER | _COMPUTING | _QUESTIONS | _HTTP | {"sqlglot"})) == []


@pytest.mark.needs("userns")
def test_a_question_loads_no_library_for_conversations(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nBerlin,1\nParis,2\nBerlin,3\n")
    loaded = loaded_by(tmp_path, "ask", "total amount by city", "--data", "sales.csv")
    assert {"sandtable.planner.planner", "sandtable.agent.one_turn"} <= loaded
    # NumPy and ONNX Runtime are of the learned reader.
    assert sorted(loaded & (_CHAT | _SERVER | _HTTP | _MODELS | {"duckdb", "pandas"})) == []


@pytest.mark.needs("userns")
def test_a_run_loads_no_planner(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nBerlin,1\nParis,2\n")
    loaded = loaded_by(tmp_path, "run", "--sql", "SELECT count(*) FROM sales", "--data", "sales.csv")
    assert "sandtable.assemble" in loaded
    assert sorted(loaded & (_CHAT | _SERVER | _HTTP | _COMPUTING | {"sandtable.agent.one_turn"})) == []


def test_the_reader_loads_without_the_planner(tmp_path: Path) -> None:
    """So that a command can load it beside its modules."""
    code = (
        "import sys; from sandtable.planner.candidates.network import loading; "
        "print([m for m in sys.modules if m.startswith('sandtable.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    packages = ["sandtable.planner", "sandtable.planner.candidates", "sandtable.planner.candidates.network"]
    assert done.stdout.strip() == str([*packages, "sandtable.planner.candidates.network.loading"])
