"""Runs inside a Python peer's own environment: one order a line in, what it took a line out.

Started as a file by that environment's Python, so it imports nothing of ours.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

_READ = "import pandas as pd\ndf = pd.read_parquet({path!r})\n"
_Answer = dict[str, Any]


def _smolagents(path: str) -> Callable[[_Answer], _Answer]:
    from smolagents.local_python_executor import LocalPythonExecutor

    executor = LocalPythonExecutor(additional_authorized_imports=["pandas"])
    executor.send_tools({})

    def serve(order: _Answer) -> _Answer:
        return {"ms": _timed(lambda: executor(_READ.format(path=path) + order["code"]))}

    return serve


def _jupyter(path: str) -> Callable[[_Answer], _Answer]:
    from jupyter_client.manager import start_new_kernel

    opened: list[Any] = []

    def start() -> tuple[Any, Any]:
        kernel = start_new_kernel(kernel_name="python3")
        opened.append(kernel)
        return kernel

    def execute(client: Any, code: str) -> None:
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda message: None)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(str(reply["content"])[:500])

    _, kept = start()

    def serve(order: _Answer) -> _Answer:
        if order["do"] == "end":
            for manager, client in opened:
                client.stop_channels()
                manager.shutdown_kernel(now=True)
            return {}
        if order["do"] == "one-liner":
            code = _READ.format(path=path) + order["code"]
            return {"ms": _timed(lambda: execute(kept, code))}
        starts = [_timed(start) for _ in range(order["starts"])]
        manager, client = opened[-1]
        for _ in range(5):
            execute(client, order["code"])
        cells = [_timed(lambda: execute(client, order["code"])) for _ in range(order["cells"])]
        # As large as ours is when it is idle: with pandas in memory.
        execute(client, "import pandas as pd, numpy as np")
        return {
            "start_ms": statistics.median(starts),
            "cell_ms": statistics.median(cells),
            "pid": manager.provisioner.pid,
        }

    return serve


def _timed(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1e3


_PEERS = {"smolagents": _smolagents, "jupyter": _jupyter}


def main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr
    serve = _PEERS[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        try:
            answer = serve(json.loads(line))
        except Exception as error:  # noqa: BLE001 whatever a peer raises is an answer too
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    if sys.argv[1] == "jupyter":
        serve({"do": "end"})


if __name__ == "__main__":
    main()
