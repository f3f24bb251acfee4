"""`sandtable prune`: removes old runs and conversations, by age, count or size."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click

from sandtable.cli import inputs
from sandtable.cli.show import console, grid, print_json
from sandtable.errors import InvalidInput
from sandtable.process import load_settings, quiet_logs
from sandtable.runs.retention import Amount, Decision, Kind, Rules, bytes_of, seconds_of
from sandtable.settings import Settings

_SHOWN: dict[Kind, str] = {"run": "runs", "thread": "conversations"}


@click.command("prune")
@click.option("--older-than", metavar="SPAN", help="What was last used longer ago goes: 90d, 12h, 4w.")
@click.option("--keep-runs", type=click.IntRange(min=0), metavar="N", help="So many of the newest runs stay.")
@click.option("--max-size", metavar="SIZE", help="What stays takes no more than this: 2GB, 500MB.")
@click.option(
    "--threads/--no-threads", default=True, show_default=True, help="Whether conversations go, too."
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@inputs.json_option
def command(
    older_than: str | None,
    keep_runs: int | None,
    max_size: str | None,
    threads: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove old runs and conversations.

    With a run go its capsule, result and artifacts; a line about it stays. What is kept keeps what it needs: the runs
    that the answers of a conversation name, the run that another one was answered from, the earlier cells of a
    session. Without a rule on the command line, SANDTABLE_KEEP_DAYS, SANDTABLE_KEEP_RUNS and SANDTABLE_KEEP_MB are
    the rules, as for a server.

    Exit code: 0 done or nothing to do, 1 the database cannot be used or the answer was no, 2 the rules cannot be used.
    """
    from sandtable.server.pruning import prune  # loads FastAPI, which other commands do without

    quiet_logs()
    settings = load_settings()
    rules = _rules(settings, older_than, keep_runs, max_size)
    if not dry_run and not yes and not _can_ask():
        raise InvalidInput(
            "there is no terminal to ask on", suggestion="Add --yes, or --dry-run to look first."
        )

    def approve(decision: Decision) -> bool:
        if not as_json:
            _show(decision)
        if dry_run or decision.rule is None:
            return False
        return yes or click.confirm("Remove them?", err=True)

    decision, removed = asyncio.run(prune(settings, rules, threads=threads, approve=approve))
    if as_json:
        print_json(_as_json(decision, removed))
    elif removed is not None:
        click.echo(
            f"Removed {removed.runs:,} runs and {removed.threads:,} conversations;"
            f" {_size(removed.given_back)} were given back to the disk."
        )
    declined = decision.rule is not None and not dry_run and removed is None
    return 1 if declined else 0


def _can_ask() -> bool:
    return sys.stdin.isatty()


def _rules(settings: Settings, older_than: str | None, keep_runs: int | None, max_size: str | None) -> Rules:
    given = Rules(
        older_than_s=None if older_than is None else seconds_of(older_than),
        keep_runs=keep_runs,
        max_bytes=None if max_size is None else bytes_of(max_size),
    )
    rules = given if given.any else Rules.of(settings)
    if not rules.any:
        raise InvalidInput(
            "no rule says what is to be kept",
            suggestion="Give --older-than, --keep-runs or --max-size, or set SANDTABLE_KEEP_DAYS.",
        )
    return rules


def _show(decision: Decision) -> None:
    if decision.rule is None:
        click.echo("Nothing goes.")
    else:
        _show_amounts(decision)
    if decision.needed:
        click.echo(
            f"{decision.needed:,} more runs would go, but they are in use, or something that is kept needs them."
        )


def _show_amounts(decision: Decision) -> None:
    table = grid("", "go", "", "of", "")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, shown in _SHOWN.items():
        going, held = decision.going.get(kind, Amount()), decision.held.get(kind, Amount())
        table.add_row(shown, f"{going.count:,}", _size(going.bytes), f"{held.count:,}", _size(held.bytes))
    console().print(table)


def _as_json(decision: Decision, removed: Any) -> dict[str, Any]:
    amounts = {
        shown: {
            "go": decision.going.get(kind, Amount()).count,
            "go_bytes": decision.going.get(kind, Amount()).bytes,
            "of": decision.held.get(kind, Amount()).count,
            "of_bytes": decision.held.get(kind, Amount()).bytes,
        }
        for kind, shown in _SHOWN.items()
    }
    done = removed and {
        "runs": removed.runs,
        "conversations": removed.threads,
        "bytes_given_back": removed.given_back,
    }
    return {"rule": decision.rule, **amounts, "needed_runs": decision.needed, "removed": done}


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} GB"
