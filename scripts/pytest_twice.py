"""pytest; in CI the few tests that failed are run once more, after the others have ended.

A machine whose CPUs are taken away for half a minute fails tests that wait for a browser or a container.
What fails twice fails; what passes the second time is named. Arguments go to pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SOME_FAILED = 1
_FEW = 20
"""More than these are no accident."""


def main(arguments: Sequence[str]) -> int:
    if "CI" not in os.environ:
        return _pytest(arguments)
    # What failed is remembered there: suites that run side by side do not share it.
    with tempfile.TemporaryDirectory(prefix="sandtable-pytest-") as cache:
        return _twice([*arguments, "-o", f"cache_dir={cache}"], Path(cache) / "v/cache/lastfailed")


def _twice(arguments: Sequence[str], file: Path) -> int:
    code = _pytest(arguments)
    failed = _failed(file)
    if code != _SOME_FAILED or not 0 < len(failed) <= _FEW:
        return code
    print(f"\n{len(failed)} failed. Once more, each by itself:", *failed, sep="\n  ", flush=True)
    alone = [
        word for word in arguments if not word.startswith(("--numprocesses", "--maxprocesses", "--dist"))
    ]
    code = _pytest([*alone, "--last-failed", "--last-failed-no-failures=none"])
    passed = sorted(set(failed) - set(_failed(file)))
    print("\npassed only the second time:", *passed or ["none"], sep="\n  ", flush=True)
    return code


def _pytest(arguments: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def _failed(file: Path) -> list[str]:
    return sorted(json.loads(file.read_text())) if file.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
