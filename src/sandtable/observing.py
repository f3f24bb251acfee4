"""How long things take, how often they happen, and which of them belong to one question: the seam for telemetry.

Packages report here; `assemble` chooses who listens. Invariant: reporting is synchronous, never waits, and raises
nothing. What is reported are ids, codes, counts and times: never a question, a value, SQL or a secret.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Literal, ParamSpec, Protocol, TypeVar

Timed = Literal[
    "run_stage", "run", "turn", "turn_wait", "first_event", "step", "model", "store", "import", "event_loop_lag"
]  # fmt: skip
Counted = Literal["run", "refusal", "cache", "answer", "turn", "tokens", "sandbox", "import"]
Stage = Literal[
    "queue", "resolve", "compile", "look_back", "parse", "judge", "recall", "sandbox", "chart", "capsule", "store"
]  # fmt: skip
"""A part of a run. `parse` is within `judge`, and `store` comes after `capsule`."""
PlanningPart = Literal["linking", "candidates", "network", "dialogue", "ranking", "conscience"]
"""A part of planning a question: words matched with the data; plans made by rules; plans written by the learned reader;
the plan before changed; one of the plans chosen; plans checked against every word."""
Attribute = str | int | float | bool
P = ParamSpec("P")
T = TypeVar("T")

_LINK = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?"
)
_LONGEST_LINK = 512


class Meter(Protocol):
    def timed(self, what: Timed, seconds: float, **labels: str) -> None:
        """Every `what` has the same labels each time, with few values each."""
        ...

    def counted(self, what: Counted, amount: float = 1, **labels: str) -> None: ...


class Span(Protocol):
    def set(self, **attributes: Attribute | None) -> None:
        """None is left out."""
        ...

    def fail(self, code: str) -> None: ...


class Tracer(Protocol):
    @property
    def link(self) -> str:
        """The span that is open here, as a `traceparent`, to continue in another task or process; empty without one."""
        ...

    def span(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        """A part of what is open here; nothing where nothing is open. An exception that leaves it marks it as failed,
        by its type alone."""
        ...

    def root(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        """A part of what is open here; the beginning of a trace where nothing is open."""
        ...

    def under(self, link: str) -> AbstractContextManager[None]:
        """What follows is a part of the span of this link, if there is one."""
        ...

    def passed(self, name: str, began: float, ended: float, **attributes: Attribute | None) -> None:
        """A span that has ended: seconds since 1970."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    trace: str
    span: str
    flags: int

    @classmethod
    def read(cls, text: str) -> Link | None:
        """None for what has not the form of a `traceparent` (W3C Trace Context)."""
        found = _LINK.fullmatch(text) if len(text) <= _LONGEST_LINK else None
        if found is None or (found[1] == "00" and found[5] is not None):
            return None
        return cls(found[2], found[3], int(found[4], 16))


def link_from(headers: Sequence[str]) -> str:
    """The `traceparent` that a request has; empty where it has none, several, or one that is malformed."""
    return headers[0] if len(headers) == 1 and Link.read(headers[0]) is not None else ""


def trace_of(link: str) -> dict[str, str]:
    """What log lines say of the trace that they belong to; nothing where there is none."""
    found = Link.read(link)
    return {} if found is None else {"trace_id": found.trace}


@dataclass(slots=True)
class Spent:
    """What a part took in all, and how often it began."""

    seconds: float = 0.0
    times: int = 0


class Stopwatch:
    """Times the parts (`timed_part`) of the synchronous work inside its `with`. A moment counts for the innermost part
    alone."""

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}
        """In the order in which the parts first began."""
        self._open: list[Spent] = []
        self._since = 0.0

    def __enter__(self) -> Stopwatch:
        self._token = _WATCH.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _WATCH.reset(self._token)

    @contextmanager
    def part(self, name: PlanningPart) -> Generator[None, None, None]:
        spent = self.spent.setdefault(name, Spent())
        spent.times += 1
        self._count()
        self._open.append(spent)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        if self._open:
            self._open[-1].seconds += now - self._since
        self._since = now


_WATCH: ContextVar[Stopwatch | None] = ContextVar("stopwatch", default=None)


def timed_part(name: PlanningPart) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function whose time counts for this part where a `Stopwatch` runs."""

    def around(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def timed(*args: P.args, **kwargs: P.kwargs) -> T:
            watch = _WATCH.get()
            if watch is None:
                return function(*args, **kwargs)
            with watch.part(name):
                return function(*args, **kwargs)

        return timed

    return around


def report_planning(tracer: Tracer, spent: Mapping[str, Spent], began: float, ended: float) -> None:
    report_parts(tracer, {f"plan.{name}": each for name, each in spent.items()}, began, ended)


def report_parts(tracer: Tracer, parts: Mapping[str, Spent], began: float, ended: float) -> None:
    """Spans of the parts, one after the other at the end of this time (seconds since 1970), never outside it."""
    left = ended - began
    placed: list[tuple[str, float, int]] = []
    for name, spent in reversed(list(parts.items())):
        taken = min(max(0.0, spent.seconds), left)
        placed.append((name, taken, spent.times))
        left -= taken
    at = began + left
    for name, taken, times in reversed(placed):
        tracer.passed(name, at, at + taken, times=times if times > 1 else None)
        at += taken


class _NoMeter:
    def timed(self, what: Timed, seconds: float, **labels: str) -> None:
        return

    def counted(self, what: Counted, amount: float = 1, **labels: str) -> None:
        return


class _NoSpan:
    """Also its own context manager: the cheapest one."""

    def set(self, **attributes: Attribute | None) -> None:
        return

    def fail(self, code: str) -> None:
        return

    def __enter__(self) -> Span:
        return self

    def __exit__(self, *error: object) -> None:
        return


class _NoContext:
    def __enter__(self) -> None:
        return

    def __exit__(self, *error: object) -> None:
        return


class _NoTracer:
    link = ""

    def span(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        return _NO_SPAN

    def root(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        return _NO_SPAN

    def under(self, link: str) -> AbstractContextManager[None]:
        return _NO_CONTEXT

    def passed(self, name: str, began: float, ended: float, **attributes: Attribute | None) -> None:
        return


_NO_METER, _NO_TRACER = _NoMeter(), _NoTracer()
_NO_SPAN = _NoSpan()
_NO_CONTEXT = _NoContext()


@dataclass(frozen=True, slots=True)
class Observer:
    meter: Meter = _NO_METER
    tracer: Tracer = _NO_TRACER

    @contextmanager
    def stage(self, stage: Stage) -> Generator[Span, None, None]:
        """One stage of a run, timed and traced."""
        began = time.perf_counter()
        try:
            with self.tracer.span(stage) as span:
                yield span
        finally:
            self.meter.timed("run_stage", time.perf_counter() - began, stage=stage)

    @contextmanager
    def storing(self, operation: str) -> Generator[None, None, None]:
        """One call of the run store."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.meter.timed("store", time.perf_counter() - began, operation=operation)


UNOBSERVED = Observer()
