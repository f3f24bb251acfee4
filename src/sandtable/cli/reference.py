"""`docs/cli.md`, made from the commands themselves. `python -m sandtable.cli.reference` prints it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from sandtable.cli.group import COMMANDS, main

_HEAD = """# The command line

`sandtable COMMAND --help` says the same in a terminal.
This page is generated from `src/sandtable/cli/`.

Every command takes `--json`. Answers are on stdout; progress, notes and errors are on stderr. An error is
one line with its code and one with what to do; with `--json` it is an object `{"error": {code, message,
suggestion, details}}` on stdout.

| exit code | meaning |
|---|---|
| 0 | done: the run succeeded, the query is approved, nothing is broken |
| 1 | failed: the run failed, a link of the capsule is broken, too many runs wait already |
| 2 | the input cannot be used: wrong options, an unknown dataset, an unreadable file |
| 3 | refused: by the gate, or because the plan does not fit the dataset |
| 4 | the sandbox is not available, as `sandtable doctor` explains; of `ask`: it did not understand and asks back |
| 130, 143 | ended by Ctrl-C, by SIGTERM: what was running is cancelled |
"""

_TAIL = """## Examples

```sh
sandtable ask "Which category has the highest return rate?" --dataset ecommerce
sandtable ask "Which region sold most?" --data sales.csv --json
sandtable chat --dataset support
sandtable eval questions.jsonl --min-accuracy 0.9
sandtable eval questions.jsonl dialogues.jsonl --known known_failures.txt --only-totals
sandtable run --dataset ecommerce --sql "SELECT category, count(*) FROM order_items GROUP BY category"
sandtable run --dataset ecommerce --plan plan.json --json > capsule.json && sandtable verify capsule.json
sandtable run --data sales.csv --python 'df.groupby("region", as_index=False)["amount"].sum()'
sandtable run --dataset ecommerce --python - < analysis.py
sandtable run --data sales.csv --data people.parquet --sql "SELECT count(*) FROM sales JOIN people USING (id)"
sandtable check --dataset support --sql "SELECT * FROM read_csv('/etc/passwd')"
printf '%s\\n' '{"id": 1, "sql": "SELECT count(*) FROM tickets"}' | sandtable run --dataset support --jsonl -
```

## Questions and their expected answers

What `sandtable eval` reads, what counts as right and what its figures mean is in [evaluating.md](evaluating.md).

## Many questions at once

`run --jsonl` and `check --jsonl` read one JSON object per line, `{"id": …}` with one of `sql`, `plan` and
`python` and an optional `question`, and answer with one line each, in order and as soon as it
is there. Other members are ignored, blank lines are skipped. A line that cannot be used gets an answer that
says why, and the rest goes on. With `--dataset`, a plan may leave out `dataset_id`; with `--data` it is
always filled in.

- `check`: `{"id", "verdict", "code", "construct", "message"}`, where `verdict` is `approved` or `refused`; a
  refused line also has `suggestion` and `position` (a character of the SQL, or null), an approved line
  `sql` or `python` (what would run), `tables`, `functions`, `warnings` and `volatile`.
- `run`: `{"id", "status", "columns", "rows", "error", "exec_time_ms", "run_id", "row_count", "truncated",
  "cached_from"}`; `error` is null or `{code, message, suggestion, details}`. A line of Python also has `stdout`,
  `stderr`, `artifacts` (all that the code showed, whole) and `warnings`.

## Python

`run --python` prints what the code prints, and shows each table, plot and text where the code showed it, the value of
the last expression at the end. What a terminal cannot draw is named. In the code, each table is a DataFrame of its
name, and `df` when there is one; pandas, NumPy, Polars, Plotly, Altair and SciPy are there without an import, and
`sql("SELECT …")` asks the tables in SQL. It needs `pip install 'sandtable[python]'`; `sandtable doctor` tells.

The code is judged first, and refused (exit code 3) with what to write instead. `--no-check` leaves that out: then the
sandbox alone holds the code, a note says so, and so does the capsule. An exception of the code is exit code 1.
"""


def reference_page() -> str:
    root = click.Context(main, info_name="sandtable")
    parts = [_HEAD]
    for name in COMMANDS:
        command = main.get_command(root, name)
        assert command is not None
        parts += _sections(name, command, root)
    return "\n".join([*parts, _TAIL])


def _sections(name: str, command: click.Command, parent: click.Context) -> Iterator[str]:
    """The sections of a command; a group has one for each of its commands."""
    with click.Context(command, info_name=name, parent=parent) as ctx:
        if isinstance(command, click.Group):
            for each in command.list_commands(ctx):
                yield from _sections(each, command.commands[each], ctx)
        else:
            yield "\n".join(_section(command, ctx))


def _section(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f"## `{ctx.command_path}`\n"
    yield inspect.cleandoc(command.help or "") + "\n"
    pieces = " ".join(command.collect_usage_pieces(ctx))
    yield f"```\n{ctx.command_path} {pieces}\n```\n"
    yield "| option | meaning |\n|---|---|"
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if isinstance(parameter, click.Option) and record is not None and "--help" not in parameter.opts:
            yield (
                "| "
                + " | ".join((f"`{record[0]}`".replace("|", "\\|"), record[1].replace("|", "\\|")))
                + " |"
            )
    yield ""


if __name__ == "__main__":
    click.echo(reference_page(), nl=False)
