"""`sandtable doctor`: what isolation this machine gives, proved by attempts to get out."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import click

from sandtable.assemble import diagnose
from sandtable.cli import failure, inputs
from sandtable.cli.config import load_settings, quiet_logs
from sandtable.cli.show import clean, print_json
from sandtable.sandbox.local.selftest import DoctorReport


@click.command("doctor")
@inputs.json_option
def command(as_json: bool) -> int:
    """Show what isolation this machine gives, and try to escape it.

    Exit code: 0 every attempt was stopped, 4 untrusted queries cannot be run here.
    """
    quiet_logs()
    report = asyncio.run(diagnose(load_settings()))
    if as_json:
        problem = report.problem.model_dump(mode="json") if report.problem else None
        print_json({"ok": report.ok, **asdict(report), "problem": problem})
    else:
        _show(report)
    return 0 if report.ok else failure.NO_SANDBOX


def _show(report: DoctorReport) -> None:
    if report.engine:
        click.echo(f"engine  {report.engine}")
    width = max((len(layer.name) for layer in report.layers), default=0)
    click.echo("layers")
    for layer in report.layers:
        mark = click.style("✓", fg="green") if layer.active else click.style("–", fg="yellow")
        click.echo(f"  {mark} {layer.name:<{width}}  {clean(layer.detail)}")
    for reason in report.reasons:
        click.echo(f"  note: {clean(reason)}")
    escaped = [attempt for attempt in report.attempts if attempt.escaped]
    if report.attempts:
        stopped = len(report.attempts) - len(escaped)
        click.echo(f"escape attempts  {stopped} of {len(report.attempts)} stopped")
    for attempt in escaped:
        click.echo(f"  {click.style('✗', fg='red')} {clean(attempt.name)}  {clean(attempt.detail)}")
    if report.problem is None:
        click.secho("This machine can run untrusted queries.", fg="green")
    else:
        failure.tell(report.problem)
