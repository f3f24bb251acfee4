"""`sandtable doctor`: the isolation that this machine provides, tested by escape attempts."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import click

from sandtable.assemble import diagnose
from sandtable.assemble.sizes import python_is_on
from sandtable.cli import failure, inputs
from sandtable.cli.show import clean, print_json
from sandtable.process import load_settings, quiet_logs
from sandtable.sandbox.extra import HOW_TO_INSTALL, libraries, missing_packages
from sandtable.sandbox.live.selftest import WorkerReport, examine_worker
from sandtable.sandbox.selftest import DoctorReport
from sandtable.settings import Settings


@click.command("doctor")
@inputs.json_option
def command(as_json: bool) -> int:
    """Show what isolation this machine gives, and try to escape it.

    Exit code: 0 every attempt was stopped, 4 untrusted queries cannot be run here, or the driver of a
    database could get out.
    """
    quiet_logs()
    settings = load_settings()
    report = asyncio.run(diagnose(settings))
    worker = asyncio.run(examine_worker())
    if as_json:
        problem = report.problem.model_dump(mode="json") if report.problem else None
        print_json(
            {
                "ok": report.ok,
                **asdict(report),
                "python": _python(settings),
                "problem": problem,
                "databases": asdict(worker),
            }
        )
    else:
        _show(report, settings)
        _show_databases(worker)
    return 0 if report.ok and not worker.escaped else failure.NO_SANDBOX


def _python(settings: Settings) -> dict[str, object]:
    missing = missing_packages()
    return {
        "available": not missing,
        "missing": missing,
        "libraries": libraries(),
        "on_here": python_is_on(settings, serving=False),
        "on_servers": python_is_on(settings, serving=True),
    }


def _python_in_words(settings: Settings) -> str:
    missing = missing_packages()
    if missing:
        return f"not available: {', '.join(missing)} not installed; {HOW_TO_INSTALL}"
    here, there = (python_is_on(settings, serving=serving) for serving in (False, True))
    where = f"{'on' if here else 'off'} here, {'on' if there else 'off'} for `sandtable serve`"
    hint = "" if there else " (SANDTABLE_PYTHON=on switches it on)"
    return f"{where}{hint}; {libraries()}"


def _show_databases(worker: WorkerReport) -> None:
    """The process that holds the driver of a connected database."""
    if worker.unavailable:
        click.echo(f"databases  not available: {clean(worker.unavailable)}")
    elif not worker.escaped:
        click.echo(f"databases  available; {worker.attempts} escape attempts of a driver were stopped")
    for name in worker.escaped:
        click.echo(f"databases  {click.style('✗', fg='red')} a driver can {clean(name)}")


def _show(report: DoctorReport, settings: Settings) -> None:
    if report.engine:
        click.echo(f"engine  {report.engine}")
    click.echo(f"python  {_python_in_words(settings)}")
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
