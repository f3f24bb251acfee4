"""pytest; in CI the few tests that failed are run once more, after the others have ended.

A machine whose CPUs are taken away for half a minute fails tests that wait for a browser or a container.
What fails twice fails; what passes the second time is named. Arguments go to pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_FAILED = Path(".pytest_cache/v/cache/lastfailed")
_SOME_FAILED = 1
_FEW = 20
"""More than these are no accident."""


def main(arguments: Sequence[str]) -> int:
    code = _pytest(arguments)
    failed = _failed()
    if code != _SOME_FAILED or "CI" not in os.environ or not 0 < len(failed) <= _FEW:
        return code
    print(f"\n{len(failed)} failed. Once more, each by itself:", *failed, sep="\n  ", flush=True)
    alone = [
        word for word in arguments if not word.startswith(("--numprocesses", "--maxprocesses", "--dist"))
    ]
    code = _pytest([*alone, "--last-failed", "--last-failed-no-failures=none"])
    passed = sorted(set(failed) - set(_failed()))
    print("\npassed only the second time:", *passed or ["none"], sep="\n  ", flush=True)
    return code


def _pytest(arguments: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def _failed() -> list[str]:
    return sorted(json.loads(_FAILED.read_text())) if _FAILED.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
