"""How long commands take from their start to their end: `python -m benchmarks.startup [--rounds N] [--before PROGRAM]`.

Each command runs in its own process, with everything converted and compiled before. *now* starts by itself, *waiting*
is carried out by a process that waits for it (docs/start-up.md); what that one uses of the processor is not counted.
`--before` names the `sandtable` of another installation. All take turns, so that a busy machine slows each, and the
ratio of the medians of *now* and *before* is printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

COMMANDS = {
    "--help": ["--help"],
    "runs": ["runs"],
    "ask": ["ask", "total amount by city", "--data", "small.csv"],
    "run --sql": ["run", "--sql", "SELECT count(*) FROM small", "--data", "small.csv"],
    "run --python": ["run", "--python", "print(1)", "--data", "small.csv"],
}
LOADING_S = 15
"""In which a process that waits has loaded what it needs."""
ROWS = "day,city,amount\n" + "".join(f"2025-01-{n % 28 + 1:02},{'ABC'[n % 3]},{n}\n" for n in range(200))


@dataclass
class Measured:
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def run_once(
    program: str, arguments: list[str], folder: Path, home: Path, *, waits: bool
) -> tuple[float, float]:
    """Seconds by the clock, and of the processor in the command and in the processes that it waited for."""
    environment = {
        **os.environ,
        "SANDTABLE_HOME": str(home),
        "SANDTABLE_PREFORK_S": str(60 * waits),
        "LC_BENCHMARK": str(folder),  # So that no process of others waits for these commands.
    }
    environment.pop("CI", None)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, start = os.times(), time.perf_counter()
    subprocess.run([program, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--before", metavar="PROGRAM", help="the `sandtable` of another installation")
    chosen = parser.parse_args()
    here = str(Path(sys.executable).with_name("sandtable"))
    programs = {"now": here, "waiting": here}
    if chosen.before:
        programs["before"] = chosen.before
    measured = {(name, command): Measured() for name in programs for command in COMMANDS}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "small.csv").write_text(ROWS)
        run_once(here, COMMANDS["runs"], folder, folder / "waiting", waits=True)
        time.sleep(LOADING_S)
        for number in range(chosen.rounds + 1):
            for command, arguments in COMMANDS.items():
                for name, program in programs.items():
                    wall, cpu = run_once(program, arguments, folder, folder / name, waits=name == "waiting")
                    if number:
                        measured[name, command].wall.append(wall)
                        measured[name, command].cpu.append(cpu)
    print(
        f"{'command':<14}" + "".join(f"{name + ' wall':>14}{name + ' CPU':>14}" for name in programs), end=""
    )
    print(f"{'wall ratio':>14}{'CPU ratio':>14}" if chosen.before else "")
    for command in COMMANDS:
        medians = {
            n: (statistics.median(measured[n, command].wall), statistics.median(measured[n, command].cpu))
            for n in programs
        }
        print(
            f"{command:<14}" + "".join(f"{wall:>12.2f} s{cpu:>12.2f} s" for wall, cpu in medians.values()),
            end="",
        )
        if chosen.before:
            (wall, cpu), (wall_before, cpu_before) = medians["now"], medians["before"]
            print(f"{wall / wall_before:>14.2f}{cpu / cpu_before:>14.2f}", end="")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
