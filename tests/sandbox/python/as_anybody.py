"""Code that tries to get out, run by whoever runs this module. Prints what came of it as JSON.

python -m tests.sandbox.python.as_anybody '{"isolation": "auto", "folder": "/somewhere"}'
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.stores import make_store, sql_job

CANARY = "the canary sings at midnight"
ATTEMPTS = {
    "analysis": "df.groupby('region')['amount'].sum()",
    "polars": "pl.from_pandas(df).group_by('region').len().sort('region')",
    "fork": "import os\nos.fork()",
    "exec": "import os\nos.execv('/bin/sh', ['sh'])",
    "socket": "import socket\nsocket.socket(socket.AF_UNIX)",
    "read outside": "open('/etc/passwd').read()",
    "read the neighbour": "open('../' + 'b' * 64 + '/secrets.parquet', 'rb').read()",
    "write the data": "open('orders.parquet', 'ab').write(b'x')",
    "write outside": "open('/tmp/sandtable-was-here', 'w').write('x')",
    "engine reads a file": "con.execute(\"select * from read_text('/etc/passwd')\").fetchall()",
    "engine is set": "con.execute('set enable_external_access = true')",
    "crash": "import ctypes\nctypes.string_at(0)",
    "signal the parent": "import os\nos.kill(os.getppid() or 1, 9)\nos.kill(-1, 9)",
    "environment": "import os\nprint(dict(os.environ))",
}


async def _main(given: dict[str, Any]) -> dict[str, Any]:
    folder = Path(given["folder"])
    folder.mkdir()
    store = make_store(folder / "store", canary=CANARY)
    executor = LocalExecutor(store.root, isolation=given["isolation"], standby=1)
    outcomes: dict[str, Any] = {}
    try:
        for name, code in ATTEMPTS.items():
            job = sql_job(store, name, code, mode="python", options={"check": False, "seed": 1, "names": {}})
            await executor.submit(job)
            result = await executor.result(job.id)
            outcomes[name] = result.model_dump(mode="json")
        session = await executor.open_session(
            sql_job(store, "s", "", mode="session", options={"check": False, "names": {}})
        )
        await session.cell("x = 1")
        interrupted = await session.cell("while True: pass", timeout_ms=200)
        outcomes["session"] = [interrupted.model_dump(mode="json"), (await session.cell("x")).stdout]
        await session.aclose()
        layers = (await executor.start("py")).layers
    finally:
        await executor.aclose()
    data = (store.folder / "orders.parquet").read_bytes()
    return {"uid": os.getuid(), "layers": layers, "outcomes": outcomes, "whole": data.endswith(b"PAR1")}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(json.loads(sys.argv[1])))))
