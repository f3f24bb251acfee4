"""What commands and servers load for telemetry."""

from __future__ import annotations

import subprocess
import sys

LISTENERS = "'prometheus_client' in sys.modules, 'opentelemetry.exporter' in sys.modules"


def loaded_by(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_commands_and_the_library_load_no_listener() -> None:
    modules = "sandtable, sandtable.assemble, sandtable.assemble.conversation, sandtable.cli, sys"
    assert loaded_by(f"import {modules}; print({LISTENERS})") == "False False"


def test_a_service_that_traces_nothing_loads_no_exporter() -> None:
    assert loaded_by(f"import sandtable.server.execd.listen, sys; print({LISTENERS})").endswith("False")


def test_a_planner_process_and_the_tiers_load_no_listener() -> None:
    tiers = ", ".join(f"sandtable.sandbox.{tier}.executor" for tier in ("docker", "kubernetes", "remote"))
    loads = f"import sandtable.agent.planning.worker, {tiers}, sys"
    assert loaded_by(f"{loads}; print({LISTENERS}, 'opentelemetry' in sys.modules)").startswith("False False")


def test_a_server_that_traces_nothing_loads_no_exporter() -> None:
    assert loaded_by(f"import sandtable.server.listen, sys; print({LISTENERS})") == "True False"
