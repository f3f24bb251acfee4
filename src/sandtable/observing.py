"""How long things take, how often they happen, and which of them belong to one question: the seam for telemetry.

Packages report here; `assemble` chooses who listens. Invariant: reporting is synchronous, never waits, and raises
nothing. What is reported are ids, codes, counts and times: never a question, a value, SQL or a secret.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

Timed = Literal[
    "run_stage", "run", "turn", "turn_wait", "first_event", "step", "model", "store", "import", "event_loop_lag"
]  # fmt: skip
Counted = Literal["run", "refusal", "cache", "answer", "turn", "tokens", "sandbox", "import"]
Stage = Literal[
    "queue", "resolve", "compile", "look_back", "parse", "judge", "recall", "sandbox", "chart", "capsule", "store"
]  # fmt: skip
"""A part of a run. `parse` is within `judge`, and `store` comes after `capsule`."""
Attribute = str | int | float | bool


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


def trace_of(link: str) -> dict[str, str]:
    """What log lines say of the trace that they belong to; nothing where there is none."""
    parts = link.split("-")
    return {"trace_id": parts[1]} if len(parts) == 4 else {}


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
