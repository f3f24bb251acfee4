"""Runs inside llm-sandbox's own environment: one order a line in, what it took a line out.

An order is a query (a string), or Python code as in `python_worker.py`. Started as a file by that environment's
Python, so it imports nothing of ours. It gets what is fastest for it: an image with every library, no network to set
up, the data mounted. An answer's time ends when its output is here; a container is closed after that.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from llm_sandbox import InteractiveSandboxSession, SandboxSession

_DATA = "/data.parquet"
_QUERY = """import duckdb
connection = duckdb.connect(config={{"threads": 1}})
connection.execute("CREATE VIEW orders AS SELECT * FROM read_parquet('{path}')")
rows = connection.execute({query!r}).fetchall()
print(rows)
"""
_READ = f"import pandas as pd\ndf = pd.read_parquet({_DATA!r})\n"


class Worker:
    def __init__(self, way: str, path: str, image: str) -> None:
        self._way = way
        self._path = path
        self._image = image
        self._kept: Any = None

    def serve(self, order: Any) -> dict[str, Any]:
        if isinstance(order, str):
            return {"ms": self._run(_QUERY.format(path=_DATA, query=order))}
        if order["do"] == "kernel":
            return self._kernel(order["code"], order["starts"], order["cells"])
        # A program shows nothing by itself; an interactive session displays what its last line is.
        code = order["code"] if self._way == "interactive" else f"print({order['code']})"
        return {"ms": self._run(_READ + code)}

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()

    def _open(self) -> Any:
        kind = InteractiveSandboxSession if self._way == "interactive" else SandboxSession
        mounted = {self._path: {"bind": _DATA, "mode": "ro"}}
        session = kind(
            lang="python",
            image=self._image,
            keep_template=True,
            skip_environment_setup=True,
            runtime_configs={"network_mode": "none", "volumes": mounted},
        )
        session.open()
        return session

    def _run(self, code: str) -> float:
        if self._way == "fresh":
            started = time.perf_counter()
            session = self._open()
            try:
                _execute(session, code)
                return (time.perf_counter() - started) * 1e3
            finally:
                session.close()
        if self._kept is None:
            self._kept = self._open()
        return _timed(lambda: _execute(self._kept, code))

    def _kernel(self, cell: str, starts: int, cells: int) -> dict[str, Any]:
        took: list[float] = []
        for _ in range(starts):
            self.close()
            started = time.perf_counter()
            self._kept = self._open()
            took.append((time.perf_counter() - started) * 1e3)
        for _ in range(2):
            _execute(self._kept, cell)
        round_trips = [_timed(lambda: _execute(self._kept, cell)) for _ in range(cells)]
        # As large as the others are when they are idle: with pandas in memory.
        shown = _execute(self._kept, "import os, pandas as pd, numpy as np\nprint(os.getpid())")
        rollups = self._kept.execute_command(f"cat /proc/1/smaps_rollup /proc/{int(shown)}/smaps_rollup")
        return {
            "start_ms": statistics.median(took),
            "cell_ms": statistics.median(round_trips),
            "rollup": rollups.stdout,
        }


def _execute(session: Any, code: str) -> str:
    done = session.run(code)
    if done.exit_code:
        raise RuntimeError((done.stderr or done.stdout)[-500:])
    return done.stdout


def _timed(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1e3


def main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr
    _, way, path, image = sys.argv
    worker = Worker(way.split()[-1], path, image)
    try:
        for line in sys.stdin:
            try:
                answer = worker.serve(json.loads(line))
            except Exception as error:  # noqa: BLE001 whatever a peer raises is an answer too
                answer = {"error": f"{type(error).__name__}: {error}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    finally:
        worker.close()


if __name__ == "__main__":
    main()
