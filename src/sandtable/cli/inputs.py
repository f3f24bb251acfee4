"""The options for questions and data, and how their values are read.

Invariant: everything read from a file or from stdin is bounded before it is parsed.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery, fitted_plan
from sandtable.catalog.model import Dataset
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided
from sandtable.cli.group import AS_JSON
from sandtable.errors import InvalidInput
from sandtable.plan.reading import bounded
from sandtable.quoting import quote

F = TypeVar("F", bound=Callable[..., Any])

MOST_TEXT = 4 << 20
_ADDRESS = re.compile(r"https?:/", re.IGNORECASE)
"""A path has one slash where an address had two."""


class Number(click.FloatRange):
    """A number in a range; rejects NaN, which passes both range checks."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def _remember_json(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    ctx.meta[AS_JSON] = value
    return value


json_option = click.option(
    "--json", "as_json", is_flag=True, is_eager=True, callback=_remember_json, help="Answer in JSON."
)
_dataset_option = click.option("--dataset", "dataset_id", metavar="ID", help="The dataset it is about.")
_data_option = click.option(
    "--data",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path, readable=False),
    help="A data file (CSV, JSON, Parquet, Excel, …) to use as a dataset; its table has the file's name. Repeatable.",
)
_answer_option = click.option(
    "--answer",
    "answers",
    metavar="COLUMN=ANSWER",
    multiple=True,
    help="How a column of a file is to be read, where the file does not say. Repeatable.",
)
_repair_option = click.option(
    "--repair",
    "repairs",
    metavar="ID",
    multiple=True,
    help="What is to be done with a file that is refused as it is; the refusal says what can be. Repeatable.",
)


@dataclass(frozen=True, slots=True)
class About:
    """What a command is about: a dataset by its id, or the files of `--data` and what was decided about them."""

    dataset_id: str | None = None
    data: tuple[Path, ...] = ()
    decided: Decided = NOTHING_DECIDED


def decided_options(command: Callable[..., int]) -> Callable[..., int]:
    """`--answer` and `--repair`, which the command gets as `decided`."""

    @wraps(command)
    def gathered(*, answers: tuple[str, ...], repairs: tuple[str, ...], **others: Any) -> int:
        return command(decided=Decided(dict(map(_answer, answers)), repairs), **others)

    return _answer_option(_repair_option(gathered))


def data_options(command: Callable[..., int]) -> Callable[..., int]:
    """`--data` with its decisions, and `dataset_id` where the command has it; it gets them as `about`."""

    @wraps(command)
    def gathered(
        *, data: tuple[Path, ...], decided: Decided, dataset_id: str | None = None, **others: Any
    ) -> int:
        if decided and not data:
            raise click.UsageError("--answer and --repair go with --data.")
        if any(_ADDRESS.match(str(path)) and not path.exists() for path in data):
            raise InvalidInput(
                "--data takes a file, and an address was given",
                suggestion="Add it with `sandtable data add ADDRESS`, then use --dataset.",
            )
        return command(about=About(dataset_id, data, decided), **others)

    return _data_option(decided_options(gathered))


def dataset_options(command: Callable[..., int]) -> Callable[..., int]:
    return _dataset_option(data_options(command))


def _answer(given: str) -> tuple[str, str]:
    column, found, answer = given.rpartition("=")
    if not found or not column.strip() or not answer.strip():
        raise click.BadParameter(
            f"{quote(given)} is not COLUMN=ANSWER, such as ordered=day-first.", param_hint="--answer"
        )
    return column.strip(), answer.strip()


def query_options(command: F) -> F:
    plan = click.option("--plan", "plan_file", metavar="FILE|-", help="A plan in JSON; `-` reads stdin.")
    sql = click.option("--sql", "sql_text", metavar="TEXT|-", help="One SELECT; `-` reads stdin.")
    python = click.option(
        "--python",
        "python_text",
        metavar="TEXT|-",
        help="Python code, which finds each table as a DataFrame of its name, and a single one also as `df`; "
        "`-` reads stdin.",
    )
    lines = click.option(
        "--jsonl",
        "lines_file",
        metavar="FILE|-",
        help='Many, one JSON object per line: {"id": …} with one of "sql", "plan" and "python".',
    )
    return sql(plan(python(lines(command))))


def require_dataset(about: About, id_option: str = "--dataset ID") -> None:
    if (about.dataset_id is None) == (not about.data):
        raise click.UsageError(f"Give either {id_option} or --data FILE.")


def require_one(**given: object) -> None:
    if sum(value is not None for value in given.values()) != 1:
        names = [f"--{name}" for name in given]
        raise click.UsageError(f"Give exactly one of {', '.join(names[:-1])} and {names[-1]}.")


def read_query(sql_text: str | None, plan_file: str | None, python_text: str | None = None) -> Query:
    if plan_file is not None:
        return PlanQuery(parse_plan_text(read_text(plan_file)))
    if python_text is not None:
        return CodeQuery(read_text("-") if python_text == "-" else python_text)
    assert sql_text is not None
    return SqlQuery(read_text("-") if sql_text == "-" else sql_text)


def read_text(source: str, most: int = MOST_TEXT) -> str:
    """The whole of a file, or of stdin for `-`."""
    what = "stdin" if source == "-" else source
    try:
        if source == "-":
            content = sys.stdin.buffer.read(most + 1)
        else:
            with Path(source).open("rb") as file:
                content = file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot read {what}: {reason}", suggestion="Check the path.") from error
    if len(content) > most:
        raise InvalidInput(f"{what} is larger than {most >> 20} MiB", suggestion="Send less.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{what} is not UTF-8: byte {error.start} is {content[error.start]:#04x}",
            suggestion="Save it as UTF-8.",
        ) from error


def parse_plan_text(text: str) -> dict[str, Any]:
    try:
        plan = json.loads(text, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"the plan is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            suggestion='A plan looks like {"table": "orders", "select": [{"agg": "count", "as": "n"}]}.',
        ) from error
    except (RecursionError, ValueError) as error:
        raise InvalidInput(
            "the plan is nested too deeply or holds a number too long to read",
            suggestion="Ask a smaller question, or split it into several plans.",
        ) from error
    return checked_plan(plan)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise InvalidInput(
                f"the plan has {quote(name)} twice in one object", suggestion="Keep one of them."
            )
        made[name] = value
    return made


def checked_plan(plan: Any) -> dict[str, Any]:
    """A JSON object of bounded size; whether it is a valid plan is checked later."""
    problem = bounded(plan)
    if problem is not None:
        raise InvalidInput(problem.message, suggestion=problem.suggestion)
    if not isinstance(plan, dict):
        raise InvalidInput("a plan is a JSON object", suggestion='Begin with {"table": …, "select": […]}.')
    return plan


def fitted(query: Query, dataset: Dataset, *, on_the_fly: bool) -> Query:
    """Fills in the plan's dataset: it may be omitted, and the id of files just added cannot be known."""
    match query:
        case PlanQuery(plan) if on_the_fly:
            return PlanQuery({**plan, "dataset_id": dataset.id})
        case PlanQuery(plan):
            return PlanQuery(fitted_plan(plan, dataset.id))
        case _:
            return query
