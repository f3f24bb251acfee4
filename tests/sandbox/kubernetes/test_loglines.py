"""Only the runner's own lines count, however a log is cut and whatever else is in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.sandbox.kubernetes.loglines import LogLines
from tests.sandbox.kubernetes.objects import NONCE

_READY = {"kind": "ready", "engine": "duckdb 2.0.0", "layers": ["seccomp"], "reasons": []}
_REPORT = {"kind": "report", "nonce": NONCE, "answer": {"rows": [["é", "\u2028"]]}, "output": ""}


def _line(told: object) -> bytes:
    return json.dumps(told).encode() + b"\n"


def _read(*chunks: bytes, most: int = 10_000, nonce: str = NONCE) -> LogLines:
    lines = LogLines(nonce, most)
    for chunk in chunks:
        lines.feed(chunk)
    lines.finish()
    return lines


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_it_does_not_matter_where_a_log_is_cut(cuts: list[int]) -> None:
    whole = b"warning: a word before\n" + _line(_READY) + b"\n\n" + _line(_REPORT)
    chunks, at = [], 0
    for cut in cuts:
        chunks.append(whole[at : at + cut])
        at += cut
    lines = _read(*chunks, whole[at:])
    assert lines.ready is not None
    assert lines.report is not None
    assert (lines.ready.engine, lines.report.answer) == ("duckdb 2.0.0", _REPORT["answer"])
    assert lines.tail == "warning: a word before"


_OTHERS = {
    "another nonce": _line({**_REPORT, "nonce": "x" * 32}),
    "no nonce": _line({**_REPORT, "nonce": None}),
    "another kind": _line({**_REPORT, "kind": "rapport"}),
    "a field more": _line({**_REPORT, "trust": "me"}),
    "a field less": _line({"kind": "report", "nonce": NONCE}),
    "within a line": b"x" + _line(_REPORT),
    "cut short": _line(_REPORT)[:-20],
    "a list": _line([_REPORT]),
    "a number": b"7\n",
    "ready for nothing": _line({"kind": "ready"}),
    "deep": b'{"a":' * 5000 + b"\n",
    "not UTF-8": b'{"kind": "\xff\xfe"}\n',
}


@pytest.mark.parametrize("content", _OTHERS.values(), ids=list(_OTHERS))
def test_nothing_else_is_a_report(content: bytes) -> None:
    lines = _read(content, most=100_000)
    assert (lines.report, lines.ready, lines.unavailable) == (None, None, None)
    assert lines.tail


def test_the_first_report_stands() -> None:
    second = {**_REPORT, "answer": {"rows": [["later"]]}}
    report = _read(_line(_REPORT), _line(second)).report
    assert report is not None
    assert report.answer == _REPORT["answer"]


def test_a_line_that_is_too_long_is_not_kept() -> None:
    lines = _read(b"x" * 6000, b"y" * 6000 + b"\n", _line(_REPORT), most=10_000)
    assert lines.overlong
    assert lines.report is not None


def test_why_a_runner_cannot_work() -> None:
    told = {"kind": "unavailable", "message": "there is no folder /data", "reasons": []}
    found = _read(_line(told)).unavailable
    assert found is not None
    assert found.message == "there is no folder /data"


def test_a_log_is_read_again_from_its_beginning() -> None:
    lines = LogLines(NONCE, 10_000)
    lines.feed(b"half a li" + _line(_REPORT)[:10])
    lines.restart()
    lines.feed(_line(_REPORT))
    assert lines.report is not None
    assert lines.tail == ""


def test_the_tail_is_short() -> None:
    lines = _read(*(b"line %d %s\n" % (number, b"x" * 500) for number in range(100)), most=10_000)
    assert len(lines.tail) <= 2000
    assert "line 99" in lines.tail
