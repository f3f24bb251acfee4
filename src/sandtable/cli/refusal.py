"""Prints a refusal: the construct in its line, the reason, and what to do instead; and corrections."""

from __future__ import annotations

import json

import click

from sandtable.cli import failure
from sandtable.cli.show import caret, clean
from sandtable.errors import Problem
from sandtable.policy.verdict import Fix, Refused


def show_refusal(problem: Problem, text: str | None) -> None:
    position = problem.details.get("position")
    if text and isinstance(position, int):
        for line in caret(text, position, int(problem.details.get("length") or 1)):
            click.echo(line, err=True)
    failure.tell(problem)


def show_fix(fix: Fix) -> None:
    text = fix.text if fix.text is not None else json.dumps(fix.plan, ensure_ascii=False)
    click.echo(f"{clean(fix.title)}:\n  {clean(text, newlines=True)}", err=True)


def problem_of(refused: Refused) -> Problem:
    place = {"construct": refused.construct, "position": refused.position, "length": refused.length}
    return Problem(
        code=refused.code,
        message=refused.message,
        suggestion=refused.suggestion,
        details={**refused.details, **place},
    )
