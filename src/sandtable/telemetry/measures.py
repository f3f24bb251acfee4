"""Every metric of a server, as plain data: name, kind, labels and meaning. `make docs` lists them in
`docs/operations.md`.

Invariant: the values of a label are few and known beforehand, or bounded by the server's configuration; none holds a
text of a user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sandtable.observing import Counted, Timed

SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""From a half of a millisecond, for what is usually fast."""
LONG = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""For what waits for a model, a queue or a large file."""


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


TIMED: dict[Timed, Measure] = {
    "run_stage": Measure(
        "sandtable_run_stage_seconds", "histogram",
        "Time of one stage of a run. `parse` is within `judge`; `sandbox` is the execution.",
        ("stage",), SHORT,
    ),
    "run": Measure(
        "sandtable_run_seconds", "histogram",
        "Time from the acceptance of a run until its capsule is stored.", ("status",), SHORT,
    ),
    "turn": Measure(
        "sandtable_turn_seconds", "histogram", "Time of one turn of a conversation, until its last event.",
        ("end",), LONG,
    ),
    "turn_wait": Measure(
        "sandtable_turn_wait_seconds", "histogram",
        "Time that a turn waited for the turns before it and for a free slot.", (), SHORT,
    ),
    "first_event": Measure(
        "sandtable_turn_first_event_seconds", "histogram",
        "Time from the acceptance of a turn until its first event about the answer.", (), SHORT,
    ),
    "step": Measure(
        "sandtable_turn_step_seconds", "histogram",
        "Time of one step of a conversation, such as `propose` (planning) or `answer` (wording).", ("step",), LONG,
    ),
    "model": Measure(
        "sandtable_model_seconds", "histogram",
        "Time of one task of the chat model, its retries included.", ("task", "outcome"), LONG,
    ),
    "store": Measure(
        "sandtable_store_seconds", "histogram", "Time of one call of the run store.", ("operation",), SHORT,
    ),
    "import": Measure(
        "sandtable_import_seconds", "histogram",
        "Time of one attempt to import files, by what became of it.", ("state",), LONG,
    ),
    "event_loop_lag": Measure(
        "sandtable_event_loop_lag_seconds", "histogram",
        "How late the event loop woke up a timer; looked at twice a second.", (), SHORT,
    ),
}  # fmt: skip
COUNTED: dict[Counted, Measure] = {
    "run": Measure(
        "sandtable_runs_ended_total", "counter",
        "Runs that ended on this server. `code` is the code of the error, or empty.", ("status", "code"),
    ),
    "refusal": Measure(
        "sandtable_refusals_total", "counter", "Queries that the gate refused, by code and kind of rule.",
        ("code", "rule"),
    ),
    "cache": Measure(
        "sandtable_cache_lookups_total", "counter",
        "Look-ups of an earlier result: `hit`, `miss`, or `off` where the query cannot be answered by one.",
        ("outcome",),
    ),
    "answer": Measure(
        "sandtable_answers_total", "counter",
        "Questions by how they ended and by who proposed: `builtin`, `model`, or `none` where nothing was proposed.",
        ("ending", "proposer"),
    ),
    "turn": Measure("sandtable_turns_ended_total", "counter", "Turns that ended on this server.", ("end",)),
    "tokens": Measure(
        "sandtable_model_tokens_total", "counter", "Tokens that the chat model read and wrote.", ("direction",),
    ),
    "sandbox": Measure(
        "sandtable_sandboxes_taken_total", "counter",
        "Sandboxes of this machine taken for a job: `kept`, `held`, `presealed` and `standby` were ready, `fresh` was"
        " forked on demand.",
        ("kind", "origin"),
    ),
    "import": Measure(
        "sandtable_imports_ended_total", "counter", "Attempts to import files, by what became of them.", ("state",),
    ),
}  # fmt: skip
HTTP_SECONDS = Measure(
    "sandtable_http_request_seconds", "histogram",
    "Time until a response began, by the template of its route.", ("method", "route"), SHORT,
)  # fmt: skip
HTTP_REQUESTS = Measure(
    "sandtable_http_requests_total", "counter",
    "Requests by method, template of the route, and status.", ("method", "route", "status"),
)  # fmt: skip
HTTP_OPEN = Measure(
    "sandtable_http_requests_open", "gauge", "Requests and WebSockets that are being answered."
)
LOOKED_UP = (
    Measure("sandtable_build_info", "gauge", "The version that is running.", ("version",)),
    Measure("sandtable_runs", "gauge", "Runs in the store, by status.", ("status",)),
    Measure("sandtable_queue_limit", "gauge", "Runs that may wait."),
    Measure("sandtable_runs_executing", "gauge", "Runs that this server is working on."),
    Measure(
        "sandtable_runs_concurrency", "gauge", "Runs that this server works on at the same time at most."
    ),
    Measure("sandtable_turns_under_way", "gauge", "Turns that this server is working on."),
    Measure("sandtable_turns_waiting", "gauge", "Turns that wait on this server."),
    Measure(
        "sandtable_sandboxes_ready", "gauge", "Sandboxes that wait for a job.", ("pool", "kind", "shelf")
    ),
    Measure("sandtable_sessions_live", "gauge", "Python sessions that are alive."),
    Measure("sandtable_imports_under_way", "gauge", "Imports that this server is working on."),
)
"""Set when the metrics are read."""
EVERY = (*LOOKED_UP, *TIMED.values(), *COUNTED.values(), HTTP_OPEN, HTTP_SECONDS, HTTP_REQUESTS)

BEGIN, END = "<!-- metrics: written by make docs -->", "<!-- end of metrics -->"


def table() -> str:
    """For `docs/operations.md`."""
    rows = [
        f"| `{each.name}` | {each.kind} | {', '.join(f'`{label}`' for label in each.labels)} | {each.about} |"
        for each in EVERY
    ]
    return "\n".join((BEGIN, "| name | kind | labels | meaning |", "|---|---|---|---|", *rows, END))
