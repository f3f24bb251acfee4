"""Live Python sandboxes, one for each session in use, and the cells that run in them.

Invariants: one cell at a time in a session (`turn`), and only that cell or an explicit end removes its sandbox
meanwhile. A sandbox serves the next cell only if it ran exactly the cells that the run store has, on the files that are
there now; otherwise a new one is made that runs them first. A session stores nothing on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace

import structlog

from sandtable.capsule.model import Earlier
from sandtable.errors import ErrorCode, RunnerBroken, SandboxUnavailable, SandtableError
from sandtable.runs.cells import Past, SessionKey
from sandtable.runs.code import seed_of
from sandtable.runs.watch import HUNG, KILL_S, bounded
from sandtable.sandbox.job import DataRef, Job, JobError, JobResult
from sandtable.sandbox.session import Session, SessionHost

log = structlog.get_logger(__name__)

REPLAY_S = 600.0
"""For all the cells that are run again together."""
STOP_S = 5.0
"""How long a stopped cell may take to react to an interrupt or to be killed."""
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Sitting:
    """A place in a session for one cell."""

    key: SessionKey
    past: Past
    opening: Job
    """Opens the session when it is not alive: mode `session`, with the installation's limits."""


@dataclass(frozen=True, slots=True)
class Ran:
    result: JobResult
    past: Past
    """The session's cells before this one."""
    rebuilt: bool
    """The session was not alive: its cells were just run again."""


@dataclass(slots=True, eq=False)
class _Live:
    key: SessionKey
    session: Session | None = None
    """None while it is being opened."""
    data: tuple[DataRef, ...] = ()
    """The files it was opened on: it does not see files that replaced them."""
    past: Past = field(default_factory=Past)
    timer: asyncio.TimerHandle | None = None

    @property
    def alive(self) -> bool:
        return self.session is not None and self.session.alive


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock
    wanted: int = 0


class Sessions:
    def __init__(
        self,
        host: SessionHost,
        *,
        idle_s: float = 1800.0,
        most: int = 16,
        grace_s: float = 10.0,
    ) -> None:
        """`grace_s`: how long after a cell's limit its sandbox counts as hung."""
        self._host = host
        self._idle_s = idle_s
        self.most = most
        self._grace_s = grace_s
        self._live: OrderedDict[SessionKey, _Live] = OrderedDict()
        """The least recently used first."""
        self._turns: dict[SessionKey, _Turn] = {}
        self._room = asyncio.Event()
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    @contextlib.asynccontextmanager
    async def turn(self, key: SessionKey) -> AsyncGenerator[None, None]:
        """Held while a run is a session's cell, until it is stored. First come, first served."""
        turn = self._turns.setdefault(key, _Turn(asyncio.Lock()))
        turn.wanted += 1
        try:
            async with turn.lock:
                self._wake(key)
                try:
                    yield
                finally:
                    self._rest(key)
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[key]
            self._room.set()

    @property
    def live(self) -> int:
        return len(self._live)

    def past(self, key: SessionKey) -> Past | None:
        """The cells that a session's live sandbox ran; None when there is none."""
        live = self._live.get(key)
        return live.past if live is not None and live.alive else None

    async def cell(self, sitting: Sitting, run_id: str, job: Job) -> Ran:
        """Run one cell, in its turn. Raises SandboxUnavailable, RunnerBroken.

        Cancelling it interrupts the cell. Its session stays alive if the cell stops when it is interrupted.
        """
        live = self._live.get(sitting.key)
        if live is not None and not (
            live.alive and live.past.last == sitting.past.last and live.data == sitting.opening.data
        ):
            await self._drop(live)
            live = None
        rebuilt = live is None
        if live is None:
            live = await self._rebuilt(sitting)
        past = live.past
        result = await self._run(live, run_id, job)
        if rebuilt and past.cells:
            result = result.model_copy(update={"output": {**result.output, "replayed": len(past.cells)}})
        return Ran(result, past, rebuilt)

    async def interrupt(self, session_id: str) -> None:
        """Stop the running cell, if any; the state is kept where possible."""
        for live in self._of(session_id):
            if live.session is not None:
                live.session.interrupt()

    async def end(self, session_id: str) -> None:
        """Discard a session's sandbox and state. A later cell rebuilds it."""
        for live in self._of(session_id):
            await self._drop(live)

    async def aclose(self) -> None:
        self._closed = True
        for live in list(self._live.values()):
            await self._drop(live)
        await asyncio.gather(*self._closing)

    def _of(self, session_id: str) -> list[_Live]:
        return [live for key, live in self._live.items() if key.session == session_id]

    # The sandbox of a session

    async def _rebuilt(self, sitting: Sitting) -> _Live:
        if self._closed:
            raise SandboxUnavailable("no cell is run: the server stops", suggestion="Try again soon.")
        live = await self._place_for(sitting.key)
        live.data = sitting.opening.data
        try:
            live.session = await self._host.open_session(sitting.opening)
            self._require(live)
            give_up = time.monotonic() + REPLAY_S
            cells = [
                await self._again(live, cell, number, give_up)
                for number, cell in enumerate(sitting.past.cells, 1)
                if not cell.interrupted
            ]
        except BaseException:
            await self._drop(live)
            raise
        live.past = replace(sitting.past, cells=tuple(cells))
        if cells:
            log.info("session_rebuilt", session=sitting.key.session, cells=len(cells))
        return live

    def _require(self, live: _Live) -> None:
        if self._live.get(live.key) is not live:
            raise SandboxUnavailable("the session was ended meanwhile", suggestion="Run it again.")

    async def _again(self, live: _Live, cell: Earlier, number: int, give_up: float) -> Earlier:
        """Its output is dropped: the original run has it on record."""
        assert live.session is not None
        seed = seed_of(cell.python, live.key.dataset_version)
        work = live.session.cell(cell.python, seed=seed, names=dict(live.key.names))
        result = await bounded(work, give_up - time.monotonic())
        if result is HUNG:
            raise _not_rebuilt(f"running its earlier cells again takes more than {REPLAY_S:g} s")
        if not live.alive:
            why = result.error.message if result.error else result.status
            raise _not_rebuilt(f"cell {number}, run again, ended it: {why}")
        return cell.model_copy(update={"interrupted": _was_stopped(result)})

    async def _place_for(self, key: SessionKey) -> _Live:
        """Waits while the maximum number of sessions are all in use."""
        while len(self._live) >= self.most:
            idle = self._dispensable()
            if idle is None:
                self._room.clear()
                await self._room.wait()
            else:
                log.info("session_ended", session=idle.key.session, reason="another session needed its place")
                await self._drop(idle)
        self._live[key] = _Live(key)
        return self._live[key]

    def _dispensable(self) -> _Live | None:
        """The least recently used idle session of the user with the most: a user who opens many loses their own."""
        idle = [live for live in self._live.values() if live.key not in self._turns]
        counts = Counter(key.user for key in self._live)
        return max(idle, key=lambda live: counts[live.key.user], default=None)

    async def _drop(self, live: _Live) -> None:
        if live.timer is not None:
            live.timer.cancel()
        if self._live.get(live.key) is live:
            del self._live[live.key]
            self._room.set()
        session = live.session
        if session is None:
            return
        try:
            if await bounded(session.aclose(), KILL_S) is HUNG:
                log.error("session_kill_hung", session=live.key.session)
        except SandtableError as error:
            log.warning("session_not_closed", session=live.key.session, reason=error.message)

    def _wake(self, key: SessionKey) -> None:
        live = self._live.get(key)
        if live is not None and live.timer is not None:
            live.timer.cancel()
            live.timer = None

    def _rest(self, key: SessionKey) -> None:
        live = self._live.get(key)
        if live is None:
            return
        if live.alive:
            self._live.move_to_end(key)
            live.timer = asyncio.get_running_loop().call_later(self._idle_s, self._expire, live)
        else:
            self._expire(live)

    def _expire(self, live: _Live) -> None:
        if live.alive:
            log.info("session_ended", session=live.key.session, reason="it was not used")
        task = asyncio.get_running_loop().create_task(self._drop(live))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    # One cell

    async def _run(self, live: _Live, run_id: str, job: Job) -> JobResult:
        assert live.session is not None
        names, seed = dict(live.key.names), int(job.options["seed"])
        work = asyncio.ensure_future(live.session.cell(job.text, seed=seed, limits=job.limits, names=names))
        limit = job.limits.wall_ms / 1000 + self._grace_s
        try:
            await asyncio.wait({work}, timeout=limit)
            if not work.done():
                return await self._given_up(live, work, job, limit)
            result = work.result()
        except asyncio.CancelledError:
            if await self._stopped(live, work):
                _note(live, run_id, Earlier(python=job.text, interrupted=True))
            raise
        if result.status != "cancelled":
            _note(live, run_id, Earlier(python=job.text, interrupted=_was_stopped(result)))
        return result

    async def _stopped(self, live: _Live, work: asyncio.Future[JobResult]) -> bool:
        """Whether the cell had begun. A cell that does not react to the interrupt is ended with its session."""
        assert live.session is not None
        give_up = time.monotonic() + STOP_S
        while not work.done() and time.monotonic() < give_up:
            live.session.interrupt()
            await asyncio.wait({work}, timeout=_POLL_S)
        if not work.done():
            await self._drop(live)
            work.cancel()
            return False
        failed = work.cancelled() or work.exception() is not None
        return not failed and work.result().status != "cancelled"

    async def _given_up(
        self, live: _Live, work: asyncio.Future[JobResult], job: Job, limit: float
    ) -> JobResult:
        work.cancel()
        await self._drop(live)
        error = JobError(
            code=ErrorCode.RUNNER_TIMEOUT,
            type="Watchdog",
            message=f"the session did not answer within {limit:g} s and was ended",
            suggestion="Run it again; `sandtable doctor` tells whether the sandbox is in order.",
        )
        return JobResult(job_id=job.id, status="failed", error=error)


def _note(live: _Live, run_id: str, cell: Earlier) -> None:
    """Record the cell in the session's past, if the session is alive."""
    if live.alive:
        live.past = replace(live.past, cells=(*live.past.cells, cell), last=run_id)


def _was_stopped(result: JobResult) -> bool:
    error = result.error
    return error is not None and error.code == ErrorCode.RUNNER_TIMEOUT and error.type == "Interrupted"


def _not_rebuilt(why: str) -> RunnerBroken:
    return RunnerBroken(
        f"the session had ended and could not be rebuilt: {why}",
        suggestion="Begin another conversation, and leave out what takes so much.",
    )
