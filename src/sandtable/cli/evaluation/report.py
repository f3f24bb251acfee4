"""Prints an evaluation to a terminal: a line for each question, and the totals as tables."""

from __future__ import annotations

import time
from collections.abc import Mapping

import click
from rich import box
from rich.table import Table
from rich.text import Text

from sandtable.cli.evaluation.outcome import Judged
from sandtable.cli.evaluation.score import COSTS, Score, Totals
from sandtable.cli.show import clean, console

_MARKS = {True: "✓", False: "✗", None: "–"}
_LONGEST = 100
_EVERY = 100
_WIDEST = 120
_MOST_NAME = 40


class Progress:
    """A counter on stderr, for an evaluation that prints no lines."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._done = 0

    def take(self) -> None:
        self._done += 1
        if self._done % _EVERY == 0:
            click.echo(f"{self._done:,} judged after {time.monotonic() - self._began:.0f} s", err=True)


def show_line(one: Judged, proposer: str = "") -> None:
    shown = one.outcome if one.outcome not in (None, "right", "wrong") else one.status
    by = f"  {clean(proposer)}" if proposer else ""
    head = f"{_MARKS[one.correct]} {clean(str(one.item.id))}{by}  {shown}"
    if one.status == "failed":
        click.echo(f"{head}  {_short(one.turn.answer_text)}")
        return
    click.echo(f"{head}  {_short(one.item.question)}")
    if one.correct is False:
        said = one.turn.answer_text.strip().split("\n")[0]
        wanted = " or ".join(_short(str(answer)) for answer in one.item.expected.answers) or one.item.expect
        click.echo(f"    expected {wanted}; it said: {_short(said)}")


def _short(text: str) -> str:
    shown = clean(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def show_score(score: Score, *, groups: bool) -> None:
    """The totals; with `groups` also those of each expectation, kind, source and tag."""
    table = _table()
    _add(table, "all", score.totals)
    for group, found in score.groups.items():
        if groups or (group in ("expect", "kind") and len(found) > 1):
            table.add_section()
            for name, totals in sorted(found.items()):
                _add(table, f"{group} {clean(name)}", totals)
    out = console()
    # A narrow terminal wraps these lines; a cell that Rich truncates would show a wrong number.
    out.width = max(out.width, _WIDEST)
    out.print(table)
    for line in _rest(score):
        click.echo(line)


def show_comparison(scores: Mapping[str, Score], passed: Mapping[str, int]) -> None:
    """Two or more proposers side by side, and how many questions each of them passed."""
    table = _table()
    for name, score in scores.items():
        _add(table, clean(name), score.totals)
    out = console()
    out.width = max(out.width, _WIDEST)
    out.print(table)
    first, second = (clean(name) for name in scores)
    click.echo(
        f"passed by both: {passed['both']:,}, only by {first}: {passed['only the first']:,}, "
        f"only by {second}: {passed['only the second']:,}, by neither: {passed['neither']:,}"
    )


def _table() -> Table:
    """`rightly`: rightly asked or declined. Precision and reliability are in percent."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), header_style="bold")
    table.add_column("", no_wrap=True, max_width=_MOST_NAME)
    for name in (
        "all",
        "right",
        "wrong",
        "asked",
        "rightly",
        "failed",
        "prec.",
        *(f"RS({c})" for c in COSTS),
    ):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _add(table: Table, name: str, totals: Totals) -> None:
    found = totals.outcomes
    cells = (
        totals.questions,
        found["right"],
        found["wrong"],
        found["asked"],
        found["rightly asked"] + found["rightly declined"],
        totals.failed,
    )
    shares = (totals.precision, *(totals.reliability(cost) for cost in COSTS))
    table.add_row(Text(name), *map(str, cells), *map(_figure, shares))


def _figure(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.1f}"


def percent(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.1f} %"


def _rest(score: Score) -> list[str]:
    totals = score.totals
    lines = [
        f"{totals.questions:,} question{'s' * (totals.questions != 1)}: {totals.answered:,} answered, "
        f"{totals.abstained:,} abstained, {totals.failed:,} failed"
        + "".join(
            f" · {name} {percent(share)}"
            for name, share in (
                ("accuracy", totals.accuracy),
                ("coverage", totals.coverage),
                ("precision", totals.precision),
            )
            if share is not None
        )
    ]
    lines += [f"of {name}: {text}" for name, text in headlines(score).items()]
    if score.curve:
        surest = ", ".join(f"{point.share:.0%} {percent(point.precision)}" for point in score.curve)
        lines.append(f"precision among the surest of the answered: {surest}")
    made = score.as_json()
    if made["p50_ms"] is not None:
        lines.append(f"p50 {made['p50_ms']:,.0f} ms, p95 {made['p95_ms']:,.0f} ms")
    return lines


def headlines(score: Score) -> dict[str, str]:
    """The main figures, over questions and turns together."""
    expect, kind = score.groups["expect"], score.groups["kind"]
    lines: dict[str, str] = {}
    if "answer" in expect:
        lines["the answerable"] = _right_and_wrong(expect["answer"])
    for name, what in (("ask", "the ambiguous"), ("decline", "the unanswerable")):
        if name in expect:
            lines[what] = f"{percent(expect[name].accuracy)} handled rightly"
    if "follow-up" in kind:
        lines["the follow-ups"] = _right_and_wrong(kind["follow-up"])
    return lines


def _right_and_wrong(totals: Totals) -> str:
    wrong = totals.outcomes["wrong"] / totals.graded if totals.graded else None
    return f"{percent(totals.accuracy)} right, {percent(wrong)} wrong"
