"""The library for async programs: `from sandtable import aio`, then `await aio.run(…)`.

The functions are those of `sandtable`, with the same arguments, as coroutines. They may be called from
any loop, and from several at once.
"""

from __future__ import annotations

from sandtable.library import work
from sandtable.library.bridge import awaiting
from sandtable.library.faces import AsyncSession as Session
from sandtable.library.result import Answer, RunResult, Table

run = awaiting(work.run)
ask = awaiting(work.ask)

__all__ = ["Answer", "RunResult", "Session", "Table", "ask", "run"]
