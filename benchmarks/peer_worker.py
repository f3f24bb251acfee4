"""Runs inside a peer's own environment: one query a line in, its milliseconds a line out.

Started as a file by that environment's Python, so it imports nothing of ours.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

_CODE = """import duckdb
connection = duckdb.connect(config={{"threads": 1}})
connection.execute("CREATE VIEW orders AS SELECT * FROM read_parquet('{path}')")
rows = connection.execute({query!r}).fetchall()
print(rows)
"""


def _sandlock(path: str) -> Callable[[str], None]:
    from sandlock import Sandbox

    folders = ["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev", sys.prefix, sys.base_prefix]
    readable = [folder for folder in (*folders, str(Path(path).parent)) if Path(folder).exists()]

    def run(query: str) -> None:
        sandbox = Sandbox(fs_readable=readable, max_memory="1G")
        result = sandbox.run([sys.executable, "-I", "-c", _CODE.format(path=path, query=query)], timeout=60)
        if not result.success:
            raise RuntimeError(str(getattr(result, "stderr", result))[-500:])

    return run


def _smolagents(path: str) -> Callable[[str], None]:
    from smolagents.local_python_executor import LocalPythonExecutor

    executor = LocalPythonExecutor(additional_authorized_imports=["duckdb"])
    executor.send_tools({})
    return lambda query: executor(_CODE.format(path=path, query=query)) and None


_PEERS = {"sandlock": _sandlock, "smolagents": _smolagents}


def main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr
    run = _PEERS[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        started = time.perf_counter()
        try:
            run(json.loads(line))
            answer = {"ms": (time.perf_counter() - started) * 1e3}
        except Exception as error:  # noqa: BLE001 whatever a peer raises is an answer too
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
