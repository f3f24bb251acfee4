"""`sandtable runs`: lists earlier runs."""

from __future__ import annotations

from typing import Any, get_args

import click

from sandtable.capsule.query import CodeQuery, plan_of
from sandtable.cli import inputs
from sandtable.cli.running import run_to_end
from sandtable.cli.show import clean, on_terminal, print_json
from sandtable.process import load_settings, quiet_logs
from sandtable.runs.listing import list_runs
from sandtable.runs.model import Run
from sandtable.state import state_of
from sandtable.store.run_store import RunFilter, Status

_COLOURS = {
    "succeeded": "green",
    "failed": "red",
    "rejected": "red",
    "pending": "yellow",
    "running": "yellow",
}
_SHOWN = 76
_NOT_LISTED = {"rows", "output", "artifacts", "stdout", "stderr"}


@click.command("runs")
@click.option("--status", type=click.Choice(get_args(Status)), help="Only runs of this status.")
@click.option("--dataset", "dataset_id", metavar="ID", help="Only runs about this dataset.")
@click.option("--text", metavar="TEXT", help="Only runs with this in the question, plan, SQL or Python.")
@click.option("--before", metavar="RUN_ID", help="Only runs older than this one.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="Most runs to list."
)
@inputs.json_option
def command(as_json: bool, **wanted: Any) -> int:
    """List runs, newest first."""

    quiet_logs()
    store = state_of(load_settings()).runs

    async def found() -> list[Run]:
        # Neither the parts nor a sandbox: both take longer than the list.
        await store.open()
        try:
            return await list_runs(store, RunFilter(**wanted))
        finally:
            await store.aclose()

    runs = run_to_end(found)
    if as_json:
        print_json([_fields(run) for run in runs])
    elif on_terminal():
        for run in runs:
            click.echo(_headline(run))
            click.secho(f"  {_what(run)}", dim=True)
    else:
        for run in runs:
            click.echo(f"{run.id}\t{run.status}\t{clean(run.request.dataset_id)}\t{_what(run)}")
    return 0


def _headline(run: Run) -> str:
    status = click.style(f"{run.status:<9}", fg=_COLOURS.get(run.status))
    rows = "" if run.row_count is None else f"{run.row_count:,} rows"
    took = "" if run.exec_time_ms is None else f"{run.exec_time_ms:.1f} ms"
    return "  ".join(filter(None, (run.id, status, clean(run.request.dataset_id), rows, took)))


def _what(run: Run) -> str:
    query = run.request.query
    text = query.code if isinstance(query, CodeQuery) else run.sql
    what = " ".join((run.request.question or text or "a plan").split())
    return clean(what if len(what) <= _SHOWN else what[: _SHOWN - 1] + "…")


def _fields(run: Run) -> dict[str, Any]:
    query = run.request.query
    return {
        "run_id": run.id,
        "dataset_id": run.request.dataset_id,
        "mode": query.mode,
        "question": run.request.question,
        "plan": plan_of(query),
        "python": query.code if isinstance(query, CodeQuery) else None,
        **run.model_dump(mode="json", exclude={"id", "request", *_NOT_LISTED}),
    }
