"""Measure the built-in planner on the question sets of this repository: `make eval`.

Fails when a question fails that is not named in its set's `known_failures.txt`, and when a named one passes.
`--update` writes these lists again; `--json FILE` writes the totals. Shows totals and ids, never a question.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = {
    "questions": (ROOT / "evals" / "known_failures.txt", ("evals/questions.jsonl",)),
    "sealed": (
        ROOT / "evals" / "sealed" / "known_failures.txt",
        ("evals/sealed/questions.jsonl", "evals/sealed/dialogues.jsonl"),
    ),
}


def measure(name: str, home: Path, *, update: bool) -> tuple[int, Path]:
    """The exit code of `sandtable eval` for one set, and the file that its totals are in."""
    known, files = SETS[name]
    summary = home / f"{name}.json"
    command = [
        str(Path(sys.executable).with_name("sandtable")),
        "eval",
        *files,
        "--only-totals",
        "--known",
        str(known),
    ]
    command += ["--summary", str(summary), *(["--update-known"] if update else [])]
    # The planner alone, in a temporary home: neither a chat model nor earlier runs affect the figures.
    environment = {**os.environ, "SANDTABLE_HOME": str(home), "SANDTABLE_MODEL": "builtin"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode, summary


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the lists of known failures again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the totals of all sets to a file")
    parser.add_argument("--only", choices=list(SETS), help="one set alone")
    arguments = parser.parse_args()
    code, totals = 0, {}
    with tempfile.TemporaryDirectory(prefix="sandtable-eval-") as home:
        for name in [arguments.only] if arguments.only else list(SETS):
            began = time.monotonic()
            print(f"== {name}", flush=True)
            failed, summary = measure(name, Path(home), update=arguments.update)
            code = code or failed
            if summary.exists():
                totals[name] = json.loads(summary.read_text("utf-8"))
            print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(totals, indent=2) + "\n", "utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
