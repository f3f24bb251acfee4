"""What a person sees of the log at a terminal, and what other programs get."""

from __future__ import annotations

import io
import json
import logging
import re
from typing import Any

import pytest
import structlog

from sandtable.server import logs
from tests.own_logs import own_logs


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(
    *lines: tuple[str, str, dict[str, Any]],
    out: io.StringIO | None = None,
    form: Any = "auto",
    least: str = "info",
) -> list[str]:
    out = Terminal() if out is None else out
    with own_logs():
        logs.configure(least, out, form)
        for level, event, fields in lines:
            getattr(structlog.get_logger("x"), level)(event, **fields)
    return out.getvalue().splitlines()


def plain(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def test_one_short_line_for_an_event() -> None:
    fields = {
        "run_id": "run_1",
        "status": "succeeded",
        "exec_time_ms": 12.345678,
        "judge_ms": 3.1,
        "code": None,
    }
    [line] = written(("info", "run_finished", fields))
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d run finished run_id=run_1 status=succeeded exec_time_ms=12.3457", plain(line)
    )


def test_colour_on_a_terminal_only() -> None:
    error = ("error", "queue_not_readable", {"reason": "disk full"})
    [on_terminal] = written(error)
    assert "\x1b[31mERROR\x1b[0m" in on_terminal
    [in_file] = written(error, out=io.StringIO(), form="text")
    assert "\x1b" not in in_file and 'ERROR queue not readable reason="disk full"' in in_file


def test_json_elsewhere_and_where_it_is_asked_for() -> None:
    event = ("info", "run_finished", {"run_id": "run_1"})
    for out, form in ((io.StringIO(), "auto"), (Terminal(), "json")):
        [line] = written(event, out=out, form=form)
        assert json.loads(line)["run_id"] == "run_1"


@pytest.mark.parametrize(
    ("status", "began_ms", "least", "seen"),
    [
        pytest.param(200, 12.0, "info", False, id="answered-soon"),
        pytest.param(304, 1.0, "info", False, id="not-modified"),
        pytest.param(200, 1500.0, "info", True, id="slow"),
        pytest.param(404, 2.0, "info", True, id="not-found"),
        pytest.param(500, 2.0, "info", True, id="broke"),
        pytest.param(200, 12.0, "debug", True, id="debugging"),
    ],
)
def test_requests_are_quiet_unless_slow_or_failing(
    status: int, began_ms: float, least: str, seen: bool
) -> None:
    fields = {"method": "GET", "path": "/runs", "status": status, "began_ms": began_ms, "duration_ms": 9000.0}
    lines = written(("info", "request", fields), least=least)
    assert len(lines) == seen
    if seen:
        assert plain(lines[0]).endswith(f"GET /runs {status} in 9000 ms")
    assert len(written(("info", "request", fields), out=io.StringIO())) == 1, "as JSON, all of them"


def test_ids_to_look_further_with_come_with_trouble() -> None:
    fields = {"request_id": "r-1", "trace_id": "abc", "path": "/x"}
    [quiet], [loud] = written(("info", "it_is", fields)), written(("warning", "it_is", fields))
    assert "r-1" not in quiet and "request_id=r-1" in loud and "trace_id=abc" in loud


def test_a_client_cannot_write_to_the_terminal() -> None:
    evil = "/x\x1b]0;owned\x07\n12:00:00 all is well\r\x9b31m\u202e"
    fields = {"method": "GET", "path": evil, "status": 404, "duration_ms": 1.0}
    for event in (("info", "request", fields), ("warning", f"a{evil}", {"reason": evil, "x": [evil]})):
        [line] = written(event, form="text", out=io.StringIO())
        assert all(one.isprintable() for one in line), line


def test_a_traceback_follows_its_line() -> None:
    out = io.StringIO()
    with own_logs():
        logs.configure("info", out, "text")
        try:
            raise ValueError("why\x1b[2J")
        except ValueError:
            logging.getLogger("other").exception("it broke")
    first, *rest = out.getvalue().splitlines()
    assert "ERROR it broke" in first
    assert rest[0] == "    Traceback (most recent call last):" and rest[-1] == "    ValueError: why\\x1b[2J"


def test_another_librarys_message_is_not_taken_for_a_request() -> None:
    out = io.StringIO()
    with own_logs():
        logs.configure("info", out, "text")
        logging.getLogger("other").warning("request")
    assert out.getvalue().endswith("WARNING request\n")
