"""`sandtable check`: the gate's verdict, without running anything."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from sandtable.assemble import Parts
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.cli import failure, inputs
from sandtable.cli.jsonl import Answer, Line, answer_lines
from sandtable.cli.refusal import problem_of, show_fix, show_refusal
from sandtable.cli.session import open_dataset, with_parts
from sandtable.cli.show import clean, print_json
from sandtable.errors import Problem
from sandtable.policy.verdict import Approved, Verdict
from sandtable.runs.fixes import with_fixes


@click.command("check")
@inputs.dataset_options
@inputs.query_options
@inputs.json_option
def command(
    about: inputs.About,
    sql_text: str | None,
    plan_file: str | None,
    python_text: str | None,
    lines_file: str | None,
    as_json: bool,
) -> int:
    """Ask the gate about a plan, SQL or Python, without running it.

    With --jsonl, one line per verdict:
    {"id", "verdict", "code", "construct", "message", "suggestion", "position"}.

    Exit code: 0 approved, 2 the input cannot be used, 3 refused, 4 no sandbox; with --jsonl, 0 when every
    line was answered.
    """
    inputs.require_dataset(about)
    inputs.require_one(sql=sql_text, plan=plan_file, python=python_text, jsonl=lines_file)
    if lines_file is not None:
        return with_parts(lambda parts: _many(parts, about, lines_file))
    query = inputs.read_query(sql_text, plan_file, python_text)
    return with_parts(lambda parts: _one(parts, about, query, as_json))


async def _one(parts: Parts, about: inputs.About, query: Query, as_json: bool) -> int:
    dataset = await open_dataset(parts, about)
    query = inputs.fitted(query, dataset, on_the_fly=bool(about.data))
    verdict = await parts.check(dataset, query)
    verdict = await with_fixes(parts.check, dataset, verdict, query, parts.rules_of(dataset))
    if as_json:
        fixes = () if isinstance(verdict, Approved) else verdict.fixes
        print_json(_fields(verdict, query) | {"fixes": [asdict(fix) for fix in fixes]})
    elif isinstance(verdict, Approved):
        _show_approved(verdict)
    else:
        show_refusal(problem_of(verdict), _text_of(query))
        for fix in verdict.fixes:
            show_fix(fix)
    return 0 if isinstance(verdict, Approved) else failure.REFUSED


async def _many(parts: Parts, about: inputs.About, source: str) -> int:
    dataset = await open_dataset(parts, about)

    async def answer(line: Line) -> Answer:
        query = inputs.fitted(line.query, dataset, on_the_fly=bool(about.data))
        verdict = await parts.check(dataset, query)
        return {"id": line.id, **_fields(verdict, query)}

    await answer_lines(source, answer, _refused_line, in_flight=parts.settings.concurrency * 2)
    return 0


def _text_of(query: Query) -> str | None:
    """Empty for a plan: a refusal of a plan names no position in a text."""
    match query:
        case SqlQuery(text) | CodeQuery(text):
            return text
        case PlanQuery():
            return None


def _fields(verdict: Verdict, query: Query) -> dict[str, Any]:
    if isinstance(verdict, Approved):
        return {
            "verdict": "approved",
            "code": None,
            "construct": None,
            "message": None,
            "python" if isinstance(query, CodeQuery) else "sql": verdict.sql,
            "tables": verdict.tables,
            "functions": verdict.functions,
            "warnings": verdict.warnings,
            "volatile": verdict.volatile,
        }
    return {
        "verdict": "refused",
        "code": verdict.code,
        "construct": verdict.construct,
        "message": verdict.message,
        "suggestion": verdict.suggestion,
        "position": verdict.position,
        "length": verdict.length,
        "details": verdict.details,
    }


def _refused_line(line_id: Any, problem: Problem) -> Answer:
    return {
        "id": line_id,
        "verdict": "refused",
        "code": problem.code,
        "construct": problem.details.get("construct", ""),
        "message": problem.message,
        "suggestion": problem.suggestion,
        "position": problem.details.get("position"),
    }


def _show_approved(verdict: Approved) -> None:
    for warning in verdict.warnings:
        click.echo(f"note: {clean(warning)}", err=True)
    click.echo("approved")
    click.echo(clean(verdict.sql, newlines=True))
